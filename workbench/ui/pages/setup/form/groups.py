"""The form of Set up: what most runs need, then everything else, folded to what differs, or beside it."""

from functools import partial

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QLabel, QLineEdit, QScrollArea, QVBoxLayout, QWidget

from workbench.entries.catalog import listed
from workbench.settings.field_words import title_of
from workbench.ui.pages.setup.form.essential_parts import EssentialParts
from workbench.ui.pages.setup.form.essentials import cell_of, room
from workbench.ui.pages.setup.form.kept_in_sight import KeptInSight
from workbench.ui.pages.setup.model.draft import Draft
from workbench.ui.pages.setup.model.fields import GROUPS, Field
from workbench.ui.pages.setup.model.repairs import repairs
from workbench.ui.style.field_words import help_lines
from workbench.ui.style.icons import icon
from workbench.ui.style.words import counted
from workbench.ui.widgets.boxes import in_row
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.card import Card
from workbench.ui.widgets.field_row import FieldRow, Fix
from workbench.ui.widgets.form import ParamsForm
from workbench.ui.widgets.labels import ElidedLabel, label, plain_tip

ESSENTIALS = "Essentials"
SIDES = 40  # px beside the fields of a card
BETWEEN = 12  # px between the two cards
TWO_COLUMNS = 1300  # px of the form at 100% text from which on Advanced stands beside Essentials
NEAR = 12  # px below the top at which a heading counts as being there
OFFERS = {"published": "Use the published values", "measured": "Use the values measured here"}


