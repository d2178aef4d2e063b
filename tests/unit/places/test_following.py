"""Runs at a place arrive whole, whatever the connection does; a place that is gone, lies or fails costs a sentence."""

import json
import os
import shutil
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import psutil
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.campaign import disks
from tests.travelling_runs import directly, in_folder, rows
from tests.unit.places.played_place import PlayedPlace
from tests.waits import HANG
from workbench import files
from workbench.config import RunConfig
from workbench.control import Cancelled
from workbench.places import following as following_module
from workbench.places import mirror, records, sending, working
from workbench.places.contract import Ending, JobState, Order, Standing
from workbench.places.following import Following
from workbench.places.host import host_files
from workbench.places.host.hosts import LocalHost
from workbench.places.kinds.run_command import AGAIN, BEGINS
from workbench.places.mirror import FOLDER
from workbench.places.place import SshPlace
from workbench.problem import Problem
from workbench.workspace import Workspace
from workbench.workspace.folders import journal, travelling
from workbench.workspace.owners import ownership
from workbench.workspace.tables import placements

PLACE = SshPlace(name="box", host="box")


def make(base, keep=()):
    """The folder of a run as a kill left it, at its end, and the rows of the run that was told to a workspace."""
    in_folder(base / "end", [base / "killed"], keep)
    with Workspace(base / "direct", create=True) as workspace:
        directly(workspace, keep)
        return base / "killed", base / "end", rows(workspace)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make(tmp_path_factory.mktemp("made"))


@pytest.fixture(scope="module", params=[(), (1, 3)], ids=["all", "some"])
def made_to_keep(tmp_path_factory, request):
    """As `made`; with "some" the run deletes the evaluation of epoch 2 at its end."""
    return make(tmp_path_factory.mktemp("made"), request.param)


@pytest.fixture
def played(tmp_path):
    return PlayedPlace(tmp_path / "place")


def sent(workspace: Workspace, played: PlayedPlace) -> int:
    (run_id,) = sending.prepare(workspace, RunConfig(name="a run"), PLACE)
    sending.submit(workspace, [run_id], PLACE, played)
    return run_id


def works(workspace: Workspace, played: PlayedPlace, run_id: int, folder: Path) -> Path:
    """The files of a made run as those of this one at the place; its card stays its own."""
    there = played.base / workspace.run(run_id).placement.uid
    for path in folder.iterdir():
        if path.name not in (travelling.CARD, "config.toml", travelling.LOCK):
            shutil.copyfile(path, there / path.name)
    return there


def until_ended(following: Following, looks: int = 30) -> None:
    for _ in range(looks):
        looked = following.look()
        if not looked.left:
            return
    raise AssertionError(f"more is to come after {looks} looks: {looked}")


def test_a_program_that_is_started_again_keeps_what_came_after_the_run_let_go_of_others(tmp_path):
    arriving, content = tmp_path / FOLDER, b"vectors"
    arriving.mkdir()
    (arriving / "embeddings-9.npy").write_bytes(content)
    (arriving / "embeddings-2.npy").write_bytes(content)
    named = {"embeddings-9.npy": (len(content), files.digest(arriving / "embeddings-9.npy"))}
    facts = {"epoch": 9, "step": 9, "distance": "cosine", "metrics": {}, "files": named}
    lines = [{"keep": [0, 3]}, {"evaluation": facts}]
    (arriving / journal.NAME).write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    again = mirror.Mirror(tmp_path, "run")
    assert {path.name for path in arriving.glob("*.npy")} == {"embeddings-9.npy"}
    assert not again.wants_more()


