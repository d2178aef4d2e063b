"""One field of a form: its label, symbol, editor, unit, help, reset, and what is wrong with it."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, cast

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QSizePolicy, QToolTip, QWidget

from workbench.settings.field_words import in_words, title_of
from workbench.ui.style.field_words import help_lines, tooltip, wrapped
from workbench.ui.style.formula import rich
from workbench.ui.widgets.boxes import UNLIMITED, in_row
from workbench.ui.widgets.buttons import button, icon_button
from workbench.ui.widgets.fields.editors import Editor, Field, LineEditor, PathEditor, TickEditor, editor_of
from workbench.ui.widgets.labels import ElidedLabel, label, plain_tip, restyle

LABEL = 148  # px of a label that is left of its editor
DOT = 10  # px that the mark of a change has, also where there is none
UNIT = 56  # px at 100% text that a unit has, also an empty one: editors end in one line
HELP_KEY = "Shift+F1"
COLUMNS = 12  # of a form with several fields in a line
GAP, LEAST, HELP = 12, 64, 20  # px between two of them, and that an editor and the help have at least
CLOSE = 2  # px between a title, its symbol and the words beside it, in such a form
# Parts of a field that change nothing of its row but its help; so losses with the same parameter share a row.
IN_HELP = {"description", "source", "default", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}
Fix = tuple[str, Callable[[], None]]  # words of a button, and what it does


class FieldRow(QWidget):
    """One field with its label, symbol, editor, unit, help, reset and error."""

    edited = Signal(str, object)
    reset_asked = Signal(str)

    def __init__(self, name: str, field: Field, recents: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.name, self.field = name, field
        self._fix_action: Callable[[], None] | None = None
        self._in_line = False  # one of several
        self._build(recents)
        self.editor.set_value(field.get("default"))
        self.editor.edited.connect(self._on_edit)

    def suits(self, field: Field) -> bool:
        """Whether it can show this field: the editor and all words but those of the help are the same."""
        differ = {part for part in field.keys() | self.field.keys() if field.get(part) != self.field.get(part)}
        return differ <= IN_HELP

    def take(self, field: Field) -> None:
        """Show another field that it suits, at its default if that is another one."""
        if field == self.field:
            return
        default, self.field = self.field.get("default"), field
        self._show_words()
        if field.get("default") != default:
            self.editor.set_value(field.get("default"))

    def _show_words(self) -> None:
        """What is said of the field at its editor and in its help."""
        self.widget.setAccessibleDescription(" ".join(help_lines(self.field)))
        self.widget.setToolTip(tooltip(self.field))
        self.help.setToolTip(wrapped([*help_lines(self.field), f"{HELP_KEY} in the field shows this, too."]))

    def _build(self, recents: Sequence[str]) -> None:
        title = title_of(self.name, self.field)
        self.dot = label()
        self.dot.setMinimumWidth(DOT)
        self._title = label(title, wrap=True)
        self._symbol = label(self.field.get("symbol", ""), "muted")
        self.aside = ElidedLabel("", "caption")
        self.aside.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.aside.hide()
        self.widget = editor_of(self.field, recents)
        self.widget.setObjectName(self.name)
        self.widget.setAccessibleName(self._spoken_name())
        self.widget.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.editor = cast(Editor, self.widget)
        self._title.setBuddy(self.widget)
        self._unit = label(self.field.get("unit", ""), "muted")
        if not isinstance(self.widget, PathEditor):  # a path takes all the room
            self._unit.setMinimumWidth(UNIT)
        self.help = icon_button("question", f"Help on {title}")
        self.help.setFocusPolicy(Qt.FocusPolicy.ClickFocus)  # by keys it is reached from the field
        self.help.clicked.connect(self._show_help)
        self._show_words()
        self.reset = icon_button("arrow-counter-clockwise", f"Reset {title}", "accent")
        self.reset.clicked.connect(self._on_reset)
        self.error = label("", "error", wrap=True)
        self.fix = button("")
        self.fix.clicked.connect(self._on_fix)
        self._head = _strip(self.dot, self._title, self._symbol, self.aside)
        self._body, self._tail = _strip(self.widget, self._unit), _strip(self.help, self.reset)
        self._whose = label(f"{title}:", "strong")
        self._whose.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._whose.hide()  # except in a line, where others are beside it
        self.trouble = _strip(self._whose, self.error, self.fix)
        formula = self.field.get("formula", "")
        self.formula = label("", "muted", wrap=True)
        self.formula.setTextFormat(Qt.TextFormat.RichText)
        self.formula.setText(rich(formula))
        self.formula.setAccessibleName(f"Formula: {formula}")
        self.formula.setVisible(bool(formula))
        for strip, wide in ((self._head, 1), (self._body, 0), (self.trouble, 1)):
            cast(QHBoxLayout, strip.layout()).setStretch(wide, 1)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(4)
        self._grid.setVerticalSpacing(2)
        kept = self.reset.sizePolicy()
        kept.setRetainSizeWhenHidden(True)  # what is beside it stays where it is
        self.reset.setSizePolicy(kept)
        for quiet in (self.trouble, self.fix, self.reset):
            quiet.setVisible(False)
        self.set_stacked(False)

    def set_stacked(self, stacked: bool) -> None:
        """Put the label above the editor, or left of it; a tick box stays right of its label, except in a line."""
        above = stacked and (self._in_line or not isinstance(self.widget, TickEditor))
        self._head.setMinimumWidth(0 if stacked else LABEL)
        self._head.setMaximumWidth(UNLIMITED if stacked else LABEL)
        cells = (
            (
                (self._head, 0, 0), (self._tail, 0, 1), (self._body, 2, 0, 1, 2),
                (self.formula, 3, 0, 1, 2), (self.trouble, 4, 0, 1, 2),
            )
            if above
            else (
                (self._head, 0, 0), (self._body, 0, 1), (self._tail, 0, 2),
                (self.formula, 1, 1, 1, 2), (self.trouble, 2, 1, 1, 2),
            )
        )  # fmt: skip
        for widget, *cell in cells:
            if widget is not self.trouble or not self._in_line:
                self._grid.addWidget(widget, *cell)
        self._grid.setColumnStretch(0, 1 if stacked else 0)
        self._grid.setColumnStretch(1, 0 if stacked else 1)

    def set_in_line(self, begin: int, end: int) -> None:
        """Be one of several in a line: the label above the editor, no room for what is not shown.

        The form then gives `trouble` a line of its own.

        Args:
            begin: its first column of COLUMNS.
            end: the one after its last.
        """
        self._grid.setContentsMargins(GAP * begin // COLUMNS, 0, GAP - GAP * end // COLUMNS, 0)  # all as wide as others
        if self._in_line:
            return
        self._in_line = True
        self._whose.show()
        self._grid.removeWidget(self.trouble)
        self.set_stacked(True)
        for empty in (self.dot, *(() if self._symbol.text() else (self._symbol,))):
            empty.hide()  # the arrow beside the editor marks a change: a dot would take the room of the title
        cast(QHBoxLayout, self._head.layout()).setSpacing(CLOSE)
        self._unit.setMinimumWidth(0)
        self.help.setFixedWidth(HELP)
        if not self._unit.text() and (body := self._body.layout()) is not None:
            body.addWidget(self.reset)  # beside the editor: above it there is no room beside a long word
        if isinstance(self.widget, LineEditor):
            self.widget.setMinimumWidth(LEAST)
        self._unit.setVisible(bool(self._unit.text()))
        kept = self.reset.sizePolicy()
        kept.setRetainSizeWhenHidden(False)
        self.reset.setSizePolicy(kept)

    def show_aside(self, words: str) -> None:
        """A few words right of the title, such as what was found of the field; empty words hide them."""
        self.aside.setText(words)
        self.aside.setVisible(bool(words))
        head = cast(QHBoxLayout, self._head.layout())
        head.setStretchFactor(self._title, 0 if words else 1)
        head.setStretchFactor(self.aside, 1 if words else 0)

    def set_above(self, widget: QWidget) -> None:
        """Show a widget between title and editor of a field whose label is above."""
        self._grid.addWidget(widget, 1, 0, 1, 2)
        for part in (self._body, self._tail, self.formula):  # Tab goes through the children in their order
            part.raise_()
        widget.show()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if QKeySequence(event.keyCombination()) == QKeySequence(HELP_KEY):
            self._show_help()
        else:
            super().keyPressEvent(event)

    def show_base(self, base: Any) -> None:
        """Mark the field when it differs from the preset."""
        changed = bool(self.editor.value() != base)
        self.dot.setText("●" if changed else "")
        self.dot.setVisible(not self._in_line)
        self.dot.setToolTip(plain_tip(f"Changed from the preset: {in_words(base)}") if changed else "")
        self.reset.setVisible(changed)
        self.reset.setToolTip(wrapped([f"Back to the preset: {in_words(base)}"]))
        self._title.setAccessibleName(self._spoken_name() + (", changed from the preset" if changed else ""))

    def show_error(self, sentence: str, fix: Fix | None = None, role: Literal["error", "warning"] = "error") -> None:
        """Show an error or a warning under the editor; an empty sentence removes it."""
        self._fix_action = fix[1] if fix else None
        self.fix.setText(fix[0] if fix else "")
        self.fix.setVisible(fix is not None)
        if sentence == self.error.text():
            return
        self.error.setText(sentence)
        self.trouble.setVisible(bool(sentence))
        self.error.setProperty("role", role)
        restyle(self.error)
        self.widget.setProperty("state", role if sentence and role == "error" else "")
        restyle(self.widget)

    def _spoken_name(self) -> str:
        unit = self.field.get("unit", "")
        return title_of(self.name, self.field) + (f", {unit}" if unit else "")

    def _on_edit(self) -> None:
        self.edited.emit(self.name, self.editor.value())

    def _on_reset(self) -> None:
        self.reset_asked.emit(self.name)

    def _on_fix(self) -> None:
        if self._fix_action is not None:
            self._fix_action()

    def _show_help(self) -> None:
        QToolTip.showText(self.help.mapToGlobal(QPoint(0, self.help.height())), tooltip(self.field), self.help)


def _strip(*widgets: QWidget) -> QWidget:
    strip = QWidget()
    in_row(*widgets, on=strip, spacing=4)
    return strip
