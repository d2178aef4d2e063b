"""What the curves of a run tell of evaluations that it did not keep."""

import contextlib
import tomllib
from collections.abc import Sequence
from functools import lru_cache

from workbench.problem import Problem
from workbench.workspace.database.connection import Connection
from workbench.workspace.database.stored_metrics import possible
from workbench.workspace.measured import curves
from workbench.workspace.rows import Evaluation, Run

SOME = "best and last"  # the choice that does not keep all
TEST = "test/"
CURVES = (TEST, "validation/")  # curves with a point for each evaluation


def with_curves(db: Connection, run: Run, stored: Sequence[Evaluation]) -> list[Evaluation]:
    """The stored evaluations of a run, and what its curves tell of those between them that it did not keep, by epoch.

    A damaged curve tells nothing; who shows it says so.
    """
    if not stored or not stored[-1].epoch or not stored[-1].step or keeps_all(run.config):
        return list(stored)
    last, by_step = stored[-1], dict[int, dict[str, float]]()
    with contextlib.suppress(Problem):
        for name in curves.scalar_names(db, run.id):
            if name.startswith(CURVES):
                steps, values = curves.scalars(db, run.id, name)
                for step, value in zip(steps.tolist(), values.tolist(), strict=True):
                    by_step.setdefault(step, {})[name.removeprefix(TEST)] = value
    known = {evaluation.step for evaluation in stored}
    others = [
        Evaluation(0, run.id, step * last.epoch // last.step, step, last.distance, possible(metrics)[0], "")
        for step, metrics in by_step.items()
        if step < last.step and step not in known
    ]
    return sorted([*stored, *others], key=lambda evaluation: (evaluation.epoch, evaluation.id))


@lru_cache(maxsize=1000)
def keeps_all(config: str) -> bool:
    """Whether a run with this config, as TOML, keeps all its evaluations."""
    if SOME not in config:  # a parser takes half a millisecond, for each of hundreds of runs
        return True
    try:
        return bool(tomllib.loads(config).get("evaluation", {}).get("keep", "all") == "all")
    except (ValueError, AttributeError, RecursionError):  # its row cannot be read, or is of another form
        return True
