"""Every example of docs/ is run as a reader would run it, page by page, or says why not.

Each page has a folder of its own, with what its reader is told to have: `birds`, a folder of photographs, a file of
weights, and the machines `lab1` and `login1`. Trainings take one epoch, since the pages train for longer, and the Slurm
of `tests/clusters/setup` has one partition and no GPU; everything else is as it is printed.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from page_blocks import Example, examples
from PIL import Image

from tests.clusters.there import there
from tests.clusters.training import python
from tests.waits import HANG

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = sorted(DOCS.glob("*.md"))
EXAMPLES = {page.stem: examples(page) for page in PAGES}
FOLLOWED = [stem for stem, blocks in EXAMPLES.items() if any(not block.not_run for block in blocks)]
SHORTER = ["--set", "training.epochs=1"]
LONG = {"appendix", "choosing-a-loss", "plugins", "ranks", "reach"}  # several trainings, or several processes
MODULES = {"torchrun": "torch.distributed.run"}  # of programs that are not called by their module's name
OTHERWISE = {"partition=gpu": "partition=debug", "gres=gpu:1": "gres="}
CLASSES, IMAGES = 34, 3  # of `birds`: more classes than a batch of the photographs' preset has in its half


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person's folder: nothing outside it is written."""
    monkeypatch.setenv("WORKBENCH_WORKSPACE", str(tmp_path / "workspace"))
    monkeypatch.setenv("WORKBENCH_PLUGINS", str(tmp_path / "plugins" / "folders.txt"))
    for name in ("DATA", "CACHE", "CONFIG"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def give_photographs(folder: Path) -> None:
    """`birds`, one colour for each class, and weights of the network that the page names."""
    import torch
    from torchvision.models import squeezenet1_0

    for index in range(CLASSES):
        (folder / "birds" / f"bird {index}").mkdir(parents=True)
        for number in range(IMAGES):
            colour = index * 7 % 256, index * 31 % 256, number * 20
            Image.new("RGB", (64, 48), colour).save(folder / "birds" / f"bird {index}" / f"{number}.png")
    torch.save(squeezenet1_0().state_dict(), folder / "squeezenet1_0.pth")


def give_machines(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`lab1` and `login1`: this machine by the sshd of the tests, with a home folder that has Workbench.

    OpenSSH reads the person's own config wherever HOME is, so an `ssh` in front of it names another one.
    """
    config = Path(there("ssh")["CONFIG"]).read_text("utf-8")
    there("slurm")
    (folder / "config").write_text(config.replace("Host here", "Host lab1 login1"), "utf-8")
    home = folder / "home" / "workbench-place" / "bin"
    home.mkdir(parents=True)
    python(home)
    asked = f'cd "{folder}/home"; HOME="{folder}/home"; export HOME; '
    lines = [
        "#!/bin/sh",
        "count=$# number=0",
        'for word; do shift; number=$((number + 1)); [ $number = $count ] || set -- "$@" "$word"; done',
        f'exec {shutil.which("ssh")} -F "{folder}/config" "$@" \'{asked}\'"$word"',
    ]
    (folder / "bin").mkdir()
    (folder / "bin" / "ssh").write_text("\n".join(lines) + "\n", "utf-8")
    (folder / "bin" / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("WORKBENCH_PLACES", str(folder / "places"))


def follow(example: Example, names: dict[str, object], in_own_process: bool) -> None:
    """Run one example; `names` are those that the page's Python has made so far."""
    if example.is_python:
        lines = "\n" * example.line + example.text  # so that a traceback names the line of the page
        exec(compile(lines, example.page, "exec"), names)
        return
    for program, *words in example.commands:
        trains = words[0] == "run" or words[:2] == ["sweep", "start"] or program == "torchrun"
        words = [OTHERWISE.get(word, word) for word in words]
        shortened = [*words, *SHORTER] if trains else words
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


@pytest.mark.parametrize(
    "page", [pytest.param(stem, marks=pytest.mark.slow if stem in LONG else ()) for stem in FOLLOWED]
)
def test_the_examples_of_a_page_run(page: str, reader: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if any("birds" in example.text for example in EXAMPLES[page]):
        give_photographs(reader)
    if any("--ssh" in example.text for example in EXAMPLES[page] if not example.not_run):
        give_machines(reader, monkeypatch)
    names: dict[str, object] = {}
    for example in EXAMPLES[page]:
        if not example.not_run:
            follow(example, names, in_own_process=page == "plugins")


def test_what_a_page_says_is_found_and_a_marker_is_read(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# Page\n\n    workbench list losses   # all\n    workbench run sample-digits \\\n        --quiet\n\n"
        "<!-- not run: needs a GPU -->\n\n    workbench run a\n\n    pip install b\n\n```python\nx = 1\n```\n"
    )
    console, marked, python = examples(page)
    assert console.commands == [["workbench", "list", "losses"], ["workbench", "run", "sample-digits", "--quiet"]]
    assert marked.not_run == "needs a GPU"
    assert not console.not_run
    assert python.is_python
    assert python.text == "x = 1\n"


def test_an_example_that_does_not_run_fails(reader: Path) -> None:
    with pytest.raises(AssertionError, match="line 7: workbench run no-such-preset"):
        follow(Example("page.md", 7, False, "workbench run no-such-preset\n", ""), {}, in_own_process=False)
    with pytest.raises(ZeroDivisionError):
        follow(Example("page.md", 7, True, "1 / 0\n", ""), {}, in_own_process=False)
