"""Who has a run: forged owners, several that take one run, one that lost it, many writers, an end that is held up."""

import os
import random
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psutil
from click.testing import CliRunner

from tests.campaign.outcome import Outcome
from workbench.cli import cli
from workbench.config import RunConfig
from workbench.control import Control
from workbench.events import Ended, Scalar, Status
from workbench.problem import Problem
from workbench.running import launch
from workbench.workspace import Workspace
from workbench.workspace.database import connection
from workbench.workspace.database.connection import open_reader, sqlite3
from workbench.workspace.recorder import Recorder

TITLE = "Owners of runs"
PROMISE = "A run belongs to one process; who takes it over is one, and who lost it writes nothing more."
ROUNDS, SLICE = 60, 1
WRITERS, POINTS = 10, 40
HERE = socket.gethostname()
# A `--resume` of the command line whose training is one point and a wait for a line.
RESUME = """
import sys
from workbench.running import launch
from workbench.cli import main
from workbench.events import Scalar, Status

def run(workspace, run_id, control, emit, recorder, *, resume=False, listed=None):
    emit(Status("Training"))
    emit(Scalar("batch/loss", 1, 0.5))
    print("works", flush=True)
    input()

launch.run = run
print("ready", flush=True)
input()
status = main(["run", sys.argv[1], "-w", sys.argv[2], "--resume", "--quiet"])
print("status", status, flush=True)
"""


