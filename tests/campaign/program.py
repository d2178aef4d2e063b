"""The real program for the drills: started, watched, killed, in a home folder of its own."""

import atexit
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 240.0  # seconds until a program counts as hanging
LOOK_EVERY = 0.004  # seconds
HUNG = "it hung"


@dataclass(frozen=True)
class Program:
    """A started process."""

    pid: int
    log: Path
    ask: Callable[[], int | None]  # its exit status, negative for a signal; None while it runs

    def end(self, within: float = PATIENCE, look: Callable[[], object] = lambda: None) -> "Ended":
        """Wait for its end, calling `look` again and again; killed once `look` is true, or after `within` seconds."""
        until = time.monotonic() + within
        while (status := self.ask()) is None:
            if look():
                return self.kill()
            if time.monotonic() > until:
                ended = self.kill()
                return ended if within < PATIENCE else Ended(ended.status, f"{HUNG} {ended.said}")
            time.sleep(LOOK_EVERY)
        return Ended(status, self.said())

    def kill(self) -> "Ended":
        """SIGKILL, and wait for its end."""
        os.kill(self.pid, signal.SIGKILL)
        while (status := self.ask()) is None:
            time.sleep(LOOK_EVERY)
        return Ended(status, self.said())

    def said(self) -> str:
        """All it wrote, to both outputs."""
        return self.log.read_text("utf-8", "replace")


@dataclass(frozen=True)
class Ended:
    """How a process ended."""

    status: int  # negative for a signal
    said: str

    @property
    def killed(self) -> bool:
        """By SIGKILL, or by the timer that stands for it (starter.py)."""
        return self.status in (-signal.SIGKILL, -signal.SIGALRM) and not self.said.startswith(HUNG)

    @property
    def last_words(self) -> str:
        return " / ".join(self.said.strip().splitlines()[-3:])[-300:]

    @property
    def traceback(self) -> bool:
        """Whether a person saw one, or was told of a defect."""
        return "Traceback" in self.said or "defect in Workbench" in self.said


@dataclass(frozen=True)
class Home:
    """A person's folders below one folder, so that no drill sees what another left."""

    folder: Path
    numbers: "count[int]" = field(default_factory=lambda: count(1))

    def __post_init__(self) -> None:
        for each in (self.cache, self.state, self.temporary):
            each.mkdir(parents=True, exist_ok=True)
        shutil.copytree(starter().catalog, self.cache / "workbench", dirs_exist_ok=True)

    @property
    def cache(self) -> Path:
        return self.folder / "cache"

    @property
    def state(self) -> Path:
        return self.folder / "state"

    @property
    def temporary(self) -> Path:
        return self.folder / "temporary"

    @property
    def env(self) -> dict[str, str]:
        return {
            "HOME": str(self.folder), "XDG_CACHE_HOME": str(self.cache), "XDG_STATE_HOME": str(self.state),
            "XDG_CONFIG_HOME": str(self.state), "WORKBENCH_SETTINGS": str(self.state / "window.ini"),
            "WORKBENCH_LOCKS": str(self.state / "locks"), "TMPDIR": str(self.temporary), "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1", "QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(ROOT),
        }  # fmt: skip

    def start(
        self, *words: object, module: str = "workbench", fresh: bool = False, variables: dict[str, str] | None = None,
        **limits: Any,
    ) -> Program:  # fmt: skip
        """Start `python -m MODULE WORDS`; `fresh` in a new interpreter, else forked from one that has all loaded.

        Args:
            variables: of the environment, besides this home's.
            limits: `stdin` (a FIFO), `file_size` (bytes), `bound` (permissions bind root, too), `end_at` (count, delay,
                folder) as in starter.py; of a forked one only.
        """
        log = self.temporary / f"said-{next(self.numbers)}.txt"
        log.touch()
        env = self.env | (variables or {})
        if fresh:
            return start_fresh([sys.executable, "-m", module, *map(str, words)], env, log)
        asked = {"module": module, "words": [*map(str, words)], "env": env, "log": str(log)}
        return starter().start(asked | limits)

    def run(self, *words: object, **how: Any) -> Ended:
        """`start` and wait for the end."""
        return self.start(*words, **how).end()


def start_fresh(command: Sequence[str], env: dict[str, str], log: Path) -> Program:
    """A process of its own, its output in `log`."""
    with log.open("wb") as out:
        process = subprocess.Popen(
            command, env={**os.environ, **env}, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
            start_new_session=True,
        )  # fmt: skip
    return Program(process.pid, log, process.poll)


class Starter:
    """The other side of starter.py."""

    def __init__(self) -> None:
        env = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "QT_QPA_PLATFORM": "offscreen"}
        self.catalog = Path(tempfile.mkdtemp(prefix="campaign-catalog-"))  # made once: it takes seconds
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.campaign.starter", str(self.catalog)],
            env=env, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        atexit.register(self.close)
        if not self._process.stdout.readline():
            raise RuntimeError("the program cannot be loaded: see above")

    def start(self, asked: dict[str, Any]) -> Program:
        pid = self._tell(asked)
        ended: list[int] = []

        def ask() -> int | None:
            if not ended and (status := self._tell({"asked": pid})) is not None:
                ended.append(status)
            return ended[0] if ended else None

        return Program(pid, Path(asked["log"]), ask)

    def close(self) -> None:
        self._process.communicate()
        shutil.rmtree(self.catalog)

    def _tell(self, asked: dict[str, Any]) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


@cache
def starter() -> Starter:
    """The one of this process, started when it is first needed."""
    return Starter()