@settings(max_examples=12, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(st.lists(st.tuples(st.booleans(), st.one_of(st.none(), st.integers(0, 200_000)), st.booleans()), max_size=8))
def test_connections_lost_at_any_byte_end_as_the_direct_run(made_to_keep, tmp_path_factory, looks):
    killed, end, wanted = made_to_keep
    base = tmp_path_factory.mktemp("lost")
    played = PlayedPlace(base / "place")
    with Workspace(base / "space", create=True) as workspace:
        run_id = sent(workspace, played)
        following, furthest = Following(workspace, PLACE, played), killed
        works(workspace, played, run_id, killed)
        for ended, cut, closed in looks:
            furthest = end if ended else furthest
            works(workspace, played, run_id, furthest)
            played.cut = cut
            following.look()
            if closed:  # another program goes on from what is there
                following = Following(workspace, PLACE, played)
        works(workspace, played, run_id, end)
        played.cut, played.standing = None, Standing(JobState.FINISHED)
        until_ended(following)
        found = rows(workspace)
        found["artefacts"] = [row for row in found["artefacts"] if "checkpoint" not in row]
        assert found == wanted | {"artefacts": [row for row in wanted["artefacts"] if "checkpoint" not in row]}
        assert not (workspace.folder(run_id) / FOLDER).exists()


def test_a_data_set_of_which_half_had_come_when_the_run_began_again_comes_whole(made, workspace, played):
    killed, end, wanted = made
    run_id = sent(workspace, played)
    following = Following(workspace, PLACE, played)
    works(workspace, played, run_id, killed)
    played.cut = (killed / "journal.jsonl").stat().st_size + (killed / "dataset.json").stat().st_size // 2
    following.look()
    works(workspace, played, run_id, end)
    played.standing = Standing(JobState.FINISHED)
    until_ended(following)
    assert rows(workspace)["evaluations"] == wanted["evaluations"]


@pytest.mark.parametrize("reached", ["2096-01-01T00:00:00+00:00", "1970-01-01T00:00:00+00:00", None, "never"])
def test_when_a_place_last_answered_is_right_again_after_the_clock_was(workspace, played, reached):
    run_id = sent(workspace, played)
    with workspace.writing() as db:
        placements.store(db, replace(placements.required(db, run_id), state="running", reached=reached))
    Following(workspace, PLACE, played).look()
    assert 0 <= ownership.age(workspace.run(run_id).placement.reached) < HANG


def test_checkpoints_come_when_they_are_asked_for(made, workspace, played):
    run_id = sent(workspace, played)
    works(workspace, played, run_id, made[1])
    played.standing = Standing(JobState.FINISHED)
    following = Following(workspace, PLACE, played)
    until_ended(following)
    assert workspace.artefacts(run_id, "checkpoint") == []
    with workspace.writing() as db:
        placements.want(db, run_id, "checkpoints")
    until_ended(following)
    assert {path.read_bytes() for path in workspace.artefacts(run_id, "checkpoint")} == {b"threelast", b"threebest"}


def test_checkpoints_that_were_deleted_here_come_again_when_they_are_asked_for(
    made, workspace, played, tmp_path, monkeypatch
):
    monkeypatch.setenv("WORKBENCH_PLACES", str(tmp_path / "places"))
    monkeypatch.setattr(working, "launcher_of", lambda *_: played)
    records.store(PLACE)
    run_id = sent(workspace, played)
    works(workspace, played, run_id, made[1])
    played.standing = Standing(JobState.FINISHED)
    following = Following(workspace, PLACE, played)
    until_ended(following)
    for _ in range(2):
        working.fetch_checkpoints(workspace, run_id)
        assert "may still be written at box" in workspace.delete_checkpoints([run_id]).kept[run_id]
        until_ended(following)
        assert len(workspace.artefacts(run_id, "checkpoint")) == 2
        assert workspace.delete_checkpoints([run_id]).bytes == len(b"threelast" + b"threebest")


@pytest.mark.parametrize("again", [True, False], ids=["another program", "the same"])
def test_checkpoints_whose_fetching_was_interrupted_come_later(made, workspace, played, again):
    """The window was closed, or the connection lost, after they were asked for and before they were here."""
    run_id = sent(workspace, played)
    works(workspace, played, run_id, made[1])
    played.standing = Standing(JobState.FINISHED)
    following = Following(workspace, PLACE, played)
    until_ended(following)
    with workspace.writing() as db:
        placements.want(db, run_id, "checkpoints")
    played.cut = 3
    assert any(following.look().silent for _ in range(3))
    until_ended(Following(workspace, PLACE, played) if again else following)
    assert {path.read_bytes() for path in workspace.artefacts(run_id, "checkpoint")} == {b"threelast", b"threebest"}
    assert not workspace.run(run_id).placement.wanted


def test_a_place_that_is_gone_is_said_and_what_came_stays(made, workspace, played):
    run_id = sent(workspace, played)
    works(workspace, played, run_id, made[0])
    following = Following(workspace, PLACE, played)
    following.look()
    points = len(workspace.scalars(run_id, "batch/loss")[0])
    played.gone = "box is not reached: no route."
    looked = following.look()
    workspace.sweep_dead_runs()
    run = workspace.run(run_id)
    assert (looked.silent, run.placement.silent, run.status) == (played.gone, played.gone, "running")
    assert run.placement.reached is not None
    assert len(workspace.scalars(run_id, "batch/loss")[0]) == points > 0
    played.gone = ""
    following.look()
    assert workspace.run(run_id).placement.silent == ""


MOVED = {"host": {"host": "tower"}, "folder": {"folder": "another"}}


@pytest.mark.parametrize("change", MOVED.values(), ids=MOVED)
def test_a_live_run_that_the_place_does_not_know_since_it_was_described_otherwise_is_not_over(
    made, workspace, played, tmp_path, change
):
    run_id = sent(workspace, played)
    works(workspace, played, run_id, made[0])
    Following(workspace, PLACE, played).look()
    other, empty = PLACE.model_copy(update=change), PlayedPlace(tmp_path / "other")
    empty.standing = Standing(JobState.LOST, "its folder there is gone")
    following = Following(workspace, other, empty)
    for _ in range(3):
        looked = following.look()
    run = workspace.run(run_id)
    assert (run.status, run.placement.open, run.placement.silent) == ("running", True, placements.ELSEWHERE)
    assert looked.silent == looked.problems[0]
    assert f"sent to box when that was box, folder workbench-runs. Now box is {other.whereabouts}" in looked.silent
    assert Following(workspace, PLACE, played).look().problems == ()
    assert workspace.run(run_id).placement.silent == "", "it is followed again"


@pytest.mark.parametrize("remembered", ["", "box"])
def test_a_run_of_an_older_version_remembers_the_folder_once_it_was_found_there(
    made, workspace, played, tmp_path, remembered
):
    run_id = sent(workspace, played)
    works(workspace, played, run_id, made[0])
    with workspace.writing() as db:
        placements.store(db, replace(placements.required(db, run_id), machine=remembered))
    Following(workspace, PLACE, played).look()
    assert workspace.run(run_id).placement.machine == PLACE.whereabouts
    empty = PlayedPlace(tmp_path / "other")
    empty.standing = Standing(JobState.LOST, "its folder there is gone")
    Following(workspace, PLACE.model_copy(update={"folder": "another"}), empty).look()
    assert workspace.run(run_id).status == "running", "it may still train in its former folder"


def test_a_run_that_is_elsewhere_does_not_keep_those_of_the_new_folder_from_being_followed(
    made, workspace, played, tmp_path
):
    first, second, other = sent(workspace, played), sent(workspace, played), SshPlace(name="box", host="tower")
    works(workspace, played, second, made[0])
    played.standing = Standing(JobState.LOST)
    (played.base / workspace.run(first).placement.uid / "config.toml").unlink()
    looked = Following(workspace, other, played).look()
    assert (looked.silent, len(looked.problems)) == ("", 1)
    assert [workspace.run(run_id).status for run_id in (first, second)] == ["queued", "interrupted"]


def test_a_run_that_is_elsewhere_can_be_ended_here_alone(made, workspace, played, tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_PLACES", str(tmp_path / "places"))
    run_id = sent(workspace, played)
    works(workspace, played, run_id, made[0])
    empty = PlayedPlace(tmp_path / "other")
    empty.standing = Standing(JobState.LOST, "its folder there is gone")
    records.store(SshPlace(name="box", host="box", folder="another"))
    Following(workspace, records.named("box"), empty).look()
    working.end(workspace, run_id, Ending.SAVED)
    run = workspace.run(run_id)
    assert (run.status, run.placement.open) == ("interrupted", False)
    assert run.problem.startswith("It was ended only here. ")
    assert "it may still train there" in run.problem


@pytest.mark.parametrize(
    ("standing", "status", "word"),
    [
        (Standing(JobState.FAILED, "exit status 1"), "failed", "cannot be read"),
        (Standing(JobState.INTERRUPTED, "exit status 137"), "interrupted", "137"),
        (Standing(JobState.LOST), "interrupted", "does not know"),
        (Standing(JobState.CANCELLED), "cancelled", "removed from the queue"),
    ],
)
def test_a_job_that_ended_without_a_word_ends_its_run(made, workspace, played, standing, status, word):
    run_id = sent(workspace, played)
    there = works(workspace, played, run_id, made[0])
    (there / "log").write_text("many lines\nThe folder of images cannot be read.\n")
    played.standing = standing
    until_ended(Following(workspace, PLACE, played))
    run = workspace.run(run_id)
    assert (run.status, run.placement.open) == (status, False)
    assert word in run.problem
    assert len(workspace.evaluations(run_id)) == 2


@pytest.mark.parametrize("state", [JobState.LOST, JobState.INTERRUPTED])
def test_a_run_that_its_engine_has_lost_is_followed_while_it_writes(made, workspace, played, monkeypatch, state):
    run_id = sent(workspace, played)
    works(workspace, played, run_id, made[0])
    played.standing = Standing(state, "Ray does not know the job any more", unsure=True)
    following = Following(workspace, PLACE, played)
    following.look()
    run = workspace.run(run_id)
    assert (run.status, run.placement.open, run.placement.state) == ("running", True, "queued")
    monkeypatch.setattr(following_module, "STILL_WRITES", 0.0)
    until_ended(following)
    assert (workspace.run(run_id).status, workspace.run(run_id).placement.open) == ("interrupted", False)


def test_what_an_earlier_start_of_a_run_printed_is_not_its_last_word(made, workspace, played):
    run_id = sent(workspace, played)
    there = works(workspace, played, run_id, made[0])
    (there / "log").write_text(f"{BEGINS}\nContinue with: --resume\n{BEGINS}\n")
    played.standing = Standing(JobState.FAILED, "exit status 139")
    until_ended(Following(workspace, PLACE, played))
    assert workspace.run(run_id).problem == "Its process at box failed (exit status 139)."


def test_the_last_line_of_a_long_log_is_told(made, workspace, played):
    run_id = sent(workspace, played)
    there = works(workspace, played, run_id, made[0])
    (there / "log").write_text(f"{BEGINS}\n" + "a warning of a library\n" * 10_000 + "CUDA out of memory\n")
    played.standing = Standing(JobState.FAILED, "exit status 1")
    until_ended(Following(workspace, PLACE, played))
    assert "CUDA out of memory" in workspace.run(run_id).problem


def test_a_run_goes_on_at_its_place_and_is_followed_again(made, workspace, played):
    run_id = sent(workspace, played)
    works(workspace, played, run_id, made[0])
    following = Following(workspace, PLACE, played)
    played.standing = Standing(JobState.INTERRUPTED)
    until_ended(following)
    sending.submit(workspace, [run_id], PLACE, played)
    assert (workspace.run(run_id).status, workspace.run(run_id).placement.open) == ("queued", True)
    works(workspace, played, run_id, made[1])
    played.standing = Standing(JobState.FINISHED)
    until_ended(following)
    assert workspace.run(run_id).status == "done"
    assert len(workspace.evaluations(run_id)) == 3


def test_a_run_that_saved_itself_to_be_started_again_is_never_called_stopped(made, workspace, played):
    """Slurm says RUNNING until its task is back in the queue, seconds after the run has written its end."""
    run_id = sent(workspace, played)
    there = works(workspace, played, run_id, made[0])
    following = Following(workspace, PLACE, played)
    following.look()
    (there / AGAIN).touch()
    with (there / journal.NAME).open("a", encoding="utf-8") as lines:
        lines.write(json.dumps({"run": {"status": "stopped"}}) + "\n")
    for _ in range(3):
        following.look()
        run = workspace.run(run_id)
        assert (run.status, run.placement.words) == ("queued", "it saved itself, and waits to be continued")
    (there / AGAIN).unlink()
    with (there / journal.NAME).open("a", encoding="utf-8") as lines:
        lines.write(json.dumps({"run": {"status": "running"}}) + "\n")
    for _ in range(3):
        following.look()
    run = workspace.run(run_id)
    assert (run.status, run.placement.words) == ("running", "")


@pytest.mark.parametrize(("status", "ended"), [("interrupted", "first"), ("running", "")])
def test_an_order_to_resume_names_the_job_in_which_the_run_wrote_its_end(
    made, workspace, played, monkeypatch, status, ended
):
    """Only of such a run is it known that its job will end, too; of another it may train on."""
    run_id = sent(workspace, played)
    there = works(workspace, played, run_id, made[0])
    with (there / journal.NAME).open("a", encoding="utf-8") as lines:
        lines.write(json.dumps({"run": {"status": status}}) + "\n")
    Following(workspace, PLACE, played).look()
    with workspace.writing() as db:
        placements.store(db, replace(placements.required(db, run_id), job="first"))
    orders: list[Order] = []
    monkeypatch.setattr(played, "submit", lambda asked: orders.extend(asked) or ["second"])
    sending.submit(workspace, [run_id], PLACE, played)
    assert [order.ended for order in orders] == [ended]


def test_a_run_whose_folder_is_gone_there_is_not_begun_anew_under_its_number(made, workspace, played, monkeypatch):
    run_id = sent(workspace, played)
    sending.submit(workspace, [run_id], PLACE, played)  # it has not begun: nothing can be mixed
    there = works(workspace, played, run_id, made[0])
    Following(workspace, PLACE, played).look()
    shutil.rmtree(there)
    played.standing = Standing(JobState.LOST)
    Following(workspace, PLACE, played).look()
    before = workspace.run(run_id)
    monkeypatch.setattr(working, "launcher_of", lambda *_: played)
    monkeypatch.setattr(working.records, "existing", lambda name: PLACE)
    with pytest.raises(Problem, match=f"The folder of run {run_id} is not at box any more: it cannot be resumed"):
        working.resume(workspace, run_id)
    assert workspace.run(run_id) == before
    assert not there.exists()


def shorter(there: Path, lines: int) -> None:
    """The journal there without its last lines, as after a power cut, or from an older copy."""
    path = there / journal.NAME
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-lines]))


