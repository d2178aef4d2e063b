"""Two windows on one workspace: what is changed in one is shown in the other, and neither loses what the other wrote.

The other window is its writes, through a connection of its own.
"""

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtGui import QGuiApplication, QUndoStack
from PySide6.QtWidgets import QFileDialog, QMessageBox

from tests.ui.browsed import open_trained
from tests.ui.small_run import blobs, store_run
from tests.ui.trained import trained_run
from workbench.problem import Problem
from workbench.reports.templates import merged, offered, templates
from workbench.ui.actions.run_actions import RunActions
from workbench.ui.pages.map.selecting.selection_store import SelectionStore
from workbench.ui.pages.report.page import ReportPage
from workbench.ui.pages.retrieval.triage.panel import TriagePanel
from workbench.ui.pages.train.page import TrainPage
from workbench.ui.state.commands import Commands
from workbench.ui.state.concern import EVERYWHERE
from workbench.ui.window.main_window import MainWindow
from workbench.workspace import Workspace
from workbench.workspace.choices import report_templates, saved_views, selections
from workbench.workspace.choices.label_decisions import DROP, KEEP, Decision, all_decisions, decide
from workbench.workspace.choices.sample_tags import tag_sample

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


@pytest.fixture
def other(session):
    """The workspace as another window has it."""
    with Workspace(session.workspace.path) as opened:
        yield opened


@pytest.fixture
def actions(qtbot, session, config):
    """The actions on the shown run."""
    window = qtbot.addWidget(QFileDialog())
    session.show_run(session.workspace.create_run(config))
    session.follower.look()
    return RunActions(session, Commands(session.preferences, window), window)


def test_the_shown_run_that_another_window_moved_to_the_trash_says_so(qtbot, session, actions, other):
    page = qtbot.addWidget(TrainPage(session))
    page.show()
    other.set_status(1, "done")
    other.trash(1)
    qtbot.waitUntil(lambda: page.header.state.text() == "In the trash · Done")
    other.restore(1)
    qtbot.waitUntil(lambda: page.header.state.text() == "Done")


def test_tags_that_another_window_gave_meanwhile_stay(qtbot, session, actions, other, monkeypatch):
    other.set_tags(1, ["red", "old"])
    qtbot.waitUntil(lambda: session.run(1).tags == ("old", "red"))

    def written(*_, text, **__):
        other.set_tags(1, ["red", "old", "green"])
        return text.replace("old, ", "") + ", blue"

    monkeypatch.setattr("workbench.ui.actions.run_actions.ask_line", written)
    actions.tags.trigger()
    qtbot.waitUntil(lambda: other.run(1).tags == ("blue", "green", "red"))


@pytest.mark.parametrize(
    ("shown", "meanwhile", "kept"),
    [
        ("", "theirs", "mine\ntheirs"),
        ("first", "first\nby the run", "mine\nby the run"),
        ("first", "theirs", "mine\ntheirs"),
        ("first", "first", "mine"),
        ("first", "mine", "mine"),
        ("first", "", "mine"),
    ],
)
def test_a_note_that_was_changed_meanwhile_is_kept_below(
    qtbot, session, actions, other, monkeypatch, shown, meanwhile, kept
):
    other.set_note(1, shown)
    qtbot.waitUntil(lambda: session.run(1).note == shown)

    def written(*_, **__):
        other.set_note(1, meanwhile)
        return "mine"

    monkeypatch.setattr("workbench.ui.actions.run_actions.ask_lines", written)
    said = []
    session.noticed.connect(said.append)
    actions.note.trigger()
    qtbot.waitUntil(lambda: other.run(1).note == kept)
    qtbot.waitUntil(lambda: len(said) == ("\n" in kept))


def test_only_the_runs_that_the_question_was_about_are_deleted(qtbot, session, actions, other, config, monkeypatch):
    gone, back, later = 1, other.create_run(config), other.create_run(config)
    for run in (gone, back):
        other.trash(run)
    qtbot.waitUntil(lambda: len(session.trashed_runs()) == 2)

    def answer(box):
        other.trash(later)
        other.restore(back)
        next(button for button in box.buttons() if button.text() == "Delete").click()

    monkeypatch.setattr(QMessageBox, "exec", answer)
    actions.trash.empty.trigger()
    qtbot.waitUntil(lambda: len(other.runs()) + len(other.runs(trashed=True)) == 2)
    assert [[run.id for run in other.runs(trashed)] for trashed in (False, True)] == [[back], [later]]


def test_undo_leaves_a_name_that_another_window_has_given_since(qtbot, session, actions, other, said):
    stack = actions.undo_stack
    actions.give_name(1, "Mine")
    other.rename(1, "Theirs")
    stack.undo()
    assert other.run(1).name == "Theirs"
    assert said == [
        "The rename of “Counting” was not undone. The run was renamed “Theirs” meanwhile by another window or a "
        "command."
    ]
    assert not stack.canUndo()
    assert not stack.canRedo(), "the step is not offered again"


