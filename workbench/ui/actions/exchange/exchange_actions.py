"""The commands "Export…" and "Test on other images…" of runs, and those that import embeddings, curves and folders."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QWidget

from workbench.problem import Problem
from workbench.ui.actions.exchange.run_folders import import_run_folders
from workbench.ui.actions.train_again import FOREIGN
from workbench.ui.state.commands import Commands
from workbench.ui.state.concern import EVERYWHERE
from workbench.ui.state.process_work import ProcessWork, process_of
from workbench.ui.state.session import Session
from workbench.ui.style.words import counted
from workbench.workspace import Workspace
from workbench.workspace.rows import Run

if TYPE_CHECKING:
    from workbench.ui.actions.exchange.curves_dialog import CurvesDialog
    from workbench.ui.actions.exchange.export_dialog import ExportDialog
    from workbench.ui.actions.exchange.import_dialog import ImportDialog

TEST_TICKED = "Test ticked runs on other images…"


class ExchangeActions(QObject):
    """Six commands, each with its dialog."""

    def __init__(self, session: Session, commands: Commands, window: QWidget) -> None:
        super().__init__(window)
        self._session, self._window = session, window
        self.export = commands.add("run.export", "Export…", self.ask_export, "", "export")
        self.test = commands.add("run.test", "Test on other images…", self.ask_test, "", "image")
        self.test.setToolTip("Its network embeds the images of a folder or list; they become a separate run")
        self.test_ticked = commands.add("run.test-ticked", TEST_TICKED, self.ask_test_ticked, "", "image")
        self.test_ticked.setToolTip(
            "The network of each embeds the images of a folder or list, one after another. Tests of runs that differ "
            "only in seed or fold form one group on Compare"
        )
        self._coming: frozenset[int] = frozenset()  # tests that are done and are ticked once they are listed
        session.runs_changed.connect(self._tick_tests)
        session.workspace_changed.connect(self._forget_tests)
        self.import_embeddings = commands.add(
            "file.import", "Import embeddings…", self.ask_import, "", "download-simple"
        )
        commands.add("file.import-curves", "Import curves…", self.ask_curves, "", "download-simple")
        commands.add("file.import-runs", "Import run folders…", self.ask_run_folders, "", "download-simple")

    def refresh(self) -> None:
        """Enable what can be done with the ticked runs now."""
        runs, ticked = self._testable(), bool(self._session.ticks.runs)
        self.test_ticked.setText(f"Test {counted(len(runs), 'ticked run')} on other images…" if runs else TEST_TICKED)
        self.test_ticked.setVisible(ticked)
        self.test_ticked.setEnabled(bool(runs) and not self._session.workspace.read_only)

    def _testable(self) -> list[Run]:
        """The ticked runs that may keep a network, oldest first, and tests of one; those of other programs do not.

        Of several tests of one network the oldest stands for it.
        """
        ticked = [run for run in reversed(self._session.runs()) if run.id in self._session.ticks.runs]
        networks = dict[object, Run]()
        for run in ticked:
            if run.tested is not None:
                networks.setdefault((run.tested, run.tested_epoch), run)
            elif FOREIGN.isdisjoint(run.environment):
                networks[run.id] = run
        return list(networks.values())

    def ask_export(self) -> "ExportDialog | None":
        """Open the export dialog for the shown run; None when no run is shown."""
        from workbench.ui.actions.exchange.export_dialog import ExportDialog  # late: the window is shown first

        try:
            run = self._session.run()
        except Problem as problem:  # it was deleted by another program
            self._session.notify(problem)
            return None
        if run is None:
            self._session.notify("Choose a run in the Runs list to export it.")
            return None
        dialog = ExportDialog(self._session, run, self._window)
        dialog.open()
        return dialog

    def ask_test(self) -> None:
        """Ask for images, and make a run of what the network of the shown run makes of them."""
        session = self._session
        try:
            run = session.run()
        except Problem as problem:  # it was deleted by another program
            session.notify(problem)
            return
        if run is None:
            session.notify("Choose a run in the Runs list to test its network.")
            return
        from workbench.running.search.image_search import check_network  # late: the window is shown first

        look = partial(check_network, session.workspace, run.id)
        session.read(look, lambda _: self._ask_images(run))  # before images are looked for in vain

    def _ask_images(self, run: Run) -> None:
        from workbench.ui.actions.exchange.other_images_dialog import OtherImagesDialog

        OtherImagesDialog(self._session, [run], self.test_on, self._window).open()

    def ask_test_ticked(self) -> None:
        """Ask for images, and test the network of each ticked run on them; refused where one keeps no network."""
        session, runs = self._session, self._testable()
        if runs:
            look = partial(_check_networks, session.workspace, [run.id for run in runs])
            session.read(look, lambda _: self._ask_images_of_all(runs))

    def _ask_images_of_all(self, runs: list[Run]) -> None:
        from workbench.ui.actions.exchange.other_images_dialog import OtherImagesDialog

        def start(_first: Run, images: Path, name: str, epoch: str) -> ProcessWork:
            return self.test_all_on(runs, images, name, epoch)

        OtherImagesDialog(self._session, runs, start, self._window).open()

    def test_all_on(self, runs: Sequence[Run], images: Path, name: str = "", epoch: str = "best") -> ProcessWork:
        """Test the networks of several runs on the same images, one after another, in a process.

        The new runs are ticked and compared, unless another page, run or workspace is shown by then: a message says
        that they are done. Those that are done when it is cancelled stay.

        Args:
            name: the first part of the name of each new run; by default its run's name and that of the images.
            epoch: best or last.
        """
        numbers = [run.id for run in runs]
        fields = {"runs": numbers, "images": str(images), "name": name, "epoch": epoch, "device": "auto"}
        process = process_of(self._session, "workbench.exchange.server")
        return ProcessWork(
            self._session, process, f"Test {counted(len(runs), 'run')} on {images.name}", "evaluate_all", fields,
            partial(self._all_tested, self._shown, f"{counted(len(runs), 'run')} tested on {images.name}"),
            self._failed, ends_process=True, takes_back=True,
        )  # fmt: skip

    def _all_tested(self, at_first: tuple[Workspace, str, int | None], done: str, answer: dict[str, Any]) -> None:
        """Compare the new runs for a person who waits for them; others keep what they look at."""
        session, tests = self._session, answer["tests"]
        here = session.workspace is at_first[0]
        numbers = ", ".join(str(test["run_id"]) for test in tests)
        remarks = dict.fromkeys(sentence for test in tests for sentence in test["remarks"])
        place = "in the Runs list" if here else f"of the workspace {at_first[0].path}"
        session.notify(" ".join([f"{done}: runs {numbers} {place}.", *remarks]), EVERYWHERE)
        if self._shown == at_first:
            self._coming = frozenset(test["run_id"] for test in tests)
            self._tick_tests()

    def _tick_tests(self) -> None:
        if self._coming and self._coming <= {run.id for run in self._session.runs()}:
            tests, self._coming = self._coming, frozenset()
            self._session.ticks.choose(tests)
            self._session.show_page("compare")

    def _forget_tests(self) -> None:
        self._coming = frozenset()

    def test_on(self, run: Run, images: Path, name: str = "", epoch: str = "best") -> ProcessWork:
        """Embed the images of a folder, archive or list with a network of a run, in a process.

        The new run is shown, unless another page, run or workspace is shown by then: a message says that it is done.

        Args:
            name: of the new run; by default the names of the run and of the images.
            epoch: best or last.
        """
        fields = {"run": run.id, "images": str(images), "name": name, "epoch": epoch, "device": "auto"}
        process = process_of(self._session, "workbench.exchange.server")
        return ProcessWork(
            self._session, process, f"Test run {run.id} on {images.name}", "evaluate", fields,
            partial(self._tested, self._shown, f"“{run.name}” was tested on {images.name}"), self._failed,
            ends_process=True, takes_back=True,
        )  # fmt: skip

    @property
    def _shown(self) -> tuple[Workspace, str, int | None]:
        return self._session.workspace, self._session.page, self._session.run_id

    def _tested(self, at_first: tuple[Workspace, str, int | None], done: str, answer: dict[str, Any]) -> None:
        """Show the new run to a person who waits for it; others keep what they look at."""
        session, run_id, remarks = self._session, answer["run_id"], answer["remarks"]
        if self._shown == at_first:
            session.show_run(run_id)
            session.show_page("retrieval")
            if remarks:
                session.notify(" ".join(remarks))
            return
        here = session.workspace is at_first[0]
        place = "in the Runs list" if here else f"of the workspace {at_first[0].path}"
        session.notify(" ".join([f"{done}: run {run_id} {place}.", *remarks]), EVERYWHERE)

    def _failed(self, problem: Problem) -> None:
        self._session.notify(problem, EVERYWHERE)  # whatever is shown by now

    def ask_import(self) -> "ImportDialog":
        """Open the import dialog."""
        from workbench.ui.actions.exchange.import_dialog import ImportDialog

        dialog = ImportDialog(self._session, self._window)
        dialog.open()
        return dialog

    def ask_curves(self) -> "CurvesDialog":
        """Open the dialog for curves of other programs."""
        from workbench.ui.actions.exchange.curves_dialog import CurvesDialog

        dialog = CurvesDialog(self._session, self._window)
        dialog.open()
        return dialog

    def ask_run_folders(self) -> None:
        """Ask for a run folder, or a folder of them, and import what is in it."""
        title = "A run folder, or a folder of run folders"
        if chosen := QFileDialog.getExistingDirectory(self._window, title):
            import_run_folders(self._session, Path(chosen), self._window)


def _check_networks(workspace: Workspace, run_ids: list[int]) -> None:
    """Raise Problem if a run keeps no network, with the numbers of all such runs."""
    from workbench.running.search.image_search import check_network  # late: the window is shown first

    without = list[int]()
    for run_id in run_ids:
        try:
            check_network(workspace, run_id)
        except Problem:
            if len(run_ids) == 1:
                raise
            without.append(run_id)
    if without:
        numbers = ", ".join(map(str, without))
        what = f"{counted(len(without), 'ticked run')} cannot be tested without a checkpoint: {numbers}."
        raise Problem(what, kept="Nothing was tested.", todo="Untick what has none, then test the others.")
