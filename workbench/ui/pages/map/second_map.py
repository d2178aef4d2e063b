"""A second map beside the first: another epoch or run of the same data set, with the same selection and hover."""

from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtWidgets import QComboBox, QGridLayout, QVBoxLayout, QWidget

from workbench.problem import Problem
from workbench.ui import theme
from workbench.ui.pages.map.colours.point_colours import PointColours
from workbench.ui.pages.map.drawing.canvas import MapCanvas
from workbench.ui.pages.map.hover_card import HoverCard
from workbench.ui.pages.map.map_data import Groups, MapData
from workbench.ui.pages.map.map_maker import MapMaker
from workbench.ui.pages.map.tool_pill import MakingStrip
from workbench.ui.session import Session
from workbench.ui.widgets.labels import ElidedLabel, label
from workbench.ui.widgets.pictures import shared_loader


class SecondMap(QWidget):
    """Has a chooser of its own; method, parameters, colouring, legend and tools are the first map's.

    It speaks of samples, not of rows: the two maps need not have them in one order.
    """

    selected = Signal(object, str)  # ids, "replace", "add" or "remove"
    opened = Signal(int)  # id of the point that was double-clicked
    hovered = Signal(object)  # id or None

    def __init__(self, session: Session, colours: PointColours, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session, self.colours = session, colours
        self.data: MapData | None = None
        self.maker = MapMaker(session, self)
        self._wanted: dict[str, Any] = {}
        self._asked: tuple[int, dict[str, Any]] | None = None  # evaluation and parameters
        self._hidden: frozenset[str] = frozenset()
        self._scale: tuple[float, float] | None = None
        self._tool, self._proxies_shown = "pan", True
        self._built = False  # a second plot costs what many windows never need
        self.hide()

    def _build(self) -> None:
        self.runs, self.epochs = QComboBox(), QComboBox()
        for box, name in ((self.runs, "Run of the second map"), (self.epochs, "Evaluation of the second map")):
            box.setAccessibleName(name)
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.setMinimumContentsLength(8)
        self.canvas = MapCanvas()
        self.canvas.setAccessibleName("Second map of the test embeddings")
        self.trouble = label("", "muted", wrap=True, parent=self.canvas)
        self.trouble.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.trouble.hide()
        self.strip = MakingStrip(self.canvas)
        self.card = HoverCard(shared_loader(self.session), self.canvas, self.colours)
        self.caption = ElidedLabel("", "caption")
        head = QGridLayout()
        head.setSpacing(8)
        head.addWidget(self.runs, 0, 0)
        head.addWidget(self.epochs, 0, 1)
        head.setColumnStretch(0, 2)
        head.setColumnStretch(1, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(head)
        column.addWidget(self.canvas, 1)
        column.addWidget(self.caption)

    def _connect(self) -> None:
        self.runs.activated.connect(self._run_chosen)
        self.epochs.activated.connect(self._make)
        self.canvas.selected.connect(self._select)
        self.canvas.opened.connect(self._open)
        self.canvas.hovered.connect(self._hover)
        self.canvas.resized.connect(self._place)
        self.strip.cancelled.connect(self.maker.cancel)
        self.maker.made.connect(self._show_map)
        self.maker.working.connect(self.strip.show_progress)
        self.maker.failed.connect(self._show_trouble)
        self.session.evaluations_changed.connect(self._refill)

    # What is shown

    def offer(self) -> None:
        """List the runs of the shown data set; at first the shown run, before it was trained or at its first epoch."""
        if not self._built:
            self._built = True
            self._build()
            self._connect()
            self.set_tool(self._tool)
            self.show_proxies(self._proxies_shown)
        shown = self.session.run()
        self.runs.clear()
        if shown is None or shown.dataset_id is None:
            self._empty("")
            return
        for run in self.session.runs():
            if run.dataset_id == shown.dataset_id and run.last:
                self.runs.addItem(f"{run.id}: {run.name}", run.id)
        self.runs.setCurrentIndex(max(0, self.runs.findData(shown.id)))
        self._run_chosen()

    def make(self, wanted: dict[str, Any]) -> None:
        """Draw by another method, or others of the points: wanted as MapMaker takes it."""
        self._wanted = wanted
        self._make()

    def stop(self) -> None:
        """Forget the map: it is not looked at any more."""
        self.maker.forget()
        self._asked = None
        self._empty("")

    def set_tool(self, tool: str) -> None:
        """Take the first map's tool: "pan", "lasso" or "rectangle"."""
        self._tool = tool
        if self._built:
            self.canvas.set_tool(tool)

    def show_proxies(self, shown: bool) -> None:
        """Show or hide the stars."""
        self._proxies_shown = shown
        if self._built:
            self.canvas.marks.proxies_shown = shown
            self.canvas.marks.update()

    def fit(self) -> None:
        """All points into view."""
        if self._built:
            self.canvas.fit()

    def recolour(self, hidden: frozenset[str], scale: tuple[float, float] | None) -> None:
        """Take the first map's hidden groups, by name, and its scale, so that a colour means the same on both."""
        self._hidden, self._scale = hidden, scale
        self._colour(fit=False)

    def show_selection(self) -> None:
        """Dim all points but those that are selected."""
        if self.data is not None:
            among = np.isin(self.data.ids, self.session.selection)
            self.canvas.set_selected(among if among.any() else None)

    def ring(self, sample: int | None) -> None:
        """Ring the point that is hovered on the first map."""
        if self.data is not None:
            self.canvas.marks.hover(self._row(sample))

    def show_query(self) -> None:
        """Mark the session's query."""
        if self.data is not None:
            self.canvas.set_query(self._row(self.session.query))

    def set_tokens(self) -> None:
        """Take the colours of the theme on screen."""
        if self._built:
            self.canvas.set_tokens(theme.current())
            self._colour(fit=False)

    def _run_chosen(self) -> None:
        self._fill_epochs()
        own = self.runs.currentData() == self.session.run_id
        self.epochs.setCurrentIndex(0 if own else self.epochs.count() - 1)
        self._make()

    def _fill_epochs(self) -> None:
        run_id = self.runs.currentData()
        found = [] if run_id is None else self.session.workspace.evaluations(run_id)
        several = len({each.distance for each in found}) > 1
        self.epochs.clear()
        for each in found:
            word = epoch_word(each.epoch)
            self.epochs.addItem(f"{word}, {each.distance}" if several else word, each.id)

    def _refill(self) -> None:
        """New evaluations join the list; the shown one stays."""
        if self.isVisible():
            shown = self.epochs.currentData()
            self._fill_epochs()
            self.epochs.setCurrentIndex(max(0, self.epochs.findData(shown)))

    def _make(self) -> None:
        if not self._built or not self._wanted or self.isHidden():
            return
        evaluation = self.epochs.currentData()
        if evaluation is not None and self._asked != (evaluation, self._wanted):
            self._asked = (evaluation, self._wanted)
            self.maker.make(evaluation, self._wanted)

    def _show_map(self, data: MapData) -> None:
        self.data = data
        self.trouble.hide()
        self.caption.setText(data.caption)
        self._colour(fit=True)
        self.show_selection()
        self.show_query()

    def _colour(self, *, fit: bool) -> None:
        if self.data is not None:
            groups = self.groups()
            self.canvas.show_data(self.data, groups, self._rows_hidden(groups), fit=fit)

    def groups(self, tokens: theme.Tokens | None = None) -> Groups:
        """The groups of its points on the first map's scale, in the colours of a theme: that on screen unless given."""
        assert self.data is not None  # it is shown
        return self.colours.groups(self.data, tokens, self._scale)

    def _rows_hidden(self, groups: Groups) -> frozenset[int]:
        return frozenset(row for row, name in enumerate(groups.names) if name in self._hidden)

    def _show_trouble(self, problem: Problem) -> None:
        self._empty(str(problem))

    def _empty(self, sentence: str) -> None:
        self.data = None
        self.canvas.clear()
        self.caption.setText("")
        self.trouble.setText(sentence)
        self.trouble.setVisible(bool(sentence))

    def _place(self) -> None:
        self.strip.place()
        self.trouble.setGeometry(self.canvas.rect().adjusted(16, 16, -16, -16))

    # What the person does

    def _select(self, rows: np.ndarray, way: str) -> None:
        if self.data is not None:
            self.selected.emit(self.data.ids[rows], way)

    def _open(self, row: int) -> None:
        if self.data is not None:
            self.opened.emit(int(self.data.ids[row]))

    def _hover(self, row: int | None, at: QPointF | None) -> None:
        self.card.hover(self.data, row, at)
        self.hovered.emit(None if row is None or self.data is None else int(self.data.ids[row]))

    def _row(self, sample: int | None) -> int | None:
        found = [] if self.data is None or sample is None else np.flatnonzero(self.data.ids == sample).tolist()
        return found[0] if found else None


def epoch_word(epoch: int) -> str:
    """An evaluation's epoch, in words; the one before the first is of the untrained network."""
    return "untrained" if epoch == 0 else f"epoch {epoch}"
