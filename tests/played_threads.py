"""Threads whose work is done when the test says so, one piece after another: what models ask of a session."""

from dataclasses import dataclass, field
from typing import Any

from workbench.problem import Problem
from workbench.progress import quiet as no_progress


@dataclass(eq=False)
class PlayedWork:
    """One piece of work that was asked for; once cancelled it gives no answer."""

    title: str
    work: Any
    then: Any
    failed: Any
    by_user: Any = None  # called when the user cancels it
    cancelled: bool = False

    def cancel(self):
        self.cancelled = True

    def cancel_for_user(self):
        self.cancel()
        if self.by_user is not None:
            self.by_user()

    def do(self):
        try:
            result = self.work(no_progress)
        except Problem as problem:
            take, answer = self.failed, problem
        else:
            take, answer = self.then, result
        if take is not None and not self.cancelled:
            take(answer)


@dataclass
class PlayedThreads:
    """A session without Qt."""

    asked: list[PlayedWork] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)

    def run_in_thread(self, title, work, then=None, failed=None, *, quiet=False, cancelled=None):
        self.asked.append(PlayedWork(title, work, then, failed or self.notify, cancelled))
        return self.asked[-1]

    def notify(self, what):
        self.notices.append(str(what))

    def work(self, number=0):
        """Do one of the pieces of work that are asked for."""
        self.asked.pop(number).do()

    def work_on(self):
        """Do all of it, and what comes of it."""
        while self.asked:
            self.work()
