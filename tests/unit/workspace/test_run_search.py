"""Conditions that runs are searched by: tags, days, scores and settings."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from workbench.config import RunConfig
from workbench.workspace import Workspace
from workbench.workspace.run_search import meets


@pytest.fixture
def run(tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        made = workspace.run(workspace.create_run(RunConfig(seed=7)))
    return replace(made, created="2026-11-20T12:00:00+00:00", tags=("Baseline",), best={"recall@1": 0.81, "MAP@R": 0.5})


@pytest.mark.parametrize(
    ("word", "met"),
    [
        ("tag=baseline", True),
        ("tag=base", True),
        ("tag=line", False),
        ("tag<base", False),
        ("date=2026-11-20", True),
        ("date=2026-11", True),
        ("date=2026-10", False),
        ("date>=2026-11-20", True),
        ("date<2026-11-20", False),
        ("date<2026-12", True),
        ("date<=2026-11", True),
        ("date>2026-11", False),
        ("r@1>80", True),
        ("recall@1>=81", True),
        ("recall@1<81", False),
        ("map@r=50", True),
        ("map@r>50", False),
        ("recall@5>0", False),
        ("seed=7", True),
        ("seed>6", True),
        ("seed<7", False),
        ("baseline", False),
    ],
)
def test_a_run_meets_a_condition(run, word, met):
    assert meets(run, word) is met


def test_today_and_yesterday_are_days_of_the_clock_here(run):
    new = replace(run, created=datetime.now(UTC).isoformat(timespec="seconds"))
    day_before = replace(run, created=(datetime.now().astimezone() - timedelta(days=1)).isoformat())
    assert [meets(run, "date=today"), meets(new, "date=today"), meets(day_before, "date=today")] == [False, True, False]
    assert [meets(new, "date=yesterday"), meets(day_before, "date=yesterday")] == [False, True]
    assert [meets(run, "date<today"), meets(new, "date>=yesterday")] == [True, True]
