"""Damaged workspaces, repaired: what is whole comes back, what is not is named, what is good stays as it is."""

import atexit
import contextlib
import functools
import io
import math
import os
import random
import shutil
import signal
import tempfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tests.campaign.outcome import Outcome
from tests.ui.small_run import Images, blobs, evaluated
from workbench.cli import main
from workbench.config import RunConfig
from workbench.events import Ended, Progress, Saved, Scalar, Status
from workbench.problem import Problem
from workbench.workspace import Workspace
from workbench.workspace.database import connection
from workbench.workspace.database.connection import sqlite3
from workbench.workspace.paths import DATABASE
from workbench.workspace.recorder import Recorder

TITLE = "Damaged workspaces repaired"
PROMISE = "doctor --repair brings back every run whose folder is whole, names what is missing, and spoils no database"
ROUNDS, SLICE = 100, 10
RUNS, SAMPLES = 3, 24
HANG = 60  # seconds

Rng = random.Random
Facts = dict[str, Any]


@dataclass(slots=True)
class Damage:
    """What was done to a copy of the workspace."""

    words: list[str] = field(default_factory=list)
    good: bool = False  # the database is whole and must not change
    refused: bool = False  # repair says so and ends with status 1
    hurt: set[int] = field(default_factory=set)  # runs whose folder is not whole
    strange: set[str] = field(default_factory=set)  # folders that are no run's
    held: Any = None  # a connection that locks the database


def attempt(rng: Rng, folder: Path) -> Iterator[Outcome]:
    """One workspace, one or two kinds of damage, a repair and a look afterwards."""
    place, damage = folder / "w", Damage()
    shutil.copytree(template() / rng.choice(("closed", "in-wal")), place)
    choice = rng.choice(("database", "folders", "both"))
    if choice != "folders":
        rng.choice(DATABASES)(rng, place, damage)
    if choice != "database":
        for _ in range(rng.randint(1, 2)):
            rng.choice(FOLDERS)(rng, place, damage)
    before = _database_files(place)
    try:
        with _no_hang():
            status, said = _cli("doctor", "--repair", "--workspace", str(place))
        if (damage.good or "Nothing was changed" in said) and _database_files(place) != before:
            yield Outcome("lost", f"{', '.join(damage.words)}: a good database was changed ({said})")
            return
    finally:
        if damage.held is not None:
            damage.held.close()
    broken = _broken(place, damage, before, status, said)
    words = f"{', '.join(damage.words)}: {broken} (status {status}: {said[-600:]})" if broken else ""
    yield Outcome("lost" if broken else "survived", words)


def _broken(place: Path, damage: Damage, before: dict[str, bytes], status: int, said: str) -> str:
    """Which part of the promise broke; empty where none did."""
    if damage.refused:
        return (
            ""
            if (status == 1 and "not changed" in said) or "try again" in said.lower()
            else "it was not refused in words"
        )
    kept = {path.read_bytes() for path in place.iterdir() if path.is_file()}
    if DATABASE in before and before[DATABASE] not in kept and "lacked what" not in said:
        return "the damaged database was not kept"
    later, told = _cli("doctor", "--repair", "--workspace", str(place))
    with Workspace(place) as workspace:
        present = {run.id for run in workspace.runs()}
        for run_id, wanted in truth().items():
            same = run_id in present and _same(_read(workspace, run_id), wanted)
            if run_id not in damage.hurt and not same:
                return f"run {run_id} is not what it was"
            named = all(_names(run_id, words) for words in (said, told)) and status == later == 1
            interrupted = run_id in present and workspace.run(run_id).problem != ""
            untouched = damage.good or "is intact: " in said  # files beside a whole database: the drill of hashes
            if not (same or named or interrupted or untouched):
                return f"run {run_id} lost something and nobody says so ({told})"
    for name in damage.strange:
        if f"runs/{name}" not in said or f"runs/{name}" not in told or later != 1:
            return f"the folder {name} is not named"
    return ""


def _names(run_id: int, words: str) -> bool:
    return f"run {run_id}" in words or f"runs/{run_id}" in words


# The workspace


