"""One run of an experiment lost its checkpoints: --resume refuses at once, --retrain trains another in its place."""

import shutil

import pytest

from workbench.cli import main
from workbench.config import RunConfig
from workbench.running import retrained
from workbench.workspace import Workspace
from workbench.workspace.experiments import experiments
from workbench.workspace.tables import replaced_runs

SEEDS = """
name = "two seeds"
device = "cpu"
seeds = 2
[dataset]
name = "digits"
[backbone]
name = "conv4"
width = 8
[training]
epochs = 1
batch_size = 64
[evaluation]
probe_size = 0
"""


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory):
    """A workspace with an experiment whose second run was interrupted and has lost its checkpoints."""
    folder = tmp_path_factory.mktemp("interrupted")
    (folder / "seeds.toml").write_text(SEEDS, "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        assert main(["run", str(folder / "seeds.toml"), "-w", str(folder / "space"), "--quiet"]) == 0
    with Workspace(folder / "space") as workspace:
        workspace.set_status(2, "interrupted")
        experiments.set_result(workspace, 1, {})
        workspace.delete_checkpoints([2])
    return folder / "space"


@pytest.fixture
def cut(interrupted, tmp_path, monkeypatch):
    """A copy of that workspace as `space`, and the command that made it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "seeds.toml").write_text(SEEDS, "utf-8")
    shutil.copytree(interrupted, tmp_path / "space")

    def command(*words):
        return main(["run", str(tmp_path / "seeds.toml"), "-w", str(tmp_path / "space"), "--quiet", *words])

    return command


def test_resume_says_what_is_lost_and_starts_nothing(cut, tmp_path, capsys):
    capsys.readouterr()
    assert cut("--resume") == 1
    said = capsys.readouterr().err
    assert "Run 2 cannot continue: its checkpoints were deleted on 20" in said
    assert (
        "no run was started. Add --retrain to train it from the start; `workbench checkpoints bring-back 2 DIR" in said
    )
    with Workspace(tmp_path / "space") as workspace:
        assert [(run.id, run.status) for run in workspace.runs()] == [(2, "interrupted"), (1, "done")]


def test_retrain_trains_one_run_in_its_place_and_the_experiment_has_its_result(cut, tmp_path, capsys):
    with Workspace(tmp_path / "space") as workspace:
        before = workspace.scalars(2, "batch/loss")[1].tolist()
    capsys.readouterr()
    assert cut("--resume", "--retrain") == 0
    said = capsys.readouterr().out
    assert "it is in the trash, and run 3 trains in its place." in said
    assert "| two seeds | n |" in said
    with Workspace(tmp_path / "space") as workspace:
        assert [(run.id, run.status, run.experiment_id) for run in workspace.runs()] == [(3, "done", 1), (1, "done", 1)]
        assert [run.id for run in workspace.runs(trashed=True)] == [2]
        assert workspace.run(3).seed == workspace.run(2).seed
        assert workspace.scalars(3, "batch/loss")[1].tolist() == before
        [experiment] = experiments.every(workspace)
        assert experiment.result["runs"] == 2


def test_a_kill_between_the_new_run_and_the_trash_makes_no_third_run(cut, tmp_path, monkeypatch):
    with Workspace(tmp_path / "space") as workspace:
        _killed_between(workspace, monkeypatch, 2)
        workspace.set_status(3, "interrupted")  # as the next program marks it
        assert retrained.unable_to_go_on(workspace, [1, 2, 3]).keys() == {2}
        assert retrained.replaced(workspace, 2) == 3
        assert [run.id for run in workspace.runs()] == [3, 1]


def test_a_kill_between_the_new_run_and_the_trash_is_completed_once_by_the_next_start(cut, tmp_path, monkeypatch):
    with Workspace(tmp_path / "space") as workspace:
        alone = workspace.create_run(RunConfig.recorded(workspace.run(2).config))  # a run without an experiment
        workspace.set_status(alone, "interrupted")
        monkeypatch.setattr(retrained.deleted_checkpoints, "why_it_cannot_go_on", lambda folder, saved: "it is lost")
        monkeypatch.setattr(replaced_runs, "why_it_cannot_go_on", lambda folder, saved: "it is lost")
        _killed_between(workspace, monkeypatch, alone)
        assert [run.id for run in workspace.runs()] == [4, 3, 2, 1]
    assert main(["list", "runs", "-w", str(tmp_path / "space")]) == 0
    with Workspace(tmp_path / "space") as workspace:
        assert [run.id for run in workspace.runs()] == [4, 2, 1]
        assert "instead_of" not in workspace.run(4).environment
        workspace.restore(alone)
        workspace.sweep_dead_runs()
        assert workspace.run(alone).trashed is None, "a person wanted it back"


@pytest.mark.parametrize("said", [1, 99, 4, -1, "2", [2], None])
def test_a_run_that_can_stay_is_not_trashed_by_what_another_says_of_itself(cut, tmp_path, said):
    with Workspace(tmp_path / "space") as workspace:
        config = RunConfig.recorded(workspace.run(2).config)
        workspace.create_run(config, facts={"instead_of": 2})  # of no experiment, as run 2 is
        workspace.create_run(config, 1, facts={"instead_of": said})
        workspace.sweep_dead_runs()
        assert [run.id for run in workspace.runs()] == [4, 3, 2, 1]


def _killed_between(workspace, monkeypatch, run_id):
    """Replace a run, and be killed before the old one is in the trash."""

    def killed(db, number):
        raise SystemExit(9)

    with monkeypatch.context() as dying:
        dying.setattr(retrained.runs, "trash", killed)
        with pytest.raises(SystemExit):
            retrained.replaced(workspace, run_id)


def test_retrain_is_for_resuming_in_a_workspace(tmp_path, capsys):
    for words in (["--retrain"], ["--retrain", "--resume", "--folder", str(tmp_path / "run")]):
        assert main(["run", "sample-digits", *words]) == 2
        assert "--retrain needs --resume, and cannot be combined with --folder." in capsys.readouterr().err
