"""Follows a workspace: twice a second a thread reads what is new."""

import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from queue import SimpleQueue

from PySide6.QtCore import QObject, QTimer, Signal, SignalInstance

from workbench.jobs import start_daemon
from workbench.problem import Problem
from workbench.ui.state.background.mailbox import Mailbox
from workbench.workspace.database.problems import Gone, opened_alone
from workbench.workspace.news import Followed, News, Place, Watch
from workbench.workspace.rows import Experiment, Run

EVERY = 500  # ms; each time curves are drawn that are in view
BETWEEN = 1  # ms between two signals of one look, in which the window can draw and respond


class Follower(QObject):
    """Signals what changes in a workspace, whether this window, the CLI or another machine writes it.

    What it read last can be asked at any time, without a look at the disk. `scalars_arrived` tells the followed run
    from its first point on, in chunks, then continues with what is new.

    Args:
        watch: of the workspace; it is closed with the follower.
    """

    read = Signal()  # the readable state is new; sent before the signals below
    runs_changed = Signal()  # some run's row, or the list of runs
    status_changed = Signal(str)  # of the followed run
    scalars_arrived = Signal(list)  # [(name, step, value), ...] of the followed run, in the order written; NaN is NaN
    evaluations_changed = Signal()  # of the followed run
    charts_changed = Signal()  # of the followed run
    choices_changed = Signal(object)  # set of `marks.TABLES`: what any window or command has decided
    failed = Signal(object)  # Problem: the workspace cannot be read any more; sent once. Following stops, unless Gone
    came_back = Signal(object)  # the Problem of a missing database, which is back, or `alone`, which is so no more

    def __init__(self, watch: Watch, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.watch = watch
        self.runs: list[Run] = watch.first.runs  # that are not in the trash, newest first
        self.trashed: list[Run] = watch.first.trashed
        self.experiments: list[Experiment] = watch.first.experiments  # newest first
        self._numbered = _numbered(self.runs, self.trashed)
        self._marks = watch.first.choices
        self._gone: Gone | None = None
        self.away = False  # the last look could not read the workspace: its runs may have gone on, or ended
        # Why other programs cannot open the workspace, as those that draw maps and reports; None where they can.
        self.alone: Problem | None = opened_alone(watch.workspace.path) if watch.workspace.alone else None
        self._position = Place()
        self._looking = self._closed = False
        self._untold = list[Callable[[], None]]()  # the signals of a look that are still to be sent
        self._telling = threading.Lock()
        self._asked: SimpleQueue[Place | None] = SimpleQueue()
        self._mailbox = Mailbox(self._hear, self)
        self._timer = QTimer(self, interval=EVERY)
        self._timer.timeout.connect(self._ask)
        self._timer.start()
        start_daemon("follower", self._answer)

    @property
    def followed(self) -> Followed:
        """What is known of the followed run; empty before it is first read."""
        return self._position.followed

    def run(self, run_id: int | None) -> Run | None:
        """The run of that number as it was read last, in the trash or not; None before it was read, or where it is
        gone.
        """
        return None if run_id is None else self._numbered.get(run_id)

    def follow(self, run_id: int | None) -> None:
        """Follow that run from its first point, at once; None follows only the list of runs."""
        self._position = Place(run_id)
        self._ask()

    def tell_again(self) -> None:
        """Send the points of the followed run again, from the first one; nothing else is read again."""
        self._position = replace(self._position, seq=None, version=-1)
        self._ask()

    def close(self) -> None:
        """Stop reading and close the connection; waits for a read that is under way."""
        self.stop()
        self.watch.close()

    def stop(self) -> None:
        """Stop reading; the caller closes the watch, on a thread if that may take long."""
        with self._telling:
            self._closed = True
        self._timer.stop()
        self._asked.put(None)

    def look(self) -> None:
        """Look once, on this thread; what the last look read is told first."""
        while self._untold:
            self._untold.pop(0)()
        for step in self._heard(self._read(self._position)):
            step()

    def _ask(self) -> None:
        if not self._looking:
            self._looking = True
            self._asked.put(self._position)

    def _answer(self) -> None:
        while (position := self._asked.get()) is not None:
            news = self._read(position)
            with self._telling:
                if self._closed:
                    return
                self._mailbox.send(news)

    def _read(self, position: Place) -> News | Problem | None:
        try:
            return self.watch.look(position)
        except Problem as problem:
            return problem

    def _hear(self, news: News | Problem | None) -> None:
        if not self._closed:
            self._untold += self._heard(news)
            self._tell()

    def _tell(self) -> None:
        if self._closed or not self._untold:
            return
        self._untold.pop(0)()
        if self._untold:
            QTimer.singleShot(BETWEEN, self, self._tell)

    def _heard(self, news: News | Problem | None) -> list[Callable[[], None]]:
        """The signals to send for the news, in order; the last step schedules the next look."""
        gone = self._gone
        self.away = isinstance(news, Problem)
        if isinstance(news, Gone):  # it may be restored: following continues
            self._gone = gone or news
            said = [] if gone is not None else [partial(self.failed.emit, news)]
            return [*said, partial(self._rest, EVERY)]
        if gone is not None:
            self._gone = None
            self.came_back.emit(gone)
        if self.alone is not None and not self.watch.workspace.alone:
            alone, self.alone = self.alone, None
            self.came_back.emit(alone)
        if isinstance(news, Problem):
            return [self._timer.stop, partial(self.failed.emit, news), partial(self._rest, EVERY)]
        if news is None:
            return [partial(self._rest, EVERY)]
        if news.before is not self._position:  # another run is followed since
            return [partial(self._rest, 0)]
        self._position = after = news.after
        self.runs, self.trashed, self.experiments = news.runs, news.trashed, news.experiments
        self._numbered = _numbered(self.runs, self.trashed)
        steps: list[Callable[[], None]] = [self.read.emit]
        if news.scalars:
            steps.append(partial(self._tell_of_run, after, self.scalars_arrived, news.scalars))
        if after.status != news.before.status:
            steps.append(partial(self._tell_of_run, after, self.status_changed, after.status))
        if after.evaluations != news.before.evaluations:
            steps.append(partial(self._tell_of_run, after, self.evaluations_changed))
        if after.charts != news.before.charts:
            steps.append(partial(self._tell_of_run, after, self.charts_changed))
        if changed := {table for table, mark in news.choices.items() if mark != self._marks.get(table)}:
            self._marks = news.choices
            steps.append(partial(self.choices_changed.emit, changed))
        return [*steps, self.runs_changed.emit, partial(self._rest, 0 if news.more else EVERY)]

    def _tell_of_run(self, position: Place, signal: SignalInstance, *news: object) -> None:
        """Emit the signal unless another run has been followed since."""
        if position.run_id == self._position.run_id:
            signal.emit(*news)

    def _rest(self, interval: int) -> None:
        self._looking = False
        if not self._closed:
            self._timer.setInterval(interval)


def _numbered(*lists: list[Run]) -> dict[int, Run]:
    return {run.id: run for runs in lists for run in runs}
