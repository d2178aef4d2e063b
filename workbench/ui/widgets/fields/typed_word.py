"""A word that is typed at a closed list to choose one of its entries. No Qt."""

from collections.abc import Sequence
from math import inf


class TypedWord:
    """The letters typed so far. They outlive the list: a form draws a field anew when something is chosen in it."""

    def __init__(self) -> None:
        self._letters = ""
        self._at = -inf

    def goes_on(self, at: float, pause: float) -> bool:
        """Whether a letter at the time `at` (ms) belongs to this word: it came within `pause` ms of the last one."""
        return bool(self._letters) and at - self._at <= pause

    def add(self, letters: str, at: float, pause: float) -> None:
        """Add letters, or begin another word with them."""
        self._letters = self._letters + letters if self.goes_on(at, pause) else letters
        self._at = at

    def row(self, titles: Sequence[str], current: int) -> int | None:
        """The entry that is meant; None where no title begins with the word.

        As in Qt's lists, a first letter goes on from the current entry, and the same letter again goes to the next.
        """
        word = self._letters.casefold()
        row = _from(titles, word, current + (len(word) == 1))
        return _from(titles, word[:1], current + 1) if row is None and len(set(word)) == 1 else row


def _from(titles: Sequence[str], word: str, first: int) -> int | None:
    rows = (row % len(titles) for row in range(first, first + len(titles)))
    return next((row for row in rows if titles[row].casefold().startswith(word)), None)
