"""A trained run without its checkpoints: what needs them says in one sentence when they were deleted."""

import re
import shutil

import numpy as np
import pytest
from click.testing import CliRunner

from workbench.cli import cli
from workbench.exchange.formats import FORMATS, export_run, refusal
from workbench.exchange.source import source_of
from workbench.problem import Problem
from workbench.running import trained_network
from workbench.running.search.image_search import BEST, LAST, OwnImage, search
from workbench.workspace import Workspace
from workbench.workspace.arriving.ingest import ingest
from workbench.workspace.folders import deleted_checkpoints, journal

SINCE = r"Run 1 has no checkpoint: its checkpoints were deleted on 20\d\d-\d\d-\d\d\."
IMAGE = OwnImage("grey", np.full((28, 28, 3), 128, np.uint8))


@pytest.fixture
def trained(trained_space, tmp_path):
    """A copy of the workspace with a run of one epoch."""
    with Workspace(shutil.copytree(trained_space, tmp_path / "space")) as workspace:
        yield workspace


def test_search_and_exports_of_the_network_say_since_when(trained):
    trained.delete_checkpoints([1])
    with pytest.raises(Problem, match=SINCE):
        search(trained, 1, [IMAGE])
    with pytest.raises(Problem, match=SINCE):
        trained_network.trained(trained, 1)
    of_networks = [name for name, wanted in FORMATS.items() if wanted.needs == "checkpoint" and not wanted.packages]
    assert of_networks == ["trained", "torch"]
    for name in of_networks:
        assert re.fullmatch(SINCE, refusal(name, source_of(trained, 1)))
        with pytest.raises(Problem, match=SINCE):
            export_run(trained, 1, [name], trained.path / "out")


def test_the_best_network_is_still_searched_with_and_exported(trained, tmp_path):
    trained.delete_checkpoints([1], keep_best=True)
    assert search(trained, 1, [IMAGE], epoch=BEST)
    with pytest.raises(Problem, match=r"The last checkpoint of run 1 was deleted on 20"):
        search(trained, 1, [IMAGE], epoch=LAST)
    assert [path.name for path in export_run(trained, 1, ["trained"], tmp_path)] == ["trained.safetensors"]


def test_all_that_was_measured_is_still_there(trained):
    before = trained.evaluations(1), trained.scalar_names(1)
    (query, *_) = trained.queries(before[0][-1].id).sample_ids.tolist()
    neighbours = trained.neighbours(1, query)
    trained.delete_checkpoints([1])
    assert (trained.evaluations(1), trained.scalar_names(1)) == before
    assert trained.neighbours(1, query) == neighbours


def test_the_command_that_resumes_refuses_and_leaves_the_curves(trained, tmp_path):
    trained.set_status(1, "interrupted")
    config = tmp_path / "config.toml"
    config.write_text(trained.run(1).config, "utf-8")
    before = trained.scalar_names(1)
    trained.delete_checkpoints([1], keep_best=True)
    trained.close()
    done = CliRunner().invoke(cli, ["run", str(config), "--resume", "--workspace", str(trained.path)])
    assert done.exit_code == 1
    assert "Run 1 cannot continue: its last checkpoint was deleted on 20" in done.stderr
    with Workspace(trained.path) as again:
        assert (again.run(1).status, again.scalar_names(1)) == ("interrupted", before)


def test_an_exported_run_folder_is_imported_without_them_and_says_since_when(trained, tmp_path):
    trained.delete_checkpoints([1])
    export_run(trained, 1, ["run"], tmp_path / "out")
    with Workspace(tmp_path / "other", create=True) as other:
        taken = ingest(other, tmp_path / "out" / "run-1")
        assert (taken.doubts, taken.checkpoints, taken.unfinished) == ([], 0, False)
        assert deleted_checkpoints.day_of(other.folder(taken.run_id))


def test_a_run_folder_that_cannot_go_on_keeps_what_it_recorded(trained, tmp_path):
    trained.delete_checkpoints([1], keep_best=True)
    export_run(trained, 1, ["run"], tmp_path)
    folder = tmp_path / "run-1"
    before = (folder / journal.NAME).read_bytes() + b'{"run": {"status": "interrupted"}}\n'
    (folder / journal.NAME).write_bytes(before)
    done = CliRunner().invoke(cli, ["run", str(folder / "config.toml"), "--folder", str(folder), "--resume"])
    assert done.exit_code == 1
    assert "cannot continue: its last checkpoint was deleted on 20" in done.stderr
    added = (folder / journal.NAME).read_bytes().removeprefix(before)
    assert b'"failed"' in added
    assert b'"forget"' not in added
