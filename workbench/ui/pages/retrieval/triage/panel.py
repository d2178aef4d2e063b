"""The Label triage view: suspects on the left, the current one in the centre, keys for the answers."""

from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, QModelIndex, QSize, Qt
from PySide6.QtGui import QAction, QKeySequence, QPixmap, QShowEvent
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QDoubleSpinBox,
    QFileDialog,
    QHeaderView,
    QStackedWidget,
    QTabBar,
    QTableView,
    QWidget,
)

from workbench.jobs.newest import Newest
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.results.label_overlay import Triage, export_decisions, import_decisions, read_triage
from workbench.results.triage import LEAST, Suspect, doubt
from workbench.ui.actions.run_config import offer_with_decisions
from workbench.ui.models.sorted_rows import SortedRows
from workbench.ui.pages.retrieval.pair.model import Ranking, source_of
from workbench.ui.pages.retrieval.pair.window import PairWindow
from workbench.ui.pages.retrieval.triage.card import SuspectCard
from workbench.ui.pages.retrieval.triage.columns import TriageColumns
from workbench.ui.pages.retrieval.triage.model import ALL, DONE, TODO, TriageModel
from workbench.ui.pages.retrieval.triage.pairs import suspect_ranking
from workbench.ui.pages.retrieval.triage.summary import ANSWERED, TriageSummary
from workbench.ui.pages.retrieval.triage.words import also_listed, short_kind
from workbench.ui.state.concern import EVERYWHERE
from workbench.ui.state.session import Session
from workbench.ui.style.words import counted
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.card import EmptyHint
from workbench.ui.widgets.dialogs.save_file import CSV, ask_file
from workbench.ui.widgets.fields.captions import caption
from workbench.ui.widgets.fields.number_box import number_box
from workbench.ui.widgets.images.pictures import shared_loader
from workbench.ui.widgets.labels import label
from workbench.ui.widgets.tables.row_table import select_rows
from workbench.ui.widgets.undo_key import is_undone
from workbench.workspace import Workspace
from workbench.workspace.choices.label_decisions import (
    DROP,
    KEEP,
    RELABEL,
    UNSURE,
    Decision,
    all_decisions,
    decide,
    take_back,
)

THUMBNAIL = 34
LISTED = "triage-list"  # the list's name in requests to the loader
SHORT_NAMES = 6  # characters of both names that have room in one line of the list
AHEAD = 20  # rows beyond the visible ones whose pictures are loaded, too
TITLES = ("Suspect", "Suspicion")
DECISION_FILE = "label-decisions.csv"
DECISIONS = "label_decisions"  # as `choices_changed` names them


