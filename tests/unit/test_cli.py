"""The command line lists what the registry holds, and changes fields by name."""

import errno
import io
import signal
import sys

import click
import pytest
from click.testing import CliRunner

from workbench.cli import cli, main
from workbench.config import KINDS, BadConfig, RunConfig
from workbench.events import Ended, Status
from workbench.problem import Problem
from workbench.running import launch
from workbench.settings.changed import read_config
from workbench.workspace import Workspace
from workbench.workspace.database.problems import Busy
from workbench.workspace.recorder import Recorder


def test_list_shows_defaults_ranges_help_and_source():
    result = CliRunner().invoke(cli, ["list", "losses"])
    assert result.exit_code == 0
    assert "temperature = 0.05 (> 0, ≤ 10)" in result.output
    assert "Eq. 12" in result.output
    assert "Published for sop: loss.scale = 64.0" in result.output
    assert "The reproduced papers have no values for a data set." in result.output
    assert "Measured here on omniglot: loss.dropout = 0.0 (docs/results.md)." in result.output


def test_presets_are_listed_with_their_names():
    assert "sample-digits" in CliRunner().invoke(cli, ["list", "presets"]).output


def test_every_field_that_all_configs_have_is_listed_with_its_help():
    lines = CliRunner().invoke(cli, ["list", "fields"]).output.splitlines()
    assert "seeds = 1 (≥ 1, ≤ 100)  Number of runs, with this seed" in " ".join(lines)
    assert any(line.startswith("training.lr = 0.001 (> 0, ≤ 100)  Highest learning rate") for line in lines)
    assert any(line.startswith("seed = 0 (≥ 0, < 2147483648)  Seed of") for line in lines)
    values = RunConfig().model_dump()
    own = [name for name in values if name not in KINDS]
    parts = {name: values[name] for name in own if isinstance(values[name], dict)}
    names = {*own, *(f"{part}.{field}" for part, fields in parts.items() for field in fields)} - parts.keys()
    assert {line.split(" = ")[0] for line in lines} == names
    assert [line for line in lines if not line.partition("  ")[2]] == []


def test_a_wrong_word_is_usage_error_2():
    assert CliRunner().invoke(cli, ["list", "loses"]).exit_code == 2
    assert main(["list", "loses"]) == 2
    assert main(["list", "presets"]) == 0


def test_fields_are_changed_by_name():
    config = read_config("sample-digits", ("training.epochs=3", "seed=9", 'name="mine"', "embedding.normalise=true"))
    assert (config.training.epochs, config.seed, config.name, config.embedding.normalise) == (3, 9, "mine", True)


def test_another_entry_takes_none_of_the_old_one_s_parameters():
    changed = ("sampler.name=random", "loss.name=norm_ce", "loss.temperature=0.1")
    config = read_config("omniglot-unseen", changed)
    assert config.sampler.params == {}
    assert config.loss.params == {"temperature": 0.1}


@pytest.mark.parametrize("change", ["training.epoch=3", "nothing.at.all=1", "training.epochs", "training.epochs=0"])
def test_a_wrong_change_names_its_field(change):
    with pytest.raises(BadConfig) as caught:
        read_config("sample-digits", (change,))
    assert change.partition("=")[0] in caught.value.errors


@pytest.fixture
def trained(monkeypatch):
    """Runs of the command line train nothing; `trained.fails` is the Problem that they meet."""

    class Trained:
        fails = None

        def run(self, workspace, run_id, control, emit, recorder, *, resume=False, listed=None):
            emit(Status("Training"))
            if self.fails is not None:
                raise self.fails

    made = Trained()
    monkeypatch.setattr(launch, "run", made.run)
    return made


@pytest.mark.parametrize("fails", [None, Problem("The data set is empty.")])
def test_an_end_that_cannot_be_recorded_is_said_and_is_status_1(fails, trained, monkeypatch, tmp_path):
    hear = Recorder.__call__

    def held(recorder, event):
        if isinstance(event, Ended):
            recorder.close()
            raise Busy("The workspace is being written by another program.")
        hear(recorder, event)

    trained.fails = fails
    monkeypatch.setattr(Recorder, "__call__", held)
    said = CliRunner().invoke(cli, ["run", "sample-digits", "-w", str(tmp_path / "space")])
    assert said.exit_code == 1
    assert "The end of run 1 could not be recorded: The workspace is being written by another" in said.stderr
    assert ("The data set is empty." in said.stderr) == (fails is not None)


