"""Sizes and places of the window and its parts: those of the design at first, then those that the user left."""

from functools import partial

from PySide6.QtCore import QByteArray, QEvent, QObject, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QMainWindow, QSplitter, QSplitterHandle, QTableView, QTabWidget, QWidget
from shiboken6 import isValid

from workbench.ui.docks.activity import ActivityDock
from workbench.ui.docks.inspector import WIDTH as INSPECTOR_WIDTH
from workbench.ui.docks.inspector import InspectorDock
from workbench.ui.docks.runs import RunsDock, first_width
from workbench.ui.preferences import Preferences
from workbench.ui.widgets.tables.remembered_tables import RememberedTables

FIRST_SIZE = (1440, 900)  # px
SMALLEST = (960, 600)  # px, or what the screen has: scaled by 1.5, one of 1280 x 720 has 853 x 480
FRAME = (16, 48)  # px that a desktop's title bar and borders may take
FIRST = "-first"  # after the key of a splitter that was moved: where it was before
GROUP, PAGE, STATE = "layout", "layout/page", "layout/state"
RUNS_DRAGGED = "layout/runs-dragged"  # whether the user chose the width of the Runs dock; not there in old layouts
PASSING = "passing"  # property of a page of tabs that the program shows for a while: no start begins with it
VERSION = 1  # raised when docks change, so that an old layout is not put on new docks


