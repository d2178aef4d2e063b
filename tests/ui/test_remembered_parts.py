"""Page, run, splitters, tabs and tables are at the next start as the user left them."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPlainTextEdit, QSplitter, QTableView, QTabWidget, QWidget

from workbench.config import RunConfig
from workbench.datasets.inspection import Inspection
from workbench.ui.models.sorted_rows import SortedRows
from workbench.ui.pages.setup.data.dialog import DataDialog
from workbench.ui.preferences import MOST_RUNS, Preferences
from workbench.ui.state.session import Session
from workbench.ui.sweeps.panel import show_sweeps
from workbench.ui.widgets.tables.remembered_tables import WIDTHS
from workbench.ui.window.main_window import MainWindow
from workbench.ui.window.page_stack import PageStack
from workbench.workspace import Workspace


@pytest.fixture
def start(qtbot, tmp_path):
    """`start()`: a window with the settings that the windows before it kept, on a new workspace or on a given one."""
    sessions = []

    def begin(workspace=None):
        for before in sessions:
            before.preferences.keep()
        session = Session(workspace or Workspace(tmp_path / f"space{len(sessions)}", create=True))
        sessions.append(session)
        window = qtbot.addWidget(MainWindow(session))
        window.show()
        return window

    yield begin
    for session in sessions:
        session.close()


@pytest.fixture
def alone(monkeypatch):
    """`alone(page)`: windows make this page, and blank ones for the others; without a page all are blank."""
    make = PageStack.make

    def leave(*pages):
        monkeypatch.setattr(PageStack, "make", lambda self, info: make(self, info) if info.name in pages else QWidget())

    return leave


@pytest.fixture
def _blank_pages(alone):
    alone()


def shown(qtbot, window, name, kind, part, opened=()):
    """A part of a page that is shown; tabs of these titles are opened first, the page's others are not made."""
    window.session.show_page(name)
    for title in opened:
        window.pages.page(name).tabs.open(title)
    qtbot.waitUntil(lambda: window.findChild(kind, part) is not None)
    return window.findChild(kind, part)


TABS = [("train", "train-views"), ("compare", "compare-results"), ("map", "map-side"), ("retrieval", "retrieval-views")]


@pytest.mark.parametrize(("page", "part"), TABS)
def test_a_chosen_tab_and_the_first_one_again(qtbot, start, alone, page, part):
    alone(page)
    tabs = shown(qtbot, start(), page, QTabWidget, part)
    assert tabs.currentIndex() == 0
    tabs.setCurrentIndex(1)
    window = start()
    again = shown(qtbot, window, page, QTabWidget, part)
    assert again.currentIndex() == 1
    window.reset_layout()
    assert again.currentIndex() == 0
    assert shown(qtbot, start(), page, QTabWidget, part).currentIndex() == 0


def data_dialog(window, **remarks):
    """The dialog of some images, which a session without a catalog shows."""
    no_sizes, pictures = np.empty((0, 2)), [("0/0", "0", np.zeros((4, 4, 3), np.uint8))]
    remarks = {"problems": [], "unlike_published": [], "notes": [], "copies": [], **remarks}
    found = Inspection(50, 4, ("train", "test"), np.full((1, 2), 25), ["0"], pictures, no_sizes, **remarks)
    dialog = DataDialog("mine", found, window)
    window.session.part_made.emit(dialog)
    return dialog


@pytest.mark.usefixtures("_blank_pages")
def test_a_chosen_tab_of_the_data_dialog(start):
    tabs = data_dialog(start()).tabs
    last = tabs.count() - 1
    tabs.setCurrentIndex(last)
    again = data_dialog(start(), notes=[("12 classes", "have one image")]).tabs
    assert again.tabText(again.currentIndex()) == tabs.tabText(last) == "Near-duplicates", "also after another tab"


@pytest.mark.qt_log_ignore("does not support", extend=True)
def test_a_chosen_tab_of_confusions_and_hubs(qtbot, start, alone):
    alone("retrieval")

    def tabs():
        window = start()
        shown(qtbot, window, "retrieval", QTabWidget, "retrieval-views")
        page = window.pages.page("retrieval")
        page.explaining.open_dialog()
        return page.explaining.dialog.tabs

    tabs().setCurrentIndex(2)
    assert tabs().currentIndex() == 2


