"""How long work says how far it is: one callable for the whole package."""

from collections.abc import Callable

Progress = Callable[[str, int, int], None]  # (text, done, total); raises Cancelled where nobody wants the result


def quiet(text: str, done: int, total: int) -> None:
    """Nobody is told."""
