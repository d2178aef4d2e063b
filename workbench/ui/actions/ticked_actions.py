"""What can be done with all ticked runs at once, besides comparing them and moving them to the trash.

Runs that were taken from the queue in one step are put back in one step, too.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from workbench.names import visible_name
from workbench.problem import Problem
from workbench.ui.actions.colour_menu import colour_menu
from workbench.ui.actions.train_again import TrainAgain
from workbench.ui.state.commands import Commands
from workbench.ui.state.concern import EVERYWHERE
from workbench.ui.state.session import Session
from workbench.ui.state.undo import Reversible, Step
from workbench.ui.style.words import STOP_FIRST, STOP_NOW, counted
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.dialogs.question import Question
from workbench.ui.widgets.dialogs.text_question import ask_line
from workbench.workspace.rows import Run

TICKED = "ticked run"
QUEUED = "Queued runs leave the queue and stay in the list, with their settings."
KEPT = f"Stopping now keeps the finished epochs with their checkpoint and map; such a run can be resumed. {QUEUED}"
CURVES_KEPT = f"No epoch is finished yet: stopping now keeps the curves, but a run cannot be resumed. {QUEUED}"


class TickedActions(QObject):
    """Their titles say how many runs they are about; without a ticked run they are not shown."""

    def __init__(self, session: Session, commands: Commands, window: QWidget) -> None:
        super().__init__(window)
        self._session, self._window = session, window
        self.again = TrainAgain(session, commands, window)
        self.tags = commands.add("run.tag-ticked", "Tags of ticked runs…", self._tags, "", "tag")
        self.colour = commands.add("run.colour-ticked", "Colour of ticked runs")
        self.colour.setMenu(colour_menu(window, self._paint))
        self.end = commands.add("run.end-ticked", "End ticked runs now…", self._ask_end, "", "x-circle")
        self.queue_again = commands.add(
            "run.queue-ticked", "Put ticked runs back in the queue", self._queue_again, "", "play"
        )
        self.ask: Question | None = None
        session.runs_withdrawn.connect(self._remember_withdrawn)

    def refresh(self) -> None:
        """Enable what can be done now."""
        self.again.refresh()
        ticked, working, withdrawn = self._ticked(), self._working(), self._withdrawn()
        for action, runs, title in (
            (self.tags, ticked, "Tags of {}…"),
            (self.colour, ticked, "Colour of {}"),
            (self.end, working, "End {} now…"),
            (self.queue_again, withdrawn, "Put {} back in the queue"),
        ):
            action.setText(title.format(counted(len(runs), TICKED) if runs else f"{TICKED}s"))
            action.setVisible(bool(ticked))
            action.setEnabled(bool(runs))

    def _ticked(self) -> list[Run]:
        return [run for run in self._session.runs() if run.id in self._session.ticks.runs]

    def _working(self) -> list[Run]:
        """The ticked runs that train, or wait for it, and that this window can end."""
        return [run for run in self._ticked() if self._session.control(run.id) is not None]

    def _withdrawn(self) -> list[Run]:
        """The ticked runs that left the queue before they began."""
        return [run for run in self._ticked() if run.never_began]

    def _tags(self) -> None:
        """Ask for the tags that all of them have; those that only some of them have stay."""
        runs, workspace = self._ticked(), self._session.workspace
        if not runs:
            return
        shared = frozenset.intersection(*(frozenset(run.tags) for run in runs))
        others = sorted(frozenset(tag for run in runs for tag in run.tags) - shared)
        text = ask_line(
            self._window,
            "Tags",
            f"Tags that all of {counted(len(runs), TICKED)} have, separated by commas",
            text=", ".join(sorted(shared)),
            explanation=f"Only some of them have {', '.join(others)}: that stays." if others else "",
            adds=True,
        )
        if text is None or self._session.workspace is not workspace:  # else others may have their numbers
            return
        wanted = frozenset(tag.strip() for tag in text.split(",") if tag.strip())
        added = {run.id: tags for run in runs if (tags := wanted - frozenset(run.tags))}
        removed = {run.id: tags for run in runs if (tags := shared - wanted)}
        if added or removed:
            change, back = workspace.change_tags, partial(workspace.change_tags, removed, added)
            self._do(f"tags of {counted(len(runs), 'run')}", partial(change, added, removed), back, added | removed)

    def _paint(self, index: int) -> None:
        self.paint(self._ticked(), index)

    def paint(self, runs: Sequence[Run], index: int) -> None:
        """Give runs one colour, by its index in the palette of runs; undo gives each its own back."""
        before = {run.id: run.colour for run in runs if run.colour != index}
        if before:
            workspace = self._session.workspace
            change = partial(workspace.set_colours, dict.fromkeys(before, index))
            what = f"colour of {counted(len(runs), 'run')}"
            self._do(what, change, partial(workspace.set_colours, before), before)

    def _do(self, what: str, change: Callable[[], None], back: Callable[[], None], run_ids: Iterable[int]) -> None:
        """Change the runs; `back` is the step that undoes it."""
        self._session.change(change)
        self._remember(
            what,
            lambda refused: self._session.change(change, failed=refused),
            lambda refused: self._session.change(back, failed=refused),
            run_ids,
        )

    def _remember(self, what: str, again: Step, back: Step, run_ids: Iterable[int]) -> None:
        tell = partial(self._session.notify, concern=EVERYWHERE)
        self._session.done.emit(Reversible(what, again, back, tell, tuple(run_ids)))

    def _queue_again(self) -> None:
        runs = sorted(run.id for run in self._withdrawn())
        self._session.put_back(runs, partial(self._session.notify, concern=EVERYWHERE))

    def _remember_withdrawn(self, runs: list[int]) -> None:
        named = self._session.run(runs[0]) if len(runs) == 1 else None
        what = counted(len(runs), "run") if named is None else f"“{visible_name(named.name)}”"
        back = partial(self._session.put_back, runs)
        self._remember(f"removal of {what} from the queue", partial(self._withdraw_again, runs), back, runs)
        them = "it" if len(runs) == 1 else "them"
        self._session.mention(f"{what[0].upper()}{what[1:]} left the queue. Undo in the Edit menu puts {them} back.")

    def _withdraw_again(self, runs: list[int], refused: Callable[[Problem], None]) -> None:
        if not self._session.withdraw(runs):
            refused(Problem(f"No longer in the queue: {counted(len(runs), 'run')}."))

    def _ask_end(self) -> None:
        working = list(self._working())
        runs = [run.id for run in working]
        if not runs or self.ask is not None:
            return
        stop, kept = (STOP_NOW, KEPT) if any(run.epoch for run in working) else (STOP_FIRST, CURVES_KEPT)
        answers = {"keep": button("Keep them"), "stop": button(stop, "stop", "primary")}
        what = counted(len(runs), "run")
        self.ask = Question("End runs", f"End {what}?", kept, answers, self._window)
        self.ask.answered.connect(partial(self._answered, runs))
        self._session.workspace_changed.connect(self.ask.reject)  # there others may have their numbers
        self.ask.open()

    def _answered(self, runs: list[int], answer: str) -> None:
        self.ask = None
        if answer == "stop":
            self._session.end_runs([run_id for run_id in runs if self._session.control(run_id) is not None])
