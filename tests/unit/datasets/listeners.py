"""Who listens to progress in these tests."""

from workbench.control import Cancelled


def silent(text: str, done: int, total: int) -> None:
    """Nobody watches."""


def give_up(text: str, done: int, total: int) -> None:
    """A person who has pressed Cancel."""
    raise Cancelled