def test_the_tab_of_the_selection_is_not_where_a_start_begins(qtbot, start, alone):
    alone("map")
    window = start()
    tabs = shown(qtbot, window, "map", QTabWidget, "map-side")
    tabs.setCurrentIndex(1)
    side = window.pages.page("map").side
    side.show_count(3)
    assert tabs.currentIndex() == 2
    again = shown(qtbot, start(), "map", QTabWidget, "map-side")
    assert again.currentIndex() == 1
    side.show_count(0)
    assert tabs.currentIndex() == 1, "the tab from before the selection"


@pytest.mark.usefixtures("_blank_pages")
def test_reset_forgets_the_tab_of_a_dialog_that_is_closed_or_was_not_opened(qtbot, start):
    window = start()
    dialog = data_dialog(window)
    dialog.tabs.setCurrentIndex(2)
    with qtbot.waitSignal(dialog.destroyed):
        dialog.close()
    window.reset_layout()
    data_dialog(window).tabs.setCurrentIndex(3)
    start().reset_layout()
    assert data_dialog(start()).tabs.currentIndex() == 0


def test_reset_while_images_are_selected(qtbot, start, alone):
    alone("map")
    window = start()
    tabs = shown(qtbot, window, "map", QTabWidget, "map-side")
    tabs.setCurrentIndex(1)
    side = window.pages.page("map").side
    side.show_count(3)
    window.reset_layout()
    side.show_count(0)
    assert tabs.currentIndex() == 0


def test_a_tab_that_is_not_there_any_more_is_not_chosen(qtbot, start, alone):
    alone("compare")
    tabs = shown(qtbot, start(), "compare", QTabWidget, "compare-results")
    last = tabs.count() - 1
    tabs.setTabVisible(last, True)
    tabs.setCurrentIndex(last)
    again = shown(qtbot, start(), "compare", QTabWidget, "compare-results")
    assert not again.isTabVisible(last)
    assert again.currentIndex() == 0


def share(splitter):
    """Of the first part, in percent."""
    return 100 * splitter.sizes()[0] / sum(splitter.sizes())


def drag(splitter, by):
    """Move the first handle by some px, as a person does."""
    handle = splitter.handle(1)
    at = handle.rect().center()
    QTest.mousePress(handle, Qt.MouseButton.LeftButton, pos=at)
    QTest.mouseMove(handle, at + QPoint(0, by))
    QTest.mouseRelease(handle, Qt.MouseButton.LeftButton, pos=at + QPoint(0, by))


def split(qtbot, window):
    """A splitter of two parts in the window's care, the second of which gets twice as much room."""
    part = QWidget(window, Qt.WindowType.Window)
    splitter = QSplitter(Qt.Orientation.Vertical, part)
    splitter.setObjectName("two-parts")
    for factor in (1, 2):
        splitter.addWidget(QPlainTextEdit())
        splitter.setStretchFactor(factor - 1, factor)
    window.arrangement.follow(part)
    splitter.resize(500, 600)
    part.resize(500, 600)
    part.show()
    qtbot.waitUntil(lambda: sum(splitter.sizes()) > 0)
    return splitter


@pytest.mark.usefixtures("_blank_pages")
def test_a_moved_splitter_and_its_first_place_again(qtbot, start):
    splitter = split(qtbot, start())
    first = share(splitter)
    drag(splitter, 90)
    drag(splitter, 30)
    moved = share(splitter)
    assert moved > first + 15
    window = start()
    again = split(qtbot, window)
    assert share(again) == pytest.approx(moved, abs=1)
    window.reset_layout()
    assert share(again) == pytest.approx(first, abs=1)
    assert share(split(qtbot, start())) == pytest.approx(first, abs=1)


@pytest.mark.usefixtures("_blank_pages")
def test_reset_leaves_splitters_that_nobody_moved(qtbot, start):
    window = start()
    splitter = split(qtbot, window)
    before = share(splitter)
    window.reset_layout()
    assert share(splitter) == before


