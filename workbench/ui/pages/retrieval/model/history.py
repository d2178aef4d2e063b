"""The queries that were shown, to go back and forward."""


class History:
    """The sample ids of shown queries, like the history of a web browser."""

    def __init__(self) -> None:
        self._past: list[int] = []
        self._future: list[int] = []
        self._now: int | None = None

    @property
    def can_go_back(self) -> bool:
        """Whether there is a query to go back to."""
        return bool(self._past)

    @property
    def can_go_forward(self) -> bool:
        """Whether there is a query to go forward to."""
        return bool(self._future)

    def visit(self, sample_id: int) -> None:
        """Append the shown query and drop those after the current one; the current query again changes nothing."""
        if sample_id == self._now:
            return
        if self._now is not None:
            self._past.append(self._now)
        self._future.clear()
        self._now = sample_id

    def back(self) -> int | None:
        """Go back: the previous query, or None if there is none."""
        return self._move(self._past, self._future)

    def forward(self) -> int | None:
        """Go forward: the next query, or None if there is none."""
        return self._move(self._future, self._past)

    def clear(self) -> None:
        """Forget all queries, for another run."""
        self._past.clear()
        self._future.clear()
        self._now = None

    def _move(self, source: list[int], target: list[int]) -> int | None:
        if not source:
            return None
        if self._now is not None:
            target.append(self._now)
        self._now = source.pop()
        return self._now
