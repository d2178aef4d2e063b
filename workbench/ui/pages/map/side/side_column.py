"""The column beside the map: Legend, Classes and Selection as tabs."""

from PySide6.QtCore import QEvent, QObject, QSize
from PySide6.QtWidgets import QFrame, QTabWidget, QVBoxLayout, QWidget

from workbench.ui.pages.map.side.class_table import ClassTableOpener
from workbench.ui.pages.map.side.inspector import InspectorPanel
from workbench.ui.pages.map.side.legend import Legend
from workbench.ui.state.session import Session
from workbench.ui.style import theme
from workbench.ui.style.words import own_keys
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.buttons import button, icon_button
from workbench.ui.widgets.capped_text import CappedText
from workbench.ui.widgets.scrolled import ScrolledDown

WIDTH = 272  # px at 100% text
NARROW = 0.75  # minimum width, as a share of the full width
MAP = 240  # px of the map's width at 100% text, under which the column is shown only when it is asked for
LOW, ON_LOW = 400, 480  # px at 100% text: height of a low page, and the width that a map needs there for its tools
AROUND = 44  # px beside and between map and column
CLUSTER_LINES = 9
HINT = (
    "Click a point of the map or a query to see it here. Draw a lasso (S) or a rectangle (R) around several: each "
    "cluster among them is then named after its most frequent class."
)
TABS = ("Legend", "Classes", "Selection")
SELECTION = 2


class SideColumn(QFrame):
    """Switches to the Selection tab when something becomes selected, and back when nothing is selected.

    In a page without room for a map beside it, it is shown while `opener` is pressed, which is hidden elsewhere.
    """

    def __init__(self, session: Session, classes: ClassTableOpener) -> None:
        super().__init__()
        self._session = session
        self.opener = icon_button("list-bullets", "Legend, classes and selection")
        self.opener.setCheckable(True)
        self.opener.hide()
        self.opener.toggled.connect(self._give_way)
        self._page: QWidget | None = None  # whose room is shared with the map
        self._selected = self._width = self._before = 0  # the last: the tab that was shown before the selection
        self.setProperty("card", "true")
        self.legend = Legend()
        self.inspector = InspectorPanel(session, HINT)
        self.selections = button("Named selections", "bookmarks-simple", "quiet")
        self.selections.setToolTip("Selections with a name, kept across epochs and runs (N)")
        self.tag = button("Tag the selection…", "tag", "quiet")
        self.tag.setToolTip(
            own_keys("Tag all selected images; Retrieval, the map and reports use the tag (Ctrl+Shift+G)")
        )
        self.tag.hide()  # until something is selected
        self.clusters = CappedText("caption", CLUSTER_LINES)
        self.clusters.said.setContentsMargins(16, 8, 16, 0)  # as the Inspector below it
        self.clusters.said.setAccessibleName("Clusters of the selection")
        selection = QWidget()
        selection.setProperty("passing", "true")  # at the next start nothing is selected
        below = (self.tag, self.selections)
        in_column(self.clusters, (self.inspector, 1), *below, on=selection, margins=(0, 0, 0, 8), spacing=4)
        self.tabs = QTabWidget()
        self.tabs.setObjectName("map-side")
        self.tabs.setDocumentMode(True)
        self.tabs.setUsesScrollButtons(False)
        self.tabs.tabBar().setProperty("close", "true")
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 1, 1, 1)
        column.addWidget(self.tabs)
        for page, words in zip((ScrolledDown(self.legend), classes.panel, selection), TABS, strict=True):
            self.tabs.addTab(page, words)
        self.fit_theme()

    def fit_theme(self) -> None:
        """Set the full and the minimum width for the size of the text and the width of the page."""
        self._width = self._session.theme.side(WIDTH, 0 if self._page is None else self._page.width())
        self.setMaximumWidth(self._width)
        self.setMinimumWidth(round(self._width * NARROW))
        self.updateGeometry()
        self._give_way()

    def give_way_in(self, page: QWidget) -> None:
        """Leave the map its room in this page, which holds both side by side."""
        self._page = page
        page.installEventFilter(self)
        self.fit_theme()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Look at the room again when the page has another size."""
        if event.type() == QEvent.Type.Resize:
            self.fit_theme()
        return super().eventFilter(watched, event)

    def _give_way(self) -> None:
        if self._page is not None:
            least = ON_LOW if self._page.height() < theme.text_px(LOW) else MAP
            beside = self._page.width() - AROUND - self._width >= theme.text_px(least)
            self.opener.setVisible(not beside)
            self.setVisible(beside or self.opener.isChecked())

    def sizeHint(self) -> QSize:
        return QSize(self._width, super().sizeHint().height())

    def show_clusters(self, words: str) -> None:
        """Show the summary of the selection's clusters; hide it if the words are empty."""
        self.clusters.set_text(words)
        self.clusters.setVisible(bool(words))

    def show_count(self, selected: int) -> None:
        """Show how many images are selected."""
        self.tag.setVisible(selected > 0)
        self.tabs.setTabText(SELECTION, f"{TABS[SELECTION]} {selected:,}" if selected else TABS[SELECTION])
        if selected and not self._selected:
            self._before = self.tabs.currentIndex()
            self.tabs.setCurrentIndex(SELECTION)
        elif self._selected and not selected and self.tabs.currentIndex() == SELECTION:
            self.tabs.setCurrentIndex(self._before)
        self._selected = selected
