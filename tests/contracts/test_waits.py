"""A wait of a test guards against a hang: it is long, and HANG of tests/waits.py says how long."""

import re
from collections.abc import Callable
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
ROOMS = ("contracts", "end_to_end", "property", "ui", "unit")
SECONDS = re.compile(r"(?:timeout=|(?<!qtbot)\.(?:wait|join)\()(\d+(?:\.\d+)?)\b")
MILLISECONDS = re.compile(r"qtbot\.wait[A-Z]\w*\(.*timeout=([\d_]+)")
AS_MILLISECONDS = re.compile(r"qtbot\.wait[A-Z]\w*\(.*timeout=HANG\b")  # which is in seconds
FIXED = re.compile(r"\bqtbot\.wait\(")
LEAST = 60


def seconds(line: str) -> float:
    """The shortest wait in a line; under one second it is a look, not a wait."""
    if AS_MILLISECONDS.search(line):
        return 0.24
    bot = [int(each) / 1000 for each in MILLISECONDS.findall(line)]
    return min(bot or [float(each) for each in SECONDS.findall(line) if float(each) >= 1] or [LEAST])


def lines_where(wrong: Callable[[str], bool]) -> list[str]:
    return [
        f"{path.relative_to(TESTS)}:{number}: {line.strip()}"
        for path in (each for room in ROOMS for each in (TESTS / room).rglob("*.py"))
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1)
        if wrong(line)
    ]


def test_no_wait_is_short():
    assert seconds("qtbot.waitUntil(read, timeout=" + "HANG)") < LEAST
    found = lines_where(lambda line: seconds(line) < LEAST)
    assert not found, "take HANG of tests/waits.py, or the default of qtbot's waits"


def test_no_wait_of_the_window_is_a_fixed_time():
    assert FIXED.search("    qtbot.wait" + "(50)")
    assert not lines_where(lambda line: bool(FIXED.search(line))), "await a signal or a condition: tests/waits.py"
