"""What a sweep has reached, setting by setting, and its runs as a table for a file."""

import pytest

from workbench.settings.changed import read_config
from workbench.sweeps import starting
from workbench.sweeps.history import best_so_far
from workbench.sweeps.plan import planned
from workbench.sweeps.space import read
from workbench.sweeps.trials import table_of
from workbench.workspace.experiments import sweeps


@pytest.fixture
def valued(workspace, known):
    """Stores a sweep of as many learning rates as there are values; None for one that has not ended."""

    def store(values, metric="", stopped=(), seeds=1):
        rates = ",".join(str(0.01 * number) for number in range(1, len(values) // seeds + 1))
        config = read_config("sample-digits")
        plan = planned(config, [read(f"training.lr={rates}")], "grid", known, metric=metric, seeds=seeds)
        number = starting.store(workspace, plan)
        with workspace.writing() as db:
            for trial, value in zip(sweeps.trials(workspace, number), values, strict=True):
                state = "queued" if value is None else "done"
                why = "below the median" if trial.point in stopped else ""
                sql = "update sweep_trials set state = ?, objective = ?, stopped = ? where id = ?"
                db.execute(sql, (state, value, why, trial.id))
        return sweeps.one(workspace, number), sweeps.trials(workspace, number)

    return store


def reached(*stored):
    return [(one.point, one.value, one.best) for one in best_so_far(*stored)]


def test_the_best_so_far_never_gets_worse(valued):
    assert reached(*valued([0.3, 0.5, 0.4, None, 0.6])) == [
        (1, 0.3, 0.3), (2, 0.5, 0.5), (3, 0.4, 0.5), (5, 0.6, 0.6)
    ]  # fmt: skip


def test_of_a_loss_the_least_is_the_best(valued):
    assert reached(*valued([0.3, 0.5, 0.2], metric="probe/ce")) == [(1, 0.3, 0.3), (2, 0.5, 0.3), (3, 0.2, 0.2)]


def test_what_was_stopped_early_or_lacks_a_seed_is_not_the_best(valued):
    stored = valued([0.9, 0.5, 0.7], stopped=(1,))
    assert reached(*stored) == [(1, 0.9, None), (2, 0.5, 0.5), (3, 0.7, 0.7)]
    assert [one.whole for one in best_so_far(*stored)] == [False, True, True]
    seeds = valued([0.4, 0.6, 0.9, None], seeds=2)
    assert reached(*seeds) == [(1, 0.5, 0.5), (2, 0.9, 0.5)]


def test_a_sweep_without_a_value_has_reached_nothing(valued):
    assert best_so_far(*valued([None, None])) == []


def test_the_table_has_numbers_as_they_are_stored(valued):
    head, rows = table_of(*valued([0.123456789, None]))
    assert head == [
        "no", "setting", "training.lr", "seed", "fold", "state", "run", "epoch", "epochs", "seconds", "MAP@R", "problem"
    ]  # fmt: skip
    assert rows == [
        [1, 1, 0.01, 0, 0, "done", None, 0, 0, 0, 0.123456789, ""],
        [2, 2, 0.02, 0, 0, "queued", None, 0, 0, 0, None, ""],
    ]
