"""The Map page: the test embeddings in two dimensions, by PCA at once and by UMAP when it is ready."""

from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, Qt, QTimer
from PySide6.QtGui import QHideEvent, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QHBoxLayout,
    QMenu,
    QProgressBar,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from workbench.problem import Problem
from workbench.ui.analysis import Request
from workbench.ui.pages.map import export, map_data
from workbench.ui.pages.map.canvas import MapCanvas
from workbench.ui.pages.map.hover_card import HoverCard
from workbench.ui.pages.map.legend import Legend
from workbench.ui.pages.map.map_data import COLOURINGS, MapData
from workbench.ui.pages.map.settings import MapSettings
from workbench.ui.session import Session
from workbench.ui.widgets.buttons import button, icon_button
from workbench.ui.widgets.card import EmptyHint
from workbench.ui.widgets.labels import ElidedLabel, label
from workbench.ui.widgets.pictures import PictureLoader

SETTLE = 1000  # ms that an evaluation stands before a UMAP of it is asked for
LEGEND = 200  # px
TOOLS = (
    ("pan", "hand", "Pan (G)", "G"),
    ("lasso", "scribble-loop", "Lasso (S): Shift adds, Ctrl removes", "S"),
    ("rectangle", "selection", "Rectangle (R)", "R"),
)