class TriagePanel(QStackedWidget):
    """Shows the suspects of the session's evaluation; every answer is stored at once and can be undone."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.model = TriageModel()
        self._loader = shared_loader(session)
        self._shown: tuple[Workspace, int | None] | None = None  # the evaluation that is asked for, or shown
        self._reading = Newest(session)
        self._focused: QWidget | None = None  # what had the focus when the reading began
        self._passed: int | None = None  # the suspect that a new list began with and no person chose
        self._answers = 0  # that were stored or taken back here
        self._build()
        self._make_actions()
        self._connect()

    def _build(self) -> None:
        self.hint = EmptyHint("Label triage", "Looking for suspects…", parent=self)
        self.columns = TriageColumns(self.session.theme, self)
        self.list = self.columns.listed
        self.filter = QComboBox()
        for name in (ALL, TODO, DONE):
            self.filter.addItem(name.capitalize(), name)
        self.filter.setAccessibleName("Which suspects are listed")
        self.least = number_box(QDoubleSpinBox())
        self.least.setRange(0.3, 1)
        self.least.setSingleStep(0.05)
        self.least.setValue(LEAST)
        self.least.setToolTip(
            "Lowest suspicion of a wrong label that is listed; at 0.5 another class has as many votes as its own. "
            "Images between two classes and near-copies are always listed below these."
        )
        self.rows = SortedRows(TITLES, self._cells, written, self, picture=self._thumbnail)
        self.table = QTableView()
        self.table.setModel(self.rows)
        select_rows(self.table, "Suspects, most certain first")
        self.table.setIconSize(QSize(THUMBNAIL, THUMBNAIL))
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        top = in_row((self.filter, 1), caption("Suspicion from", self.least), self.least)
        self.also = label("", "caption", wrap=True)
        in_column(top, self.also, (self.table, 1), on=self.list)
        self.suspect = SuspectCard(self.session, self.model, self._loader, self.columns.centre)
        self.pairs = PairWindow(self.session, self.suspect)
        self.summary = TriageSummary(self.model, self.columns.beside)
        self.columns.show_parts(self.suspect, self.summary)
        self.addWidget(self.hint)
        self.addWidget(self.columns)

    def _make_actions(self) -> None:
        for words, keys, slot in (
            ("Keep the label", "K", partial(self.answer, KEEP)),
            ("Relabel", "R", partial(self.answer, RELABEL)),
            ("Drop the image", "D", partial(self.answer, DROP)),
            ("Unsure about the label", "U", partial(self.answer, UNSURE)),
            ("Next suspect", "Down", partial(self._step, 1)),
            ("Previous suspect", "Up", partial(self._step, -1)),
            ("The suspect and a neighbour side by side", "P", self.suspect.ask_pair),
        ):
            action = QAction(words, self)
            action.setShortcut(QKeySequence(keys))
            action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            action.triggered.connect(slot)
            self.addAction(action)

    def _connect(self) -> None:
        for word, widget in self.suspect.answers.items():
            widget.clicked.connect(partial(self.answer, word))
        self.summary.plot.wished.connect(self.session.fulfil)
        self.summary.undo.clicked.connect(self.take_back)
        self.summary.export.clicked.connect(self._ask_export)
        self.summary.import_.clicked.connect(self._ask_import)
        self.summary.set_up.clicked.connect(self._ask_set_up)
        self.suspect.pair_asked.connect(self._show_pair)
        self.suspect.map.clicked.connect(self._show_in_map)
        self.suspect.queries.clicked.connect(self._show_as_query)
        self.filter.activated.connect(self._choose_filter)
        self.least.editingFinished.connect(self._read)
        self.table.selectionModel().currentRowChanged.connect(self._look_at)
        self._loader.ready.connect(self._pictures_came)
        self.session.evaluation_changed.connect(self._show_evaluation)
        self.session.choices_changed.connect(self._follow)
        self.session.theme.changed.connect(self._fit_text)
        self._fit_text()

    def _fit_text(self) -> None:
        self.columns.fit()
        self.table.verticalHeader().setDefaultSectionSize(max(THUMBNAIL, 2 * self.table.fontMetrics().height()) + 6)

    def event(self, event: QEvent) -> bool:
        """Ctrl+Z takes back an answer while there is one; else it is the window's, which undoes ticks of runs."""
        undo = self.take_back if self.model.history else None
        return is_undone(event, undo) or super().event(event)

    # What is shown

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._take_focus()
        self._show_evaluation()

    def _take_focus(self) -> None:
        """Have the keys of the answers work, which need the focus; a walk along the tabs by arrow keys goes on."""
        if not isinstance(self.window().focusWidget(), QTabBar) or QApplication.mouseButtons():
            self.table.setFocus()

    def _show_evaluation(self) -> None:
        """Read the queue of the shown evaluation, as soon as the view is visible. That of another one ends."""
        shown = (self.session.workspace, self.session.evaluation_id)
        if shown == self._shown:
            return
        if self._reading.busy:
            self._reading.cancel()
            self._shown = None  # read anew, should it be shown again
        if self.isVisible():
            self._shown = shown
            self._read()

    def _read(self) -> None:
        self._reading.cancel()
        self.show_triage(None)
        self._focused = self.window().focusWidget()
        workspace, evaluation_id = self._shown or (self.session.workspace, None)
        least = self.least.value()
        if evaluation_id is None:
            self.hint.say("Choose a run that has been evaluated.")
            return
        self.hint.say("Looking for suspects…")

        def work(progress: Progress) -> Triage:
            return read_triage(workspace, evaluation_id, least, progress)

        self._reading.ask("Label triage", work, self.show_triage, self._fail, quiet=True)

    def _follow(self, changed: set[str]) -> None:
        """Show what another window has decided, read after the answers that were given here."""
        triage, answers = self.model.triage, self._answers
        if triage is None or DECISIONS not in changed:
            return

        def take(decisions: dict[int, Decision]) -> None:
            if triage is not self.model.triage:
                return
            if answers != self._answers:  # answered meanwhile, which these do not have
                self._follow(changed)
            elif self.model.take_decisions(decisions):
                self._say_changed(self.model.changed_elsewhere)
                self.draw()

        self.session.change(partial(all_decisions, self.session.workspace, triage.dataset_id), take)

    def _say_changed(self, answers: int) -> None:
        if answers:
            changed = counted(answers, "of your answers was", "of your answers were")
            self.session.notify(f"{changed} changed by another window or a command. Undo leaves it as it is now.")

    def _fail(self, problem: Problem) -> None:
        self.hint.say(str(problem))

    def show_triage(self, triage: Triage | None) -> None:
        """Show another queue; None while it is being read."""
        self.model.show(triage)
        current = None if self._keep_pair() else self.model.current
        self._passed = None if current is None else current.sample_id
        self.setCurrentIndex(0 if triage is None else 1)
        stayed = self.window().focusWidget() is self._focused and not self.least.hasFocus()
        if triage is not None and self.isVisible() and stayed:
            self._take_focus()
        self.suspect.offer_classes()
        self.draw()

    def draw(self) -> None:
        """Redraw the list, the suspect and the counts."""
        listed = self.model.listed
        self.rows.show(listed)
        triage = self.model.triage
        doubted = "" if triage is None else doubt(len(triage.suspects), len(triage.stored.sample_ids))
        words = " ".join(filter(None, (doubted, also_listed(listed))))
        self.also.setText(words)
        self.also.setVisible(bool(words))
        self.table.selectionModel().blockSignals(True)
        self.table.selectRow(self.model.at)
        self.table.selectionModel().blockSignals(False)
        self.table.viewport().update()
        self._draw_suspect()
        self.summary.draw()

    def _draw_suspect(self) -> None:
        self.suspect.draw()
        ranking = self._ranking() if self.pairs.is_open else None
        if ranking is not None and ranking.query != self._passed:  # else the pair stays
            self._passed = None
            self.pairs.follow(ranking)

    def _keep_pair(self) -> bool:
        """Make the suspect of the open pair the current one of a new list, where it is listed; whether it is."""
        before, triage = self.pairs.model.ranking if self.pairs.is_open else None, self.model.triage
        if before is None or triage is None or before.dataset != triage.dataset_id or not isinstance(before.query, int):
            return False
        return self.model.look_for(before.query)

    def _ranking(self) -> Ranking | None:
        """The suspect beside its neighbours, for the window of a pair."""
        triage, session = self.model.triage, self.session
        shown = next((one for one in session.evaluations() if triage and one.id == triage.evaluation_id), None)
        if shown is None:
            return None
        return suspect_ranking(
            self.model, shown.run_id, session.class_name, source_of(session.run(shown.run_id), shown)
        )

    def _show_pair(self, sample_id: int | None) -> None:
        ranking = self._ranking()
        if ranking is not None:
            self._passed = None
            self.pairs.open(ranking, sample_id)

    def _pictures_came(self, ids: set[int]) -> None:
        if self.isVisible():
            self.rows.pictures_came(ids)
            self.suspect.draw_pictures()

    def _thumbnail(self, suspect: Suspect) -> QPixmap | None:
        picture = self._loader.pixmap(suspect.sample_id, THUMBNAIL)
        if picture is None and not self._loader.absent(suspect.sample_id):
            numbers = [one.sample_id for one in self.rows.rows]
            at = numbers.index(suspect.sample_id)
            self._loader.request(LISTED, numbers[max(0, at - AHEAD) : at + AHEAD], THUMBNAIL)
        return picture

    def _cells(self, suspect: Suspect) -> tuple[Any, ...]:
        decision = self.model.decision(suspect)
        own, new = self.session.class_name(suspect.label), self.session.class_name(suspect.suggested)
        gap = "\n" if len(own) + len(new) > SHORT_NAMES else " "
        below = short_kind(suspect) if decision is None else ANSWERED[decision.decision]
        return f"{own} →{gap}{new}?", (suspect.suspicion, below)

    # What the user does

    def answer(self, word: str, _checked: bool = False) -> None:
        """Decide about the current suspect, store the answer, and move to the next one."""
        new_label = self.suspect.new_class.currentData() if word == RELABEL else None
        decision, triage = self.model.answer(word, new_label), self.model.triage
        if decision is not None and triage is not None:
            self._answers += 1
            self._store(decision, triage.dataset_id)
            self.draw()

    def take_back(self) -> None:
        """Undo the last answer."""
        last, triage = self.model.undo(), self.model.triage
        if last is None or triage is None:
            return
        self._answers += 1
        undo = partial(take_back, self.session.workspace, triage.dataset_id, last.after, last.before)
        self.session.change(undo, failed=self._not_undone)
        self.draw()

    def _not_undone(self, problem: Problem) -> None:
        self.session.notify(problem, EVERYWHERE)
        self._follow({DECISIONS})

    def _store(self, decision: Decision, dataset_id: int) -> None:
        self.session.change(partial(decide, self.session.workspace, dataset_id, [decision]))

    def _step(self, by: int) -> None:
        self.model.step(by)
        self.draw()

    def _look_at(self, index: QModelIndex) -> None:
        if index.isValid() and index.row() != self.model.at:
            self.model.look_at(index.row())
            self._draw_suspect()

    def _choose_filter(self) -> None:
        self.model.choose_filter(self.filter.currentData())
        self.draw()

    def _show_in_map(self) -> None:
        self._show_as_query()
        self.session.show_page("map")

    def _show_as_query(self) -> None:
        if self.model.current is not None:
            self.session.show_query(self.model.current.sample_id)

    def _ask_export(self) -> None:
        path = ask_file(self, self.session.preferences, "Export the decisions", DECISION_FILE, CSV)
        if path is not None:
            self.export_to(path)

    def export_to(self, path: Path) -> None:
        """Write all decisions about the data set as CSV; the message bar says how many."""
        triage, workspace = self.model.triage, self.session.workspace
        if triage is not None:
            self.session.change(
                partial(export_decisions, workspace, triage.dataset_id, path),
                lambda count: self.session.notify(f"Decisions written to {path}: {count:,}."),
            )

    def _ask_set_up(self) -> None:
        path = ask_file(self, self.session.preferences, "Save the decisions for the run", DECISION_FILE, CSV)
        if path is not None:
            self.set_up_with(path)

    def set_up_with(self, path: Path) -> None:
        """Write all decisions about the data set as CSV, and show the settings of this run with that file on Set up."""
        triage, session = self.model.triage, self.session
        run = session.run()
        if triage is None or run is None:
            return

        def offer(_count: int) -> None:
            try:
                offer_with_decisions(session, run, path)
            except Problem as problem:
                session.notify(problem)

        session.change(partial(export_decisions, session.workspace, triage.dataset_id, path), offer)

    def _ask_import(self) -> None:
        name, _ = QFileDialog.getOpenFileName(self, "Import decisions", "", "CSV (*.csv)")
        if name:
            self.import_from(Path(name))

    def import_from(self, path: Path) -> None:
        """Store the decisions of a CSV file and read the queue again."""
        triage, workspace = self.model.triage, self.session.workspace
        if triage is not None:
            self.session.change(partial(import_decisions, workspace, triage.dataset_id, path), self._imported)

    def _imported(self, counts: tuple[int, int]) -> None:
        stored, unknown = counts
        beyond = f"; about images of another data set: {unknown:,}" if unknown else ""
        self.session.notify(f"Decisions stored: {stored:,}{beyond}.")
        self._read()


def written(_column: int, value: str | tuple[float, str]) -> str:
    """The text of a value in the list of suspects: words, or a suspicion with the answer or the kind below it."""
    return value if isinstance(value, str) else f"{value[0]:.2f}\n{value[1]}".strip()
