"""Examples of docs/ are run as a reader would run them.

Trainings take one epoch, since the pages train for longer; a fair comparison has two losses of 37; the Slurm of
`tests/clusters/setup` has one partition and no GPU. Everything else is as it is printed.
"""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from click.testing import CliRunner
from page_blocks import Example, examples

from tests.waits import HANG

DOCS = Path(__file__).resolve().parents[2] / "docs"
EXAMPLES = {page.stem: examples(page) for page in sorted(DOCS.glob("*.md"))}
SHORTER = ["--set", "training.epochs=1"]
FAIR = ["--methods", "ce,psce", "--trials", "1", "--seeds", "2", "--steps", "1", "--set", "backbone.width=4"]
MODULES = {"torchrun": "torch.distributed.run"}  # of programs that are not called by their module's name
OTHERWISE = {"partition=gpu": "partition=debug", "gres=gpu:1": "gres="}


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
    shorter: Sequence[str] = SHORTER,
) -> None:
    """Run one command of an example, with `shorter` where it trains; it must end with status 0."""
    program, *words = command
    trains = words[0] == "run" or words[:2] == ["sweep", "start"] or program == "torchrun"
    words = [otherwise.get(word, word) for word in words]
    shortened = [*words, *(shorter if trains else FAIR if words[:2] == ["benchmark", "fair"] else ())]
    run = _in_own_process if in_own_process or program != "workbench" else _in_this_process
    status, said = run(program, shortened)
    assert status == 0, f"{example.page}, line {example.line}: {program} {' '.join(shortened)}\n{said}"


def _in_this_process(program: str, words: list[str]) -> tuple[int, str]:
    from workbench.cli import cli

    ended = CliRunner().invoke(cli, words, prog_name=program)
    return ended.exit_code, ended.output


def _in_own_process(program: str, words: list[str]) -> tuple[int, str]:
    """For commands that another command prepared, such as those with a plug-in."""
    paths = os.pathsep.join((str(DOCS.parent), os.environ.get("PYTHONPATH", "")))
    env = os.environ | {"PYTHONPATH": paths}
    command = [sys.executable, "-m", MODULES.get(program, program), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env, timeout=2 * HANG)
    return done.returncode, done.stdout + done.stderr
