"""PySide6 6.12.0 on Python 3.11 dies after some hundred signals: each emit drops a reference to True and None."""

import subprocess
import sys

EMITS = """
from PySide6.QtCore import QCoreApplication, QObject, Signal

class Source(QObject):
    said = Signal(int)

application = QCoreApplication([])
source, heard = Source(), []
source.said.connect(heard.append)
for number in range(5000):
    source.said.emit(number)
    source.setProperty("number", number)
print(len(heard))
"""


def emits(prelude: str = "") -> tuple[int, str]:
    """Exit status and output of a process that emits 5,000 signals."""
    done = subprocess.run([sys.executable, "-c", prelude + EMITS], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.strip()


def test_a_process_that_loses_its_references_is_noticed():
    steal = "import ctypes\nctypes.c_ssize_t.from_address(id(True)).value = 1\n" + "kept = [True]\ndel kept\n" * 3
    if sys.version_info >= (3, 12):  # True is immortal there: nothing to lose
        steal = "import os\nos.abort()\n"
    assert emits(steal) != (0, "5000")


def test_5000_signals_survive():
    assert emits() == (0, "5000")
