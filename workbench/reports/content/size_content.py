"""The difference of two groups of runs by class size, of a comparison that was made already."""

from workbench.comparing.overview import Overview
from workbench.comparing.queries.pairing import Comparison
from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.results.size_differences import ComparedBySize, compared_by_size
from workbench.workspace import Workspace

NO_SEED = "The groups have no seed in common, so their classes cannot be compared by size."
NO_VALUES = "There are no values of single queries to compare by class size."


def differences_by_size(
    workspace: Workspace, shown: Overview, comparison: Comparison, progress: Progress = quiet
) -> ComparedBySize:
    """The difference in each group of classes by size, by the sizes of the first two runs that are compared.

    Raises:
        Problem: no two runs have queries to compare, or as `compared_by_size`.
        Cancelled: by `progress`.
    """
    queries = comparison.queries
    if queries is None:
        raise Problem(NO_VALUES if comparison.paired else NO_SEED)
    kept = [shown.measured[run].at(shown.at) for run in queries.paired[0]]
    first, second = (evaluation.id for evaluation in kept if evaluation is not None)
    return compared_by_size(workspace, (first, second), queries.sample_ids, queries.first, queries.second, progress)
