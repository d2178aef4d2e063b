"""The menu of tags of the query, tables of tags, and what MAP@R would be without the tagged samples."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QMenu

from workbench.jobs.newest import Newest
from workbench.names import visible, visible_name
from workbench.numerals import percentage
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.results.leaving_out import LeftOut, without_samples
from workbench.results.tag_table import Imported, export_tags, import_tags
from workbench.ui.pages.retrieval.model.browsing import Browsing
from workbench.ui.pages.retrieval.neighbours.result import Result
from workbench.ui.pages.retrieval.queries.failure_filter import FailureFilter
from workbench.ui.state.concern import EVERYWHERE
from workbench.ui.state.session import Session
from workbench.ui.state.undo import Reversible
from workbench.ui.widgets.dialogs.save_file import CSV, ask_file
from workbench.ui.widgets.dialogs.text_question import ask_name
from workbench.ui.widgets.page_menu import PageMenu
from workbench.workspace.choices.sample_tags import LONGEST, Tagged, attribute_of, change_tags

USUAL = "label wrong"
TABLES = "Tables (*.csv *.tsv *.txt)"  # Excel calls its Unicode text so


class Tagging(QObject):
    """Adds and removes tags of the query, and reads tables of tags. They belong to the data set, and all its runs."""

    def __init__(self, session: Session, browsing: Browsing, filters: FailureFilter, result: Result) -> None:
        super().__init__(result)
        self._session, self._browsing, self._filters, self._result = session, browsing, filters, result
        self._left_out = Newest(session)
        self.menu = PageMenu(result.tag)
        result.tag.setMenu(self.menu)
        self.menu.aboutToShow.connect(self._fill_menu)
        filters.left_out_asked.connect(self.measure_without)

    def open(self) -> None:
        """Open the menu of tags at its button; nothing happens where the query can have none."""
        if self._result.tag.isEnabled():
            self._result.tag.showMenu()

    def put(self, tag: str, on: bool) -> None:
        """Add a tag to the query, or remove it."""
        self._left_out.cancel()
        self._say_nothing()
        self._browsing.tag(tag, on=on)

    def measure_without(self, tag: str) -> None:
        """Compute what MAP@R would be without the samples that have a tag, and report it."""
        shown, workspace = self._browsing.shown, self._session.workspace
        ids = self._browsing.filters.tags.get(tag)
        if shown is None or ids is None:
            return
        evaluation_id = shown.evaluation.id

        def work(progress: Progress) -> LeftOut:
            return without_samples(workspace, evaluation_id, ids, progress)

        self._filters.show_left_out("Computing…")
        then, failed = partial(self._say, evaluation_id, tag), partial(self._refuse, self._session.tell_failure())
        self._left_out.ask(f"MAP@R without “{tag}”", work, then, failed, cancelled=self._say_nothing)

    def _fill_menu(self) -> None:
        self.menu.clear()
        tags = self._browsing.tags_of_query
        if tags is None:
            return
        menus: dict[str, QMenu] = {"": self.menu}
        for tag in sorted({USUAL, *self._browsing.filters.tags}, key=attribute_of):
            name, value = attribute_of(tag)
            if name not in menus:
                menus[name] = self.menu.addMenu(visible(name).replace("&", "&&"))
            action = menus[name].addAction(visible(value).replace("&", "&&"))
            action.setCheckable(True)
            action.setChecked(tag in tags)
            action.toggled.connect(partial(self.put, tag))
        self.menu.addSeparator()
        self.menu.addAction("Other tag…").triggered.connect(self._ask)
        self.menu.addSeparator()
        self.menu.addAction("Tags from a table…").triggered.connect(self.ask_import)
        export = self.menu.addAction("Tags as a table…")
        export.setEnabled(bool(self._browsing.filters.tags))
        export.triggered.connect(self._ask_export)

    def import_from(self, path: Path) -> None:
        """Store the tags of a table, for all images of the data set; the message bar says how many."""
        shown, workspace = self._browsing.shown, self._session.workspace
        if shown is not None:
            then = partial(self._imported, shown.dataset_id, path.name)
            self._session.change(partial(import_tags, workspace, shown.dataset_id, path), then)

    def export_to(self, path: Path) -> None:
        """Write all tags of the data set as a table; the message bar says of how many images."""
        shown, workspace = self._browsing.shown, self._session.workspace
        if shown is not None:
            self._session.change(
                partial(export_tags, workspace, shown.dataset_id, path),
                lambda count: self._session.notify(f"Tags of {count:,} images written to {path}."),
            )

    def ask_import(self) -> None:
        """Ask for a table of tags, and store it."""
        name, _ = QFileDialog.getOpenFileName(self._result, "Tags from a table", "", TABLES)
        if name:
            self.import_from(Path(name))

    def _ask_export(self) -> None:
        path = ask_file(self._result, self._session.preferences, "Tags as a table", "tags.csv", CSV)
        if path is not None:
            self.export_to(path)

    def _imported(self, dataset_id: int, name: str, brought: Imported) -> None:
        beyond = f"; rows about images of another data set: {brought.unknown:,}" if brought.unknown else ""
        self._session.notify(f"Tags stored: {brought.tags:,}, of {brought.images:,} images{beyond}.")
        self._browsing.look_for_tags()
        if brought.added:
            again, back = (
                partial(self._change, dataset_id, brought.added, brought.replaced),
                partial(self._change, dataset_id, brought.replaced, brought.added),
            )
            tell = partial(self._session.notify, concern=EVERYWHERE)
            self._session.done.emit(Reversible(f"tags of {visible_name(name)}", again, back, tell))

    def _change(
        self, dataset_id: int, added: Sequence[Tagged], removed: Sequence[Tagged], refused: Callable[[Problem], None]
    ) -> None:
        work = partial(change_tags, self._session.workspace, dataset_id, added, removed, only_over_removed=True)
        self._session.change(work, lambda _: self._browsing.look_for_tags(), refused)

    def _ask(self) -> None:
        words = f"Tag, at most {LONGEST} characters"
        tag = ask_name(self._result, "Tag the query", words, LONGEST, verb="Tag")
        if tag is not None:
            self.put(tag, True)

    def _say(self, evaluation_id: int, tag: str, scores: LeftOut) -> None:
        self._say_nothing()
        shown = self._browsing.shown
        if shown is not None and shown.evaluation.id == evaluation_id:
            self._filters.show_left_out(
                f"MAP@R {percentage(scores.whole, 2)}; it would be {percentage(scores.without, 2)} "
                f"if the {scores.count:,} tagged “{tag}” were left out. Nothing was changed."
            )

    def _refuse(self, tell: Callable[[Problem], None], problem: Problem) -> None:
        self._say_nothing()
        tell(problem)

    def _say_nothing(self) -> None:
        self._filters.show_left_out("")
