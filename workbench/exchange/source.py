"""What an export is made of: a run, one of its evaluations, and someone to tell."""

from collections.abc import Callable
from dataclasses import dataclass

from workbench.events import score_of
from workbench.problem import Problem
from workbench.workspace import Workspace
from workbench.workspace.rows import Evaluation, Run

Tell = Callable[[str, int, int], None]  # (text, done, total); may raise Cancelled


@dataclass(frozen=True, slots=True)
class Source:
    """A run as it is now, with the evaluation that is exported; None before its first one."""

    workspace: Workspace
    run: Run
    evaluation: Evaluation | None

    @property
    def evaluated(self) -> Evaluation:
        """The evaluation. Raises Problem when there is none."""
        if self.evaluation is None:
            raise Problem(f"Run {self.run.id} has no evaluation yet.", todo="Wait for its first one.")
        return self.evaluation


def source_of(workspace: Workspace, run_id: int, epoch: int | None = None) -> Source:
    """The run with its best evaluation, or the one after `epoch`. Raises Problem for an unknown run or epoch."""
    evaluations = workspace.evaluations(run_id)
    run = workspace.run(run_id)
    if epoch is None:
        return Source(workspace, run, max(evaluations, key=_score, default=None))
    found = [each for each in evaluations if each.epoch == epoch]
    if not found:
        known = ", ".join(str(each.epoch) for each in evaluations) or "none"
        raise Problem(f"Run {run_id} was not evaluated after epoch {epoch}.", todo=f"Evaluated epochs: {known}.")
    return Source(workspace, run, found[-1])


def _score(evaluation: Evaluation) -> float:
    score = score_of(evaluation.metrics)
    return -1.0 if score is None else score
