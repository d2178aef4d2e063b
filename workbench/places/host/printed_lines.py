"""The lines that a command at a host prints, while it prints them."""

from workbench.places.contract import Heard

LONGEST = 200  # letters of a line that are passed on
LARGEST = 64 << 10  # bytes that are kept of a line


class PrintedLines:
    """Passes each whole line on, as one of letters that no terminal obeys; empty lines are left out.

    Args:
        heard: called with each line.
        behind: bytes behind which the lines begin; what comes before them is passed on to nobody.
    """

    def __init__(self, heard: Heard, behind: bytes = b"") -> None:
        self._heard, self._behind = heard, behind
        self._rest = b""

    def take(self, piece: bytes) -> None:
        """Take what was printed next, in pieces of any length."""
        self._rest += piece
        if self._behind:
            _, there, rest = self._rest.partition(self._behind)
            if not there:
                self._rest = self._rest[-LARGEST:]
                return
            self._rest, self._behind = rest, b""
        *lines, self._rest = self._rest.replace(b"\r", b"\n").split(b"\n")
        self._rest = self._rest[:LARGEST]
        for line in lines:
            text = "".join(letter if letter.isprintable() else " " for letter in line.decode("utf-8", "replace"))
            if text.strip():
                self._heard(text.rstrip()[:LONGEST])
