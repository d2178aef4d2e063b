"""Runs at places from the command line: followed to their ends, which are said, and resumed."""

import os
from dataclasses import replace
from types import SimpleNamespace

import pytest
from click.testing import CliRunner, Result

from tests.unit.places.played_place import PlayedPlace
from tests.unit.workspace.test_workspace import Images, evaluated
from workbench.cli import cli
from workbench.commands import terminal
from workbench.commands.training import place as commands
from workbench.config import RunConfig
from workbench.events import Ended, Noted
from workbench.places import records, sending, working
from workbench.places.contract import JobState, Standing
from workbench.places.place import SlurmPlace, SshPlace
from workbench.workspace import Workspace
from workbench.workspace.recorders.folder_recorder import FolderRecorder
from workbench.workspace.tables import placements

BOX = SshPlace(name="box", host="box")


@pytest.fixture
def played(tmp_path, monkeypatch):
    """The place "box", which every command asks in place of a machine."""
    monkeypatch.setenv("WORKBENCH_PLACES", str(tmp_path / "places"))
    records.store(BOX)
    made = PlayedPlace(tmp_path / "place")
    for module in (commands, working):
        monkeypatch.setattr(module, "launcher_of", lambda *_: made)
    monkeypatch.setattr(commands, "POLL", 0.0)
    return made


def place(workspace: Workspace, *arguments: str) -> Result:
    return CliRunner().invoke(cli, ["place", *arguments, "-w", str(workspace.path)])


def test_following_a_place_says_how_its_runs_ended(workspace, played):
    numbers = [*sending.prepare(workspace, RunConfig(name="a"), BOX), *sending.prepare(workspace, RunConfig(), BOX)]
    sending.submit(workspace, numbers, BOX, played)
    played.standing = Standing(JobState.INTERRUPTED, "exit status 137")
    result = place(workspace, "follow", "box")
    assert result.exit_code == 1
    for run_id in numbers:
        assert f"Run {run_id} interrupted. It was ended at box (exit status 137). Resume continues it" in result.output
    assert "No run of this workspace trains at box." in place(workspace, "follow", "box").output


def test_following_does_not_wait_for_a_run_that_the_place_refused(workspace, played, monkeypatch):
    sending.prepare(workspace, RunConfig(name="never sent"), BOX)

    def waits(seconds):
        raise AssertionError("it waits")

    monkeypatch.setattr(commands, "sleep", waits)
    assert place(workspace, "follow", "box").exit_code == 0


@pytest.mark.parametrize(("state", "word"), [(JobState.RUNNING, "trains"), (JobState.QUEUED, "waits")])
def test_checkpoints_of_a_run_that_has_not_ended_are_refused_and_it_is_not_followed_to_its_end(
    workspace, played, monkeypatch, state, word
):
    (run_id,) = sending.prepare(workspace, RunConfig(name="a"), BOX)
    sending.submit(workspace, [run_id], BOX, played)
    played.standing = Standing(state)
    monkeypatch.setattr(commands, "sleep", lambda seconds: pytest.fail("it is followed"))
    result = place(workspace, "fetch", str(run_id))
    assert result.exit_code == 1
    assert f"Run {run_id} has not ended at box: it {word} there" in result.output
    assert not workspace.run(run_id).placement.wanted
    played.standing = Standing(JobState.INTERRUPTED)
    place(workspace, "fetch", str(run_id))
    assert not workspace.run(run_id).placement.open


@pytest.mark.parametrize("state", [JobState.INTERRUPTED, JobState.CANCELLED])
def test_fetched_checkpoints_of_a_run_that_was_cut_off_are_named(workspace, played, state):
    (run_id,) = sending.prepare(workspace, RunConfig(name="a"), BOX)
    sending.submit(workspace, [run_id], BOX, played)
    path = workspace.folder(run_id) / "last.pt"
    path.write_bytes(b"weights")
    workspace.add_artefact(run_id, "checkpoint", path)
    played.standing = Standing(state, "exit status 137")
    result = place(workspace, "fetch", str(run_id))
    assert (result.exit_code, result.output.splitlines()[-1]) == (0, str(path))


