"""The Retrieval page: queries on the left, the query and its neighbours in the centre. It draws a Browsing."""

from pathlib import Path

import numpy as np
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QAction, QDragEnterEvent, QDropEvent, QKeySequence, QShowEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from workbench.files.spreadsheet import pasted
from workbench.running.search.image_search import Answer
from workbench.running.search.text_search import TextAnswer
from workbench.ui.pages.retrieval.classes.class_bars import ClassBars
from workbench.ui.pages.retrieval.classes.class_place import ClassPlace
from workbench.ui.pages.retrieval.explaining import Explaining
from workbench.ui.pages.retrieval.method_search import MethodSearch
from workbench.ui.pages.retrieval.model.browsing import Browsing
from workbench.ui.pages.retrieval.model.contract import Change
from workbench.ui.pages.retrieval.model.filters import CellQueries, ClassGroup
from workbench.ui.pages.retrieval.neighbours.other_grid import ranks_after
from workbench.ui.pages.retrieval.neighbours.result import Result
from workbench.ui.pages.retrieval.pair.following import QueryPairs
from workbench.ui.pages.retrieval.queries.export import written
from workbench.ui.pages.retrieval.queries.query_list import QueryList
from workbench.ui.pages.retrieval.queries.saved_views_menu import SavedViewsMenu
from workbench.ui.pages.retrieval.queries.view_fields import Listed, list_again, listed_now, words_of
from workbench.ui.pages.retrieval.search.gallery_panel import GalleryPanel
from workbench.ui.pages.retrieval.search.own_image import OwnImageMenu, dropped
from workbench.ui.pages.retrieval.search.own_search import OwnSearch
from workbench.ui.pages.retrieval.search.words_row import WordsRow
from workbench.ui.pages.retrieval.tagging import Tagging
from workbench.ui.pages.retrieval.views import RetrievalViews
from workbench.ui.state.in_turns import InTurns
from workbench.ui.state.pages.in_parts import Parts, begun
from workbench.ui.state.session import Session
from workbench.ui.style.words import own_keys
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import button, icon_button
from workbench.ui.widgets.dialogs.save_file import CSV, ask_file, copy_text
from workbench.ui.widgets.evaluation.evaluation_hint import EvaluationHint
from workbench.ui.widgets.flow import in_lines
from workbench.ui.widgets.images.locating import LocateStrip
from workbench.ui.widgets.images.pictures import shared_loader
from workbench.ui.widgets.scrolled import ScrolledAcross
from workbench.workspace.choices.saved_views import SavedView

KINDS = {"cosine": "cosine similarity", "l2": "minus the distance", "hyperbolic": "minus the hyperbolic distance"}
LATE = 250  # ms after which the old query is removed while another is still being read
NOT_ASKED = (
    "{title} did not search with this image: as in Deployment, only {asked:,} of {there:,} queries are searched."
)
CELL_NOT_KEPT = "A saved view is for every run, so “{title}”, which is of this evaluation, is not in it."
READING, NO_QUERY = "Reading the query…", "No query to show."


