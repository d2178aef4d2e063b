"""Stores the events of a run in files: the recorder of a run folder without a workspace."""

import json
import os
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from workbench import files
from workbench.control import Control
from workbench.events import Evaluated
from workbench.files import parts
from workbench.problem import Problem
from workbench.workspace.database.columns import environment_of
from workbench.workspace.folders import journal, travelling
from workbench.workspace.folders.dataset_copy import copy_of, write_copy
from workbench.workspace.measured import stored_evaluation, superseded
from workbench.workspace.owners import ownership
from workbench.workspace.recorders.recording import Recording
from workbench.workspace.times import now

if TYPE_CHECKING:
    from workbench.datasets.image_set import ImageSet


class FolderRecorder(Recording):
    """Call it with events, on the run's thread; `beat` may be called by another.

    Args:
        folder: of the run, as `travelling.make` made it.
        control: of the run, to pause it; None raises the Problem instead.

    Raises:
        Problem: it is no run folder, or another process works on it.
    """

    def __init__(self, folder: Path, control: Control | None = None) -> None:
        _, _, self.config = travelling.read(folder)
        self._lock = travelling.locked(folder)
        try:
            parts.remove_dead(folder)
            self._environment: dict[str, Any] = {}
            self._looks = False  # whether the journal says that the run's loop looks for a request to stop
            super().__init__(0, folder, *self._read_back(folder), control)
            self._append([json.dumps({"owner": ownership.here()})])
        except BaseException:
            self._release()
            raise

    def read(self, image_set: "ImageSet", pixels: Path | None) -> None:
        """Write the run's data set beside it; `pixels` is its cache. Raises Problem."""
        facts = copy_of(image_set, pixels)
        self._rows = {sample[0]: sample[1] for sample in facts.samples}
        write_copy(facts, self.folder)

    def known_environment(self) -> dict[str, Any]:
        """What `environment` stored last; empty for a new run."""
        return self._environment

    def environment(self, facts: dict[str, Any]) -> None:
        """Versions, device and parameters of this run. Raises Problem."""
        self._append([json.dumps({"environment": facts})])
        self._environment = facts

    def stop_asked(self) -> bool:
        """As `Recording.stop_asked`: whether the folder has a file AFTER_EPOCH, as `workbench ingest` makes it."""
        if not self._looks:
            loop = self._environment.get("own_loop", {}) | {"looks": True}
            self.environment(self._environment | {"own_loop": loop})
            self._looks = True
        return os.path.lexists(self.folder / travelling.AFTER_EPOCH)

    def forget_request(self) -> None:
        """Remove a request to stop that was made to an earlier process. Raises Problem if it cannot be removed."""
        request = self.folder / travelling.AFTER_EPOCH
        try:
            request.unlink(missing_ok=True)
        except OSError as error:
            what = f"The request to stop the run before, {request}, cannot be removed ({error.strerror})."
            raise Problem(what, kept="What it has is kept.", todo="Remove it yourself, and resume again.") from None

    def beat(self) -> None:
        """Renew the heartbeat, from any thread. Raises Problem."""
        self._append([json.dumps({"run": {"heartbeat": now()}})])

    def close(self) -> None:
        """Let another process train the run; for a recorder that gets no Ended event."""
        super().close()
        self._release()

    def forget_after(self, step: int) -> int:
        """As `Recording.forget_after`."""
        entries = filter(None, journal.entries(self.folder))
        points = sum(at > step for entry in entries for _, at, _ in entry.scalars)
        self._append([json.dumps({"forget": step})])
        return points

    def _read_back(self, folder: Path) -> tuple[float, int]:
        """Read what an earlier process recorded; returns the seconds that it trained and its peak memory."""
        seconds, memory = 0.0, 0
        for entry in filter(None, journal.entries(folder)):
            if entry.environment is not None:
                self._environment, _ = environment_of(json.dumps(entry.environment))
            if entry.run is not None:
                memory = max(memory, entry.run.memory_bytes)
                if "seconds" in entry.run.model_fields_set:
                    seconds = entry.run.seconds
        return seconds, memory

    def _start(self, started: str) -> None:
        self._append([json.dumps({"started": started})])

    def _store(self) -> None:
        self._committed = monotonic()
        self._write_journal()
        self._new.committed()

    def _last_word(self) -> None:
        self._store()
        self._sync()

    def _release(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _note(self, text: str) -> None:
        self._append([json.dumps({"note": text})])

    def _evaluated(self, event: Evaluated) -> None:
        arrays = stored_evaluation.write_arrays(self.folder, event, self._rows)
        ranking = stored_evaluation.ranking_path(self.folder, event.epoch)
        written = (arrays.embeddings, ranking, arrays.proxies, arrays.training, arrays.probe)
        hashes = {path.name: (path.stat().st_size, files.digest(path)) for path in written if path is not None}
        self._append([journal.evaluation_line(event, hashes)])
        self._sync()

    def _saved(self, kind: str, path: Path, step: int) -> None:
        facts = {"kind": kind, "path": path.name, "step": step, "bytes": path.stat().st_size}
        self._append([json.dumps({"checkpoint": facts | {"blake2b": files.digest(path)}})])
        self._sync()

    def _keep(self, epochs: tuple[int, ...]) -> None:
        if superseded.has_others(self.folder, epochs):
            self._append([json.dumps({"keep": epochs})])
            self._sync()
            superseded.remove_files(self.folder, epochs)