@pytest.mark.parametrize("again", [True, False], ids=["another program", "the same"])
@pytest.mark.parametrize(("state", "status"), [(JobState.RUNNING, "running"), (JobState.FINISHED, "interrupted")])
def test_a_journal_that_lost_lines_and_went_on_is_not_mixed_with_what_came(
    made, workspace, played, again, state, status
):
    run_id = sent(workspace, played)
    there = works(workspace, played, run_id, made[0])
    following = Following(workspace, PLACE, played)
    following.look()
    before, lines = rows(workspace), (workspace.folder(run_id) / journal.NAME).read_bytes()
    shorter(there, 3)
    with (there / journal.NAME).open("a", encoding="utf-8") as file:
        for step in range(11, 200):
            file.write(json.dumps({"scalars": [["batch/loss", step, 0.25]]}) + "\n")
    changed = (there / journal.NAME).read_bytes()
    played.standing = Standing(state)
    following = Following(workspace, PLACE, played) if again else following
    (said,) = following.look().problems
    assert f"Run {run_id}: Its journal there is not the one that was fetched" in said
    assert "What was fetched before is kept" in said
    assert f"Copy the folder {there.name} from there" in said
    assert rows(workspace)["points"] == before["points"]
    assert (workspace.folder(run_id) / journal.NAME).read_bytes() == lines
    assert (there / journal.NAME).read_bytes() == changed
    following.look()
    run = workspace.run(run_id)
    assert (run.status, run.placement.open) == (status, status == "running")
    assert run.problem in said


