"""One wording of a time for terminal, window and reports."""

import re

import pytest

from tests.contracts.source_rules import ROOT
from workbench.progress import duration


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-1, "0 s"),
        (0, "0 s"),
        (0.004, "under 1 s"),
        (0.9, "under 1 s"),
        (59.4, "59 s"),
        (130, "2 min 10 s"),
        (3599.7, "1 h 0 min"),
        (8040, "2 h 14 min"),
    ],
)
def test_a_time_is_told_in_two_units(seconds: float, words: str) -> None:
    assert duration(seconds) == words
    assert duration(seconds, space="\u2009").replace("\u2009", " ") == words


def test_it_is_worded_in_one_place() -> None:
    holders = [
        path
        for path in (ROOT / "workbench").rglob("*.py")
        if re.search(r"^\s*def _?durations?\(", path.read_text("utf-8"), re.MULTILINE)
    ]
    assert holders == [ROOT / "workbench" / "progress.py"]
