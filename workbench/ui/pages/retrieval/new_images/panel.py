"""The view New images: classes for a folder of images without labels, suggested by the shown evaluation."""

from functools import partial
from typing import Any

from PySide6.QtCore import QEvent, QItemSelection, QItemSelectionRange, QSize, Qt
from PySide6.QtGui import QAction, QKeySequence, QPixmap, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QDoubleSpinBox,
    QHeaderView,
    QStackedWidget,
    QTableView,
    QWidget,
)

from workbench.labelling.keeping import Changed, Changes, Labelling, Replaced, give, kept
from workbench.labelling.request import USUAL_FPIR
from workbench.labelling.table import GROUPS, TYPICAL, as_csv, groups_sentence, threshold_sentence, unread_sentence
from workbench.names import visible
from workbench.problem import Problem
from workbench.ui.models.sorted_rows import SortedRows
from workbench.ui.pages.retrieval.new_images.beside import Beside
from workbench.ui.pages.retrieval.new_images.file_pictures import FilePictures
from workbench.ui.pages.retrieval.new_images.known import Known, read_known
from workbench.ui.pages.retrieval.new_images.model import (
    ALL,
    ALONE,
    ANSWERED,
    GROUPED,
    NAMED,
    LabellingModel,
    Row,
    Step,
)
from workbench.ui.state.concern import EVERYWHERE
from workbench.ui.state.evaluation_work import Evaluation, EvaluationWork
from workbench.ui.state.session import Session
from workbench.ui.style.words import NO_VALUE, counted
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.card import EmptyHint
from workbench.ui.widgets.dialogs.question import Question
from workbench.ui.widgets.dialogs.save_file import Content
from workbench.ui.widgets.fields.captions import caption
from workbench.ui.widgets.fields.editors import PathEditor
from workbench.ui.widgets.fields.number_box import number_box
from workbench.ui.widgets.fields.segments import Segments
from workbench.ui.widgets.flow import in_lines
from workbench.ui.widgets.images.pictures import shared_loader
from workbench.ui.widgets.labels import label
from workbench.ui.widgets.measuring import Measuring
from workbench.ui.widgets.scrolled import ScrolledDown
from workbench.ui.widgets.tables.row_table import fit_columns_to_words, select_rows, set_row_height
from workbench.ui.widgets.tables.table_actions import TableActions
from workbench.ui.widgets.undo_key import is_undone

SERVER = "workbench.labelling.server"
ASK, MEASURING, SHOWN = range(3)
THUMBNAIL, ROW_PX = 40, 46  # px
MEASURED = 50  # rows from the visible ones on whose words columns are fitted to, after each answer
AHEAD = 20  # rows beyond the visible ones whose pictures are loaded, too
LIST, BESIDE = 3, 2  # stretches
TITLES = ("Image", "Class", "By", "Group", "Similarity", "Nearest class")
ONE_AT_A_TIME = "Classes are being suggested for another evaluation."
WHY = (
    "Choose a folder of images without labels. Each gets the class of the most similar image of the test set, if it "
    "is similar enough. The others are put into groups of similar images, which may be new classes. Correct the list, "
    "save it, and use it as a data set. No image is changed."
)
FPIR_TIP = (
    "Share of images of unknown classes that may be given a class (false positive identification rate, FPIR). It sets "
    "the similarity from which a class is suggested."
)
CHOICES = ((ALL, "All"), (NAMED, "With a class"), (GROUPED, "In groups"), (ALONE, "Alone"), (ANSWERED, "Answered"))
NONE_LISTED = {
    NAMED: "No image has a class.",
    GROUPED: "No image without a class is in a group.",
    ALONE: "Every image has a class, or is in a group.",
    ANSWERED: "No image is answered yet.",
}
UNSURE = "A folder is needed."
ORDERS = (
    (GROUPS, "Groups first", "The largest group of images without a class first, and in it the most typical image"),
    (
        TYPICAL, "Typical first",
        "The images without a class so that each next one is the nearest labelled image of as many others as possible "
        "(facility location, Wei et al., 2015): label those at the top where you label only a few",
    ),
)  # fmt: skip


