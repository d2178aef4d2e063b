"""The position among the epochs of the map, and its playback. No Qt: the caller has the clock."""

from math import ceil, floor, isfinite

from workbench.numerals import percentage

ONE_EPOCH, WHOLE = 800.0, 20_000.0  # ms: from one epoch to the next, and the most for all of them
ONE_MAP = "One map so far"


class Timeline:
    """A position in time from 0 (the first epoch that has a map) to `end` (the last); whole numbers are epochs."""

    def __init__(self) -> None:
        self.epochs: tuple[int, ...] = ()
        self.evaluations = 0  # of the run; more than epochs where some have no map
        self.time = 0.0
        self.scores: tuple[float, ...] = ()  # MAP@R of each epoch, 0..1, or NaN
        self.working = ""  # what is being mapped, while every epoch is mapped
        self._played_from: tuple[float, float] | None = None  # time, and ms of the clock

    def show(self, epochs: tuple[int, ...], evaluations: int, time: float, scores: tuple[float, ...] = ()) -> None:
        """Take other epochs, of this many evaluations of the run, with the MAP@R of each (0..1), and stop playing."""
        self.scores = scores
        self.epochs, self.evaluations, self.time = epochs, evaluations, time
        self._played_from = None

    @property
    def end(self) -> int:
        """The position of the last epoch, from 0."""
        return max(0, len(self.epochs) - 1)

    @property
    def playable(self) -> bool:
        """Whether there is more than one epoch to go through."""
        return len(self.epochs) > 1

    @property
    def playing(self) -> bool:
        """Whether the epochs are being played."""
        return self._played_from is not None

    @property
    def nearest(self) -> int:
        """The position of the shown epoch, or of the nearer one between two."""
        return min(max(round(self.time), 0), self.end)

    @property
    def scored(self) -> bool:
        """Whether two epochs or more have a MAP@R."""
        return self.playable and sum(map(isfinite, self.scores)) > 1

    @property
    def best(self) -> int:
        """The position of the epoch with the highest MAP@R, the first of equals; 0 without any."""
        return max(range(len(self.scores)), key=lambda at: (isfinite(self.scores[at]), self.scores[at]), default=0)

    @property
    def scores_in_words(self) -> str:
        """MAP@R of the shown epoch and of the best; empty without scores."""
        if not self.scored:
            return ""
        said = [f"epoch {self.epochs[at]}: {percentage(self.scores[at])}" for at in (self.nearest, self.best)]
        return f"MAP@R at {said[0]}" + ("" if self.best == self.nearest else f", best at {said[1]}")

    @property
    def missing(self) -> int:
        """Evaluations that have no map in this chain."""
        return self.evaluations - len(self.epochs)

    @property
    def words(self) -> str:
        """The text of the bar: which epoch is shown, or what is being mapped."""
        if self.working:
            return self.working
        if not self.playable:
            return ONE_MAP
        first = self.epochs[floor(self.time)]
        return f"Epoch {first}" if self.time == floor(self.time) else f"Epoch {first} to {self.epochs[ceil(self.time)]}"

    def play(self, now: float) -> None:
        """Play from the current time, or from the start if it is at the end; `now` in ms."""
        if self.playable:
            self.time = 0.0 if self.time >= self.end else self.time
            self._played_from = (self.time, now)

    def tick(self, now: float) -> bool:
        """Move to the clock's time, so that slow drawing does not slow playback. Returns whether it still plays."""
        if self._played_from is None:
            return False
        start, began = self._played_from
        self.time = min(float(self.end), start + (now - began) / min(ONE_EPOCH, WHOLE / self.end))
        if self.time >= self.end:
            self._played_from = None
        return self.playing

    def stop(self) -> None:
        """Pause at the current time, which may be between two epochs."""
        self._played_from = None

    def settle(self) -> int:
        """Stop at the nearest epoch; its number among the epochs."""
        self.stop()
        nearest = round(self.time)
        self.time = float(nearest)
        return nearest

    def step(self, epochs: int) -> float:
        """The time of the epoch before (-1) or after (1) the current time."""
        time = floor(self.time) + 1 if epochs > 0 else ceil(self.time) - 1
        return float(min(max(time, 0), self.end))
