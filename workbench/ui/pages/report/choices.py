"""Choices of the report: sections, their order, the user's own text, numbers and formats."""

from collections.abc import Mapping
from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from workbench.metric_names import metric_name
from workbench.reports.sections import BUNDLE, FORMATS, SECTIONS
from workbench.reports.templates import Template
from workbench.ui.preferences import Preferences
from workbench.ui.style.words import WHICH_EVALUATION, own_keys
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.buttons import icon_button
from workbench.ui.widgets.fields.captions import caption
from workbench.ui.widgets.fields.elided_box import ElidedBox
from workbench.ui.widgets.labels import label, plain_tip

FORMAT_WORDS = {
    "html": ("HTML", "One self-contained file; opens in any browser, offline"),
    "pdf": ("PDF", "Pages for printing, as in the preview"),
    "latex": ("LaTeX", "booktabs tables and figures at column width; main.tex compiles by itself"),
    "csv": ("CSV tables", "The numbers behind every table and figure, for a spreadsheet"),
    "figures": ("Figures", "Every figure as SVG, PDF and PNG"),
    BUNDLE: ("Bundle (ZIP)", "All of these with the configs and a manifest: seeds, versions, hardware, data, commands"),
}
PAPER_WORDS = {"a4": "A4", "letter": "Letter"}
AT_FIRST = ("html", "pdf")
KEPT_FORMATS, KEPT_PAPER = "report/formats", "report/paper"  # in the preferences
KEY_ROLE = Qt.ItemDataRole.UserRole


class SectionChoices(QWidget):
    """Sections to tick and move; title and own text. Shows one template at a time."""

    changed = Signal()
    arranged = Signal()  # order, ticks or own text: what is stored with the template
    reset = Signal()
    pressed = Signal(str)  # the key of a section that was clicked

    def __init__(self) -> None:
        super().__init__()
        self._template: Template | None = None
        self._building = False
        self.list = QListWidget()
        self.list.setAccessibleName(
            own_keys("Sections of the report; tick to include, drag or Alt+Up and Alt+Down to order")
        )
        self.list.setToolTip(own_keys("Tick to include; drag, or Alt+Up and Alt+Down, to order"))
        self.list.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self.list.setTextElideMode(Qt.TextElideMode.ElideMiddle)  # the page stands at the end
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.up, self.down = icon_button("arrow-up", "Move up"), icon_button("arrow-down", "Move down")
        self.again = icon_button("arrow-counter-clockwise", "Reset to the template's sections, order and text")
        self.title = QLineEdit()
        self.title.setAccessibleName("Title of the report")
        self.notes = QPlainTextEdit()
        self.notes.setPlaceholderText("What a colleague should know. Markdown: **bold**, lists, `code`, tables")
        self.notes.setAccessibleName("Your own text in the report, Markdown")
        self.notes.setTabChangesFocus(True)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        head = QHBoxLayout()
        head.setSpacing(4)
        head.addWidget(label("Sections", "section"), 1)
        for widget in (self.up, self.down, self.again):
            head.addWidget(widget)
        column.addLayout(head)
        column.addWidget(self.list, 3)
        for words, field, stretch in (("Title", self.title, 0), ("Notes", self.notes, 2)):
            column.addWidget(caption(words, field))
            column.addWidget(field, stretch)
        self.list.itemChanged.connect(self._arrange)
        self.list.itemClicked.connect(self._press)
        self.list.model().rowsMoved.connect(self._arrange)
        self.list.currentRowChanged.connect(self._check)
        self.title.textChanged.connect(self._say)
        self.notes.textChanged.connect(self._arrange)
        self.up.clicked.connect(self.move_up)
        self.down.clicked.connect(self.move_down)
        self.again.clicked.connect(self.reset)
        for keys, move in (("Alt+Up", self.move_up), ("Alt+Down", self.move_down)):
            action = QAction(self.list)
            action.setShortcut(QKeySequence(keys))
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
            action.triggered.connect(move)
            self.list.addAction(action)

    def show_template(self, template: Template) -> None:
        """Show its sections in their order, with its ticks and text."""
        self._building = True
        self._template = template
        self.list.clear()
        for key in template.order:
            item = QListWidgetItem(SECTIONS[key], self.list)
            item.setData(KEY_ROLE, key)
            item.setFlags((item.flags() | Qt.ItemFlag.ItemIsUserCheckable) & ~Qt.ItemFlag.ItemIsDropEnabled)
            item.setCheckState(Qt.CheckState.Checked if key in template.ticked else Qt.CheckState.Unchecked)
        self.list.setCurrentRow(0)
        self.notes.setPlainText(template.text)
        self._building = False
        self._check()
        self.changed.emit()

    def show_pages(self, pages: Mapping[str, int]) -> None:
        """Show for each section, by key, the page of the preview on which it begins, from 1."""
        self._building = True
        for row in range(self.list.count()):
            item = self.list.item(row)
            key = str(item.data(KEY_ROLE))
            item.setText(f"{SECTIONS[key]} · p {pages[key]}" if key in pages else SECTIONS[key])
            item.setToolTip(plain_tip(f"{SECTIONS[key]}, page {pages[key]}" if key in pages else SECTIONS[key]))
        self._building = False

    def template(self) -> Template | None:
        """The shown template as it is arranged now; None before the first."""
        if self._template is None:
            return None
        order = tuple(str(self.list.item(row).data(KEY_ROLE)) for row in range(self.list.count()))
        text = self.notes.toPlainText()
        return replace(self._template, order=order, ticked=frozenset(self.sections()), text=text)

    def sections(self) -> list[str]:
        """The ticked sections in their order."""
        items = (self.list.item(row) for row in range(self.list.count()))
        return [str(item.data(KEY_ROLE)) for item in items if item.checkState() == Qt.CheckState.Checked]

    def move_up(self) -> None:
        """Move the chosen section up by one."""
        self._move(-1)

    def move_down(self) -> None:
        """Move the chosen section down by one."""
        self._move(1)

    def _move(self, by: int) -> None:
        row = self.list.currentRow()
        if row < 0 or not 0 <= row + by < self.list.count():
            return
        self._building = True
        self.list.insertItem(row + by, self.list.takeItem(row))
        self.list.setCurrentRow(row + by)
        self._building = False
        self._check()
        self._arrange()

    def _check(self) -> None:
        row = self.list.currentRow()
        self.up.setEnabled(row > 0)
        self.down.setEnabled(0 <= row < self.list.count() - 1)

    def _press(self, item: QListWidgetItem) -> None:
        self.pressed.emit(str(item.data(KEY_ROLE)))

    def _arrange(self) -> None:
        if not self._building:
            self.arranged.emit()
            self.changed.emit()

    def _say(self) -> None:
        self.changed.emit()


