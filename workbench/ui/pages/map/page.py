"""The Map page: the test embeddings in two or three dimensions, by PCA at once and by UMAP or t-SNE when ready."""

from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np
from PySide6.QtCore import QPointF
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from workbench.progress import Progress
from workbench.projection.vectors import metric_of
from workbench.ui.pages.map.layout import MapLayout
from workbench.ui.pages.map.map_drawing import CONTOURS, MapDrawing
from workbench.ui.pages.map.selecting.history import MapHistory
from workbench.ui.pages.map.selecting.selection_store import SelectionStore
from workbench.ui.pages.map.selecting.selections_dialog import SelectionsDialog
from workbench.ui.pages.map.selecting.tagging import SelectionTagging
from workbench.ui.state.pages.in_parts import Parts, begun
from workbench.ui.state.session import Session
from workbench.ui.style import theme
from workbench.workspace import Workspace
from workbench.workspace.rows import Evaluation


class MapPage(MapLayout):
    """Draws a MapModel of the evaluation that is shown; selection and query are the session's."""

    def __init__(self, session: Session, parent: QWidget | None = None, *, in_parts: bool = False) -> None:
        super().__init__(session, parent)
        self._asked: tuple[Workspace, int, int] | None = None  # workspace, run and evaluation whose map is requested
        self.making = begun(self._parts(session), in_parts)

    def _parts(self, session: Session) -> Parts:
        yield from self._lay_out()
        self.history = MapHistory(session, self.model, self)
        self.undo_stack = self.history.stack  # the Edit menu follows it
        self.store = SelectionStore(session, self.undo_stack, self)
        self.tagging = SelectionTagging(session, self.undo_stack, self)
        self.drawing = MapDrawing(self)
        self._connect()
        self._restyle()  # the theme may have changed between two parts
        self._show_evaluation()

    # What listens to what

    def _connect(self) -> None:
        session, commands, model = self.session, self.commands, self.model
        model.listen(self.drawing.draw)
        model.draw_as(replace(model.look, contours=session.preferences.flag(CONTOURS)))
        for action in self.time.keys:
            self.addAction(action)  # for menu and shortcuts dialog
            self.canvas.addAction(action)
        for canvas_turned in (self.canvas.turned, self.second.turned):
            canvas_turned.connect(lambda turn, tilt, rests: model.turn(turn, tilt, resting=rests))
        commands.tool_chosen.connect(self._set_tool)
        commands.fit.triggered.connect(self._fit)
        commands.beside.toggled.connect(self._show_second)
        commands.isolate.triggered.connect(self._isolate)
        commands.clear.triggered.connect(self._clear)
        commands.pictures.toggled.connect(lambda shown: model.draw_as(replace(model.look, pictures=shown)))
        commands.show_named.triggered.connect(self._show_named)
        commands.save_selection.triggered.connect(self._save_selection)
        commands.tag_selection.triggered.connect(self.tagging.ask)
        self.side.tag.clicked.connect(self.tagging.ask)
        commands.earlier.triggered.connect(session.show_earlier)
        commands.later.triggered.connect(session.show_later)
        self.colouring.chosen.connect(model.colour_by)
        self.settings.changed.connect(model.choose_method)
        self.breadcrumb.back_asked.connect(model.back_to)
        self.selections.clicked.connect(self._show_named)
        self.class_table.class_chosen.connect(self.show_class)
        self.legend.toggled.connect(model.toggle)
        self.legend.alone_asked.connect(model.show_alone)
        self.legend.look.changed.connect(model.draw_as)
        self.canvas.selected.connect(lambda rows, way: self._select(model.changed_rows(rows, way)))
        self.canvas.opened.connect(self._open)
        self.canvas.hovered.connect(self._hover)
        self.canvas.resized.connect(self._place_floating)
        self.second.selected.connect(lambda ids, way: self._select(model.changed_ids(ids, way)))
        self.second.opened.connect(self._open_sample)
        self.second.hovered.connect(lambda sample: self.canvas.marks.hover(model.row(sample)))
        self.colours.changed.connect(self.drawing.draw_colours)
        self.colours.refused.connect(lambda: model.colour_by("class"))
        self.strip.cancelled.connect(self.maker.cancel)
        self.maker.made.connect(model.show_map)
        self.maker.working.connect(self.strip.show_progress)
        self.maker.failed.connect(lambda problem: model.clear(str(problem)))
        session.evaluation_changed.connect(self._show_evaluation)
        session.workspace_changed.connect(self._show_evaluation)
        session.query_changed.connect(self._show_query)
        session.theme.changed.connect(self._restyle)

    # Which evaluation is shown

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show_evaluation()
        self.canvas.setFocus()

    def _show_evaluation(self) -> None:
        """Request the map of another evaluation, as soon as the page is visible."""
        session = self.session
        run_id, evaluation_id = session.run_id, session.evaluation_id
        self.setCurrentIndex(0 if evaluation_id is None else 1)
        run = session.run()
        dataset_id = None if run is None else run.dataset_id
        if dataset_id != self.store.dataset_id:
            self.store.show_dataset(dataset_id)
            self.colouring.follow(dataset_id)
            self.model.forget_classes()
        if run_id is None or evaluation_id is None:
            self._asked = None
            self.maker.forget()
            self.model.forget()
            return
        before, now = self._asked, (session.workspace, run_id, evaluation_id)
        if not self.isVisible() or before == now:
            return
        self._asked = now
        if before is not None and before[:2] == now[:2]:
            self.model.show_evaluation(evaluation_id)
        else:
            self._read_evaluation(session.workspace, evaluation_id)

    def _read_evaluation(self, workspace: Workspace, evaluation_id: int) -> None:
        def work(progress: Progress) -> Evaluation:
            return workspace.evaluation(evaluation_id)

        self.session.run_in_thread("Evaluation of the map", work, self._show_run, quiet=True)

    def _show_run(self, evaluation: Evaluation) -> None:
        if self._asked is None or self._asked[1] != evaluation.run_id:
            return
        self.model.show_run(self._asked[2], metric_of(evaluation.distance))
        if self.commands.beside.isChecked():
            self.second.offer()

    def _show_query(self, sample_id: int | None) -> None:
        self.model.show_query(sample_id)  # Qt would call a model without Qt after the page is deleted, too

    def _restyle(self) -> None:
        self.canvas.set_tokens(theme.current())
        self.side.fit_theme()
        self.second.set_tokens()
        self.drawing.draw_colours()

    def _place_floating(self) -> None:
        self.strip.place()
        self.problem.setGeometry(self.canvas.rect().adjusted(16, 16, -16, -16))

    # What the user does

    def show_class(self, label: int) -> None:
        """Select the images of a class and bring all of them into view."""
        if self.model.map is not None:
            rows = self.model.rows_of_class(label)
            self._select(self.model.changed_rows(rows, "replace"))
            self.model.look_at(self.model.map.points[rows])

    def _select(self, ids: np.ndarray) -> None:
        if self.model.map is not None:
            self.session.select(ids)
            if len(ids) == 1:
                self.session.show_query(int(ids[0]))

    def _clear(self) -> None:
        self.canvas.box.drop_outline()
        self.session.select(np.empty(0, np.int64))

    def _open(self, row: int) -> None:
        if self.model.map is not None:
            self._open_sample(int(self.model.map.ids[row]))

    def _open_sample(self, sample: int) -> None:
        self.session.show_query(sample)
        self.session.show_page("retrieval")

    def _hover(self, row: int | None, at: QPointF | None) -> None:
        drawn = self.model.drawn
        self.hover_card.hover(drawn, row, at)
        self.links.hover(drawn, row)
        self.second.ring(None if row is None or drawn is None else int(drawn.ids[row]))

    def _set_tool(self, name: str) -> None:
        self.canvas.set_tool(name)
        self.second.set_tool(name)

    def _fit(self) -> None:
        self.model.fit()
        self.second.fit()

    def _show_second(self, shown: bool) -> None:
        self.second.setVisible(shown)
        if shown:
            self.second.offer()
            self.second.make(self.model.request)
        else:
            self.second.stop()
        self.card_column.activate()  # gives the first map its new width now, so that it can be fitted to it
        self.model.fit()

    def _isolate(self) -> None:
        if not self.model.isolate():
            self.session.notify("Select some points of the map first: isolate maps only these.")

    @cached_property
    def named(self) -> SelectionsDialog:
        """The window of named selections, built at first use."""
        return SelectionsDialog(self.session, self.store, self)

    def _show_named(self) -> None:
        self.named.show()
        self.named.raise_()

    def _save_selection(self) -> None:
        self._show_named()
        self.named.save_selection()

    def export_to(self, path: Path) -> None:
        """Write the map as .png, .svg, .pdf or .csv; an error is shown in the message bar."""
        self.exports.write(path)