def test_a_run_without_checkpoints_has_none_to_fetch(workspace, played):
    (run_id,) = sending.prepare(workspace, RunConfig(name="a"), BOX)
    sending.submit(workspace, [run_id], BOX, played)
    played.standing = Standing(JobState.INTERRUPTED)
    result = place(workspace, "fetch", str(run_id))
    assert result.exit_code == 1
    assert f"No checkpoint of run {run_id} was fetched from box." in result.output


def test_who_removes_a_place_reads_what_becomes_of_its_runs(played):
    result = CliRunner().invoke(cli, ["place", "remove", "box"])
    assert result.output == (
        "The place box is removed. Its runs continue there, and are followed again once it is added again.\n"
    )


def test_a_resumed_run_that_is_not_followed_is_named(workspace, played):
    (run_id,) = sending.prepare(workspace, RunConfig(name="a"), BOX)
    sending.submit(workspace, [run_id], BOX, played)
    played.standing = Standing(JobState.INTERRUPTED)
    place(workspace, "follow", "box")
    result = place(workspace, "resume", str(run_id), "--detach")
    assert (result.exit_code, result.output) == (0, f"Run {run_id} continues at box.\n")


def test_a_run_that_waits_says_why_while_it_is_followed(workspace, played, monkeypatch):
    (run_id,) = sending.prepare(workspace, RunConfig(name="a"), BOX)
    sending.submit(workspace, [run_id], BOX, played)
    monkeypatch.setattr(terminal, "SILENT", 0.0)  # a file or pipe, too, has a line of each look
    waits = iter([Standing(JobState.QUEUED, "it is held"), Standing(JobState.QUEUED)])
    monkeypatch.setattr(played, "states", lambda jobs: [next(waits, Standing(JobState.CANCELLED))])
    said = place(workspace, "follow", "box").output
    assert f"Run {run_id} is queued: it is held\n" in said
    assert f"Run {run_id} is queued\n" in said


def test_in_a_read_only_workspace_nothing_is_followed_or_resumed(workspace, played, monkeypatch):
    (run_id,) = sending.prepare(workspace, RunConfig(name="a"), BOX)
    sending.submit(workspace, [run_id], BOX, played)
    played.standing = Standing(JobState.INTERRUPTED)
    place(workspace, "follow", "box")
    true, orders = os.access, []
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK and true(path, mode))
    monkeypatch.setattr(played, "submit", orders.append)
    for asked in (("follow", "box"), ("resume", str(run_id), "--detach")):
        result = place(workspace, *asked)
        assert result.exit_code == 1
        assert "open for reading only" in result.output
    assert orders == [], "it would train there and not be known here"


def test_a_run_that_was_never_sent_is_named_and_sent(workspace, played):
    (run_id,) = sending.prepare(workspace, RunConfig(name="a"), BOX)
    assert "never sent" not in place(workspace, "follow", "box").output  # this process may be sending it
    with workspace.writing() as db:
        db.execute("update runs set born = born - 1000.5")
    said = place(workspace, "follow", "box")
    assert said.exit_code == 0
    resuming = f"workbench place resume {run_id} --workspace {workspace.path}"
    assert f"Run {run_id} was never sent there: {resuming}\n" in said.output
    result = place(workspace, "resume", str(run_id), "--detach")
    assert (result.exit_code, result.output) == (0, f"Run {run_id} is at box.\n")
    assert workspace.run(run_id).status == "queued"


def test_the_list_of_runs_says_where_each_trains(workspace, played):
    (away,) = sending.prepare(workspace, RunConfig(name="away"), BOX)
    here = workspace.create_run(RunConfig(name="here"))
    head, *lines = CliRunner().invoke(cli, ["list", "runs", "-w", str(workspace.path)]).output.splitlines()
    assert head.split()[-2:] == ["place", "name"]
    ends = {int(line.split()[0]): line.split()[-2:] for line in lines}
    assert ends[away] == ["box", "away"]
    assert ends[here] == ["–", "here"]


