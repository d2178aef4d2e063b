"""One parameter of a sweep: its field, its values or range, what the field means, and a cross."""

from typing import Any

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QGridLayout, QLineEdit, QWidget

from workbench.settings.field_words import title_of
from workbench.ui.style.field_words import range_of
from workbench.ui.widgets.buttons import icon_button
from workbench.ui.widgets.fields.editors import ChoiceEditor
from workbench.ui.widgets.labels import label

HINT = "16, 32, 64 or 1e-4..1e-2:log:5"


class ParameterRow(QWidget):
    """Emits `edited` at every change, `removed` when its cross is pressed."""

    edited = Signal()
    removed = Signal(object)  # this row

    def __init__(self, fields: dict[str, dict[str, Any]], field: str) -> None:
        super().__init__()
        self._fields = fields
        self.field = ChoiceEditor(list(fields), _titles(fields))
        self.field.setAccessibleName("Field of the parameter")
        self.values = QLineEdit(placeholderText=HINT)
        self.values.setAccessibleName("Values or range of the parameter")
        self.cross = icon_button("x", "Remove this parameter")
        self.help = label("", "muted", wrap=True)
        self.problem = label("", "error", wrap=True)
        self.problem.hide()
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 4)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(2)
        grid.setColumnStretch(0, 5)
        grid.setColumnStretch(1, 6)
        for column, widget in enumerate((self.field, self.values, self.cross)):
            grid.addWidget(widget, 0, column)
        grid.addWidget(self.help, 1, 0, 1, 3)
        grid.addWidget(self.problem, 2, 0, 1, 3)
        with QSignalBlocker(self.field):
            self.field.set_value(field)
        self._explain()
        self.field.edited.connect(self._field_chosen)
        self.values.textChanged.connect(self.edited)
        self.cross.clicked.connect(self._remove)

    @property
    def text(self) -> str:
        """ "FIELD=VALUES" as `workbench sweep start --param` takes it."""
        return f"{self.field.value()}={self.values.text().strip()}"

    def offer(self, fields: dict[str, dict[str, Any]]) -> None:
        """Offer other fields; the chosen one stays, also where it is not among them."""
        chosen = self.field.value()
        kept = fields if chosen in fields else {**fields, chosen: self._fields[chosen]}
        if list(kept) != list(self._fields):
            with QSignalBlocker(self.field):
                self.field.clear()
                for path, title in zip(kept, _titles(kept), strict=True):
                    self.field.addItem(title, path)
                self.field.set_value(chosen)
        self._fields = kept
        self._explain()

    def show_problem(self, sentence: str) -> None:
        """Show what is wrong with it; empty when nothing is."""
        self.problem.setText(sentence)
        self.problem.setVisible(bool(sentence))

    def _field_chosen(self) -> None:
        self._explain()
        self.edited.emit()

    def _remove(self) -> None:
        self.removed.emit(self)

    def _explain(self) -> None:
        facts = self._fields[self.field.value()]
        words = [str(facts.get("description") or f"Another {self.field.value().partition('.')[0]}.")]
        if "enum" in facts:
            words.append(f"One of {', '.join(facts['enum'])}.")
        elif limits := range_of(facts):
            words.append(f"{limits[0].upper()}{limits[1:]}.")
        self.help.setText(" ".join(words))


def _titles(fields: dict[str, dict[str, Any]]) -> list[str]:
    return [f"{title_of(path, facts)} ({path})" for path, facts in fields.items()]
