"""The dialog "Test on other images": the images, which network of the run, and a name for the run that is made."""

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFormLayout, QLineEdit, QWidget

from workbench.exchange.imported.other_images import is_list
from workbench.files import typed_path
from workbench.files.archive_names import is_archive
from workbench.numerals import numbers_in_words, percentage
from workbench.progress import Progress
from workbench.results.network_scores import NetworkScores, earlier_tests, newest_scores
from workbench.running.search.image_search import BEST, LAST
from workbench.ui.state.session import Session
from workbench.ui.style.words import counted
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import button, button_row
from workbench.ui.widgets.dialogs.first_size import open_at
from workbench.ui.widgets.dialogs.main_button import MainButtonDialog
from workbench.ui.widgets.evaluation.network_table import MOST_READ, NetworkTable
from workbench.ui.widgets.fields.editors import ChoiceEditor, PathEditor
from workbench.ui.widgets.labels import ElidedLabel, label, restyle
from workbench.ui.widgets.scrolled import ScrolledPart
from workbench.workspace import Workspace
from workbench.workspace.rows import Run
from workbench.workspace.run_names import network_tested

HELP = (
    "A folder with a folder for each class, an archive (zip or tar) of one, or a list: a .csv, .tsv or .txt file with "
    "the columns path and label"
)
ABOUT = (
    "The network embeds the images and nothing is trained. The result is a separate run, in which every image "
    "queries all others. The Activity panel shows the progress and has Cancel."
)
ABOUT_ALL = (
    "Each network embeds the images, one after another, and nothing is trained. Each result is a separate run, in "
    "which every image queries all others; tests of runs that differ only in seed or fold form one group on Compare. "
    "The Activity panel shows the progress and has Cancel, which keeps the tests that are done."
)
NAME = "Named after the run and the images"
NAMES = "Each is named after its run and the images"
WIDTH = 640  # px at 100% text
SO_FAR = "Tests so far, and the run's own test set"
MOST_SHOWN = 6  # rows, after which the table scrolls
Start = Callable[[Run, Path, str, str], object]  # run, images, name (empty for one of both), epoch (best or last)


