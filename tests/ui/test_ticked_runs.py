"""What is done to all ticked runs at once: the trash and back, tags, and the end."""

import pytest
from PySide6.QtWidgets import QMessageBox

from workbench.config import RunConfig
from workbench.control import Control
from workbench.ui.window.frame.message_bar import MessageBar
from workbench.ui.window.runs.trash_message import TrashMessage
from workbench.workspace import Workspace
from workbench.workspace.database.problems import Full

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints|does not support raise", extend=True)
LAST = 4  # the number of the newest run, which trains


@pytest.fixture
def ticked(session, workspace, config, actions):
    """Three ended runs and one that trains, all ticked."""
    runs = [workspace.create_run(config) for _ in range(LAST)]
    for run_id in runs:
        workspace.set_status(run_id, "running" if run_id == LAST else "done")
    session.follower.look()
    session.ticks.choose(runs)
    return runs


def numbers(runs):
    return {run.id for run in runs}


def test_without_a_ticked_run_the_actions_are_not_shown(session, actions, ticked):
    several = actions.ticked
    of_ticked = (actions.trash.move_ticked, several.tags, several.end, several.colour, several.again.action)
    assert [action.isVisible() for action in of_ticked] == [True] * 5
    session.ticks.choose([])
    assert [action.isVisible() for action in of_ticked] == [False] * 5


def test_what_is_rare_has_menus_of_its_own_so_that_the_menu_fits_a_small_screen(session, actions, ticked):
    shown = [action for action in actions.of_list if action.isVisible()]
    assert len(shown) <= 24, "a row has about 26 px, a small screen 720"
    assert actions.trash.move_ticked in actions.of_ticked.menu().actions()
    assert actions.trash.empty in actions.of_trash.menu().actions()
    session.ticks.choose([])
    assert not actions.of_ticked.isVisible()


def test_titles_say_how_many_runs_they_are_about(actions, ticked):
    assert actions.trash.move_ticked.text() == "Move 3 ticked runs to trash"
    assert actions.ticked.tags.text() == "Tags of 4 ticked runs…"
    assert not actions.ticked.end.isEnabled(), "the run that trains is another program's"


def test_ticked_runs_go_to_the_trash_and_one_undo_brings_them_back_ticked(session, actions, ticked):
    session.show_run(2)
    actions.trash.move_ticked.trigger()
    session.follower.look()
    assert (numbers(session.runs()), numbers(session.trashed_runs())) == ({LAST}, {1, 2, 3})
    assert (session.run_id, session.ticks.runs) == (None, {LAST})
    assert actions.undo_stack.undoText() == "move of 3 runs to the trash"
    actions.undo_stack.undo()
    session.follower.look()
    assert numbers(session.runs()) == session.ticks.runs == {1, 2, 3, LAST}
    actions.undo_stack.redo()
    session.follower.look()
    assert numbers(session.trashed_runs()) == {1, 2, 3}


def test_the_message_of_several_runs_has_one_undo(qtbot, session, actions, ticked):
    bar = qtbot.addWidget(MessageBar())
    told = TrashMessage(session, bar, actions.trash.undo, bar)
    actions.trash.move_ticked.trigger()
    session.follower.look()
    assert bar.what.text().startswith("“Counting”, “Counting” and “Counting” are in the trash")
    bar.undo.click()
    session.follower.look()
    assert told.parent() is bar
    assert (session.trashed_runs(), bar.isHidden()) == ([], True)
    assert not actions.undo_stack.canUndo() or "trash" not in actions.undo_stack.undoText()


def test_runs_that_began_to_work_meanwhile_stay_and_it_is_said(qtbot, session, workspace, actions, ticked, said):
    workspace.set_status(2, "running")
    actions.trash.move_ticked.trigger()
    qtbot.waitUntil(lambda: bool(said))
    session.follower.look()
    assert said == ["Of 3 runs 1 was not moved to the trash: it is running, or has been deleted."]
    assert numbers(session.trashed_runs()) == {1, 3}


def test_ticked_runs_that_all_work_cannot_be_moved(session, actions, ticked):
    session.ticks.choose([LAST])
    actions.refresh()
    assert (actions.trash.move_ticked.text(), actions.trash.move_ticked.isEnabled()) == (
        "Move ticked runs to trash",
        False,
    )


def test_a_move_that_cannot_be_done_again_says_why(session, workspace, actions, ticked, said):
    actions.trash.move_ticked.trigger()
    session.follower.look()
    actions.undo_stack.undo()
    session.follower.look()
    assert session.run_id == 3, "the newest of those that came back"
    for run_id in (1, 2, 3):
        workspace.set_status(run_id, "running")
    actions.undo_stack.redo()
    session.follower.look()
    assert session.trashed_runs() == []
    assert len(said) == 1
    assert said[0].endswith("None of 3 runs can be moved: they are training, or no longer exist.")


