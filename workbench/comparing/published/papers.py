"""The papers' tables beside groups of runs: same data set, protocol and metric, and the differences."""

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.comparing.grouping.groups import Group
from workbench.comparing.measures import At, Measured, summarised
from workbench.comparing.published.published_tables import (
    EXPERIMENT_ROWS,
    ExperimentRow,
    Table,
    beside,
    classes_of,
    experiment_rows,
)
from workbench.config import RunConfig
from workbench.workspace.rows import Experiment


@dataclass(frozen=True, slots=True)
class GroupRow:
    """One group in a paper's table: percent for each of its columns (NaN: none), mean over seeds."""

    group: Group
    values: tuple[float, ...]
    seeds: int


@dataclass(frozen=True, slots=True, eq=False)
class GroupsBeside:
    """A paper's table, the groups of its protocol, their finished experiments, and what is not shared with it."""

    table: Table
    rows: tuple[GroupRow, ...]
    experiments: tuple[ExperimentRow, ...]
    experiment_groups: tuple[Group, ...]  # of the runs of each row of `experiments`
    differences: tuple[str, ...]


def papers_beside(
    groups: Sequence[Group], measured: dict[int, Measured], at: At, experiments: Sequence[Experiment] = ()
) -> tuple[GroupsBeside, ...]:
    """Tables in the order of the groups; a group's numbers are those of its runs at the place asked for.

    `experiments` are the workspace's: those that have a result come below the groups that their runs are in.
    """
    results = {experiment.id: experiment for experiment in experiments if experiment.result}
    rows: dict[Table, list[tuple[GroupRow, list[str]]]] = {}
    whole: dict[Table, list[tuple[ExperimentRow, Group]]] = {}
    for group in groups:
        evaluated = [evaluation.metrics for run in group.runs if (evaluation := measured[run.id].at(at)) is not None]
        config, environment = RunConfig.recorded(group.runs[0].config), group.runs[0].environment
        if not evaluated or config.imported:
            continue
        for table in beside(config, evaluated[0], classes_of(environment)):
            by_seed = [
                [100 * value for value in summarised(group, measured, metric, at).by_seed.values()]
                for metric in table.columns(evaluated[0])
            ]
            values = tuple(sum(column) / len(column) if column else float("nan") for column in by_seed)
            row = GroupRow(group, values, max(map(len, by_seed), default=0))
            for number in dict.fromkeys(run.experiment_id for run in group.runs):
                if (stored := results.get(number or 0)) is not None:
                    new_rows = experiment_rows(table, stored.title, config, stored.result)
                    whole.setdefault(table, []).extend((experiment_row, group) for experiment_row in new_rows)
            unlike = table.differences(config, environment, evaluated[0])
            rows.setdefault(table, []).append((row, [f"“{group.title}”: {said}" for said in unlike]))
    return tuple(
        GroupsBeside(
            table,
            tuple(row for row, _ in own),
            tuple(row for row, _ in whole.get(table, ())),
            tuple(group for _, group in whole.get(table, ())),
            (
                *dict.fromkeys(sentence for _, sentences in own for sentence in sentences),
                *([EXPERIMENT_ROWS] if table in whole else []),
            ),
        )
        for table, own in rows.items()
    )
