"""The Method panel: charts as the run stores them, from the loss to the picture; earlier steps by the slider."""

import pytest
from PySide6.QtWidgets import QApplication, QLabel

from workbench.charts import Chart, Marks, from_plain
from workbench.config import RunConfig
from workbench.events import Charted, Status
from workbench.ui.pages.train import TrainPage
from workbench.ui.pages.train.method import MethodPanel
from workbench.workspace.recorder import Recorder

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


def chart(height=1.0, title="Weights", note=""):
    return Chart(
        title, "cosine",
        (
            Marks("positives", "bars", (0.1, 0.2, 0.3), (height, 2.0, 3.0)),
            Marks("V", "line", (0.0, 1.0), (0.0, 1.0)),
            Marks("beta", "vertical", (0.5,), ()),
            Marks("next", "circles", (0.0, 1.0), (1.0, 0.0), classes=(0, 7)),
            Marks("converged", "boxes", (0.5,), (0.5,)),
        ),
        note,
    )  # fmt: skip


def test_a_chart_comes_back_as_it_was_written():
    assert from_plain(chart(note="β = 0.5").plain()) == chart(note="β = 0.5")


@pytest.mark.parametrize(
    "harm",
    [
        {"title": 7}, {"x_title": ["cosine"]}, {"note": None}, {"marks": [[]]}, {"look": "stars"}, {"look": []},
        {"axis": "top"}, {"x": ["one", "two", "three"]}, {"x": [1.0]}, {"x": [10**400, 1, 2]}, {"y": [1e308, 1, 2]},
        {"y": 5}, {"classes": ["a"]}, {"classes": None},
    ],
)  # fmt: skip
def test_a_stored_chart_of_another_form_is_refused(harm):
    stored = chart().plain()
    (stored if harm.keys() & stored.keys() else stored["marks"][0]).update(harm)
    with pytest.raises((KeyError, TypeError)):
        from_plain(stored)


@pytest.fixture
def panel(qtbot):
    made = qtbot.addWidget(MethodPanel())
    made.resize(900, 500)
    made.show()
    return made


def test_every_look_is_drawn_with_legend_and_note(panel):
    panel.show_steps([200])
    panel.show_charts([chart(note="β = 1.68e-07."), chart(title="Other")])
    assert [view.note.text() for view in panel.charts] == ["β = 1.68×10⁻⁷.", ""]
    assert len([words for words in panel.charts[0].legend.findChildren(QLabel) if words.text()]) == 5
    QApplication.processEvents()
    assert not panel.charts[0].grab().isNull()


def test_titles_of_axes_are_plain_text(panel):
    title = "<img src='file:///letters/seal.png' width='300'> R&amp;D"
    lines = Marks(title, "line", (0.0, 2.0), (-30.0, 30.0), axis="right")
    panel.show_steps([200])
    panel.show_charts([Chart("RankMI", title, (lines,))])
    for side in ("bottom", "right"):
        assert panel.charts[0].plot.getAxis(side).label.toPlainText().strip() == title
        assert panel.charts[0].plot.getAxis(side).labelText == title


def test_lines_on_the_right_have_an_axis_of_their_own_that_goes_with_them(panel):
    bars = Marks("positives", "bars", (0.5, 1.5), (0.1, 0.2))
    both = Chart("RankMI", "distance", (bars, Marks("V", "line", (0.0, 2.0), (-30.0, 30.0), axis="right")))
    assert from_plain(both.plain()) == both
    panel.show_steps([200])
    panel.show_charts([both])
    QApplication.processEvents()
    view = panel.charts[0]
    view.grab()  # ranges are found when it is painted
    assert view.plot.getAxis("right").isVisible()
    assert view.plot.getAxis("right").labelText == "V"
    assert len(view.right.addedItems) == 1
    low, high = view.plot.viewRange()[1]
    assert high - low < 1, "the bars keep their scale"
    assert view.right.viewRange()[1][0] <= -30
    assert view.right.viewRange()[0] == pytest.approx(view.plot.viewRange()[0], abs=0.05)  # pixels are whole
    panel.show_charts([Chart("RankMI", "distance", (bars,))])
    assert not view.plot.getAxis("right").isVisible()
    assert not view.right.addedItems


