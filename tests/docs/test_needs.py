"""Examples of docs/ whose reader needs more than the program: each block in a folder that has it.

A block names its need in a marker, `<!-- needs: NAME -->`, which `NEEDS` here explains.
"""

import gzip
import json
import shutil
import socket
import subprocess
import sys
from collections import namedtuple
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from following import DOCS, EPOCH, EXAMPLES, call, environment, follow, started
from having import give_arrow, give_boxes, give_checkout, give_cub, give_machines, give_products, give_weights
from page_blocks import Example
from test_bundling import DEBIAN, HERE, IMAGE, MAKING

from tests.clusters.there import there
from tests.clusters.training import python
from tests.unit.workspace.older import make_older
from tests.waits import HANG
from workbench.config import RunConfig
from workbench.files import mounts
from workbench.places import records
from workbench.workspace import Workspace
from workbench.workspace.owners import lease
from workbench.workspace.owners.lease_holder import NAME

Disk = namedtuple("Disk", "device mountpoint fstype opts")
Given = Mapping[str, str]  # words of the page -> those of the test


def mnist(folder: Path, request: pytest.FixtureRequest, name: str = "MNIST") -> Given:
    """The four files of MNIST, each cut to its first images: `IMAGES` train and are searched."""
    data = request.getfixturevalue("real_data") / "mnist"
    (folder / name).mkdir()
    for path in data.glob("*ubyte*"):
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        count = IMAGES["train" if path.name.startswith("train") else "t10k"]
        begin, length = (16, 28 * 28) if "images" in path.name else (8, 1)
        header = content[:4] + count.to_bytes(4, "big") + content[8:begin]
        (folder / name / path.name.removesuffix(".gz")).write_bytes(header + content[begin : begin + count * length])
    return {}


def benches(folder: Path, request: pytest.FixtureRequest) -> Given:
    """All data of the benches."""
    return {"DATA": str(request.getfixturevalue("real_data"))}


def hours_and_data(folder: Path, request: pytest.FixtureRequest) -> Given:
    """A checkout, a workspace and all data of the benches, MNIST's cut; two of the losses on photographs."""
    data = request.getfixturevalue("real_data")
    give_checkout(folder)
    Workspace(folder / "DIR", create=True).close()
    (folder / "DATA").mkdir()
    mnist(folder, request, "DATA/mnist")
    for name in ("omniglot", "caltech101", "weights"):
        (folder / "DATA" / name).symlink_to(data / name)
    return {
        "arcface,ccp,ce,contrastive,ice,multi_similarity,norm_ce": "ce",
        "proxy_anchor,proxy_nca,psce,rankmi,spce,supcon,triplet": "psce",
    }


def hours(folder: Path, request: pytest.FixtureRequest) -> Given:
    """A checkout."""
    give_checkout(folder)
    return {}


def cub(folder: Path, request: pytest.FixtureRequest) -> Given:
    """A small CUB-200-2011."""
    give_cub(folder / "CUB_200_2011")
    emptied(folder, request)
    return {}


def products(folder: Path, request: pytest.FixtureRequest) -> Given:
    """Small Stanford Online Products."""
    give_products(folder / "Stanford_Online_Products")
    emptied(folder, request)
    return {}


def program(path: Path) -> str:
    """A program that is this checkout's, as an installation has it; its path."""
    path.write_text(f'#!/bin/sh\nPYTHONPATH={DOCS.parent} exec {sys.executable} -m workbench "$@"\n', "utf-8")
    path.chmod(0o755)
    return str(path)


def emptied(folder: Path, request: pytest.FixtureRequest) -> None:
    """Delete a reader's folder after the test: pytest would keep its gigabytes."""
    request.addfinalizer(lambda: shutil.rmtree(folder, ignore_errors=True))


def four_gpus(folder: Path, request: pytest.FixtureRequest) -> Given:
    """Four processes of the CPU in place of four GPUs."""
    return {"CONFIG": "sample-digits", "0,1,2,3": "cpu,cpu,cpu,cpu"}


def ray(folder: Path, request: pytest.FixtureRequest) -> Given:
    """The Ray of `tests/clusters/setup`, whose disk is that of this machine."""
    request.getfixturevalue("monkeypatch").setenv("WORKBENCH_PLACES", str(folder / "places"))
    own = {"/shared/runs": str(folder / "runs"), "/shared/workbench/bin/python": python(folder)}
    return {"http://head:8265": there("ray")["URL"], **own}


