"""A run of a second or two, what it comes to when nothing disturbs it, and what a workspace holds at a moment."""

import atexit
import json
import shutil
import tempfile
import time
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from tests.campaign.program import Home
from workbench.problem import Problem
from workbench.training import checkpoint
from workbench.training.meter import FEED_WAIT, SYSTEM
from workbench.workspace import Workspace
from workbench.workspace.database.connection import open_reader, sqlite3

LOSSES = ("ce", "xbm", "proxy_anchor")  # plain; with a memory that a checkpoint has to hold; with proxies
CONFIG = """
name = "short"
device = "cpu"
[dataset]
name = "digits"
[backbone]
name = "conv4"
width = 8
[embedding]
dim = 16
[loss]
name = "LOSS"
[sampler]
name = "classes_images"
[training]
epochs = EPOCHS
batch_size = 40
[evaluation]
probe_size = 64
probe_every = 5
every = 2
"""


def write_config(folder: Path, loss: str = "ce", epochs: int = 6) -> Path:
    """The config as a file."""
    path = folder / f"{loss}-{epochs}.toml"
    path.write_text(CONFIG.replace("LOSS", loss).replace("EPOCHS", str(epochs)))
    return path


@dataclass(frozen=True)
class Held:
    """What the database has of one run."""

    status: str
    epoch: int
    curves: dict[str, dict[int, float]]  # name -> step -> value
    evaluations: dict[int, dict[str, float]]  # epoch -> metrics
    files: dict[str, int] = field(default_factory=dict)  # checkpoints, arrays, maps: path -> step


def held(space: Path) -> dict[int, Held]:
    """All runs of a workspace as they are committed now; empty where there is no database yet."""
    try:
        db = open_reader(space / "workspace.db")
    except Problem:
        return {}
    try:
        db.execute("begin")  # one moment for all that is read
        return {number: _held(db, *row) for number, *row in db.execute("select id, id, status, epoch from runs")}
    except sqlite3.DatabaseError:
        return {}
    finally:
        db.close()


def _held(db: Any, number: int, status: str, epoch: int) -> Held:
    curves: dict[str, dict[int, float]] = {}
    for name, step, value in db.execute("select name, step, value from scalars where run_id = ?", (number,)):
        curves.setdefault(name, {})[step] = value
    evaluations = db.execute("select epoch, metrics from evaluations where run_id = ?", (number,))
    paths = db.execute("select path, step from artefacts where run_id = ?", (number,))
    return Held(status, epoch, curves, {at: json.loads(metrics) for at, metrics in evaluations}, dict(paths))


def losses(before: Held, after: Held) -> list[str]:
    """What was committed and is not there any more."""
    gone = [
        f"{name} at step {step}"
        for name, curve in before.curves.items()
        for step in curve.keys() - after.curves.get(name, {}).keys()
    ]
    gone += [f"the evaluation of epoch {epoch}" for epoch in before.evaluations.keys() - after.evaluations.keys()]
    gone += [f"the file {path}" for path in before.files.keys() - after.files.keys()]
    if after.epoch < before.epoch:
        gone.append(f"epoch {before.epoch}, now {after.epoch}")
    return gone


def differences(found: Held, whole: Held) -> list[str]:
    """Where a run that was disturbed is not the one that was left alone."""
    unlike = [f"status {found.status}"] if found.status != whole.status else []
    for name, curve in whole.curves.items():
        if name == FEED_WAIT or name.startswith(SYSTEM):  # a time: no two runs wait alike
            continue
        other = found.curves.get(name, {})
        if other != curve:
            more, missing = len(other.keys() - curve.keys()), len(curve.keys() - other.keys())
            values = sum(other.get(step, value) != value for step, value in curve.items())
            unlike.append(f"{name}: {more} more steps, {missing} missing, {values} other values")
    for epoch, metrics in whole.evaluations.items():
        if found.evaluations.get(epoch) != metrics:
            unlike.append(f"epoch {epoch} was evaluated otherwise")
    return unlike


