"""What lists and reports call a run's data and backbone: the folder and the network that a person chose."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from workbench.cli import cli
from workbench.config import Choice, RunConfig
from workbench.entries import catalog as catalogs
from workbench.workspace import Workspace
from workbench.workspace.run_names import names_of, short_names


@pytest.fixture
def run(tmp_path):
    config = RunConfig(
        dataset=Choice(name="folder", params={"folder": str(Path("/photographs of") / "birds")}),
        backbone=Choice(name="timm", params={"model": "regnety_002"}),
    )
    with Workspace(tmp_path / "space", create=True) as workspace:
        return workspace.run(workspace.create_run(config))


def test_a_folder_and_a_network_of_timm_have_their_own_names(run):
    assert short_names(catalogs.current(), run) == ("birds", "regnety_002")
    assert names_of(catalogs.current(), run)[:2] == ("birds", "regnety_002")


def test_the_list_of_runs_says_them(run, tmp_path):
    said = CliRunner().invoke(cli, ["list", "runs", "-w", str(tmp_path / "space")]).output
    assert "birds  regnety_002" in said
    assert "timm" not in said
    assert "folder" not in said


def test_others_have_the_name_of_their_entry(tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        run = workspace.run(workspace.create_run(RunConfig()))
    assert short_names(catalogs.current(), run) == ("digits", "conv4")
