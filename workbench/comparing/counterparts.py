"""Evaluations of other runs in which the queries of one run can be looked up: same data, same split."""

from collections.abc import Iterable
from dataclasses import dataclass

from workbench.catalog import Catalog
from workbench.comparing.measures import BEST, LAST, read_measures
from workbench.comparing.settings import Settings, fold_of, settings_of
from workbench.workspace import Workspace
from workbench.workspace.rows import Evaluation, Run


@dataclass(frozen=True, slots=True, eq=False)
class Counterpart:
    """An evaluation of another run: its best or its last."""

    run: Run
    evaluation: Evaluation
    best: bool


def counterparts(workspace: Workspace, run: Run, runs: Iterable[Run], known: Catalog) -> list[Counterpart]:
    """The best and the last evaluation of each other run with the same data set, split and fold, in their order.

    Reads every such run: not for the window's thread.

    Args:
        known: the catalog, for defaults that configs leave out.
    """
    wanted = _split(run, known)
    alike = [
        each
        for each in runs
        if each.id != run.id
        and each.dataset_id is not None
        and each.dataset_id == run.dataset_id
        and _split(each, known) == wanted
    ]
    found = []
    for each in read_measures(workspace, alike).values():
        best, last = each.at(BEST), each.at(LAST)
        found += [Counterpart(each.run, best, best=True)] if best is not None else []
        if last is not None and (best is None or last.id != best.id):
            found.append(Counterpart(each.run, last, best=False))
    return found


def _split(run: Run, known: Catalog) -> tuple[Settings, int]:
    every = settings_of(run.config, known)
    return {name: value for name, value in every.items() if name.startswith("split.")}, fold_of(run.config)
