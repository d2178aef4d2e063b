"""Gives all images of the selection a tag, as one step that can be undone."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from PySide6.QtCore import QObject
from PySide6.QtGui import QUndoStack
from PySide6.QtWidgets import QWidget

from workbench.problem import Problem
from workbench.ui.state.concern import EVERYWHERE
from workbench.ui.state.session import Session
from workbench.ui.state.undo import Reversible, push
from workbench.ui.style.words import counted
from workbench.ui.widgets.dialogs.text_question import ask_name
from workbench.workspace.choices.sample_tags import LONGEST, Tagged, change_tags, tag_samples

NOTHING = "Nothing is selected. Draw a lasso (S) or a rectangle (R) around the images to tag."
Changed = tuple[Sequence[Tagged], Sequence[Tagged]]  # added and removed


class SelectionTagging(QObject):
    """Asks for the tag; it belongs to the data set, so that all its runs share it."""

    def __init__(self, session: Session, stack: QUndoStack, owner: QWidget) -> None:
        super().__init__(owner)
        self._session, self._stack, self._owner = session, stack, owner

    def ask(self) -> None:
        """Ask for a tag and give it to all selected images."""
        if not len(self._session.selection):
            self._session.notify(NOTHING)
            return
        title = f"Tag {counted(len(self._session.selection), 'image')}"
        words = f"Tag, or attribute such as view=front, at most {LONGEST} characters"
        tag = ask_name(self._owner, title, words, LONGEST, verb="Tag")
        if tag is not None:
            self.put(tag)

    def put(self, tag: str) -> None:
        """Give the selected images that tag."""
        tag = " ".join(tag.split())
        run, workspace, chosen = self._session.run(), self._session.workspace, np.array(self._session.selection)
        if run is None or run.dataset_id is None:
            return
        work = partial(tag_samples, workspace, run.dataset_id, chosen.tolist(), tag)
        self._session.change(work, partial(self._tagged, run.dataset_id, len(chosen), tag))

    def _tagged(self, dataset_id: int, count: int, tag: str, changed: Changed) -> None:
        added, removed = changed
        self._session.notify(f"{counted(count, 'image')} tagged “{tag}”.")
        if added:
            again, back = (
                partial(self._change, dataset_id, added, removed),
                partial(self._change, dataset_id, removed, added),
            )
            tell = partial(self._session.notify, concern=EVERYWHERE)
            push(self._stack, Reversible(f"tag “{tag}”", again, back, tell))

    def _change(
        self, dataset_id: int, added: Sequence[Tagged], removed: Sequence[Tagged], refused: Callable[[Problem], None]
    ) -> None:
        work = partial(change_tags, self._session.workspace, dataset_id, added, removed, only_over_removed=True)
        self._session.change(work, failed=refused)
