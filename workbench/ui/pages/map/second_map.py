"""A second map beside the first: another epoch or run of the same images, with the same selection and hover."""

from functools import partial
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtWidgets import QGridLayout, QWidget

from workbench.jobs.newest import Newest
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.ui.pages.map.colours.point_colours import PointColours
from workbench.ui.pages.map.drawing.canvas import MapCanvas
from workbench.ui.pages.map.drawing.contours import ContourMaker
from workbench.ui.pages.map.hovering.hover_card import HoverCard
from workbench.ui.pages.map.making.map_maker import MapMaker
from workbench.ui.pages.map.making.progress_strip import ProgressStrip
from workbench.ui.pages.map.making.reading import epoch_name
from workbench.ui.pages.map.model.groups import Groups
from workbench.ui.pages.map.model.map_data import MapData
from workbench.ui.pages.map.model.map_model import Look
from workbench.ui.pages.map.model.turning import View
from workbench.ui.state.selection.sample_rows import SampleRows
from workbench.ui.state.session import Session
from workbench.ui.style import theme
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.fields.elided_box import ElidedBox
from workbench.ui.widgets.images.pictures import shared_loader
from workbench.ui.widgets.labels import ElidedLabel, label
from workbench.workspace.rows import Evaluation


class SecondMap(QWidget):
    """Has its own choice of run and epoch; method, parameters, colouring, legend and tools are those of the first map.

    It works with sample ids, not rows: the two maps may order samples differently.
    """

    selected = Signal(object, str)  # ids, "replace", "add" or "remove"
    opened = Signal(int)  # id of the point that was double-clicked
    hovered = Signal(object)  # id or None
    turned = Signal(float, float, bool)  # as that of MapCanvas

    def __init__(self, session: Session, colours: PointColours) -> None:
        super().__init__()
        self.session, self.colours = session, colours
        self.data: MapData | None = None
        self.maker, self._listing = MapMaker(session, self), Newest(session)
        self._wanted: dict[str, Any] = {}
        self._asked: tuple[int, dict[str, Any]] | None = None  # evaluation and parameters
        self._hidden: frozenset[str] = frozenset()
        self._scale: tuple[float, float] | None = None
        self._tool, self._look = "pan", Look()
        self._view = View()
        self._built = False  # a second plot is expensive, and often not needed
        self.hide()

    def _build(self) -> None:
        self.runs, self.epochs = ElidedBox(), ElidedBox()
        for box, name in ((self.runs, "Run of the second map"), (self.epochs, "Evaluation of the second map")):
            box.setAccessibleName(name)
            box.setMinimumContentsLength(8)
        self.canvas = MapCanvas()
        self.canvas.setAccessibleName("Second map of the test embeddings")
        self.contours = ContourMaker(self.session, self.canvas.contours, self)
        self.problem = label("", "muted", wrap=True, parent=self.canvas)
        self.problem.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.problem.hide()
        self.strip = ProgressStrip(self.canvas)
        self.card = HoverCard(shared_loader(self.session), self.canvas, self.colours)
        self.caption = ElidedLabel("", "caption")
        head = QGridLayout()
        head.setSpacing(8)
        head.addWidget(self.runs, 0, 0)
        head.addWidget(self.epochs, 0, 1)
        head.setColumnStretch(0, 2)
        head.setColumnStretch(1, 1)
        in_column(head, (self.canvas, 1), self.caption, on=self, spacing=4)

    def _connect(self) -> None:
        self.runs.activated.connect(self._run_chosen)
        self.epochs.activated.connect(self._make)
        self.canvas.selected.connect(self._select)
        self.canvas.opened.connect(self._open)
        self.canvas.turned.connect(self.turned)
        self.canvas.hovered.connect(self._hover)
        self.canvas.resized.connect(self._place)
        self.strip.cancelled.connect(self.maker.cancel)
        self.maker.made.connect(self._show_map)
        self.maker.working.connect(self.strip.show_progress)
        self.maker.failed.connect(self._show_problem)
        self.session.evaluations_changed.connect(self._refill)

    # What is shown

    def offer(self) -> None:
        """List the runs on the same images, at any size. The first choice is the shown run's first evaluation."""
        if not self._built:
            self._built = True
            self._build()
            self._connect()
            self.set_tool(self._tool)
            self.show_look(self._look)
        shown = self.session.run()
        self.runs.clear()
        if shown is None or not shown.images:
            self.epochs.clear()
            self._empty("")
            return
        for run in self.session.runs():
            if run.images == shown.images and run.last:
                self.runs.addItem(f"{run.id}: {run.name}", run.id)
        self.runs.setCurrentIndex(max(0, self.runs.findData(shown.id)))
        self._run_chosen()

    def make(self, wanted: dict[str, Any]) -> None:
        """Draw by another method, or other points; `wanted` is a Request of MapMaker."""
        self._wanted = wanted
        self._make()

    def stop(self) -> None:
        """Drop the map because it is hidden."""
        self.maker.forget()
        self._asked = None
        self._empty("")

    def set_tool(self, tool: str) -> None:
        """Use the first map's tool: "pan", "turn", "lasso" or "rectangle"."""
        self._tool = tool
        if self._built:
            self.canvas.set_tool(tool)

    def show_look(self, look: Look) -> None:
        """Draw the map with the look of the first map."""
        self._look = look
        if self._built:
            self.canvas.show_look(look)
            self._contour()

    def turn(self, view: View) -> None:
        """Show a map of three dimensions from the same view as the first map."""
        self._view = view
        if self.data is not None and self.data.space is not None and self.data.space.view != view:
            self.data = self.data.turned(view)
            self._colour(fit=False)

    def fit(self) -> None:
        """Bring all points into view."""
        if self._built:
            self.canvas.fit()

    def recolour(self, hidden: frozenset[str], scale: tuple[float, float] | None) -> None:
        """Take the first map's hidden groups, by name, and its scale, so that colours mean the same on both maps."""
        self._hidden, self._scale = hidden, scale
        self._colour(fit=False)

    def show_selection(self) -> None:
        """Dim all points but those that are selected."""
        if self.data is not None:
            among = (self.data.rows or SampleRows(self.data.ids)).among(self.session.selection)
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
        self.epochs.clear()
        self._read_epochs()

    def _refill(self) -> None:
        """Add new evaluations to the list; the shown one stays chosen."""
        if self.isVisible():
            self._read_epochs()

    def _read_epochs(self) -> None:
        """List the evaluations of the chosen run; the chosen one, or the first or last, is shown."""
        run_id, workspace = self.runs.currentData(), self.session.workspace
        if run_id is None:
            return

        def work(progress: Progress) -> list[Evaluation]:
            return workspace.evaluations(run_id)

        take = partial(self._list_epochs, run_id)
        self._listing.ask("Evaluations of the second map", work, take, quiet=True)

    def _list_epochs(self, run_id: int, evaluations: list[Evaluation]) -> None:
        if run_id != self.runs.currentData():
            return
        kept = self.epochs.currentData()  # also where it was chosen since this was asked
        several = len({evaluation.distance for evaluation in evaluations}) > 1
        self.epochs.clear()
        for evaluation in evaluations:
            name = epoch_name(evaluation.epoch)
            self.epochs.addItem(f"{name}, {evaluation.distance}" if several else name, evaluation.id)
        own = run_id == self.session.run_id
        index = self.epochs.findData(kept) if kept is not None else 0 if own else self.epochs.count() - 1
        self.epochs.setCurrentIndex(max(0, index))
        self._make()

    def _make(self) -> None:
        if not self._built or not self._wanted or self.isHidden():
            return
        evaluation = self.epochs.currentData()
        if evaluation is not None and self._asked != (evaluation, self._wanted):
            self._asked = (evaluation, self._wanted)
            self.maker.make(evaluation, self._wanted)

    def _show_map(self, data: MapData) -> None:
        self.data = data.turned(self._view)
        self.problem.hide()
        self.caption.setText(data.caption)
        self._colour(fit=True)
        self.show_selection()
        self.show_query()

    def _colour(self, *, fit: bool) -> None:
        if self.data is not None:
            groups = self.groups()
            self.canvas.show_data(self.data, groups, self._rows_hidden(groups))
            self._contour()
            if fit:
                self.canvas.fit()

    def _contour(self) -> None:
        data, groups = self.canvas.data, self.canvas.groups
        if not self._look.contours or data is None or groups is None:
            self.contours.make(None)
        else:
            shown = np.ones(len(groups.names), bool)
            shown[list(self.canvas.hidden)] = False
            self.contours.make(data.points[shown[groups.of]])

    def groups(self, tokens: theme.Tokens | None = None) -> Groups:
        """The groups of its points on the first map's scale, in the colours of `tokens`, by default the current theme.

        The map must have been drawn.
        """
        assert self.data is not None
        return self.colours.groups(self.data, tokens, self._scale)

    def _rows_hidden(self, groups: Groups) -> frozenset[int]:
        return frozenset(row for row, name in enumerate(groups.names) if name in self._hidden)

    def _show_problem(self, problem: Problem) -> None:
        self._empty(str(problem))

    def _empty(self, sentence: str) -> None:
        self.data = None
        self.canvas.clear()
        self.contours.make(None)
        self.caption.setText("")
        self.problem.setText(sentence)
        self.problem.setVisible(bool(sentence))

    def _place(self) -> None:
        self.strip.place()
        self.problem.setGeometry(self.canvas.rect().adjusted(16, 16, -16, -16))

    # What the user does

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
        rows = [] if self.data is None or sample is None else np.flatnonzero(self.data.ids == sample).tolist()
        return rows[0] if rows else None
