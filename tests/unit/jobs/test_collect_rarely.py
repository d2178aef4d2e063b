"""The processes that load large libraries look for garbage less often than Python does by itself."""

import gc
import subprocess
import sys

import pytest

from tests.waits import HANG
from workbench.cli import main
from workbench.jobs import collect_rarely

PYTHONS = (700, 10, 10)
SERVES_NOTHING = """
import gc, sys
from workbench.jobs import serving
serving.run({}, awaited=True)
print(gc.get_threshold()[0], file=sys.stderr)
"""


@pytest.fixture
def seldom():
    """After how many new objects it looks; Python's own numbers are set, and what the suite has comes back."""
    whole = gc.get_threshold()
    collect_rarely()
    after = gc.get_threshold()[0]
    gc.set_threshold(*PYTHONS)
    yield after
    gc.set_threshold(*whole)


def test_the_command_line_looks_seldom_and_keeps_the_older_generations_as_they_are(seldom):
    assert seldom > 5 * PYTHONS[0]
    assert main(["list", "presets"]) == 0
    assert gc.get_threshold() == (seldom, *PYTHONS[1:])


def test_a_process_of_analysis_does_too(seldom):
    command = [sys.executable, "-c", SERVES_NOTHING]
    ended = subprocess.run(command, input="", capture_output=True, text=True, timeout=HANG, check=True)
    assert ended.stderr == f"{seldom}\n"
