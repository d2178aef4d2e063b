"""What a place has of the files and devices that a config names is asked before anything is made or sent."""

import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

from tests.unit.places.played_place import PlayedPlace
from workbench import cli
from workbench.commands.training import place as commands
from workbench.entries import catalog
from workbench.places import launching, records, sending
from workbench.places.contract import Answer
from workbench.places.host.hosts import LocalHost
from workbench.places.kinds.checks import look
from workbench.places.kinds.processes import Processes
from workbench.places.kinds.slurm import Slurm
from workbench.places.place import SlurmPlace, SshPlace
from workbench.problem import Problem
from workbench.settings.changed import read_config
from workbench.sweeps import starting
from workbench.sweeps.plan import planned
from workbench.sweeps.space import read
from workbench.workspace import Workspace

DATA = {"/mine": "/there"}
BOX = SshPlace(name="box", host="box", data=DATA)
FOLDER = ("dataset.name=folder", "dataset.folder=/mine/birds")
WEIGHTS = ("backbone.name=squeezenet1_0", "backbone.weights=file", "backbone.weights_file=/mine/w.pth")


@pytest.fixture
def played(tmp_path):
    return PlayedPlace(tmp_path / "place")


def written(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


@pytest.mark.skipif(os.name != "posix", reason="places are POSIX machines")
@pytest.mark.parametrize(
    ("said", "device", "gpus"),
    [
        ("GPU 0: A\nGPU 1: B\n  MIG 1g", "/dev/nvidia0", 2),
        ("it has failed", "/dev/nvidia0", None),
        ("GPU 0: for the screen", "/dev/kfd", None),  # AMD's train, in a number that is not known
    ],
)
def test_a_machine_says_which_paths_and_gpus_it_has(tmp_path, monkeypatch, said, device, gpus):
    hostile = tmp_path / "a $(touch hacked) 'b'"
    hostile.mkdir()
    written(tmp_path / "bin/nvidia-smi", f"#!/bin/sh\necho '{said}'\n")
    written(tmp_path / "bin/ls", f"#!/bin/sh\ncase $* in *{device[:-1]}*) echo {device};; esac\n")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    has = Processes(LocalHost(tmp_path), BOX).has([str(hostile), str(tmp_path / "gone")])
    assert has.paths == {str(hostile): "there", str(tmp_path / "gone"): "missing"}
    assert has.gpus == gpus
    assert has.system == os.uname().sysname
    assert has.trains
    assert not Slurm(LocalHost(tmp_path), SlurmPlace(name="cluster")).has([]).trains
    assert not (tmp_path / "hacked").exists()


@pytest.mark.parametrize(
    ("how", "varied", "said"),
    [
        ("grid", ["backbone.weights_file=/mine/w.pth,/mine/v.pth"], "the setting weights_file=/mine/v.pth"),
        ("grid", ["backbone.weights=none,file", "training.lr=1,2"], "the setting weights=file"),
        ("random", ["backbone.weights=none,file", "training.lr=1..2"], "the setting weights=file"),
        ("bayes", ["training.lr=1..2", "backbone.weights=none,file"], "the setting weights=file"),
        (
            "bayes",
            ["backbone.weights=none,file", "backbone.name=resnet18,squeezenet1_0"],
            "weights=file, backbone=squeezenet1_0",
        ),
        ("grid", ["training.lr=1,2"], ""),
    ],
)
def test_a_place_is_asked_for_the_files_of_every_setting_that_can_be_listed(played, how, varied, said):
    known = catalog.current()
    config = read_config("sample-digits", (*FOLDER, *WEIGHTS, "backbone.weights_file=/mine/v.pth"))
    plan = planned(config, [read(words) for words in varied], how, known, trials=None if how == "grid" else 8)
    assert starting.refuse_unknown_data(plan, known, BOX, played) == ""
    played.states_of = {"/there/v.pth": "missing"}
    with pytest.raises(Problem, match=r"box has no /there/v\.pth \(backbone\.weights_file") as problem:
        starting.refuse_unknown_data(plan, known, BOX, played)
    assert said in problem.value.what
    assert ("setting" in problem.value.what) == bool(said)
    played.states_of = {"/there/birds": "missing"}
    with pytest.raises(Problem, match=r"box has no /there/birds \(dataset\.folder\)\. "):
        starting.refuse_unknown_data(plan, known, BOX, played)


class AsNobody(LocalHost):
    """Commands of a user who may search only what everybody may; of this one, where the tests are not root's."""

    def call(self, words, stdin=b"", *, seconds=60.0, most=1 << 20):
        away = ["setpriv", "--reuid=65534", "--clear-groups"] if os.geteuid() == 0 else []
        return super().call([*away, *words], stdin, seconds=seconds, most=most)


@pytest.mark.skipif(os.name != "posix", reason="places are POSIX machines")
@pytest.mark.skipif(os.name == "posix" and os.geteuid() == 0 and not shutil.which("setpriv"), reason="root sees all")
@pytest.mark.parametrize("python", ["none/python", sys.executable])
def test_what_is_below_a_folder_that_may_not_be_searched_is_not_called_missing(python):
    with tempfile.TemporaryDirectory() as folder:  # nobody else may search those of pytest
        closed, base = Path(folder, "closed"), Path(folder)
        base.chmod(0o755)
        (closed / "birds").mkdir(parents=True)
        closed.chmod(0)
        try:
            asked = [str(closed / "birds/all"), str(closed), str(base / "none/birds"), str(base)]
            has = Processes(AsNobody(base), BOX).has([*asked, "none/birds"])
            assert list(has.paths.values()) == ["unreadable", "unreadable", "missing", "there", "missing"]
            place = BOX.model_copy(update={"python": python, "data": {"/a": asked[0], "/b": asked[2]}})
            data = {finding.said for finding in look(AsNobody(base), place) if finding.what == "Data"}
        finally:
            closed.chmod(0o755)
    assert f"The data in {asked[0]} cannot be read by you there." in data
    assert any(said.startswith(f"The data in {asked[2]} are not there.") for said in data)


def test_a_name_with_spaces_stands_in_quotes_in_what_is_to_be_typed(played):
    lab = BOX.model_copy(update={"name": "our lab"})
    with pytest.raises(Problem) as unknown:
        sending.path_there("/elsewhere/my birds", lab)
    quote = '"' if os.name == "nt" else "'"
    assert f"workbench place data {quote}our lab{quote} {quote}" in unknown.value.todo
    played.states_of = {"/there/birds": "missing"}
    with pytest.raises(Problem, match=f"workbench place data {quote}our lab{quote} HERE THERE"):
        sending.refuse_missing(read_config("sample-digits", FOLDER), lab, played)


def test_an_answer_that_is_cut_or_hostile_says_nothing():
    class Cut:
        def call(self, words, stdin=b"", *, seconds=60.0, most=1 << 20):
            return Answer(0, b"path missing\ngpus 99999999999\n\xff", "")

    has = Processes(Cut(), BOX).has(["/a", "/b"])
    assert (has.paths, has.gpus, has.system) == ({}, None, "")


@pytest.mark.parametrize(
    ("changes", "state", "said", "field"),
    [
        (FOLDER, "missing", r"box has no /there/birds \(dataset\.folder\)\. Nothing was started\.", "dataset.folder"),
        (WEIGHTS, "missing", r"box has no /there/w\.pth \(backbone\.weights_file\)", "backbone.weights_file"),
        (FOLDER, "unreadable", r"/there/birds .* cannot be read by you at box", "dataset.folder"),
    ],
)
def test_a_file_or_folder_that_is_not_there_is_named_by_its_field(played, changes, state, said, field):
    config = read_config("sample-digits", changes)
    assert sending.refuse_missing(config, BOX, played) == ""
    played.states_of = {"/there/birds": state, "/there/w.pth": state}
    with pytest.raises(Problem, match=said) as problem:
        sending.refuse_missing(config, BOX, played)
    assert problem.value.field == field
    played.trains = False
    assert sending.refuse_missing(config, BOX, played).endswith(" Its nodes must have it.")
    played.gone = "It does not answer."
    assert sending.refuse_missing(config, BOX, played) == "", "sending says so, and keeps the runs"


def test_a_place_without_its_python_is_refused_and_told_how_it_gets_one(played):
    config = read_config("sample-digits", ())
    played.states_of = {BOX.python: "missing"}
    said = r"box has no Python at workbench-place/bin/python\. Nothing was started\. .* place install box --wheel FILE`"
    with pytest.raises(Problem, match=said):
        sending.refuse_missing(config, BOX, played)
    played.trains = False
    assert sending.refuse_missing(config, BOX, played) == "", "nodes may have it"
    played.trains, played.states_of = True, {"python3": "missing"}
    by_name = BOX.model_copy(update={"python": "python3"})
    assert sending.refuse_missing(config, by_name, played) == "", "a name without a folder is one of the path there"


@pytest.mark.parametrize(
    "unread",
    [
        ("backbone.name=squeezenet1_0", "backbone.weights=none", "backbone.weights_file=/mine/w.pth"),
        ("backbone.name=resnet18", "backbone.weights_file=/mine/w.pth"),
        ("loss.name=psce", "loss.prototypes=simplex", "loss.file=/mine/p.npy"),
    ],
)
def test_a_file_that_the_run_does_not_read_may_be_missing(played, unread):
    played.states_of = {"/there/w.pth": "missing", "/there/p.npy": "missing"}
    config = read_config("sample-digits", unread)
    assert sending.refuse_missing(config, BOX, played) == ""
    read = {"weights_file": "backbone.weights=file", "file": "loss.prototypes=file"}
    changed = read[unread[-1].partition("=")[0].rpartition(".")[2]]
    with pytest.raises(Problem, match="box has no /there/"):
        sending.refuse_missing(read_config("sample-digits", (*unread, changed)), BOX, played)


@pytest.mark.parametrize(
    ("device", "devices", "gpus", "said", "field"),
    [
        ("cuda:1", "", 1, "box has 1 GPU, numbered from 0, and device of the config names cuda:1.", "device"),
        ("cuda", "", 0, "box has no GPU, and device of the config names cuda.", "device"),
        ("cuda:0,cuda:2", "", 2, "box has 2 GPUs, numbered from 0, and device of the config names cuda:2.", "device"),
        ("mps", "", 0, "box has no Apple GPU, and device of the config names mps.", "device"),
        ("auto", "0,3", 2, "box has 2 GPUs, numbered from 0, and Devices of the place names cuda:3.", ""),
        ("cuda:1", "0", 1, "", ""),
        ("cuda:1", "", None, "", ""),
        ("cuda:1", "", 2, "", ""),
        ("auto", "", 0, "", ""),
        ("cpu", "", 0, "", ""),
    ],
)
def test_a_device_that_a_place_certainly_has_not_is_refused(played, device, devices, gpus, said, field):
    played.gpus = gpus
    config = read_config("sample-digits", (f"device={device}",))
    box = BOX.model_copy(update={"devices": devices})
    if not said:
        assert sending.refuse_missing(config, box, played) == ""
        return
    with pytest.raises(Problem) as problem:
        sending.refuse_missing(config, box, played)
    assert problem.value.what == said
    assert problem.value.field == field
    played.trains = False
    assert sending.refuse_missing(config, box, played) == "", "nodes have GPUs of their own"


@pytest.mark.parametrize(
    "start", [["run", "sample-digits"], ["sweep", "start", "sample-digits", "-p", "training.lr=0.1,0.2", "--detach"]]
)
def test_nothing_is_made_for_a_run_whose_data_its_place_has_not(played, tmp_path, monkeypatch, capsys, start):
    monkeypatch.setattr(records, "named", lambda name: BOX)
    for module in (commands, launching):
        monkeypatch.setattr(module, "launcher_of", lambda *_: played)
    monkeypatch.setattr(starting, "work_apart", lambda *_: True)
    played.states_of = {"/there/birds": "missing"}
    words = [word for change in FOLDER for word in ("--set", change)]
    command = [*start, *words, "--place", "box", "--workspace", str(tmp_path / "space")]
    assert cli.main(command) == 1
    assert "box has no /there/birds (dataset.folder)" in capsys.readouterr().err
    assert not (tmp_path / "space").exists()
    played.trains = False
    assert cli.main([*command, *(["--detach"] if start[0] == "run" else [])]) == 0
    assert "Its nodes must have it." in capsys.readouterr().err
    with Workspace(tmp_path / "space") as workspace:
        assert (start[0] == "run") == bool(workspace.runs())