def test_the_splitters_of_the_pages_are_in_its_care(qtbot, start, alone):
    alone("compare")
    window = start()
    names = {"compare-plots", "compare-settings", "compare-difference"}
    shown(qtbot, window, "compare", QSplitter, "compare-plots", ["Settings", "Difference"])
    assert names <= {part.objectName() for part in window.findChildren(QSplitter)}
    for name in names:
        drag(window.findChild(QSplitter, name), 1)
        assert not window.session.preferences.state(f"layout/{name}-first").isEmpty()


@pytest.mark.usefixtures("_blank_pages")
@pytest.mark.qt_log_ignore("does not support", extend=True)
def test_the_splitter_of_the_sweeps(qtbot, start):
    def split_of(window):
        panel = show_sweeps(window.session, window)
        panel.stack.setCurrentIndex(1)
        (splitter,) = panel.findChildren(QSplitter)
        qtbot.waitUntil(lambda: sum(splitter.sizes()) > 0)
        return splitter

    splitter = split_of(start())
    first = share(splitter)
    drag(splitter, 60)
    moved = share(splitter)
    assert moved > first + 5
    window = start()
    again = split_of(window)
    assert share(again) == pytest.approx(moved, abs=1)
    window.reset_layout()
    assert share(again) == pytest.approx(first, abs=1)


# Page and run


@pytest.fixture
def space(tmp_path):
    """A workspace with two runs, opened again at each use."""
    folder = tmp_path / "runs"
    with Workspace(folder, create=True) as workspace:
        for name in ("One", "Two"):
            workspace.set_status(workspace.create_run(RunConfig(name=name)), "done")
    return lambda: Workspace(folder)


@pytest.mark.usefixtures("_blank_pages")
def test_the_page_and_the_run(start, space):
    first = start(space())
    assert (first.session.page, first.session.run_id) == ("setup", None)
    first.session.show_run(1)
    first.session.show_page("map")
    again = start(space())
    assert (again.session.page, again.session.run_id) == ("map", 1)
    assert again.pages.currentWidget() is again.pages.page("map")
    again.session.show_run(None)
    assert (start(space()).session.page, start(space()).session.run_id) == ("setup", None)


@pytest.mark.usefixtures("_blank_pages")
@pytest.mark.parametrize("page", ["train", "map", "retrieval", "report", "compare"])
def test_no_page_without_what_it_shows(start, space, page):
    first = start(space())
    first.session.show_run(2)
    first.session.show_page(page)
    empty = start()
    assert (empty.session.page, empty.session.run_id) == ("setup", None)
    with space() as workspace:
        workspace.trash(2)
    without = start(space())
    assert without.session.run_id is None, "it is in the trash"
    assert without.session.page == ("compare" if page == "compare" else "setup")


@pytest.mark.usefixtures("_blank_pages")
def test_an_unknown_page_is_set_up(start, space):
    window = start(space())
    window.session.show_run(1)
    window.session.preferences.set_text("layout/page", "gone")
    assert start(space()).session.page == "setup"


@pytest.mark.usefixtures("_blank_pages")
def test_reset_forgets_the_page_and_stays_on_it(start, space):
    window = start(space())
    window.session.show_run(1)
    window.session.show_page("map")
    window.reset_layout()
    assert window.session.page == "map"
    again = start(space())
    assert (again.session.page, again.session.run_id) == ("setup", 1)


@pytest.mark.usefixtures("_blank_pages")
def test_another_workspace_has_its_own_run(qtbot, start, space, tmp_path):
    other = tmp_path / "other"
    with Workspace(other, create=True) as workspace:
        workspace.set_status(workspace.create_run(RunConfig(name="Elsewhere")), "done")
    session = start(space()).session
    session.show_run(2)
    session.open_workspace(Workspace(other))
    assert session.run_id is None
    session.show_run(1)
    session.open_workspace(space())
    qtbot.waitUntil(lambda: session.run_id == 2)
    session.open_workspace(Workspace(other))
    qtbot.waitUntil(lambda: session.run_id == 1)


@pytest.mark.usefixtures("_blank_pages")
def test_a_run_that_is_shown_at_once_in_another_workspace_stays(qtbot, start, space, tmp_path):
    session = start(space()).session
    session.show_run(2)
    session.open_workspace(Workspace(tmp_path / "other", create=True))
    qtbot.deliver()
    session.open_workspace(space())
    session.show_run(1)
    qtbot.deliver()
    assert session.run_id == 1
    assert session.preferences.shown_run(session.workspace.path.absolute()) == 1


