"""Stores the events of a run: the only writer of a run in a workspace."""

import contextlib
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from workbench.control import Control
from workbench.events import Evaluated
from workbench.files import parts
from workbench.problem import Problem, RunTaken
from workbench.workspace.database.connection import Connection, InPlace
from workbench.workspace.database.problems import Busy, Gone
from workbench.workspace.experiments import early_stops
from workbench.workspace.folders.dataset_copy import keep_dataset
from workbench.workspace.folders.journal import evaluation_line
from workbench.workspace.measured import stored_evaluation, superseded
from workbench.workspace.measured.artefacts import add_artefact, stored_paths
from workbench.workspace.owners import ownership
from workbench.workspace.recorders.recording import Recording
from workbench.workspace.tables.runs import add_note, complete_folder, forget_after, is_asked_to_stop, looks_for_stop
from workbench.workspace.workspace import Workspace

if TYPE_CHECKING:
    from workbench.datasets.image_set import ImageSet

PATIENCE = 60.0  # seconds to wait for a program that has locked the database, in an unattended run
LAST_WORD = 10.0  # seconds in which storing the end of a run is retried if the disk refuses it
AGAIN = 0.5  # seconds between two retries
REPAIRED = "repaired"  # in a run's environment: what a repair of the workspace could not bring back

log = logging.getLogger(__name__)


