"""Conditions that runs are searched by: tags, days, scores and settings."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from workbench.config import RunConfig
from workbench.workspace import Workspace
from workbench.workspace.run_search import asks_for_size, meets, row_meets, why_unmet, words_of


@pytest.fixture
def run(tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        made = workspace.run(workspace.create_run(RunConfig(seed=7)))
    return replace(
        made,
        name="First try",
        status="waiting",
        created="2026-11-20T12:00:00+00:00",
        tags=("Baseline",),
        best={"recall@1": 0.81, "MAP@R": 0.5},
    )


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
        ("state=paused", True),
        ("state=waiting", True),
        ("state=pau", True),
        ("state=failed", False),
        ("state>pau", False),
        ("name=first try", True),
        ("name=try", False),
        ("name=ce", True),
        ("size>0", False),
        ("loss=ce", True),
        ("loss.name=ce", True),
        ("loss=spce", False),
        ("data=digits", True),
        ("dataset=digits", True),
        ("backbone=conv", True),
        ("backbone.name=x", False),
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


@pytest.mark.parametrize(
    ("word", "met"),
    [
        ("size>1gb", True),
        ("size>1.5gb", False),
        ("size<1.5 gb", True),
        ("size>1400mb", False),
        ("size>=1.4g", True),
        ("size>1.3gib", True),
        ("size>1.31gib", False),
        ("size=1.4gb", True),
        ("size=1.3gb", False),
        ("size>1400000", True),
        ("size<0.001tb", False),
        ("size>", True),
        ("size>much", False),
        ("size>1gbb", False),
    ],
)
def test_a_size_is_compared_in_its_unit(run, word, met):
    assert meets(run, word, 1_400_000_000) is met


def test_data_is_also_found_by_its_folder_or_file(run):
    of_folder = replace(run, config='[dataset]\nname = "folder"\nfolder = "/here/Oak Trees/"\n[loss]\nname = "ce"\n')
    assert meets(of_folder, "data=oak trees")
    assert meets(of_folder, "dataset=folder")
    assert not meets(of_folder, "data=here")
    assert not meets(of_folder, "loss=oak")
    assert meets(replace(run, config='[dataset]\nfile = "C:\\\\here\\\\list.csv"\n'), "data=list.csv")


def test_the_field_of_a_condition_that_no_run_has_is_named(run):
    known = ["lr<0.1", "tag=a", "loss=x", "r@1>99", "map@r<1", "foo", "size>1"]
    assert why_unmet([run], [*known, "lrr>1", "x=1"]) == " No run has a field or a score “lrr”."
    assert why_unmet([run], ["lr>9"]) == ""
    assert why_unmet([], ["lrr>9"]) == ""
    assert len(why_unmet([run], [f"{'a' * 5000}=1"])) < 100


NO_DAY = " “{}” is no day; write today, yesterday, 2026-11-20, 2026-11 or 2026."
NO_STATE = " “{}” is no state; write queued, running, paused, stopped, done, cancelled, failed or interrupted."


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("lr<abc", " “abc” is no number; words are compared by = alone."),
        ("loss>ce", " “ce” is no number; words are compared by = alone."),
        ("tag<first", " “first” is no number; words are compared by = alone."),
        ("size>big", " “big” is no size; write one as 500MB or 1GB."),
        ("date>=soon", " “soon” is no day; write today, yesterday, 2026-11-20, 2026-11 or 2026."),
        *((f"date>{day}", NO_DAY.format(day)) for day in ("2026-13", "2026-00", "2026-3", "2026-11-31", "2026-02-3")),
        *((f"state={word}", NO_STATE.format(word)) for word in ("broken", "donee")),
        *((word, "") for word in ("lr<", "lr<1e-3", "loss=abc", "size>1", "size>1gib", "state=", "state=pau")),
        *((f"state={word}", "") for word in ("waiting", "interrupted")),
        *((f"date={day}", "") for day in ("today", "yesterday", "2026", "2026-", "2026-1", "2026-11-", "2026-11-30")),
        *((f"date={day}", "") for day in ("2026-0", "2026-11-3", "2026-02-2", "2024-02-29")),
    ],
)
def test_a_value_that_no_run_can_have_is_named(run, word, sentence):
    assert why_unmet([run], [word]) == sentence


@pytest.mark.parametrize(
    ("word", "met"), [("loss=ce", True), ("name=ce", True), ("loss.name=ce", True), ("lr<1", True), ("los=ce", False)]
)
def test_a_row_of_a_table_meets_the_same_conditions(word, met):
    assert row_meets({"loss.name": ["CE"], "training.lr": ["0.1"]}, word) is met


def test_words_in_quotes_keep_their_blanks():
    assert words_of('ce  Tag="First Try" lr<0.01') == ["ce", "tag=first try", "lr<0.01"]
    assert words_of('"my run"') == ["my run"]
    assert words_of('tag="first t') == ["tag=first t"], "it is still being typed"
    assert words_of("") == []


def test_only_a_condition_of_the_size_asks_for_sizes():
    assert asks_for_size(["ce", "size>1gb"])
    assert not asks_for_size(["size", "lr<1", "tag=size>1"])
