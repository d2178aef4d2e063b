"""A place that a test plays: files in a folder, states as the test says, and connections that end when it says so."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from workbench.places.contract import Ending, Finding, Has, JobState, Order, Part, Standing, Unreachable


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
        reads: requests for files.
        room: bytes of one answer.
        states_of: "missing" or "unreadable" by path there; other paths are there.
        gpus: their number, if that is certain.
        trains: whether runs train on the machine that is asked.
    """

    def __init__(self, base: Path) -> None:
        self.base = base
        self.standing = Standing(JobState.RUNNING)
        self.cut: int | None = None
        self.gone = ""
        self.asked: list[tuple[str, Ending]] = []
        self.received = self.reads = 0
        self.room = 1 << 30
        self.states_of: dict[str, str] = {}
        self.gpus: int | None = None
        self.trains = True

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

    def read(self, parts: Sequence[Part]) -> Iterator[bytes | None]:
        self._answer()
        self.reads += 1
        given = 0
        for at, part in enumerate(parts):
            path = self.base / part.path
            whole = path.read_bytes() if path.exists() else None
            start = part.offset if part.offset >= 0 or whole is None else max(0, len(whole) + part.offset)
            content = None if whole is None else whole[start : start + part.most]
            given += len(content or b"")
            if at and given > self.room:
                return
            self.received += len(content or b"")
            if self.cut is not None and content:
                left, self.cut = self.cut, self.cut - len(content)
                if self.cut < 0:
                    self.cut = None
                    if left:
                        yield content[:left]
                    raise Unreachable("The connection was lost.")
            yield content

    def put(self, path: str, content: bytes) -> None:
        (self.base / path).parent.mkdir(parents=True, exist_ok=True)
        (self.base / path).write_bytes(content)

    def has(self, paths: Sequence[str]) -> Has:
        self._answer()
        return Has({path: self.states_of.get(path, "there") for path in paths}, self.gpus, "Linux", self.trains)

    def check(self) -> list[Finding]:
        return []

    def _answer(self) -> None:
        if self.gone:
            raise Unreachable(self.gone)