class NumberChoices(QWidget):
    """The metric of a comparison, and the evaluation of each run."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.metric_box, self.at_box = ElidedBox(), ElidedBox()
        column = in_column(label("Numbers", "section"), on=self, spacing=4)
        for words, box, name in (
            ("Metric", self.metric_box, "Metric of the comparison"),
            ("Epoch", self.at_box, WHICH_EVALUATION),
        ):
            box.setAccessibleName(name)
            column.addWidget(caption(words, box))
            column.addWidget(box)
        self.offer(["MAP@R"], [])
        self.metric_box.activated.connect(self._say)
        self.at_box.activated.connect(self._say)

    def offer(self, metrics: list[str], epochs: list[int]) -> None:
        """Offer the metrics and epochs of the runs; the choice stays if it is among them."""
        chosen = self.metric_box.currentText(), self.at_box.currentText()
        self.metric_box.clear()
        for metric in metrics or ["MAP@R"]:
            self.metric_box.addItem(metric_name(metric), metric)
        self.at_box.clear()
        for words, epoch in (("best epoch", "best"), ("last epoch", "last"), *((f"epoch {e}", e) for e in epochs)):
            self.at_box.addItem(words, epoch)
        for box, words in zip((self.metric_box, self.at_box), chosen, strict=True):
            box.setCurrentIndex(max(0, box.findText(words)))

    def choose(self, metric: str, at: str | int) -> None:
        """Choose these before the metrics and epochs of the runs are known; `offer` corrects them."""
        if self.metric_box.findData(metric) < 0:
            self.metric_box.addItem(metric_name(metric), metric)
        if self.at_box.findData(at) < 0:
            self.at_box.addItem(f"epoch {at}", at)
        self.metric_box.setCurrentIndex(self.metric_box.findData(metric))
        self.at_box.setCurrentIndex(self.at_box.findData(at))

    def wanted(self) -> tuple[str, str | int]:
        """The metric; "best", "last" or an epoch."""
        epoch = self.at_box.currentData()
        return str(self.metric_box.currentData()), epoch if isinstance(epoch, int) else str(epoch)

    def _say(self) -> None:
        self.changed.emit()


class FormatChoices(QWidget):
    """Formats to tick, and the paper of the PDF; both are remembered."""

    changed = Signal()
    paper_changed = Signal()

    def __init__(self, preferences: Preferences) -> None:
        super().__init__()
        self._preferences = preferences
        chosen = preferences.text(KEPT_FORMATS, " ".join(AT_FIRST)).split()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        self.paper_box = QComboBox()
        self.paper_box.setAccessibleName("Paper of the PDF")
        for key, word in PAPER_WORDS.items():
            self.paper_box.addItem(word, key)
        self.paper_box.setCurrentIndex(max(0, self.paper_box.findData(preferences.text(KEPT_PAPER))))
        self.paper_box.activated.connect(self._say_paper)
        self.boxes: dict[str, QCheckBox] = {}
        for key in (*FORMATS, BUNDLE):
            word, tip = FORMAT_WORDS[key]
            box = QCheckBox(word)
            box.setToolTip(tip)
            box.setChecked(key in chosen)
            box.toggled.connect(self._say)
            column.addWidget(box)
            self.boxes[key] = box
        column.addWidget(caption("Paper of the PDF", self.paper_box))
        column.addWidget(self.paper_box)

    def paper(self) -> str:
        """The chosen paper, of PAPERS."""
        return str(self.paper_box.currentData())

    def formats(self) -> list[str]:
        """The ticked formats."""
        return [key for key, box in self.boxes.items() if box.isChecked()]

    def _say(self) -> None:
        self._preferences.set_text(KEPT_FORMATS, " ".join(self.formats()))
        self.changed.emit()

    def _say_paper(self) -> None:
        self._preferences.set_text(KEPT_PAPER, self.paper())
        self.paper_changed.emit()
