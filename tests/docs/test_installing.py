"""The lines of docs/ that install Workbench, each typed into a shell in a copy of the checkout: 7 GB, deleted."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from page_blocks import other_blocks
from shell import Reader
from test_pages import BOOTSTRAP, DOCS, LIBRARIES, PIP

from workbench.workspace import Workspace

ROOM = 9e9  # bytes


@pytest.fixture
def fresh(tmp_path: Path, patient: None) -> Iterator[Reader]:
    """A reader who has installed nothing, without a display."""
    if shutil.disk_usage(tmp_path).free < ROOM:
        pytest.skip(f"less than {ROOM / 1e9:.0f} GB are free")
    yield Reader(tmp_path)
    shutil.rmtree(tmp_path)


def trained(folder: Path) -> list[str]:
    """The statuses of a workspace's runs."""
    with Workspace(folder) as workspace:
        return [run.status for run in workspace.runs()]


@pytest.mark.slow
def test_the_first_of_the_two_commands_installs_and_trains_the_sample(fresh: Reader, tmp_path: Path) -> None:
    said = fresh.types(BOOTSTRAP, WORKBENCH_WORKSPACE=str(tmp_path / "workspace"))
    assert "There is no display" in said
    assert trained(tmp_path / "workspace") == ["done"]


@pytest.mark.slow
def test_pip_installs_the_command_line_and_the_window(fresh: Reader, tmp_path: Path) -> None:
    fresh.types(PIP)
    fresh.types(f"cd {tmp_path}; workbench sample --epochs 1 --workspace {tmp_path / 'workspace'}")
    assert trained(tmp_path / "workspace") == ["done"]
    fresh.types(f"workbench-gui --workspace {tmp_path / 'window'} --measure-start", QT_QPA_PLATFORM="offscreen")


def test_the_libraries_that_the_page_names_are_those_of_the_bare_debian() -> None:
    words = (DOCS.parent / "packaging" / "bundle_libraries.txt").read_text("utf-8").split()
    (line,) = [text.strip() for text in other_blocks(DOCS / "install.md") if LIBRARIES in text]
    assert line.removeprefix(LIBRARIES).split() == words
