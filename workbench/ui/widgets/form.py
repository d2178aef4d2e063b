"""A form from a JSON Schema: the window draws what the catalog describes and imports no engine."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, cast

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QSizePolicy, QToolTip, QWidget

from workbench.ui.field_words import help_lines, in_words, title_of, tooltip, wrapped
from workbench.ui.formula import rich
from workbench.ui.widgets.boxes import in_row
from workbench.ui.widgets.buttons import button, icon_button
from workbench.ui.widgets.editors import ChoiceEditor, Editor, Field, PathEditor, TickEditor, editor_of
from workbench.ui.widgets.labels import label, plain_tip, restyle

LABEL = 148  # px of a label that is left of its editor
UNIT = 56  # px at 100% text that a unit has, also an empty one: editors end in one line
UNLIMITED = 16_777_215  # px: Qt's word for no greatest width
HELP_KEY = "Shift+F1"
Fix = tuple[str, Callable[[], None]]  # words of a button, and what it does


class ParamsForm(QWidget):
    """One row per field: editor, unit, help, what changed from the base, and what is wrong with it.

    Args:
        fields: descriptions by name, as in the catalog; a name may be dotted ("loss.margin").
        recents: places offered for folders and files.
    """

    changed = Signal(str, object)  # name, new value; only for the user's own edits
    reset_asked = Signal(str)

    def __init__(
        self, fields: Mapping[str, Field] | None = None, recents: Sequence[str] = (), parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._recents = list(recents)
        self._rows: dict[str, FieldRow] = {}
        self._labels_above = False
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(4)
        self.set_fields(fields or {})

    def set_fields(self, fields: Mapping[str, Field]) -> bool:
        """Show these fields, at their defaults where new; rows that stay keep their editor, value and focus.

        Returns whether rows are new: Qt puts them at the end of the window's focus chain.
        """
        kept = {name: row for name, row in self._rows.items() if fields.get(name) == row.field}
        focused = self.window().focusWidget()
        in_use = next((name for name, row in self._rows.items() if focused and row.isAncestorOf(focused)), "")
        before = self._rows[in_use].widget if in_use else None
        for name, row in self._rows.items():
            if name not in kept:
                row.setParent(None)
                row.deleteLater()
        self._rows = {name: kept.get(name) or self._new_row(name, field) for name, field in fields.items()}
        self._place()
        if in_use in self._rows and in_use not in kept:  # its field has changed with what was chosen in it
            now = self._rows[in_use].widget
            now.setFocus()
            if isinstance(before, ChoiceEditor) and isinstance(now, ChoiceEditor):
                now.typed = before.typed
        new = len(kept) < len(self._rows)
        if new:
            for row in self._rows.values():
                row.raise_()  # children in the order of the form, for the keys and for screen readers
        return new

    def set_labels_above(self, above: bool) -> None:
        """Labels above their editors, for a narrow form, or left of them."""
        if above != self._labels_above:
            self._labels_above = above
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
        return row

    def _place(self) -> None:
        for index, row in enumerate(self._rows.values()):
            row.set_stacked(self._labels_above)
            self._grid.addWidget(row, index, 0, Qt.AlignmentFlag.AlignTop)
            row.setVisible(True)


class FieldRow(QWidget):
    """One field with its label, symbol, editor, unit, help, reset and error."""

    edited = Signal(str, object)
    reset_asked = Signal(str)

    def __init__(self, name: str, field: Field, recents: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.name, self.field = name, field
        self._fix_action: Callable[[], None] | None = None
        self._build(recents)
        self.editor.set_value(field.get("default"))
        self.editor.edited.connect(self._on_edit)

    def _build(self, recents: Sequence[str]) -> None:
        title = title_of(self.name, self.field)
        self.dot = label()
        self.dot.setFixedWidth(10)
        self._title = label(title, wrap=True)
        self._symbol = label(self.field.get("symbol", ""), "muted")
        self.widget = editor_of(self.field, recents)
        self.widget.setObjectName(self.name)
        self.widget.setAccessibleName(self._spoken_name())
        self.widget.setAccessibleDescription(" ".join(help_lines(self.field)))
        self.widget.setToolTip(tooltip(self.field))
        self.widget.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.editor = cast(Editor, self.widget)
        self._title.setBuddy(self.widget)
        self._unit = label(self.field.get("unit", ""), "muted")
        if not isinstance(self.widget, PathEditor):  # a path takes all the room
            self._unit.setMinimumWidth(UNIT)
        self.help = icon_button("question", f"Help on {title}")
        self.help.setToolTip(wrapped([*help_lines(self.field), f"{HELP_KEY} in the field shows this, too."]))
        self.help.setFocusPolicy(Qt.FocusPolicy.ClickFocus)  # by keys it is reached from the field
        self.help.clicked.connect(self._show_help)
        self.reset = icon_button("arrow-counter-clockwise", f"Reset {title}", "accent")
        self.reset.clicked.connect(self._on_reset)
        self.error = label("", "error", wrap=True)
        self.fix = button("")
        self.fix.clicked.connect(self._on_fix)
        self._head, self._body = _strip(self.dot, self._title, self._symbol), _strip(self.widget, self._unit)
        self._tail = _strip(self.help, self.reset)
        self._trouble = _strip(self.error, self.fix)
        formula = self.field.get("formula", "")
        self.formula = label("", "muted", wrap=True)
        self.formula.setTextFormat(Qt.TextFormat.RichText)
        self.formula.setText(rich(formula))
        self.formula.setAccessibleName(f"Formula: {formula}")
        self.formula.setVisible(bool(formula))
        for strip, wide in ((self._head, 1), (self._body, 0), (self._trouble, 0)):
            cast(QHBoxLayout, strip.layout()).setStretch(wide, 1)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(4)
        self._grid.setVerticalSpacing(2)
        kept = self.reset.sizePolicy()
        kept.setRetainSizeWhenHidden(True)  # what is beside it stays where it is
        self.reset.setSizePolicy(kept)
        for quiet in (self._trouble, self.fix, self.reset):
            quiet.setVisible(False)
        self.set_stacked(False)

    def set_stacked(self, stacked: bool) -> None:
        """Put the label above the editor, or left of it; a tick box stays right of its label."""
        above = stacked and not isinstance(self.widget, TickEditor)
        self._head.setMinimumWidth(0 if stacked else LABEL)
        self._head.setMaximumWidth(UNLIMITED if stacked else LABEL)
        cells = (
            (
                (self._head, 0, 0), (self._tail, 0, 1), (self._body, 1, 0, 1, 2),
                (self.formula, 2, 0, 1, 2), (self._trouble, 3, 0, 1, 2),
            )
            if above
            else (
                (self._head, 0, 0), (self._body, 0, 1), (self._tail, 0, 2),
                (self.formula, 1, 1, 1, 2), (self._trouble, 2, 1, 1, 2),
            )
        )  # fmt: skip
        for widget, *cell in cells:
            self._grid.addWidget(widget, *cell)
        self._grid.setColumnStretch(0, 1 if stacked else 0)
        self._grid.setColumnStretch(1, 0 if stacked else 1)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if QKeySequence(event.keyCombination()) == QKeySequence(HELP_KEY):
            self._show_help()
        else:
            super().keyPressEvent(event)

    def show_base(self, base: Any) -> None:
        """Mark the field when it differs from the preset."""
        changed = bool(self.editor.value() != base)
        self.dot.setText("●" if changed else "")
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
        self._trouble.setVisible(bool(sentence))
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
