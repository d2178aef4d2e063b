"""Imports the runs of one place while they train: one request at a time, for all of them together.

The state between two requests, and between two programs, is in the workspace and in the run folders. Any request may be
the last one: the next, of any program, continues from the bytes that were imported.
"""

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from time import monotonic
from typing import Any

from workbench.files import locks
from workbench.places.contract import JobState, Launcher, Part, Standing, Unreachable, all_of
from workbench.places.host import host_files
from workbench.places.host.host_files import last_line
from workbench.places.kinds.run_command import AGAIN, BEGINS
from workbench.places.mirror import Mirror
from workbench.places.place import OtherKind, Place
from workbench.problem import Problem
from workbench.running import folds_and_seeds
from workbench.workspace import Workspace
from workbench.workspace.arriving.ingest import ingest
from workbench.workspace.folders import journal
from workbench.workspace.moved_images import find_images
from workbench.workspace.owners.ownership import age
from workbench.workspace.paths import writable
from workbench.workspace.rows import Placement
from workbench.workspace.tables import placements
from workbench.workspace.times import now

PARTS_AT_ONCE = 1000  # files of one request
ROUNDS = 64  # in one look; the next look continues
REACHED_EVERY = 30.0  # seconds between two records that the place answers
STATES_EVERY = 5.0  # seconds between two requests for states while nothing is wrong
LOG_READ = 1 << 16  # bytes at the end of a log
STILL_WRITES = 20.0  # seconds since it wrote: a run that its engine has lost is over then
MOST_REFUSED = 20  # looks at a run that has ended and cannot be imported
IN_TURN = 64  # runs of one look, beside the one that is shown: of a thousand, each is read every 16 looks
LEAST_IN_TURN = 8  # if importing them takes longer than LONG_WORK, and one of them is shown
LONG_WORK = 2.0  # seconds
GOES_ON = "it saved itself, and waits to be continued"


@dataclass(slots=True)
class Looked:
    """The result of one look.

    Attributes:
        busy: another program follows this place in this workspace.
        silent: why the place did not answer; empty if it did.
        left: runs from which more data may come.
        received: bytes.
        problems: sentences on runs whose folder there cannot be followed.
    """

    busy: bool = False
    silent: str = ""
    left: int = 0
    received: int = 0
    problems: tuple[str, ...] = ()

    def add(self, problem: str) -> None:
        """Add a sentence, once."""
        self.problems += (problem,) * (problem not in self.problems)


