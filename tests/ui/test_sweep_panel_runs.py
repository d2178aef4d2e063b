"""The runs of the Sweeps panel: their order, what the best has reached, their settings and their table."""

import csv

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog

from tests.ui.plot_files import write_plot
from workbench.config import RunConfig
from workbench.entries import catalog
from workbench.settings.changed import read_config
from workbench.sweeps import starting
from workbench.sweeps.history import Reached
from workbench.sweeps.plan import planned
from workbench.sweeps.space import read
from workbench.ui.sweeps.history_plot import BestSoFarPlot
from workbench.ui.sweeps.numbered_table import NumberedTable
from workbench.ui.sweeps.panel import SweepsPanel
from workbench.workspace.experiments import sweeps

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", "does not support raise", extend=True)


@pytest.fixture
def panel(qtbot, session):
    """The panel of a sweep of four learning rates, of which the third is the best and the last has not ended."""
    rates = [read("training.lr=0.1,0.2,0.3,0.4")]
    number = starting.store(session.workspace, planned(read_config("sample-digits"), rates, "grid", catalog.current()))
    with session.workspace.writing() as db:
        for trial, value in zip(sweeps.trials(session.workspace, number), (0.5, 0.4, 0.7), strict=False):
            db.execute("update sweep_trials set state = 'done', objective = ? where id = ?", (value, trial.id))
    made = qtbot.addWidget(SweepsPanel(session))
    made.show()
    qtbot.waitUntil(lambda: made.trials.rowCount() == 4)
    yield made
    made.hide()


def rates(panel):
    return [panel.trials.item(row, 1).text() for row in range(panel.trials.rowCount())]


