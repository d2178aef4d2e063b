"""Examples of docs/ whose reader needs more than the program: each block in a folder that has it.

A block names its need in a marker, `<!-- needs: NAME -->`, which `NEEDS` here explains.
"""

import gzip
import json
from collections import namedtuple
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from following import EXAMPLES, call, follow
from having import give_arrow, give_machines, give_weights
from page_blocks import Example

from tests.unit.workspace.older import make_older
from workbench.config import RunConfig
from workbench.files import mounts
from workbench.workspace import Workspace, lease
from workbench.workspace.lease_holder import NAME

Disk = namedtuple("Disk", "device mountpoint fstype opts")
Given = Mapping[str, str]  # words of the page -> those of the test


def mnist(folder: Path, request: pytest.FixtureRequest) -> Given:
    """The four files of MNIST, each cut to its first images: `IMAGES` train and are searched."""
    data = request.getfixturevalue("real_data") / "mnist"
    (folder / "MNIST").mkdir()
    for path in data.glob("*ubyte*"):
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        count = IMAGES["train" if path.name.startswith("train") else "t10k"]
        begin, length = (16, 28 * 28) if "images" in path.name else (8, 1)
        header = content[:4] + count.to_bytes(4, "big") + content[8:begin]
        (folder / "MNIST" / path.name.removesuffix(".gz")).write_bytes(header + content[begin : begin + count * length])
    return {}


def benches(folder: Path, request: pytest.FixtureRequest) -> Given:
    """All data of the benches."""
    return {"DATA": str(request.getfixturevalue("real_data"))}


def arrow(folder: Path, request: pytest.FixtureRequest) -> Given:
    """A data set as Hugging Face's library saves it, and weights of the preset's network."""
    give_arrow(folder / "birds-arrow")
    give_weights(folder)
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


NEEDS: dict[str, Callable[[Path, pytest.FixtureRequest], Given]] = {
    "the four MNIST files": mnist,
    "the data of the benches": benches,
    "a data set of Arrow files": arrow,
    "a workspace of an older version": older,
    "a workspace that another machine holds": another_machine,
    "embeddings of yours": embeddings,
}
IMAGES = {"train": 3000, "t10k": 500}
SLOW = {"a data set of Arrow files", "the four MNIST files", "the data of the benches"}
STEERED = "a run at a place"
BLOCKS = [block for blocks in EXAMPLES.values() for block in blocks if block.needs and block.needs != STEERED]


@pytest.mark.parametrize(
    "example",
    [
        pytest.param(block, marks=pytest.mark.slow if block.needs in SLOW else (), id=f"{block.page}-{block.line}")
        for block in BLOCKS
    ],
)
def test_a_block_runs_for_a_reader_who_has_what_it_needs(
    example: Example, reader: Path, request: pytest.FixtureRequest
) -> None:
    otherwise = NEEDS[example.needs](reader, request)
    follow(example, {}, in_own_process=False, otherwise=otherwise)


@pytest.mark.slow
def test_a_run_at_a_place_is_steered_by_the_commands_of_the_page(reader: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page lists them side by side; here they come in the order in which one run can need them."""
    (example,) = (block for blocks in EXAMPLES.values() for block in blocks if block.needs == STEERED)
    give_machines(reader, monkeypatch)
    added = Example(example.page, example.line, False, "workbench place add lab2 --ssh lab2 --no-check\n", "")
    follow(added, {}, in_own_process=False)
    run, wait, stop, resume, fetch = example.commands
    for command in (run, stop, wait, resume, wait, fetch):
        otherwise = {"CONFIG": "sample-digits", "7": "1"}
        call(example, command, in_own_process=False, otherwise=otherwise, shorter=("--set", "device=cpu"))
    with Workspace(reader / "workspace") as workspace:
        assert workspace.run(1).status == "done"
        assert workspace.artefacts(1, "checkpoint")