def followed_and_shorter(made, workspace, played):
    """A run that was followed, and whose journal there has since lost a line."""
    run_id = sent(workspace, played)
    there = works(workspace, played, run_id, made[0])
    following = Following(workspace, PLACE, played)
    following.look()
    shorter(there, 1)
    return run_id, following


def test_a_journal_that_is_shorter_for_a_while_goes_on(made, workspace, played):
    """A shared disk may show another node an older state of a file."""
    run_id, following = followed_and_shorter(made, workspace, played)
    played.standing = Standing(JobState.FINISHED)
    looked = following.look()
    assert (looked.problems, looked.left) == ((), 1)
    works(workspace, played, run_id, made[1])
    until_ended(following)
    assert workspace.run(run_id).status == "done"


def test_a_run_that_ended_with_a_shorter_journal_than_came_is_not_said_to_be_whole(made, workspace, played):
    run_id, following = followed_and_shorter(made, workspace, played)
    played.standing = Standing(JobState.FINISHED)
    until_ended(following)
    run = workspace.run(run_id)
    assert run.status == "interrupted"
    assert "it lost lines" in run.problem


def test_a_run_whose_journal_lost_lines_there_is_not_resumed(made, workspace, played):
    run_id = sent(workspace, played)
    there = works(workspace, played, run_id, made[0])
    played.standing = Standing(JobState.INTERRUPTED)
    until_ended(Following(workspace, PLACE, played))
    shorter(there, 1)
    before = workspace.run(run_id)
    with pytest.raises(Problem, match=f"it lost lines.* Run {run_id} was not resumed"):
        sending.submit(workspace, [run_id], PLACE, played)
    assert workspace.run(run_id) == before


