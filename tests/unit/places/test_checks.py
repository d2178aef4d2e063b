"""What a check says of a machine that lacks something: a sentence each."""

import json
import os
import re
import sys
from datetime import UTC, datetime

import pytest

from workbench import __version__
from workbench.places.contract import Answer, Unreachable
from workbench.places.host.hosts import LocalHost
from workbench.places.kinds.checks import look
from workbench.places.place import RayPlace, SlurmPlace, SshPlace

DATA = {"/photographs": "/big/photographs"}
WHOLE = {
    "python": "3.12.4", "workbench": __version__, "torch": "2.13", "gpus": [["NVIDIA H200", 140e9]], "free": 40e9,
    "writable": True, "data": ["there"],
}  # fmt: skip
SSH = SshPlace(name="lab", host="lab", data=DATA, folder="runs")


class Played:
    """A machine that answers with these facts."""

    def __init__(self, **facts):
        self.facts = {"clock": datetime.now(UTC).timestamp(), **WHOLE, **facts}

    def call(self, words, stdin=b"", *, seconds=60.0, most=1 << 20):
        facts = {name: value for name, value in self.facts.items() if value is not None}
        return Answer(0, b"a greeting\nfacts " + json.dumps(facts).encode(), "")


def told(place=SSH, **facts):
    return {finding.what: finding for finding in look(Played(**facts), place)}


def test_a_machine_that_has_all_is_ready():
    findings = told()
    assert [finding for finding in findings.values() if not finding.good or finding.doubtful] == []
    assert findings["GPU"].said == "1 GPU: NVIDIA H200, 140 GB."
    assert findings["Data"].said == "/big/photographs is there."


@pytest.mark.parametrize(
    ("facts", "what", "said"),
    [
        ({"python": "3.9.2"}, "Python", "Python 3.9.2 is at workbench-place/bin/python, and Workbench needs 3.11"),
        ({"python": "3.15.2"}, "Python",
         "Python 3.15.2 is at workbench-place/bin/python, and Workbench needs 3.11 to 3.14."),
        ({"workbench": None, "no workbench": "No module named 'workbench'"}, "Workbench",
         "Workbench is not there (No module named 'workbench'). `workbench place install lab --wheel FILE` puts"),
        ({"no torch": "libcuda: wrong"}, "GPU", "PyTorch cannot be loaded there (libcuda: wrong)."),
        ({"free": 1.25e9}, "Disk", "Only 1.2 GB are free there; a run needs 2 GB."),
        ({"writable": False}, "Disk", "The folder runs is read-only there, for you or for all. Name another."),
        ({"data": ["missing"]}, "Data", "The data in /big/photographs are not there. `workbench place data lab HERE"),
        ({"data": ["unreadable"]}, "Data", "The data in /big/photographs cannot be read by you there."),
    ],
)  # fmt: skip
def test_what_is_missing_is_one_sentence(facts, what, said):
    findings = told(**facts)
    assert findings[what].said.startswith(said)
    assert [finding.what for finding in findings.values() if not finding.good] == [what]


@pytest.mark.parametrize(
    ("place", "facts", "said"),
    [
        (SSH, {"gpus": []}, "There is no GPU: runs train on its CPU."),
        (SSH.model_copy(update={"devices": "0,1"}), {"gpus": []}, "It has no GPU, and Devices names 0,1."),
        (SSH.model_copy(update={"devices": "0,1"}), {}, "It has 1 GPU, and Devices names 0,1."),
        (SSH.model_copy(update={"devices": "cpu,cpu"}), {"gpus": []}, "There is no GPU: runs train on its CPU."),
        (SSH, {"gpus": [], "mps": True}, "Its GPU is Apple's."),
        (SlurmPlace(name="cl"), {}, "No GPU is asked of Slurm (GRES is empty): runs train on the CPU."),
        (SlurmPlace(name="cl", gres="gpu:2"), {"gpus": []}, "Runs ask Slurm for gpu:2."),
        (SlurmPlace(name="cl", lines="--gpus=1"), {"gpus": []}, "Runs ask Slurm for --gpus=1."),
        (RayPlace(name="r", url="http://h", folder="/f", python="/p"), {}, "No GPU is asked of Ray (GPUs is 0): runs"),
        (RayPlace(name="r", url="http://h", folder="/f", python="/p", gpus=0.5), {}, "Each run asks Ray for 0.5 GPU."),
    ],
)
def test_gpus_are_those_of_the_machine_or_those_that_are_asked_for(place, facts, said):
    assert told(place, **facts)["GPU"].said.startswith(said)


