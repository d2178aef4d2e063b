"""A place that is added again keeps what was not named."""

import pytest
from click.testing import CliRunner

from workbench.cli import cli
from workbench.places import records


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


def test_a_place_of_another_kind_begins_anew():
    add("--ssh", "gpu1", "--set", "devices=0,1")
    records.store(records.named("lab").model_copy(update={"data": {"/here/photos": "/there/photos"}}))
    add("--ray", "http://127.0.0.1:8265", "--folder", "/runs", "--python", "/bin/python3")
    changed = records.named("lab")
    assert (changed.kind, changed.folder, changed.data) == ("ray", "/runs", {})
