"""Evaluations of other runs in which the queries of one run can be looked up: same images, same test set."""

from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass

from workbench.comparing.measures import BEST, LAST, Measured, read_measures
from workbench.workspace import Workspace
from workbench.workspace.database.connection import Connection
from workbench.workspace.measured import evaluations
from workbench.workspace.rows import Evaluation, Run


@dataclass(frozen=True, slots=True, eq=False)
class Counterpart:
    """An evaluation of another run: its best or its last."""

    run: Run
    evaluation: Evaluation
    best: bool


def counterparts(workspace: Workspace, run: Run, runs: Iterable[Run]) -> list[Counterpart]:
    """The best and the last evaluation of each other run that was evaluated on the same images, in their order.

    The images may have another size.
    A split that is drawn from the seed has other samples for every seed. Reads every such run: not for the window's
    thread.
    """
    if not run.images:
        return []
    measured = read_measures(workspace, [run, *(other for other in runs if other.images == run.images)])
    with closing(workspace.reader()) as db:
        wanted = _samples(db, measured.pop(run.id))
        alike = [other for other in measured.values() if wanted is not None and _samples(db, other) == wanted]
    pairs = []
    for other in alike:
        best, last = other.at(BEST), other.at(LAST)
        pairs += [Counterpart(other.run, best, best=True)] if best is not None else []
        if last is not None and (best is None or last.id != best.id):
            pairs.append(Counterpart(other.run, last, best=False))
    return pairs


def _samples(db: Connection, measured: Measured) -> tuple[int, int | None] | None:
    """What identifies the samples of the test set; None if it has none."""
    last = measured.at(LAST)
    if last is None:
        return None
    return evaluations.count_and_sum(db, last.id)
