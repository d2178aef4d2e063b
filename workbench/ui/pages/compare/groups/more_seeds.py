"""“Add 2 seeds to each”: after one question, queues the compared configs with seeds that none of their runs has."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from workbench.comparing.grouping.more_seeds import MoreSeeds, more_seeds
from workbench.problem import Problem
from workbench.ui.state.session import Session
from workbench.ui.style.words import counted, duration
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.dialogs.question import Question
from workbench.ui.widgets.labels import plain_tip
from workbench.workspace.rows import Run

NUMBER = 2  # seeds that each group gets
TITLE = f"Add {NUMBER} seeds to each"
ON_BUTTON = f"Add {NUMBER} seeds"  # short enough for the row of choices
TIP = "Queue every compared config again with the next two unused seeds. You confirm the list first."
NO_TICKS = "Tick runs to add seeds to their configs."
ALL_LEFT_OUT = "The search leaves out every ticked run."
READ_ONLY = "The workspace is read-only."
NONE_HERE = "None of the ticked runs was trained by Workbench on this machine."
FOREIGN = {"imported", "own_loop", "curves"}  # facts of runs that another program trained
NAMED = 6  # most groups that the question names


class MoreSeedsAction(QObject):
    """The action of the Compare page, in its menu and behind its button.

    Args:
        page: parent of the dialog.
        fits: whether the search of the page leaves a ticked run.
    """

    queued = Signal(list)  # ids of the new runs, which the session does not have yet

    def __init__(self, session: Session, page: QWidget, fits: Callable[[Run], bool]) -> None:
        super().__init__(page)
        self._session, self._page, self._fits = session, page, fits
        self.action = QAction(f"{TITLE}…", self)
        self.action.setObjectName("more-seeds")
        self.action.triggered.connect(self.ask)
        session.workspace_changed.connect(self._forget)
        self.question: Question | None = None
        self._under_way = False  # from a click to the answer or, after it, to the end of writing
        self.refresh()

    def refresh(self) -> None:
        """Enable the action if seeds can be added; otherwise its tooltip says why not."""
        reason = self._why_not()
        self.action.setEnabled(not reason)
        self.action.setToolTip(plain_tip(reason or TIP))

    def _why_not(self) -> str:
        ticked = self._compared()
        if not ticked:
            return ALL_LEFT_OUT if self._session.ticks.runs else NO_TICKS
        if self._session.workspace.read_only:
            return READ_ONLY
        if all(run.placement is not None or not FOREIGN.isdisjoint(run.environment) for run in ticked):
            return NONE_HERE
        return ""

    def _compared(self) -> list[Run]:
        return [run for run in self._session.runs() if run.id in self._session.ticks.runs and self._fits(run)]

    def ask(self) -> None:
        """Ask with the number of runs and their time; nothing is queued before the answer.

        Until that is done, further clicks ask nothing: they would plan the same seeds again.
        """
        if self._under_way:
            return
        session, workspace = self._session, self._session.workspace
        ticked, known = frozenset(run.id for run in self._compared()), session.catalog

        def plan() -> MoreSeeds:  # the list of runs in the window may lack those that were queued just now
            return more_seeds(ticked, workspace.runs(), known, NUMBER)

        self._under_way = True
        session.read(plan, self._ask, self._fail)

    def _forget(self) -> None:
        """Plan anew in another workspace: no answer comes from the one before."""
        self._under_way = False

    def _fail(self, problem: Problem) -> None:
        self._under_way = False
        self._session.notify(problem)

    def _ask(self, plan: MoreSeeds) -> None:
        if not plan.runs:
            self._under_way = False
            self._session.notify(" ".join(plan.left_out) or NO_TICKS)
            return
        runs = counted(plan.runs, "run")
        answers = {"none": button("Add none"), "add": button(f"Queue {runs}", "plus")}
        self.question = Question(TITLE, f"Queue {runs}?", words_of(plan), answers, self._page.window())
        self.question.answered.connect(lambda answer: self._answered(answer, plan))
        self._session.workspace_changed.connect(self.question.reject)
        self.question.open()

    def _answered(self, answer: str, plan: MoreSeeds) -> None:
        if answer != "add":
            self._under_way = False
            return
        configs = [config for group in plan.groups for config in group.configs]
        self._session.add_runs(configs, self._done, self._fail)

    def _done(self, numbers: list[int]) -> None:
        self._under_way = False
        self.queued.emit(numbers)


def words_of(plan: MoreSeeds) -> str:
    """The text of the question: what is queued, how long it takes, and what is left out."""
    lines = [f"“{group.title}”: seeds {' and '.join(map(str, group.seeds))}" for group in plan.groups[:NAMED]]
    if len(plan.groups) > NAMED:
        lines.append(f"and {counted(len(plan.groups) - NAMED, 'other config')}")
    if plan.seconds is None:
        time = "How long they take is not known: one of the configs has no finished run."
    else:
        time = f"They train for about {duration(plan.seconds)} in all, judging by earlier runs of the same configs."
    after = "They appear in the list of runs, where you can end each of them, and join the comparison."
    return "\n".join([*lines, "", time, after, *plan.left_out])