def test_a_redone_name_leaves_one_that_another_window_has_given_since(session, actions, other, said):
    actions.give_name(1, "Mine")
    actions.undo_stack.undo()
    assert other.run(1).name == "Counting"
    other.rename(1, "Theirs")
    actions.undo_stack.redo()
    assert other.run(1).name == "Theirs"
    assert "was not redone" in said[0]


def test_undo_brings_back_the_name_that_another_window_gave_while_one_was_typed(session, actions, other, said):
    other.rename(1, "Theirs")
    actions.give_name(1, "Mine")
    assert other.run(1).name == "Mine"
    assert said == ["The run was renamed “Theirs” meanwhile by another window or a command. Now it is “Mine”."]
    actions.undo_stack.undo()
    assert other.run(1).name == "Theirs"


def test_a_run_that_another_window_has_deleted_keeps_nothing_and_undo_says_so(
    qtbot, session, actions, other, said, slow_changes, monkeypatch
):
    actions.give_name(1, "Mine")
    qtbot.waitUntil(lambda: actions.undo_stack.canUndo())

    def deleted(*_, **__):
        session.follower.look()
        session.follower.stop()  # the deletion is not heard of yet
        other.trash(1)
        other.delete(1)
        return "mine"

    monkeypatch.setattr("workbench.ui.actions.run_actions.ask_lines", deleted)
    actions.note.trigger()
    gone = "Run 1 no longer exists: it was permanently deleted by another window or a command."
    qtbot.waitUntil(lambda: said == [f"{gone} Nothing was changed. The note is not stored; Copy copies it."])
    with pytest.raises(Problem, match=gone):
        session.workspace.set_tags(1, ["a"])
    actions.undo_stack.undo()
    qtbot.waitUntil(lambda: said[1:] == [f"The rename of “Counting” was not undone. {gone} Nothing was changed."])
    qtbot.waitUntil(lambda: not actions.undo_stack.canRedo())


def test_a_note_that_could_not_be_stored_stays_in_the_message_and_can_be_copied(
    qtbot, session, workspace, config, monkeypatch
):
    other_run = workspace.create_run(config)
    session.show_run(workspace.create_run(config))
    session.follower.look()
    window = qtbot.addWidget(MainWindow(session))

    def deleted(*_, **__):
        session.follower.look()
        session.follower.stop()
        workspace.trash(session.run_id)
        workspace.delete(session.run_id)
        return "seen at night\nand once more"

    monkeypatch.setattr("workbench.ui.actions.run_actions.ask_lines", deleted)
    window.run_actions.note.trigger()
    bar = window.message
    qtbot.waitUntil(lambda: "no longer exists" in bar.what.text())
    session.notify("The run that was shown was deleted by another window or a command.", EVERYWHERE)
    session.show_run(other_run)
    bar.close_button.click()
    assert "no longer exists" in bar.what.text(), "a later message does not take the text away"
    assert "Copy copies it" in bar.rest.text()
    bar.copy.click()
    assert QGuiApplication.clipboard().text().endswith("seen at night\nand once more")


def test_undo_of_a_move_to_the_trash_says_that_the_run_was_deleted(qtbot, session, actions, other, said):
    session.trash_run(1)
    other.delete(1)
    actions.undo_stack.undo()
    assert "was not undone. Run 1 no longer exists" in said[0]
    assert session.run_id is None


def test_undo_of_an_untick_says_that_the_run_is_not_listed_any_more(session, actions, other, said):
    session.ticks.choose([1])
    session.ticks.choose([])
    other.trash(1)
    session.follower.look()
    actions.undo_stack.undo()
    assert said == ["The untick of 1 run was not undone. No longer in the list: 1 run."]
    actions.undo_stack.undo()
    assert len(said) == 1, "no run was ticked before the first step"


# What a person decided


@pytest.fixture
def triage(qtbot, session, workspace):
    """Label triage with several suspects."""
    labels = np.repeat(np.arange(3), 12)
    table = blobs(labels, 0.4, 1, width=16)
    for row in (3, 5, 7):
        table[row] = table[20] * 0.8 + table[row] * 0.2
    session.show_run(store_run(workspace, labels, embeddings=[table]).run_id)
    panel = qtbot.shown(TriagePanel(session))
    qtbot.waitUntil(lambda: panel.model.triage is not None)
    return panel


@pytest.fixture
def report(qtbot, session, workspace, tmp_path):
    """The Report page of a trained run, and what it says."""
    run_id = trained_run(workspace, tmp_path / "cache")
    page = qtbot.addWidget(ReportPage(session))
    session.show_run(run_id)
    qtbot.waitUntil(lambda: page.ready)
    return page


