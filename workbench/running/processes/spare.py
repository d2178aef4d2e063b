"""A process that has loaded torch and the engine and waits for a run, whose first step then comes sooner."""

import threading
from pathlib import Path
from types import TracebackType

import psutil

from workbench.jobs import ToldProcess, start_daemon
from workbench.problem import Problem

MODULE = "workbench.running.processes.one_run"
WAITING = "--spare"


class Spare:
    """At most one such process, from `want` until `close`; safe to use from several threads.

    It ends when this process ends, for whatever reason, and has a lower priority than all others meanwhile.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: ToldProcess | None = None
        self._wanted = self._ready = False

    def __enter__(self) -> "Spare":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def want(self, wanted: bool) -> None:
        """Keep a waiting process from now on, or none. Returns at once: a thread starts it."""
        self._wanted = wanted
        if wanted:
            start_daemon("spare process", self.prepare)
        else:
            self.close()

    def prepare(self) -> None:
        """Start the process if one is wanted and none waits; also after one has died."""
        with self._lock:
            if self._wanted and not self._alive():
                if self._process is not None:
                    self._process.close()
                try:
                    self._process, self._ready = ToldProcess(MODULE, [WAITING], None, {}), False
                except Problem:  # a run then starts its own process, and reports why it cannot
                    self._process = None

    def take(self, words: list[str], log: Path) -> ToldProcess | None:
        """Give the waiting process the arguments of one_run, and a file for its stderr; None if no process waits."""
        with self._lock:
            alive = self._alive()
            process, self._process = self._process, None
        if process is None:
            return None
        if not alive:
            process.close()
            return None
        process.tell({"words": words, "log": str(log)})
        return process

    @property
    def pid(self) -> int | None:
        """The number of the waiting process; None if there is none."""
        with self._lock:
            return self._process.pid if self._process is not None and self._alive() else None

    @property
    def ready(self) -> bool:
        """Whether the waiting process has loaded everything; a run may take it before that."""
        with self._lock:
            if self._process is None or not self._alive():
                return False
            self._ready = self._ready or any(answer.get("event") == "ready" for answer in self._process.answers())
            return self._ready

    def memory(self) -> int:
        """Resident bytes of the waiting process, shared libraries included; 0 if there is none."""
        try:
            return 0 if (pid := self.pid) is None else int(psutil.Process(pid).memory_info().rss)
        except psutil.Error:  # it has just ended
            return 0

    def close(self) -> None:
        """End the waiting process; none is started until `want` is called again."""
        self._wanted = False
        with self._lock:
            process, self._process = self._process, None
        if process is not None:
            process.kill()

    def _alive(self) -> bool:
        return self._process is not None and self._process.join(0) is None
