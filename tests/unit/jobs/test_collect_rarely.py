"""The processes that load large libraries look for garbage less often than Python does by itself."""

import gc
import json
import subprocess
import sys

import pytest

from workbench.cli import main
from workbench.jobs import collect_rarely

PYTHONS = (700, 10, 10)
TELLS_HOW_OFTEN = """
import gc
from workbench.jobs import serving
serving.run({"tell": lambda request, report: {"after": gc.get_threshold()[0]}}, awaited=True)
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
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", TELLS_HOW_OFTEN], stdin=pipe, stdout=pipe, text=True) as process:
        process.stdin.write('{"id": 1, "op": "tell"}\n')
        process.stdin.flush()
        process.stdout.readline()  # that it begins
        answer = json.loads(process.stdout.readline())
        process.stdin.close()
    assert answer["after"] == seldom
