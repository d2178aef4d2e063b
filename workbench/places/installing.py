"""Installs Workbench in a folder of the user's at a place: first a plan to read, then its execution."""

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from workbench import __version__
from workbench.places.contract import Answer, Host
from workbench.places.host.host_files import last_line, write_all
from workbench.places.place import Place
from workbench.problem import Problem

PACKAGE = "metric-workbench"
LIMIT = 3600.0  # seconds of one step: torch is large
SUFFIX = "/bin/python"
NOTE = "Nothing else is installed there. PyTorch is large: this may take many minutes."
ERROR = "ERROR: "
WHEEL = "In a checkout, `python -m pip wheel --no-deps --wheel-dir wheels .` makes a wheel: install from it."
UNPUBLISHED = "This version is on no index that pip reads there."
OFFLINE = "collect the wheels of all packages elsewhere by `pip download`, copy them there, and name their folder."
NO_PACKAGE = "No matching distribution found for"
NO_CONNECTION = ("Retrying (Retry(", "Could not fetch URL", "Could not install packages due to an OSError: HTTP")


@dataclass(frozen=True, slots=True)
class Plan:
    """What will be done.

    Attributes:
        steps: commands, in order, in the user's home folder there.
        wheel: a file that is copied there first, into the place's folder; None for the published package.
        folder: the place's folder.
    """

    steps: tuple[tuple[str, ...], ...]
    wheel: Path | None
    folder: str

    def lines(self) -> list[str]:
        """The plan for a user to read."""
        copied = [f"copy {self.wheel.name} to {self.folder}/"] if self.wheel else []
        return [*copied, *(shlex.join(step) for step in self.steps)]


def plan(place: Place, base: str = "python3", wheel: Path | None = None, wheels: str = "") -> Plan:
    """The plan that installs this version of Workbench where the place's record expects its Python.

    Args:
        place: its record; its Python has to be that of a virtual environment, `FOLDER/bin/python`.
        base: the Python there to make the environment with.
        wheel: the package as a file; the published one of this version when it is not given.
        wheels: a folder there with the wheels of all packages, of which alone pip installs; empty for pip's index.

    Raises:
        Problem: the place's Python is not one that is ours to make, or the folder is an option.
    """
    if wheels.startswith("-") or any(not letter.isprintable() for letter in wheels):
        raise Problem(f"{wheels!r} is not a folder there.", kept="Nothing was installed.")
    if not place.python.endswith(SUFFIX) or place.python.startswith("/usr/"):
        raise Problem(
            f"{place.python} is not the Python of a virtual environment.",
            kept="Nothing was installed.",
            todo="Name one that ends in /bin/python, or install Workbench there by hand.",
        )
    environment = place.python.removesuffix(SUFFIX)
    package = f"{PACKAGE}=={__version__}" if wheel is None else f"{place.folder}/{wheel.name}"
    source = ("--no-index", "--find-links", wheels.removeprefix("~/")) if wheels else ()
    steps = ((base, "-m", "venv", environment), (place.python, "-m", "pip", "install", *source, package))
    return Plan(steps, wheel, place.folder)


def carry_out(plan: Plan, host: Host, say: Callable[[str], object]) -> None:
    """Execute the plan, announcing each step and what it prints, line by line.

    Raises:
        Unreachable: there is no answer.
        Problem: a step failed; with its last output.
    """
    if plan.wheel is not None:
        say(f"Copying {plan.wheel.name}")
        write_all(host, plan.folder, {plan.wheel.name: plan.wheel.read_bytes()})
    for number, step in enumerate(plan.steps):
        say(shlex.join(step))
        answer = host.call(step, seconds=LIMIT, most=16 << 20, heard=say)
        if answer.status:
            kept = "Steps before it are done." if number else "Nothing was installed."
            todo = _todo(answer.errors) if number else "Name a Python there that has venv."
            raise Problem(f"{shlex.join(step)} failed: {_why(answer)}.", kept=kept, todo=todo)


def _why(answer: Answer) -> str:
    """The last error that pip printed, or else the last line that is no notice of a newer pip; venv prints to `out`."""
    printed = answer.errors if answer.errors.strip() else answer.out.decode("utf-8", "replace")
    lines = [line for line in printed.splitlines() if not line.startswith("[notice]")]
    errors = [line.removeprefix(ERROR) for line in lines if line.startswith(ERROR)]
    return last_line("\n".join(errors or lines))


def _todo(printed: str) -> str:
    """What to do about what pip printed; empty where its error says all that is known."""
    if any(words in printed for words in NO_CONNECTION):
        return f"If that machine reaches no package index: {OFFLINE}"
    if f"{NO_PACKAGE} {PACKAGE}" in printed:
        return f"{UNPUBLISHED} {WHEEL}"
    return f"Its pip has no index with this package: {OFFLINE}" if NO_PACKAGE in printed else ""
