"""The left side of Set up: one card per heading, each a form of what the draft shows there now."""

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from workbench.entries.catalog import listed
from workbench.ui.pages.setup.draft import GROUPS, Draft
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.card import Card
from workbench.ui.widgets.form import Fix, ParamsForm, title_of
from workbench.ui.widgets.labels import label

WIDE_WINDOW = 1400  # px: from here on two columns
WIDE_FORM = 460  # px: the least that two columns need
OFFERS = {"published": "Use all that is published", "measured": "Use what was measured here"}
INSIDE = ("Embedding",)  # stands in the card of the heading before it


class FormGroups(QScrollArea):
    """All fields of a run. It shows a draft and says what the person changed; it changes nothing itself."""

    edited = Signal(str, object)  # path, value
    reset_asked = Signal(str)
    offer_taken = Signal(str)  # "published" or "measured"

    def __init__(self, recents: list[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.forms: dict[str, ParamsForm] = {}
        self.defaults = label("", "muted", wrap=True)
        self.defaults.setAccessibleName("Published and measured values of the loss")
        self.offers = {kind: button(words, kind="quiet") for kind, words in OFFERS.items()}
        for kind, offer in self.offers.items():
            offer.clicked.connect(partial(self.offer_taken.emit, kind))
        self._inside = QWidget()
        column = QVBoxLayout(self._inside)
        column.setContentsMargins(0, 0, 8, 0)
        column.setSpacing(8)
        card = Card()
        for heading in GROUPS:
            if heading in INSIDE:
                card.body.addWidget(label(heading, "strong"))
            else:
                card = Card(heading)
                card.body.setContentsMargins(12, 8, 12, 12)
                column.addWidget(card)
            form = ParamsForm(recents=recents)
            form.changed.connect(self.edited)
            form.reset_asked.connect(self.reset_asked)
            card.body.addWidget(form)
            self.forms[heading] = form
            if heading == "Loss":
                card.body.addWidget(self.defaults)
                for offer in self.offers.values():
                    card.body.addWidget(offer, 0, Qt.AlignmentFlag.AlignLeft)
        column.addStretch(1)
        self.setWidget(self._inside)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._inside.hide()  # until there is a draft: empty cards would be seen squeezed

    def show_draft(self, draft: Draft, errors: dict[str, str]) -> bool:
        """Fields, values, changes, errors and repairs as they are in the draft; whether some of the rows are new."""
        warnings = draft.warnings()
        fixes: dict[str, Fix] = {
            path: (words, partial(self.edited.emit, target, value))
            for path, (words, target, value) in draft.fixes(warnings | errors).items()
        }
        new = False
        for heading, form in self.forms.items():
            fields = draft.fields(heading)
            new |= form.set_fields(fields)
            form.set_values({path: draft.value(path) for path in fields})
            form.mark_changed({path: draft.base_value(path) for path in fields})
            form.show_errors(errors, fixes, warnings)
        self._show_defaults(draft)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self._inside.show()
        return new

    def _show_defaults(self, draft: Draft) -> None:
        """What is published and what was measured, in the words of the form, and a button for what is not set yet."""
        fields = {path: field for heading in self.forms for path, field in draft.fields(heading).items()}

        def name_of(key: str) -> str:
            if key in draft.catalog:
                return str(draft.catalog[key]["title"])
            return title_of(key, fields.get(key, {}))

        self.defaults.setText("\n".join(draft.defaults_told(name_of)))
        self.defaults.setVisible(bool(self.defaults.text()))
        offered = draft.offered()
        for kind, offer in self.offers.items():
            offer.setVisible(kind in offered)
            offer.setToolTip(listed(offered.get(kind, {}), name_of))

    def choose_columns(self) -> None:
        """Two columns in a wide window, one in a narrow one."""
        wide = self.window().width() >= WIDE_WINDOW and self.width() >= WIDE_FORM
        for form in self.forms.values():
            form.set_columns(2 if wide else 1)

    def show_field(self, path: str) -> None:
        """Scroll to a field and put the cursor there."""
        for form in self.forms.values():
            if path in form.names():
                self.ensureWidgetVisible(form.row(path))
                form.row(path).widget.setFocus()
