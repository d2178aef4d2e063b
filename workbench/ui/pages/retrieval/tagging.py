"""Tags on samples: put on the query, listed as a filter, and what MAP@R would be without the tagged."""

from functools import partial

import numpy as np
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QInputDialog, QMenu

from workbench.problem import Problem
from workbench.progress import Progress
from workbench.results.leaving_out import LeftOut, without_samples
from workbench.ui.pages.retrieval.failure_filter import FailureFilter
from workbench.ui.pages.retrieval.result import Result
from workbench.ui.session import Session
from workbench.ui.words import percent
from workbench.workspace.sample_tags import LONGEST, all_tags, tag_sample

USUAL = "label wrong"


class Tagging(QObject):
    """Follows the query and the data set that the page shows. Tags are the data set's: every run of it has them."""

    def __init__(self, session: Session, filters: FailureFilter, result: Result, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._filters, self._result = session, filters, result
        self._dataset_id: int | None = None
        self._sample: int | None = None
        self._tags: dict[str, list[int]] = {}
        self.menu = QMenu(result.tag)
        result.tag.setMenu(self.menu)
        self.menu.aboutToShow.connect(self._fill_menu)
        filters.left_out_asked.connect(self.measure_without)

    def show_dataset(self, dataset_id: int) -> None:
        """Another evaluation is shown, perhaps of another data set; what was measured of the last one goes."""
        self._dataset_id = dataset_id
        self._filters.show_left_out("")
        self._read()

    def show_query(self, sample_id: int | None) -> None:
        """Another query is shown; None for an image of one's own, which has no tags."""
        self._sample = sample_id
        self._result.show_tags(None if sample_id is None else self._of(sample_id))

    def put(self, tag: str, on: bool) -> None:
        """Put a tag on the query or take it away: on a thread, for a run may be writing."""
        workspace, dataset_id, sample_id = self._session.workspace, self._dataset_id, self._sample
        if dataset_id is None or sample_id is None:
            return

        def work(progress: Progress) -> None:
            tag_sample(workspace, dataset_id, sample_id, tag, on=on)

        self._session.run_in_thread("Tag the query", work, self._written, quiet=True)

    def measure_without(self, tag: str) -> None:
        """Say what MAP@R would be if the samples with a tag were left out."""
        evaluation_id, workspace = self._session.evaluation_id, self._session.workspace
        if evaluation_id is None or tag not in self._tags:
            return
        gone = np.array(self._tags[tag], np.int64)

        def work(progress: Progress) -> LeftOut:
            return without_samples(workspace, evaluation_id, gone, progress)

        self._filters.show_left_out("Being worked out…")
        told = partial(self._tell, evaluation_id, tag)
        task = self._session.run_in_thread(f"MAP@R without “{tag}”", work, told, self._fail)
        task.ended.connect(self._forget_waiting)

    def _of(self, sample_id: int) -> list[str]:
        return [tag for tag, ids in self._tags.items() if sample_id in ids]

    def _read(self) -> None:
        if self._dataset_id is not None:
            self._tags = all_tags(self._session.workspace, self._dataset_id)
            self._filters.show_tags({tag: np.array(ids, np.int64) for tag, ids in self._tags.items()})
            self.show_query(self._sample)

    def _written(self, _: None) -> None:
        self._filters.show_left_out("")
        self._read()

    def _fill_menu(self) -> None:
        self.menu.clear()
        if self._sample is None:
            return
        has = self._of(self._sample)
        for tag in sorted({USUAL, *self._tags}):
            action = self.menu.addAction(tag.replace("&", "&&"))
            action.setCheckable(True)
            action.setChecked(tag in has)
            action.toggled.connect(partial(self.put, tag))
        self.menu.addSeparator()
        self.menu.addAction("Other tag…").triggered.connect(self._ask)

    def _ask(self) -> None:
        tag, agreed = QInputDialog.getText(self._result, "Tag the query", f"Some words, at most {LONGEST} characters")
        if agreed:
            self.put(tag, True)

    def _tell(self, evaluation_id: int, tag: str, found: LeftOut) -> None:
        if evaluation_id == self._session.evaluation_id:
            self._filters.show_left_out(
                f"MAP@R {percent(found.whole, 2)} %; it would be {percent(found.without, 2)} % "
                f"if the {found.count:,} tagged “{tag}” were left out. Nothing was changed."
            )

    def _fail(self, problem: Problem) -> None:
        self._session.notify(problem)

    def _forget_waiting(self) -> None:
        self._filters.show_left_out("")
