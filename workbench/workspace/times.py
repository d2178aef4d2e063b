"""Moments as the workspace writes them."""

from datetime import UTC, datetime

NO_TIME = "1970-01-01T00:00:00+00:00"  # instead of an unreadable time


def now() -> str:
    """This moment as ISO 8601 in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def precisely_now() -> str:
    """This moment as `now`, to the microsecond: for what a person does several times a second."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def moment(seconds: float) -> str:
    """Seconds since 1970 as `now` writes them; NO_TIME for a year that has no such form, as a file may have."""
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return NO_TIME


def seconds_of(written: str) -> float:
    """Seconds since 1970 of a moment as `now` writes it, in UTC or with another offset. Raises ValueError."""
    return datetime.fromisoformat(written).timestamp()


def stamp() -> str:
    """The current time as digits, to the microsecond: part of the names of files, so that they differ."""
    return datetime.now(UTC).strftime("%Y%m%d%H%M%S%f")