@pytest.mark.skipif(not disks.can_mount(), reason="only root can mount a small disk")
def test_on_a_full_disk_here_no_run_is_begun_there(played, tmp_path, monkeypatch):
    with disks.disk(tmp_path) as disk:
        with Workspace(disk / "space", create=True) as workspace:
            run_id = sent(workspace, played)
            played.standing = Standing(JobState.INTERRUPTED)
            until_ended(Following(workspace, PLACE, played))
        if disks.fill(disk, 0) is None:
            pytest.skip("no small disk can be mounted here")
        with Workspace(disk / "space") as workspace:
            before = workspace.run(run_id)
            monkeypatch.setattr(played, "submit", lambda orders: pytest.fail("it was begun"))
            with pytest.raises(Problem, match="is full"):
                sending.submit(workspace, [run_id], PLACE, played)
            assert workspace.run(run_id) == before


def test_a_run_that_began_when_the_workspace_could_not_be_written_any_more_is_followed(
    made, workspace, played, monkeypatch
):
    run_id = sent(workspace, played)
    works(workspace, played, run_id, made[0])
    played.standing = Standing(JobState.INTERRUPTED)
    following = Following(workspace, PLACE, played)
    until_ended(following)

    def full(*values):
        raise Problem("The disk is full.")

    with monkeypatch.context() as trouble:
        trouble.setattr(placements, "wait", full)
        with pytest.raises(Problem, match=f"Run {run_id} was started at box, .* not be recorded: The disk is full"):
            sending.submit(workspace, [run_id], PLACE, played)
    works(workspace, played, run_id, made[1])
    played.standing = Standing(JobState.FINISHED)
    until_ended(following)
    assert (workspace.run(run_id).status, len(workspace.evaluations(run_id))) == ("done", 3)


def test_a_run_that_its_place_would_not_resume_is_not_followed(workspace, played):
    run_id = sent(workspace, played)
    played.standing = Standing(JobState.INTERRUPTED)
    until_ended(Following(workspace, PLACE, played))
    before, played.gone = workspace.run(run_id), "box is not reached."
    with pytest.raises(Problem, match="not reached"):
        sending.submit(workspace, [run_id], PLACE, played)
    assert workspace.run(run_id) == before


@pytest.mark.parametrize("request_of", ["states", "read"])
def test_a_run_that_is_resumed_during_a_look_is_followed_again(made, workspace, played, monkeypatch, request_of):
    run_id = sent(workspace, played)
    there = works(workspace, played, run_id, made[0])
    with (there / journal.NAME).open("a", encoding="utf-8") as lines:
        lines.write(json.dumps({"run": {"status": "interrupted"}}) + "\n")
    first = (there / journal.NAME).read_bytes()
    played.standing, ask = Standing(JobState.INTERRUPTED), getattr(played, request_of)

    def resumed_meanwhile(asked):
        answer = list(ask(asked))
        if workspace.run(run_id).placement.job != "second":
            sending.submit(workspace, [run_id], PLACE, played)
            with workspace.writing() as db:
                placements.store(db, replace(placements.required(db, run_id), job="second"))
        return answer

    monkeypatch.setattr(played, request_of, resumed_meanwhile)
    following = Following(workspace, PLACE, played)
    following.look()
    placement = workspace.run(run_id).placement
    assert (placement.job, placement.open) == ("second", True)
    works(workspace, played, run_id, made[1])
    killed, end = ((folder / journal.NAME).read_bytes() for folder in made[:2])
    (there / journal.NAME).write_bytes(first + end[len(killed) :])
    played.standing = Standing(JobState.FINISHED)
    until_ended(following)
    assert workspace.run(run_id).status == "done"


def test_checkpoints_that_are_asked_for_during_a_look_come(made, workspace, played, monkeypatch):
    run_id = sent(workspace, played)
    works(workspace, played, run_id, made[1])
    played.standing, read = Standing(JobState.FINISHED), played.read

    def asked_meanwhile(parts):
        with workspace.writing() as db:
            placements.want(db, run_id, "checkpoints")
        monkeypatch.setattr(played, "read", read)
        return read(parts)

    monkeypatch.setattr(played, "read", asked_meanwhile)
    until_ended(Following(workspace, PLACE, played))
    assert len(workspace.artefacts(run_id, "checkpoint")) == 2


def test_a_run_that_ends_while_it_is_looked_at_is_done(made, workspace, played):
    run_id = sent(workspace, played)
    works(workspace, played, run_id, made[1])
    played.standing = Standing(JobState.QUEUED)  # asked before the run began, and ended
    following = Following(workspace, PLACE, played)
    following.look()
    assert workspace.run(run_id).status == "done"
    played.standing = Standing(JobState.FINISHED)
    until_ended(following)
    assert (workspace.run(run_id).status, workspace.run(run_id).problem) == ("done", "")


def test_what_the_workspace_cannot_take_in_now_is_taken_in_later(made, workspace, played, monkeypatch):
    run_id = sent(workspace, played)
    works(workspace, played, run_id, made[1])
    played.standing = Standing(JobState.FINISHED)
    following = Following(workspace, PLACE, played)

    def full(workspace, folder):
        raise Problem("The disk is full.")

    with monkeypatch.context() as trouble:
        trouble.setattr("workbench.places.following.ingest", full)
        looked = following.look()
    assert (looked.left, looked.problems) == (1, (f"Run {run_id}: The disk is full.",))
    until_ended(following)
    assert (workspace.run(run_id).status, len(workspace.evaluations(run_id))) == ("done", 3)


def test_a_job_that_finished_is_what_its_journal_says(made, workspace, played):
    run_id = sent(workspace, played)
    works(workspace, played, run_id, made[1])
    following = Following(workspace, PLACE, played)
    following.look()
    sending.submit(workspace, [run_id], PLACE, played)  # by another program, which had not seen the end
    played.standing = Standing(JobState.FINISHED)
    until_ended(following)
    assert (workspace.run(run_id).status, workspace.run(run_id).problem) == ("done", "")


