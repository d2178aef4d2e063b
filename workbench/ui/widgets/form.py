"""A form from a JSON Schema: the window draws what the catalog describes and imports no engine."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QWidget

from workbench.ui.widgets.boxes import in_row
from workbench.ui.widgets.field_row import COLUMNS, FieldRow, Fix
from workbench.ui.widgets.fields.editors import ChoiceEditor, Field

THREE = 3  # fields in a line of which each has a third


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

    def row(self, name: str) -> FieldRow:
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

    def _new_row(self, name: str, field: Field) -> FieldRow:
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
