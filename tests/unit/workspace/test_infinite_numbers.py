"""An infinite number is stored, read, exported and reported as infinite, never as a gap."""

import json
import math
from math import inf, nan

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from workbench import reports
from workbench.config import RunConfig
from workbench.events import Ended, Scalar
from workbench.exchange.formats import export_run
from workbench.reports.content.gathering import gather
from workbench.reports.content.run_content import percent
from workbench.reports.figures.run_figures import draw
from workbench.ui.style import words
from workbench.workspace import Workspace
from workbench.workspace.measured.evaluations import as_metrics
from workbench.workspace.measured.numbers import metrics_json, points_json
from workbench.workspace.recorder import Recorder
from workbench.workspace.repairs.repair import repair

VALUES = [0.5, inf, nan, -inf, 0.25]


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.entries.catalog.current", dict)
    with Workspace(tmp_path / "w", create=True) as made:
        recorder = Recorder(made, made.create_run(RunConfig(name="exploded")))
        for step, value in enumerate(VALUES, 1):
            recorder(Scalar("batch/loss", step, value))
        recorder(Ended("failed", "The loss is inf at step 2."))
        yield made


def no_json(word):
    raise AssertionError(f"{word} is no JSON")


def test_what_was_recorded_is_read(workspace):
    steps, values = workspace.scalars(1, "batch/loss")
    assert steps.tolist() == [1, 2, 3, 4, 5]
    np.testing.assert_array_equal(values, VALUES)
    with workspace.reading() as db:
        stored = [value for (value,) in db.execute("select value from scalars where run_id = 1 order by step")]
    assert stored == [0.5, inf, None, -inf, 0.25]


def test_the_journal_is_json_and_brings_them_back(workspace):
    lines = (workspace.folder(1) / "journal.jsonl").read_text("utf-8").splitlines()
    found = [json.loads(line, parse_constant=no_json) for line in lines]
    [points] = [line["scalars"] for line in found if "scalars" in line]
    assert [value for _, _, value in points] == [0.5, inf, None, -inf, 0.25]
    place = workspace.path
    workspace.close()
    (place / "workspace.db").write_bytes(b"no database")
    repair(place)
    with Workspace(place) as again:
        np.testing.assert_array_equal(again.scalars(1, "batch/loss")[1], VALUES)


def test_exports_and_reports_tell_them(workspace, tmp_path):
    export_run(workspace, 1, ["csv"], tmp_path / "out")
    rows = (tmp_path / "out" / "scalars.csv").read_text("utf-8").splitlines()
    assert [row.rpartition(",")[2] for row in rows[1:]] == ["0.5", "inf", "", "-inf", "0.25"]
    reports.write_report(workspace, 1, tmp_path / "report", formats=["csv", "html"])
    rows = (tmp_path / "report" / "scalars.csv").read_text("utf-8").splitlines()
    assert [row.rpartition(",")[2] for row in rows[1:]] == ["0.5", "inf", "", "-inf", "0.25"]
    axes = draw(gather(workspace, 1, ("curves",), ""))["loss"].figure().axes[0]
    assert [text.get_text() for text in axes.texts] == [" infinite"]


@pytest.mark.parametrize(("value", "told"), [(inf, " infinite"), (nan, " NaN")])
def test_a_figure_names_what_it_cannot_draw(workspace, value, told):
    recorder = Recorder(workspace, workspace.create_run(RunConfig()))
    for step, each in enumerate((0.5, 0.25, value), 1):
        recorder(Scalar("batch/loss", step, each))
        recorder(Scalar("probe/spce", step, each))
    recorder(Ended("done"))
    drawn = draw(gather(workspace, 2, ("curves",), ""))
    assert [text.get_text() for text in drawn["loss"].figure().axes[0].texts] == [told]
    assert [text.get_text() for text in drawn["ce-spce"].figure().axes[0].texts] == [f" SPCE{told}"]


def test_tables_tell_infinity_from_no_number():
    assert (percent(inf), percent(-inf), percent(nan), percent(0.5)) == ("∞", "−∞", "–", "50.00%")
    assert (words.percent(inf), words.percent(nan), words.percent(None)) == ("∞", "–", "–")


# The mark keeps a name from being that of a share or a count, which the reader refuses beyond its range.
FREE_METRICS = st.dictionaries(st.text().map("{}!".format), st.floats())
SHARES = st.dictionaries(st.text(), st.floats(0, 1) | st.just(nan))


@given(FREE_METRICS | SHARES)
@example({"MAP@R": 0.25, "recall@1": nan, "recall@1/low": 1.0, "loss!": 2.0})
def test_metrics_survive_their_json(metrics):
    text = metrics_json(metrics)
    json.loads(text, parse_constant=no_json)
    again = as_metrics(text)
    assert list(again) == list(metrics)
    np.testing.assert_array_equal(list(again.values()), list(metrics.values()))


@given(st.lists(st.tuples(st.text(), st.integers(0, 2**40), st.floats())))
def test_points_survive_their_json(points):
    again = json.loads(points_json(points), parse_constant=no_json)
    assert [tuple(each[:2]) for each in again] == [each[:2] for each in points]
    assert all(
        math.isnan(old) if new is None else new == old for (*_, new), (*_, old) in zip(again, points, strict=True)
    )
