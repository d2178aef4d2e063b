"""Names and times in the words of a report."""

from datetime import UTC, datetime

MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


def in_sentence(title: str) -> str:
    """A title amid a sentence: "cross-entropy (CE)"; names with other capitals keep theirs, as "N-pairs" does."""
    first, _, _ = title.partition(" ")
    return title[:1].lower() + title[1:] if first[1:2].islower() and first[1:].islower() else title


def moment(stamp: str) -> str:
    """A stored time, ISO 8601, as "22 November 2026, 10:49 UTC"; as it is where it is no such time."""
    try:
        at = datetime.fromisoformat(stamp)
        if at.tzinfo is None:
            return stamp
        at = at.astimezone(UTC)
    except (ValueError, OverflowError):
        return stamp
    return f"{at.day} {MONTHS[at.month - 1]} {at.year}, {at:%H:%M} UTC"
