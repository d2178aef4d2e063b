"""Moments as the workspace writes them."""

from datetime import UTC, datetime


def now() -> str:
    """This moment as ISO 8601 in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def stamp() -> str:
    """The current time as digits, to the microsecond: part of the names of files, so that they differ."""
    return datetime.now(UTC).strftime("%Y%m%d%H%M%S%f")