def attempt(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    """One of everything, each in a workspace of its own."""
    parts = (_forged_owners, _two_windows, _lost_run, _many_writers, _held_at_the_end, _two_resumes)
    for part in parts:
        place = folder / part.__name__.strip("_")
        Workspace(place, create=True).close()
        yield from part(rng, place)


def _judged(holds: bool, words: str) -> Outcome:
    return Outcome("survived" if holds else "lost", "" if holds else words)


def _ago(seconds: float) -> str:
    return (datetime.now(UTC) - timedelta(seconds=seconds)).isoformat(timespec="seconds")


def _forge(workspace: Workspace, run_id: int, status: str, **columns: Any) -> None:
    """Write these columns of a run's row, as far as the schema has them."""
    with workspace.writing() as db:
        there = {row[1] for row in db.execute("pragma table_info(runs)")}
        facts = {"status": status} | {name: value for name, value in columns.items() if name in there}
        sets = ", ".join(f"{name} = ?" for name in facts)
        db.execute(f"update runs set {sets} where id = ?", (*facts.values(), run_id))


def _forged_owners(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    """Rows of owners that live, are gone, had this number before, or are on another machine."""
    parent = psutil.Process(os.getppid())
    with Workspace(folder) as workspace:
        for _ in range(8):
            born = parent.create_time()
            host, later, silent, alive = rng.choice(
                [
                    (HERE, 0.0, 1e5, True),
                    (HERE, rng.uniform(100, 1e6), 0.0, False),
                    ("elsewhere", 0.0, rng.uniform(0, 60), True),
                    ("elsewhere", 0.0, rng.uniform(200, 1e6), False),
                    ("elsewhere", 0.0, -rng.uniform(1e4, 1e6), False),
                ]
            )
            pid = rng.choice([parent.pid, parent.pid if alive else 2**22 + rng.randrange(1000)])
            run_id = workspace.create_run(RunConfig())
            status = rng.choice(["running", "waiting"])
            facts = {"pid": pid, "host": host, "born": born - later, "heartbeat": _ago(silent), "owner": "other"}
            _forge(workspace, run_id, status, **facts)
            words = f"{status} run of {facts}, which is {'alive' if alive else 'gone'}"
            act = rng.choice([workspace.take_over, workspace.trash])
            refused = _refusal(lambda act=act, run_id=run_id: act(run_id))
            if alive:
                yield _judged(f"process {pid} of {host}" in refused, f"{words}, was taken or trashed: {refused}")
            else:
                yield _judged(not refused, f"{words}: {refused}")
            again = workspace.create_run(RunConfig())
            _forge(workspace, again, status, **facts)
            swept = again in workspace.sweep_dead_runs()
            yield _judged(swept != alive, f"{words}: {'marked as' if swept else 'not marked as'} interrupted")


def _refusal(act: Callable[[], object]) -> str:
    try:
        act()
    except Problem as problem:
        return str(problem)
    return ""


def _together(works: list[Callable[[], object]]) -> list[str]:
    """What each said that was refused, or an empty text; all begin at one moment, each on its own thread."""
    said, gate = ["not begun"] * len(works), threading.Barrier(len(works))

    def one(place: int) -> None:
        gate.wait(60)
        try:
            said[place] = _refusal(works[place])
        except Exception as error:  # noqa: BLE001 - told as an outcome
            said[place] = f"{type(error).__name__}: {error}"

    threads = [threading.Thread(target=one, args=(place,)) for place in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return said


def _two_windows(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    """What two windows do that resume one run: over two workspaces, at one moment."""
    with Workspace(folder) as one, Workspace(folder) as two:
        run_id = one.create_run(RunConfig())
        one.set_status(run_id, rng.choice(["stopped", "failed", "interrupted"]))
        said = _together([lambda: one.take_over(run_id), lambda: two.take_over(run_id)])
        refused = [words for words in said if words]
        fair = len(refused) == 1 and f"process {os.getpid()} of {HERE}" in refused[0]
        yield _judged(fair, f"two windows resumed one run: {said}")


def _lost_run(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    """A machine that slept: another took its run over, then it wakes."""
    with Workspace(folder) as workspace:
        run_id = workspace.create_run(RunConfig())
        sleeper = Recorder(workspace, run_id, Control(attended=rng.random() < 0.5))
        sleeper(Status("Training"))
        told = rng.randrange(1, 20)
        for step in range(told):
            sleeper(Scalar("batch/loss", step, 0.5))
        sleeper.flush()
        _forge(workspace, run_id, "running", host="elsewhere", heartbeat=_ago(1e4))
        refused = _refusal(lambda: workspace.take_over(run_id))
        yield _judged(not refused, f"a silent run of another machine cannot be taken over: {refused}")
        taker = Recorder(workspace, run_id)
        taker(Scalar("batch/loss", told, 0.4))
        taker.flush()
        sleeper(Scalar("batch/loss", told, 0.3))
        woke = [_refusal(sleeper.flush), _refusal(lambda: sleeper(Ended("done")))]
        taker(Ended("stopped"))
        steps, values = workspace.scalars(run_id, "batch/loss")
        whole = steps.tolist() == list(range(told + 1)) and values[-1] == 0.4
        whole = whole and all(woke) and workspace.run(run_id).status == "stopped"
        yield _judged(whole, f"who lost the run wrote on: {woke}, {steps.tolist()}, {workspace.run(run_id).status}")


def _many_writers(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    """Ten that record at once while a reader holds its look at the workspace."""
    spaces = [Workspace(folder) for _ in range(WRITERS)]

    def write(workspace: Workspace) -> None:
        recorder = Recorder(workspace, workspace.create_run(RunConfig()))
        for step in range(POINTS):
            recorder(Scalar("batch/loss", step, 0.5))
            if step % 8 == 0:
                recorder.flush()
        recorder(Ended("done"))

    with closing(open_reader(folder / "workspace.db")) as reader:
        reader.execute("begin")
        before = reader.execute("select count(*) from runs").fetchone()
        said = _together([lambda workspace=workspace: write(workspace) for workspace in spaces])
        held = reader.execute("select count(*) from runs").fetchone() == before
    rows = [(run.status, len(spaces[0].scalars(run.id, "batch/loss")[0])) for run in spaces[0].runs()]
    for workspace in spaces:
        workspace.close()
    yield _judged(held, "a reader's look changed under it")
    yield _judged(rows == [("done", POINTS)] * WRITERS, f"{rows}, {said}")


def _held_at_the_end(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    """Another program has the database for longer than a writer waits, just when a run ends."""
    seconds, fails = rng.uniform(0.5, 1.5), rng.random() < 0.5
    timer: list[threading.Timer] = []

    def held_by_another() -> None:
        db = sqlite3.connect(folder / "workspace.db", isolation_level=None, check_same_thread=False)
        db.execute("begin immediate")
        timer.append(threading.Timer(seconds, db.close))
        timer[0].start()

    def run(workspace, run_id, control, emit, recorder, *, resume=False, listed=None):  # type: ignore[no-untyped-def]
        emit(Status("Training"))
        emit(Scalar("batch/loss", 1, 0.5))
        held_by_another()
        if fails:
            raise Problem("The data set is empty.")

    whole, wait = launch.run, connection.WAIT
    launch.run, connection.WAIT = run, 0.1  # a tenth of a second instead of 10, for 1 second instead of 20
    try:
        said = CliRunner().invoke(cli, ["run", "sample-digits", "-w", str(folder), "--quiet"])
    finally:
        launch.run, connection.WAIT = whole, wait
        for each in timer:
            each.join()
    if said.exception is not None and not isinstance(said.exception, SystemExit):
        yield Outcome("traceback", repr(said.exception))
        return
    with Workspace(folder) as workspace:
        (found,) = workspace.runs()
    wanted = ("failed", 1) if fails else ("done", 0)
    told = f"{found.status}, exit status {said.exit_code}, wanted {wanted}: {said.output}"
    yield _judged((found.status, said.exit_code) == wanted, told)


def _two_resumes(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    """Two `--resume` of the command line at once, in processes."""
    config = folder / "small.toml"
    config.write_text('name = "small"\n[dataset]\nname = "digits"\n[loss]\nname = "ce"\n')
    with Workspace(folder) as workspace:
        run_id = workspace.create_run(RunConfig.from_toml(config))
        workspace.set_status(run_id, rng.choice(["stopped", "failed", "interrupted"]))
    words = [sys.executable, "-c", RESUME, str(config), str(folder)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    both: list[subprocess.Popen[str]] = [subprocess.Popen(words, **pipes) for _ in range(2)]  # type: ignore[call-overload]
    first = []
    for each in both:
        first.append(each.stdout.readline())
    for each in both:
        each.stdin.write("\n")
        each.stdin.flush()
    second = [each.stdout.readline().strip() for each in both]  # "works" waits for a line, the other has ended
    told = [each.communicate("\n", timeout=60) for each in both]
    errors = [trouble for _, trouble in told]
    if any("Traceback" in trouble for trouble in errors):
        yield Outcome("traceback", " ".join(errors))
    with Workspace(folder) as workspace:
        steps = workspace.scalars(run_id, "batch/loss")[0].tolist()
    worked = [each.pid for each, word in zip(both, second, strict=True) if word == "works"]
    fair = sorted(second) == ["status 1", "works"] and steps == [1]
    fair = fair and any(f"process {worked[0]} of {HERE} has it" in trouble for trouble in errors)
    yield _judged(fair, f"two resumes: {second}, points at {steps}, {errors}")
