"""A run told twice, to a workspace and to a folder that travels; and the rows of a workspace without what differs."""

import math
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from tests.unit.workspace.test_workspace import Images, evaluated
from workbench.config import RunConfig
from workbench.events import Ended, Keep, Noted, ProbeEmbeddings, Progress, Saved, Scalar, Status
from workbench.workspace import Workspace
from workbench.workspace.folders import travelling
from workbench.workspace.recorder import Recorder
from workbench.workspace.recorders.folder_recorder import FolderRecorder

# Numbers of rows and moments differ between two workspaces; so do the processes that wrote.
OWN = {
    "id", "run_id", "evaluation_id", "dataset_id", "embeddings_id", "proxies_id", "created", "started", "ended",
    "heartbeat", "seconds", "pid", "host", "born", "owner", "checksum", "metric_id", "seq", "colour",
}  # fmt: skip
ROWS = {
    "runs": "select * from runs order by id",
    "points": "select m.name, p.step, p.value from scalar_points p join metrics m on m.id = p.metric_id order by 1, 2",
    "charts": "select * from charts order by step",
    "evaluations": "select * from evaluations order by id",
    "queries": "select q.*, e.epoch from queries q join evaluations e on e.id = q.evaluation_id order by epoch, place",
    "artefacts": "select * from artefacts order by path",
    "datasets": "select * from datasets",
    "samples": "select * from samples order by id",
}


def rows(workspace: Workspace) -> dict[str, list[str]]:
    """All that a workspace says of its runs, but numbers of rows and moments; not-a-number is equal to itself."""
    whole = {}
    with workspace.reading() as db:
        for name, sql in ROWS.items():
            cursor = db.execute(sql)
            columns = [column[0] for column in cursor.description]
            whole[name] = [
                repr(
                    {
                        key: value
                        for key, value in zip(columns, row, strict=True)
                        if (name == "samples" and key == "id") or key not in OWN
                    }
                )
                for row in cursor
            ]
    return whole


def first_part(recorder: Recorder | FolderRecorder, folder: Path) -> None:
    """What a run says up to the moment in which it is killed."""
    images = Images()
    recorder(Status("Loading"))
    recorder.read(images, None)
    recorder.environment({"data": {"fingerprint": "f00d"}})
    recorder(Noted("A note of the run."))
    for step in range(1, 11):
        recorder(Scalar("batch/loss", step, math.nan if step == 7 else 1 / step))
    recorder(Progress(10, 30, 123.0, 456, 7.0))
    recorder(evaluated(images, 1, 10, 0.5))
    recorder.flush()
    _save(recorder, folder, b"one", 1, 10)
    for step in range(11, 21):
        recorder(Scalar("batch/loss", step, 9.0))
    recorder(evaluated(images, 2, 20, 0.9))
    recorder.flush()


def second_part(recorder: Recorder | FolderRecorder, folder: Path, keep: tuple[int, ...] = ()) -> None:
    """It goes on from step 10, tells other numbers, and ends; of its evaluations it keeps those of `keep`, or all."""
    images = Images()
    recorder(Status("Loading"))
    recorder.read(images, None)
    recorder.environment({"data": {"fingerprint": "f00d", "again": True}})
    recorder.forget_after(10)
    for step in range(11, 31):
        recorder(Scalar("batch/loss", step, 1 / step))
        recorder(Scalar("test/MAP@R", step, math.inf))
    recorder(Progress(30, 30, 12.0, 456, 0.0))
    recorder(evaluated(images, 2, 20, 0.4))
    half = {"training_ids": np.array([0, 1]), "training_embeddings": np.ones((2, 3), np.float32)}
    probe = ProbeEmbeddings(np.array([1, 0]), np.array([0, 1]), np.full((2, 3), 2, np.float32))
    recorder(replace(evaluated(images, 3, 30, 0.7), **half, probe=probe))
    recorder.flush()
    _save(recorder, folder, b"three", 3, 30)
    if keep:
        recorder(Keep(keep))
    recorder(Ended("done"))


def directly(workspace: Workspace, keep: tuple[int, ...] = ()) -> None:
    """The whole run, told to a workspace."""
    run_id = workspace.create_run(RunConfig(name="a run"))
    for part in (first_part, partial(second_part, keep=keep)):
        recorder = Recorder(workspace, run_id)
        part(recorder, workspace.folder(run_id))
        recorder.close()


def in_folder(folder: Path, after_first: "list[Path] | None" = None, keep: tuple[int, ...] = ()) -> None:
    """The whole run, told to a folder; a copy of it as the kill left it is put into `after_first[0]`."""
    travelling.make(folder, RunConfig(name="a run"))
    recorder = FolderRecorder(folder)
    first_part(recorder, folder)
    recorder.close()
    if after_first:
        shutil.copytree(folder, after_first[0])
    recorder = FolderRecorder(folder)
    second_part(recorder, folder, keep)


def _save(recorder: Recorder | FolderRecorder, folder: Path, weights: bytes, epoch: int, step: int) -> None:
    for kind in ("best", "last"):
        path = folder / f"{kind}.pt"
        path.write_bytes(weights + kind.encode())
        recorder(Saved(kind, path, epoch, step))