def test_a_run_of_a_place_that_became_one_of_another_kind_is_named_and_left_alone(workspace, played):
    (old,) = sending.prepare(workspace, RunConfig(name="old"), BOX)
    sending.submit(workspace, [old], BOX, played)
    cluster = SlurmPlace(name="box", host="login")
    records.store(cluster)
    (new,) = sending.prepare(workspace, RunConfig(name="new"), cluster)
    sending.submit(workspace, [new], cluster, played)
    with workspace.writing() as db:
        placements.store(db, replace(placements.required(db, new), job=f"7_0:{workspace.run(new).placement.uid}"))
    played.standing = Standing(JobState.CANCELLED)
    result = place(workspace, "follow", "box")
    assert result.exit_code == 1
    assert f"Run {old} was sent to box when that was a place of another kind than slurm." in result.output
    assert (workspace.run(old).status, workspace.run(new).status) == ("queued", "cancelled")
    for command in ("stop", "fetch"):
        result = place(workspace, command, str(old))
        assert result.exit_code == 1
        assert "another kind than slurm" in result.output
    assert played.asked == []
    records.store(BOX)
    assert f"Run {old} cancelled." in place(workspace, "follow", "box").output


def works_to_the_end(folder, score):
    """What a run of the place writes."""
    images, recorder = Images(), FolderRecorder(folder)
    recorder.read(images, None)
    notes = [("1 class", "has one image"), *((f"note {number}", "is one of many") for number in range(9))]
    data = {"fingerprint": "f", "train": 2, "test": 4, "classes_disjoint": False, "left_out_count": 1}
    data |= {"left_out": [("a.png", "is empty")], "notes": [*notes, ("the frozen layers", "are random")]}
    recorder.environment({"data": data | {"shared": "2 are in both"}})
    recorder(Noted("Ended early, after epoch 2."))
    evaluation = evaluated(images, 2, 10, score)
    recorder(replace(evaluation, metrics=evaluation.metrics | {"P@R": 0.5}))
    recorder(Ended("done"))


def test_runs_that_are_followed_tell_their_remarks_scores_and_result_as_those_here_do(workspace, played, monkeypatch):
    def submit(workspace, numbers, *place_and_launcher):
        sending.submit(workspace, numbers, *place_and_launcher)
        for run_id in numbers:
            works_to_the_end(played.base / workspace.run(run_id).placement.uid, 0.2 * run_id)
        played.standing = Standing(JobState.FINISHED)

    unchanged = {name: getattr(sending, name) for name in ("prepare", "refuse_missing", "translated")}
    monkeypatch.setattr(commands, "sending", SimpleNamespace(submit=submit, **unchanged))
    config = workspace.path / "two.toml"
    config.write_text(RunConfig(name="two", seeds=2).to_toml(), "utf-8")
    result = CliRunner().invoke(cli, ["run", str(config), "--place", "box", "-w", str(workspace.path)])
    assert result.exit_code == 0, result.output
    said = result.stderr.splitlines()
    for sentence in (
        "1 class has one image.", "3 more notes are in the run's report.", "The frozen layers are random.",
        "2 are in both.", "1 file was left out: a.png is empty.", "Ended early, after epoch 2.",
    ):  # fmt: skip
        assert said.count(sentence) == 1
    first, second, head, _, row = result.stdout.splitlines()
    for line, score in ((first, "20.00%"), (second, "40.00%")):
        assert f"done. Best MAP@R {score}, R@1 " in line
        assert line.endswith("at epoch 2; optimistic, as it was chosen on the test set.")
    assert head.startswith("| two")
    assert row.startswith("| mean ± SD over seeds | 2 | ")


def test_a_run_that_is_not_followed_says_how_to_follow_it(workspace, played, monkeypatch):
    there = {name: getattr(sending, name) for name in ("prepare", "submit", "translated")}
    monkeypatch.setattr(commands, "sending", SimpleNamespace(refuse_missing=lambda *_: "", **there))
    config = workspace.path / "one.toml"
    config.write_text(RunConfig(name="one").to_toml(), "utf-8")
    result = CliRunner().invoke(cli, ["run", str(config), "--place", "box", "--detach", "-w", str(workspace.path)])
    assert result.exit_code == 0, result.output
    assert result.stderr.startswith("Run 1 at box. Follow with: ")
    assert f"place follow box --workspace {workspace.path}" in result.stderr
