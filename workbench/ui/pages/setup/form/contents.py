"""The contents of the form: a line for each heading, with how many of its fields are changed or wrong."""

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QWidget

from workbench.ui.pages.setup.form.groups import ESSENTIALS
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.labels import label, restyle
from workbench.ui.widgets.one_stop import OneStop

WIDTH = 176  # px at 100% text: the longest line with two-digit counts


class Contents(QWidget):
    """Emits the heading that was chosen. Tab stops at it once; the arrow keys go from line to line."""

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Contents of the form")
        self.lines: dict[str, QPushButton] = {}
        self._column = in_column(1, on=self, spacing=0)
        self._stop = OneStop(self)

    def show_counts(self, counts: dict[str, tuple[int, int]]) -> None:
        """Changed and wrong fields by heading, in the order of the form."""
        if list(self.lines) != list(counts):
            self._make_lines(list(counts))
        for heading, (changed, wrong) in counts.items():
            marks = [f"{changed} ●"] if changed else []
            marks += [f"{wrong} ⚠"] if wrong else []
            line = self.lines[heading]
            line.setText("  ".join([heading, *marks]))
            line.setAccessibleName(f"{heading}: {changed} changed, {wrong} wrong")
            line.setToolTip(f"{changed} changed, {wrong} wrong")

    def show_current(self, heading: str) -> None:
        """Mark the heading whose fields are at the top of what is seen."""
        for words, line in self.lines.items():
            if bool(line.property("current")) != (words == heading):
                line.setProperty("current", words == heading)
                line.setAccessibleDescription("Shown now" if words == heading else "")
                restyle(line)

    def _make_lines(self, headings: list[str]) -> None:
        while self._column.count() > 1:
            item = self._column.takeAt(0)
            if item is not None and (widget := item.widget()) is not None:
                widget.deleteLater()
        self.lines = {}
        for heading in headings:
            line = self.lines[heading] = button(heading, kind="contents")
            line.clicked.connect(partial(self._choose, heading))
            self._column.insertWidget(self._column.count() - 1, line)
            if heading == ESSENTIALS:
                caption = label("Advanced", "caption")
                caption.setContentsMargins(8, 8, 0, 4)
                self._column.insertWidget(self._column.count() - 1, caption, 0, Qt.AlignmentFlag.AlignLeft)
        self._stop.show(list(self.lines.values()))

    def _choose(self, heading: str, _checked: bool = False) -> None:
        self.chosen.emit(heading)