def test_a_place_whose_name_has_spaces_is_in_quotes_in_what_is_to_be_typed():
    findings = told(SSH.model_copy(update={"name": "our lab"}), data=["missing"], workbench=None)
    quote = '"' if os.name == "nt" else "'"
    assert f"`workbench place data {quote}our lab{quote} HERE THERE`" in findings["Data"].said
    assert f"`workbench place install {quote}our lab{quote} --wheel FILE`" in findings["Workbench"].said


def test_another_version_and_a_wrong_clock_are_notes():
    findings = told(workbench="0.1", clock=0)
    assert findings["Workbench"].said.startswith(f"Workbench 0.1 is there and {__version__} is here. `workbench place")
    assert "min off this one's" in findings["Clock"].said
    assert all(finding.good for finding in findings.values())
    assert {finding.what for finding in findings.values() if finding.doubtful} == {"Workbench", "Clock"}


def test_a_machine_that_is_not_reached_and_one_without_python_are_one_sentence():
    host = Played()
    host.call = lambda *_, **__: (_ for _ in ()).throw(Unreachable("lab is not reached: no route."))
    assert [finding.said for finding in look(host, SSH)] == ["lab is not reached: no route."]


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """A Python without what is installed (`-S`): neither Workbench nor torch."""
    file = tmp_path_factory.mktemp("bare") / "python"
    file.write_text(f'#!/bin/sh\ncd /\nexec {sys.executable} -I -S "$@"\n')
    file.chmod(0o755)
    return file


@pytest.mark.skipif(os.name != "posix", reason="places are POSIX machines")
def test_the_probe_of_a_real_python_without_workbench(tmp_path, bare):
    (tmp_path / "birds").mkdir()
    data = {"/a": str(tmp_path / "birds"), "/b": str(tmp_path / "none")}
    place = SshPlace(name="lab", host="lab", python=str(bare), folder=str(tmp_path / "new" / "runs"), data=data)
    said = [(finding.what, finding.good, finding.said) for finding in look(LocalHost(tmp_path), place)]
    assert [(what, good) for what, good, _ in said] == [
        ("Connection", True), ("Python", True), ("Workbench", False), ("GPU", False), ("Disk", True),
        ("Data", True), ("Data", False),
    ]  # fmt: skip
    assert "No module named 'workbench'" in said[2][2]
    assert "No module named 'torch'" in said[3][2]


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="on Linux nobody can make a file in /proc")
@pytest.mark.parametrize("has_python", [True, False])
def test_a_folder_in_which_nobody_can_write_is_not_called_full(tmp_path, bare, has_python):
    """Root may write in it by its rights, and it has no room because it is no disk."""
    python = str(bare) if has_python else "none/python"
    place = SshPlace(name="lab", host="lab", python=python, folder="/proc/runs")
    findings = {finding.what: finding for finding in look(LocalHost(tmp_path), place)}
    assert findings["Disk"].said == "The folder /proc/runs is read-only there, for you or for all. Name another."
    mine = place.model_copy(update={"folder": str(tmp_path)})
    findings = {finding.what: finding for finding in look(LocalHost(tmp_path), mine)}
    assert findings["Disk"].said.endswith("GB are free there.")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="places are POSIX machines")
def test_without_python_disk_gpu_and_data_are_checked_all_the_same(tmp_path, monkeypatch):
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "nvidia-smi").write_text("#!/bin/sh\necho 'NVIDIA H200, 143771'\necho 'NVIDIA H200, [N/A]'\n")
    (tools / "nvidia-smi").chmod(0o755)
    monkeypatch.setenv("PATH", str(tools), prepend=os.pathsep)
    (tmp_path / "it's birds").mkdir()
    data = {"/a": str(tmp_path / "it's birds"), "/b": str(tmp_path / "none")}
    place = SshPlace(name="lab", host="lab", python="none/python", folder=str(tmp_path / "new" / "runs"), data=data)
    findings = look(LocalHost(tmp_path), place)
    assert [(finding.what, finding.good) for finding in findings] == [
        ("Connection", True), ("Python", False), ("GPU", True), ("Disk", True), ("Data", True), ("Data", False),
    ]  # fmt: skip
    assert findings[1].said.startswith("There is no Python at none/python")
    assert findings[2].said == "2 GPUs: NVIDIA H200, 151 GB; NVIDIA H200, 0 GB."
    assert re.fullmatch(r"[0-9,]+ GB are free there\.", findings[3].said)


@pytest.mark.skipif(os.name != "posix", reason="places are POSIX machines")
@pytest.mark.parametrize("folder", ["runs", "a/b", "/none/runs"])
def test_without_python_a_folder_that_is_not_made_yet_is_that_above(tmp_path, folder, monkeypatch):
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    place = SshPlace(name="lab", host="lab", python="none/python", folder=folder)
    findings = {finding.what: finding for finding in look(LocalHost(tmp_path), place)}
    assert findings["Disk"].said.endswith(("are free there.", "Name another."))
    assert "Clock" not in findings
