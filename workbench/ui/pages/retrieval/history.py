"""The queries that were looked at, to go back and forward."""


class History:
    """Sample ids, as a browser keeps its pages."""

    def __init__(self) -> None:
        self._past: list[int] = []
        self._future: list[int] = []
        self._now: int | None = None

    @property
    def can_go_back(self) -> bool:
        """Whether a query was looked at before."""
        return bool(self._past)

    @property
    def can_go_forward(self) -> bool:
        """Whether `back` left a query."""
        return bool(self._future)

    def visit(self, sample_id: int) -> None:
        """Another query is shown; what lay ahead is forgotten. The same one again changes nothing."""
        if sample_id == self._now:
            return
        if self._now is not None:
            self._past.append(self._now)
        self._future.clear()
        self._now = sample_id

    def back(self) -> int | None:
        """The query before, or None."""
        return self._move(self._past, self._future)

    def forward(self) -> int | None:
        """The query after, or None."""
        return self._move(self._future, self._past)

    def clear(self) -> None:
        """Another run: forget all."""
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
