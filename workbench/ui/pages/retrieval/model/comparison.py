"""The evaluation that the shown one is compared with: of the same run, or of another on the same samples."""

from dataclasses import dataclass, field

from workbench.comparing.queries.counterparts import Counterpart
from workbench.workspace.rows import Evaluation
from workbench.workspace.run_names import name_with_seed

Choices = list[tuple[str, int]]  # title and id of evaluations


@dataclass(slots=True, eq=False)
class Comparison:
    """What can be compared with, and what was chosen."""

    now: Evaluation | None = None  # the shown one
    of_run: tuple[Evaluation, ...] = ()  # all evaluations of its run
    others: list[Counterpart] = field(default_factory=list)  # of other runs
    before: Evaluation | None = None  # the chosen one
    method: str | None = None  # instead of one: a method of search of the shown evaluation

    def show(self, now: Evaluation, of_run: tuple[Evaluation, ...]) -> bool:
        """Take another evaluation; the choice stays while the run is the same. Returns whether the run is another."""
        another_run = self.now is None or self.now.run_id != now.run_id
        if another_run:
            self.others, self.method = [], None
        if another_run or (self.before is not None and self.before.id == now.id):
            self.before = None
        self.now, self.of_run = now, of_run
        return another_run

    def choose(self, evaluation_id: int | None) -> None:
        """Compare with one of the choices, or with none."""
        offered = [*self.of_run, *(other.evaluation for other in self.others)]
        self.before = next((evaluation for evaluation in offered if evaluation.id == evaluation_id), None)
        self.method = None

    def choose_method(self, name: str) -> None:
        """Compare with a method of search instead of an evaluation."""
        self.before, self.method = None, name

    def choices(self) -> tuple[Choices, Choices]:
        """What can be compared with: evaluations of the shown run, and of others."""
        now = self.now
        own = [
            ("Since untrained" if evaluation.epoch == 0 else f"Since epoch {evaluation.epoch}", evaluation.id)
            for evaluation in self.of_run
            if now is not None and evaluation.id != now.id and evaluation.distance == now.distance
        ]
        return own, [(_title(other), other.evaluation.id) for other in self.others]

    @property
    def word(self) -> str:
        """What is compared with: "epoch 3", "epoch 3 of run 5"; empty for nothing."""
        if self.before is None:
            return ""
        epoch = "the untrained network" if self.before.epoch == 0 else f"epoch {self.before.epoch}"
        return epoch if self._within_run else f"{epoch} of run {self.before.run_id}"

    @property
    def title(self) -> str:
        """The same at the head of a sentence: "Since epoch 3", "Against epoch 3 of run 5"."""
        return f"{'Since' if self._within_run else 'Against'} {self.word}"

    @property
    def _within_run(self) -> bool:
        return self.now is not None and self.before is not None and self.before.run_id == self.now.run_id


def _title(other: Counterpart) -> str:
    run, which = other.run, "best" if other.best else "last"
    return f"Run {run.id}, {name_with_seed(run)}: {which}, epoch {other.evaluation.epoch}"
