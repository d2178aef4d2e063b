"""A repair, and the way back from an upgrade, of a workspace on a network disk: with the lease, as every writer."""

import json
import os
from collections import namedtuple

import pytest
from click.testing import CliRunner

from tests.unit.workspace.older import make_older
from workbench.cli import cli
from workbench.config import RunConfig
from workbench.files import mounts
from workbench.problem import Problem
from workbench.workspace import Workspace
from workbench.workspace.owners import lease
from workbench.workspace.owners.lease_holder import NAME, Leased
from workbench.workspace.paths import DATABASE
from workbench.workspace.repairs import repair
from workbench.workspace.schema.going_back import go_back

Part = namedtuple("Part", "device mountpoint fstype opts")
BEAT = "2026-11-24T09:00:00+00:00"
OTHER = {"machine": "b" * 32, "host": "cluster-7", "pid": 5, "born": 1.0, "beat": BEAT, "count": 3}


@pytest.fixture
def space(monkeypatch, tmp_path):
    """The folder of a workspace with one run, on a disk that the table of mounts calls NFS."""
    parts = [Part("/dev/sda1", "/", "ext4", "rw"), Part("server:/home", str(tmp_path), "nfs4", "rw,vers=4.2")]
    monkeypatch.setattr(mounts.psutil, "disk_partitions", lambda all: parts)
    with Workspace(tmp_path / "space", create=True) as workspace:
        workspace.create_run(RunConfig(name="kept"))
    return tmp_path / "space"


def damage(space):
    (space / DATABASE).write_bytes(b"not a database, but long enough to be read as one " * 200)


def held_by_another(space):
    """Another machine opens it; returns the content of every file."""
    (space / NAME).write_text(json.dumps(OTHER))
    return {path: path.read_bytes() for path in sorted(space.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("condition", ["whole", "damaged", "missing"])
def test_a_workspace_of_another_machine_is_not_repaired(space, condition):
    if condition == "damaged":
        damage(space)
    if condition == "missing":
        (space / DATABASE).unlink()
    before = held_by_another(space)
    with pytest.raises(Leased, match=r"\(nfs4\) and is open on cluster-7"):
        repair.repair(space)
    assert {path: path.read_bytes() for path in sorted(space.rglob("*")) if path.is_file()} == before


def test_the_command_line_says_so(space):
    damage(space)
    held_by_another(space)
    said = CliRunner().invoke(cli, ["doctor", "--repair", "--workspace", str(space)])
    assert said.exit_code
    assert "open on cluster-7" in str(said.exception) + said.output


def test_a_repair_holds_the_lease_and_gives_it_back(space, monkeypatch):
    holders, salvage = [], repair.salvage

    def watched(*arguments):
        holders.append(json.loads((space / NAME).read_text())["pid"])
        return salvage(*arguments)

    monkeypatch.setattr(repair, "salvage", watched)
    damage(space)
    assert "Rebuilt" in repair.repair(space)[0]
    assert holders == [os.getpid()]
    assert not (space / NAME).exists()
    with Workspace(space) as workspace:
        assert [run.name for run in workspace.runs()] == ["kept"]


def test_a_machine_that_was_taken_over_during_its_repair_replaces_nothing(space, monkeypatch):
    salvage = repair.salvage

    def suspended(*arguments):
        (space / NAME).write_text(json.dumps(OTHER))
        return salvage(*arguments)

    monkeypatch.setattr(repair, "salvage", suspended)
    damage(space)
    before = (space / DATABASE).read_bytes()
    with pytest.raises(Problem, match="was taken over by cluster-7"):
        repair.repair(space)
    assert (space / DATABASE).read_bytes() == before
    assert not list(space.glob(".repair-*"))
    assert json.loads((space / NAME).read_text())["host"] == "cluster-7", "the lease of another machine stays"


def test_a_folder_that_is_no_workspace_gets_no_lease(space, monkeypatch):
    taken = []
    monkeypatch.setattr(lease, "take", lambda *arguments: taken.append(arguments))
    with pytest.raises(Problem, match="is not a workspace"):
        repair.repair(space.parent)
    assert not taken


@pytest.fixture
def upgraded(space):
    """The same after an upgrade, with the copy from before it."""
    make_older(space / DATABASE, "m012_owned_runs")
    Workspace(space).close()
    return space


def test_another_machines_workspace_does_not_go_back(upgraded):
    before = held_by_another(upgraded)
    with pytest.raises(Leased, match="open on cluster-7"):
        go_back(upgraded)
    assert {path: path.read_bytes() for path in sorted(upgraded.rglob("*")) if path.is_file()} == before


def test_going_back_leaves_no_log_on_a_network_disk_and_refuses_an_open_workspace(upgraded):
    with Workspace(upgraded) as workspace:
        with pytest.raises(Problem, match="open in another program"):
            go_back(upgraded)
        workspace.rename(1, "still here")
    go_back(upgraded)
    assert not [path.name for path in upgraded.iterdir() if path.name.endswith(("-wal", "-shm"))]
    assert not (upgraded / NAME).exists()
    with Workspace(upgraded) as workspace:
        assert [run.name for run in workspace.runs()] == ["kept"]
