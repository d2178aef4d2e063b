"""The Map page: the test embeddings in two dimensions, by PCA at once and by UMAP when it is ready."""

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QStackedWidget, QVBoxLayout, QWidget

from workbench.problem import Problem
from workbench.ui import theme
from workbench.ui.pages.map.actions import MapActions
from workbench.ui.pages.map.class_table import ClassTableOpener
from workbench.ui.pages.map.colours.legend import Legend
from workbench.ui.pages.map.colours.point_colours import PointColours
from workbench.ui.pages.map.doubts import DoubtsButton, zoom_to
from workbench.ui.pages.map.drawing.canvas import MapCanvas
from workbench.ui.pages.map.drawing.true_links import TrueLinks
from workbench.ui.pages.map.epochs.playback import Playback
from workbench.ui.pages.map.epochs.time_bar import TimeBar
from workbench.ui.pages.map.export_menu import MapExport
from workbench.ui.pages.map.hover_card import HoverCard
from workbench.ui.pages.map.map_data import MapData
from workbench.ui.pages.map.map_maker import MapMaker
from workbench.ui.pages.map.second_map import SecondMap
from workbench.ui.pages.map.selecting.breadcrumb import Breadcrumb
from workbench.ui.pages.map.selecting.history import MapHistory, Names
from workbench.ui.pages.map.selecting.sample_rows import SampleRows
from workbench.ui.pages.map.selecting.selection_store import SelectionStore
from workbench.ui.pages.map.selecting.selections_dialog import SelectionsDialog
from workbench.ui.pages.map.settings import MapSettings
from workbench.ui.pages.map.tool_pill import GAP, MakingStrip, ToolPill
from workbench.ui.session import Session
from workbench.ui.widgets.buttons import button, icon_button
from workbench.ui.widgets.card import EmptyHint
from workbench.ui.widgets.flow import FlowLayout
from workbench.ui.widgets.labels import ElidedLabel, label
from workbench.ui.widgets.locating import LocateStrip
from workbench.ui.widgets.pictures import shared_loader
from workbench.workspace import Workspace

LEGEND = 200  # px