def test_runs_that_are_all_gone_cannot_be_brought_back_and_it_is_said(session, workspace, actions, ticked, said):
    actions.trash.move_ticked.trigger()
    session.follower.look()
    workspace.empty_trash()
    actions.trash.bring_back([1, 2, 3])
    assert said == ["None of 3 runs exists any more."]
    assert session.run_id is None


def test_a_restore_by_command_of_what_was_moved_last_can_be_done_again(session, actions, ticked, said):
    actions.trash.move_ticked.trigger()
    session.follower.look()
    actions.refresh()
    actions.trash.restore_all.trigger()
    session.follower.look()
    assert session.trashed_runs() == []
    actions.undo_stack.redo()
    session.follower.look()
    assert numbers(session.trashed_runs()) == {1, 2, 3}
    assert said == []


def test_ticked_runs_that_a_full_disk_does_not_let_into_the_trash_are_offered_to_be_deleted(
    qtbot, session, workspace, actions, ticked, monkeypatch
):
    asked = []

    def full(run_ids):
        raise Full(workspace.database)

    def answer(box):
        asked.append(f"{box.text()} {box.informativeText()}")
        next(button for button in box.buttons() if button.text() == "Delete").click()

    monkeypatch.setattr(workspace, "trash_several", full)
    monkeypatch.setattr(QMessageBox, "exec", answer)
    actions.trash.move_ticked.trigger()
    qtbot.waitUntil(lambda: [run.id for run in workspace.runs()] == [LAST])
    assert asked == [
        "Delete 3 runs permanently? The disk is full: they cannot be moved to the trash. Their curves, evaluations, "
        "maps and checkpoints are deleted. This cannot be undone."
    ]


def test_of_runs_that_were_deleted_since_the_others_come_back(session, workspace, actions, ticked):
    actions.trash.move_ticked.trigger()
    session.follower.look()
    workspace.delete(2)
    session.follower.look()
    actions.undo_stack.undo()
    session.follower.look()
    assert numbers(session.runs()) == {1, 3, LAST}


def test_the_step_goes_with_the_last_of_its_runs(session, workspace, actions, ticked):
    actions.trash.move_ticked.trigger()
    session.follower.look()
    workspace.empty_trash()
    session.follower.look()
    assert "trash" not in actions.undo_stack.undoText()


def test_all_runs_in_the_trash_are_restored_at_once(session, workspace, actions, ticked):
    workspace.trash_several([1, 2, 3])
    session.follower.look()
    actions.refresh()
    actions.trash.restore_all.trigger()
    session.follower.look()
    assert (numbers(session.runs()), session.trashed_runs()) == ({1, 2, 3, LAST}, [])
    actions.refresh()
    assert not actions.trash.restore_all.isEnabled()


def test_tags_that_all_have_are_changed_and_those_of_some_stay(session, workspace, actions, ticked, monkeypatch):
    asked = []

    def answer(parent, title, words, *, text, explanation, adds):
        asked.append((words, text, explanation))
        return "new, best"

    monkeypatch.setattr("workbench.ui.actions.ticked_actions.ask_line", answer)
    for run_id, tags in {1: ["old", "best"], 2: ["old"], 3: ["old", "mine"], LAST: ["old"]}.items():
        workspace.set_tags(run_id, tags)
    session.follower.look()
    actions.ticked.tags.trigger()
    session.follower.look()
    assert asked == [
        (
            "Tags that all of 4 ticked runs have, separated by commas",
            "old",
            "Only some of them have best, mine: that stays.",
        )
    ]
    tags = {run.id: run.tags for run in session.runs()}
    assert tags == {1: ("best", "new"), 2: ("best", "new"), 3: ("best", "mine", "new"), LAST: ("best", "new")}
    actions.undo_stack.undo()
    session.follower.look()
    tags = {run.id: run.tags for run in session.runs()}
    assert tags == {1: ("best", "old"), 2: ("old",), 3: ("mine", "old"), LAST: ("old",)}