@pytest.mark.usefixtures("_blank_pages")
def test_the_run_of_a_workspace_that_cannot_be_written(start, space):
    def read_only():
        workspace = space()
        workspace.read_only = True
        return workspace

    start(read_only()).session.show_run(1)
    assert start(read_only()).session.run_id == 1


def test_the_runs_of_the_newest_workspaces_are_kept(tmp_path):
    preferences = Preferences(tmp_path / "window.ini")
    for number in range(MOST_RUNS + 1):
        preferences.remember_run(tmp_path / f"of {number}", number + 1)
    assert preferences.shown_run(tmp_path / "of 0") is None
    assert preferences.shown_run(tmp_path / f"of {MOST_RUNS}") == MOST_RUNS + 1
    preferences.remember_run(tmp_path / "of 1", None)
    assert preferences.shown_run(tmp_path / "of 1") is None
    preferences.set_text("recent/runs", f"no number\n\n3\n{'9' * 5000} {tmp_path}")
    assert preferences.shown_run(tmp_path) is None


# Tables

DOWN, UP = Qt.SortOrder.DescendingOrder, Qt.SortOrder.AscendingOrder


def table(qtbot, window):
    """A table with two columns in the window's care, sorted by the first one; a user may change its widths."""
    part = QWidget(window, Qt.WindowType.Window)
    view = QTableView(part)
    view.setObjectName("some-table")
    view.setProperty(WIDTHS, True)
    rows = SortedRows(("Name", "Number", "Rest"), tuple, lambda column, value: str(value), part)
    rows.show([("a", 2, ""), ("b", 3, ""), ("c", 1, "")])
    view.setModel(rows)
    view.horizontalHeader().setSortIndicator(0, UP)
    view.horizontalHeader().setStretchLastSection(True)
    view.setSortingEnabled(True)
    window.arrangement.follow(part)
    view.resize(500, 200)
    part.resize(500, 200)
    part.show()
    qtbot.waitUntil(view.isVisible)
    return view


def in_order(view):
    return [view.model().index(row, 0).data() for row in range(view.model().rowCount())]


