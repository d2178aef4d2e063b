"""The sweeps that reported runs are of, with the importance of what they vary."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workbench.comparing.grouping.setting_titles import column_titles
from workbench.entries.catalog import Catalog
from workbench.progress import Progress
from workbench.sweeps.importance import Importance, importance
from workbench.sweeps.progress import set_fields
from workbench.workspace import Workspace
from workbench.workspace.experiments import sweeps as stored
from workbench.workspace.rows import Run

MOST_SWEEPS = 4  # whose importance is computed, which takes seconds for each


@dataclass(frozen=True, slots=True)
class SweepContent:
    """One sweep with several parameters."""

    number: int
    name: str
    measured: Importance  # of all of its settings, also of those that are not reported
    titles: Mapping[str, str]  # of the fields that its trials set


def gather_sweeps(
    workspace: Workspace, runs: Sequence[Run], known: Catalog, progress: Progress
) -> tuple[tuple[SweepContent, ...], int]:
    """The newest sweeps of the runs that vary several parameters, and how many more there are.

    Raises:
        Cancelled: of `progress`.
    """
    numbers = stored.of_runs(workspace, [run.id for run in runs])
    several = [sweep for number in numbers if len((sweep := stored.one(workspace, number)).parameters) > 1]
    contents = []
    for sweep in several[:MOST_SWEEPS]:
        trials = stored.trials(workspace, sweep.id)
        titles = column_titles(set_fields(sweep, trials), [trial.setting for trial in trials], known)
        contents.append(SweepContent(sweep.id, sweep.name, importance(sweep, trials, known, progress), titles))
    return tuple(contents), len(several) - len(contents)