def test_ticked_runs_are_ended_the_queued_ones_first(qtbot, session, actions, ticked, monkeypatch):
    ended = []
    control = Control()
    monkeypatch.setattr(session.queue, "control", lambda run_id: control if run_id in (1, 2, 3) else None)
    monkeypatch.setattr(session.queue, "end", ended.append)
    monkeypatch.setattr(type(session.queue), "waiting", property(lambda _: [2, 3]))
    actions.refresh()
    assert actions.ticked.end.text() == "End 3 ticked runs now…"
    actions.ticked.end.trigger()
    assert ended == []
    assert actions.ticked.ask.answers["stop"].text() == "Stop now, keep the curves", "no epoch is finished"
    assert "a run cannot be resumed" in actions.ticked.ask.words.text()
    actions.ticked.ask.answers["stop"].click()
    assert set(ended[:2]) == {2, 3}
    assert ended[2:] == [1]


def test_ticked_runs_go_on_where_the_answer_is_to_keep_them(session, actions, ticked, monkeypatch):
    ended = []
    monkeypatch.setattr(session.queue, "control", lambda run_id: Control() if run_id == 1 else None)
    monkeypatch.setattr(session.queue, "end", ended.append)
    actions.refresh()
    actions.ticked.end.trigger()
    actions.ticked.ask.reject()
    assert ended == []
    assert actions.ticked.ask is None


def colours(session):
    return [run.colour for run in sorted(session.runs(), key=lambda run: run.id)]


def test_ticked_runs_get_one_colour_and_undo_brings_back_their_own(session, actions, ticked):
    before = colours(session)
    session.ticks.choose([1, 2, LAST])
    assert actions.ticked.colour.text() == "Colour of 3 ticked runs"
    actions.ticked.colour.menu().actions()[5].trigger()
    session.follower.look()
    assert colours(session) == [5, 5, before[2], 5]
    assert actions.undo_stack.undoText() == "colour of 3 runs"
    actions.undo_stack.undo()
    session.follower.look()
    assert colours(session) == before
    actions.undo_stack.redo()
    session.follower.look()
    assert colours(session) == [5, 5, before[2], 5]


def test_the_colour_of_the_shown_run_can_be_undone(session, actions, ticked):
    before = colours(session)
    session.show_run(2)
    actions.colour.menu().actions()[0].trigger()
    session.follower.look()
    assert colours(session)[1] == 0
    actions.undo_stack.undo()
    session.follower.look()
    assert colours(session) == before


@pytest.fixture
def answers(monkeypatch):
    """What is typed into the next questions for settings; and what these said."""
    typed, said = [], []

    def ask(parent, title, words, *, text, verb, explanation):
        said.append((words, text, verb, explanation))
        return typed.pop(0)

    monkeypatch.setattr("workbench.ui.actions.train_again.ask_lines", ask)
    return typed, said


def test_ticked_runs_are_queued_again_with_a_changed_setting(
    qtbot, session, workspace, actions, ticked, answers, monkeypatch
):
    queued, noticed = [], []
    monkeypatch.setattr(session.queue, "add", lambda run_id, alone: queued.append(run_id))
    session.mentioned.connect(lambda message: noticed.append(str(message)))
    for run_id, lr in ((5, 0.1), (6, 0.2)):
        workspace.create_run(RunConfig.model_validate({"name": f"Run {run_id}", "training": {"lr": lr}}))
    session.follower.look()
    session.ticks.choose([5, 6])
    typed, said = answers
    typed.append("seed=9\n\n training.epochs=2 ")
    actions.ticked.again.action.trigger()
    qtbot.waitUntil(lambda: bool(noticed))
    assert said[0][:3] == ("Settings that change in 2 runs", "", "Queue 2 runs")
    assert noticed == ["Queued 2 runs."]
    assert queued == [7, 8]
    made = [RunConfig.from_toml_text(workspace.run(run_id).config) for run_id in queued]
    assert [(config.seed, config.training.epochs, config.training.lr) for config in made] == [(9, 2, 0.1), (9, 2, 0.2)]
    assert [config.name for config in made] == ["Run 5, seed 9, epochs 2", "Run 6, seed 9, epochs 2"]


def test_runs_that_become_alike_are_queued_once(qtbot, session, workspace, actions, ticked, answers, monkeypatch):
    noticed = []
    monkeypatch.setattr(session.queue, "add", lambda run_id, alone: None)
    session.mentioned.connect(lambda message: noticed.append(str(message)))
    typed, said = answers
    typed += ["", ""]
    actions.ticked.again.action.trigger()
    qtbot.waitUntil(lambda: bool(noticed))
    assert noticed == ["Queued 1 run. 3 others would have had the same settings."]
    assert len(workspace.runs()) == LAST + 1
    _, _, verb, explanation = said[1]
    assert verb == "Queue 1 run"
    assert explanation.startswith(
        "3 of these 4 runs would have the same settings and seed as another one, and would not be trained: 1 run would "
        "be queued."
    )