class FormGroups(QScrollArea):
    """All fields of a run. It shows a draft and sends signals for edits; it changes nothing itself.

    Rows of the Advanced card are made when they are first to be seen: folded it holds what is changed or wrong, a
    search shows what fits, and unfolded it holds all. In a wide form it is unfolded beside Essentials, which stays in
    sight while it scrolls.
    """

    edited = Signal(str, object)  # path, value
    reset_asked = Signal(str)
    offer_taken = Signal(str)  # "published" or "measured"
    heading_seen = Signal(str)  # the heading whose fields are at the top now is another one
    rows_made = Signal()  # Qt has put them at the end of the window's focus chain

    def __init__(self, recents: list[str]) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._recents, self._scale = recents, 1.0
        self._draft: Draft | None = None
        self._errors: dict[str, str] = {}
        self.forms: dict[str, ParamsForm] = {}
        self._headings: dict[str, QLabel] = {}
        self._to_unfold: list[str] = []  # headings whose rows are made in the next turns, one in each
        self._unfolding = QTimer(self, interval=0, singleShot=True)
        self._unfolding.timeout.connect(self._unfold_next)
        self.defaults = label("", "muted", wrap=True)
        self.defaults.setAccessibleName("Published and measured values of the loss")
        self.offers = {kind: button(words, kind="quiet") for kind, words in OFFERS.items()}
        for kind, offer in self.offers.items():
            offer.clicked.connect(partial(self.offer_taken.emit, kind))
        self.unfold = button("Advanced", "caret-right", kind="quiet")
        self.unfold.setCheckable(True)
        self.unfold.toggled.connect(self._fold_or_unfold)
        self._unfolded_for_room = False  # and not by the user
        self.unfold.clicked.connect(self._keep_fold)
        self.summary = ElidedLabel("", "muted")
        self.search = QLineEdit(placeholderText="Find a field", clearButtonEnabled=True)
        self.search.setAccessibleName("Find a field")
        self.search.textChanged.connect(self._find)
        self.nothing = label("", "muted")
        self._inside = QWidget()
        self.setWidget(self._inside)
        self._build()
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._inside.hide()  # until there is a draft: empty cards would look squeezed
        self.heading = ESSENTIALS  # whose fields are at the top of what is seen
        self.verticalScrollBar().valueChanged.connect(self._look_where)
        self.verticalScrollBar().rangeChanged.connect(self._look_where)

    def _build(self) -> None:
        column = QVBoxLayout(self._inside)
        column.setContentsMargins(0, 0, 8, 0)
        self._cards = QBoxLayout(QBoxLayout.Direction.TopToBottom)
        self._cards.setSpacing(BETWEEN)
        column.addLayout(self._cards)
        self.essentials, self.advanced = Card(ESSENTIALS), Card()
        for card in (self.essentials, self.advanced):
            card.body.setContentsMargins(16, 12, 16, 12)
            self._cards.addWidget(card, 0, Qt.AlignmentFlag.AlignTop)
        self._in_sight = KeptInSight(self, self.essentials, self.advanced)
        self._add_form(ESSENTIALS, self.essentials)
        self.parts = EssentialParts(self.forms[ESSENTIALS])
        self.essentials.body.addWidget(self.defaults)
        for offer in self.offers.values():
            self.essentials.body.addWidget(offer, 0, Qt.AlignmentFlag.AlignLeft)
        head = in_row(self.unfold, (self.summary, 1), (self.search, 1))
        self.search.setMinimumWidth(90)
        self.search.setMaximumWidth(320)
        self.advanced.body.addLayout(head)
        self.advanced.body.addWidget(self.nothing)
        for heading in GROUPS:
            self._headings[heading] = label(heading, "strong")
            self.advanced.body.addWidget(self._headings[heading])
            self._add_form(heading, self.advanced)
        column.addStretch(1)

    def _add_form(self, heading: str, card: Card) -> None:
        placed = cell_of if heading == ESSENTIALS else None
        form = self.forms[heading] = ParamsForm(recents=self._recents, cell_of=placed)
        form.changed.connect(self.edited)
        form.reset_asked.connect(self.reset_asked)
        card.body.addWidget(form)

    def fit(self, scale: float, *, labels_above: bool) -> None:
        """Take the size of the text.

        Args:
            scale: of the text, 1 at 100%.
            labels_above: of Advanced; else they are left of their editors.
        """
        self._scale = scale
        for form in self.forms.values():
            form.set_labels_above(labels_above)
        self._take_room()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._take_room()

    def _take_room(self) -> None:
        width = self.viewport().width() / self._scale
        beside = width >= TWO_COLUMNS
        if beside != (self._cards.direction() == QBoxLayout.Direction.LeftToRight):
            self._put_beside(beside)
        self.forms[ESSENTIALS].set_room(room(((width - BETWEEN) / 2 if beside else width) - SIDES))
        self._in_sight.keep()

    def _put_beside(self, on: bool) -> None:
        """Put Advanced beside Essentials, unfolded, or below it."""
        self._cards.setDirection(QBoxLayout.Direction.LeftToRight if on else QBoxLayout.Direction.TopToBottom)
        for card in range(self._cards.count()):
            self._cards.setStretch(card, int(on))  # both have half of the width
        self._in_sight.on = on
        if on and not self.unfold.isChecked():
            self._to_unfold, self._unfolded_for_room = list(GROUPS), True
            self.unfold.setChecked(True)
        elif not on and self._unfolded_for_room:
            self.unfold.setChecked(False)

    def show_draft(self, draft: Draft, errors: dict[str, str]) -> None:
        """Show the draft's fields, values, changes, errors and repairs."""
        self._draft, self._errors = draft, errors
        self._show_rows()
        self.parts.show_draft(draft, errors)
        self._show_defaults(draft)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self._inside.show()

    def _show_rows(self) -> None:
        if self._draft is None:
            return
        draft = self._draft
        warnings = draft.warnings()
        fixes: dict[str, Fix] = {
            path: (words, partial(self.edited.emit, target, value))
            for path, (words, target, value) in repairs(draft, warnings | self._errors).items()
        }
        changed, new = set(draft.changed()), False
        hidden = 0
        parts, striking = _parts(draft), changed | self._errors.keys() | warnings.keys()
        for heading, form in self.forms.items():
            every = parts[heading]
            fields = every if heading == ESSENTIALS else self._chosen(heading, every, striking)
            hidden += len(every) - len(fields)
            new |= form.set_fields(fields)
            form.set_values({path: draft.value(path) for path in fields})
            form.mark_changed({path: draft.base_value(path) for path in fields})
            form.show_errors(self._errors, fixes, warnings)
            form.setVisible(bool(fields))
            if heading in self._headings:
                self._headings[heading].setVisible(bool(fields))
        self._tell_hidden([path for heading in GROUPS for path in parts[heading]], changed, hidden)
        if new:
            self.rows_made.emit()
        if self._to_unfold:
            self._unfolding.start()

    def _unfold_next(self) -> None:
        if self._to_unfold:
            self._to_unfold.pop(0)
            self._show_rows()

    def _unfold_all(self) -> None:
        """Show every field now."""
        self._unfolded_for_room = False
        self.search.clear()
        self.unfold.setChecked(True)
        waiting, self._to_unfold = self._to_unfold, []
        if waiting:
            self._show_rows()

    def _find(self) -> None:
        self._show_rows()
        if self.search.text():
            QTimer.singleShot(0, self, self._show_results)  # new rows have their places a turn later

    def _show_results(self) -> None:
        """Scroll to what the search shows, which begins at the foot of the page."""
        if (layout := self._inside.layout()) is not None:
            layout.activate()
        top, bottom = self.advanced.y(), self.advanced.geometry().bottom()
        bar, room = self.verticalScrollBar(), self.viewport().height()
        if not bar.value() <= top <= bottom < bar.value() + room:
            bar.setValue(min(top, max(bottom + NEAR - room, 0)) if bottom - top < room else top)

    def _chosen(self, heading: str, every: dict[str, Field], striking: set[str]) -> dict[str, Field]:
        """The advanced fields that are shown now."""
        if words := self.search.text().casefold().split():
            return {path: field for path, field in every.items() if _holds(heading, path, field, words)}
        if self.unfold.isChecked() and heading not in self._to_unfold:
            return every
        in_use = self._path_in_use()  # stays, also where it is just set back to the preset
        return {path: field for path, field in every.items() if path in striking or path == in_use}

    def _path_in_use(self) -> str:
        """The field that has the focus; empty if none has."""
        focus = self.focusWidget()
        for form in self.forms.values():
            for path in form.names():
                if focus is not None and form.row(path).isAncestorOf(focus):
                    return path
        return ""

    def _tell_hidden(self, every: list[str], changed: set[str], hidden: int) -> None:
        differ = sum(path in changed for path in every)
        self.summary.setText(f"{counted(len(every), 'field')}, {differ} changed")
        self.nothing.setText("No advanced field contains these words." if self.search.text() else "")
        self.nothing.setVisible(bool(self.search.text()) and hidden == len(every))

    def _fold_or_unfold(self, on: bool) -> None:
        self.unfold.setIcon(icon("caret-down" if on else "caret-right"))
        self._to_unfold = (self._to_unfold or list(GROUPS)[1:]) if on else []  # all rows at once take 0.2 s
        self._show_rows()

    def _keep_fold(self) -> None:
        """What the user folds or unfolds stays so, whatever the room."""
        self._unfolded_for_room = False

    def counts(self) -> dict[str, tuple[int, int]]:
        """Changed and wrong fields under each heading of the contents."""
        if self._draft is None:
            return {}
        changed = set(self._draft.changed())
        return {
            heading: (sum(path in changed for path in fields), sum(path in self._errors for path in fields))
            for heading, fields in _parts(self._draft).items()
            if fields
        }

    def _show_defaults(self, draft: Draft) -> None:
        """What is published and what was measured, in the words of the form, and a button for what is not set yet."""
        fields = {path: field for heading in GROUPS for path, field in draft.fields(heading).items()}

        def name_of(key: str) -> str:
            if key in draft.catalog:
                return str(draft.catalog[key]["title"])
            return title_of(key, fields.get(key, {}))

        self.defaults.setText("\n".join(draft.defaults_told(name_of)))
        self.defaults.setVisible(bool(self.defaults.text()))
        offered = draft.offered()
        for kind, offer in self.offers.items():
            offer.setVisible(kind in offered)
            offer.setToolTip(plain_tip(listed(offered.get(kind, {}), name_of)))

    def row(self, path: str) -> FieldRow:
        """The row of a field; Advanced unfolds for it. Raises KeyError if the run has no such field."""
        for again in (False, True):
            for form in self.forms.values():
                if path in form.names():
                    return form.row(path)
            if not again:
                self._unfold_all()
        raise KeyError(path)

    def show_field(self, path: str) -> None:
        """Scroll to a field and put the cursor there."""
        row = self.row(path)
        self.ensureWidgetVisible(row)
        QTimer.singleShot(0, row, partial(self.ensureWidgetVisible, row))  # new rows have their places a turn later
        row.widget.setFocus()

    def show_heading(self, heading: str) -> None:
        """Scroll to a heading of the contents, and put the cursor into its first field: Tab goes on from there."""
        self._scroll_to(heading)
        QTimer.singleShot(0, self, partial(self._scroll_to, heading))  # new rows have their places a turn later
        form = self.forms[heading]
        if names := form.names():
            form.row(names[0]).widget.setFocus()

    def _scroll_to(self, heading: str) -> None:
        if heading == ESSENTIALS:
            self.ensureWidgetVisible(self.essentials, 0, 0)
            self.verticalScrollBar().setValue(0)
            self._see(heading)
            return
        self._unfold_all()
        if (layout := self._inside.layout()) is not None:
            layout.activate()
        self.verticalScrollBar().setValue(self._top_of(heading))
        self._see(heading)  # also where the form ends before it can be at the top

    def _top_of(self, heading: str) -> int:
        shown = self._headings[heading]
        return shown.mapTo(self._inside, shown.rect().topLeft()).y()

    def _look_where(self) -> None:
        """Which heading is at the top: the last one above it, and the last of all at the end of the form."""
        bar = self.verticalScrollBar()
        shown = [heading for heading, words in self._headings.items() if words.isVisibleTo(self._inside)]
        if 0 < bar.maximum() == bar.value():
            above = [heading for heading in shown if self._top_of(heading) < bar.value() + self.viewport().height()]
        else:
            above = [heading for heading in shown if self._top_of(heading) <= bar.value() + NEAR]
        self._see(above[-1] if above else ESSENTIALS)

    def _see(self, heading: str) -> None:
        if heading != self.heading:
            self.heading = heading
            self.heading_seen.emit(heading)


def _parts(draft: Draft) -> dict[str, dict[str, Field]]:
    """The fields by heading of the contents."""
    return {ESSENTIALS: draft.essential(), **draft.advanced()}


def _holds(heading: str, path: str, field: Field, words: list[str]) -> bool:
    text = " ".join((heading, path, title_of(path, field), *help_lines(field))).casefold()
    return all(word in text for word in words)
