"""Robustness as a person meets it: refused, measured by a real process, shown with a strip, copied, saved."""

import csv
import json

import numpy as np
import pytest
from PySide6.QtGui import QGuiApplication

from tests.made_up_robustness import made_up
from tests.trained_sample import sample_values, trained
from tests.ui.small_run import blobs, store_run
from workbench.progress import quiet
from workbench.robustness.kinds import CHANGES
from workbench.ui.pages.retrieval.robustness.panel import ASK, MEASURING, SHOWN, USUAL, RobustnessPanel
from workbench.workspace.measured.deployments import DAMAGED
from workbench.workspace.measured.robustness import read_robustness, store_robustness

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")
LABELS = np.repeat(np.arange(3), 4)


def shown(qtbot, session):
    return qtbot.shown(RobustnessPanel(session), 1000, 720)


@pytest.fixture
def run(session, workspace):
    stored = store_run(workspace, LABELS, embeddings=[blobs(LABELS, 0.5, 1)])
    session.show_run(stored.run_id)
    return stored


def test_a_run_without_a_network_says_why_it_cannot_be_measured(qtbot, session, run):
    panel = shown(qtbot, session)
    qtbot.waitUntil(lambda: "has no checkpoint" in panel.ask.sentence.text())
    assert panel.currentIndex() == ASK
    assert not panel.ask.go.isVisible()
    assert not panel.queries.isEnabled()


def test_what_was_measured_is_shown_chosen_copied_and_saved(qtbot, session, workspace, run, tmp_path):
    store_robustness(workspace, session.evaluation_id, made_up(["jpeg", "dark"]))
    panel = shown(qtbot, session)
    qtbot.waitUntil(lambda: panel.currentIndex() == SHOWN)
    assert [row.level for row in panel.strengths.rows] == [0, *range(1, 6), *range(1, 6)]
    assert "Gaussian blur" in panel.sentence.text()
    assert panel.chosen == "jpeg"
    qtbot.waitUntil(lambda: panel.strip.has_images)
    assert [part.text() for part in panel.strip.captions] == [
        "unchanged", "quality 25", "quality 18", "quality 15", "quality 10", "quality 7",
    ]  # fmt: skip
    first = panel.strip.title.text()
    panel.strip.next.click()
    qtbot.waitUntil(lambda: panel.strip.title.text() != first)
    area = panel.plot.picture
    panel.choose("dark")
    assert panel.chosen == "dark"
    assert "Darker (× 0.15) 65.0%" in panel.plot.describe()
    panel.metrics.buttons["recall@1"].click()
    assert panel.plot.rows()[0][2] == "R@1 %"
    painted = panel.plot.image()
    assert len({painted.pixel(x, y) for x in range(0, painted.width(), 5) for y in range(0, painted.height(), 5)}) > 3
    assert area.accessibleDescription().startswith("R@1 by strength: unchanged 90.0%")
    panel.copy.click()
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[0].split("\t")[:3] == ["Change", "Strength", "MAP@R %"]
    assert lines[2].split("\t") == ["JPEG", "quality 25", "85.0", "−5.00", "85.0", "−5.00"]
    panel.table_actions.save_to(tmp_path / "scores.csv")
    qtbot.waitUntil((tmp_path / "scores.csv").exists)
    with (tmp_path / "scores.csv").open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == 11


def test_a_query_that_is_chosen_elsewhere_is_shown_in_the_strip(qtbot, session, workspace, run):
    store_robustness(workspace, session.evaluation_id, made_up(["jpeg"]))
    panel = shown(qtbot, session)
    qtbot.waitUntil(lambda: panel.strip.has_images)
    samples = workspace.samples(session.run().dataset_id)
    for number in (3, 9):
        session.show_query(int(samples.ids[number]))
        path = samples.paths[number]
        qtbot.waitUntil(lambda path=path: panel.strip.title.text() == f"JPEG: {path}")
    panel.hide()
    session.show_query(int(samples.ids[5]))
    assert not session.reading, "a hidden view reads no image"
    panel.show()
    qtbot.waitUntil(lambda: panel.strip.title.text() == f"JPEG: {samples.paths[5]}")


