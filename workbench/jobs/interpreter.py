"""How Workbench starts Python again, for its processes, and what each of them sets in Python."""

import gc
import os
import re
import shlex
import subprocess
import sys

WINDOWS = os.name == "nt"
PLAIN = re.compile(r"[\w.:\\/+-]+")  # what every shell of Windows reads as it stands
OF_POWERSHELL = re.compile("[`$\u201c\u201d\u201e]")  # within double quotes; a typographic quote ends them
GARBAGE_AFTER = 10_000  # objects
NO_CONSOLE = getattr(subprocess, "CREATE_NO_WINDOW", 0)
"""A flag of a process that shows no console on the screen; only Windows has it."""


def python(module: str, program: str = "") -> list[str]:
    """The command that runs a module by this Python, or by another program; the module's arguments follow.

    `python -m` searches the current folder before Python's own modules: there a file named json.py would take their
    place. It is searched only if this process does so, too. A bundle searches it never, and knows `-m` alone.
    """
    searched = getattr(sys, "frozen", False) or _searches_the_current_folder()
    return [program or sys.executable, *(() if searched else ("-P",)), "-m", module]


def collect_rarely() -> None:
    """Have this process look for unreachable cycles of objects after 10,000 new ones; Python itself does after 700.

    What libraries make while they load stays, and to look through it took 0.6 of the 4.5 s of CPU time of a short run.
    """
    gc.set_threshold(GARBAGE_AFTER)


def command_line(*words: str) -> str:
    """The words as a person types them into this system's shell, of Windows into PowerShell or cmd.

    cmd knows no single quotes, and neither shell a way to write "%NAME%" or "$" that the other one reads, too: cmd puts
    the value of a variable for "%NAME%" if there is one, and a "$" is written for PowerShell, which would run "$(...)".
    """
    return " ".join(map(_quoted_on_windows, words)) if WINDOWS else shlex.join(words)


def _quoted_on_windows(word: str) -> str:
    """In quotes unless it is plain: to a shell "a&b" is two commands, which subprocess.list2cmdline does not know."""
    if PLAIN.fullmatch(word):
        return word
    word = OF_POWERSHELL.sub(r"`\g<0>", word)
    doubled = re.sub(r'(\\*)("|\Z)', lambda end: 2 * end[1] + 2 * end[2], word)
    return f'"{doubled}"'


def _searches_the_current_folder() -> bool:
    try:
        here = os.path.realpath(os.getcwd())
    except OSError:  # it was removed
        return False
    return any(os.path.realpath(folder) == here for folder in sys.path)