class MapPage(QStackedWidget):
    """Maps the shown evaluation; selection and query are the session's."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.maker = MapMaker(session, self)
        self.colours = PointColours(session, self)
        self._data: MapData | None = None
        self._rows = SampleRows(np.empty(0, np.int64))
        self._mapped: tuple[Workspace, int, int] | None = None  # workspace, run and evaluation asked for last
        self._build()
        self.history = MapHistory(session, self._hide_named, self)
        self.undo_stack = self.history.stack  # the Edit menu follows it
        self.store = SelectionStore(session, self.undo_stack, self)
        self._connect()
        self._show_evaluation()

    def _build(self) -> None:
        self.hint = EmptyHint(
            "Nothing has been evaluated yet",
            "The map of the test embeddings stands here after the first evaluation. Train a run, or choose one.",
            "Go to Train",
        )
        self.canvas = MapCanvas()
        self.second = SecondMap(self.session, self.colours)
        self.canvas.setAccessibleName("Map of the test embeddings; export it as CSV to read it as a table")
        self.trouble = label("", "muted", wrap=True, parent=self.canvas)
        self.trouble.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.trouble.hide()
        self.commands = MapActions(self)
        self.pill = ToolPill(self.commands.of_pill, self.canvas)
        self.tools = {name: self.pill.buttons[action] for name, action in self.commands.tools.items()}
        self.canvas.left_margin = self.pill.width() + 2 * GAP
        self.strip = MakingStrip(self.canvas)
        self.canvas.show_pictures(shared_loader(self.session))
        self.hover_card = HoverCard(shared_loader(self.session), self.canvas, self.colours)
        self.legend = Legend()
        self.legend.setFixedWidth(self.session.theme.side(LEGEND))
        self.settings = MapSettings()
        self.colouring = self.colours.chooser
        self.breadcrumb = Breadcrumb(self.canvas)
        self.caption = ElidedLabel("", "caption", lines=2)
        self.selections = button("Selections", "bookmarks-simple", "quiet")
        self.selections.setToolTip("Selections with a name, kept across epochs and runs (N)")
        self.export = button("Export", "export", "quiet")
        self.exports = MapExport(self.session, self._shown, (self.canvas, self.second), self)
        self.export.setMenu(QMenu(self.export))
        self.exports.fill(self.export.menu())
        self._colour_by = QWidget()
        inside = row_of(label("Colour by", "caption"), self.colouring)
        inside.setContentsMargins(0, 0, 0, 0)
        self._colour_by.setLayout(inside)
        self.locating = LocateStrip(self.session, shared_loader(self.session))
        top = FlowLayout()  # two lines in a narrow window
        for widget in (self._colour_by, self.settings, self.locating, self.export):
            top.addWidget(widget)
        middle = row_of(self.canvas, self.second, self.legend)
        middle.setStretch(0, 1)
        middle.setStretch(1, 1)
        middle.setSpacing(12)
        earlier = icon_button("caret-left", "Earlier evaluation ([)")
        later = icon_button("caret-right", "Later evaluation (])")
        earlier.clicked.connect(self.session.show_earlier)
        later.clicked.connect(self.session.show_later)
        self.time = TimeBar()
        self.playback = Playback(self.session, self.canvas, self.time, self)
        self.links = TrueLinks(self.session, self.canvas, self)
        self.doubts = DoubtsButton(self.canvas)
        self.class_table = ClassTableOpener(self.session, self)
        foot = row_of(label("Evaluation", "caption"), earlier, later)
        foot.addWidget(self.time, 1)
        last = row_of(self.caption, self.doubts, self.selections, self.class_table.button)
        last.setStretch(0, 1)
        content = QWidget()
        column = self._column = QVBoxLayout(content)
        column.setContentsMargins(16, 12, 16, 12)
        column.setSpacing(8)
        column.addLayout(top)
        column.addLayout(middle, 1)
        column.addLayout(foot)
        column.addLayout(last)
        self.addWidget(self.hint)
        self.addWidget(content)

    def _connect(self) -> None:
        session, commands = self.session, self.commands
        self.hint.pressed.connect(self._go_to_train)
        commands.tool_chosen.connect(self._set_tool)
        commands.fit.triggered.connect(self.canvas.fit)
        for action in self.time.keys:
            self.addAction(action)  # for menu and shortcuts dialog
            self.canvas.addAction(action)
        commands.fit.triggered.connect(self.second.fit)
        commands.beside.toggled.connect(self._show_beside)
        self.second.selected.connect(self._select_ids)
        self.second.opened.connect(self._open_sample)
        self.second.hovered.connect(self._ring)
        commands.isolate.triggered.connect(self._isolate)
        commands.clear.triggered.connect(self._clear)
        commands.pictures.toggled.connect(self.canvas.want_pictures)
        self.breadcrumb.changed.connect(self._make)
        self.selections.clicked.connect(self._show_named)
        commands.show_named.triggered.connect(self._show_named)
        commands.save_selection.triggered.connect(self._save_selection)
        commands.earlier.triggered.connect(self.session.show_earlier)
        commands.later.triggered.connect(self.session.show_later)
        self.canvas.selected.connect(self._select)
        self.canvas.opened.connect(self._open)
        self.canvas.hovered.connect(self._hover)
        self.canvas.resized.connect(self._place_floating)
        self.legend.hidden_changed.connect(self._hide)
        self.legend.proxies_toggled.connect(self._show_proxies)
        self.legend.acted.connect(self._hidden)
        self.colours.changed.connect(self._recolour)
        self.settings.changed.connect(self._make)
        self.strip.cancelled.connect(self.maker.cancel)
        self.maker.made.connect(self._show_map)
        self.playback.moment.connect(self._show_moment)
        self.playback.mapped.connect(self._make)
        self.class_table.class_chosen.connect(self.show_class)
        self.maker.working.connect(self.strip.show_progress)
        self.maker.failed.connect(self._show_trouble)
        session.evaluation_changed.connect(self._show_evaluation)
        session.workspace_changed.connect(self._show_evaluation)
        session.selection_changed.connect(self._show_selection)
        session.query_changed.connect(self._show_query)
        session.theme.changed.connect(self._restyle)

    # What is shown

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._colour_by.setMinimumHeight(self.settings.sizeHint().height())  # one line of one height
        self._show_evaluation()
        self.canvas.setFocus()

    def _show_evaluation(self) -> None:
        """Ask for the map of another evaluation, once the page is looked at."""
        evaluation = self.session.evaluation()
        self.setCurrentIndex(0 if evaluation is None else 1)
        self._show_dataset()
        if evaluation is None:
            self.maker.forget()
            self._mapped = None
            self._empty("")
            return
        now = (self.session.workspace, evaluation.run_id, evaluation.id)
        if self.isVisible() and self._mapped != now:
            if self._mapped is None or self._mapped[:2] != now[:2]:
                self.settings.set_metric(evaluation.distance)
                self.breadcrumb.clear()
                if self.commands.beside.isChecked():
                    self.second.offer()
            self._mapped = now
            self._make()

    def _show_dataset(self) -> None:
        run = self.session.run()
        dataset_id = None if run is None else run.dataset_id
        if dataset_id != self.store.dataset_id:
            self.store.show_dataset(dataset_id)

    def _make(self) -> None:
        if self.session.evaluation_id is not None:
            self.maker.make(self.session.evaluation_id, self._wanted())
            self.second.make(self._wanted())

    def _wanted(self) -> dict[str, Any]:
        """Method, params and seed of the map, and `only` while some points are isolated."""
        only = self.breadcrumb.only
        return self.settings.wanted() | ({} if only is None else {"only": only})

    def _show_map(self, data: MapData) -> None:
        before, self._data = self._data, data
        self._rows = data.rows or SampleRows(data.ids)
        self.trouble.hide()
        self.caption.setText(data.caption)
        self.settings.set_width(data.width)
        same = before is not None and of_size(before) == of_size(data)
        self._colour(fit=not same or (data.method != "pca" and not self.playback.knows(data)))
        self.doubts.show_map(data)
        self.playback.show_map(data, self._wanted())
        self._show_selection()
        self._show_query()

    def _show_moment(self, data: MapData, fresh: bool) -> None:
        """The map between two epochs; `fresh` when its scores are those of another epoch than before."""
        groups = self.canvas.groups
        if groups is None or (fresh and self.colours.key != "class"):
            groups = self.colours.groups(data)
            self.legend.show_groups(groups, data.stars)
        self.caption.setText(data.caption)
        self.canvas.show_data(data, groups, self.legend.hidden, fit=False)

    def show_class(self, label: int) -> None:
        """Select the images of a class and bring all of them into view."""
        if self._data is not None:
            rows = np.flatnonzero(self._data.labels == label)
            self._select(rows, "replace")
            zoom_to(self.canvas, self._data.points[rows])

    def _show_trouble(self, problem: Problem) -> None:
        self._empty(str(problem))

    def _empty(self, sentence: str) -> None:
        self._data = None
        self.playback.forget()
        self.doubts.show_map(None)
        self.canvas.clear()
        self.legend.show_groups(None, 0)
        self.caption.setText("")
        self.trouble.setText(sentence)
        self.trouble.setVisible(bool(sentence))

    def _recolour(self) -> None:
        self._colour(fit=False)

    def _colour(self, *, fit: bool) -> None:
        if self._data is not None:
            groups = self.colours.groups(self._data)
            self.legend.show_groups(groups, self._data.stars)
            self.canvas.show_data(self._data, groups, self.legend.hidden, fit=fit)
            self._colour_beside()

    def _restyle(self) -> None:
        self.canvas.set_tokens(theme.current())
        self.legend.setFixedWidth(self.session.theme.side(LEGEND))
        self.second.set_tokens()
        self._colour(fit=False)

    def _show_proxies(self, shown: bool) -> None:
        self.canvas.marks.proxies_shown = shown
        self.canvas.marks.update()
        self.second.show_proxies(shown)

    def _show_selection(self) -> None:
        chosen = self.session.selection
        self.second.show_selection()
        if self._data is None:
            return
        among = self._rows.among(chosen)
        self.canvas.set_selected(among if among.any() else None)
        self.playback.show_trails()
        if among.sum() == 1:
            self.canvas.bring_into_view(int(np.flatnonzero(among)[0]))

    def _show_query(self) -> None:
        found = [] if self._data is None else np.flatnonzero(self._data.ids == self.session.query).tolist()
        self.canvas.set_query(found[0] if found else None)
        self.second.show_query()

    def _place_floating(self) -> None:
        self.pill.place()
        self.breadcrumb.place(self.canvas.left_margin)
        self.strip.place()
        self.trouble.setGeometry(self.canvas.rect().adjusted(self.canvas.left_margin, 16, -16, -16))

    # What the person does

    def _select(self, rows: np.ndarray, way: str) -> None:
        if self._data is not None:
            self._selected(self._rows.changed(self.session.selection, rows, way))

    def _select_ids(self, ids: np.ndarray, way: str) -> None:
        now = self.session.selection
        if way == "add":
            ids = np.union1d(now, ids)
        elif way == "remove":
            ids = np.setdiff1d(now, ids)
        self._selected(ids)

    def _selected(self, ids: np.ndarray) -> None:
        self.session.select(ids)
        if len(ids) == 1:
            self.session.show_query(int(ids[0]))

    def _clear(self) -> None:
        self.canvas.box.drop_outline()
        self.session.select(np.empty(0, np.int64))

    def _open(self, row: int) -> None:
        if self._data is not None:
            self._open_sample(int(self._data.ids[row]))

    def _open_sample(self, sample: int) -> None:
        self.session.show_query(sample)
        self.session.show_page("retrieval")

    def _hover(self, row: int | None, at: QPointF | None) -> None:
        self.hover_card.hover(self.canvas.data, row, at)
        self.links.hover(self.canvas.data, row)
        self.second.ring(None if row is None or self._data is None else int(self._data.ids[row]))

    def _ring(self, sample: int | None) -> None:
        """The point of a sample that is hovered on the second map."""
        found = [] if self._data is None or sample is None else np.flatnonzero(self._data.ids == sample).tolist()
        self.canvas.marks.hover(found[0] if found else None)

    def _set_tool(self, name: str) -> None:
        self.canvas.set_tool(name)
        self.second.set_tool(name)

    def _show_beside(self, shown: bool) -> None:
        self.second.setVisible(shown)
        if shown:
            self.second.offer()
            self._make()
        else:
            self.second.stop()
        self._column.activate()  # the first map has its new width now, and is fitted to it
        self.canvas.fit()

    def _hide(self, hidden: frozenset[int]) -> None:
        self.canvas.set_hidden(hidden)
        self._colour_beside()

    def _colour_beside(self) -> None:
        scale = None if self.canvas.groups is None else self.canvas.groups.scale
        self.second.recolour(self.legend.hidden_names, None if scale is None else (scale.low, scale.high))

    def _go_to_train(self) -> None:
        self.session.show_page("train")

    def _isolate(self) -> None:
        """Map the selected points alone."""
        chosen = np.empty(0, np.int64) if self._data is None else self._data.ids[self.canvas.cloud.visible_rows()]
        chosen = np.intersect1d(chosen, self.session.selection)
        if len(chosen):
            self.breadcrumb.isolate(chosen)
        else:
            self.session.notify("Select some points of the map first: isolate maps them alone.")

    @cached_property
    def named(self) -> SelectionsDialog:
        """The window of named selections, made when it is first wanted."""
        return SelectionsDialog(self.session, self.store, self)

    def _show_named(self) -> None:
        self.named.show()
        self.named.raise_()

    def _save_selection(self) -> None:
        self._show_named()
        self.named.save_selection()

    def _hidden(self, names: tuple[Names, Names], row: int, alone: bool, words: str) -> None:
        self.history.hidden(self.colours.key, names, row, alone, words)

    def _hide_named(self, colouring: str, names: Names) -> None:
        if colouring != self.colours.key:
            self.colours.choose(colouring)
            self._recolour()
        self.legend.hide_named(names)

    def _shown(self) -> MapData | None:
        return self._data

    def export_to(self, path: Path) -> None:
        """Write the map as .png, .svg, .pdf or .csv; what goes wrong is told in the message bar."""
        self.exports.write(path)


def of_size(data: MapData) -> tuple[str, int, int]:
    """The method of a map, how many points it has, and how many of them have a place."""
    return data.method, len(data.ids), data.placed


def row_of(*widgets: QWidget) -> QHBoxLayout:
    """Widgets side by side."""
    row = QHBoxLayout()
    row.setSpacing(8)
    for widget in widgets:
        row.addWidget(widget)
    return row