def test_many_runs_come_home_in_a_few_requests(made, workspace, played):
    numbers = [sent(workspace, played) for _ in range(12)]
    for run_id in numbers:
        works(workspace, played, run_id, made[1])
    played.standing = Standing(JobState.FINISHED)
    assert Following(workspace, PLACE, played).look().left == 0
    assert played.reads == 2  # journals with data sets, then what they name
    assert {(workspace.run(run_id).status, len(workspace.evaluations(run_id))) for run_id in numbers} == {("done", 3)}


def test_an_answer_without_room_for_all_is_asked_on(made, workspace, played):
    numbers = [sent(workspace, played) for _ in range(3)]
    for run_id in numbers:
        works(workspace, played, run_id, made[1])
    played.standing, played.room = Standing(JobState.FINISHED), 1000
    assert Following(workspace, PLACE, played).look().left == 0
    assert played.reads > len(numbers)
    assert {len(workspace.evaluations(run_id)) for run_id in numbers} == {3}


def test_what_came_before_a_connection_was_lost_is_kept(made, workspace, played):
    run_id = sent(workspace, played)
    journal = works(workspace, played, run_id, made[1]) / "journal.jsonl"
    following = Following(workspace, PLACE, played)
    for _ in range(3):
        played.cut = journal.stat().st_size // 4
        assert following.look().silent
    assert played.received < 4 * journal.stat().st_size
    assert len(workspace.scalars(run_id, "batch/loss")[0]) > 0


def test_of_very_many_runs_fewer_are_read_at_a_time_while_one_is_shown(workspace, played, monkeypatch):
    numbers = [sent(workspace, played) for _ in range(10)]
    monkeypatch.setattr(following_module, "IN_TURN", 4)
    monkeypatch.setattr(following_module, "LEAST_IN_TURN", 1)
    following, asked, read = Following(workspace, PLACE, played), [], played.read
    played.read = lambda parts: (asked.append({part.path.partition("/")[0] for part in parts}), read(parts))[1]

    def runs_of_a_look(shown: int) -> int:
        asked.clear()
        following.look(shown)
        return len(set.union(*asked))

    monkeypatch.setattr(following_module, "LONG_WORK", -1.0)  # whatever comes takes too long
    assert [runs_of_a_look(0), runs_of_a_look(numbers[0]), runs_of_a_look(numbers[0])] == [4, 5, 3]
    monkeypatch.setattr(following_module, "LONG_WORK", 1e9)
    assert [runs_of_a_look(0) for _ in range(4)][-1] == 4


def test_two_programs_follow_one_place_by_turns(made, workspace, played):
    run_id = sent(workspace, played)
    works(workspace, played, run_id, made[0])
    first, second = Following(workspace, PLACE, played), Following(workspace, PLACE, played)
    answers = []
    states = played.states
    played.states = lambda jobs: (answers.append(second.look().busy), states(jobs))[1]
    first.look()
    played.states = states
    assert answers == [True]
    assert not second.look().busy


def hostile(entry: object) -> bytes:
    return json.dumps(entry).encode() + b"\n"


@pytest.mark.parametrize(
    "journal",
    [
        b"\xff\xfe not JSON\n" * 100,
        b"[" * 100_000 + b"\n",
        hostile({"evaluation": {"epoch": 1, "step": 1, "distance": "l2", "metrics": {},
                                "files": {"../../../../evil.npy": [5, "00"], "embeddings-1.npy": [2**62, "00"]}}}),
        hostile({"evaluation": {"epoch": 1, "step": 1, "distance": "l2", "metrics": {},
                                "files": {"embeddings-1.npy": [4, "00"], "ranking-1.npz": [-1, "00"]}}}),
        hostile({"checkpoint": {"kind": "last", "step": 1, "bytes": 2**61, "blake2b": "/etc/passwd"}}),
        hostile({"run": {"status": "done", "problem": "<script>alert(1)</script>"}}),
        hostile({"owner": {"pid": 1, "host": "x" * 200, "born": 0}}),
    ],
)  # fmt: skip
def test_a_hostile_folder_ends_and_writes_nothing_outside(workspace, played, tmp_path, journal):
    run_id = sent(workspace, played)
    there = played.base / workspace.run(run_id).placement.uid
    (there / "journal.jsonl").write_bytes(journal)
    (there / "embeddings-1.npy").write_bytes(b"evil")
    (there / "dataset.json").write_text('{"samples": "none"}')
    played.standing = Standing(JobState.FINISHED)
    until_ended(Following(workspace, PLACE, played))
    outside = {path.name for path in tmp_path.rglob("*") if "evil" in path.name}
    assert outside == set()
    assert played.received < 10_000_000
    assert not (workspace.folder(run_id) / FOLDER).exists()


@pytest.mark.skipif(sys.platform == "win32", reason="the place has a POSIX shell")
def test_a_run_whose_folder_would_be_elsewhere_is_told_and_the_others_are_followed(made, workspace, played):
    hostile, run_id = sent(workspace, played), sent(workspace, played)
    works(workspace, played, run_id, made[1])
    with workspace.writing() as db:
        placements.store(db, replace(placements.required(db, hostile), uid="../../secret"))
    played.read = partial(host_files.read, LocalHost(played.base.parent), str(played.base))
    played.standing = Standing(JobState.FINISHED)
    following = Following(workspace, PLACE, played)
    assert following.look().problems == (
        f"Run {hostile}: '../../secret' is not a file of a run folder. It was not used.",
    )
    until_ended(following)
    assert workspace.run(run_id).status == "done"