class MapPage(QStackedWidget):
    """Maps the shown evaluation; the selection is the session's."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.loader = PictureLoader(session)
        self._data: MapData | None = None
        self._mapped: int | None = None  # evaluation on screen
        self._request: Request | None = None
        self._settle = QTimer(self, interval=SETTLE, singleShot=True)
        self._build()
        self._connect()
        self._show_evaluation()

    def _build(self) -> None:
        self.hint = EmptyHint(
            "Nothing has been evaluated yet",
            "The map of the test embeddings stands here after the first evaluation. Train a run, or choose one.",
            "Go to Train",
        )
        self.canvas = MapCanvas()
        self.canvas.setAccessibleName("Map of the test embeddings; its numbers are in the exported CSV")
        self.hover_card = HoverCard(self.loader, self.canvas)
        self.legend = Legend()
        self.legend.setFixedWidth(LEGEND)
        self.settings = MapSettings()
        self.colouring = QComboBox()
        for key, word in COLOURINGS.items():
            self.colouring.addItem(word, key)
        self.epochs = QComboBox()
        self.epochs.setAccessibleName("Evaluation")
        self.caption = ElidedLabel("", "caption")
        self.export = button("Export", "export", "quiet")
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setFixedWidth(120)
        self.doing = label("", "caption")
        self.cancel = button("Cancel", kind="quiet")
        top = QHBoxLayout()
        add_all(top, label("Colour by", "caption"), self.colouring, self.settings)
        top.addStretch(1)
        add_all(top, self.doing, self.bar, self.cancel, self.export)
        middle = QHBoxLayout()
        middle.setSpacing(12)
        middle.addWidget(self._tools())
        middle.addWidget(self.canvas, 1)
        middle.addWidget(self.legend)
        foot = QHBoxLayout()
        earlier, later = (
            icon_button("caret-left", "Earlier evaluation ([)"),
            icon_button("caret-right", "Later one (])"),
        )
        earlier.clicked.connect(self._earlier)
        later.clicked.connect(self._later)
        add_all(foot, label("Evaluation", "caption"), earlier, self.epochs, later)
        foot.addWidget(self.caption, 1)
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(16, 12, 16, 12)
        column.setSpacing(8)
        column.addLayout(top)
        column.addLayout(middle, 1)
        column.addLayout(foot)
        self.addWidget(self.hint)
        self.addWidget(content)
        self._show_progress("")

    def _tools(self) -> QWidget:
        pill = QWidget()
        column = QVBoxLayout(pill)
        column.setContentsMargins(0, 0, 0, 0)
        self.tools: dict[str, Any] = {}
        for name, icon_name, words, keys in TOOLS:
            tool = icon_button(icon_name, words, "text")
            tool.setCheckable(True)
            tool.setAutoExclusive(True)
            tool.setProperty("tool", name)
            tool.clicked.connect(self._choose_tool)
            column.addWidget(tool)
            self.tools[name] = tool
            self._key(keys, tool.click)
        fit = icon_button("corners-out", "Fit all points (F)", "text")
        fit.clicked.connect(self.canvas.fit)
        clear = icon_button("x-circle", "Clear the selection (Esc)", "text")
        clear.clicked.connect(self._clear)
        column.addWidget(fit)
        column.addWidget(clear)
        column.addStretch(1)
        self.tools["pan"].setChecked(True)
        self.canvas.set_tool("pan")
        for keys, slot in (("F", self.canvas.fit), ("Esc", self._clear), ("[", self._earlier), ("]", self._later)):
            self._key(keys, slot)
        return pill

    def _key(self, keys: str, slot: Any) -> None:
        made = QShortcut(QKeySequence(keys), self)
        made.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        made.activated.connect(slot)

    def _connect(self) -> None:
        session = self.session
        self._settle.timeout.connect(self._ask)
        self.hint.pressed.connect(self._go_to_train)
        self.canvas.selected.connect(self._select)
        self.canvas.opened.connect(self._open)
        self.canvas.hovered.connect(self._hover)
        self.legend.hidden_changed.connect(self.canvas.cloud.set_hidden)
        self.colouring.activated.connect(self._recolour)
        self.settings.changed.connect(self._method_changed)
        self.epochs.activated.connect(self._choose_epoch)
        self.cancel.clicked.connect(self._cancel)
        self.export.clicked.connect(self._offer_export)
        session.evaluation_changed.connect(self._show_evaluation)
        session.evaluations_changed.connect(self._list_epochs)
        session.selection_changed.connect(self._show_selection)
        session.theme.changed.connect(self._restyle)

    # What is shown

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show_evaluation()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._settle.stop()

    def _show_evaluation(self) -> None:
        self._list_epochs()
        evaluation_id = self.session.evaluation_id
        self.setCurrentIndex(0 if evaluation_id is None else 1)
        if evaluation_id is None or not self.isVisible() or evaluation_id == self._mapped:
            return
        self._method_changed()

    def _method_changed(self) -> None:
        """Show a stored map of the chosen method, or PCA now and the other when it is ready."""
        evaluation_id = self.session.evaluation_id
        if evaluation_id is None:
            return
        self._mapped = evaluation_id
        workspace, wanted = self.session.workspace, self.settings.wanted()
        found = next((each.id for each in workspace.projections(evaluation_id) if self.settings.fits(each)), None)

        def work(progress: Any) -> tuple[int, MapData]:
            made = map_data.by_pca if found is None else map_data.stored
            arguments = (workspace, evaluation_id) if found is None else (workspace, evaluation_id, found)
            return evaluation_id, made(*arguments)

        self.session.run_in_thread("Map", work, self._show_map, quiet=True)
        if found is None and wanted["method"] != "pca":
            self._settle.start()

    def _show_map(self, made: tuple[int, MapData]) -> None:
        evaluation_id, data = made
        if evaluation_id != self.session.evaluation_id:
            return
        fit = self._data is None or self._data.method != data.method or len(self._data.ids) != len(data.ids)
        self._data = data
        self._recolour(fit=fit or data.method == "umap")
        self.caption.setText(data.caption)

    def _recolour(self, _: int = 0, *, fit: bool = False) -> None:
        if self._data is None:
            return
        groups = map_data.grouped(self._data, self.colouring.currentData())
        self.legend.show_groups(groups)
        self.canvas.cloud.set_hidden(set())
        self.canvas.show_data(self._data, groups, fit=fit)
        self._show_selection()

    def _restyle(self) -> None:
        self.canvas.restyle()
        self._recolour()

    def _list_epochs(self) -> None:
        run_id = self.session.run_id
        self.epochs.clear()
        for each in [] if run_id is None else self.session.workspace.evaluations(run_id):
            self.epochs.addItem("untrained" if each.epoch == 0 else f"epoch {each.epoch}", each.id)
        self.epochs.setCurrentIndex(self.epochs.findData(self.session.evaluation_id))

    # UMAP in the analysis process

    def _ask(self) -> None:
        """Ask for the map of the shown evaluation; one at a time, and the newest when that one is done."""
        evaluation_id = self.session.evaluation_id
        if evaluation_id is None or self._request is not None or not self.isVisible():
            return
        fields = {"workspace": str(self.session.workspace.path), "evaluation": evaluation_id, **self.settings.wanted()}
        try:
            self._request = self.session.analysis.request(
                "project", fields, self._progress, self._projected, self._not_projected
            )
        except Problem as problem:
            self.session.notify(problem)
            return
        self._show_progress("UMAP: starting")

    def _progress(self, answer: dict[str, Any]) -> None:
        self._show_progress(f"UMAP: {answer['text']}", answer["done"], answer["total"])

    def _projected(self, answer: dict[str, Any]) -> None:
        self._request = None
        self._show_progress("")
        if self.settings.wanted()["method"] != "pca":
            self._method_changed()

    def _not_projected(self, problem: Problem) -> None:
        self._request = None
        self._show_progress("")
        self.session.notify(problem)

    def _cancel(self) -> None:
        if self._request is not None:
            self._request.cancel()
            self._request = None
        self._settle.stop()
        self._show_progress("")

    def _show_progress(self, words: str, done: int = 0, total: int = 0) -> None:
        for widget in (self.doing, self.bar, self.cancel):
            widget.setVisible(bool(words))
        self.doing.setText(words)
        self.bar.setRange(0, total)
        self.bar.setValue(done)

    # What the person does

    def _choose_tool(self) -> None:
        self.canvas.set_tool(str(self.sender().property("tool")))

    def _select(self, rows: np.ndarray, way: str) -> None:
        if self._data is None:
            return
        ids, now = self._data.ids[rows], self.session.selection
        if way == "add":
            ids = np.union1d(now, ids)
        elif way == "remove":
            ids = np.setdiff1d(now, ids)
        self.session.select(ids)
        if len(ids) == 1:
            self.session.show_query(int(ids[0]))

    def _show_selection(self) -> None:
        if self._data is None:
            return
        chosen = self.session.selection
        self.canvas.cloud.set_selected(np.isin(self._data.ids, chosen) if len(chosen) else None)

    def _clear(self) -> None:
        self.session.select(np.empty(0, np.int64))

    def _open(self, row: int) -> None:
        if self._data is not None:
            self.session.show_query(int(self._data.ids[row]))
            self.session.show_page("retrieval")

    def _hover(self, row: int | None, at: QPointF | None) -> None:
        self.hover_card.hover(self._data, row, at)

    def _choose_epoch(self) -> None:
        self.session.show_evaluation(self.epochs.currentData())

    def _earlier(self) -> None:
        self._step(-1)

    def _later(self) -> None:
        self._step(1)

    def _step(self, by: int) -> None:
        place = self.epochs.currentIndex() + by
        if 0 <= place < self.epochs.count():
            self.session.show_evaluation(self.epochs.itemData(place))

    def _go_to_train(self) -> None:
        self.session.show_page("train")

    def _offer_export(self) -> None:
        menu = QMenu(self)
        actions = {menu.addAction(words): ending for ending, words in export.FORMATS.items()}
        chosen = menu.exec(self.export.mapToGlobal(self.export.rect().bottomLeft()))
        if chosen is None:
            return
        ending = actions[chosen]
        name, _ = QFileDialog.getSaveFileName(self, "Export the map", f"map.{ending}")
        if name:
            self.export_to(Path(name))

    def export_to(self, path: Path) -> None:
        """Write the map as .png, .svg or .csv."""
        if self._data is not None:
            try:
                export.write(path, self.canvas, self._data)
            except Problem as problem:
                self.session.notify(problem)


def add_all(row: QHBoxLayout, *widgets: QWidget) -> None:
    """Add widgets to a row, from left to right."""
    for widget in widgets:
        row.addWidget(widget)
