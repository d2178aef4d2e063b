"""What compared runs do not share: data set, metric or epoch, as sentences that name the runs."""

from workbench.comparing.fairness.shared_epochs import by_number, evaluated, no_epoch_in_common, parts, runs_named
from workbench.comparing.overview import Overview
from workbench.entries import catalog
from workbench.metric_names import metric_name
from workbench.workspace import Workspace
from workbench.workspace.rows import Run
from workbench.workspace.run_names import told_apart


def nothing_in_common(workspace: Workspace, overview: Overview) -> list[str]:
    """One sentence for each of data set, metric and epoch that not all of the runs share; none for a single run.

    Args:
        overview: of the runs, by the metric and at the place that are asked for.
    """
    if len(overview.measured) < 2:
        return []
    return [*_data(workspace, overview), *_metric(overview), *_epochs(overview)]


def _data(workspace: Workspace, overview: Overview) -> list[str]:
    named: dict[str, list[Run]] = {}
    for _, measured in by_number(overview.measured):
        if measured.run.images:
            named.setdefault(measured.run.images, []).append(measured.run)
    if len(named) < 2:
        return []
    known = catalog.current()
    words = [told_apart(known, runs[0], workspace.dataset(runs[0].dataset_id or 0)) for runs in named.values()]
    runs_of_each = parts(dict(zip(words, ([run.id for run in runs] for runs in named.values()), strict=True)))
    return [f"The runs have no data set in common, so their numbers cannot be compared: {runs_of_each}."]


def _metric(overview: Overview) -> list[str]:
    bare = [
        number
        for number, measured in evaluated(overview.measured).items()
        if not any(overview.metric in evaluation.metrics for evaluation in measured.evaluations)
    ]
    return [f"Not all of the runs have {metric_name(overview.metric)}: {runs_named(bare)} lack it."] if bare else []


def _epochs(overview: Overview) -> list[str]:
    apart = no_epoch_in_common(overview.measured)
    if apart:
        return [apart]
    elsewhere = [
        number
        for number, measured in by_number(overview.measured)
        if measured.evaluations and measured.at(overview.at) is None
    ]
    if not elsewhere or len(evaluated(overview.measured)) < 2:
        return []
    return [f"Not all of the runs were evaluated at epoch {overview.at}: not {runs_named(elsewhere)}."]
