"""All ticked runs trained again on this machine, with settings that are changed alike in all of them."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QWidget

from workbench.problem import Problem
from workbench.ui.actions.offering import check_known
from workbench.ui.state.commands import Commands
from workbench.ui.state.concern import EVERYWHERE
from workbench.ui.state.session import Session
from workbench.ui.style.words import counted
from workbench.ui.widgets.dialogs.text_question import ask_lines
from workbench.workspace.rows import Run

if TYPE_CHECKING:
    from workbench.config import RunConfig

FOREIGN = {"imported", "own_loop", "curves"}  # facts of runs that another program trained
EXAMPLE = (
    "One FIELD=VALUE per line, such as training.lr=0.003; without any, the runs are trained again unchanged. seed=5 "
    "sets the seed of all of them, seed+=5 adds 5 to the seed of each"
)


class TrainAgain(QObject):
    """The action on the ticked runs; the new runs are queued, and nothing is queued where a setting is wrong."""

    def __init__(self, session: Session, commands: Commands, window: QWidget) -> None:
        super().__init__(window)
        self._session, self._window = session, window
        self.action = commands.add(
            "run.again-ticked", "Train ticked runs again…", self._ask, "", "arrow-counter-clockwise"
        )

    def refresh(self) -> None:
        """Enable the action if some of the ticked runs can be trained here."""
        runs = self._own()
        self.action.setText(f"Train {counted(len(runs), 'ticked run') if runs else 'ticked runs'} again…")
        self.action.setVisible(bool(self._session.ticks.runs))
        self.action.setEnabled(bool(runs) and not self._session.workspace.read_only)

    def _own(self) -> list[Run]:
        """The ticked runs that Workbench has trained, oldest first."""
        ticked = [run for run in self._session.runs() if run.id in self._session.ticks.runs]
        return [run for run in reversed(ticked) if FOREIGN.isdisjoint(run.environment)]

    def _ask(self) -> None:
        if runs := self._own():
            self._ask_about(runs)

    def _ask_about(self, runs: list[Run], text: str = "", wrong: str = "", fewer: int = 0) -> None:
        """Ask for the settings; again with what was typed, where that was wrong or leaves `fewer` runs."""
        session, workspace, count = self._session, self._session.workspace, counted(len(runs), "run")
        text_now = ask_lines(
            self._window, "Train again", f"Settings that change in {count}", text=text,
            verb=f"Queue {counted(fewer or len(runs), 'run')}",
            explanation=f"{wrong}\n\n{EXAMPLE}." if wrong else f"{EXAMPLE}.",
        )  # fmt: skip
        if text_now is None or session.workspace is not workspace:  # else other runs may have their numbers
            return
        lines, known = [line.strip() for line in text_now.splitlines() if line.strip()], session.catalog
        agreed = bool(fewer) and text_now == text

        def work() -> "tuple[list[RunConfig], int]":
            from workbench.settings.changed import parted  # late: the window is shown first
            from workbench.settings.same_changes import changed_alike

            check_known(known)
            configs = [(f"The config of “{run.name}”", run.config) for run in runs]
            return changed_alike(configs, parted(lines), known)

        session.read(work, partial(self._take, runs, text_now, agreed), partial(self._refused, runs, text_now))

    def _refused(self, runs: list[Run], text: str, problem: Problem) -> None:
        self._ask_later(runs, text, str(problem))

    def _take(self, runs: list[Run], text: str, agreed: bool, made: "tuple[list[RunConfig], int]") -> None:
        """Queue the configs; where some are alike, only once the user has read that."""
        configs, alike = made
        if alike and not agreed:
            words = (
                f"{alike:,} of these {len(runs):,} runs would have the same settings and seed as another one, and "
                f"would not be trained: {counted(len(configs), 'run')} would be queued."
            )
            self._ask_later(runs, text, words, len(configs))
            return
        unqueued = partial(self._session.notify, concern=EVERYWHERE)
        self._session.add_runs(configs, partial(self._queued, alike), unqueued)

    def _ask_later(self, runs: list[Run], text: str, words: str, fewer: int = 0) -> None:
        """Ask again in a moment: other answers come meanwhile."""
        QTimer.singleShot(0, self, partial(self._ask_about, runs, text, words, fewer))

    def _queued(self, alike: int, numbers: list[int]) -> None:
        said = f"Queued {counted(len(numbers), 'run')}."
        if alike:
            said += f" {counted(alike, 'other')} would have had the same settings."
        self._session.mention(said)
