"""The checkpoints of the shown run, or of ticked runs: deleted to free space, after a question, and brought back."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QWidget

from workbench.problem import Problem
from workbench.progress import Progress
from workbench.ui.state.commands import Commands
from workbench.ui.state.concern import EVERYWHERE
from workbench.ui.state.session import Session
from workbench.ui.style.words import counted, memory, unbroken
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.dialogs.question import Question
from workbench.workspace import Workspace
from workbench.workspace.rows import Run
from workbench.workspace.tables.freed_space import LOST, STAYS, Space, to_be_freed

if TYPE_CHECKING:
    from workbench.workspace.arriving.brought_back import Lost

TICKED = "ticked run"
BRINGS_BACK = "From a folder that still has them: an export of the run as a run folder, or a copy of the workspace"
NOT_ENDED = "A run that trains, is queued or paused keeps its checkpoints: end it first."
CANCELLED = "The deletion of checkpoints was cancelled. Those of some runs were deleted before; the others are kept."
COPY_CANCELLED = "The copy of checkpoints was cancelled: one that was copied completely is kept."
MOST = 5  # sentences on runs that keep their checkpoints


class CheckpointActions(QObject):
    """Three actions; `ask` is the question while it is open."""

    def __init__(self, session: Session, commands: Commands, window: QWidget) -> None:
        super().__init__(window)
        self._session, self._window = session, window
        self.delete = commands.add("run.delete-checkpoints", "Delete checkpoints…", self._delete, "", "eraser")
        self.delete_ticked = commands.add(
            "run.delete-checkpoints-ticked", "Delete checkpoints of ticked runs…", self._delete_ticked, "", "eraser"
        )
        self.bring_back = commands.add(
            "run.bring-back-checkpoints", "Bring back checkpoints…", self.ask_bring_back, "", "download-simple"
        )
        self.bring_back.setToolTip(BRINGS_BACK)
        session.checkpoints_asked.connect(self.ask_bring_back)
        self.ask: Question | None = None

    def refresh(self) -> None:
        """Enable what can be done now."""
        run, ticked = self._session.run(), self._ticked()
        self.delete.setEnabled(run is not None and run.trashed is None and not run.live)
        self.delete.setToolTip(NOT_ENDED if run is not None and run.live else "")
        self.bring_back.setEnabled(self.delete.isEnabled() and not self._session.workspace.read_only)
        runs = counted(len(ticked), TICKED) if ticked else f"{TICKED}s"
        self.delete_ticked.setText(f"Delete checkpoints of {runs}…")
        self.delete_ticked.setVisible(bool(self._session.ticks.runs))
        self.delete_ticked.setEnabled(bool(ticked))

    def _ticked(self) -> list[Run]:
        """The ticked runs that have ended; the others keep their checkpoints."""
        return [run for run in self._session.runs() if run.id in self._session.ticks.runs and not run.live]

    def _delete(self) -> None:
        run = self._session.run()
        if run is not None:
            self._look([run.id])

    def _delete_ticked(self) -> None:
        self._look([run.id for run in self._ticked()])

    def ask_bring_back(self) -> None:
        """Look which checkpoints the shown run has lost, and ask for the folder that still has them."""
        run = self._session.run()
        if run is None:
            return
        workspace, run_id = self._session.workspace, run.id

        def work() -> "list[Lost] | Problem":
            from workbench.workspace.arriving import brought_back  # late: the window is shown first

            return brought_back.lost(workspace, run_id) or brought_back.nothing_lost(workspace, run_id)

        self._session.read(work, partial(self._choose_source, workspace, run_id))

    def _choose_source(self, workspace: Workspace, run_id: int, lost: "list[Lost] | Problem") -> None:
        if isinstance(lost, Problem):
            self._session.notify(lost)
            return
        title = f"An export of run {run_id} (Run folder), or a copy of its workspace"
        chosen = QFileDialog.getExistingDirectory(self._window, title)
        if not chosen or self._session.workspace is not workspace:  # there another run may have its number
            return

        def work(progress: Progress) -> "list[Lost]":
            from workbench.workspace.arriving.brought_back import bring_back

            return bring_back(workspace, run_id, Path(chosen), progress)

        self._session.run_in_thread(
            "Bringing back checkpoints",
            work,
            partial(self._say_brought, run_id, len(lost)),
            partial(self._session.notify, concern=EVERYWHERE),
            cancelled=partial(self._session.notify, COPY_CANCELLED, EVERYWHERE),
            lasting=True,
        )

    def _say_brought(self, run_id: int, wanted: int, came: "list[Lost]") -> None:
        size = unbroken(memory(sum(one.bytes for one in came)))
        names = " and ".join(one.name for one in came)
        said = f"Brought back {counted(len(came), 'checkpoint')} of run {run_id}: {names}, {size}."
        rest = "" if len(came) == wanted else " The other one is not in that folder."
        self._session.notify(f"{said}{rest}", EVERYWHERE)

    def _look(self, run_ids: Sequence[int]) -> None:
        """Read, on a thread, what could be freed, and then ask."""
        if self.ask is not None or not run_ids:
            return
        workspace = self._session.workspace

        def work(progress: Progress) -> tuple[Space, Space]:
            every = to_be_freed(workspace, run_ids, progress=progress)
            return every, to_be_freed(workspace, list(every.freed), keep_best=True, progress=progress)

        self._session.run_in_thread("Sizes of checkpoints", work, partial(self._ask, len(run_ids)))

    def _ask(self, asked: int, sizes: tuple[Space, Space]) -> None:
        every, last = sizes
        if self.ask is not None:
            return
        if not every.freed:
            self._session.notify(" ".join(["There is no checkpoint to delete.", *_kept(every)]))
            return
        answers = {"keep": button("Keep them")}
        if 0 < last.bytes < every.bytes:
            answers["last"] = button(f"Keep the best, free {memory(last.bytes)}")
        answers["all"] = button(f"Delete all, free {memory(every.bytes)}", kind="danger")
        numbers = list(every.freed)
        what = f"run {numbers[0]}" if len(numbers) == 1 else counted(len(numbers), "run")
        words = [f"{STAYS} {LOST}"]
        if "last" in answers:
            words.append(
                "“Keep the best” deletes only the last checkpoint, which is needed to resume; the network of the best "
                "epoch stays."
            )
        words += _kept(every)
        question = f"Delete the checkpoints of {what}?"
        self.ask = Question("Delete checkpoints", question, "\n\n".join(words), answers, self._window)
        self.ask.answered.connect(partial(self._answered, numbers))
        self._session.workspace_changed.connect(self.ask.reject)  # there others may have their numbers
        self.ask.open()

    def _answered(self, run_ids: Sequence[int], answer: str) -> None:
        self.ask = None
        if answer == "keep":
            return
        workspace, keep_best = self._session.workspace, answer == "last"

        def work(progress: Progress) -> Space:
            return workspace.delete_checkpoints(run_ids, keep_best=keep_best, progress=progress)

        self._session.run_in_thread(
            "Deleting checkpoints",
            work,
            partial(self._say, keep_best),
            partial(self._session.notify, concern=EVERYWHERE),
            cancelled=partial(self._session.notify, CANCELLED, EVERYWHERE),
            lasting=True,
        )

    def _say(self, keep_best: bool, space: Space) -> None:
        what = "last checkpoint" if keep_best else "checkpoints"
        freed = f"Freed {unbroken(memory(space.bytes))}: the {what} of {counted(len(space.freed), 'run')}."
        self._session.notify(" ".join([freed, *_kept(space)]), EVERYWHERE)


def _kept(space: Space) -> list[str]:
    """Sentences on the runs that keep their checkpoints."""
    said = list(space.kept.values())
    more = [f"{len(said) - MOST:,} more runs keep theirs, too."] if len(said) > MOST else []
    return said[:MOST] + more
