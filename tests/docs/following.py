"""Examples of docs/ are run as a reader would run them.

Everything is as it is printed but for two tables: SHORTER is put behind commands that would take hours, and OTHERWISE
replaces words, as the Slurm of `tests/clusters/setup` has one partition and no GPU. What a block needs may replace
more of its words (test_needs.py).
"""

import faulthandler
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from click.testing import CliRunner
from page_blocks import Example, examples

DOCS = Path(__file__).resolve().parents[2] / "docs"
EXAMPLES = {page.stem: examples(page) for page in sorted(DOCS.glob("*.md"))}
EPOCH = ("--set", "training.epochs=1")
FAIR = ("--trials", "1", "--seeds", "2", "--steps", "1")
SHORTER: Mapping[str, Sequence[str]] = {  # how a command begins -> words put behind it; the longest beginning counts
    "workbench run": EPOCH,
    "workbench run sample-digits": (*EPOCH, "--set", "backbone.width=8"),
    "workbench run cub-ce": (*EPOCH, "--set", "training.batch_size=8", "--set", "dataset.image_size=64"),
    "workbench sweep start": EPOCH,
    "workbench sweep start ice-scale": (*EPOCH, "--set", "training.batch_size=8", "--set", "dataset.image_size=112"),
    "workbench sweep start ice-scale --set dataset.name=omniglot": (*EPOCH, "--seeds", "1"),
    "workbench benchmark fair": (*FAIR, "--methods", "ce,psce", "--set", "backbone.width=4"),
    "workbench benchmark fair --data DATA --on caltech": FAIR,
    "torchrun": EPOCH,
    "srun": EPOCH,
    "python tests/campaign/run.py": ("--scale", "0.01"),
    "python tests/benchmarks/results.py": EPOCH,
    "python -m tests.benchmarks.label_noise": (*EPOCH, "--seeds", "1"),
    "python -m tests.benchmarks.rankmi_updates": ("--steps", "1", "--set", "backbone.width=4"),
}
OTHERWISE = {"partition=gpu": "partition=debug", "gres=gpu:1": "gres="}
MODULES = {"workbench": "workbench", "pytest": "pytest", "torchrun": "torch.distributed.run"}
LONGEST = 7200  # seconds of one command, as a guard against hangs: drills took half an hour at a load of 20


def wait_patiently() -> None:
    """The test that runs is held to hang after LONGEST alone, in place of pytest's own limit."""
    faulthandler.dump_traceback_later(LONGEST, exit=True, file=sys.__stderr__)


def follow(
    example: Example, names: dict[str, object], in_own_process: bool, otherwise: Mapping[str, str] = OTHERWISE
) -> None:
    """Run one example; `names` are those that the page's Python has made so far, `otherwise` replaces words."""
    if example.is_python:
        lines = "\n" * example.line + example.text  # so that a traceback names the line of the page
        exec(compile(lines, example.page, "exec"), names)
        return
    for command in example.commands:
        call(example, command, in_own_process, otherwise)


def call(
    example: Example,
    command: list[str],
    in_own_process: bool,
    otherwise: Mapping[str, str] = OTHERWISE,
    shorter: Sequence[str] | None = None,
) -> None:
    """Run one command of an example, with `shorter` (else what SHORTER says) behind it; it must end with status 0."""
    program, *words = command
    words = [file for word in words for file in _files(otherwise.get(word, word))]
    behind = shorter_of(command) if shorter is None else shorter
    words = [*without(words, behind), *behind]
    run = _in_own_process if in_own_process or program != "workbench" else _in_this_process
    status, said = run(program, words)
    assert status == 0, f"{example.page}, line {example.line}: {program} {' '.join(words)}\n{said}"


def shorter_of(command: Sequence[str]) -> Sequence[str]:
    """The words of SHORTER for a command."""
    whole = " ".join(command)
    beginnings = [beginning for beginning in SHORTER if whole.startswith(beginning)]
    return SHORTER[max(beginnings, key=len)] if beginnings else ()


def without(words: Sequence[str], others: Sequence[str]) -> list[str]:
    """The words but for the options, and the fields of `--set`, that have their values among the others."""
    changed = {_set_by(*pair) for pair in pairwise(others)}
    left, rest = [], list(words)
    while rest:
        taken = 2 if len(rest) > 1 and rest[0].startswith("--") and _set_by(*rest[:2]) in changed else 1
        left += rest[:1] if taken == 1 else []
        del rest[:taken]
    return left


def _set_by(option: str, value: str) -> tuple[str, str]:
    return option, value.partition("=")[0] if option == "--set" else ""


def _files(word: str) -> list[str]:
    """A word as a shell hands it on: a pattern is the files that it fits."""
    return sorted(str(path) for path in Path().glob(word)) if "*" in word else [word]


def _in_this_process(program: str, words: list[str]) -> tuple[int, str]:
    from workbench.cli import cli

    ended = CliRunner().invoke(cli, words, prog_name=program, input="y\n")  # to "Do this?"
    return ended.exit_code, ended.output


def _in_own_process(program: str, words: list[str]) -> tuple[int, str]:
    """For commands that another command prepared, such as those with a plug-in, and for all other programs."""
    done = subprocess.run(
        [*started(program), *words], capture_output=True, text=True, check=False, env=environment(), timeout=LONGEST
    )
    return done.returncode, done.stdout + done.stderr


def started(program: str) -> list[str]:
    """The words that start a program as a reader has it who installed this checkout."""
    if program in MODULES:
        return [sys.executable, "-m", MODULES[program]]
    return [sys.executable] if program == "python" else [program]


def environment() -> dict[str, str]:
    """That of this process, with this checkout to import from."""
    return os.environ | {"PYTHONPATH": os.pathsep.join((str(DOCS.parent), os.environ.get("PYTHONPATH", "")))}