def test_decisions_of_another_window_are_shown_and_not_taken_back_here(qtbot, triage, other):
    model = triage.model
    number, (mine, theirs) = model.triage.dataset_id, [suspect.sample_id for suspect in model.listed[:2]]
    triage.answer(KEEP)
    decide(other, number, [Decision(mine, DROP), Decision(theirs, KEEP)])
    qtbot.waitUntil(lambda: model.triage.decisions.get(mine) == Decision(mine, DROP))
    assert model.triage.decisions[theirs] == Decision(theirs, KEEP)
    assert model.current.sample_id == theirs, "the person is asked to look at the same image"
    triage.take_back()
    assert all_decisions(other, number) == {mine: Decision(mine, DROP), theirs: Decision(theirs, KEEP)}


def test_an_answer_of_this_window_can_be_taken_back_though_another_decides(qtbot, triage, other):
    model = triage.model
    number, theirs = model.triage.dataset_id, model.listed[1].sample_id
    triage.answer(KEEP)
    decide(other, number, [Decision(theirs, KEEP)])
    qtbot.waitUntil(lambda: theirs in model.triage.decisions)
    triage.take_back()
    assert all_decisions(other, number) == {theirs: Decision(theirs, KEEP)}


def test_undo_leaves_an_answer_that_another_window_has_just_changed(qtbot, triage, other, said):
    model = triage.model
    number, mine = model.triage.dataset_id, model.listed[0].sample_id
    triage.answer(KEEP)
    theirs = {mine: Decision(mine, DROP)}
    decide(other, number, theirs.values())
    triage.take_back()
    assert all_decisions(other, number) == theirs
    assert said[0].startswith("The answer was not undone. It was changed meanwhile")
    qtbot.waitUntil(lambda: model.triage.decisions == theirs)


def test_an_answer_that_another_window_has_changed_is_said_to_be_out_of_undo(qtbot, triage, other, said):
    model = triage.model
    number, mine = model.triage.dataset_id, model.listed[0].sample_id
    triage.answer(KEEP)
    decide(other, number, [Decision(mine, DROP)])
    qtbot.waitUntil(lambda: model.triage.decisions.get(mine) == Decision(mine, DROP))
    sentence = "1 of your answers was changed by another window or a command. Undo leaves it as it is now."
    assert said == [sentence]
    decide(other, number, [Decision(model.listed[1].sample_id, KEEP)])
    qtbot.waitUntil(lambda: len(model.triage.decisions) == 2)
    assert said == [sentence], "nothing that was answered here was changed"


def test_views_and_tags_of_another_window_are_offered(qtbot, session, workspace, tmp_path, other):
    page = open_trained(qtbot, session, workspace, tmp_path / "cache")
    saved_views.put(other, None, saved_views.SavedView("Theirs"))
    qtbot.waitUntil(lambda: [view.name for view in page.saved.views] == ["Theirs"])
    sample = page.browsing.query
    tag_sample(other, page.browsing.shown.dataset_id, sample, "odd")
    qtbot.waitUntil(lambda: page.browsing.tags_of_query == ["odd"])


def test_named_selections_of_another_window_are_listed(qtbot, session, workspace, tmp_path, other):
    number = workspace.run(trained_run(workspace, tmp_path / "cache")).dataset_id
    store = SelectionStore(session, QUndoStack())
    store.show_dataset(number)
    qtbot.waitUntil(lambda: not session.reading)
    selections.put(other, None, selections.Selection(number, "Theirs", (1, 2)))
    qtbot.waitUntil(lambda: [selection.name for selection in store.selections] == ["Theirs"])


def test_undo_leaves_a_named_selection_that_another_window_has_changed(
    qtbot, session, workspace, tmp_path, other, said
):
    number, stack = workspace.run(trained_run(workspace, tmp_path / "cache")).dataset_id, QUndoStack()
    store = SelectionStore(session, stack)
    store.show_dataset(number)
    mine = selections.Selection(number, "Mine", (1, 2), "first")
    noted = lambda: [selection.note for selection in store.selections if store.idle]  # noqa: E731
    qtbot.waitUntil(lambda: not session.reading)
    store.replace(None, mine, "saving “Mine”")
    qtbot.waitUntil(lambda: noted() == ["first"])
    store.replace(store.selections[0], replace(store.selections[0], note="second"), "the note on “Mine”")
    qtbot.waitUntil(lambda: noted() == ["second"])
    stack.undo()
    qtbot.waitUntil(lambda: noted() == ["first"])
    stack.redo()
    qtbot.waitUntil(lambda: noted() == ["second"])
    selections.put(other, store.selections[0], replace(store.selections[0], note="theirs"))
    stack.undo()
    qtbot.waitUntil(lambda: noted() == ["theirs"])
    assert [selection.note for selection in selections.all_selections(other, number)] == ["theirs"]
    assert "was changed meanwhile by another window" in said[0]
    assert not stack.canRedo()
    stack.undo()
    qtbot.waitUntil(lambda: len(said) == 2)
    assert selections.all_selections(other, number), "what was saved here and changed there is not deleted"


