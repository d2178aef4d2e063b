"""The menu of saved views: choose, save, replace, rename and delete them."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from PySide6.QtWidgets import QToolButton

from workbench.names import visible
from workbench.ui.pages.retrieval.queries.view_fields import Listed
from workbench.ui.state.background.in_order import InOrder
from workbench.ui.state.session import Session
from workbench.ui.style.icons import icon
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.dialogs.question import Question
from workbench.ui.widgets.dialogs.text_question import ask_name
from workbench.ui.widgets.page_menu import PageMenu
from workbench.workspace.choices.saved_views import LONGEST, SavedView, all_views, put

NAME_WORDS = f"Name, at most {LONGEST} characters"


class SavedViewsMenu(QToolButton):
    """A button with a menu of the workspace's views, which are read and written on threads.

    Args:
        listed: returns what the page lists now.
        choose: called with a view, to list its queries.
    """

    def __init__(
        self, session: Session, listed: Callable[[], Listed], choose: Callable[[SavedView], None],
    ) -> None:  # fmt: skip
        super().__init__()
        self._session, self._listed, self._choose = session, listed, choose
        self._in_order = InOrder(session, "Saved views")
        self.views: list[SavedView] = []
        self.chosen = ""  # the name of the view that was chosen or saved last
        self.setIcon(icon("bookmarks-simple", "muted"))
        self.setToolTip("Saved views: filter, order and search text with a name, for every run")
        self.setAccessibleName("Saved views")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._menu = PageMenu(self)
        self.setMenu(self._menu)
        session.workspace_changed.connect(self.read)
        session.choices_changed.connect(self._follow)
        self._fill()

    def read(self) -> None:
        """Read the views of the workspace again."""
        self._in_order.read(partial(all_views, self._session.workspace), self._take)

    def _follow(self, changed: set[str]) -> None:
        """Offer what another window has saved, renamed or deleted."""
        if "saved_views" in changed:
            self._look_for_news()

    def _look_for_news(self) -> None:
        self._in_order.read(partial(all_views, self._session.workspace), self._take_news)

    def _take_news(self, views: list[SavedView]) -> None:
        if views != self.views:  # else an open menu stays as it is
            self._take(views)

    def save_as(self, name: str) -> None:
        """Save what is listed under a new name; if the name is taken, the message bar says so."""
        self._put(None, SavedView(name, self._listed()))

    def rename(self, name: str) -> None:
        """Give the chosen view another name."""
        view = self._current()
        if view is not None:
            self._put(view, replace(view, name=name))

    def replace_listed(self) -> None:
        """Replace the chosen view by what is listed now."""
        view = self._current()
        if view is not None:
            self._put(view, SavedView(view.name, self._listed()))

    def delete(self) -> None:
        """Delete the chosen view."""
        self._put(self._current(), None)

    def choose(self, name: str) -> None:
        """List the queries of a view."""
        view = next(view for view in self.views if view.name == name)
        if view.problem:
            self._session.notify(f"The view “{name}” could not be read: {view.problem}.")
            return
        self.chosen = name
        self._choose(view)
        self._fill()

    def _current(self) -> SavedView | None:
        return next((view for view in self.views if view.name == self.chosen), None)

    def _fill(self) -> None:
        self._menu.clear()
        for view in self.views:
            action = self._menu.addAction(visible(view.name).replace("&", "&&"), partial(self.choose, view.name))
            action.setCheckable(True)
            action.setChecked(view.name == self.chosen)
        self._menu.addSeparator()
        writable, name = not self._session.workspace.read_only, visible(self.chosen).replace("&", "&&")
        self._menu.addAction("Save this view…", self._ask_save).setEnabled(writable)
        if self._current() is not None:
            for words, slot in (
                (f"Replace “{name}” with the current list", self.replace_listed),
                (f"Rename “{name}”…", self._ask_rename),
                (f"Delete “{name}”…", self._ask_delete),
            ):
                self._menu.addAction(words, slot).setEnabled(writable)

    def _put(self, before: SavedView | None, after: SavedView | None) -> None:
        self._in_order.write(partial(put, self._session.workspace, before, after), partial(self._written, after))
        self._look_for_news()  # also where nothing could be written: what was read before is not taken any more

    def _written(self, after: SavedView | None, views: list[SavedView]) -> None:
        self.chosen = "" if after is None else " ".join(after.name.split())
        self._take(views)

    def _take(self, views: list[SavedView]) -> None:
        self.views = views
        self._fill()

    def _ask_save(self) -> None:
        name = ask_name(self, "Save this view", NAME_WORDS, LONGEST)
        if name is not None:
            self.save_as(name)

    def _ask_rename(self) -> None:
        name = ask_name(self, "Rename the view", NAME_WORDS, LONGEST, text=self.chosen, verb="Rename")
        if name is not None:
            self.rename(name)

    def _ask_delete(self) -> None:
        answers = {"keep": button("Keep it"), "delete": button("Delete", kind="danger")}
        words = "Its name, filter, order and search text are deleted. The queries stay as they are."
        question = Question("Delete the view", f"Delete “{self.chosen}”?", words, answers, self)
        question.answered.connect(self._delete_if_sure)
        self._session.workspace_changed.connect(question.reject)  # it has other views
        question.open()

    def _delete_if_sure(self, answer: str) -> None:
        if answer == "delete":
            self.delete()