class Recorder(Recording):
    """Call it with events, on the run's thread only; it may be created on another.

    It writes as long as this process owns the run: each transaction checks that first, and RunTaken ends the run if
    another process has taken it over.

    Every event goes to `journal.jsonl` in the run's folder before it is committed, so that a database can be rebuilt.
    On a full disk, or when the database is taken away, an attended run is paused; what was not written is kept in
    memory and tried again.

    Args:
        workspace: where the run lives.
        run_id: the run.
        control: of the run, to pause it; None raises the Problem instead.

    Raises:
        RunTaken: the run is not this process's.
    """

    def __init__(self, workspace: Workspace, run_id: int, control: Control | None = None) -> None:
        self._workspace = workspace
        with workspace.reading() as db:
            self._token = ownership.hold(db, run_id)
        run, folder = workspace.run(run_id), workspace.folder(run_id)
        complete_folder(workspace, run_id, run.config, run.experiment_id)
        parts.remove_dead(folder)  # of a program that was killed before the run had an owner
        superseded.sweep_maps(workspace, run_id)
        super().__init__(run_id, folder, run.seconds, run.memory_bytes, control)
        self.config = run.config  # TOML
        self._looks = False  # whether windows know that the run's loop looks for a request to stop
        self._in_place = InPlace(workspace.database)

    def read(self, image_set: "ImageSet", pixels: Path | None) -> None:
        """Store the data set that the run has read; `pixels` is its cache. Raises Problem."""
        self.dataset(self._workspace.register_dataset(image_set, pixels))

    def known_environment(self) -> dict[str, Any]:
        """What `environment` stored when the run was begun; empty for a new one."""
        return self._workspace.run(self.run_id).environment

    def dataset(self, dataset_id: int) -> None:
        """Tie the run to its data set; evaluations are stored by its rows."""
        samples = self._workspace.samples(dataset_id)
        self._rows = dict(zip(samples.ids.tolist(), samples.rows.tolist(), strict=True))
        with self._writing() as db:
            db.execute("update runs set dataset_id = ? where id = ?", (dataset_id, self.run_id))
            keep_dataset(db, dataset_id, self.folder)

    def environment(self, facts: dict[str, Any]) -> None:
        """Store versions, device and parameters of this run; keeps the notes of a repair."""
        before = self._workspace.run(self.run_id).environment
        facts = facts | {name: before[name] for name in (REPAIRED,) if name in before}
        with self._writing() as db:
            db.execute("update runs set environment = ? where id = ?", (json.dumps(facts), self.run_id))
            self._append([json.dumps({"environment": facts})])

    def has_saved(self) -> bool:
        """As `Recording.has_saved`; the database knows it also without the journal."""
        with self._workspace.reading() as db:
            known = stored_paths(db, self.run_id, "checkpoint")
        return bool(known) or super().has_saved()

    def stop_asked(self) -> bool:
        """As `Recording.stop_asked`."""
        if not self._looks:
            with self._writing() as db:
                looks_for_stop(db, self.run_id)
            self._looks = True
        with self._workspace.reading() as db:
            return is_asked_to_stop(db, self.run_id)

    def flush(self) -> None:
        """Commit all events so far, before their checkpoint is written. Raises Problem; RunTaken on a lost run."""
        try:
            super().flush()
        except Gone:  # a run that was asked to stop continues in its folder to the end of the epoch
            if not self._stopping:
                raise

    @property
    def _stopping(self) -> bool:
        """Whether a person has asked the run to stop."""
        return self._control is not None and self._control.attended and self._control.stop_asked

    def forget_after(self, step: int) -> int:
        """Delete what an interrupted run recorded after the checkpoint it resumes from: it will be recorded again.

        Returns the number of deleted points of curves.
        """
        with self._writing() as db:
            points = forget_after(db, self.run_id, step)
        self._append([json.dumps({"forget": step})])  # afterwards: the journal may have more, never less
        return points

    def _start(self, started: str) -> None:
        with self._writing() as db:
            db.execute("update runs set started = ifnull(started, ?) where id = ?", (started, self.run_id))
            self._append([json.dumps({"started": started})])

    def _store(self) -> None:
        """One transaction, its lines in the journal before its commit. Raises Problem; what was not written is kept."""
        self._committed = monotonic()
        try:
            self._in_place.check(at_once=bool(self._new.changes.get("ended")))  # there is no later check
            with self._writing() as db:
                self._new.write(db)
                if self._new.changes.get("ended"):
                    early_stops.take_end(db, self.run_id, self._new.changes["status"])
                self._write_journal()
        except Problem as problem:
            self._new.rolled_back()
            if isinstance(problem, Gone):  # the run folder is written without it
                self._write_journal()
            raise
        self._new.committed()

    def _last_word(self) -> None:
        """Store the end of the run, with retries; meanwhile it is in the journal. Raises Problem."""
        since, journaled = monotonic(), False
        while True:
            try:
                self._store()
                return self._sync()
            except (RunTaken, Gone):
                raise
            except Problem as problem:
                log.info("The end of run %s cannot be recorded yet: %s", self.run_id, problem)
                if not journaled:
                    with contextlib.suppress(Problem):  # a full disk; the next try writes it
                        self._write_journal()
                        journaled = True
                if monotonic() - since > (PATIENCE if isinstance(problem, Busy) else LAST_WORD):
                    raise
            sleep(AGAIN)

    def _release(self) -> None:
        ownership.release(self._token)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[Connection]:
        """One transaction on a run that this process still owns. Raises Problem; RunTaken on a lost run."""
        since, though_gone = monotonic(), self._stopping and self.folder.is_dir()
        with contextlib.ExitStack() as stack:
            while True:
                try:
                    db = stack.enter_context(self._workspace.writing(though_gone=though_gone))
                    break
                except Busy:
                    if (self._control is not None and self._control.attended) or monotonic() - since > PATIENCE:
                        raise
            ownership.check(db, self.run_id, self._token)
            yield db

    def _note(self, text: str) -> None:
        with self._writing() as db:
            add_note(db, self.run_id, text)
            self._append([json.dumps({"note": text})])

    def _evaluated(self, event: Evaluated) -> None:
        with self._writing():
            pass  # a lost run writes no file, either
        arrays = stored_evaluation.write_arrays(self.folder, event, self._rows)
        with self._writing() as db:
            stored_evaluation.store(db, self.folder, self.run_id, event, arrays)
            self._append([evaluation_line(event)])
        self._sync()

    def _saved(self, kind: str, path: Path, step: int) -> None:
        with self._writing() as db:
            add_artefact(db, self.folder, self.run_id, "checkpoint", path, step)
            self._append([json.dumps({"checkpoint": {"kind": kind, "path": path.name, "step": step}})])
        self._sync()

    def _keep(self, epochs: tuple[int, ...]) -> None:
        with self._writing() as db:
            gone = superseded.keep_only(db, self.run_id, epochs)
            if gone:
                self._append([json.dumps({"keep": epochs})])
        superseded.remove_files(self.folder, epochs, gone)
