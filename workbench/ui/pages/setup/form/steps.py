"""The edits of the form, as the Edit menu undoes and redoes them."""

from collections.abc import Callable

from PySide6.QtCore import QObject

from workbench.ui.pages.setup.model.draft import Draft
from workbench.ui.state.undo import Offer, Steps

EDIT = "edit"


class FormSteps(Steps):
    """The edits of the draft that the page has now.

    Args:
        draft: returns it; None before the catalog is known.
        refresh: shows the draft once an edit was undone or redone.
    """

    def __init__(self, draft: Callable[[], Draft | None], refresh: Callable[[], None], parent: QObject) -> None:
        super().__init__(parent)
        self._draft, self._refresh = draft, refresh

    def offers(self) -> tuple[Offer | None, Offer | None]:
        """The edits that would be undone and redone next."""
        draft = self._draft()
        if draft is None:
            return None, None
        undo = Offer(EDIT, draft.undo_made) if draft.can_undo else None
        return undo, Offer(EDIT, draft.redo_made) if draft.can_redo else None

    def undo(self) -> None:
        """Undo the last edit of the config."""
        if (draft := self._draft()) is not None:
            draft.undo()
            self._refresh()

    def redo(self) -> None:
        """Redo the edit that was undone last."""
        if (draft := self._draft()) is not None:
            draft.redo()
            self._refresh()
