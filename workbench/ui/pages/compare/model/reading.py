"""What is read of the ticked runs, and of two of their groups; not on the window's thread."""

from dataclasses import dataclass, field

from workbench.comparing.difference.baseline import BaselineRow, against_baseline
from workbench.comparing.grouping.groups import Group
from workbench.comparing.measures import BEST, At
from workbench.comparing.overview import Overview, overview
from workbench.comparing.queries.pairing import Comparison, compare
from workbench.entries.catalog import Catalog
from workbench.progress import Progress, quiet
from workbench.workspace import Workspace
from workbench.workspace.rows import Run

Named = dict[int, tuple[str, str]]  # sample id -> class, path


@dataclass(frozen=True, slots=True)
class Question:
    """A request to read the ticked runs, with the wanted metric and evaluation."""

    runs: tuple[Run, ...]
    metric: str
    at: At

    def answer(self, workspace: Workspace, known: Catalog, progress: Progress = quiet) -> Overview:
        """Read the runs; not on the window's thread.

        If no run has the wanted metric, the first available metric is used instead. If the runs do not all have the
        wanted epoch, each run's best epoch is used. `progress` may raise Cancelled.
        """
        read = overview(workspace, self.runs, known, self.metric, self.at, progress)
        metric = self.metric if self.metric in read.metrics or not read.metrics else read.metrics[0]
        at = BEST if isinstance(self.at, int) and self.at not in read.epochs else self.at
        if (metric, at) == (self.metric, self.at):
            return read
        return overview(workspace, self.runs, known, metric, at, progress)


@dataclass(frozen=True, slots=True)
class RowsQuestion:
    """The rows of the table: groups with their differences from one of them, in the metrics of its columns."""

    overview: Overview
    baseline: Group
    metrics: tuple[str, ...]

    def answer(self) -> list[BaselineRow]:
        """Compute them: about a millisecond for five groups in four metrics."""
        return against_baseline(self.overview, self.baseline, self.metrics)


@dataclass(frozen=True, slots=True, eq=False)
class PairQuestion:
    """Two groups to compare, query by query."""

    overview: Overview
    baseline: Group
    other: Group

    def answer(self, workspace: Workspace, progress: Progress = quiet) -> "PairAnswer":
        """Read and compare; not on the window's thread. Raises Problem if they cannot be compared."""
        shown = self.overview
        comparison = compare(
            workspace, self.baseline, self.other, shown.measured, shown.metric, shown.at, progress=progress
        )
        datasets = [run.dataset_id for run in self.baseline.runs if run.dataset_id is not None]
        return PairAnswer(comparison, names_of_samples(workspace, datasets[0]) if datasets else {})


@dataclass(frozen=True, slots=True, eq=False)
class PairAnswer:
    """A comparison of two groups with the class and path of every sample."""

    comparison: Comparison
    named: Named = field(default_factory=dict)


def names_of_samples(workspace: Workspace, dataset_id: int) -> Named:
    """Class and path of every sample; not on the window's thread."""
    data, samples = workspace.dataset(dataset_id), workspace.samples(dataset_id)
    named = zip(map(data.class_name, samples.labels.tolist()), samples.paths, strict=True)
    return dict(zip(samples.ids.tolist(), named, strict=True))