def test_links_in_the_workspace_are_not_followed(made, workspace, played, tmp_path):
    run_id, letters = sent(workspace, played), tmp_path / "letters"
    works(workspace, played, run_id, made[0])
    letters.mkdir()
    (letters / "config.toml").write_text("mine")
    (workspace.folder(run_id) / FOLDER).symlink_to(letters)
    said = Following(workspace, PLACE, played).look().problems
    assert "is a link" in " ".join(said)
    assert [(path.name, path.read_text()) for path in letters.iterdir()] == [("config.toml", "mine")]
    lock = workspace.path / f".following-{PLACE.name}.lock"
    lock.unlink()
    lock.symlink_to(tmp_path / "new")
    with pytest.raises(Problem, match="is a link"):
        Following(workspace, PLACE, played).look()
    assert not (tmp_path / "new").exists()


def test_a_line_without_an_end_is_refused(workspace, played):
    run_id = sent(workspace, played)
    there = played.base / workspace.run(run_id).placement.uid
    (there / "journal.jsonl").write_bytes(b" " * (40 << 20))
    following = Following(workspace, PLACE, played)
    said = [following.look().problems for _ in range(2)]
    assert "no run writes" in " ".join(sum(said, ()))
    assert workspace.run(run_id).status == "queued"


def test_a_journal_without_an_end_is_refused(made, workspace, played, monkeypatch):
    run_id = sent(workspace, played)
    there = works(workspace, played, run_id, made[0])
    monkeypatch.setattr(mirror, "LARGEST_JOURNAL", 5000)
    (there / "journal.jsonl").write_bytes(b'{"note": "again"}\n' * 1000)
    assert "no run writes" in " ".join(Following(workspace, PLACE, played).look().problems)
    assert (workspace.folder(run_id) / FOLDER / "journal.jsonl").exists() is False


def test_a_run_whose_sending_was_ended_can_be_resumed(workspace, played, monkeypatch):
    (run_id,) = sending.prepare(workspace, RunConfig(name="a run"), PLACE)

    def pressed(orders):
        raise KeyboardInterrupt

    monkeypatch.setattr(played, "submit", pressed)
    with pytest.raises(KeyboardInterrupt):
        sending.submit(workspace, [run_id], PLACE, played)
    run = workspace.run(run_id)
    assert (run.status, run.resumable) == ("failed", True)
    assert "Whether it was started is not known; Resume finds out" in run.problem


def test_a_run_that_was_never_sent_can_be_resumed_and_not_ended(workspace, played, tmp_path, monkeypatch):
    """The program that sent it was killed."""
    monkeypatch.setenv("WORKBENCH_PLACES", str(tmp_path / "places"))
    monkeypatch.setattr(working, "launcher_of", lambda *_: played)
    records.store(PLACE)
    (run_id,) = sending.prepare(workspace, RunConfig(name="a run"), PLACE)
    with pytest.raises(Problem, match="was not started at box"):
        working.end(workspace, run_id, Ending.SAVED)
    working.resume(workspace, run_id)
    assert workspace.run(run_id).placement.job
    with pytest.raises(Problem, match="cannot be resumed"):
        working.resume(workspace, run_id)