def slurm(folder: Path, request: pytest.FixtureRequest) -> Given:
    """The Slurm of `tests/clusters/setup` as the place `cluster`, two runs at once; 12 settings of the thousand."""
    give_machines(folder, request.getfixturevalue("monkeypatch"))
    records.store(records.made({"kind": "slurm", "name": "cluster", "host": "login1", "at_once": "2"}))
    return {"1000": "12"}


def arrow(folder: Path, request: pytest.FixtureRequest) -> Given:
    """A data set as Hugging Face's library saves it, and weights of the preset's network."""
    give_arrow(folder / "birds-arrow")
    give_weights(folder)
    return {}


def boxes(folder: Path, request: pytest.FixtureRequest) -> Given:
    """A list with boxes in photographs, and weights of the preset's network."""
    give_boxes(folder)
    return {}


def older(folder: Path, request: pytest.FixtureRequest) -> Given:
    """A workspace of an older version that this one has opened."""
    with Workspace(folder / "DIR", create=True) as workspace:
        workspace.create_run(RunConfig())
        database = workspace.database
    make_older(database, "m012_owned_runs")
    Workspace(folder / "DIR").close()
    return {}


def another_machine(folder: Path, request: pytest.FixtureRequest) -> Given:
    """A workspace on a network disk that a machine holds which gives no sign of life."""
    patch = request.getfixturevalue("monkeypatch")
    Workspace(folder / "DIR", create=True).close()
    disk = Disk("server:/home", str(folder), "nfs4", "rw")
    patch.setattr(mounts.psutil, "disk_partitions", lambda all: [disk])
    patch.setattr(lease, "WATCHED", 0.2)
    patch.setattr(lease, "LOOK", 0.02)
    beat = datetime.now(UTC).isoformat()
    facts = {"machine": "b" * 32, "host": "cluster-7", "pid": 5, "born": 1.0, "beat": beat, "count": 3}
    (folder / "DIR" / NAME).write_text(json.dumps(facts))
    return {}


def embeddings(folder: Path, request: pytest.FixtureRequest) -> Given:
    """Embeddings of three classes, and their labels."""
    rng = np.random.default_rng(0)
    labels = np.arange(600) % 3
    np.save(folder / "EMBEDDINGS.npy", (rng.normal(size=(600, 8)) + 3 * labels[:, None]).astype(np.float32))
    np.save(folder / "LABELS.npy", labels)
    return {"RUN": "1"}


def own_folder(folder: Path, request: pytest.FixtureRequest) -> Given:
    """The reader is in the folder of a workspace."""
    if shutil.which("sqlite3") is None:
        pytest.skip("sqlite3 is not installed")
    Workspace(folder, create=True).close()
    return {}


NEEDS: dict[str, Callable[[Path, pytest.FixtureRequest], Given]] = {
    "the four MNIST files": mnist,
    "the data of the benches": benches,
    "a data set of Arrow files": arrow,
    "a list with boxes, and weights of a SqueezeNet": boxes,
    "a workspace of an older version": older,
    "the folder of a workspace": own_folder,
    "a workspace that another machine holds": another_machine,
    "embeddings of yours": embeddings,
    "four GPUs": four_gpus,
    "CUB-200-2011, and weights of a ResNet-50": cub,
    "Stanford Online Products, and weights of a BN-Inception": products,
    "a Ray cluster": ray,
    "a cluster with Slurm": slurm,
    "hours": hours,
    "hours, and the data of the benches": hours_and_data,
}
IMAGES = {"train": 3000, "t10k": 500}
QUICK = {older, own_folder, another_machine, embeddings}
STEERED, MACHINES, ROOM = "a run at a place", "several machines", "room for an installation"
BUNDLING = {MAKING, IMAGE, HERE, DEBIAN}  # test_bundling.py
BLOCKS = [block for blocks in EXAMPLES.values() for block in blocks if block.needs in NEEDS]


def blocks_that_need(need: str) -> list[Example]:
    """Those that a test of its own runs."""
    return [block for blocks in EXAMPLES.values() for block in blocks if block.needs == need]


def marks_of(need: str) -> tuple[pytest.MarkDecorator, ...]:
    """What a test of a block with this need is marked with."""
    return () if NEEDS[need] in QUICK else (pytest.mark.slow,)


def test_every_need_is_one_that_the_tests_have() -> None:
    named = {block.needs for blocks in EXAMPLES.values() for block in blocks if block.needs}
    assert named == {*NEEDS, *BUNDLING, STEERED, MACHINES, ROOM}


@pytest.mark.parametrize(
    "example", [pytest.param(block, marks=marks_of(block.needs), id=f"{block.page}-{block.line}") for block in BLOCKS]
)
def test_a_block_runs_for_a_reader_who_has_what_it_needs(
    example: Example, reader: Path, request: pytest.FixtureRequest
) -> None:
    otherwise = NEEDS[example.needs](reader, request)
    follow(example, {}, in_own_process=False, otherwise=otherwise)
    assert failed(reader) == []


