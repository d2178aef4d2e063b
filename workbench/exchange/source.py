"""The source of an export: a run, one of its evaluations, and a progress callback."""

from dataclasses import dataclass, field

from workbench.files.new_files import NewFiles
from workbench.problem import Problem, UnknownName
from workbench.workspace import Workspace
from workbench.workspace.measured.evaluations import unread_words
from workbench.workspace.measured.unkept import keeps_all
from workbench.workspace.rows import Evaluation, Run

BEST, LAST = "best", "last"
Epoch = int | str  # the number of an epoch, BEST or LAST
IMAGE_SIZE, LEAST_SIZE, LARGEST_SIZE = 128, 8, 1024  # px, of the squares that imported images of a folder become


@dataclass(frozen=True, slots=True)
class Source:
    """A run as it is now, with the evaluation that is exported; None before its first one.

    Args:
        new: what the export writes.
        remarks: what of the run could not be read, and what a format could not write, as sentences; the export says
            them when it has ended.
    """

    workspace: Workspace
    run: Run
    evaluation: Evaluation | None
    new: NewFiles = field(default_factory=NewFiles, compare=False)
    remarks: list[str] = field(default_factory=list, compare=False)

    @property
    def evaluated(self) -> Evaluation:
        """The evaluation. Raises Problem when there is none."""
        if self.evaluation is None:
            raise Problem(self.run.has_no("evaluation"), todo="Wait for its first one." if self.run.live else "")
        return self.evaluation


def source_of(workspace: Workspace, run_id: int, epoch: Epoch = BEST) -> Source:
    """The run with one of its evaluations.

    Args:
        epoch: "best", "last", or the number of an epoch after which it was evaluated.

    Raises:
        Problem: an unknown run or epoch.
    """
    evaluations = workspace.evaluations(run_id)
    run = workspace.run(run_id)
    if epoch == BEST:
        damaged = unread_words(run, evaluations)
        best = max(evaluations, key=lambda evaluation: evaluation.score, default=None)
        return Source(workspace, run, best, remarks=[damaged] if damaged else [])
    if epoch == LAST:
        return Source(workspace, run, evaluations[-1] if evaluations else None)
    at_epoch = [evaluation for evaluation in evaluations if evaluation.epoch == epoch]
    if not at_epoch:
        known = ", ".join(str(evaluation.epoch) for evaluation in evaluations) or "none"
        if keeps_all(run.config):
            what = f"Run {run_id} was not evaluated after epoch {epoch}."
            raise UnknownName(what, todo=f"Evaluated epochs: {known}.")
        what = f"Run {run_id} has no evaluation of epoch {epoch}: it keeps only the best and the last one."
        raise UnknownName(what, kept="Its curves have every epoch.", todo=f"Kept epochs: {known}.")
    return Source(workspace, run, at_epoch[-1])