@functools.cache
def template() -> Path:
    """A folder with two copies of one workspace: closed, and as a kill leaves it, its last rows in the WAL."""
    root = Path(tempfile.mkdtemp(prefix="campaign-repairs-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    rng = np.random.default_rng(0)
    with Workspace(root / "closed", create=True) as workspace:
        for number in range(RUNS):
            _store(workspace, number, rng)
        with workspace.reading() as db:
            db.execute("select count(*) from runs").fetchone()
        shutil.copytree(root / "closed", root / "in-wal", ignore=shutil.ignore_patterns("*-shm"))
    return root


@functools.cache
def truth() -> dict[int, Facts]:
    """What the runs of the whole workspace hold."""
    with Workspace(template() / "closed") as workspace:
        return {run.id: facts(workspace, run.id) for run in workspace.runs()}


def _store(workspace: Workspace, number: int, rng: np.random.Generator) -> None:
    labels = np.arange(SAMPLES) % 4
    names, ids = ("a", "b", "c", "d"), np.arange(SAMPLES, dtype=np.int64) * 1_000_003 + 2**40
    images = Images([f"{row}.png" for row in range(SAMPLES)], labels, names, ids, f"set {number % 2}")
    run_id = workspace.create_run(RunConfig(name=f"run {number}"))
    recorder = Recorder(workspace, run_id)
    recorder(Status("Loading"))
    recorder.dataset(workspace.register_dataset(images, None))
    recorder.environment({"torch": "x"})
    for step in range(1, 41):
        recorder(Scalar("batch/loss", step, math.nan if step == 7 else float(rng.random())))
        if step % 20 == 0:
            recorder(Scalar("test/MAP@R", step, float(rng.random())))
            recorder(evaluated(images, step // 20, blobs(labels, 1.0, step + number), 5, np.eye(4, 6)))
            (workspace.folder(run_id) / "last.pt").write_bytes(rng.bytes(200))
            recorder(Saved("last", workspace.folder(run_id) / "last.pt", step // 20, step))
    recorder(Progress(40, 40, 100.0))
    recorder(Ended("done"))


def facts(workspace: Workspace, run_id: int) -> Facts:
    """All that a person sees of a run."""
    run = workspace.run(run_id)
    curves = {name: workspace.scalars(run_id, name) for name in workspace.scalar_names(run_id)}
    found: Facts = {"run": (run.name, run.config, run.status, run.done, run.epoch), "curves": curves}
    for each in workspace.evaluations(run_id):
        queries = workspace.queries(each.id)
        found[f"evaluation {each.epoch}"] = (
            each.step, each.metrics, workspace.embeddings(each.id), workspace.proxies(each.id), queries.ap,
            queries.first_hit, workspace.neighbours(run_id, int(queries.sample_ids[0]), each.id),
        )  # fmt: skip
    return found


def _read(workspace: Workspace, run_id: int) -> Facts:
    """As `facts`; of files and rows that cannot be read, the refusal."""
    try:
        return facts(workspace, run_id)
    except (Problem, ValueError, OSError, zipfile.BadZipFile) as error:
        return {"refused": str(error)}


def _same(found: object, wanted: object) -> bool:
    try:
        np.testing.assert_equal(found, wanted)
    except AssertionError:
        return False
    return True


# Damage to the database


def _changed(path: Path, change: Callable[[bytearray], None]) -> None:
    data = bytearray(path.read_bytes())
    change(data)
    path.write_bytes(data)


def cut_database(rng: Rng, place: Path, damage: Damage) -> None:
    os.truncate(place / DATABASE, rng.randrange((place / DATABASE).stat().st_size))
    damage.words.append("database cut")


def zero_database(rng: Rng, place: Path, damage: Damage) -> None:
    def zero(data: bytearray) -> None:
        at = rng.randrange(max(1, len(data) // 2))
        data[at : at + 20_000] = bytes(len(data[at : at + 20_000]))

    _changed(place / DATABASE, zero)
    damage.words.append("database zeroed in part")


def flip_database(rng: Rng, place: Path, damage: Damage) -> None:
    def flip(data: bytearray) -> None:
        for at in range(rng.randrange(5000), len(data), 97):
            data[at] ^= 255

    _changed(place / DATABASE, flip)
    damage.words.append("database flipped")


def empty_database(rng: Rng, place: Path, damage: Damage) -> None:
    (place / DATABASE).write_bytes(b"")
    os.utime(place / DATABASE, (0, 0))
    damage.words.append("database of 0 bytes")


def delete_database(rng: Rng, place: Path, damage: Damage) -> None:
    for name in (DATABASE, f"{DATABASE}-wal")[: rng.randint(1, 2)]:
        (place / name).unlink(missing_ok=True)
    damage.words.append("database deleted")


def delete_wal(rng: Rng, place: Path, damage: Damage) -> None:
    (place / f"{DATABASE}-wal").unlink(missing_ok=True)
    damage.words.append("WAL deleted")


def cut_wal(rng: Rng, place: Path, damage: Damage) -> None:
    wal = place / f"{DATABASE}-wal"
    if wal.exists() and wal.stat().st_size:
        os.truncate(wal, rng.randrange(wal.stat().st_size))
    damage.words.append("WAL cut")


def flip_wal(rng: Rng, place: Path, damage: Damage) -> None:
    """A flipped bit in the first half of the log; not in the way of `attempt`, which knows what a cut one still has."""

    def flip(data: bytearray) -> None:
        data[rng.randrange(len(data) // 2)] ^= 1 << rng.randrange(8)

    _changed(place / f"{DATABASE}-wal", flip)
    damage.words.append("WAL flipped")


def garbage(rng: Rng, place: Path, damage: Damage) -> None:
    (place / DATABASE).write_bytes(rng.randbytes(rng.randrange(1, 20_000)))
    damage.words.append("database of noise")


def good(rng: Rng, place: Path, damage: Damage) -> None:
    damage.good = True
    damage.words.append("database untouched")


def _with_pragma(place: Path, pragma: str) -> None:
    with contextlib.closing(sqlite3.connect(place / DATABASE)) as db:
        db.execute(pragma)


def newer(rng: Rng, place: Path, damage: Damage) -> None:
    _with_pragma(place, "pragma user_version = 99")
    damage.good = damage.refused = True
    damage.words.append("database of a newer version")


def foreign(rng: Rng, place: Path, damage: Damage) -> None:
    _with_pragma(place, "pragma application_id = 7")
    damage.good = damage.refused = True
    damage.words.append("database of another program")


def locked(rng: Rng, place: Path, damage: Damage) -> None:
    damage.held = sqlite3.connect(place / DATABASE, isolation_level=None)
    damage.held.execute("pragma locking_mode = exclusive")
    damage.held.execute("begin exclusive")
    damage.good = damage.refused = True
    damage.words.append("database locked")


DATABASES = (
    cut_database, zero_database, flip_database, empty_database, delete_database, delete_wal, cut_wal, garbage, good,
    newer, foreign, locked,
)  # fmt: skip


# Damage to the folders


def _hurt(rng: Rng, place: Path, damage: Damage, words: str) -> Path:
    run_id = rng.randint(1, RUNS)
    damage.hurt.add(run_id)
    damage.words.append(f"{words} of run {run_id}")
    return place / "runs" / str(run_id)


def _gone(path: Path) -> None:
    """Remove what an earlier damage of the same round may have put there."""
    if path.is_dir() and not path.is_symlink():
        path.rmdir()
    path.unlink(missing_ok=True)


def spoil_config(rng: Rng, place: Path, damage: Damage) -> None:
    path = _hurt(rng, place, damage, "config") / "config.toml"
    how = rng.randrange(5)
    _gone(path)
    if how == 1:
        path.mkdir()
    elif how:
        path.write_bytes((b"", b"", b"name = [", b"newer = 1\n", b"\xff\xfe")[how])


def spoil_journal(rng: Rng, place: Path, damage: Damage) -> None:
    path = _hurt(rng, place, damage, "journal") / "journal.jsonl"
    data = path.read_bytes() if path.is_file() else b""
    _gone(path)
    match rng.choice(("cut", "garbled", "pipe", "link", "folder", "keys", "gone")):
        case "cut":
            path.write_bytes(data[: rng.randrange(max(1, len(data)))])
        case "garbled":
            at = rng.randrange(max(1, len(data)))
            path.write_bytes(data[:at] + rng.randbytes(30) + data[at + 30 :])
        case "pipe":
            os.mkfifo(path)
        case "link":
            path.symlink_to(place / "elsewhere")
        case "folder":
            path.mkdir()
        case "keys":
            path.write_bytes(b'{"run": {"name\\" = 1 --": 2, "id": 9}}\n' + data[len(data) // 2 :])


def spoil_array(rng: Rng, place: Path, damage: Damage) -> None:
    run = _hurt(rng, place, damage, "array")
    path = rng.choice(sorted([*run.glob("ranking-*"), *run.glob("embeddings-*"), *run.glob("proxies-*")]))
    if rng.random() < 0.5:
        os.truncate(path, rng.randrange(path.stat().st_size))
    elif path.suffix == ".npy":
        np.save(path, np.zeros((3, 2), np.float32))
    else:
        np.savez(path, sample_ids=np.arange(3))


def spoil_copy(rng: Rng, place: Path, damage: Damage) -> None:
    _changed(_hurt(rng, place, damage, "data set") / "dataset.json", lambda data: data.__delitem__(slice(50, None)))


def strange_folder(rng: Rng, place: Path, damage: Damage) -> None:
    name = rng.choice(("01", "²", "-1", "1 copy", "99999999999999999999", "0", "x'; drop table runs"))
    shutil.copytree(
        place / "runs" / "1", place / "runs" / name, symlinks=True, ignore=shutil.ignore_patterns("*.jsonl")
    )
    damage.strange.add(name)
    damage.words.append(f"folder {name}")


def linked_folder(rng: Rng, place: Path, damage: Damage) -> None:
    if not (place / "runs" / "7").is_symlink():
        (place / "runs" / "7").symlink_to(place / "runs" / "1")
    damage.strange.add("7")
    damage.words.append("a link as a run's folder")


FOLDERS = (spoil_config, spoil_journal, spoil_array, spoil_copy, strange_folder, linked_folder)


# Doors


def _size(path: Path) -> int:
    """In bytes; a reader leaves an empty WAL behind."""
    return path.stat().st_size if path.exists() else 0


def _database_files(place: Path) -> dict[str, bytes]:
    names = (DATABASE, f"{DATABASE}-wal")
    return {name: (place / name).read_bytes() for name in names if _size(place / name)}


def _cli(*words: str) -> tuple[int, str]:
    out, before = io.StringIO(), connection.WAIT
    connection.WAIT = 0.1  # for the lock that this drill holds itself
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            status = main(list(words))
    finally:
        connection.WAIT = before
    return status, out.getvalue()


@contextlib.contextmanager
def _no_hang() -> Iterator[None]:
    """Ends what waits for ever with an error, where the system can."""
    if not hasattr(signal, "SIGALRM") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(*_: object) -> None:
        raise TimeoutError(f"it hung for {HANG} s")

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(HANG)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
