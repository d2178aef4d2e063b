"""The head of the Compare page: what is compared, and the choice of baseline, metric, evaluation and columns."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QPoint, Signal
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import QComboBox, QLineEdit, QMenu, QWidget

from workbench.comparing.grouping.groups import unlike_parts
from workbench.comparing.measures import At
from workbench.metric_names import metric_name
from workbench.ui.models.run_words import CONDITIONS, WORDS
from workbench.ui.pages.compare.groups.more_seeds import ON_BUTTON
from workbench.ui.pages.compare.model.compare_model import CompareModel
from workbench.ui.style import theme
from workbench.ui.style.words import WHICH_EVALUATION
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import button, icon_button
from workbench.ui.widgets.fields.captions import caption
from workbench.ui.widgets.fields.elided_box import ElidedBox
from workbench.ui.widgets.flow import FlowLayout
from workbench.ui.widgets.labels import ElidedLabel, label, plain_tip

LEAST_TITLE, MOST_TITLE = 10, 24  # characters of a baseline's name that the box has room for
METRIC = 8  # characters of a metric's name, likewise
SEARCH, NARROW = 170, 80  # px at 100% text of the line for words, where the page is wide and at least
LOW = 340  # px of the page's height at 100% text, under which the choices are shown only when they are asked for
COPY, WITH_WORDS = "Copy table", 500  # px at 100% text that all words of the first line need
WITH_TITLE = 420  # px at 100% text that its words need without those of that button


class Head(QWidget):
    """Shows the choices of the model and changes them.

    Args:
        beside: widgets to the right of the title, before the buttons.
    """

    numbers_chosen = Signal()  # another metric or evaluation was chosen: the runs must be read again
    baseline_chosen = Signal()
    columns_chosen = Signal()
    searched = Signal(str)  # the words that were typed

    def __init__(self, model: CompareModel, beside: Sequence[QWidget], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.summary = ElidedLabel("", "muted")
        self.seeds_button = button(ON_BUTTON, "plus")
        self.copy_button = button(COPY, "copy")
        self.copy_button.setAccessibleName(COPY)
        self.copy_button.setToolTip(COPY)
        self.report_button = button("Report…", "file-text")
        self.report_button.setToolTip("A comparison of the ticked runs, by this metric, on the Report page")
        self.unfold = icon_button("sliders-horizontal", "Baseline, metric, epoch and columns")
        self.unfold.setCheckable(True)
        self.unfold.hide()
        self.search = QLineEdit(placeholderText="Search ticked runs", clearButtonEnabled=True)
        self.search.setAccessibleName("Search ticked runs")
        self.search.setToolTip(f"Only ticked runs that match are compared. {WORDS}, or conditions: {CONDITIONS}")
        self.search.textChanged.connect(self.searched)
        buttons = (self.search, *beside, self.unfold, self.copy_button, self.report_button)
        self.title = label("Compare", "title")
        title = in_row(self.title, (self.summary, 1), *buttons, spacing=8)
        self.choices = QWidget()
        self.choices.setLayout(self._choices())
        in_column(title, self.choices, on=self, spacing=8)
        self.unfold.toggled.connect(self.choices.setVisible)
        self.baseline_box.activated.connect(self._choose_baseline)
        self.metric_box.activated.connect(self._choose_numbers)
        self.at_box.activated.connect(self._choose_numbers)
        self.columns_button.clicked.connect(self._open_columns)
        self.columns.triggered.connect(self._choose_columns)

    def _choices(self) -> FlowLayout:
        self.baseline_box, self.metric_box, self.at_box = ElidedBox(), ElidedBox(), QComboBox()
        self.columns = QMenu(self)
        self.columns_button = button("Metrics", "caret-down")
        self.columns_button.setToolTip("Metrics that have a column in the table")
        boxes = {"Baseline": self.baseline_box, "Metric": self.metric_box, "Epoch": self.at_box}
        for words, box in boxes.items():
            box.setAccessibleName(WHICH_EVALUATION if box is self.at_box else words)
        self.at_box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.metric_box.setMinimumContentsLength(METRIC)
        choices = FlowLayout(spacing=8)  # large text needs two lines
        for words, box in boxes.items():
            captioned = QWidget()
            in_row(caption(words, box), box, on=captioned, spacing=8)
            choices.addWidget(captioned)
        choices.addWidget(self.columns_button)
        choices.addWidget(self.seeds_button)
        return choices

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.search.setFixedWidth(max(theme.text_px(NARROW), min(theme.text_px(SEARCH), self.width() // 6)))
        self.title.setVisible(self.width() >= theme.text_px(WITH_TITLE))  # the tab of the page has the same word
        self.copy_button.setText(COPY if self.width() >= theme.text_px(WITH_WORDS) else "")

    def fit_height(self, height: int) -> bool:
        """Fold the choices where the page is so low that few lines of the table would be left; whether it is."""
        low = height < theme.text_px(LOW)
        self.unfold.setVisible(low)
        self.choices.setVisible(not low or self.unfold.isChecked())
        return low

    def follow(self, action: QAction) -> None:
        """Connect the button for more seeds to its action: the same command, tooltip and enabled state."""
        self.seeds_button.clicked.connect(action.trigger)
        action.changed.connect(partial(self._tell, action))
        self._tell(action)

    def _tell(self, action: QAction) -> None:
        self.seeds_button.setEnabled(action.isEnabled())
        self.seeds_button.setToolTip(plain_tip(action.toolTip()))

    def refresh(self) -> None:
        """Show what can be chosen, and what the model has chosen; nothing can be while no run is compared."""
        model, baseline = self._model, self._model.baseline
        groups = model.overview.groups if model.overview is not None else ()
        self.summary.setText(model.summary)
        full = [group.title for group in groups]
        titles = list(zip(unlike_parts(full), full, strict=True))
        longest = max((len(title) for title, _ in titles), default=0)
        self.baseline_box.setMinimumContentsLength(min(max(longest, LEAST_TITLE), MOST_TITLE))
        _fill(self.baseline_box, titles, baseline.title if baseline is not None else "")
        self.baseline_box.setToolTip(plain_tip(baseline.title) if baseline is not None else "")
        _fill(self.metric_box, [(metric_name(name), name) for name in model.metric_choices], model.metric)
        _fill(self.at_box, model.at_choices, model.at)
        for chooser in (self.baseline_box, self.metric_box, self.at_box, self.columns_button):
            chooser.setEnabled(model.overview is not None)  # where no run fits the search they would choose nothing
        self.columns.clear()
        for name in model.metric_choices:
            action = self.columns.addAction(metric_name(name))
            action.setData(name)
            action.setCheckable(True)
            action.setChecked(name in model.shown_metrics)
            action.setEnabled(name != model.metric)

    def _choose_numbers(self) -> None:
        self._model.choose_numbers(self.metric_box.currentData(), self.at_box.currentData())
        self.numbers_chosen.emit()

    def _choose_baseline(self) -> None:
        self._model.choose_baseline(self.baseline_box.currentData())
        self.baseline_chosen.emit()

    def _open_columns(self) -> None:
        self.columns.popup(self.columns_button.mapToGlobal(QPoint(0, self.columns_button.height())))

    def _choose_columns(self) -> None:
        self._model.show_metrics([action.data() for action in self.columns.actions() if action.isChecked()])
        self.columns_chosen.emit()


def _fill(box: QComboBox, items: Sequence[tuple[str, At]], chosen: At) -> None:
    """Replace the items without emitting signals; `chosen` is the data of one of them."""
    box.blockSignals(True)
    box.clear()
    for text, data in items:
        box.addItem(text, data)
    values = [data for _, data in items]
    box.setCurrentIndex(values.index(chosen) if chosen in values else 0)
    box.blockSignals(False)
