"""Runs of a sweep that train nothing, for tests of its worker."""

import threading
from itertools import count

from workbench.config import RunConfig
from workbench.control import Control
from workbench.events import Scalar, Status
from workbench.jobs import Job
from workbench.problem import Problem
from workbench.workspace.recorder import Recorder


def bowl(config: RunConfig) -> float:
    """What a run of this config reaches: best at lr = 0.03, 0 far from it, a little better for higher seeds."""
    return max(0.0, 0.9 - abs(config.training.lr - 0.03)) + 0.001 * config.seed


class FakeRuns:
    """Runs that store one evaluation at once; one may be held until it is interrupted, another may fail."""

    def __init__(self):
        self.began, self.resumed, self.lists = [], [], []
        self.hold = self.fail = None  # number of the run, from 1
        self.held = threading.Event()

    def begin(self):
        """Called on the thread of each run, first of all."""

    def make_job(self, workspace, run_id, control: Control, listen=None, *, resume=False, device="", listed=None):
        recorder = Recorder(workspace, run_id, control)
        self.lists.append(listed)
        self.began.append(run_id)
        self.resumed += [run_id] if resume else []

        def work(control, emit):
            self.begin()
            emit(Status("Working"))
            if resume and not (workspace.folder(run_id) / "last.pt").exists():
                recorder.forget_after(-1)
            emit(Scalar("probe/ce", 1, 0.5))
            if run_id == self.hold and not resume:
                (workspace.folder(run_id) / "last.pt").write_bytes(b"")
                self.held.set()
                for _ in count():
                    if control.interrupted:
                        return
                    threading.Event().wait(0.01)
            if self.fail in (run_id, "all"):
                raise Problem("The disk is full.")
            if not workspace.evaluations(run_id):  # resumed: it may have been interrupted behind its evaluation
                store(workspace, run_id, bowl(RunConfig.recorded(workspace.run(run_id).config)))

        return Job(f"run {run_id}", work, recorder, control)


def store(workspace, run_id, value, epoch=1, step=1):
    with workspace.writing() as db:
        (artefact,) = db.execute(
            "insert into artefacts (run_id, kind, path, bytes, blake2b, created) "
            "values (?, 'embeddings', 'e', 0, '', '') on conflict (run_id, path) do update set bytes = 0 returning id",
            (run_id,),
        ).fetchone()
        db.execute(
            "insert into evaluations (run_id, epoch, step, embeddings_id, distance, score, metrics, created) "
            "values (?, ?, ?, ?, 'cosine', ?, ?, '')",
            (run_id, epoch, step, artefact, value, f'{{"MAP@R": {value}, "recall@1": 0.5}}'),
        )