class WindowLayout(QObject):
    """Puts the docks into the window; `restore` once it has all its parts."""

    def __init__(
        self, window: QMainWindow, preferences: Preferences, runs: RunsDock, inspector: InspectorDock, log: ActivityDock
    ) -> None:
        super().__init__(window)
        self._window, self._preferences = window, preferences
        self._runs, self._inspector, self._activity = runs, inspector, log
        self._first_state = QByteArray()
        self._splitters: list[QSplitter] = []
        self._tabs: dict[str, QTabWidget] = {}  # by key; that of a dialog may be deleted
        self._tables = RememberedTables(preferences, self)
        window.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, runs)
        window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, inspector)
        window.addDockWidget(Qt.DockWidgetArea.BottomDockWidgetArea, log)
        self._runs_dragged = False
        self._dragged_to: int | None = None  # px; None before the first drag of this start
        self._width_pressed: int | None = None  # px of the Runs dock when the edge of a dock was pressed
        window.installEventFilter(self)
        log.toggled.connect(self._remember_activity)
        self.follow(log)

    def restore(self) -> None:
        """The layout as the user left it; the design's in a new account."""
        room = self._window.screen().availableGeometry()
        most = (room.width() - FRAME[0], room.height() - FRAME[1])
        self._window.setMinimumSize(*map(min, SMALLEST, most))
        self._window.resize(*map(min, FIRST_SIZE, most))
        self._runs_dragged = self._preferences.flag(RUNS_DRAGGED, not self._preferences.state(STATE).isEmpty())
        self._first_widths()
        self._first_state = self._window.saveState(VERSION)
        self._window.restoreGeometry(self._preferences.state("layout/geometry"))
        self._window.restoreState(self._preferences.state(STATE), VERSION)
        self._activity.set_unfolded(self._preferences.flag("layout/activity"))

    def follow(self, part: QWidget) -> None:
        """Arrange the parts with an object name in a new part as the user left them, and remember them.

        They are splitters, the chosen tabs, and the order and widths of tables that the user can sort.
        """
        for splitter in part.findChildren(QSplitter):
            if key := _key(splitter):
                self._splitters.append(splitter)
                splitter.restoreState(self._preferences.state(key))
                splitter.splitterMoved.connect(partial(self._remember_split, splitter))
                for place in range(1, splitter.count()):
                    splitter.handle(place).installEventFilter(self)
        for table in part.findChildren(QTableView):
            if key := _key(table):
                self._tables.follow(key, table)
        for tabs in part.findChildren(QTabWidget):  # last: a tab that is opened may make a part, which is followed then
            if key := _key(tabs):
                chosen = self._preferences.number(key, 0)
                if 0 < chosen < tabs.count() and tabs.isTabVisible(chosen):
                    tabs.setCurrentIndex(chosen)
                self._tabs[key] = tabs
                tabs.currentChanged.connect(partial(self._remember_tab, key, tabs))

    @property
    def page(self) -> str:
        """The name of the page that was shown last; empty in a new account."""
        return self._preferences.text(PAGE)

    def remember_page(self, name: str) -> None:
        """Begin with this page at the next start."""
        self._preferences.set_text(PAGE, name)

    def fit_runs(self) -> None:
        """Give the Runs dock the width that goes with the window's, unless the user has chosen one."""
        if not self._runs_dragged and not self._runs.isHidden():  # not visible either before the first paint
            self._window.resizeDocks([self._runs], [first_width(self._window.width())], Qt.Orientation.Horizontal)

    def fit_text(self) -> None:
        """Give the Runs dock its width again after another text size: larger text widens it, smaller text never."""
        if self._runs_dragged and self._dragged_to is not None and not self._runs.isHidden():
            self._window.resizeDocks([self._runs], [self._dragged_to], Qt.Orientation.Horizontal)
        self.fit_runs()

    def eventFilter(self, handle: QObject, event: QEvent) -> bool:
        """Note where a splitter was before it is moved for the first time: it has no sizes before it is laid out.

        Of the window's own splitters, which are the edges of docks, note whether the Runs dock was given a width.
        """
        if handle is self._window and isinstance(event, QMouseEvent):
            self._watch_edges(event)
        if isinstance(handle, QSplitterHandle) and event.type() is QEvent.Type.MouseButtonPress:
            key = _key(handle.splitter()) + FIRST
            if self._preferences.state(key).isEmpty():
                self._preferences.set_state(key, handle.splitter().saveState())
        return False

    def reset(self) -> None:
        """Put every dock back to its first place and size, every splitter and every table; show every first tab.

        The page that is shown stays; the next start begins with the first one unless another is chosen.
        """
        self._window.restoreState(self._first_state, VERSION)
        for splitter in self._splitters:
            splitter.restoreState(self._preferences.state(_key(splitter) + FIRST))
        self._tables.reset()
        for tabs in self._tabs.values():
            if isValid(tabs):
                tabs.setCurrentIndex(0)
        self._preferences.forget(GROUP)  # also of dialogs that were not opened yet
        self._runs.show()
        self._activity.set_unfolded(False)
        self._inspector.forget_choice()
        self._inspector.adapt(self._window.width())
        self._runs_dragged = False
        self._first_widths()

    def keep(self) -> None:
        """Remember the layout for the next start."""
        self._preferences.set_state("layout/geometry", self._window.saveGeometry())
        self._preferences.set_state(STATE, self._window.saveState(VERSION))
        self._preferences.set_flag(RUNS_DRAGGED, self._runs_dragged)
        self._preferences.keep()

    def toggle_full_screen(self) -> None:
        """Fill the screen, or go back."""
        if self._window.isFullScreen():
            self._window.showNormal()
        else:
            self._window.showFullScreen()

    def _watch_edges(self, event: QMouseEvent) -> None:
        """Between press and release on the edge of a dock: whether the Runs dock has another width afterwards."""
        if event.type() is QEvent.Type.MouseButtonPress and self._window.isSeparator(event.position().toPoint()):
            self._width_pressed = self._runs.width()
        elif event.type() is QEvent.Type.MouseButtonRelease and self._width_pressed is not None:
            if self._runs.width() != self._width_pressed:
                self._runs_dragged, self._dragged_to = True, self._runs.width()
            self._width_pressed = None

    def _first_widths(self) -> None:
        docks = [self._runs, self._inspector] if not self._inspector.folded else [self._runs]
        widths = [first_width(self._window.width()), INSPECTOR_WIDTH]
        self._window.resizeDocks(docks, widths[: len(docks)], Qt.Orientation.Horizontal)

    def _remember_split(self, splitter: QSplitter, *moved: int) -> None:
        self._preferences.set_state(_key(splitter), splitter.saveState())

    def _remember_tab(self, key: str, tabs: QTabWidget, chosen: int) -> None:
        page = tabs.widget(chosen)
        if page is not None and not page.property(PASSING):
            self._preferences.set_number(key, chosen)

    def _remember_activity(self, unfolded: bool) -> None:
        self._preferences.set_flag("layout/activity", unfolded)


def _key(part: QWidget) -> str:
    """Where a part's arrangement is stored; empty if it is not remembered."""
    return f"{GROUP}/{part.objectName()}" if part.objectName() else ""