@pytest.mark.parametrize("seeds", ["seed=5", "seed+=5"])
def test_one_seed_for_the_seeds_of_an_experiment_is_asked_about_first(
    qtbot, session, workspace, actions, ticked, answers, monkeypatch, seeds
):
    """Cancelled, nothing is queued. A number that is added keeps the seeds apart, and nothing is asked."""
    noticed = []
    monkeypatch.setattr(session.queue, "add", lambda run_id, alone: None)
    session.mentioned.connect(lambda message: noticed.append(str(message)))
    numbers = [workspace.create_run(RunConfig.model_validate({"seed": seed})) for seed in (0, 1, 2)]
    session.follower.look()
    session.ticks.choose(numbers)
    before = len(workspace.runs())
    typed, said = answers
    typed += [seeds, None]
    actions.ticked.again.action.trigger()
    if seeds == "seed=5":
        qtbot.waitUntil(lambda: len(said) == 2)
        assert said[1][1:3] == ("seed=5", "Queue 1 run")
        assert said[1][3].startswith("2 of these 3 runs would have the same settings and seed as another one")
        assert (noticed, len(workspace.runs())) == ([], before)
    else:
        qtbot.waitUntil(lambda: bool(noticed))
        made = sorted(RunConfig.from_toml_text(run.config).seed for run in workspace.runs()[:3])
        assert (len(said), made) == (1, [5, 6, 7])


def test_a_wrong_setting_queues_nothing_and_is_asked_for_again(qtbot, session, workspace, actions, ticked, answers):
    typed, said = answers
    typed += ["training.lr=much", None]
    actions.ticked.again.action.trigger()
    qtbot.waitUntil(lambda: len(said) == 2)
    _, text, _, explanation = said[1]
    assert text == "training.lr=much"
    assert explanation.startswith("The config of “Counting” cannot be used. training.lr: Must be a number.")
    assert len(workspace.runs()) == LAST


def test_runs_of_other_programs_are_not_trained_again(session, workspace, actions, ticked):
    with workspace.writing() as db:
        db.execute("""update runs set environment = '{"imported": {"embeddings": "a.npy"}}' where id = 1""")
    session.follower.look()
    actions.refresh()
    assert actions.ticked.again.action.text() == "Train 3 ticked runs again…"
    session.ticks.choose([1])
    assert not actions.ticked.again.action.isEnabled()


def test_a_second_end_does_not_ask_twice_and_another_workspace_ends_the_question(
    session, actions, ticked, tmp_path, monkeypatch
):
    ended = []
    monkeypatch.setattr(session.queue, "control", lambda run_id: Control() if run_id == 1 else None)
    monkeypatch.setattr(session.queue, "end", ended.append)
    actions.refresh()
    actions.ticked.end.trigger()
    ask = actions.ticked.ask
    assert ask.isVisible()
    actions.ticked.end.trigger()
    assert actions.ticked.ask is ask
    session.open_workspace(Workspace(tmp_path / "other", create=True))
    assert actions.ticked.ask is None, "there others have their numbers"
    assert ended == []


@pytest.fixture
def answered(session, workspace, actions, ticked, monkeypatch):
    """answered(text): the tags of the ticked runs after `text` was given, or left with None; all had "old"."""
    for run_id in ticked:
        workspace.set_tags(run_id, ["old"])
    session.follower.look()

    def tags_after(text):
        monkeypatch.setattr("workbench.ui.actions.ticked_actions.ask_line", lambda *_, **__: text)
        actions.ticked.tags.trigger()
        session.follower.look()
        return {run.tags for run in session.runs()}

    return tags_after


@pytest.mark.parametrize("text", [None, " old ,, "])
def test_tags_that_are_left_as_they_were_are_no_step(actions, answered, text):
    before = actions.undo_stack.count()
    assert answered(text) == {("old",)}
    assert actions.undo_stack.count() == before


@pytest.mark.parametrize(("text", "tags"), [("old, new", ("new", "old")), ("", ())])
def test_tags_that_are_only_given_or_only_taken_can_be_undone(session, actions, answered, text, tags):
    assert answered(text) == {tags}
    actions.undo_stack.undo()
    session.follower.look()
    assert {run.tags for run in session.runs()} == {("old",)}


def test_no_runs_of_another_workspace_get_tags(session, config, actions, ticked, tmp_path, monkeypatch):
    other = Workspace(tmp_path / "other", create=True)
    other.create_run(config)

    def written(*_, **__):
        session.open_workspace(other)
        return "mine"

    monkeypatch.setattr("workbench.ui.actions.ticked_actions.ask_line", written)
    actions.ticked.tags.trigger()
    session.follower.look()
    assert other.run(1).tags == ()
    assert not actions.undo_stack.canUndo()
