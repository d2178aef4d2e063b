"""SIGKILL at any moment of a program's life, again and again until it is through: nothing acknowledged is lost."""

import json
import os
import random
import re
import shutil
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from PIL import Image

from tests.campaign import short_run
from tests.campaign.outcome import Outcome, judged
from tests.campaign.program import ROOT, Ended, Home, Program, start_fresh
from workbench.workspace import Workspace
from workbench.workspace.experiments import sweeps

TITLE = "kill -9"
PROMISE = "A killed program loses no committed epoch or point, leaves no part file, and goes on as if it had not been."
ROUNDS = 60
SLICE = 1
PICTURES = 300
MOST = 9  # kills of one run, worker or window, before it is left alone
FRESH = 0.1  # of the kills are of an interpreter of its own, from the start of Python on
Start = Callable[..., Program]
Look = Callable[[], Any]


def attempt(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    scenes = {killed_run: 5, killed_sweep: 3, killed_window: 2, killed_analysis: 2, killed_unpack: 2, killed_install: 1}
    (scene,) = rng.choices(list(scenes), list(scenes.values()))
    yield from scene(rng, folder)


def killed(rng: random.Random, start: Start, look: Look, seconds: float, changes: int, below: Path) -> Ended:
    """Start a program and kill it: at or just after one of its changes of a file, or at any time. It may be through.

    Args:
        start: gets `end_at` or `fresh` as in program.py.
        look: called often while it runs.
        seconds, changes: about as long it lives, and as many files below `below` it changes.
    """
    if rng.random() < 0.6:
        delay = rng.choice((0.0, rng.expovariate(1 / 0.002), rng.expovariate(1 / 0.03)))
        return start(end_at=(rng.randint(1, changes), delay, str(below))).end(look=look)
    fresh = rng.random() < FRESH
    program = start(fresh=True) if fresh else start()
    return program.end(rng.uniform(0, seconds + 4.0 * fresh), look)


def killed_run(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    """`workbench run`, then `run --resume` until it is through; its curves are those of a run left alone."""
    loss = rng.choice(short_run.LOSSES)
    whole = short_run.whole(loss)
    home, space, config = Home(folder / "home"), folder / "space", short_run.write_config(folder, loss)
    last: dict[int, short_run.Held] = {}

    def look() -> None:
        last.update(short_run.held(space))

    for _ in range(MOST):
        found = short_run.held(space).get(1)
        if found is not None and found.status == "done":  # killed when all was done but its end
            break
        resume = ["--resume"] if found is not None else []
        part = "run --resume" if resume else "run"

        def start(resume: list[str] = resume, **how: Any) -> Program:
            return home.start("run", config, "-w", space, "--quiet", *resume, **how)

        ended = killed(rng, start, look, 0.7 * whole.seconds, 40, folder)
        if not ended.killed:
            broken = [f"status {ended.status}"] * bool(ended.status)
            yield judged(broken, ended.last_words, traceback=ended.traceback, part=part)
            break
        yield after_kill(ended, space, last, part)
    yield from ends_alike(home.run(*_go_on(config, space)), home, space, whole, "curves after kills")


def _go_on(config: Path, space: Path) -> list[object]:
    """The command that takes the killed run to its end; a finished one is only listed."""
    found = short_run.held(space).get(1)
    if found is not None and found.status == "done":
        return ["list", "runs", "-w", space]
    return ["run", config, "-w", space, "--quiet", *(["--resume"] if found else [])]


def after_kill(ended: Ended, space: Path, last: dict[int, short_run.Held], part: str) -> Outcome:
    """Whether all that was read from the workspace before the kill is still there, and whole."""
    broken = short_run.faults(space)
    now = short_run.held(space)
    for number, before in last.items():
        broken += short_run.losses(before, now[number]) if number in now else [f"run {number}"]
    last.clear()
    return judged(broken, traceback=ended.traceback, part=part)


def ends_alike(ended: Ended, home: Home, space: Path, whole: short_run.Whole, part: str) -> Iterator[Outcome]:
    """Whether the run came to its end as the one that nothing disturbed, leaving nothing unfinished behind."""
    if ended.status:
        yield judged([f"status {ended.status}"], ended.last_words, traceback=ended.traceback, part=part)
        return
    broken = short_run.differences(short_run.held(space)[1], whole.run) + short_run.faults(space)
    if not broken and short_run.weights(space) != whole.weights:
        broken.append("other weights at the end")
    broken += [f"{each} is left" for each in short_run.parts(space, home.cache)]
    yield judged(broken, traceback=ended.traceback, part=part)


SWEEP = ("-p", "training.lr=0.01,0.05", "--set", "training.epochs=3", "--quiet")


@cache
def whole_sweep() -> list[tuple[Any, ...]]:
    """What the trials of a sweep come to that nothing disturbed."""
    source = short_run.whole().space.parent
    space = source / "sweep"
    ended = short_run.whole().home.run("sweep", "start", short_run.write_config(source), *SWEEP, "-w", space)
    assert ended.status == 0, ended.said
    return _trials(space)


def _trials(space: Path) -> list[tuple[Any, ...]]:
    with Workspace(space) as workspace:
        if not sweeps.every(workspace):
            return []
        trials = [(each.state, str(each.setting), each.objective, each.run_id) for each in sweeps.trials(workspace, 1)]
    found = short_run.held(space)
    return [(*facts, sorted(found[run].evaluations.items()) if run in found else None) for *facts, run in trials]


def killed_sweep(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    """The worker of a sweep; the objectives are those of a sweep left alone."""
    wanted = whole_sweep()
    home, space, config = Home(folder / "home"), folder / "space", short_run.write_config(folder)
    last: dict[int, short_run.Held] = {}

    def begin(**how: Any) -> Program:
        return home.start("sweep", "start", config, *SWEEP, "-w", space, **how)

    def go_on(**how: Any) -> Program:
        return home.start("sweep", "run", 1, "--quiet", "-w", space, **how)

    for _ in range(MOST):
        begun = short_run.begun(space) and bool(_trials(space))
        look = lambda: last.update(short_run.held(space))  # noqa: E731
        ended = killed(rng, go_on if begun else begin, look, 0.8 * short_run.whole().seconds, 50, folder)
        if not ended.killed:
            break
        yield after_kill(ended, space, last, "sweep worker")
    else:
        begun = short_run.begun(space) and bool(_trials(space))
        ended = (go_on if begun else begin)().end()
    through = ended.status == 0 or "Sweep 1 is done." in ended.said  # killed when all was done but its end
    broken = [f"status {ended.status}"] * (not through) + short_run.faults(space)
    if not broken and _trials(space) != wanted:
        broken.append(f"trials {[each[:3] for each in _trials(space)]} instead of {[each[:3] for each in wanted]}")
    broken += [f"{each} is left" for each in short_run.parts(space, home.cache)]
    yield judged(broken, ended.last_words if broken else "", traceback=ended.traceback, part="sweep after kills")


def killed_window(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    """The window while it trains; no process of it is left, and another window ends the run."""
    whole = short_run.whole()
    home, space, config = Home(folder / "home"), folder / "space", short_run.write_config(folder)
    last: dict[int, short_run.Held] = {}
    family: list[psutil.Process] = []

    def start(**how: Any) -> Program:
        return home.start("train", space, config, module="tests.campaign.window", **how)

    for _ in range(MOST):

        def watched(**how: Any) -> Program:
            program = start(**how)
            family[:] = [psutil.Process(program.pid)]
            return program

        def look() -> None:
            last.update(short_run.held(space))
            try:
                family[1:] = family[0].children(recursive=True)
            except psutil.NoSuchProcess:
                return

        ended = killed(rng, watched, look, whole.seconds + 4.0, 60, folder)
        if not ended.killed:
            break
        outcome = after_kill(ended, space, last, "window")
        _, alive = psutil.wait_procs(family[1:], 60)
        for each in alive:
            each.kill()
        yield judged([f"{len(alive)} processes of it live on"], part="window") if alive else outcome
    yield from ends_alike(start().end(), home, space, whole, "curves after kills")


def killed_analysis(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    """The process that makes maps: what it stored is whole, and another makes the rest."""
    home, space = short_run.copy_of_whole(folder)
    asked = {"id": 1, "op": "project_epochs", "workspace": str(space), "evaluation": 1, "method": "pca", "seed": 0}
    pipe = folder / "asked"
    os.mkfifo(pipe)
    descriptor = os.open(pipe, os.O_RDWR)

    def maps(**how: Any) -> Ended:
        program = home.start(module="workbench.projection.server", stdin=str(pipe), **how)
        os.write(descriptor, (json.dumps(asked) + "\n").encode())
        return program.end(look=lambda: re.search('"event": "(result|error)"', program.said()))

    for _ in range(4):
        ended = maps(end_at=(rng.randint(1, 14), rng.choice((0.0, rng.expovariate(1 / 0.002))), str(space)))
        yield judged(short_run.faults(space), traceback=ended.traceback, part="analysis process")
    ended = maps()
    os.close(descriptor)
    broken = short_run.faults(space) + [f"{each} is left" for each in short_run.parts(space)]
    if '"event": "result"' not in ended.said:
        broken.append(f"no maps: {ended.last_words}")
    yield judged(broken, traceback=ended.traceback, part="maps after kills")


def killed_unpack(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    """A run that unpacks its archive: the next one has all files, and nothing unfinished stays."""
    home, space = Home(folder / "home"), folder / "space"
    archive = packed_images(folder, rng.choice(("zip", "tar.gz")))
    config = folder / "unpack.toml"
    text = short_run.write_config(folder, epochs=1).read_text()
    config.write_text(text.replace('"digits"', f'"folder"\nfolder = "{archive}"\nimage_size = 8'))

    def start(**how: Any) -> Program:
        return home.start("run", config, "-w", space, "--quiet", **how)

    for _ in range(4):
        ended = killed(rng, start, lambda: None, 2.0, 330, home.cache)
        if not ended.killed:
            break
        counts = [len(list(each.rglob("*.png"))) for each in (home.cache / "workbench" / "unpacked").glob("[!.]*")]
        broken = [f"a folder of the archive has {count} of {PICTURES} files" for count in counts if count != PICTURES]
        yield judged(broken, traceback=ended.traceback, part="unpacking")
    ended = start().end()
    broken = [f"status {ended.status}: {ended.last_words}"] * bool(ended.status)
    broken += [f"{each} is left" for each in short_run.parts(space, home.cache)]
    yield judged(broken, traceback=ended.traceback, part="unpacked after kills")


def packed_images(folder: Path, ending: str) -> Path:
    """An archive of small pictures in 10 classes."""
    drawn, archive, numbers = folder / "drawn", folder / f"pictures.{ending}", np.random.default_rng(0)
    for row in range(PICTURES):
        path = drawn / f"{row % 10}" / f"{row:03}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(numbers.integers(0, 256, (8, 8), np.uint8)).save(path)
    files = sorted(drawn.rglob("*.png"))
    if ending == "zip":
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
            for each in files:
                packed.write(each, each.relative_to(drawn))
    else:
        with tarfile.open(archive, "w:gz") as packed:
            for each in files:
                packed.add(each, each.relative_to(drawn))
    return archive


FAKE_PYTHON = """#!/bin/sh
# stands in for Python: makes an environment, is its pip, and is the program that is handed over to
case "$2" in
venv) rm -rf "$4"; mkdir -p "$4/bin" "$4/PACKAGES"; cp "$0" "$4/bin/python" ;;
pip) for each in $(seq 40); do
       echo "  Downloading part-$each-1-py3-none-any.whl (1 MB)"; echo "$each" > "${0%/bin/python}/PACKAGES/$each.py"
     done ;;
workbench) echo handed over; ls "${0%/bin/python}/PACKAGES" ;;
esac
"""
INSTALL = """
import collections, runpy, shutil, sys
shutil.disk_usage = lambda folder: collections.namedtuple("Usage", "total used free")(10**12, 0, 10**12)
sys.executable = sys.argv[2]
sys.argv = [sys.argv[1], "run", "--", "list", "runs"]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def killed_install(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    """The installer, with stand-ins for venv and pip: what it hands over to is whole, however often it was killed."""
    checkout = folder / "checkout"
    (checkout / "packaging").mkdir(parents=True)
    shutil.copy(ROOT / "packaging" / "bootstrap.py", checkout / "packaging")
    (checkout / "packaging" / "constraints.txt").write_text("numpy==2.4.6\n")
    (checkout / "pyproject.toml").write_text('[project]\ndependencies = ["numpy"]\n[project.optional-dependencies]\n')
    python = folder / "python"
    version = f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
    python.write_text(FAKE_PYTHON.replace("PACKAGES", version))
    python.chmod(0o755)

    def install() -> Program:
        words = [sys.executable, "-c", INSTALL, str(checkout / "packaging" / "bootstrap.py"), str(python)]
        return start_fresh(words, {"PYTHONDONTWRITEBYTECODE": "1"}, folder / "said.txt")

    for number in range(9):
        program = install()
        ended = program.end(rng.uniform(0, 0.4)) if number < 8 else program.end()
        if ended.killed or ended.status < 0:
            yield judged([], part="installer")
            continue
        broken = [f"status {ended.status}"] * bool(ended.status)
        missing = {f"{each}.py" for each in range(1, 41)} - set(ended.said.split())
        broken += [f"it handed over with {len(missing)} files missing"] * bool(missing)
        said = ended.last_words if broken else ""
        yield judged(broken, said, traceback=ended.traceback, part="installed after kills")
        shutil.rmtree(checkout / ".venv") if number < 8 else None