class NewImagesPanel(QStackedWidget):
    """Shows the suggestions that were kept of the session's evaluation; every answer is stored at once."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.model = LabellingModel()
        self.work = EvaluationWork(session, SERVER, "retrieval", ONE_AT_A_TIME)
        self._shown: Evaluation | None = None  # that is asked for, or shown
        self._known = Known(None, {}, [], "", "")
        self._pictures, self._loader = FilePictures(session, self), shared_loader(session)
        self._build()
        self._make_actions()
        self._connect()

    def _build(self) -> None:
        self.ask = EmptyHint("New images", WHY, "Suggest classes")
        self.folder = PathEditor("folder", [])
        self.folder.setAccessibleName("Folder of images")
        self.folder.setMinimumWidth(420)
        self.fpir = number_box(QDoubleSpinBox())
        self.fpir.setRange(0.01, 50)
        self.fpir.setDecimals(2)
        self.fpir.setSuffix("%")
        self.fpir.setValue(100 * USUAL_FPIR)
        self.fpir.setToolTip(FPIR_TIP)
        self.back = button("Back to the list", "arrow-left")
        fields = QWidget()
        in_column(
            in_row(self.folder), in_row(1, caption("False positives", self.fpir), self.fpir, self.back, 1, spacing=8),
            on=fields, spacing=8,
        )  # fmt: skip
        self.ask.insert_above_button(fields)
        self.measuring = Measuring()
        self.listed = Segments("Which images", CHOICES)
        self.listed.set_value(ALL)
        self.order = QComboBox()
        self.order.setAccessibleName("Order")
        for name, words, tip in ORDERS:
            self.order.addItem(words, name)
            self.order.setItemData(self.order.count() - 1, tip, Qt.ItemDataRole.ToolTipRole)
        self.again = button("Another folder…", "folder-open")
        self.undo = button("Undo", "arrow-counter-clockwise")
        self.sentence = label("", "muted", wrap=True)
        self.rows = SortedRows(TITLES, _cells, _written, self, picture=self._thumbnail)
        self.table = QTableView()
        self.table.setModel(self.rows)
        select_rows(self.table, "New images")
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.table.setIconSize(QSize(THUMBNAIL, THUMBNAIL))
        set_row_height(self.table, ROW_PX)
        header = self.table.horizontalHeader()
        header.setTextElideMode(Qt.TextElideMode.ElideNone)
        header.setResizeContentsPrecision(MEASURED)
        header.setSortIndicatorClearable(True)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.table.setSortingEnabled(True)
        self.table_actions = TableActions(self.session.fulfil, self.table, "labels.csv", self.rows.unwritten, self._csv)
        self.copy, self.save = self.table_actions.icons()
        self.beside, self.nothing = Beside(self._pictures, self._loader), label("", "muted", wrap=True)
        head = in_lines(
            label("New images", "title"), self.listed, self.order, self.undo, self.again, self.copy, self.save,
        )  # fmt: skip
        content = QWidget()
        row = in_row((self.table, LIST), (self.beside, BESIDE), spacing=8)
        in_column(head, self.sentence, self.nothing, (row, 1), on=content, margins=(16, 8, 16, 12), spacing=8)
        for page in (self.ask, self.measuring, ScrolledDown(content)):
            self.addWidget(page)

    def _make_actions(self) -> None:
        for words, keys, slot in (
            ("No class for the chosen images", "Del", partial(self.give, "")),
            ("Choose the group of the image", "G", self.choose_group),
        ):
            action = QAction(words, self.table)
            action.setShortcut(QKeySequence(keys))
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
            action.triggered.connect(slot)
            self.table.addAction(action)

    def _connect(self) -> None:
        self.ask.pressed.connect(self.suggest)
        self.back.clicked.connect(partial(self.setCurrentIndex, SHOWN))
        self.measuring.pressed.connect(self.work.cancel)
        self.again.clicked.connect(partial(self.setCurrentIndex, ASK))
        self.folder.edited.connect(self._allow)
        self.listed.chosen.connect(self._choose_listed)
        self.order.currentIndexChanged.connect(self._arrange)
        self.undo.clicked.connect(self.take_back)
        self.table.selectionModel().selectionChanged.connect(self._show_chosen)
        self.beside.class_given.connect(self.give)
        self.beside.group_asked.connect(self.choose_group)
        self._pictures.ready.connect(self._pictures_came)
        self._loader.ready.connect(self.beside.draw_pictures)
        self.session.evaluation_changed.connect(self._show_evaluation)
        self.session.theme.changed.connect(self._fit)
        self._arrange(0)
        self._allow()

    def event(self, event: QEvent) -> bool:
        """Ctrl+Z takes back an answer while there is one; else it is the window's."""
        undo = self.take_back if self.model.can_undo else None
        return is_undone(event, undo) or super().event(event)

    # What is shown

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show_evaluation()

    def _show_evaluation(self) -> None:
        """Read what was kept of the shown evaluation, as soon as the view is visible."""
        shown = (self.session.workspace, self.session.evaluation_id)
        if not self.isVisible() or shown == self._shown:
            return
        self.work.leave_others(shown[0])
        self._shown = shown
        self.show_known(Known(None, {}, [], "", ""))
        if self.work.measures(shown):
            self.setCurrentIndex(MEASURING)
        elif shown[1] is not None:
            self._read(shown)

    def _read(self, shown: Evaluation) -> None:
        workspace, evaluation_id = shown
        if evaluation_id is not None:
            self.session.read(partial(read_known, workspace, evaluation_id), partial(self._take, shown))

    def _take(self, shown: Evaluation, known: Known) -> None:
        if shown == self._shown and not self.work.measures(shown):
            self.show_known(known)

    def show_known(self, known: Known) -> None:
        """Show what was kept, or ask for a folder."""
        self._known = known
        self.model.show(known.labelling)
        self.ask.say(f"{known.damaged} {known.refused or WHY}".strip())
        self.back.setVisible(known.labelling is not None)
        self.setCurrentIndex(ASK if known.labelling is None else SHOWN)
        if known.labelling is not None:
            suggested = known.labelling.suggested
            self._pictures.open(suggested.folder)
            self.folder.set_value(suggested.folder)
            words = filter(
                None, (groups_sentence(suggested), threshold_sentence(suggested), unread_sentence(suggested))
            )
            self.sentence.setText(" ".join(words))
        self._allow()
        self.draw()

    def _allow(self) -> None:
        self.ask.go.setEnabled(bool(self.folder.value()) and not self._known.refused)
        self.ask.go.setToolTip("" if self.folder.value() else UNSURE)
        for part in (self.folder, self.fpir):
            part.setEnabled(not self._known.refused)

    def _fit(self) -> None:
        fit_columns_to_words(self.table)

    def draw(self) -> None:
        """Show the listed rows and the counts; the chosen images stay chosen."""
        chosen = {row.image.path for row in self.chosen}
        counts = self.model.counts()
        for name, words in CHOICES:
            self.listed.buttons[name].setText(f"{words} {counts[name]:,}")
        self.rows.show(self.model.shown())
        self.nothing.setText(NONE_LISTED.get(self.model.listed, ""))
        self.nothing.setHidden(bool(self.rows.rows))
        self._fit()
        self.undo.setEnabled(self.model.can_undo)
        answers = {} if self.model.labelling is None else self.model.labelling.answers
        self.beside.offer(sorted(map(visible, {*self._known.classes, *filter(None, answers.values())})))
        self._choose(chosen)

    @property
    def chosen(self) -> list[Row]:
        """The chosen rows, from the top."""
        places = sorted(index.row() for index in self.table.selectionModel().selectedRows())
        return [row for place in places if (row := self.rows.row(place)) is not None]

    def _choose(self, paths: set[str]) -> None:
        """Choose the rows of these paths; the first row where none of them is listed."""
        places = [place for place, row in enumerate(self.rows.rows) if row.image.path in paths]
        places = places or list(range(len(self.rows.rows[:1])))
        selection, model, listed, first = self.table.selectionModel(), self.rows, set(places), 0
        selection.blockSignals(True)
        selection.clear()
        blocks = QItemSelection()  # of rows that follow one another: row by row ten thousand took ten seconds
        for place in places:
            if place - 1 not in listed:
                first = place
            if place + 1 not in listed:
                blocks.append(QItemSelectionRange(model.index(first, 0), model.index(place, len(TITLES) - 1)))
        selection.select(blocks, selection.SelectionFlag.Select)
        if places:
            selection.setCurrentIndex(model.index(places[0], 0), selection.SelectionFlag.NoUpdate)
            self.table.scrollTo(model.index(places[0], 0))
        selection.blockSignals(False)
        self.table.viewport().update()
        self._show_chosen()

    def _show_chosen(self) -> None:
        rows = self.chosen
        self.beside.show_chosen(rows, self._known.names.get(rows[0].image.nearest, "") if rows else "")

    def _choose_listed(self, name: str) -> None:
        self.model.listed = name
        self.draw()

    def _arrange(self, at: int) -> None:
        name, _, tip = ORDERS[at]
        self.order.setToolTip(tip)
        self.model.arrange(name)
        self.draw()
        if self.rows.rows:
            self._choose({self.rows.rows[0].image.path})

    def _pictures_came(self) -> None:
        if self.isVisible():
            self.rows.pictures_came(set())
            self.beside.draw_pictures()

    def _thumbnail(self, row: Row) -> QPixmap | None:
        picture = self._pictures.picture(row.image.path, THUMBNAIL)
        if picture is None:
            first = self.table.rowAt(0)
            last = self.table.rowAt(self.table.viewport().height() - 1)
            last = len(self.rows.rows) if last < 0 else last
            paths = [shown.image.path for shown in self.rows.rows[max(0, first) : last + AHEAD]]
            self._pictures.request(paths, THUMBNAIL)
        return picture if isinstance(picture, QPixmap) else None

    # What the user does

    def suggest(self) -> None:
        """Suggest classes for the folder, in a process of its own; answers to an earlier list are asked about.

        They are read again before: another window may have given some.
        """
        of = self._shown
        if self.model.labelling is None or of is None or of[1] is None:
            self._start()
            return
        self.session.read(partial(kept, of[0], of[1]), partial(self._ask_about, of), lambda problem: self._start())

    def _ask_about(self, of: Evaluation, labelling: Labelling | None) -> None:
        if of != self._shown:
            return
        if labelling is None or not labelling.answers:
            self._start()
            return
        answers = counted(len(labelling.answers), "answer", "answers")
        choices = {"keep": button("Keep the list"), "replace": button("Replace", kind="danger")}
        stay = ""
        if self.folder.value() == labelling.suggested.folder:
            stay = " They can be kept, as it is the same folder."
            choices["again"] = button("Replace, keep the answers", kind="primary")
        question = Question(
            "New images", "Replace the list?",
            f"The list of {labelling.suggested.folder}, with {answers} of yours, is replaced. Save it before if you "
            f"still need it.{stay}",
            choices, self.window(),
        )  # fmt: skip
        question.answered.connect(lambda key: self._start(with_answers=key == "again") if key != "keep" else None)
        question.open()

    def _start(self, *, with_answers: bool = False) -> None:
        of = self._shown
        if of is None or of[1] is None or not self.folder.value() or not self.work.is_free():
            return
        self.setCurrentIndex(MEASURING)
        fields: dict[str, Any] = {
            "folder": self.folder.value(), "false_positives": self.fpir.value() / 100, "with_answers": with_answers,
        }  # fmt: skip
        ended = partial(self._ended, of)
        self.work.start(of, "New images", "suggest", fields, lambda answer: ended(), ended)
        if self.work.newest is not None:
            self.measuring.follow(self.work.newest.item)

    def _ended(self, of: Evaluation) -> None:
        if of == self._shown:
            self.setCurrentIndex(ASK if self.model.labelling is None else SHOWN)
            self._read(of)

    def give(self, name: str, _checked: bool = False) -> None:
        """Give the chosen images a class, or none with an empty name, and choose the row that follows the first."""
        rows, known = self.chosen, {visible(label): label for label in self._known.classes}
        name = known.get(name, name)
        step = self.model.answer([row.image.path for row in rows], name)
        if step is None:
            return
        paths = {row.image.path for row in rows}
        listed = [row.image.path for row in self.rows.rows]
        behind = listed[listed.index(rows[0].image.path) :]
        following = next((path for path in behind if path not in paths), None)
        self._store(step)
        self.draw()
        if following is not None:
            self._choose({following})

    def take_back(self) -> None:
        """Undo the last answer, unless another program has changed it since."""
        if (step := self.model.undo()) is not None:
            self._store(step, step.before)
            self.draw()
            self._choose(set(step.after))

    def choose_group(self) -> None:
        """Choose all images of the group of the first chosen one."""
        if rows := self.chosen:
            self._choose(set(self.model.group_of(rows[0].image.path)))

    def _store(self, step: Step, before: Changes | None = None) -> None:
        labelling = self.model.labelling
        if labelling is not None:
            work = partial(give, self.session.workspace, labelling, step.after, before)
            self.session.change(work, partial(self._stored, step), partial(self._not_stored, step))

    def _stored(self, step: Step, answers: dict[str, str]) -> None:
        """Show the answers that other windows have given meanwhile."""
        if self.model.stored(step, answers):
            self.draw()

    def _not_stored(self, step: Step, problem: Problem) -> None:
        self.session.notify(problem, EVERYWHERE)
        theirs = problem.answers if isinstance(problem, Changed) else None
        if self.model.not_stored(step) if theirs is None else self.model.stored(step, theirs):
            self.draw()
            self._choose(set(step.after))
        if isinstance(problem, Replaced) and self._shown is not None:
            self._read(self._shown)

    def _csv(self) -> Content:
        labelling = self.model.labelling
        assert labelling is not None  # else the table is not shown
        return partial(as_csv, labelling.suggested, self._known.names, dict(labelling.answers))


def _cells(row: Row) -> tuple[Any, ...]:
    image = row.image
    by = ("you" if row.answered else "suggested") if row.label or row.answered else ""
    return (
        visible(image.path), visible(row.label), by, 0 if row.label else image.group, image.similarity,
        visible(image.nearest_class),
    )  # fmt: skip


def _written(column: int, value: Any) -> str:
    if isinstance(value, str):
        return value or (NO_VALUE if column == 1 else "")
    if column == 3:
        return f"{value:,}" if value else ""
    return f"{value:.3f}"