def test_a_real_process_measures_and_a_cancel_keeps_what_is_measured(qtbot, session, workspace):
    values = sample_values(1)
    values["evaluation"].update(probe_size=0, untrained=False)
    session.show_run(trained(workspace, values))
    qtbot.waitUntil(lambda: session.evaluation_id is not None)
    evaluation = session.evaluation_id
    panel = shown(qtbot, session)
    qtbot.waitUntil(lambda: "899" in panel.images.text())
    panel.queries.setValue(20)
    assert "1,020 images" in panel.images.text()
    panel.ask.go.click()
    assert panel.currentIndex() == MEASURING
    qtbot.waitUntil(lambda: panel.currentIndex() == SHOWN)
    assert panel.measured["queries"] == 20
    assert [change["name"] for change in panel.measured["changes"]] == [
        one.name for one in CHANGES if not one.of_colour
    ]
    assert not panel.rest.isVisible()
    stored = read_robustness(workspace, evaluation)
    assert json.loads(json.dumps(stored)) == json.loads(json.dumps(panel.measured))
    partly = {**stored, "changes": stored["changes"][:1]}
    store_robustness(workspace, evaluation, partly)  # as after a cancel
    panel.again.click()
    assert panel.currentIndex() == ASK
    panel.queries.setValue(899)
    panel.ask.go.click()
    panel.measuring.go.click()
    qtbot.waitUntil(lambda: panel.currentIndex() == SHOWN and panel.rest.isVisible())
    assert [change["name"] for change in panel.measured["changes"]] == [stored["changes"][0]["name"]]
    assert panel.queries.value() == 20


def test_strengths_that_this_program_cannot_draw_have_a_sentence_and_no_pictures(qtbot, session, workspace, run):
    measured = made_up(["jpeg", "dark"])
    measured["changes"][0]["levels"] = measured["changes"][0]["levels"][:2]
    measured["changes"][1]["levels"][3]["strength"] = 0.5
    store_robustness(workspace, session.evaluation_id, measured)
    panel = shown(qtbot, session)
    for name in ("jpeg", "dark"):
        qtbot.waitUntil(lambda: panel.currentIndex() == SHOWN)
        panel.choose(name)
        qtbot.waitUntil(lambda: "measured with other strengths" in panel.strip.said.text())
        assert not panel.strip.has_images
        panel.strip.say("")


def test_an_evaluation_without_queries_has_no_pictures(qtbot, session, workspace, run):
    store_robustness(workspace, session.evaluation_id, made_up(["jpeg"]))
    with workspace.writing() as db:
        db.execute("update evaluations set metrics = json_set(metrics, '$.queries', null)")
        db.execute("update queries set r = 0, first_hit = 0, ap = null")
    panel = shown(qtbot, session)
    qtbot.waitUntil(lambda: "has anything to find" in panel.strip.said.text())
    assert panel.currentIndex() == SHOWN
    assert panel.images.isHidden()


def test_a_damaged_measurement_is_named(qtbot, session, workspace, run):
    store_robustness(workspace, session.evaluation_id, {**made_up(["jpeg"]), "apart": -1.0})
    panel = shown(qtbot, session)
    qtbot.waitUntil(lambda: panel.ask.sentence.text().startswith(DAMAGED))
    assert panel.currentIndex() == ASK


def test_pictures_of_an_earlier_wish_do_not_replace_those_of_a_later_one(qtbot, session, workspace, run, monkeypatch):
    store_robustness(workspace, session.evaluation_id, made_up(["jpeg"]))
    panel = shown(qtbot, session)
    qtbot.waitUntil(lambda: panel.strip.has_images)
    wishes = []
    monkeypatch.setattr(session, "run_in_thread", lambda title, work, done, *_, **__: wishes.append((work, done)))
    samples = workspace.samples(session.run().dataset_id)
    for number in (3, 9):
        session.show_query(int(samples.ids[number]))
    for work, done in reversed(wishes):
        done(work(quiet))
    assert panel.strip.title.text() == f"JPEG: {samples.paths[9]}"


def test_the_number_of_queries_of_one_evaluation_is_not_offered_for_another(qtbot, session, workspace, run):
    store_robustness(workspace, session.evaluation_id, {**made_up(["jpeg"]), "queries": 5})
    other = store_run(workspace, LABELS, embeddings=[blobs(LABELS, 0.5, 2)], name="Other")
    panel = shown(qtbot, session)
    qtbot.waitUntil(lambda: panel.currentIndex() == SHOWN)
    assert panel.queries.value() == 5
    session.follower.look()
    session.show_run(other.run_id)
    qtbot.waitUntil(lambda: panel.currentIndex() == ASK and session.evaluation_id == other.evaluations[0])
    assert panel.queries.value() == USUAL
