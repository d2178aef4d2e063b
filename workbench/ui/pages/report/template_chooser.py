"""The list of templates: those of Workbench, and the user's own, which can be saved, renamed and deleted."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QMenu,
    QMessageBox,
    QToolButton,
    QWidget,
)

from workbench.problem import Problem
from workbench.reports.templates import MOST_LETTERS, Template, merged, offered, templates
from workbench.ui.state.background.in_order import InOrder
from workbench.ui.state.session import Session
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.buttons import icon_button
from workbench.ui.widgets.dialogs.text_question import ask_name
from workbench.ui.widgets.fields.captions import caption
from workbench.ui.widgets.fields.elided_box import ElidedBox
from workbench.workspace import Workspace
from workbench.workspace.choices.report_templates import Arrangement, arrangements, change_arrangement

FIRST = "one-run"


class TemplateChooser(QWidget):
    """Knows every template as it is arranged; keeps them with the workspace, on threads: a run may be writing.

    Args:
        arranged: the chosen template as the page shows it now; None before the first is shown.
    """

    shown = Signal()  # another template is to be shown

    def __init__(self, session: Session, arranged: Callable[[], Template | None]) -> None:
        super().__init__()
        self._session, self._arranged = session, arranged
        self._writes = InOrder(session, "Report template")
        self._templates = templates()
        self.box = ElidedBox()
        self.box.setAccessibleName("Template of the report")
        self.more = icon_button("dots-three", "Save, rename or delete a template")
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self.more)
        self.save_action = menu.addAction("Save as…")
        self.rename_action = menu.addAction("Rename…")
        self.delete_action = menu.addAction("Delete…")
        self.more.setMenu(menu)
        head = QHBoxLayout()
        head.addWidget(caption("Template", self.box, "section"), 1)
        head.addWidget(self.more)
        in_column(head, self.box, on=self, spacing=4)
        self.box.activated.connect(self._chosen)
        self.save_action.triggered.connect(self._ask_save)
        self.rename_action.triggered.connect(self._ask_rename)
        self.delete_action.triggered.connect(self._ask_delete)
        session.choices_changed.connect(self._follow)
        self._fill(FIRST)

    def _follow(self, changed: set[str]) -> None:
        """Offer the templates as another window has stored them, read after what was stored here."""
        workspace = self._session.workspace
        if "report_templates" in changed and self._arranged() is not None:
            self._writes.read(lambda: (workspace, offered(arrangements(workspace))), self._take_news)

    def _take_news(self, read: tuple[Workspace, dict[str, Template]]) -> None:
        """Show them; of what is being edited here and was changed elsewhere both are kept."""
        workspace, stored = read
        now, before = self._arranged(), self.current()
        if workspace is not self._session.workspace or stored == self._templates or now is None:
            return
        edited = now.key == before.key and now != before
        self._templates, key = stored, before.key
        if edited:
            theirs = stored.get(key, before)
            self._put(theirs, merged(before, now, theirs))
        elif key not in stored:
            self._session.notify(f"The template “{before.title}” was deleted by another window.")
            key = before.base
        elif stored[key].title != before.title:
            self._session.notify(f"The template “{before.title}” was renamed “{stored[key].title}” by another window.")
        self._fill(key)
        if self.current() != now:
            self.shown.emit()

    def current(self) -> Template:
        """The chosen one, as it was kept."""
        return self._templates[self.box.currentData()]

    def take(self, stored: dict[str, Template], key: str) -> None:
        """Offer these templates, and choose one by key; the first where it is not there."""
        self._templates = stored
        self._fill(key)

    def choose(self, key: str) -> None:
        """Show another template, with what was changed on the one before kept."""
        self.keep()
        self._fill(key)
        self.shown.emit()

    def keep(self) -> None:
        """Keep the chosen template as the page shows it now."""
        now = self._arranged()
        if now is not None and now.key in self._templates and now != self._templates[now.key]:
            before, self._templates[now.key] = self._templates[now.key], now
            self._store(before, now)

    def reset(self) -> None:
        """Restore sections, order and text of the shipped template."""
        template = self.current()
        shipped = templates()[template.base or template.key]
        if template.base:
            self._put(template, template.arranged(shipped.arrangement()))
        else:
            self._templates[template.key] = shipped
            self._store(template, None)
        self.shown.emit()

    def ask_reset(self) -> None:
        """Reset the template, after a question if the user's own text would be lost."""
        template = self.current()
        if template.text.strip() in ("", templates()[template.base or template.key].text.strip()):
            self.reset()
            return
        box = QMessageBox(QMessageBox.Icon.NoIcon, "Reset the template", f"Reset “{template.title}”?", parent=self)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setInformativeText("Its notes, order and ticks are deleted. This cannot be undone.")
        sure = box.addButton("Reset", QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(box.addButton("Keep it", QMessageBox.ButtonRole.RejectRole))
        sure.clicked.connect(self.reset)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._session.workspace_changed.connect(box.reject)  # it has other templates
        box.open()

    def save_as(self, title: str) -> None:
        """Keep what the page shows as a new template. Raises Problem when the name is taken or empty."""
        now = self._arranged() or self.current()
        self._put(None, now.copied(title, self._templates.values()))
        self.shown.emit()

    def rename(self, title: str) -> None:
        """Give the chosen one, a user's own, another name. Raises Problem when the name is taken or empty."""
        now = self._arranged() or self.current()
        self._put(self.current(), now.renamed(title, self._templates.values()))
        self.shown.emit()

    def delete(self, key: str) -> None:
        """Delete the user's own template; the one that it was made from is shown instead."""
        gone = self._templates.pop(key, None)  # None: another window was first
        if gone is not None:
            self._store(gone, None)
            self._fill(gone.base)
            self.shown.emit()

    def _put(self, before: Template | None, template: Template) -> None:
        self._templates[template.key] = template
        self._store(before, template)
        self._fill(template.key)

    def _fill(self, key: str) -> None:
        """List the shipped templates, then a user's own by name."""
        own = [template for template in self._templates.values() if template.base]
        shipped = [template for template in self._templates.values() if not template.base]
        self.box.clear()
        for template in (*shipped, *sorted(own, key=lambda entry: entry.title.casefold())):
            self.box.addItem(template.title, template.key)
            self.box.setItemData(self.box.count() - 1, template.help, Qt.ItemDataRole.ToolTipRole)
        if own:
            self.box.insertSeparator(len(shipped))
        self.box.setCurrentIndex(max(0, self.box.findData(key)))
        self._check()

    def _check(self) -> None:
        """Enable Rename and Delete for a user's own template."""
        writable = not self._session.workspace.read_only
        self.save_action.setEnabled(writable)
        for action in (self.rename_action, self.delete_action):
            action.setEnabled(writable and bool(self.current().base))

    def _chosen(self) -> None:
        self.keep()
        self._check()
        self.shown.emit()

    def _store(self, before: Template | None, after: Template | None) -> None:
        """Store `after` in place of `before`, with what another window has stored meanwhile; None is no template."""
        workspace, key = self._session.workspace, (after or before or self.current()).key
        if not workspace.read_only:
            change = partial(change_arrangement, workspace, key, partial(_merged, before, after))
            self._writes.write(change, partial(self._stored, before, after))

    def _stored(self, before: Template | None, after: Template | None, had: Arrangement | None) -> None:
        """Say that the name of another window was replaced by the one that was given here."""
        if before is not None and after is not None and after.title != before.title and had is not None:
            theirs = had.get("title", before.title)
            if theirs not in (before.title, after.title):
                self._session.notify(
                    f"The template was renamed “{theirs}” meanwhile by another window. Now it is “{after.title}”."
                )

    # Asking

    def _ask_save(self) -> None:
        self._ask("Save the template as", self.current().title if self.current().base else "", "Save", self.save_as)

    def _ask_rename(self) -> None:
        self._ask("Rename the template", self.current().title, "Rename", self.rename)

    def _ask(self, title: str, text: str, verb: str, then: Callable[[str], None]) -> None:
        workspace = self._session.workspace
        words = f"Name, at most {MOST_LETTERS} characters"
        name = ask_name(self, title, words, MOST_LETTERS, text=text, verb=verb)
        if name is not None and self._session.workspace is workspace:  # else it has other templates
            try:
                then(name)
            except Problem as problem:
                self._session.notify(problem)
            else:
                self._session.settled.emit(self._session.here())  # what was wrong with another name

    def _ask_delete(self) -> None:
        template = self.current()
        box = QMessageBox(QMessageBox.Icon.NoIcon, "Delete the template", f"Delete “{template.title}”?", parent=self)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setInformativeText("Its order, ticks and text are deleted. Reports that were written stay.")
        sure = box.addButton("Delete", QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(box.addButton("Keep it", QMessageBox.ButtonRole.RejectRole))
        sure.clicked.connect(partial(self._delete_now, template.key))
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._session.workspace_changed.connect(box.reject)  # it has other templates
        box.open()

    def _delete_now(self, key: str, *_: object) -> None:
        self.delete(key)


def _merged(before: Template | None, after: Template | None, stored: Arrangement | None) -> Arrangement | None:
    """What is stored in place of `stored` where one window makes `after` of `before`."""
    if before is None or after is None:
        return None if after is None else after.arrangement()
    theirs = offered({} if stored is None else {after.key: stored}).get(after.key, before)
    return merged(before, after, theirs).arrangement()
