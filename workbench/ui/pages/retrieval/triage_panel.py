"""The Label triage view: suspects on the left, the one that is looked at in the centre, keys for the answer."""

from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QModelIndex, QSize, Qt
from PySide6.QtGui import QAction, QKeySequence, QPixmap, QShowEvent
from PySide6.QtWidgets import (
    QComboBox,
    QDoubleSpinBox,
    QFileDialog,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QStackedWidget,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from workbench.problem import Problem
from workbench.progress import Progress
from workbench.results.label_overlay import Triage, export_decisions, import_decisions, read_triage
from workbench.results.triage import LEAST, Suspect
from workbench.ui.models.sorted_rows import SortedRows
from workbench.ui.pages.retrieval.triage_columns import TriageColumns
from workbench.ui.pages.retrieval.triage_model import ALL, DONE, SHOWN, TODO, TriageModel
from workbench.ui.pages.retrieval.triage_words import claim, evidence
from workbench.ui.session import Session
from workbench.ui.tasks import Task
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.captions import caption
from workbench.ui.widgets.card import Card, EmptyHint
from workbench.ui.widgets.flow import FlowLayout
from workbench.ui.widgets.labels import ElidedLabel, label
from workbench.ui.widgets.pictures import shared_loader
from workbench.ui.widgets.row_table import select_rows
from workbench.workspace.label_decisions import DROP, KEEP, RELABEL, UNSURE, Decision, decide, forget

THUMBNAIL, NEAR_PX, LARGE_PX = 34, 60, 150
PLACE_LIST, PLACE_NEAR = "triage-list", "triage-near"
AHEAD = 20  # rows whose pictures are loaded with the visible one
TITLES = ("Suspect", "Suspicion", "Answer")
ANSWERED = {KEEP: "kept", RELABEL: "relabelled", DROP: "dropped", UNSURE: "unsure"}
NOTHING = (
    "No label of this evaluation is suspect: the neighbours of every image agree with its class. Lower the limit "
    "to see weaker suspicions."
)


class TriagePanel(QStackedWidget):
    """Shows the suspects of the session's evaluation; every answer is stored at once and can be undone."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.model = TriageModel()
        self._loader = shared_loader(session)
        self._evaluation: int | None = None
        self._task: Task | None = None
        self._build()
        self._make_actions()
        self._connect()

    def _build(self) -> None:
        self.hint = EmptyHint("Label triage", "Looking for suspects…")
        self.filter = QComboBox()
        for name in (ALL, TODO, DONE):
            self.filter.addItem(name.capitalize(), name)
        self.filter.setAccessibleName("Which suspects are listed")
        self.least = QDoubleSpinBox()
        self.least.setRange(0.3, 1)
        self.least.setSingleStep(0.05)
        self.least.setValue(LEAST)
        self.least.setToolTip("Suspicion from which a label is listed; at half another class has as much for it")
        self.rows = SortedRows(TITLES, self._cells, written, self, picture=self._thumbnail)
        self.table = QTableView()
        self.table.setModel(self.rows)
        select_rows(self.table, "Suspects, surest first")
        self.table.setIconSize(QSize(THUMBNAIL, THUMBNAIL))
        self.table.verticalHeader().setDefaultSectionSize(THUMBNAIL + 6)
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.list = QWidget()
        column = QVBoxLayout(self.list)
        column.setContentsMargins(0, 0, 0, 0)
        top = QHBoxLayout()
        top.addWidget(self.filter, 1)
        top.addWidget(caption("over", self.least))
        top.addWidget(self.least)
        column.addLayout(top)
        column.addWidget(self.table, 1)
        beside = QWidget()
        self._build_side(QVBoxLayout(beside))
        self.columns = TriageColumns(self.session.theme, self.list, self._centre(), beside)
        self.addWidget(self.hint)
        self.addWidget(self.columns)

    def _centre(self) -> QWidget:
        whole = Card()
        self.picture = QLabel()
        self.picture.setFixedSize(LARGE_PX, LARGE_PX)
        self.picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.title = ElidedLabel("", "section", Qt.TextElideMode.ElideMiddle)
        self.claim = label("", "strong", wrap=True)
        self.words = label("", "muted", wrap=True)
        self.new_class = QComboBox()
        self.new_class.setAccessibleName("Class that the image is relabelled to")
        self.new_class.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.new_class.setMinimumContentsLength(4)
        self.map, self.queries = button("Show in map", "map-trifold"), button("Show as query", "magnifying-glass")
        tools = FlowLayout(spacing=8)
        for widget in (self.map, self.queries):
            tools.addWidget(widget)
        relabelling = QHBoxLayout()
        relabelling.addWidget(caption("Relabel as", self.new_class))
        relabelling.addWidget(self.new_class, 1)
        text = QVBoxLayout()
        text.addWidget(self.title)
        text.addWidget(self.claim)
        text.addStretch(1)
        text.addLayout(relabelling)
        top = QHBoxLayout()
        top.setSpacing(16)
        top.addWidget(self.picture)
        top.addLayout(text, 1)
        self.answers = {
            KEEP: button("Keep (K)", "check"), RELABEL: button("Relabel (R)", "tag", "primary"),
            DROP: button("Drop (D)", "trash"), UNSURE: button("Unsure (U)", "question"),
        }  # fmt: skip
        answers = FlowLayout(spacing=8)
        for widget in self.answers.values():
            answers.addWidget(widget)
        self.near_titles = [label("", "strong", wrap=True), label("", "strong", wrap=True)]
        self.near = [[_framed() for _ in range(SHOWN)] for _ in range(2)]
        whole.body.addLayout(top)
        whole.body.addWidget(self.words)
        whole.body.addLayout(answers)
        whole.body.addLayout(tools)
        for title, pictures in zip(self.near_titles, self.near, strict=True):
            flow = FlowLayout(spacing=6)
            for picture in pictures:
                flow.addWidget(picture)
            whole.body.addWidget(title)
            whole.body.addLayout(flow)
        whole.body.addStretch(1)
        return whole

    def _build_side(self, column: QVBoxLayout) -> None:
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        self.precision, self.precision_words = label("", "title"), label("", "muted", wrap=True)
        self.progress = label("", "muted", wrap=True)
        self.undo = button("Undo", "arrow-u-up-left")
        self.undo.setToolTip("Take back the last answer (Ctrl+Z)")
        self.export, self.import_ = button("Export…", "export"), button("Import…", "download-simple")
        judged = Card("Precision")
        judged.body.addWidget(self.precision)
        judged.body.addWidget(self.precision_words)
        done = Card("Progress")
        done.body.addWidget(self.progress)
        changes = Card("What it changes")
        changes.body.addWidget(label(
            "Images stay as they are. Export the answers, and name the file under Label decisions in Set up.",
            "muted", wrap=True,
        ))  # fmt: skip
        buttons = FlowLayout(spacing=8)
        for widget in (self.export, self.import_, self.undo):
            buttons.addWidget(widget)
        changes.body.addLayout(buttons)
        for card in (judged, done, changes):
            column.addWidget(card)
        column.addStretch(1)

    def _make_actions(self) -> None:
        for words, keys, slot in (
            ("Keep the label", "K", partial(self.answer, KEEP)),
            ("Relabel", "R", partial(self.answer, RELABEL)),
            ("Drop the image", "D", partial(self.answer, DROP)),
            ("Unsure about the label", "U", partial(self.answer, UNSURE)),
            ("Next suspect", "Down", partial(self._step, 1)),
            ("Previous suspect", "Up", partial(self._step, -1)),
            ("Take back the last answer", "Ctrl+Z", self.take_back),
        ):
            action = QAction(words, self)
            action.setShortcut(QKeySequence(keys))
            action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            action.triggered.connect(slot)
            self.addAction(action)

    def _connect(self) -> None:
        for word, widget in self.answers.items():
            widget.clicked.connect(partial(self.answer, word))
        self.undo.clicked.connect(self.take_back)
        self.export.clicked.connect(self._ask_export)
        self.import_.clicked.connect(self._ask_import)
        self.map.clicked.connect(self._show_in_map)
        self.queries.clicked.connect(self._show_as_query)
        self.filter.activated.connect(self._choose_filter)
        self.least.editingFinished.connect(self._read)
        self.table.selectionModel().currentRowChanged.connect(self._look_at)
        self._loader.ready.connect(self._pictures_came)
        self.session.evaluation_changed.connect(self._show_evaluation)
        self.session.theme.changed.connect(self.columns.fit)

    # What is shown

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show_evaluation()
        self.table.setFocus()

    def _show_evaluation(self) -> None:
        """Read the queue of the shown evaluation, as soon as the view is visible."""
        if self.isVisible() and self.session.evaluation_id != self._evaluation:
            self._evaluation = self.session.evaluation_id
            self._read()

    def _read(self) -> None:
        if self._task is not None:
            self._task.cancel()
        self.show_triage(None)
        evaluation_id, workspace, least = self._evaluation, self.session.workspace, self.least.value()
        if evaluation_id is None:
            self.hint.say("Choose a run that has been evaluated.")
            return
        self.hint.say("Looking for suspects…")

        def work(progress: Progress) -> Triage:
            return read_triage(workspace, evaluation_id, least, progress)

        self._task = self.session.run_in_thread("Label triage", work, self.show_triage, self._fail, quiet=True)
        self._task.ended.connect(self._task_ended)

    def _task_ended(self) -> None:
        self._task = None

    def _fail(self, problem: Problem) -> None:
        self.hint.say(str(problem))

    def show_triage(self, triage: Triage | None) -> None:
        """Show another queue; None while it is being read."""
        self.model.show(triage)
        self.setCurrentIndex(0 if triage is None else 1)
        if triage is not None and self.isVisible() and not self.least.hasFocus():
            self.table.setFocus()  # the keys of the answers need the focus in here
        self._fill_classes()
        self.draw()

    def _fill_classes(self) -> None:
        dataset, triage = self.session.dataset(), self.model.triage
        self.new_class.clear()
        labels = [] if triage is None else sorted(set(triage.stored.labels.tolist()))
        for number in labels:
            self.new_class.addItem(str(number) if dataset is None else dataset.class_name(number), number)

    def draw(self) -> None:
        """Draw list, suspect and counts anew."""
        listed = self.model.listed
        self.rows.show(listed)
        self.table.selectionModel().blockSignals(True)
        self.table.selectRow(self.model.at)
        self.table.selectionModel().blockSignals(False)
        self.table.viewport().update()
        self._draw_suspect()
        counts, judged = self.model.counts(), self.model.judged()
        self.progress.setText(
            "\n".join(f"{ANSWERED.get(word, word).capitalize()}: {n:,}" for word, n in counts.items())
        )
        self.precision.setText(f"{judged.right / judged.answered:.0%}" if judged.answered else "–")
        self.precision_words.setText(
            f"of {judged.answered:,} answered were wrong labels; 95%: {judged.low:.0%} to {judged.high:.0%}"
            if judged.answered else "of the suspicion, as judged so far"
        )  # fmt: skip
        self.undo.setEnabled(bool(self.model.history))

    def _draw_suspect(self) -> None:
        suspect, dataset = self.model.current, self.session.dataset()
        for widget in (*self.answers.values(), self.map, self.queries):
            widget.setEnabled(suspect is not None)
        if suspect is None:
            self.title.setText("Nothing is listed")
            self.claim.setText("")
            self.words.setText(NOTHING if self.model.triage is not None and not self.model.triage.suspects else "")
            self.picture.clear()
        else:
            own, new = (
                dataset.class_name(number) if dataset is not None else str(number)
                for number in (suspect.label, suspect.suggested)
            )
            self.title.setText(f"{own}, suspect {self.model.at + 1:,} of {len(self.model.listed):,}")
            self.claim.setText(claim(suspect, own, new))
            self.words.setText(evidence(suspect, own, new))
            self.new_class.setCurrentIndex(self.new_class.findData(suspect.suggested))
        self._draw_near(dataset.class_name if dataset is not None else str)
        self._ask_pictures()
        self._draw_pictures()

    def _draw_near(self, name: Any) -> None:
        self._near_ids: list[list[int]] = [[], []]
        for at, (number, places) in enumerate(list(self.model.neighbours().items())[:2]):
            self._near_ids[at] = [sample_id for _, sample_id in places]
            words = ["first the one in the training half" if rank == 0 else str(rank) for rank, _ in places]
            ranks = ", ".join(words) or "none among the stored neighbours"
            word = "rank" if len(places) == 1 else "ranks"
            self.near_titles[at].setText(f"Nearest labelled {name(number)}: {word} {ranks}")
        for at in range(2):
            self.near_titles[at].setVisible(bool(self.model.neighbours()) and at < len(self.model.neighbours()))

    def _ask_pictures(self) -> None:
        suspect = self.model.current
        if suspect is not None:
            self._loader.request(PLACE_NEAR, [number for row in self._near_ids for number in row], NEAR_PX)
            self._loader.request(f"{PLACE_NEAR}-large", [suspect.sample_id], LARGE_PX)

    def _draw_pictures(self) -> None:
        suspect = self.model.current
        large = None if suspect is None else self._loader.pixmap(suspect.sample_id, LARGE_PX)
        self.picture.setPixmap(large or QPixmap())
        for ids, pictures in zip(self._near_ids, self.near, strict=True):
            for at, picture in enumerate(pictures):
                pixmap = self._loader.pixmap(ids[at], NEAR_PX) if at < len(ids) else None
                picture.setPixmap(pixmap or QPixmap())
                picture.setVisible(at < len(ids))

    def _pictures_came(self, ids: set[int]) -> None:
        if self.isVisible():
            self.rows.pictures_came(ids)
            self._draw_pictures()

    def _thumbnail(self, suspect: Suspect) -> QPixmap | None:
        picture = self._loader.pixmap(suspect.sample_id, THUMBNAIL)
        if picture is None and not self._loader.absent(suspect.sample_id):
            numbers = [one.sample_id for one in self.rows.rows]
            at = numbers.index(suspect.sample_id)
            self._loader.request(PLACE_LIST, numbers[max(0, at - AHEAD) : at + AHEAD], THUMBNAIL)
        return picture

    def _cells(self, suspect: Suspect) -> tuple[Any, ...]:
        dataset, decision = self.session.dataset(), self.model.decision(suspect)
        own, new = (
            dataset.class_name(number) if dataset is not None else str(number)
            for number in (suspect.label, suspect.suggested)
        )
        return f"{own} → {new}?", suspect.suspicion, "" if decision is None else ANSWERED[decision.decision]

    # What the person does

    def answer(self, word: str, _checked: bool = False) -> None:
        """Decide about the suspect that is looked at, store it, and go on to the next one."""
        label_of_new = self.new_class.currentData() if word == RELABEL else None
        decision, triage = self.model.answer(word, label_of_new), self.model.triage
        if decision is not None and triage is not None:
            self._store(decision, triage.dataset_id)
            self.draw()

    def take_back(self) -> None:
        """Undo the last answer."""
        last, triage = self.model.undo(), self.model.triage
        if last is None or triage is None:
            return
        if last.before is None:
            workspace, dataset_id = self.session.workspace, triage.dataset_id
            self.session.change(partial(forget, workspace, dataset_id, [last.sample_id]))
        else:
            self._store(last.before, triage.dataset_id)
        self.draw()

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
        name, _ = QFileDialog.getSaveFileName(self, "Export the decisions", "label-decisions.csv", "CSV (*.csv)")
        if name:
            self.export_to(Path(name))

    def export_to(self, path: Path) -> None:
        """Write all decisions about the data set as CSV; the message bar says how many."""
        triage, workspace = self.model.triage, self.session.workspace
        if triage is not None:
            self.session.change(
                partial(export_decisions, workspace, triage.dataset_id, path),
                lambda count: self.session.notify(f"{count:,} decisions were written to {path}."),
            )

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
        beyond = f"; {unknown:,} are about images of another data set" if unknown else ""
        self.session.notify(f"{stored:,} decisions were stored{beyond}.")
        self._read()


def written(_column: int, value: Any) -> str:
    """A value as the list of suspects shows it."""
    return value if isinstance(value, str) else f"{value:.2f}"


def _framed() -> QLabel:
    picture = QLabel()
    picture.setFixedSize(NEAR_PX, NEAR_PX)
    return picture
