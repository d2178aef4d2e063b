"""Checkpoints are deleted from the list of runs: a question says what is freed and lost, and what stays."""

import pytest

from workbench.config import RunConfig
from workbench.workspace import Workspace

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints|does not support raise", extend=True)
MB = 1_000_000
LAST = 4  # the number of the newest run, which trains


@pytest.fixture
def runs(session, workspace, config):
    """Three ended runs and one that trains; all have checkpoints."""
    made = [workspace.create_run(config) for _ in range(LAST)]
    for run_id in made:
        workspace.file(run_id, "last.pt").write_bytes(bytes(2 * MB))
        workspace.file(run_id, "best.pt").write_bytes(bytes(MB))
        workspace.set_status(run_id, "running" if run_id == LAST else "stopped")
    session.follower.look()
    return made


@pytest.fixture
def said(session):
    heard = []
    session.noticed.connect(lambda message: heard.append(str(message).replace("\u202f", " ")))
    return heard


def plain(text):
    return text.replace("\u202f", " ")


def asked(qtbot, actions, action):
    """The question, once it is open."""
    action.trigger()
    qtbot.waitUntil(lambda: actions.checkpoints.ask is not None)
    return actions.checkpoints.ask


def test_all_checkpoints_of_the_shown_run_are_deleted_after_a_yes(qtbot, session, workspace, actions, runs, said):
    session.show_run(1)
    question = asked(qtbot, actions, actions.checkpoints.delete)
    words = {key: plain(answer.text()) for key, answer in question.answers.items()}
    assert words == {"keep": "Keep them", "last": "Keep the best, free 2 MB", "all": "Delete all, free 3 MB"}
    assert "cannot be resumed" in question.words.text()
    assert "Curves, evaluations, neighbours, maps and reports stay." in question.words.text()
    question.answers["all"].click()
    qtbot.waitUntil(lambda: bool(said))
    assert said == ["Freed 3 MB: the checkpoints of 1 run."]
    assert not workspace.has_file(1, "best.pt")
    assert workspace.has_file(2, "last.pt")


def test_a_run_of_which_the_best_one_is_kept_says_why_it_does_not_resume(
    qtbot, session, workspace, actions, runs, said
):
    session.show_run(1)
    qtbot.waitUntil(session.can_resume)
    asked(qtbot, actions, actions.checkpoints.delete).answers["last"].click()
    qtbot.waitUntil(lambda: said == ["Freed 2 MB: the last checkpoint of 1 run."])
    session.follower.look()
    qtbot.waitUntil(lambda: not session.can_resume())
    assert session.why_not_resumed().startswith("Its last checkpoint was deleted on 20")
    assert workspace.has_file(1, "best.pt")
    session.show_run(2)
    qtbot.waitUntil(session.can_resume)
    assert session.why_not_resumed() == ""


def test_a_run_of_which_none_is_kept_does_not_speak_of_the_last_one_alone(qtbot, session, actions, runs, said):
    session.show_run(1)
    qtbot.waitUntil(session.can_resume)
    asked(qtbot, actions, actions.checkpoints.delete).answers["all"].click()
    qtbot.waitUntil(lambda: bool(said))
    session.follower.look()
    qtbot.waitUntil(lambda: not session.can_resume())
    assert session.why_not_resumed().startswith("Its checkpoints were deleted on 20")


def test_a_run_whose_checkpoints_are_missing_says_that_it_cannot_be_resumed(qtbot, session, workspace, runs):
    for name in ("last.pt", "best.pt"):
        workspace.add_artefact(1, "checkpoint", workspace.file(1, name), 1)
        workspace.file(1, name).unlink()
        workspace.file(2, name).unlink()
    session.show_run(1)
    qtbot.waitUntil(lambda: session.why_not_resumed() != "")
    assert session.why_not_resumed() == "Its checkpoints are missing."
    assert not session.can_resume()
    session.show_run(2)  # it never saved one
    session.follower.look()
    qtbot.waitUntil(lambda: session.why_not_resumed() == "")


def test_the_safe_answer_deletes_nothing(qtbot, session, workspace, actions, runs):
    session.show_run(1)
    question = asked(qtbot, actions, actions.checkpoints.delete)
    assert question.answers["keep"].isDefault()
    question.reject()
    qtbot.waitUntil(lambda: actions.checkpoints.ask is None)
    assert workspace.has_file(1, "last.pt")


def test_of_ticked_runs_the_one_that_trains_is_left_out(qtbot, session, workspace, actions, runs, said):
    session.ticks.choose(runs)
    assert actions.checkpoints.delete_ticked.text() == "Delete checkpoints of 3 ticked runs…"
    asked(qtbot, actions, actions.checkpoints.delete_ticked).answers["all"].click()
    qtbot.waitUntil(lambda: said == ["Freed 9 MB: the checkpoints of 3 runs."])
    assert [workspace.has_file(run_id, "last.pt") for run_id in runs] == [False, False, False, True]


def test_a_run_that_another_window_resumed_while_the_question_was_open_keeps_them(
    qtbot, session, workspace, actions, runs, said
):
    session.ticks.choose([1, 2])
    question = asked(qtbot, actions, actions.checkpoints.delete_ticked)
    with Workspace(workspace.path) as other:
        other.take_over(2)
    question.answers["all"].click()
    qtbot.waitUntil(lambda: bool(said))
    assert said == ["Freed 3 MB: the checkpoints of 1 run. Run 2 has not ended: it is queued."]
    assert workspace.has_file(2, "last.pt")


def test_without_a_checkpoint_there_is_no_question(qtbot, session, workspace, actions, runs, said):
    workspace.delete_checkpoints([1])
    session.show_run(1)
    actions.checkpoints.delete.trigger()
    qtbot.waitUntil(lambda: said == ["There is no checkpoint to delete."])
    assert actions.checkpoints.ask is None


def test_it_is_offered_only_for_a_run_that_has_ended(qtbot, session, workspace, actions, runs):
    session.show_run(LAST)
    assert not actions.checkpoints.delete.isEnabled()
    assert "end it first" in actions.checkpoints.delete.toolTip()
    session.show_run(1)
    assert actions.checkpoints.delete.isEnabled()
    workspace.trash(1)
    session.follower.look()
    session.show_run(1)
    assert not actions.checkpoints.delete.isEnabled()


def test_another_workspace_takes_the_question_away(qtbot, session, workspace, tmp_path, actions, runs):
    workspace.set_status(LAST, "stopped")
    session.show_run(1)
    asked(qtbot, actions, actions.checkpoints.delete)
    other = Workspace(tmp_path / "other", create=True)
    run_id = other.create_run(RunConfig())
    other.file(run_id, "last.pt").write_bytes(bytes(MB))
    session.open_workspace(other)
    assert actions.checkpoints.ask is None
    assert other.has_file(run_id, "last.pt")