def test_a_chart_stored_before_there_was_a_second_axis_is_read():
    stored = chart().plain()
    for marks in stored["marks"]:
        del marks["axis"]
    assert from_plain(stored) == chart()


def test_the_newest_is_followed_until_an_earlier_one_is_looked_at(panel):
    asked = []
    panel.step_chosen.connect(asked.append)
    panel.show_steps([0])
    panel.show_steps([0, 200])
    assert asked == [0, 200]
    panel.slider.setValue(0)
    panel.show_steps([0, 200, 400])
    assert asked == [0, 200, 0], "the person looks at the first"
    assert panel.words.text() == "Step 0"
    panel.show_steps([])
    assert panel.currentIndex() == 0


def test_charts_that_nobody_sees_are_requested_once_the_panel_is_shown(panel):
    asked = []
    panel.step_chosen.connect(asked.append)
    panel.show_steps([0])
    panel.hide()
    panel.show_steps([0, 200])
    panel.show_steps([0, 200, 400])
    assert asked == [0]
    assert panel.step == 400
    panel.show()
    panel.hide()
    panel.show()
    assert asked == [0, 400]
    panel.hide()
    panel.show_steps([])
    panel.show()
    assert asked == [0, 400], "there is none to request"


def test_charts_of_a_run_reach_the_page(qtbot, session):
    run_id = session.workspace.create_run(RunConfig())
    recorder = Recorder(session.workspace, run_id)
    page = qtbot.addWidget(TrainPage(session))
    session.show_run(run_id)
    assert page.method.currentIndex() == 0
    recorder(Charted(0, (chart(),)))
    recorder(Charted(200, (chart(5.0),)))
    recorder.flush()
    qtbot.waitUntil(lambda: page.method.words.text() == "Step 200")
    assert session.workspace.charts(run_id, 200) == [chart(5.0)]
    recorder.forget_after(100)
    recorder(Status("Training"))
    assert session.workspace.chart_steps(run_id) == [0]
    recorder.close()


def test_the_tab_stays_while_the_look_that_read_its_charts_is_still_being_told(qtbot, session):
    """What is read is told in turns of the event loop; whatever draws the page between them finds the charts there."""
    run_id = session.workspace.create_run(RunConfig())
    recorder = Recorder(session.workspace, run_id)
    recorder(Charted(0, (chart(),)))
    recorder.flush()
    recorder.close()
    session.workspace.set_status(run_id, "done", "")
    qtbot.waitUntil(lambda: session.run(run_id) is not None and not session.run(run_id).live)
    page = qtbot.addWidget(TrainPage(session))
    seen = []

    def draw():
        session.runs_changed.emit()
        if session.chart_steps():
            seen.append(page.views.isTabVisible(page.views.indexOf(page.method)))

    session.follower.read.connect(draw)
    session.show_run(run_id)
    qtbot.waitUntil(lambda: page.method.step == 0)
    assert seen
    assert all(seen)


@pytest.mark.parametrize(("count", "wide", "row"), [(3, 1900, 3), (3, 1200, 2), (4, 1900, 2), (6, 1900, 3)])
def test_three_charts_stand_in_one_row_of_a_wide_panel(panel, qtbot, count, wide, row):
    """With two in a row a quarter of a large screen stayed empty."""
    charts = [Chart(f"Chart {number}", "cosine", ()) for number in range(count)]
    panel.show_steps([1])
    panel.show_charts(charts)
    panel.resize(900, 700)
    panel.show()
    panel.resize(wide, 900)

    def in_first_row():
        return sum(view.y() == panel.charts[0].y() for view in panel.charts)

    qtbot.waitUntil(lambda: in_first_row() == row)
    panel.resize(900, 700)
    qtbot.waitUntil(lambda: in_first_row() == 2)
