"""All groups against the baseline, first on the Difference tab: the forest plot and what it says in words."""

from collections.abc import Iterable, Mapping

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QWidget

from workbench.comparing.difference.forest import Forest, claims, remarks
from workbench.comparing.grouping.groups import unlike_parts
from workbench.ui.pages.compare.difference.forest_plot import ROW_PX, ForestPlot
from workbench.ui.pages.compare.style.group_styles import GroupStyle
from workbench.ui.style import theme
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.labels import label
from workbench.ui.widgets.scrolled import Scrolled

WORDS_PX, WIDE_WORDS_PX = 200, 400  # px of the design: width of the words beside the plot, at least and at most
WORDS_PART = 5  # the part of the width that is theirs between both
MOST_PX, MOST_PART = 360, 0.4  # px and part of the window's height, of which the larger is in view before rows scroll
WIDEST = 16_777_215  # px, Qt's own limit
BESIDE_PX = 800  # width from which the words stand beside the plot
MARGINS, SPACING = (12, 8, 4, 8), 4  # px around the words, between their title and them
AROUND = MARGINS[1] + MARGINS[3] + SPACING + 2  # px of their height; the frame is 1 px wide


class ForestPanel(QWidget):
    """The plot as high as its rows need, up to a part of the window; `plot.chosen` emits the title of a chosen row.

    The words stand beside the plot, or below it if there is no space for both.

    Args:
        scrolls: False where what is around the panel scrolls: then it is as high as all rows and words need.
    """

    def __init__(self, parent: QWidget | None = None, *, scrolls: bool = True) -> None:
        super().__init__(parent)
        self._scrolls = scrolls
        self.plot = ForestPlot()
        self.claims = label("", wrap=True)
        self.remarks = label("", "muted", wrap=True)
        self._said = QWidget()
        in_column(self.claims, self.remarks, 1, on=self._said, spacing=8)
        self.words = QFrame()
        self.words.setProperty("card", "true")
        self._title = label("In words", "strong")
        scrolled = Scrolled(self._said)
        in_column(self._title, (scrolled, 1), on=self.words, margins=MARGINS, spacing=SPACING)
        for said_label in (self.claims, self.remarks):
            said_label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._rows = Scrolled(self.plot)
        self._both = in_row((self._rows, 1), self.words, on=self, spacing=8)
        self.plot.chosen.connect(self._reveal)
        self.hide()

    def show_forest(self, forest: Forest, styles: Mapping[str, GroupStyle]) -> None:
        """Show other differences; hidden without a group beside the baseline. `styles` are by the group's title."""
        self.setVisible(bool(forest.rows))
        if not forest.rows:
            return
        self.plot.show_forest(forest, styles)
        self.claims.setText(_in_short(claims(forest), forest))
        self.claims.setVisible(bool(self.claims.text()))
        self.remarks.setText(_in_short(remarks(forest), forest))
        self.fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in theme.DRESSES and hasattr(self, "_both"):
            self.fit()

    def fit(self) -> None:
        """Put the words beside the plot or below it, and give both the height that they need and the window has."""
        beside = self.width() >= theme.text_px(BESIDE_PX)
        self._both.setDirection(QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom)
        least, widest = theme.text_px(WORDS_PX), theme.text_px(WIDE_WORDS_PX)
        wide = min(widest, max(least, self.width() // WORDS_PART)) if beside else self.width()
        self.words.setMinimumWidth(wide if beside else 0)  # below the plot it would keep the panel from shrinking
        self.words.setMaximumWidth(wide if beside else WIDEST)
        most = max(theme.text_px(MOST_PX), round(MOST_PART * self.window().height())) if self._scrolls else WIDEST
        inside = wide - MARGINS[0] - MARGINS[2] - 2 * self.words.frameWidth()
        rows = min(most, self.plot.minimumSizeHint().height() + 2)
        words = min(most, self._title.sizeHint().height() + self._said.heightForWidth(inside) + AROUND)
        self._rows.setFixedHeight(max(rows, words) if beside else rows)
        self.words.setFixedHeight(max(rows, words) if beside else words)

    def _reveal(self) -> None:
        """Scroll to the row that a key has chosen."""
        self._rows.ensureVisible(0, self.plot.marked_y(), 0, theme.text_px(ROW_PX))


def _in_short(sentences: Iterable[str], forest: Forest) -> str:
    """The sentences, with groups called as in the plot: without what all their titles have in common."""
    text, titles = " ".join(sentences), [forest.baseline.title, *(row.group.title for row in forest.rows)]
    for title, short in zip(titles, unlike_parts(titles), strict=True):
        text = text.replace(f"“{title}”", f"“{short}”")
    return text
