"""Which sections, in which order, in the person's own words, and in which formats."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from workbench.reports.sections import FORMATS, SECTIONS
from workbench.ui.widgets.labels import label

FORMAT_WORDS = {
    "html": ("HTML", "One file with everything inside; opens anywhere, needs no network"),
    "pdf": ("PDF", "A4 pages for print"),
    "csv": ("CSV tables", "Metrics, curves, settings and queries for a spreadsheet"),
    "latex": ("LaTeX", "A booktabs table and figures at column width"),
    "figures": ("Figures", "Every figure as SVG, PDF and PNG"),
}
AT_FIRST = ("html", "pdf")


class SectionChoices(QWidget):
    """Sections to tick and drag; title and notes."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.list = QListWidget()
        self.list.setAccessibleName("Sections of the report; tick to include, drag to order")
        self.list.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for key, word in SECTIONS.items():
            item = QListWidgetItem(word, self.list)
            item.setData(Qt.ItemDataRole.UserRole, key)
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(Qt.CheckState.Checked)
        self.title = QLineEdit()
        self.title.setPlaceholderText("The run's name")
        self.title.setAccessibleName("Title of the report")
        self.notes = QPlainTextEdit()
        self.notes.setPlaceholderText("What a colleague should know")
        self.notes.setAccessibleName("Your own text in the report")
        self.notes.setTabChangesFocus(True)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(label("Sections", "section"))
        column.addWidget(self.list, 3)
        column.addWidget(label("Title", "caption"))
        column.addWidget(self.title)
        column.addWidget(label("Notes", "caption"))
        column.addWidget(self.notes, 2)
        self.list.itemChanged.connect(self._say)
        self.list.model().rowsMoved.connect(self._say)
        self.title.textChanged.connect(self._say)
        self.notes.textChanged.connect(self._say)

    def sections(self) -> list[str]:
        """The ticked sections in their order."""
        items = (self.list.item(row) for row in range(self.list.count()))
        return [
            str(item.data(Qt.ItemDataRole.UserRole)) for item in items if item.checkState() == Qt.CheckState.Checked
        ]

    def _say(self) -> None:
        self.changed.emit()


class FormatChoices(QWidget):
    """Formats to tick."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        self.boxes: dict[str, QCheckBox] = {}
        for key in FORMATS:
            word, tip = FORMAT_WORDS[key]
            box = QCheckBox(word)
            box.setToolTip(tip)
            box.setChecked(key in AT_FIRST)
            box.toggled.connect(self._say)
            column.addWidget(box)
            self.boxes[key] = box

    def formats(self) -> list[str]:
        """The ticked formats."""
        return [key for key, box in self.boxes.items() if box.isChecked()]

    def _say(self) -> None:
        self.changed.emit()
