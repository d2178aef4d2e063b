"""The Train page reads its curves: sentences, one crosshair, the best epoch, and one plot at full size."""

import pytest
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from trained import trained_run

from workbench.ui.pages.train import TrainPage

DATA = {
    "fingerprint": "x", "train": 1, "test": 9, "classes_disjoint": True, "left_out": [], "left_out_count": 0,
    "notes": [["R@8", "is 100%"], ["a", "b"]],
}  # fmt: skip
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


def shown(qtbot, session):
    return qtbot.shown(TrainPage(session), 1200, 800)


@pytest.fixture
def page(qtbot, session, workspace, tmp_path):
    session.show_run(trained_run(workspace, tmp_path / "pixels"))
    return shown(qtbot, session)


def double_click(plot):
    at = QPointF(plot.canvas.viewport().rect().center())
    event = QMouseEvent(
        QEvent.Type.MouseButtonDblClick, at, plot.canvas.mapToGlobal(at), Qt.MouseButton.LeftButton,
        Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier,
    )  # fmt: skip
    QApplication.sendEvent(plot.canvas.viewport(), event)


def test_a_rank_that_takes_in_all_that_is_searched_is_said(qtbot, session, workspace, tmp_path):
    session.show_run(trained_run(workspace, tmp_path / "pixels", facts={"data": DATA}))
    page = shown(qtbot, session)
    qtbot.waitUntil(lambda: "R@8 is 100%." in page.findings.text())
    assert "a b." not in page.findings.text()


def test_what_was_found_wrong_with_weights_or_halves_is_said(qtbot, session, workspace, tmp_path):
    wrong = ("the pretrained weights", "the frozen layers", "the test set")
    notes = [[what, "give other features in training mode"] for what in wrong] + [["the network", "trains 1 of 2"]]
    session.show_run(trained_run(workspace, tmp_path / "pixels", facts={"data": DATA | {"notes": notes}}))
    page = shown(qtbot, session)
    sentences = [f"The {what.removeprefix('the ')} give other features in training mode." for what in wrong]
    qtbot.waitUntil(lambda: all(sentence in page.findings.text() for sentence in sentences))
    assert "1 of 2" not in page.findings.text()


def test_the_sentences_are_those_of_the_curves(page, qtbot):
    qtbot.waitUntil(lambda: "SPCE is 0.025 nats below CE at the end" in page.findings.text())
    assert "MAP@R is " in page.findings.text()
    assert page.findings.isVisible()
    page.resize(700, 700)
    assert not page.findings.isVisible()


def test_more_epochs_are_proposed_only_when_the_run_has_ended(page, qtbot, session, workspace):
    run_id = session.run_id

    def set_status(status):
        with workspace.writing() as db:
            db.execute("update runs set status = ?", (status,))
        session.follower.look()

    with workspace.writing() as db:
        db.execute("delete from evaluations where epoch > 1")
    set_status("running")
    session.show_run(None)
    session.show_run(run_id)
    qtbot.waitUntil(lambda: "% at epoch 1)." in page.findings.text())
    assert "may help" not in page.findings.text()
    set_status("done")
    qtbot.waitUntil(lambda: "more epochs may help" in page.findings.text())


def test_one_crosshair_for_all_plots_of_steps(page, qtbot):
    probe, _, batch, _ = page.curves.plots

    def pointed():
        probe.canvas.pointed.emit(10.0)
        return probe.read_out.text()

    qtbot.waitUntil(lambda: "step 10" in pointed())  # once its points are read
    assert batch.read_out.text() == "step 10  Loss 0.2"
    assert batch.read_out.isVisible()
    probe.canvas.pointed.emit(None)
    assert not batch.read_out.isVisible()


def test_a_double_click_shows_one_plot_alone_and_escape_all_of_them(page):
    page.activateWindow()
    double_click(page.curves.plots[2])
    assert [plot.isVisible() for plot in page.curves.plots] == [False, False, True, False]
    QTest.keyClick(page.curves.plots[2].canvas, Qt.Key.Key_Escape)
    assert all(plot.isVisible() for plot in page.curves.plots)
