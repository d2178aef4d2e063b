"""A place that is added again keeps what was not named."""

import json

import pytest
from click.testing import CliRunner

from workbench.cli import cli
from workbench.places import records
from workbench.places.place import SlurmPlace


@pytest.fixture(autouse=True)
def own_places(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_PLACES", str(tmp_path / "places"))


def add(*arguments: str) -> None:
    result = CliRunner().invoke(cli, ["place", "add", "lab", *arguments, "--no-check"], catch_exceptions=False)
    assert result.exit_code == 0, result.output


def test_what_is_not_named_stays():
    add("--ssh", "gpu1", "--folder", "/big/runs", "--python", "/big/bin/python")
    first = records.named("lab")
    records.store(first.model_copy(update={"data": {"/here/photos": "/there/photos"}}))
    add("--ssh", "gpu2", "--python", "/new/bin/python")
    changed = records.named("lab")
    assert changed.model_dump() == first.model_dump() | {
        "host": "gpu2", "python": "/new/bin/python", "data": {"/here/photos": "/there/photos"},
    }  # fmt: skip


def test_the_list_says_where_data_are():
    add("--ssh", "gpu1")
    records.store(records.named("lab").model_copy(update={"data": {"/here/photos": "/there/photos"}}))
    listed = CliRunner().invoke(cli, ["place", "list"]).output
    assert "data of /here/photos in /there/photos" in listed
    assert "{" not in listed
    head, line = (words.split() for words in listed.splitlines())
    assert (head, line[:3]) == (["place", "kind", "settings"], ["lab", "ssh", "folder"])


def test_the_list_as_json_has_every_field_of_each_place():
    listed = CliRunner().invoke(cli, ["place", "list", "--json"])
    assert (json.loads(listed.stdout), listed.stderr, listed.exit_code) == ([], "", 0)
    add("--ssh", "gpu1")
    records.store(SlurmPlace(name="cluster", host="login", data={"/here/photos": "/there/photos"}))
    cluster, lab = json.loads(CliRunner().invoke(cli, ["place", "list", "--json"]).stdout)
    assert (cluster["name"], cluster["kind"], cluster["host"]) == ("cluster", "slurm", "login")
    assert cluster["data"] == {"/here/photos": "/there/photos"}
    assert lab == {"kind": "ssh", **records.named("lab").model_dump()}


def test_a_record_that_cannot_be_read_is_said_beside_the_json_of_the_others():
    add("--ssh", "gpu1")
    (records.folder() / "other.toml").write_text("kind = ", "utf-8")
    listed = CliRunner().invoke(cli, ["place", "list", "--json"])
    assert [place["name"] for place in json.loads(listed.stdout)] == ["lab"]
    assert "other.toml cannot be read" in listed.stderr
    assert listed.exit_code == 1


def test_a_known_place_needs_no_machine_to_be_changed():
    add("--ssh", "gpu1", "--folder", "/big/runs")
    add("--set", "devices=0,1", "--python", "/new/bin/python")
    changed = records.named("lab")
    assert (changed.kind, changed.host, changed.folder) == ("ssh", "gpu1", "/big/runs")
    assert (changed.devices, changed.python) == ("0,1", "/new/bin/python")


def test_a_new_place_needs_one():
    result = CliRunner().invoke(cli, ["place", "add", "lab", "--folder", "/runs", "--no-check"])
    assert (result.exit_code, records.known()) == (2, [])
    assert "Name one machine" in result.output


def test_a_record_that_cannot_be_read_is_not_replaced():
    add("--ssh", "gpu1")
    path = records.folder() / "lab.toml"
    damaged = path.read_text("utf-8") + "data = {"
    path.write_text(damaged, "utf-8")
    result = CliRunner().invoke(cli, ["place", "add", "lab", "--ssh", "gpu2", "--no-check"])
    assert result.exit_code == 1
    assert "cannot be read" in result.output
    assert path.read_text("utf-8") == damaged


def test_a_place_of_another_kind_keeps_what_both_kinds_have():
    add("--ssh", "gpu1", "--folder", "/runs", "--python", "/bin/python3", "--set", "devices=0,1")
    records.store(records.named("lab").model_copy(update={"data": {"/here/photos": "/there/photos"}}))
    words = ["place", "add", "lab", "--slurm", "login1", "--set", "partition=gpu", "--no-check"]
    result = CliRunner().invoke(cli, words, catch_exceptions=False)
    assert "It was of the kind ssh. Fields that only this kind has are not kept." in result.output
    assert "Runs that were sent to it before are followed only while it is of the kind ssh." in result.output
    changed = records.named("lab")
    assert (changed.kind, changed.host, changed.partition) == ("slurm", "login1", "gpu")
    assert (changed.folder, changed.python) == ("/runs", "/bin/python3")
    assert changed.data == {"/here/photos": "/there/photos"}
    add("--ray", "http://127.0.0.1:8265")
    assert (records.named("lab").kind, records.named("lab").data) == ("ray", {"/here/photos": "/there/photos"})


def test_a_place_that_another_kind_cannot_have_stays_as_it_is():
    add("--ssh", "gpu1")
    before = records.named("lab")
    words = ["place", "add", "lab", "--ray", "http://127.0.0.1:8265", "--no-check"]
    result = CliRunner().invoke(cli, words)
    assert result.exit_code == 1
    assert "Name an absolute path" in result.output
    assert records.named("lab") == before


def test_a_ray_cluster_without_whole_paths_is_refused():
    result = CliRunner().invoke(cli, ["place", "add", "lab", "--ray", "http://127.0.0.1:8265", "--no-check"])
    assert (result.exit_code, records.readable()) == (1, ([], []))
    assert "folder: Name an absolute path" in result.output
    assert "python: Name an absolute path" in result.output


@pytest.mark.parametrize("field", ["name=other", "kind=ray", "data=/here", "devices"])
def test_what_another_word_says_is_not_set(field):
    result = CliRunner().invoke(cli, ["place", "add", "lab", "--ssh", "gpu1", "--set", field, "--no-check"])
    assert (result.exit_code, records.known()) == (2, [])
    assert f"--set {field}" in result.output


def test_data_are_stored_by_whole_paths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    add("--ssh", "gpu1", "--set", "ssh_config=own")
    result = CliRunner().invoke(cli, ["place", "data", "lab", "photos/../birds", "/there/birds"])
    assert result.output == f"{tmp_path / 'birds'} is /there/birds at lab.\n"
    stored = records.named("lab")
    assert stored.data == {str(tmp_path / "birds"): "/there/birds"}
    assert stored.ssh_config == str(tmp_path / "own")
    result = CliRunner().invoke(cli, ["place", "data", "lab", "birds", "there/birds"])
    assert result.exit_code == 1
    assert "'there/birds' is not an absolute path there" in result.output
    assert records.named("lab") == stored


def test_where_data_are_is_forgotten_when_asked_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    add("--ssh", "gpu1")
    for folder in ("birds", "cars"):
        CliRunner().invoke(cli, ["place", "data", "lab", folder, f"/there/{folder}"])
    result = CliRunner().invoke(cli, ["place", "data", "lab", "birds", "--remove"])
    assert (result.exit_code, result.output) == (0, f"Where {tmp_path / 'birds'} is at lab is forgotten.\n")
    assert records.named("lab").data == {str(tmp_path / "cars"): "/there/cars"}
    again = CliRunner().invoke(cli, ["place", "data", "lab", "birds", "--remove"])
    assert again.exit_code == 1
    assert f"It has these: {tmp_path / 'cars'}." in again.output
    for words in (["birds"], ["birds", "/there", "--remove"]):
        assert CliRunner().invoke(cli, ["place", "data", "lab", *words]).exit_code == 2
    assert records.named("lab").data == {str(tmp_path / "cars"): "/there/cars"}


@pytest.mark.parametrize(
    ("name", "said"), [("Lab", "There is a place lab."), ("nul", "Windows does not allow a file named")]
)
def test_a_name_that_is_another_s_file_on_macos_or_windows_is_refused(name, said):
    add("--ssh", "gpu1")
    before = records.known()
    refused = CliRunner().invoke(cli, ["place", "add", name, "--ssh", "gpu2", "--no-check"])
    assert (refused.exit_code, said in refused.output) == (1, True)
    assert records.known() == before