def test_a_click_on_a_title_orders_the_runs_and_the_next_look_keeps_that(qtbot, panel):
    head = panel.trials.horizontalHeader()
    place = QPoint(head.sectionViewportPosition(head.count() - 1) + 5, head.height() // 2)
    panel.trials.selectRow(1)
    qtbot.mouseClick(head.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert rates(panel) == ["0.3", "0.1", "0.2", "0.4"]
    assert head.sortIndicatorOrder() == Qt.SortOrder.DescendingOrder
    assert panel.trials.selectedItems()[1].text() == "0.2", "the choice went with its row"
    panel.refresh()
    qtbot.waitUntil(lambda: not panel.reading)
    assert rates(panel) == ["0.3", "0.1", "0.2", "0.4"]
    panel.menu.refresh()
    panel.menu.order_line.trigger()
    assert rates(panel) == ["0.1", "0.2", "0.3", "0.4"]
    panel.menu.order_best.trigger()
    assert rates(panel)[0] == "0.3"


@pytest.mark.parametrize(
    ("typed", "left"),
    [
        ("state=queued", ["0.4"]), ("state=done lr<0.3", ["0.1", "0.2"]), ("MAP@R>=50", ["0.1", "0.3"]),
        ("QUEUED", ["0.4"]), ("training.lr=0.2", ["0.2"]), ("state=failed", []), ("epoch>0", []), ("size>1GB", []),
    ],
)  # fmt: skip
def test_the_runs_are_searched_by_state_and_settings_as_in_the_list_of_runs(qtbot, panel, typed, left):
    panel.trials.selectRow(2)
    qtbot.keyClicks(panel.search, typed)
    assert rates(panel) == left
    assert f"The search matches {len(left)} of 4 runs." in panel.words.text()
    assert (panel.model.trial is not None) == ("0.3" in left), "what is not seen is not chosen"
    panel.menu.refresh()
    panel.menu.choose_best.trigger()
    assert ("0.3" in left) == bool(panel.search.text()), "a run that the search left out is brought back by it"
    panel.search.clear()
    assert rates(panel) == ["0.1", "0.2", "0.3", "0.4"]
    assert panel.trials.selectedItems()[1].text() == "0.3"
    assert "The search" not in panel.words.text()


def test_the_search_is_beside_the_runs_alone(panel):
    assert panel.search.isVisible()
    panel.tabs.setCurrentWidget(panel.history)
    assert not panel.search.isVisible()


def test_the_best_run_is_chosen_and_its_settings_are_set_up(qtbot, panel, session):
    offered, pages = [], []
    session.config_offered.connect(offered.append)
    session.page_asked.connect(lambda *asked: pages.append(asked[0]))
    panel.menu.refresh()
    assert panel.menu.set_up.text() == "Set up with the settings of the best run"
    panel.menu.set_up.trigger()
    assert (offered[0].training.lr, pages) == (0.3, ["setup"])
    assert not panel.isVisible()
    panel.show()
    panel.trials.selectRow(0)
    panel.menu.refresh()
    assert panel.menu.set_up.text() == "Set up with the settings of the chosen run"
    panel.menu.copy_config.trigger()
    assert RunConfig.from_toml_text(QGuiApplication.clipboard().text()).training.lr == 0.1
    panel.menu.choose_best.trigger()
    assert panel.model.trial.setting == {"training.lr": 0.3}
    assert panel.trials.selectedItems()[1].text() == "0.3"


def test_without_a_result_there_is_no_best_run(qtbot, panel, session):
    with session.workspace.writing() as db:
        db.execute("update sweep_trials set state = 'queued', objective = null")
    panel.refresh()
    qtbot.waitUntil(lambda: panel.model.best is None)
    panel.menu.refresh()
    actions = (panel.menu.choose_best, panel.menu.order_best, panel.menu.set_up, panel.menu.copy_config)
    assert not any(action.isEnabled() for action in actions)
    assert panel.menu.save_table.isEnabled()


def test_a_config_that_cannot_be_read_is_said_and_not_set_up(qtbot, panel, session):
    offered, said = [], []
    session.config_offered.connect(offered.append)
    session.noticed.connect(lambda message: said.append(str(message)))
    with session.workspace.writing() as db:
        db.execute("update sweeps set config = replace(config, '\"digits\"', '\"gone\"')")
    panel.refresh()
    qtbot.waitUntil(lambda: "gone" in panel.model.shown.sweep.config)
    panel.menu.refresh()
    panel.menu.set_up.trigger()
    assert offered == []
    assert "gone" in said[0]
    assert panel.isVisible()


def test_the_table_is_saved_and_copied_with_whole_numbers(qtbot, panel, session, tmp_path, monkeypatch, said):
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *asked: (str(tmp_path / "sweep"), ""))
    panel.menu.refresh()
    panel.menu.save_table.trigger()
    qtbot.waitUntil(lambda: bool(said))
    assert said == [f"The table was written to {tmp_path / 'sweep.csv'}."]
    with open(tmp_path / "sweep.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["training.lr"], row["state"], row["MAP@R"]) for row in rows] == [
        ("0.1", "done", "0.5"), ("0.2", "done", "0.4"), ("0.3", "done", "0.7"), ("0.4", "queued", "")
    ]  # fmt: skip
    panel.menu.copy_table.trigger()
    lines = [line.split("\t") for line in QGuiApplication.clipboard().text().splitlines()]
    assert [line[2] for line in lines] == ["training.lr", "0.1", "0.2", "0.3", "0.4"]


def test_a_click_on_a_dot_chooses_its_run(qtbot, panel):
    plot = panel.history
    panel.tabs.setCurrentWidget(plot)
    assert plot.title == "Best so far: MAP@R of 3 settings, 70.00%"
    assert plot.describe() == f"{plot.title}. The best so far: 50.00% at setting 1, 70.00% at setting 3."
    spot = plot.spots(plot.picture.area)[1].toPoint()
    qtbot.mouseClick(plot.picture, Qt.MouseButton.LeftButton, pos=spot + QPoint(2, 1))
    assert panel.tabs.currentWidget() is panel.trials
    assert panel.model.trial.setting == {"training.lr": 0.2}


def test_a_higher_value_is_drawn_higher_and_files_have_the_numbers(qtbot, tmp_path):
    plot = qtbot.addWidget(BestSoFarPlot())
    plot.show_values([Reached(1, 0.2, True, 0.2), Reached(2, 0.9, False, 0.2), Reached(4, 0.5, True, 0.5)], "MAP@R")
    plot.resize(600, 300)
    first, second, third = plot.spots(plot.picture.area)
    assert second.y() < third.y() < first.y()
    assert (third.x() - first.x()) == pytest.approx(3 * (second.x() - first.x())), "numbers of settings, not places"
    assert plot.rows()[1:] == [[1, 0.2, "yes", 0.2], [2, 0.9, "no", 0.2], [4, 0.5, "yes", 0.5]]
    for ending in ("png", "svg", "csv"):
        write_plot(plot, tmp_path / f"plot.{ending}")
        assert (tmp_path / f"plot.{ending}").stat().st_size


def test_columns_are_as_wide_as_the_longest_of_very_many_texts_and_as_their_titles(qtbot):
    table = qtbot.addWidget(NumberedTable("Many"))
    table.resize(900, 300)
    table.show()
    head = ("No.", "Loss", "Learning rate of it")
    rows = [(number, (str(number), "ce", "0.5")) for number in range(300)]
    rows[250] = (250, ("250", "a text that is far longer than all others", "0.5"))
    table.show_rows(head, rows, None)
    for column, row in ((0, 299), (1, 250)):
        index = table.model().index(row, column)
        assert table.columnWidth(column) >= table.sizeHintForIndex(index).width()
    assert table.horizontalHeader().textElideMode() == Qt.TextElideMode.ElideNone
    table.show_rows(head, rows[:2], None)
    assert table.columnWidth(1) < 80