def failed(folder: Path) -> list[str]:
    """Runs of the reader's workspaces that failed, each with its reason."""
    runs = []
    for database in folder.glob("*/workspace.db"):
        with Workspace(database.parent) as workspace:
            runs += [f"{run.name}: {run.problem}" for run in workspace.runs() if run.status == "failed"]
    return runs


@pytest.mark.slow
def test_a_run_at_a_place_is_steered_by_the_commands_of_the_page(reader: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page lists them side by side; here they come in the order in which one run can need them."""
    (example,) = blocks_that_need(STEERED)
    give_machines(reader, monkeypatch)
    added = Example(example.page, example.line, False, "workbench place add lab2 --ssh lab2 --no-check\n")
    follow(added, {}, in_own_process=False)
    run, wait, stop, resume, fetch = example.commands
    for command in (run, stop, wait, resume, wait, fetch):
        otherwise = {"CONFIG": "sample-digits", "7": "1"}
        shorter = ("--set", "device=cpu") if command == run else ()
        call(example, command, in_own_process=False, otherwise=otherwise, shorter=shorter)
    with Workspace(reader / "workspace") as workspace:
        assert workspace.run(1).status == "done"
        assert workspace.artefacts(1, "checkpoint")


@pytest.mark.slow
def test_srun_starts_the_ranks_of_two_nodes(reader: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The two nodes of the Slurm of `tests/clusters/setup`, a rank of the CPU on each."""
    (example,) = blocks_that_need(MACHINES)
    srun = example.commands[0]
    monkeypatch.setenv("SLURM_CONF", there("slurm")["SLURM_CONF"])
    monkeypatch.setenv("SLURM_NNODES", "2")  # as in a job of two nodes
    otherwise = {
        "workbench": program(reader / "workbench"),
        "CONFIG": "sample-digits",
        "--ntasks-per-node=4": "--ntasks-per-node=1",
    }
    call(example, srun, in_own_process=True, otherwise=otherwise, shorter=(*EPOCH, "--set", "device=cpu"))
    assert_trained(reader / "DIR")


@pytest.mark.slow
def test_torchrun_starts_the_ranks_of_two_machines(reader: Path) -> None:
    """The same command twice, as a reader types it on two machines, with a rank of the CPU on each."""
    (example,) = blocks_that_need(MACHINES)
    torchrun, *words = example.commands[1]
    with socket.create_server(("127.0.0.1", 0)) as held:
        address = f"127.0.0.1:{held.getsockname()[1]}"
    otherwise = {"CONFIG": "sample-digits", "4": "1", "HOST:29500": address}
    command = [*started(torchrun), *(otherwise.get(word, word) for word in words), *EPOCH, "--set", "device=cpu"]
    machines = [subprocess.Popen(command, env=environment(), stderr=subprocess.PIPE, text=True) for _ in range(2)]
    errors = [machine.communicate(timeout=HANG)[1] for machine in machines]
    assert [machine.returncode for machine in machines] == [0, 0], errors
    assert_trained(reader / "DIR")


def assert_trained(folder: Path) -> None:
    """The run of a folder has ended well, as a workspace that takes it in knows it."""
    follow(Example("", 0, False, f"workbench ingest {folder}\n"), {}, in_own_process=False)
    with Workspace(folder.parent / "workspace") as workspace:
        assert workspace.run(1).status == "done"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "example"), list(zip(("lab1", "cluster"), blocks_that_need(ROOM), strict=True)), ids=("ssh", "slurm")
)
def test_workbench_is_installed_at_a_place_and_trains_there(
    place: str, example: Example, reader: Path, request: pytest.FixtureRequest
) -> None:
    """The wheel of this checkout and all that it needs, from the index: 6.5 GB, deleted afterwards."""
    give_machines(reader, request.getfixturevalue("monkeypatch"), installed=False)
    emptied(reader, request)
    kinds = {"lab1": {"kind": "ssh", "host": "lab1"}, "cluster": {"kind": "slurm", "host": "login1"}}
    records.store(records.made({"name": place, **kinds[place]}))
    follow(example, {}, in_own_process=False, otherwise={".": str(DOCS.parent)})
    trained = Example(example.page, example.line, False, f"workbench run sample-digits --place {place}\n")
    follow(trained, {}, in_own_process=False)
    with Workspace(reader / "workspace") as workspace:
        assert workspace.run(1).status == "done"