class RetrievalPage(QStackedWidget):
    """Browses the shown evaluation. The session holds the query, so that map and Inspector follow it."""

    def __init__(self, session: Session, parent: QWidget | None = None, *, in_parts: bool = False) -> None:
        super().__init__(parent)
        self.session = session
        self.browsing = Browsing(session, self._draw)
        self.destroyed.connect(self.browsing.leave)
        self._turns = InTurns(session, self)
        self._late = QTimer(self, singleShot=True, interval=LATE)
        self._late.timeout.connect(self.browsing.drop_late)
        self.making = begun(self._parts(), in_parts)

    def _parts(self) -> Parts:
        yield from self._build()
        self._make_actions()
        self._connect()
        self.saved.read()
        self._show_evaluation()

    def _build(self) -> Parts:
        appears = "This page shows the queries of an evaluation with their nearest neighbours."
        self.hint = EvaluationHint(self.session, appears)
        loader = shared_loader(self.session)
        self.saved = SavedViewsMenu(self.session, self._listed, self._list_again)
        self.queries = QueryList(self.browsing, loader, self.saved)
        yield
        self.classes = ClassBars(self.browsing)
        self.result = Result(loader)
        yield
        self.pairs = QueryPairs(self.session, self.browsing, self.result)
        self.explaining = Explaining(self.session, self.browsing, self.queries.why, self.result)
        self.methods = MethodSearch(self.session, self.browsing, self.queries.why)
        self.tagging = Tagging(self.session, self.browsing, self.queries.why, self.result)
        self.back = icon_button("arrow-left", own_keys("Back to the previous query (Alt+Left)"))
        self.forward = icon_button("arrow-right", own_keys("Forward again (Alt+Right)"))
        own = OwnSearch(self.session, self._show_own)
        self.own = button("Search with an image", "image")
        self.own.setToolTip("An image of your own: open a file, paste one, or drop it on this page")
        self.own_images = OwnImageMenu(own.search, own.search_again, self.session.notify, self.own)
        self.own.setMenu(self.own_images)
        self.locating = LocateStrip(self.session, loader)
        self.words = WordsRow(self.session, self.browsing.show_answer)
        self.by_words = button("Search by words", "text-aa")
        self.by_words.setCheckable(True)
        self.by_class = button("Classes", "chart-bar-horizontal")
        self.by_class.setCheckable(True)
        self.by_class.setToolTip("Scores of the classes as bars, worst first (C)")
        yield
        content = QWidget()  # in its place before it is filled: moved later, all in it would be styled again
        self.views = RetrievalViews(self.session, ScrolledAcross(content))
        self.addWidget(self.hint)
        self.addWidget(self.views)
        yield
        bar = in_lines(self.back, self.forward, self.by_words, self.own, self.by_class, self.locating)
        centre = in_column(bar, self.words, (self.result, 1), spacing=12)
        yield
        in_row(self.queries, (centre, 1), on=content, margins=(16, 12, 16, 12), spacing=16)
        yield
        self.class_place = ClassPlace(self.session, self.classes, self.queries, self.by_class, content)
        yield
        self.gallery = GalleryPanel(self.session)
        yield
        self.addWidget(self.gallery)
        yield
        self.setAcceptDrops(True)

    def _make_actions(self) -> None:
        for words, keys, slot in (
            ("Next query", "J", self._next),
            ("Previous query", "K", self._previous),
            ("Back", "Alt+Left", self.browsing.back),
            ("Forward", "Alt+Right", self.browsing.forward),
            ("Show the query in the map", "M", self._show_in_map),
            ("Tag the query", "Ctrl+Shift+G", self.tagging.open),
            ("Query and a neighbour side by side", "P", self.pairs.ask_chosen),
            ("Copy the query's image", "Ctrl+Shift+C", self.result.image_menu.copy_image),
            ("Open the folder of the query's image", "", self.result.image_menu.show_folder),
            ("Earlier evaluation", "[", self.session.show_earlier),
            ("Later evaluation", "]", self.session.show_later),
            ("Search with an image…", "", self.own_images.ask_file),
            ("Paste an image to search with", "Ctrl+V", self.own_images.search_clipboard),
            ("Search by words", "Ctrl+T", self.by_words.toggle),
            ("Search this run with the last image again", "Ctrl+Shift+V", self.own_images.again.trigger),
            ("Scores of the classes", "C", self.by_class.toggle),
            ("Saved views", "Ctrl+Shift+L", self.saved.showMenu),
            ("Export the listed queries…", "", self._ask_export),
        ):
            action = QAction(words, self)
            action.setShortcut(QKeySequence(keys))
            action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            action.triggered.connect(slot)
            self.addAction(action)
        self._steps = self.actions()[:2]  # through the queries
        self.views.currentChanged.connect(self._offer_steps)

    def _offer_steps(self, view: int) -> None:
        """Let J and K step through queries only while these are shown: in Label triage, K keeps a label."""
        for action in self._steps:
            action.setEnabled(view == 0)

    def _connect(self) -> None:
        session, result = self.session, self.result
        self.queries.selection_dropped.connect(self._drop_selection)
        self.queries.export_asked.connect(self._ask_export)
        self.by_words.toggled.connect(self.words.open)
        self.views.queries_asked.connect(self.show_method)
        self.views.group_chosen.connect(self._list_group)
        self.views.cell_chosen.connect(self._list_cell)
        self.views.classes_asked.connect(self._show_classes)
        self.views.tags_asked.connect(self.tagging.ask_import)
        result.neighbour_chosen.connect(self.browsing.choose)
        self.explaining.sample_chosen.connect(self.browsing.choose)
        self.classes.confusions.all_asked.connect(self.explaining.open_dialog)
        result.map_asked.connect(self._show_in_map)
        self.back.clicked.connect(self.browsing.back)
        self.forward.clicked.connect(self.browsing.forward)
        result.copy_asked.connect(self._copy)
        result.stepped.connect(self.browsing.step)
        result.own_dropped.connect(self._show_query)
        session.theme.changed.connect(self._fit_text)
        self._fit_text()
        session.evaluation_changed.connect(self._show_evaluation)
        for changed in (session.run_changed, session.runs_changed):
            changed.connect(self._show_part)
        session.evaluations_changed.connect(self.browsing.look_for_evaluations)
        session.choices_changed.connect(self._hear_choices)
        session.query_changed.connect(self._show_query)
        session.selection_changed.connect(self._show_selection)
        session.workspace_changed.connect(self._show_evaluation)

    def _hear_choices(self, changed: set[str]) -> None:
        if "sample_tags" in changed:
            self.browsing.look_for_tags()

    def _fit_text(self) -> None:
        self.queries.fit_text(self.session.theme)
        self.class_place.place()

    # What is shown

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show_evaluation()
        self.queries.table.setFocus()

    def _show_evaluation(self) -> None:
        """Browse another evaluation, as soon as the page is visible."""
        evaluation_id = self.session.evaluation_id
        self._show_part()
        if evaluation_id is None or self.isVisible():
            self._show_selection()
            self._late.start()
            self.browsing.show_evaluation(self.session.workspace, evaluation_id)
            self._show_query()

    def _show_part(self) -> None:
        """Show the evaluation, the gallery of a search-only run, or a hint."""
        evaluation_id = self.session.evaluation_id
        gallery = self._gallery_of_run() if evaluation_id is None else None
        self.setCurrentIndex(1 if evaluation_id is not None else 0 if gallery is None else 2)
        if gallery is None or self.isVisible():
            self.gallery.show_run(gallery)

    def _gallery_of_run(self) -> int | None:
        """The shown run if it is search-only, else None."""
        run = self.session.run()
        return run.id if run is not None and run.only_searched else None

    def _show_query(self) -> None:
        if self.isVisible():
            self._late.start()
            self.browsing.show_query(self.session.query)
            self.queries.mark_query()

    def _show_selection(self) -> None:
        if self.isVisible() and self.session.selection is not self.browsing.filters.selection:
            self.browsing.select(self.session.selection)

    def _draw(self, change: Change) -> None:
        """Draw what has changed in the model."""
        match change:
            case Change.EVALUATION:
                self.result.setVisible(self.browsing.shown is not None)
                self.pairs.keep_query()
                if self.browsing.result is None and self.browsing.answer is None:  # of another run
                    self.result.show_nothing(READING if len(self.browsing.listing) else NO_QUERY)
                self.queries.model.relist()  # at once, so that no removed row is painted
                self.methods.draw()
                self._turns.begin(
                    self.queries.draw_evaluation, self.classes.draw_evaluation, self.explaining.show_evaluation
                )
            case Change.OPTIONS:
                self.queries.why.draw()
                self.classes.confusions.draw()
            case Change.LIST:
                self.queries.draw_list()
                self._draw_place()
                self.classes.follow_group()
                self.classes.mark_class()
                self.views.mark_listed(self.browsing.filters.group, self.browsing.filters.cell)
            case Change.QUERY:
                self._draw_query()
            case Change.COMPARISON:
                self.explaining.compare()
                self.methods.draw()
                self._draw_comparison()
            case Change.EXPLANATION:
                self.explaining.draw()

    def _draw_query(self) -> None:
        browsing = self.browsing
        answer, result = browsing.answer, browsing.result
        if isinstance(answer, TextAnswer):
            self.result.show_words(answer.name, answer.neighbours, KINDS[answer.evaluation.distance], answer.tower)
        elif answer is not None:
            kind = KINDS[answer.evaluation.distance]
            self.result.show_own(answer.picture, answer.name, answer.neighbours, kind, answer.evaluation.epoch)
        elif result is not None and browsing.shown is not None:
            kind = KINDS[browsing.shown.evaluation.distance]
            self.result.show_query(result.query, browsing.neighbours, kind)
            self._late.stop()
        else:
            self.result.show_nothing(READING if browsing.reading else NO_QUERY)
        self.queries.mark_query()
        self._draw_place()
        self._draw_comparison()
        self.explaining.draw()
        self.pairs.follow_page()
        self.back.setEnabled(browsing.history.can_go_back)
        self.forward.setEnabled(browsing.history.can_go_forward)

    def _draw_place(self) -> None:
        """Say where the query stands in the list."""
        listing = self.browsing.listing
        self.result.show_place(listing.position_of(self.browsing.query), len(listing))

    def _draw_comparison(self) -> None:
        """Draw the query's neighbours in the compared evaluation beside those in the shown one."""
        result, word = self.browsing.result, self.browsing.comparison.word
        self.result.grid.mark({})
        if self.browsing.comparison.method is not None and result is not None and self.browsing.answer is None:
            self._draw_method()
        elif not word or result is None or self.browsing.answer is not None:
            self.result.other.hide()
        elif result.elsewhere is None:
            self.result.other.say(f"This image is not a query at {word}.")
        else:
            self.result.other.show_query(word, result.elsewhere, result.near_elsewhere, self.browsing.neighbours)
        self.result.fit_picture()

    def _draw_method(self) -> None:
        """Draw the query's neighbours by the method of search beside the plain ones, and what has moved."""
        browsing, by_method = self.browsing, self.browsing.filters.by_method
        answered = browsing.by_method()
        if by_method is None:
            self.result.other.hide()  # the list says what it waits for
        elif answered is None:
            asked, there = len(by_method.searched.queries), by_method.searched.there
            self.result.other.say(NOT_ASKED.format(title=by_method.title, asked=asked, there=there))
        elif browsing.result is not None:
            facts, near = answered
            self.result.other.show_method(by_method.title, facts, browsing.result.query.r, near, browsing.neighbours)
            self.result.grid.mark(ranks_after(browsing.neighbours, near))

    def show_method(self, name: str) -> None:
        """Show the queries, compared with a method of search."""
        self.views.setCurrentIndex(0)
        self.browsing.compare_by(name)

    # What the user does

    def _show_own(self, answer: Answer) -> None:
        self.session.settled.emit(self.session.here())  # what another image could not do
        self.browsing.show_answer(answer)

    def _next(self) -> None:
        self.browsing.step(1)

    def _previous(self) -> None:
        self.browsing.step(-1)

    def _drop_selection(self) -> None:
        self.session.select(np.empty(0, np.int64))

    def _show_in_map(self) -> None:
        if self.session.query is not None:
            self.session.select(np.array([self.session.query], np.int64))
            self.session.show_page("map")

    def _list_group(self, group: ClassGroup) -> None:
        self.browsing.choose_filters(group=group)

    def _show_classes(self) -> None:
        self.views.setCurrentIndex(0)
        self.by_class.setChecked(True)

    def _list_cell(self, queries: CellQueries) -> None:
        self.browsing.choose_filters(cell=queries)

    def _listed(self) -> Listed:
        if (cell := self.browsing.filters.cell) is not None:
            self.session.notify(CELL_NOT_KEPT.format(title=cell.title))
        return listed_now(self.browsing, self.words.text.toPlainText().strip())

    def _list_again(self, view: SavedView) -> None:
        """List the queries of a saved view; the message bar names what this evaluation lacks."""
        missing = list_again(self.browsing, view.listed)
        words = words_of(view.listed)
        self.words.text.setPlainText(words)
        self.by_words.setChecked(bool(words))
        if missing:
            self.session.notify(f"Not in this evaluation, so left out of “{view.name}”: {', '.join(missing)}.")

    def _copy(self) -> None:
        lines = [f"{near.rank}\t{pasted(near.class_name)}\t{near.similarity:.4f}" for near in self.browsing.neighbours]
        copy_text("\n".join(["rank\tclass\tsimilarity", *lines]), "The table", self.session.fulfil)

    def _ask_export(self) -> None:
        path = ask_file(self, self.session.preferences, "Export the listed queries", "queries.csv", CSV)
        if path is not None:
            self.export_to(path)

    def export_to(self, path: Path) -> None:
        """Write the listed queries in their order as CSV, with causes of failure, on a thread."""
        shown, listed = self.browsing.shown, self.browsing.listing.all()
        if shown is None:
            return
        explained = self.browsing.filters.explained
        by_method = self.browsing.filters.by_method
        method = None if by_method is None else by_method.searched.method
        work = written(path, listed, self.session.workspace, shown.evaluation.id, explained, method)
        self.session.run_in_thread("Export the listed queries", work, self.session.notify, lasting=True)

    # Search with an image of one's own

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if self.currentIndex() == 1 and dropped(event.mimeData()) is not None:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        image = dropped(event.mimeData())
        if image is not None:
            self.own_images.search(image)