def test_a_run_in_a_workspace_obeys_the_signal_to_end_with_a_checkpoint(monkeypatch, tmp_path):
    def run(workspace, run_id, control, emit, recorder, *, resume=False, listed=None):
        signal.getsignal(signal.SIGTERM)(signal.SIGTERM, None)  # as the system calls it
        emit(Status("stopped" if control.interrupted else "Training"))

    monkeypatch.setattr(launch, "run", run)
    before = signal.getsignal(signal.SIGTERM)
    said = CliRunner().invoke(cli, ["run", "sample-digits", "-w", str(tmp_path / "space")])
    assert said.exit_code == 130
    assert "Continue with: workbench run sample-digits --resume" in said.stderr
    assert signal.getsignal(signal.SIGTERM) == before


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps the working folder of a program")
def test_a_working_folder_that_was_deleted_is_said(monkeypatch, tmp_path, capsys):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert main(["list", "runs", "--workspace", "space"]) == 1
    assert "The working folder no longer exists (No such file or directory)." in capsys.readouterr().err


def test_resume_takes_a_cancelled_run_with_a_checkpoint_and_passes_over_one_without(trained, tmp_path):
    words = ["run", "sample-digits", "-w", str(tmp_path / "space")]
    trained.fails = Problem("The power went.")
    for _ in range(2):
        assert CliRunner().invoke(cli, words).exit_code == 1
    trained.fails = None
    with Workspace(tmp_path / "space") as workspace:
        for run_id in (1, 2):
            workspace.set_status(run_id, "cancelled")
        said = CliRunner().invoke(cli, [*words, "--resume"])
        assert said.exit_code == 1
        assert "no unfinished run" in said.stderr, "neither has a checkpoint"
        workspace.file(1, "last.pt").write_bytes(b"checkpoint")
        assert CliRunner().invoke(cli, [*words, "--resume"]).exit_code == 0
        assert [workspace.run(number).status for number in (1, 2)] == ["done", "cancelled"]


def test_resume_names_the_owner_of_a_run_that_works_and_takes_a_dead_one(trained, tmp_path):
    words = ["run", "sample-digits", "-w", str(tmp_path / "space")]
    trained.fails = Problem("The power went.")
    assert CliRunner().invoke(cli, words).exit_code == 1
    trained.fails = None
    with Workspace(tmp_path / "space") as workspace:
        workspace.take_over(1)
        said = CliRunner().invoke(cli, [*words, "--resume"])
        assert said.exit_code == 1
        assert "Run 1 is still working: process" in said.stderr
        with workspace.writing() as db:  # the machine is gone
            db.execute("update runs set host = 'another-machine', status = 'running', heartbeat = '2026-01-01'")
        assert CliRunner().invoke(cli, [*words, "--resume"]).exit_code == 0
        assert workspace.run(1).status == "done"


def commands_of(group, above=""):
    """Every command with its whole name."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands_of(command, f"{above}{name} ")
        else:
            yield f"{above}{name}", command


def test_help_explains_every_command_and_each_of_its_options():
    bare = [
        f"{name} {parameter.opts[0]}"
        for name, command in commands_of(cli)
        for parameter in command.params
        if isinstance(parameter, click.Option) and not parameter.help
    ]
    assert bare == []
    assert [name for name, command in commands_of(cli) if not command.help] == []


@pytest.mark.parametrize("windows", [True, False])
def test_output_that_nobody_reads_is_another_error_on_windows(monkeypatch, tmp_path, windows):
    class Unread(io.TextIOWrapper):
        def write(self, text):
            raise OSError(errno.EINVAL, "Invalid argument")

    with (tmp_path / "out").open("wb") as file:
        monkeypatch.setattr(sys, "stdout", Unread(file, encoding="utf-8"))
        monkeypatch.setattr("workbench.cli.WINDOWS", windows)
        if windows:
            assert main(["list", "presets"]) == 141
        else:
            with pytest.raises(OSError, match="Invalid argument"):
                main(["list", "presets"])
