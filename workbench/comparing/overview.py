"""Everything about the chosen runs except the comparison of two groups."""

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.comparing.curves.training_curves import scalar_names
from workbench.comparing.fairness.guards import guards
from workbench.comparing.fairness.shared_epochs import no_epoch_in_common, runs_named
from workbench.comparing.fairness.test_halves import with_test_halves
from workbench.comparing.grouping.groups import Group, grouped
from workbench.comparing.grouping.settings import Difference, differing
from workbench.comparing.measures import (
    At,
    Curve,
    Measured,
    Summary,
    common_epochs,
    curve_of,
    metric_names,
    read_measures,
    summarised,
)
from workbench.comparing.published.papers import GroupsBeside, papers_beside
from workbench.entries.catalog import Catalog
from workbench.names import nearest_first
from workbench.problem import Problem, UnknownName
from workbench.progress import Progress, quiet
from workbench.workspace import Workspace
from workbench.workspace.experiments import experiments
from workbench.workspace.rows import Run


@dataclass(frozen=True, slots=True, eq=False)
class Overview:
    """Groups of the chosen runs, in the order of their oldest runs, in one metric at one place."""

    groups: tuple[Group, ...]
    measured: dict[int, Measured]  # by run
    metrics: tuple[str, ...]  # that any run has
    epochs: tuple[int, ...]  # that all evaluated runs have
    metric: str
    at: At
    differences: tuple[Difference, ...]
    summaries: tuple[Summary, ...]  # one for each group
    curves: tuple[Curve, ...]  # one for each group
    scalars: tuple[str, ...]  # of training, that any run has
    guards: tuple[str, ...]
    papers: tuple[GroupsBeside, ...]  # tables of the papers that match a group

    @property
    def warnings(self) -> list[str]:
        """What makes the comparison unequal or incomplete, as sentences, the most important first."""
        apart = no_epoch_in_common(self.measured)
        sentences = [*self.guards, *([apart] if apart else [])]
        try:
            self.require()
        except Problem as problem:
            sentences.insert(0, str(problem))
        return sentences

    def require(self) -> None:
        """Raises Problem if no run has the metric there; it names the runs and what they have."""
        if not self.metrics:
            raise self._no_evaluation()
        if self.metric not in self.metrics:
            listed = ", ".join(nearest_first(self.metric, self.metrics))
            raise UnknownName(f"{self._none_has(self.metric)}.", todo=f"There is {listed}.")
        if any(summary.values for summary in self.summaries):
            return
        where = self.at if isinstance(self.at, str) else f"epoch {self.at}"
        epochs = f"Epochs of all runs: {', '.join(map(str, self.epochs))}."
        todo = no_epoch_in_common(self.measured) or epochs
        raise UnknownName(f"{self._none_has(self.metric)} at {where}.", todo=todo)

    def _no_evaluation(self) -> Problem:
        """What to do depends on whether one may still come."""
        runs = [measured.run for measured in self.measured.values()]
        without = self._none_has("evaluation", "an ")
        if all(run.only_searched for run in runs):
            return Problem(f"{without}: search-only runs have no metrics.", todo="Choose other runs.")
        without += " yet." if any(run.live or run.resumable for run in runs) else "."
        wait = any(run.live for run in runs)
        return Problem(without, todo="Wait for one, or choose other runs." if wait else "Choose other runs.")

    def _none_has(self, what: str, article: str = "") -> str:
        named = runs_named(sorted(self.measured))
        return (
            f"None of {named} has {article}{what}" if len(self.measured) > 1 else f"{named.capitalize()} has no {what}"
        )


def overview(
    workspace: Workspace,
    runs: Sequence[Run],
    known: Catalog,
    metric: str,
    at: At,
    progress: Progress = quiet,
    first: int | None = None,
) -> Overview:
    """Read and group the runs. Two hundred runs take a second or two: not on the window's thread.

    Args:
        known: the catalog, for defaults that configs leave out.
        metric: a name as in an evaluation's metrics. at: "best", "last" or an epoch.
        progress: called at each stage; may raise Cancelled.
        first: a run whose group stands first, as the baseline does; by default that of the oldest run.
    """
    groups = sorted(grouped(runs, known), key=lambda group: first not in [run.id for run in group.runs])
    measured = with_test_halves(workspace, groups, read_measures(workspace, runs))
    progress("Metrics", 0, 0)
    return Overview(
        groups=tuple(groups),
        measured=measured,
        metrics=tuple(metric_names(measured.values())),
        epochs=tuple(common_epochs(measured.values())),
        metric=metric,
        at=at,
        differences=tuple(differing([group.settings for group in groups])),
        summaries=tuple(summarised(group, measured, metric, at) for group in groups),
        curves=tuple(curve_of(group, measured, metric) for group in groups),
        scalars=scalar_names(workspace, runs),
        guards=tuple(guards(workspace, groups, measured, metric, at)),
        papers=papers_beside(groups, measured, at, experiments.every(workspace)),
    )
