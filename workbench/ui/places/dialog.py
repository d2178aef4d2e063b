"""File > Places…: machines where runs can train, each with its fields and the result of its check."""

from collections import deque
from functools import partial

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QWidget

from workbench.places import records
from workbench.places.contract import Finding
from workbench.places.launching import launcher_of
from workbench.places.place import Place
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.ui.places.card import FINDINGS_WIDTH, PlaceCard
from workbench.ui.places.card_list import CardList
from workbench.ui.places.draft import ADD_WORDS, PlaceDraft
from workbench.ui.places.install_dialog import InstallDialog
from workbench.ui.state.background.tasks import Task, heard_by
from workbench.ui.state.concern import EVERYWHERE
from workbench.ui.state.session import Session
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.dialogs.first_size import open_at
from workbench.ui.widgets.dialogs.main_button import MainButtonDialog
from workbench.ui.widgets.labels import label
from workbench.workspace.tables import placements

WIDTH, HEIGHT = 900, 620  # px at 100% text
ABOUT = "Machines where runs can train. Choose one under “Where to run” on the Set up page."
PROMISE = "No password is stored: the SSH agent or the system's key ring has it."
COMMAND = "Install… shows the steps first, as workbench place install NAME does."


class PlacesDialog(MainButtonDialog):
    """Places as drafts; Save writes their records.

    Args:
        session: whose places they are.
    """

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Places")
        self._session = session
        self._waiting = deque(PlaceDraft(place.kind, place) for place in session.places.all)
        self._checks: list[Task] = []
        self._removed: list[str] = []
        self._over = False
        self._build()
        open_at(self, session.theme.px(WIDTH), session.theme.px(HEIGHT))
        # The many fields of a place take tens of ms: each has a turn of the event loop or two, the first one this.
        self._next = QTimer(self, interval=0)
        self._next.timeout.connect(self._add_next)
        self._add_next()

    def _build(self) -> None:
        self.adds = {kind: button(f"Add one {ADD_WORDS.get(kind, kind)}", "plus") for kind in records.KINDS}
        self._list = CardList(self)
        self.cards, self.none = self._list.cards, self._list.none
        self.problem = label("", "error", wrap=True)
        self.problem.hide()
        self.cancel, self.save = button("Cancel"), button("Save", "", "primary")
        self.main = self.save
        notes = in_column(label(PROMISE, "caption", wrap=True), label(COMMAND, "caption", wrap=True), spacing=0)
        adds = in_row(*self.adds.values(), 1, spacing=8)
        foot = in_row((notes, 1), self.cancel, self.save, spacing=8)
        in_column(
            label(ABOUT, "muted", wrap=True), adds, (self._list, 1), self.problem, foot, on=self, margins=16, spacing=12
        )
        for kind, add in self.adds.items():
            add.clicked.connect(partial(self.add_place, kind))
        self.cancel.clicked.connect(self.reject)
        self.save.clicked.connect(self.store)

    def add_place(self, kind: str, _checked: bool = False) -> PlaceCard:
        """Add a new place of that kind, with the cursor in its name."""
        self._add_all()
        card = self._add_card(PlaceDraft(kind))
        card.form.row("name").widget.setFocus()
        self._next.start()  # for the rest of its fields
        return card

    def ask_install(self, card: PlaceCard) -> InstallDialog | None:
        """Show what installing Workbench at a place would do; None while a field of the place is wrong."""
        place, errors = card.draft.made()
        card.show_errors(errors)
        if place is None:
            return None
        dialog = InstallDialog(self._session, place, self)
        dialog.installed.connect(partial(self._check, card))
        dialog.open()
        return dialog

    def store(self) -> None:
        """Write every place and close; if a field is wrong, it says why below it, and nothing is written.

        The first wrong field has the cursor, and is scrolled to.
        """
        self._add_all()
        drafts = [card.draft for card in self.cards]
        places: list[Place] = []
        wrong: list[QWidget] = []
        for card in self.cards:
            place, errors = card.draft.made()
            names = [str(draft.values["name"]) for draft in drafts]
            if place is not None and names.count(place.name) > 1:
                place, errors = None, {"name": "Another place has this name."}
            card.show_errors(errors)
            wrong += [card.form.row(name).widget for name in errors if name in card.draft.values]
            places += [place] if place is not None else []
        if len(places) < len(drafts):
            for field in wrong[:1]:
                field.setFocus()
                # Later: its sentence has no room yet.
                QTimer.singleShot(0, field, partial(self._list.ensureWidgetVisible, field))
            return
        gone = {*self._removed, *(draft.stored for draft in drafts if draft.stored)} - {place.name for place in places}
        renamed = {
            draft.stored: place.name
            for draft, place in zip(drafts, places, strict=True)
            if draft.stored not in ("", place.name)
        }
        workspace = self._session.workspace
        own = {*self._removed, *(draft.stored for draft in drafts)}
        edited = [(draft.first, place) for draft, place in zip(drafts, places, strict=True) if draft.first != place]

        def work(progress: Progress) -> None:
            for first, place in edited:
                _refuse_overwriting(first, place, own)
            for _, place in edited:
                records.store(place, gone)
            if renamed:
                with workspace.writing() as db:
                    placements.rename(db, renamed)
            for name in gone:  # last: their runs have places all the time
                if records.existing(name) is not None:  # else it was removed elsewhere, too
                    records.remove(name)

        self.save.setEnabled(False)  # else a second press finds the places of the first
        self._session.run_in_thread("Saving the places", work, self._stored, self._not_stored, quiet=True, lasting=True)

    def done(self, result: int) -> None:
        """Close; checks that are under way are forgotten, and what is being saved is saved."""
        self._over = True
        self._next.stop()
        for task in self._checks:
            task.cancel()
        super().done(result)

    def _stored(self, _: None) -> None:
        self._session.places.read()
        self._session.placed.follow()
        if not self._over:
            self.accept()

    def _not_stored(self, problem: Problem) -> None:
        if self._over:
            self._session.notify(problem, EVERYWHERE)
            return
        self.save.setEnabled(True)
        self.problem.setText(str(problem))
        self.problem.show()

    def _add_card(self, draft: PlaceDraft) -> PlaceCard:
        card = PlaceCard(draft, self._session.theme.side(FINDINGS_WIDTH), self._list.inside)
        card.check_asked.connect(partial(self._check, card))
        card.install_asked.connect(partial(self.ask_install, card))
        card.removed.connect(partial(self._remove, card))
        self._list.add(card)
        self._end_tabs(card)
        return card

    def _end_tabs(self, card: PlaceCard) -> None:
        QWidget.setTabOrder(card.last, self.cancel)  # which are older than the fields
        QWidget.setTabOrder(self.cancel, self.save)

    def _add_next(self) -> None:
        """Show the rest of the newest card, or show and check one more of the stored places."""
        if self.cards and not self.cards[-1].is_complete:
            self.cards[-1].complete()
            self._end_tabs(self.cards[-1])
        elif self._waiting:
            self._check(self._add_card(self._waiting.popleft()))
        if self._are_left:
            self._next.start()
        else:
            self._next.stop()

    @property
    def _are_left(self) -> bool:
        return bool(self._waiting) or any(not card.is_complete for card in self.cards[-1:])

    def _add_all(self) -> None:
        """Show those that are not shown yet: a new place comes after them, and Save writes all."""
        while self._are_left:
            self._add_next()

    def _remove(self, card: PlaceCard) -> None:
        self._removed += [card.draft.stored] if card.draft.stored else []
        self._list.remove(card)

    def _check(self, card: PlaceCard) -> None:
        """Ask the place what it has, as it is described now, on a thread, unless it is being asked."""
        if card.checking:
            return
        place, errors = card.draft.made()
        card.show_errors(errors)
        if place is None:
            return
        card.show_checking()
        chosen = place

        def work(progress: Progress) -> list[Finding]:
            return launcher_of(chosen, heard_by(progress, "Waiting for the place")).check()

        def found(findings: list[Finding]) -> None:
            if card in self.cards:
                card.show_findings(findings, current=card.draft.made()[0] == chosen)

        def failed(problem: Problem) -> None:
            found([Finding("Check", str(problem), good=False)])

        def cancelled() -> None:
            found([Finding("Check", "The check was cancelled.", good=False)])

        title = f"Checking {place.name}"
        self._checks.append(self._session.run_in_thread(title, work, found, failed, cancelled=cancelled))


def _refuse_overwriting(first: Place | None, place: Place, own: set[str]) -> None:
    """Raises Problem if another window or a command has changed or made, since it was read, what would be written.

    Args:
        own: the names of all places that the dialog has read.
    """
    if first is not None and records.existing(first.name) != first:
        what = f"The place {first.name} was changed or removed meanwhile by another window or a command."
        raise Problem(what, kept="Nothing was saved.", todo="Open the places again, and change it there.")
    if place.name not in own and records.existing(place.name) is not None:
        what = f"A place named {place.name} was added meanwhile by another window or a command."
        raise Problem(what, kept="Nothing was saved.", todo="Give this one another name.")