def test_a_run_that_another_program_is_sending_is_not_sent_twice(workspace, played, tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_PLACES", str(tmp_path / "places"))
    monkeypatch.setattr(working, "launcher_of", lambda *_: played)
    records.store(PLACE)
    (run_id,) = sending.prepare(workspace, RunConfig(), PLACE)
    other = psutil.Process(os.getppid())
    with workspace.writing() as db:
        db.execute("update runs set pid = ?, born = ?", (other.pid, other.create_time()))
    with pytest.raises(Problem, match="is queued: it cannot be resumed"):
        working.resume(workspace, run_id)
    assert not list(tmp_path.glob("place/*"))


def test_a_run_whose_sender_ended_before_its_place_had_it_waits_for_nobody(workspace, played):
    (run_id,) = sending.prepare(workspace, RunConfig(name="a run"), PLACE)
    sent_before = sent(workspace, played)
    assert workspace.sweep_dead_runs() == []  # this process may be sending it
    with workspace.writing() as db:
        db.execute("update runs set born = born - 1000.5")
    assert workspace.sweep_dead_runs() == [run_id]
    run = workspace.run(run_id)
    assert (run.status, run.problem, run.resumable) == ("interrupted", ownership.UNSENT, True)
    assert workspace.run(sent_before).status == "queued"
    sending.submit(workspace, [run_id], PLACE, played)
    assert workspace.sweep_dead_runs() == []
    assert (workspace.run(run_id).status, workspace.run(run_id).problem) == ("queued", "")


def test_a_run_that_something_keeps_from_being_sent_does_not_wait(workspace, played, monkeypatch):
    (run_id,) = sending.prepare(workspace, RunConfig(name="a run"), PLACE)

    def broken(home):
        raise Problem("The disk has a fault.")

    monkeypatch.setattr(sending.journal, "last_state", broken)
    monkeypatch.setattr(played, "submit", lambda orders: pytest.fail("it was begun"))
    with pytest.raises(Problem, match="has a fault"):
        sending.submit(workspace, [run_id], PLACE, played)
    assert (workspace.run(run_id).status, workspace.run(run_id).problem) == (
        "failed", "It was not started: The disk has a fault.",
    )  # fmt: skip


def test_runs_beside_one_that_cannot_be_made_do_not_wait(workspace, monkeypatch):
    real, calls = sending.ingest, []

    def full(*values):
        calls.append(values)
        if len(calls) == 2:
            raise Problem("The disk is full.")
        return real(*values)

    monkeypatch.setattr(sending, "ingest", full)
    with pytest.raises(Problem, match="full"):
        sending.prepare(workspace, RunConfig(seeds=3), PLACE)
    (run,) = workspace.runs()
    assert (run.status, run.resumable) == ("failed", True)
    assert run.problem == "It was not sent, because a run beside it was not made: The disk is full."


def test_a_run_that_was_never_sent_has_no_checkpoints(workspace, tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_PLACES", str(tmp_path / "places"))
    records.store(PLACE)
    (run_id,) = sending.prepare(workspace, RunConfig(), PLACE)
    with pytest.raises(Problem, match=r"was not started at box\. There are no checkpoints there"):
        working.fetch_checkpoints(workspace, run_id)


def test_a_place_that_refuses_leaves_runs_that_can_be_resumed(workspace, played):
    played.gone = "box is not reached."
    (run_id,) = sending.prepare(workspace, RunConfig(), PLACE)
    with pytest.raises(Problem, match="not reached"):
        sending.submit(workspace, [run_id], PLACE, played)
    assert workspace.run(run_id).status == "failed"
    assert "Whether it was started is not known" in workspace.run(run_id).problem
    played.gone = ""
    sending.submit(workspace, [run_id], PLACE, played)
    assert (workspace.run(run_id).status, workspace.run(run_id).problem) == ("queued", "")


@pytest.mark.parametrize(("seeds", "words"), [(1, "Run 1 was not started; it is"), (2, "Runs 1 to 2 were not")])
def test_of_a_run_that_its_place_refused_nobody_says_that_nothing_is_left(workspace, played, monkeypatch, seeds, words):
    def refused(orders):
        raise Problem("Slurm refused the job: invalid account.", kept="Nothing was started.", todo="Name another.")

    monkeypatch.setattr(played, "submit", refused)
    numbers = sending.prepare(workspace, RunConfig(seeds=seeds), PLACE)
    with pytest.raises(Problem, match="refused the job") as raised:
        sending.submit(workspace, numbers, PLACE, played)
    assert "Nothing was started" not in str(raised.value)
    assert raised.value.kept.startswith(words)
    assert {run.problem for run in workspace.runs()} == {
        "It was not started: Slurm refused the job: invalid account. Name another."
    }


def test_seeds_are_one_experiment(workspace, played):
    numbers = sending.prepare(workspace, RunConfig(seeds=3), PLACE)
    sending.submit(workspace, numbers, PLACE, played)
    runs = [workspace.run(number) for number in numbers]
    assert len({run.experiment_id for run in runs}) == 1
    assert runs[0].experiment_id is not None
    assert [run.seed for run in runs] == [0, 1, 2]


def test_images_are_those_of_the_folder_that_the_person_named(made, workspace, played, tmp_path):
    place = PLACE.model_copy(update={"data": {str(tmp_path / "copy"): "/far"}})
    (tmp_path / "copy" / "sets" / "blobs").mkdir(parents=True)
    (tmp_path / "copy" / "sets" / "blobs" / "000.png").touch()
    run_id = sent(workspace, played)
    there = works(workspace, played, run_id, made[1])
    facts = json.loads((there / "dataset.json").read_text())
    (there / "dataset.json").write_text(json.dumps(facts | {"root": "/far/sets"}))
    played.standing = Standing(JobState.FINISHED)
    until_ended(Following(workspace, place, played))
    assert workspace.dataset(workspace.run(run_id).dataset_id).root == str(tmp_path / "copy" / "sets")


def test_paths_of_a_config_are_those_of_the_place(tmp_path):
    config = RunConfig.model_validate({"dataset": {"name": "folder", "folder": f"{tmp_path}/data/birds"}})
    with pytest.raises(sending.UnknownData, match="birds"):
        sending.translated(config, PLACE)
    known = PLACE.model_copy(update={"data": {str(tmp_path / "data"): "/big/data", str(tmp_path): "/other"}})
    assert sending.translated(config, known).dataset.params["folder"] == "/big/data/birds"


def test_a_sending_that_was_cancelled_can_be_resumed(workspace, played, monkeypatch):
    (run_id,) = sending.prepare(workspace, RunConfig(), PLACE)

    def submit(orders):
        raise Cancelled

    with monkeypatch.context() as patch:
        patch.setattr(played, "submit", submit)
        with pytest.raises(Cancelled):
            sending.submit(workspace, [run_id], PLACE, played)
    run = workspace.run(run_id)
    assert run.status == "failed"
    assert run.problem == "Whether it was started is not known; Resume finds out: Sending it was cancelled."
    assert run.resumable
    sending.submit(workspace, [run_id], PLACE, played)
    assert workspace.run(run_id).status == "queued"


@pytest.mark.parametrize("ask", [partial(working.end, how=Ending.SAVED), working.resume])
def test_a_request_to_a_place_hears_its_cancel_while_it_waits(workspace, played, monkeypatch, ask):
    monkeypatch.setattr(working.records, "existing", lambda name: PLACE)
    monkeypatch.setattr(working, "launcher_of", lambda place, cancelled: asked.append(cancelled()) or played)
    asked = []
    (run_id,) = sending.prepare(workspace, RunConfig(), PLACE)
    sending.submit(workspace, [run_id], PLACE, played)
    with workspace.writing() as db:
        placements.end(db, run_id, "interrupted", "")
    ask(workspace, run_id, cancelled=lambda: True)
    assert asked == [True]
