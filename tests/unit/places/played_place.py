"""A place that a test plays: files in a folder, states as the test says, and connections that end when it says so."""

from collections.abc import Sequence
from pathlib import Path

from workbench.places.contract import Ending, Finding, JobState, Order, Part, Standing, Unreachable


class PlayedPlace:
    """A launcher whose run folders are those below `base`.

    Args:
        base: the place's folder.

    Attributes:
        standing: of every job.
        cut: how many more bytes arrive before the connection is lost, once; None for no end.
        gone: why nothing answers; empty while it does.
        asked: what was asked of jobs.
        received: bytes that were sent.
    """

    def __init__(self, base: Path) -> None:
        self.base = base
        self.standing = Standing(JobState.RUNNING)
        self.cut: int | None = None
        self.gone = ""
        self.asked: list[tuple[str, Ending]] = []
        self.received = 0

    def submit(self, orders: Sequence[Order]) -> list[str]:
        self._answer()
        for order in orders:
            for name, content in order.files.items():
                self.put(f"{order.name}/{name}", content)
        return [order.name for order in orders]

    def states(self, jobs: Sequence[str]) -> list[Standing]:
        self._answer()
        return [self.standing] * len(jobs)

    def stop(self, job: str, how: Ending) -> None:
        self._answer()
        self.asked.append((job, how))

    def read(self, parts: Sequence[Part]) -> list[bytes | None]:
        self._answer()
        contents: list[bytes | None] = []
        for part in parts:
            path = self.base / part.path
            if not path.exists():
                contents.append(None)
                continue
            content = path.read_bytes()[part.offset : part.offset + part.most]
            self.received += len(content)
            if self.cut is not None:
                self.cut -= len(content)
                if self.cut < 0:
                    self.cut = None
                    raise Unreachable("The connection was lost.")
            contents.append(content)
        return contents

    def put(self, path: str, content: bytes) -> None:
        (self.base / path).parent.mkdir(parents=True, exist_ok=True)
        (self.base / path).write_bytes(content)

    def check(self) -> list[Finding]:
        return []

    def _answer(self) -> None:
        if self.gone:
            raise Unreachable(self.gone)