def click_head(view, column):
    head = view.horizontalHeader()
    place = QPoint(head.sectionViewportPosition(column) + head.sectionSize(column) // 2, head.height() // 2)
    QTest.mouseClick(head.viewport(), Qt.MouseButton.LeftButton, pos=place)


def widen(view, column, by):
    """Drag the right end of a column's head by some px."""
    head = view.horizontalHeader()
    at = QPoint(head.sectionViewportPosition(column) + head.sectionSize(column) - 1, head.height() // 2)
    QTest.mousePress(head.viewport(), Qt.MouseButton.LeftButton, pos=at)
    QTest.mouseMove(head.viewport(), at + QPoint(by, 0))
    QTest.mouseRelease(head.viewport(), Qt.MouseButton.LeftButton, pos=at + QPoint(by, 0))


@pytest.mark.usefixtures("_blank_pages")
@pytest.mark.parametrize(("clicks", "rows"), [(1, ["b", "a", "c"]), (2, ["c", "a", "b"])])
def test_the_order_of_a_table_and_its_first_one_again(qtbot, start, clicks, rows):
    view = table(qtbot, start())
    assert in_order(view) == ["a", "b", "c"]
    for _ in range(clicks):
        click_head(view, 1)
    ordered = in_order(view)
    assert ordered in (rows, rows[::-1])
    window = start()
    again = table(qtbot, window)
    assert in_order(again) == ordered
    window.reset_layout()
    assert in_order(again) == ["a", "b", "c"]
    assert in_order(table(qtbot, start())) == ["a", "b", "c"]


def test_an_order_that_a_table_refuses_is_not_remembered(qtbot, start, alone):
    alone("retrieval")
    window = start()
    view = shown(qtbot, window, "retrieval", QTableView, "retrieval-queries")
    head = view.horizontalHeader()
    head.setSortIndicator(1, DOWN)
    head.setSortIndicator(0, DOWN)
    assert (head.sortIndicatorSection(), head.sortIndicatorOrder()) == (1, DOWN), "of the pictures there is none"
    assert window.session.preferences.number("layout/retrieval-queries-order", 0) == ~1


def test_the_table_of_a_view_that_is_made_when_it_is_first_shown(qtbot, start, alone):
    alone("retrieval")

    def deployment():
        window = start()
        window.session.show_page("retrieval")
        return window.pages.page("retrieval").views.make(2).threshold.class_table.horizontalHeader()

    deployment().setSortIndicator(0, UP)
    head = deployment()
    assert (head.sortIndicatorSection(), head.sortIndicatorOrder()) == (0, UP)


def test_a_table_of_the_remembered_tab_has_its_first_order_again(qtbot, start, alone):
    alone("compare")
    head = shown(qtbot, start(), "compare", QTableView, "compare-neighbours", ["Neighbours"]).horizontalHeader()
    first = head.sortIndicatorSection(), head.sortIndicatorOrder()
    head.setSortIndicator(1, DOWN)
    window = start()
    head = shown(qtbot, window, "compare", QTableView, "compare-neighbours").horizontalHeader()
    assert (head.sortIndicatorSection(), head.sortIndicatorOrder()) == (1, DOWN)
    window.reset_layout()
    assert (head.sortIndicatorSection(), head.sortIndicatorOrder()) == first


@pytest.mark.usefixtures("_blank_pages")
def test_an_order_by_a_column_that_is_not_there_any_more_is_passed_over(qtbot, start):
    window = start()
    for stored in ("7", "-9", "word"):
        window.session.preferences.set_text("layout/some-table-order", stored)
        assert in_order(table(qtbot, window)) == ["a", "b", "c"]


@pytest.mark.usefixtures("_blank_pages")
def test_the_widths_of_a_table_and_its_first_ones_again(qtbot, start):
    view = table(qtbot, start())
    first = view.columnWidth(0)
    widen(view, 0, 37)
    assert view.columnWidth(0) == first + 37
    window = start()
    again = table(qtbot, window)
    assert (again.columnWidth(0), again.columnWidth(1)) == (first + 37, view.columnWidth(1))
    window.reset_layout()
    assert again.columnWidth(0) == first
    assert table(qtbot, start()).columnWidth(0) == first


@pytest.mark.usefixtures("_blank_pages")
@pytest.mark.parametrize("stored", ["word -3", "4000000000", "9" * 5000, ""])
def test_widths_that_are_none_are_passed_over(qtbot, start, stored):
    window = start()
    first = table(qtbot, window).columnWidth(0)
    window.session.preferences.set_text("layout/some-table-widths", stored)
    assert table(qtbot, window).columnWidth(0) == first


@pytest.mark.usefixtures("_blank_pages")
def test_a_width_that_is_the_first_one_again_is_so_at_the_next_start(qtbot, start):
    view = table(qtbot, start())
    first = view.columnWidth(0)
    widen(view, 0, 37)
    widen(view, 0, -37)
    assert table(qtbot, start()).columnWidth(0) == first


@pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)  # larger text needs a larger window
def test_reset_leaves_columns_that_fit_their_text(qtbot, start, alone):
    alone("retrieval")
    window = start()
    view = shown(qtbot, window, "retrieval", QTableView, "retrieval-queries")
    try:
        window.session.theme.set_text_size(150)
        fitted = [view.columnWidth(column) for column in range(4)]
        window.reset_layout()
        assert [view.columnWidth(column) for column in range(4)] == fitted
    finally:
        window.session.theme.set_text_size(100)


def test_the_tables_of_the_pages_are_in_its_care(qtbot, start, alone):
    for page, name, opened in (
        ("retrieval", "retrieval-queries", ()),
        ("compare", "compare-neighbours", ["Neighbours"]),
        ("map", "map-classes", ()),
    ):
        alone(page)
        window = start()
        head = shown(qtbot, window, page, QTableView, name, opened).horizontalHeader()
        head.setSortIndicator(1, DOWN)
        assert window.session.preferences.number(f"layout/{name}-order", 0) == ~1
        window.reset_layout()
        assert (head.sortIndicatorSection(), head.sortIndicatorOrder()) != (1, DOWN)
