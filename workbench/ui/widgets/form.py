"""A form from a JSON Schema: the window draws what the catalog describes and imports no engine."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QSizePolicy, QToolTip, QWidget

from workbench.ui.style.field_words import help_lines, in_words, title_of, tooltip, wrapped
from workbench.ui.style.formula import rich
from workbench.ui.widgets.boxes import in_row
from workbench.ui.widgets.buttons import button, icon_button
from workbench.ui.widgets.fields.editors import (
    ChoiceEditor,
    Editor,
    Field,
    LineEditor,
    PathEditor,
    TickEditor,
    editor_of,
)
from workbench.ui.widgets.labels import ElidedLabel, label, plain_tip, restyle

LABEL = 148  # px of a label that is left of its editor
DOT = 10  # px that the mark of a change has, also where there is none
UNIT = 56  # px at 100% text that a unit has, also an empty one: editors end in one line
UNLIMITED = 16_777_215  # px: Qt's word for no greatest width
HELP_KEY = "Shift+F1"
COLUMNS = 12  # of a form with several fields in a line
THREE = 3  # fields in a line of which each has a third
GAP, LEAST, HELP = 12, 64, 20  # px between two of them, and that an editor and the help have at least
CLOSE = 2  # px between a title, its symbol and the words beside it, in such a form
# Parts of a field that change nothing of its row but its help; so losses with the same parameter share a row.
IN_HELP = {"description", "source", "default", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}
Fix = tuple[str, Callable[[], None]]  # words of a button, and what it does


@dataclass(frozen=True, slots=True)
class Cell:
    """Where a field stands in a form with several fields in a line.

    Args:
        spans: its columns of COLUMNS where there is much room, less, little, and least.
        begins: whether it begins a line.
    """

    spans: tuple[int, int, int, int]
    begins: bool = False


class ParamsForm(QWidget):
    """One row per field: editor, unit, help, what changed from the base, and what is wrong with it.

    Args:
        fields: descriptions by name, as in the catalog; a name may be dotted ("loss.margin").
        recents: places offered for folders and files.
        cell_of: where a field of that name stands; None puts one field into each line.
    """

    changed = Signal(str, object)  # name, new value; only for the user's own edits
    reset_asked = Signal(str)

    def __init__(
        self, fields: Mapping[str, Field] | None = None, recents: Sequence[str] = (), parent: QWidget | None = None,
        cell_of: Callable[[str, Field], Cell] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self._recents, self._cell_of = list(recents), cell_of
        self._rows: dict[str, FieldRow] = {}
        self._labels_above, self._room = False, 0
        self._placed: object = None  # the rows, and what decided their places, when they were placed last
        self._asides: dict[str, str] = {}
        self._above: dict[str, QWidget] = {}
        self._below: dict[str, QWidget] = {}
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(4)
        if cell_of is not None:
            self._grid.setHorizontalSpacing(0)  # Qt would leave it out between columns in which no field ends
            self._grid.setVerticalSpacing(8)
            for column in range(COLUMNS):
                self._grid.setColumnStretch(column, 1)
        self.set_fields(fields or {})

    def set_fields(self, fields: Mapping[str, Field]) -> bool:
        """Show these fields, at their defaults where new; rows that stay keep their editor, value and focus.

        Returns whether rows are new: Qt puts them at the end of the window's focus chain.
        """
        kept = {name: row for name, row in self._rows.items() if name in fields and row.suits(fields[name])}
        for name, row in kept.items():
            row.take(fields[name])
        focused = self.window().focusWidget()
        in_use = next((name for name, row in self._rows.items() if focused and row.isAncestorOf(focused)), "")
        before = self._rows[in_use].widget if in_use else None
        for name, row in self._rows.items():
            if name not in kept:
                if name in self._above:
                    self._above[name].setParent(self)  # outlives its row
                for gone in (row,) if row.isAncestorOf(row.trouble) else (row, row.trouble):
                    gone.hide()  # else Qt shows a row of this turn as a window of its own
                    gone.setParent(None)
                    gone.deleteLater()
        self._rows = {name: kept.get(name) or self._new_row(name, field) for name, field in fields.items()}
        self._place()
        if in_use in self._rows and in_use not in kept:  # its field has changed with what was chosen in it
            now = self._rows[in_use].widget
            now.setFocus()
            if isinstance(before, ChoiceEditor) and isinstance(now, ChoiceEditor):
                now.typed = before.typed
        new = len(kept) < len(self._rows)
        if new:
            for row in self._rows.values():  # children in the order of the form, for the keys and for screen readers
                row.raise_()
                if row.name in self._below:
                    self._below[row.name].raise_()
                row.trouble.raise_()
        return new

    def set_labels_above(self, above: bool) -> None:
        """Labels above their editors, for a narrow form, or left of them."""
        if above != self._labels_above:
            self._labels_above = above
            self._place()

    def set_room(self, room: int) -> None:
        """Which of a cell's spans are taken: 0 for much room, 1 for less, 2 for little, 3 for least."""
        if room != self._room:
            self._room = room
            self._place()

    def show_asides(self, words: Mapping[str, str]) -> None:
        """A few words beside the title of each named field, and none beside the others."""
        self._asides = dict(words)
        for name, row in self._rows.items():
            row.show_aside(self._asides.get(name, ""))

    def put_above(self, name: str, widget: QWidget) -> None:
        """Show a widget between title and editor of a field that has a line to itself, whenever the field is shown."""
        self._above[name] = widget
        widget.setParent(self)
        if name in self._rows:
            self._rows[name].set_above(widget)

    def put_below(self, name: str, widget: QWidget) -> None:
        """Show a widget below the editor of a field, whenever the field is shown; only where fields share a line."""
        holder = self._below[name] = QWidget(self)
        in_row(widget, on=holder)
        self._place()

    def row(self, name: str) -> "FieldRow":
        """The row of a parameter. Raises KeyError for a name that is not in the form."""
        return self._rows[name]

    def names(self) -> list[str]:
        """The names of the parameters, in the order of the rows."""
        return list(self._rows)

    def values(self) -> dict[str, Any]:
        """The values in the editors; text that is not a number stays text."""
        return {name: row.editor.value() for name, row in self._rows.items()}

    def set_values(self, values: Mapping[str, Any]) -> None:
        """Show these values; names that are not in the form are ignored."""
        for name in self._rows.keys() & values.keys():
            self._rows[name].editor.set_value(values[name])

    def mark_changed(self, base: Mapping[str, Any]) -> None:
        """Dot and reset arrow on every field whose value is not the one in `base`."""
        for name, row in self._rows.items():
            row.show_base(base.get(name, row.field.get("default")))

    def show_errors(
        self,
        errors: Mapping[str, str],
        fixes: Mapping[str, Fix] | None = None,
        warnings: Mapping[str, str] | None = None,
    ) -> None:
        """One sentence under each bad field, or a warning, with a button when one click repairs it."""
        for name, row in self._rows.items():
            warning = "" if name in errors else (warnings or {}).get(name, "")
            row.show_error(errors.get(name, warning), (fixes or {}).get(name), "warning" if warning else "error")

    def _new_row(self, name: str, field: Field) -> "FieldRow":
        row = FieldRow(name, field, self._recents, self)
        row.edited.connect(self.changed)
        row.reset_asked.connect(self.reset_asked)
        row.show_aside(self._asides.get(name, ""))
        if name in self._above:
            row.set_above(self._above[name])
        return row

    def _place(self) -> None:
        """Lay the rows out, unless they stand so already: each edit comes here, and to place them takes longest."""
        lines = self._lines(self._cell_of) if self._cell_of is not None else []
        before, self._placed = self._placed, (self._labels_above, [*self._rows.values()], list(self._below), lines)
        if before == self._placed:
            return
        if self._cell_of is not None:
            self._place_in_lines(lines)
            return
        for index, row in enumerate(self._rows.values()):
            row.set_stacked(self._labels_above)
            self._grid.addWidget(row, index, 0, Qt.AlignmentFlag.AlignTop)
            row.setVisible(True)

    def _place_in_lines(self, lines: Sequence[Mapping[str, int]]) -> None:
        """Several fields in a line, their editors in one height; then what belongs below them, and what is wrong."""
        line = 0  # of the grid
        for name, holder in self._below.items():
            holder.setVisible(name in self._rows)
        for spans in lines:
            column = 0
            for place, (name, span) in enumerate(spans.items()):
                row = self._rows[name]
                row.set_in_line(column, column + span)
                self._grid.addWidget(row, line, column, 1, span, Qt.AlignmentFlag.AlignBottom)
                if name in self._below:
                    self._below[name].setContentsMargins(cast(QGridLayout, row.layout()).contentsMargins())
                    self._grid.addWidget(self._below[name], line + 1, column, 1, span, Qt.AlignmentFlag.AlignTop)
                self._grid.addWidget(row.trouble, line + 2 + place, 0, 1, COLUMNS)
                column += span
                row.setVisible(True)
            line += 2 + len(spans)

    def _lines(self, cell_of: Callable[[str, Field], Cell]) -> list[dict[str, int]]:
        """The fields of each line with their spans. Three that are not the rest of a longer group fill their line."""
        lines: list[dict[str, int]] = []
        for name, row in self._rows.items():
            cell = cell_of(name, row.field)
            span = cell.spans[self._room]
            if not lines or cell.begins or sum(lines[-1].values()) + span > COLUMNS:
                lines.append({})
            lines[-1][name] = span
        alike = [set(line.values()) for line in lines]
        for place, line in enumerate(lines):
            if len(line) == THREE and len(alike[place]) == 1 and (not place or alike[place - 1] != alike[place]):
                lines[place] = dict.fromkeys(line, COLUMNS // THREE)
        return lines


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