def test_a_template_that_another_window_has_changed_is_shown(qtbot, report, other):
    theirs = replace(templates()["one-run"], text="Theirs")
    report_templates.store_arrangement(other, theirs.key, theirs.arrangement())
    qtbot.waitUntil(lambda: report.choices.notes.toPlainText() == "Theirs")
    report.choices.list.setCurrentRow(1)
    report.choices.move_up()
    stored = lambda: offered(report_templates.arrangements(other))["one-run"]  # noqa: E731
    qtbot.waitUntil(lambda: stored().order != theirs.order)
    assert stored().text == "Theirs"


def test_what_two_windows_write_into_a_template_at_the_same_time_is_kept(qtbot, report, other):
    theirs = replace(templates()["one-run"], text="Theirs")
    report.choices.notes.setPlainText("Mine")  # is stored when no more is typed for a moment
    report_templates.store_arrangement(other, theirs.key, theirs.arrangement())
    report.session.follower.look()
    stored = lambda: offered(report_templates.arrangements(other))["one-run"].text  # noqa: E731
    qtbot.waitUntil(lambda: stored() == report.choices.notes.toPlainText() == "Mine\n\nTheirs")


def test_the_template_of_another_window_is_offered_until_that_deletes_it(qtbot, session, report, other):
    own = templates()["one-run"].copied("Theirs", ())
    report_templates.store_arrangement(other, own.key, own.arrangement())
    box = report.templates.box
    qtbot.waitUntil(lambda: box.findText("Theirs") >= 0)
    report.templates.choose(own.key)
    said = []
    session.noticed.connect(said.append)
    report_templates.store_arrangement(other, own.key, None)
    qtbot.waitUntil(lambda: said == ["The template “Theirs” was deleted by another window."])
    assert box.findText("Theirs") < 0
    assert report.choices.template().key == "one-run"
    report.templates.delete(own.key)  # the question was open meanwhile
    assert box.currentData() == "one-run"


@pytest.fixture
def own(session, report, other):
    """A template of the user's own that both windows know and this one shows; here its news is not heard any more."""
    report.templates.save_as("Ours")
    key = report.choices.template().key
    session.follower.look()
    session.follower.stop()
    return lambda: offered(report_templates.arrangements(other))[key]


def test_a_rename_leaves_what_another_window_has_just_written(qtbot, report, other, own):
    qtbot.waitUntil(lambda: "Ours" in {entry.title for entry in offered(report_templates.arrangements(other)).values()})
    theirs = replace(own(), text="Theirs")
    report_templates.store_arrangement(other, theirs.key, theirs.arrangement())
    report.templates.rename("Mine")
    qtbot.waitUntil(lambda: own().title == "Mine")
    assert own().text == "Theirs"


def test_of_two_names_at_the_same_time_the_later_stays_and_both_windows_say_so(
    qtbot, session, report, other, own, said
):
    qtbot.waitUntil(lambda: "Ours" in {entry.title for entry in offered(report_templates.arrangements(other)).values()})
    named = replace(own(), title="Theirs")
    report_templates.store_arrangement(other, named.key, named.arrangement())
    report.templates.rename("Mine")
    qtbot.waitUntil(lambda: own().title == "Mine")
    sentence = "The template was renamed “Theirs” meanwhile by another window. Now it is “Mine”."
    qtbot.waitUntil(lambda: said == [sentence])
    report_templates.store_arrangement(other, named.key, named.arrangement())
    session.follower.choices_changed.emit({"report_templates"})
    qtbot.waitUntil(lambda: said[1:] == ["The template “Mine” was renamed “Theirs” by another window."])


def test_what_this_window_wrote_before_is_not_written_twice():
    before = replace(templates()["one-run"], text="Mi")
    mine, theirs = replace(before, text="Mine"), replace(before, text="Mi\n\nTheirs")
    assert merged(before, mine, theirs).text == "Mine\n\nTheirs"


def test_the_changes_of_two_windows_to_a_template_are_both_kept():
    before = replace(templates()["one-run"], order=("a", "b", "c"), ticked=frozenset("ab"), text="")
    mine = replace(before, ticked=frozenset("abc"), text="Mine")
    theirs = replace(before, order=("c", "a", "b"), ticked=frozenset("b"), text="Theirs")
    both = merged(before, mine, theirs)
    assert (both.order, both.ticked, both.text) == (theirs.order, frozenset("bc"), "Mine\n\nTheirs")
    assert merged(before, before, theirs) == theirs
    assert merged(before, mine, before) == mine
