"""Moments as the workspace writes them."""

from datetime import UTC, datetime


def now() -> str:
    """This moment as ISO 8601 in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def stamp() -> str:
    """This moment as digits, to the microsecond: tells apart files of one kind that are made one after another."""
    return datetime.now(UTC).strftime("%Y%m%d%H%M%S%f")
