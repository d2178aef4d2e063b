"""Undo and redo on the map: of every change of the selection, wherever it was made, and of hidden groups."""

from PySide6.QtCore import QObject
from PySide6.QtGui import QUndoCommand, QUndoStack

from workbench.ui.pages.map.model.map_model import MapModel
from workbench.ui.pages.map.model.steps import Hiding, Selecting, Step
from workbench.ui.state.session import Session
from workbench.ui.state.undo import Timed
from workbench.workspace import Workspace

MOST = 200  # steps that are kept
MERGEABLE = 2  # a number by which Qt asks whether two steps are one


class Command(Timed):
    """A step of the model as Qt's undo stack takes it."""

    def __init__(self, history: "MapHistory", step: Step) -> None:
        super().__init__(step.words)
        self.step = step
        self._history = history
        self._done = False

    def id(self) -> int:
        """MERGEABLE for a step that hides groups, else -1: Qt merges only steps of the same number."""
        return MERGEABLE if isinstance(self.step, Hiding) else -1

    def mergeWith(self, other: QUndoCommand) -> bool:
        if not isinstance(other, Command) or not isinstance(self.step, Hiding) or not isinstance(other.step, Hiding):
            return False
        merged = self.step.merged(other.step)
        if merged is not None:
            self.step, self.made = merged, other.made
            self.setText(merged.words)
            self.setObsolete(merged.before == merged.after)
        return merged is not None

    def undo(self) -> None:
        """Restore the state before the step."""
        self._history.put(self.step, undone=True)

    def redo(self) -> None:
        """Restore the state after the step; the first call, from `push`, changes nothing."""
        if self._done:  # a step is pushed after it was done
            self._history.put(self.step, undone=False)
        self._done = True


class MapHistory(QObject):
    """Keeps the steps of the model, until another data set is shown: they hold sample ids and class names."""

    def __init__(self, session: Session, model: MapModel, parent: QObject) -> None:
        super().__init__(parent)
        self._session, self._model = session, model
        self.stack = QUndoStack(self)
        self.stack.setUndoLimit(MOST)
        self._run, self._data = session.run_id, self._dataset()
        self._replaying = False
        model.select(session.selection, step=False)
        model.on_step = self._keep
        session.selection_changed.connect(self._selected)
        session.run_changed.connect(self._run_changed)

    def put(self, step: Step, *, undone: bool) -> None:
        """Restore the state before or after a step."""
        if isinstance(step, Selecting):
            self._replaying = True
            try:
                self._session.select(step.before if undone else step.after)
            finally:
                self._replaying = False
            return
        if step.colouring != self._model.colouring:
            self._model.colour_by(step.colouring)
        self._model.hide(step.before if undone else step.after)

    def _keep(self, step: Step) -> None:
        self.stack.push(Command(self, step))

    def _selected(self) -> None:
        own, self._run = self._run == self._session.run_id, self._session.run_id
        # A run that is shown again clears the selection: that is no step.
        self._model.select(self._session.selection, step=own and not self._replaying)

    def _run_changed(self) -> None:
        if not len(self._session.selection):  # else it is cleared next
            self._run = self._session.run_id
        if self._dataset() != self._data:
            self._data = self._dataset()
            self.stack.clear()

    def _dataset(self) -> tuple[Workspace, int | None]:
        run = self._session.run()
        return self._session.workspace, None if run is None else run.dataset_id