class OtherImagesDialog(MainButtonDialog):
    """Asks on which images the network of a run, or of each of several, is tested; closes when the test has begun.

    Args:
        runs: that are tested; a test stands for the network that it is of.
        start: begins the test; of several runs it gets the first.
    """

    def __init__(self, session: Session, runs: Sequence[Run], start: Start, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Test on other images")
        self._session, self._runs, self._run, self._begin = session, runs, runs[0], start
        self.images = PathEditor("any", [])
        self.said = label(HELP, "caption", wrap=True)
        self.heading = ElidedLabel(_title(runs), "section", Qt.TextElideMode.ElideMiddle)
        self.network = self._networks()
        self.name = QLineEdit(placeholderText=NAME if len(runs) == 1 else NAMES)
        self.before, self.look = label("", "warning", wrap=True), button("")
        self.so_far = NetworkTable(SO_FAR, MOST_SHOWN)
        self._tests, self._before = list[Run](), list[Run]()  # all tests of these networks; those on the chosen images
        self.cancel, self.start = button("Cancel"), button("Test", "image", "primary")
        self.main = self.start
        self._build()
        self.images.edited.connect(self._check)
        self.start.clicked.connect(self._start)
        self.cancel.clicked.connect(self.reject)
        self.look.clicked.connect(self._look_at_them)
        self.network.edited.connect(self._check)
        self.so_far.run_chosen.connect(self._look_at)
        session.workspace_changed.connect(self.reject)  # there another run may have its number
        self._check()
        look = partial(_scores_of, session.workspace, [run.id for run in runs])
        self._task = session.run_in_thread("Reading the tests of the run", look, self._show_scores, quiet=True)

    def done(self, result: int) -> None:
        """Close; what is still read for the dialog is dropped."""
        self._task.cancel()
        super().done(result)

    def _networks(self) -> ChoiceEditor:
        """The networks that a run keeps; a test has the one that it is of."""
        if len(self._runs) == 1 and self._run.tested is not None:
            return ChoiceEditor([BEST], [f"The tested one: {network_tested(self._run)}"])
        tests = sum(run.tested is not None for run in self._runs)
        if tests:
            every = tests == len(self._runs)
            return ChoiceEditor([BEST], ["The tested ones" if every else "Best epoch; for a test, the tested one"])
        return ChoiceEditor([BEST, LAST], ["Best epoch", "Last epoch"])

    def _build(self) -> None:
        fields = QWidget()
        form = QFormLayout(fields)
        form.setContentsMargins(0, 0, 0, 0)
        form.setHorizontalSpacing(16)
        form.setVerticalSpacing(4)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self.images.setAccessibleName("Images")
        self.images.setAccessibleDescription(HELP)
        self.network.setAccessibleName("Network")
        self.name.setAccessibleName("Name of the new run")
        form.addRow("Images", self.images)
        form.addRow("", self.said)
        form.addRow("Network", self.network)
        form.addRow("Name", self.name)
        self.before.hide()
        self.look.hide()
        foot, about = (
            button_row(self.cancel, self.start),
            label(ABOUT if len(self._runs) == 1 else ABOUT_ALL, "muted", wrap=True),
        )
        before = in_row((self.before, 1), (self.look, Qt.AlignmentFlag.AlignTop), spacing=12)
        parts = (self.heading, ScrolledPart(fields), about, before, self.so_far, 1, foot)
        in_column(*parts, on=self, margins=16, spacing=8)
        open_at(self, self._session.theme.px(WIDTH), self.sizeHint().height())

    def _show_scores(self, scores: NetworkScores) -> None:
        """List the tests; nothing is shown where there are none."""
        self._tests = scores.tests
        self.so_far.show_scores(scores)
        self._check()

    def _fit(self) -> None:
        """Make room for what has been added."""
        if (wanted := self.sizeHint().height()) > self.height():
            open_at(self, self.width(), wanted)

    @property
    def _path(self) -> Path | None:
        text = self.images.value()
        return typed_path(text) if text else None

    def _check(self) -> None:
        """Say what is wrong with the path, and offer the test where nothing is."""
        wrong = "" if self._path is None else _wrong(self._path)
        self.said.setText(wrong or HELP)
        self.said.setProperty("role", "error" if wrong else "caption")
        restyle(self.said)
        self.images.setAccessibleDescription(wrong or HELP)
        self.start.setEnabled(self._path is not None and not wrong)
        self.start.setToolTip("" if self.start.isEnabled() else "Choose images first")
        self._check_before()

    def _check_before(self) -> None:
        """Say which tests have the result already, and offer to show them."""
        path = self._path if self.start.isEnabled() else None
        network = str(self.network.value())
        self._before = [] if path is None else earlier_tests(self._tests, self._runs, path, network)
        self.before.setText(_said_before(self._before, len(self._runs)))
        self.look.setText(f"Show run {self._before[0].id}" if len(self._before) == 1 else "Compare these tests")
        self.start.setText("Test again" if self._before else "Test")
        for widget in (self.before, self.look):
            widget.setVisible(bool(self._before))
        self._fit()

    def _look_at_them(self) -> None:
        """Show the tests that have the result, in place of testing again."""
        if len(self._before) == 1:
            self._look_at(self._before[0].id)
            return
        self._session.ticks.choose(run.id for run in self._before)
        self._session.show_page("compare")
        self.reject()

    def _look_at(self, run_id: int) -> None:
        self._session.show_run(run_id)
        self._session.show_page("train")
        self.reject()

    def _start(self) -> None:
        if self._path is not None:
            self._begin(self._run, self._path, self.name.text().strip(), str(self.network.value()))
            self.accept()


def _scores_of(workspace: Workspace, run_ids: Sequence[int], _progress: Progress) -> NetworkScores:
    return newest_scores(workspace, run_ids, MOST_READ)


def _said_before(before: Sequence[Run], count: int) -> str:
    """Sentences on tests that have the result already, of `count` networks; empty without any."""
    if not before:
        return ""
    numbers = numbers_in_words(sorted(run.id for run in before))
    if count == 1:
        score = f", with MAP@R {percentage(before[0].best['MAP@R'])}" if "MAP@R" in before[0].best else ""
        said = f"Run {numbers} is a test of this network on these images{score}."
    else:
        which = "All" if len(before) == count else f"{len(before):,} of the {count:,}"
        said = f"{which} networks were tested on these images before: {_runs(len(before))} {numbers}."
    return f"{said} If the images have not changed since, a new test gives the same scores."


def _runs(count: int) -> str:
    return "run" if count == 1 else "runs"


def _title(runs: Sequence[Run]) -> str:
    if len(runs) == 1:
        return f"Run {runs[0].id}: {runs[0].name}"
    return f"{counted(len(runs), 'run')}: {', '.join(run.name for run in runs)}"


def _wrong(path: Path) -> str:
    """Why the path cannot be images; empty if it may be."""
    if os.path.isdir(path):
        return ""
    if not os.path.isfile(path):
        return f"There is no folder or file {path}."
    if is_list(path) or is_archive(path):
        return ""
    return f"{path.name} is not a folder, archive (zip or tar) or list (.csv, .tsv, .txt) of images."