class Following:
    """Follows a place's runs in a workspace. Use it from one thread at a time.

    Args:
        workspace: open for writing.
        place: whose runs are followed.
        launcher: of that place.
    """

    def __init__(self, workspace: Workspace, place: Place, launcher: Launcher) -> None:
        self._workspace, self._place, self._launcher = workspace, place, launcher
        self._mirrors: dict[int, Mirror] = {}
        self._refused: dict[int, int] = {}  # looks at ended runs in which what came was not taken in
        self._wrote: dict[int, float] = {}  # when new lines of its journal came, by run
        self._there = set[int]()  # runs of which the place had something to read
        self._saved = set[int]()  # runs that have ended only until their engine starts them again
        self._quiet, self._states_due = True, 0.0
        self._last_read = 0  # the run at which the turn ended
        self._turn = IN_TURN  # runs of the next look
        self._working = 0.0  # seconds that this look spent on importing

    def look(self, shown: int = 0) -> Looked:
        """Request the states of all runs and what they wrote since, and import it.

        If there are very many runs, a part is read each time, in turn; `shown`, the run that the user sees, always.

        Raises:
            Problem: the workspace cannot be written.
        """
        self._working = 0.0
        looked = Looked()
        with self._alone() as alone:
            placed = self._placed(looked)
            looked.busy = not alone
            if looked.busy:
                return looked
            self._forget_others(placed)
            if not placed:
                return looked
            try:
                with self._workspace.reading() as db:  # first: an answer may be older than what is fetched after it
                    over = placements.over(db)
                standings = self._standings(placed) if self._states_are_due() else {}
                placed = [self._noted(placement, standings.get(placement.run_id)) for placement in placed]
                some = self._in_turn(placed, shown)
                self._fetch(some, looked)
                some = [self._located(placement) for placement in self._going_on(some, standings)]
                self._conclude(some, standings, over, looked)
                self._quiet = not looked.received
            except Unreachable as problem:
                looked.silent, self._quiet = str(problem), True
                self._note_silence(placed, looked.silent)
            self._placed(looked)
            shorter = shown in self._mirrors and self._working > LONG_WORK
            self._turn = max(LEAST_IN_TURN, self._turn // 2) if shorter else min(IN_TURN, 2 * self._turn)
            return looked

    def _states_are_due(self) -> bool:
        """Whether to request states, too: runs that write are training, and their points come sooner without it."""
        if not self._quiet and monotonic() < self._states_due:
            return False
        self._states_due = monotonic() + STATES_EVERY
        return True

    def _in_turn(self, placed: list[Placement], shown: int) -> list[Placement]:
        """The runs that this look reads."""
        if len(placed) <= self._turn:
            return placed
        later = [placement for placement in placed if placement.run_id > self._last_read]
        turn = [*later, *(placement for placement in placed if placement.run_id <= self._last_read)]
        turn = turn[: self._turn]
        self._last_read = turn[-1].run_id
        return [*(placement for placement in placed if placement.run_id == shown and placement not in turn), *turn]

    def _placed(self, looked: Looked) -> list[Placement]:
        """The runs from which more data may come; reports those of another kind of place, and of a folder elsewhere."""
        with self._workspace.reading() as db:
            sent = [placement for placement in placements.at_work(db, self._place.name) if placement.job]
        placed = []
        for placement in sent:
            try:
                self._place.check_job(placement.run_id, placement.job)
                host_files.checked(placement.uid)
            except OtherKind as problem:
                looked.add(str(problem))
            except Problem as problem:
                looked.add(f"Run {placement.run_id}: {problem}")
            else:
                placed.append(placement)
        looked.left = len(placed)
        return placed

    def _standings(self, placed: list[Placement]) -> dict[int, Standing]:
        answers = self._launcher.states([placement.job for placement in placed])
        return {placement.run_id: answer for placement, answer in zip(placed, answers, strict=True)}

    def _fetch(self, placed: list[Placement], looked: Looked) -> None:
        """Request parts of all runs together, journals first, until there is nothing more."""
        runs = [placement.run_id for placement in placed if self._mirrored(placement, looked)]
        for run_id in runs:
            self._mirrors[run_id].look_again()
        for _ in range(ROUNDS):
            wanted = [(run_id, part) for run_id in runs for part in self._mirrors[run_id].wants()]
            wanted.sort(key=lambda asked: not asked[1].path.endswith(journal.NAME))
            if not wanted:
                return
            refused: set[int] = set()
            while wanted:
                wanted = wanted[self._read(wanted[:PARTS_AT_ONCE], refused, looked) :]
            runs = [run_id for run_id in runs if run_id not in refused]

    def _read(self, wanted: Sequence[tuple[int, Part]], refused: set[int], looked: Looked) -> int:
        """Request parts and import them; returns how many were answered. What cannot be used is `refused`, by run.

        Raises:
            Unreachable: the connection was lost; what arrived before is imported.
        """
        answered = 0
        try:
            for content in self._launcher.read([part for _, part in wanted]):
                run_id, part = wanted[answered]
                answered += 1
                if content:
                    self._there.add(run_id)
                taken = False
                with self._reporting(run_id, looked):
                    new = self._mirrors[run_id].came(part, content)
                    looked.received += new
                    if new and part.path.endswith(journal.NAME):
                        self._wrote[run_id] = monotonic()
                    taken = True
                if not taken:
                    refused.add(run_id)
        finally:
            began = monotonic()
            for run_id in sorted({run_id for run_id, _ in wanted[:answered]}):
                self._take_in(run_id, looked)
            self._working += monotonic() - began
        return answered

    def _take_in(self, run_id: int, looked: Looked) -> None:
        mirror = self._mirrors[run_id]
        if not mirror.changed:
            return
        with self._reporting(run_id, looked):
            before = self._workspace.run(run_id).dataset_id
            taken = ingest(self._workspace, mirror.folder)
            mirror.taken_in()
            dataset = self._workspace.run(run_id).dataset_id
            if before is None and dataset is not None:
                self._find_images(dataset)
            if taken.doubts:
                said = "; ".join(taken.doubts)
                looked.add(f"Run {run_id}: {said}.")

    def _find_images(self, dataset_id: int) -> None:
        """Show the copy on this machine of a data set that no run here has read, if the user named its folder.

        Raises:
            Problem: none of its images is there.
        """
        root = self._workspace.dataset(dataset_id).root
        for here, there in self._place.data.items():
            path, folder = PurePosixPath(root), PurePosixPath(there)
            if root and (path == folder or folder in path.parents) and Path(here).is_dir():
                find_images(self._workspace, dataset_id, Path(here, *path.relative_to(folder).parts))
                return

    def _conclude(
        self, placed: list[Placement], standings: dict[int, Standing], over: set[int], looked: Looked
    ) -> None:
        """Stop following jobs that have ended and are completely imported."""
        words = self._last_words(placed, standings)
        elsewhere = self._elsewhere(placed, standings, over, looked)
        for placement in placed:
            if placement.run_id not in standings or placement.run_id in elsewhere:
                continue
            standing, mirror = standings[placement.run_id], self._mirrors.get(placement.run_id)
            if mirror is None:
                continue
            if standing.state.live:
                if placement.run_id in over:
                    self._wait_again(placement, standing)
                continue
            if placement.wanted == "checkpoints":
                mirror.wants_checkpoints()
                self._fetch([placement], looked)
            if mirror.wants_more() or self._may_be_taken_in(placement.run_id):
                continue
            if standing.unsure and monotonic() - self._wrote.get(placement.run_id, -STILL_WRITES) < STILL_WRITES:
                continue
            status, sentence = _end(standing, self._place.name, words.get(placement.run_id, ""))
            if standing.state is JobState.FINISHED:  # the run may have been taken for another since its journal ended
                journaled = journal.last_state(self._workspace.folder(placement.run_id))
                status, sentence = (status, sentence) if journaled.live else (journaled.value, "")
            if mirror.lost():
                status, sentence = "interrupted", mirror.lost()
            with self._workspace.writing() as db:
                known = replace(placement, state=standing.state, words=standing.words)
                ended = replace(known, silent="", wanted="", open=False)
                if not placements.renew(db, placement, ended):
                    continue  # it was sent again, or more of it was asked for, since the look began
                placements.end(db, placement.run_id, status, sentence)
            mirror.remove()
            del self._mirrors[placement.run_id]
            experiment = self._workspace.run(placement.run_id).experiment_id
            if experiment is not None:
                folds_and_seeds.conclude(self._workspace, experiment)

    def _elsewhere(
        self, placed: list[Placement], standings: dict[int, Standing], over: set[int], looked: Looked
    ) -> set[int]:
        """The runs that are not at the place as it is described now, and were sent when it was described otherwise.

        They may still train there, and are followed again once the place has its former host and folder.
        """
        missed = [
            placement
            for placement in placed
            if placement.run_id in standings
            and not standings[placement.run_id].state.live
            and placement.run_id not in over
            and not self._place.is_at(placement.machine)
        ]
        first_files = all_of(self._launcher.read, [Part(f"{placement.uid}/config.toml", 0, 1) for placement in missed])
        gone = [placement for placement, content in zip(missed, first_files, strict=True) if content is None]
        for placement in gone:
            sentence = placements.elsewhere(placement, self._place.whereabouts)
            looked.add(sentence)
            looked.silent = sentence if len(gone) == len(placed) else ""
            if placement.silent != placements.ELSEWHERE:
                self._stored(placement, silent=placements.ELSEWHERE)
        return {placement.run_id for placement in gone}

    def _may_be_taken_in(self, run_id: int) -> bool:
        """Whether a later look may import what this one could not, as on a full disk here.

        So it may of a journal that is shorter than it was: a shared disk may show its older state for a while.
        """
        mirror = self._mirrors[run_id]
        if not mirror.changed and not mirror.behind:
            return False
        self._refused[run_id] = self._refused.get(run_id, 0) + 1
        return self._refused[run_id] < MOST_REFUSED

    def _wait_again(self, placement: Placement, standing: Standing) -> None:
        """Whether a run saved itself before its time limit and is queued again, so that it has not ended."""
        if standing.state is JobState.QUEUED and not self._workspace.run(placement.run_id).live:
            with self._workspace.writing() as db:
                placements.wait(db, placement.run_id)

    def _going_on(self, placed: list[Placement], standings: dict[int, Standing]) -> list[Placement]:
        """The placements; of a run that saved itself to be started again, its end is taken back at once."""
        with self._workspace.reading() as db:
            over = placements.over(db)
        done = {run_id for run_id, standing in standings.items() if not standing.state.live}
        ended = [placement for placement in placed if placement.run_id in (over | self._saved) - done]
        marks = all_of(self._launcher.read, [Part(f"{placement.uid}/{AGAIN}", 0, 1) for placement in ended])
        self._saved = {placement.run_id for placement, mark in zip(ended, marks, strict=True) if mark is not None}
        changed = []
        for placement in placed:
            if placement.run_id in self._saved & over and JobState(placement.state).live:
                with self._workspace.writing() as db:
                    placements.wait(db, placement.run_id)
                changed.append(self._stored(placement, words=placement.words or GOES_ON))
            else:
                changed.append(placement)
        return changed

    def _last_words(self, placed: list[Placement], standings: dict[int, Standing]) -> dict[int, str]:
        """The last lines that failed runs printed, by run."""
        uids = {
            placement.run_id: placement.uid
            for placement in placed
            if placement.run_id in standings and standings[placement.run_id].state is JobState.FAILED
        }
        logs = all_of(self._launcher.read, [Part(f"{uid}/log", -LOG_READ, LOG_READ) for uid in uids.values()])
        printed = {
            run_id: (log or b"").decode("utf-8", "replace").rpartition(BEGINS)[2]  # nothing of an earlier start
            for run_id, log in zip(uids, logs, strict=True)
        }
        return {run_id: last_line(text) for run_id, text in printed.items() if text.strip()}

    def _mirrored(self, placement: Placement, looked: Looked) -> bool:
        """Whether the run's data has an arriving folder here."""
        if placement.run_id not in self._mirrors:
            with self._reporting(placement.run_id, looked):
                self._mirrors[placement.run_id] = Mirror(self._workspace.folder(placement.run_id), placement.uid)
        return placement.run_id in self._mirrors

    def _forget_others(self, placed: list[Placement]) -> None:
        numbers = {placement.run_id for placement in placed}
        self._mirrors = {run_id: mirror for run_id, mirror in self._mirrors.items() if run_id in numbers}

    def _noted(self, placement: Placement, standing: Standing | None) -> Placement:
        """The placement with its job's state, which is stored if it is new."""
        if standing is None:
            return placement
        if not standing.state.live:  # written down when all has come
            return self._stored(placement, silent="", reached=now()) if placement.silent else placement
        words = standing.words or (GOES_ON if placement.run_id in self._saved else "")
        same = (placement.state, placement.words, placement.silent) == (standing.state, words, "")
        if same and 0 <= age(placement.reached) <= REACHED_EVERY:  # a clock may have been set back since
            return placement
        return self._stored(placement, state=standing.state, words=words, silent="", reached=now())

    def _located(self, placement: Placement) -> Placement:
        """The placement with the host and folder where it was found; an older workspace remembers them in part."""
        if placement.run_id not in self._there or placement.machine == self._place.whereabouts:
            return placement
        return self._stored(placement, machine=self._place.whereabouts)

    def _note_silence(self, placed: list[Placement], sentence: str) -> None:
        for placement in placed:
            if placement.silent != sentence:
                self._stored(placement, silent=sentence)

    def _stored(self, placement: Placement, **changes: Any) -> Placement:
        """The placement with these fields, stored unless it was sent again, or more was asked for, meanwhile."""
        changed = replace(placement, **changes)
        with self._workspace.writing() as db:
            return changed if placements.renew(db, placement, changed) else placement

    @contextlib.contextmanager
    def _reporting(self, run_id: int, looked: Looked) -> Iterator[None]:
        """Report a run's folder that cannot be used, and follow the other runs."""
        try:
            yield
        except Unreachable:
            raise
        except Problem as problem:
            looked.add(f"Run {run_id}: {problem}")

    @contextlib.contextmanager
    def _alone(self) -> Iterator[bool]:
        """Whether no other program follows this place in this workspace; true for the whole block."""
        path = self._workspace.path / f".following-{self._place.name}.lock"
        try:
            opened = writable(path)
        except OSError as error:
            raise Problem(f"{path} cannot be written ({error.strerror}).") from None
        try:
            yield locks.lock(opened)
        finally:
            os.close(opened)


def _end(standing: Standing, place: str, said: str) -> tuple[str, str]:
    """The status and sentence of a run whose journal has no end."""
    words = f" ({standing.words})" if standing.words else ""
    match standing.state:
        case JobState.FAILED:
            return "failed", f"Its process at {place} failed{words}." + (f" Its last output: {said}." if said else "")
        case JobState.CANCELLED:
            return "cancelled", f"It was removed from the queue at {place}."
        case JobState.LOST:
            return "interrupted", f"{place} does not know how it ended{words}. What was fetched is kept."
    return "interrupted", f"It was ended at {place}{words}. Resume continues it from its last checkpoint there."