def faults(space: Path) -> list[str]:
    """What is wrong with a workspace at a start: its database, checkpoints and arrays. Opening it repairs nothing."""
    if not begun(space):
        return []
    try:
        with Workspace(space) as workspace:
            wrong = _faults(workspace)
    except Problem as problem:
        return [str(problem)]
    return wrong


def begun(space: Path) -> bool:
    """Whether there is a database with anything in it, or with runs beside it."""
    database = space / "workspace.db"
    return database.exists() and (database.stat().st_size > 0 or any((space / "runs").glob("*")))


def _faults(workspace: Workspace) -> list[str]:
    with workspace.reading() as db:
        wrong = [f"integrity_check: {row[0]}" for row in db.execute("pragma integrity_check") if row[0] != "ok"]
        wrong += [f"foreign_key_check: {tuple(row)}" for row in db.execute("pragma foreign_key_check")]
    for run in workspace.runs():
        saved = [checkpoint.load(path)["epoch"] for path in sorted(workspace.folder(run.id).glob("*.pt"))]
        if saved and run.epoch > max(saved):  # the best is written before the last
            wrong.append(f"run {run.id} says epoch {run.epoch}, its checkpoints {saved}")
        for evaluation in workspace.evaluations(run.id):
            ids, labels, vectors = workspace.embeddings(evaluation.id)
            if not len(ids) == len(labels) == len(vectors) or not np.isfinite(vectors).all():
                wrong.append(f"the embeddings of epoch {evaluation.epoch} do not fit")
            workspace.proxies(evaluation.id)
            workspace.queries(evaluation.id)
            for projection in workspace.projections(evaluation.id):
                workspace.coordinates(projection.id)
    return wrong


def parts(*folders: Path) -> list[str]:
    """Unfinished files below the folders."""
    return sorted(str(each.relative_to(folder)) for folder in folders for each in folder.rglob("*.part"))


@dataclass(frozen=True)
class Whole:
    """A run that nothing disturbed."""

    run: Held
    weights: str  # hash of its last checkpoint's tensors
    seconds: float
    space: Path
    home: Home


def whole(loss: str = "ce", epochs: int = 6) -> Whole:
    """The undisturbed run, once per process; its workspace stays for drills that need a finished one to copy."""
    return _whole(loss, epochs)


@cache
def _whole(loss: str, epochs: int) -> Whole:
    """By place alone: a cache takes `whole()` and `whole("ce")` for two runs, whose times differ."""
    folder = Path(tempfile.mkdtemp(prefix="campaign-whole-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    home, space = Home(folder / "home"), folder / "space"
    started = time.monotonic()
    ended = home.run("run", write_config(folder, loss, epochs), "-w", space, "--quiet")
    seconds = time.monotonic() - started
    assert ended.status == 0, ended.said
    return Whole(held(space)[1], weights(space), seconds, space, home)


def weights(space: Path) -> str:
    """A hash of the model and loss that run 1 ended with."""
    state = checkpoint.load(space / "runs" / "1" / "last.pt")
    return blake2b(b"".join(_plain(state[part]) for part in ("model", "loss"))).hexdigest()


def _plain(value: Any) -> bytes:
    """Tensors, dicts of them and plain values as bytes."""
    if isinstance(value, dict):
        return b"".join(str(key).encode() + _plain(each) for key, each in value.items())
    return bytes(value.numpy().tobytes()) if hasattr(value, "numpy") else repr(value).encode()


def copy_of_whole(folder: Path, loss: str = "ce", epochs: int = 6) -> tuple[Home, Path]:
    """A home and a workspace with a finished run, as files of their own; the pixel cache is shared by name."""
    source = whole(loss, epochs)
    shutil.copytree(source.space, folder / "space")
    shutil.copytree(source.home.folder, folder / "home")
    return Home(folder / "home"), folder / "space"
