"""Every field of a place is checked when its record is read and when it is written; a record may be anything."""

import os

import pytest
import tomli_w

from workbench.config import Choice, RunConfig
from workbench.places import records, sending
from workbench.places.host import host_files
from workbench.places.kinds import ray, slurm, slurm_states
from workbench.places.place import RayPlace, SshPlace
from workbench.problem import Problem

WRONG = [
    {"ssh_config": "~nobody-has-this-name/config"}, {"ssh_config": "con\0fig"}, {"ssh_config": "con\nfig"},
    {"devices": "0\n1"}, {"devices": "0; true"}, {"data": 5}, {"data": {"/here": 1}}, {"data": {"/here": ["/there"]}},
    {"data": {"here": "/there"}}, {"data": {"~/here": "/there"}}, {"data": {"/here": "there"}},
    {"data": {"/here": "~/there"}}, {"data": {"/he\nre": "/there"}}, {"data": {"/here": "/the\0re"}},
    {"data": {"/here": "/there\n"}}, {"kind": "slurm", "commands": "/opt/slurm\n/bin"},
    {"kind": "slurm", "commands": "/opt/\0"}, {"kind": "slurm", "partition": "gpu\n"},
]  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_PLACES", str(tmp_path / "places"))
    (tmp_path / "places").mkdir()
    return tmp_path / "places"


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
def test_a_wrong_field_is_named_with_its_file_when_it_is_read(folder, wrong):
    (folder / "lab.toml").write_text(tomli_w.dumps({"kind": "ssh", "host": "box"} | wrong), "utf-8")
    with pytest.raises(Problem, match=f"{folder / 'lab.toml'} cannot be used. {list(wrong)[-1]}: ") as problem:
        records.named("lab")
    assert problem.value.todo


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
def test_a_wrong_field_is_named_when_it_is_written(wrong):
    with pytest.raises(Problem, match=f"{list(wrong)[-1]}: "):
        records.made({"kind": "ssh", "name": "lab", "host": "box"} | wrong)


def test_half_of_a_surrogate_pair_is_refused_before_it_is_written(folder):
    with pytest.raises(Problem, match="data: "):
        records.with_data(SshPlace(name="lab", host="box"), "/he\udcffre", "/there")
    assert list(folder.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="Windows has no pipes among files")
def test_a_pipe_is_no_record_and_is_not_waited_for(folder):
    os.mkfifo(folder / "pipe.toml")
    (folder / "folder.toml").mkdir()
    records.store(SshPlace(name="lab", host="box"))
    with pytest.raises(Problem, match=r"pipe\.toml cannot be read \(it is not a file\)"):
        records.named("pipe")
    places, problems = records.readable()
    assert ([place.name for place in places], len(problems)) == (["lab"], 2)
    records.store(SshPlace(name="pipe", host="box"))  # what is there may be replaced
    assert records.named("pipe").name == "pipe"


def test_a_record_may_be_a_link_to_the_file_of_the_user(folder, tmp_path):
    (tmp_path / "lab.toml").write_text('kind = "ssh"\nhost = "box"\n', "utf-8")
    (folder / "lab.toml").symlink_to(tmp_path / "lab.toml")
    assert records.named("lab") == SshPlace(name="lab", host="box")


def test_a_relative_path_of_a_config_is_that_of_the_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    place = SshPlace(name="lab", host="box")
    for path, whole in (("photos/birds", tmp_path / "photos" / "birds"), ("~/birds", tmp_path / "home" / "birds")):
        config = RunConfig(dataset=Choice(name="folder", params={"folder": path}))
        with pytest.raises(sending.UnknownData, match="is not known") as asked:
            sending.translated(config, place)
        assert asked.value.path == str(whole)
        known = records.with_data(place, asked.value.path, "/big/birds")  # as the message says
        assert sending.translated(config, known).dataset.params["folder"] == "/big/birds"


@pytest.mark.parametrize("name", ["lab\n", "../lab", "lab/x"])
def test_a_name_with_a_line_end_is_none(name):
    with pytest.raises(Problem, match="cannot be called"):
        records.named(name)


def test_words_of_a_place_end_where_their_lines_end():
    run = f"workbench-{'0' * 32}:run"
    assert slurm_states.tasks("0-2\n") == []
    with pytest.raises(Problem, match="is not a file of a run folder"):
        host_files.checked("run/log\n")
    with pytest.raises(Problem, match="is not a job of Ray"):
        ray.Ray(None, RayPlace(name="ray", url="http://head", folder="/runs", python="/python")).stop(f"{run}\n", None)
    with pytest.raises(Problem, match="is not a job of Slurm"):
        slurm.Slurm(None, None).states(["1_2:run\n"])
