"""A question about a run, sweep or template is not answered for another one, in a workspace that was opened meanwhile.

Runs of two workspaces have the same numbers, and a workspace on a slow disk is shown some time after it was asked for.
"""

from dataclasses import replace

import pytest
from PySide6.QtWidgets import QDialog, QFileDialog, QMessageBox, QPushButton

from tests.ui.started import started
from workbench.reports.templates import templates
from workbench.ui.actions.exchange.export_dialog import ExportDialog
from workbench.ui.actions.run_actions import RunActions
from workbench.ui.pages.compare.groups import more_seeds
from workbench.ui.pages.compare.groups.more_seeds import MoreSeedsAction
from workbench.ui.pages.report.page import ReportPage
from workbench.ui.pages.report.run_dialog import RunDialog
from workbench.ui.pages.report.template_chooser import TemplateChooser
from workbench.ui.pages.retrieval.queries.saved_views_menu import SavedViewsMenu
from workbench.ui.state.commands import Commands
from workbench.ui.widgets.dialogs.question import Question
from workbench.ui.window.runs.ending import Ending
from workbench.workspace import Workspace

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


@pytest.fixture
def actions(qtbot, session, window):
    """The actions on the shown run."""
    return RunActions(session, Commands(session.preferences, window), window)


@pytest.fixture
def window(qtbot):
    """The window over which is asked."""
    return qtbot.addWidget(QFileDialog())


@pytest.fixture
def chooser(qtbot, session):
    """The templates of a report, of which one is the user's own."""
    made = qtbot.addWidget(TemplateChooser(session, lambda: None))
    made.save_as("Mine")
    return made


@pytest.fixture
def open_other(session, tmp_path, config):
    """A function that shows another workspace, with a run in the trash that has the number of this one's first."""

    def show():
        other = Workspace(tmp_path / "other", create=True)
        other.trash(other.create_run(config))
        session.open_workspace(other)
        session.show_run(1)
        session.follower.look()

    return show


def test_no_run_of_another_workspace_is_deleted(qtbot, session, actions, config, open_other, monkeypatch):
    session.show_run(session.workspace.create_run(config))
    session.workspace.trash(1)

    def answer(box):
        open_other()
        next(button for button in box.buttons() if button.text() == "Delete").click()

    monkeypatch.setattr(QMessageBox, "exec", answer)
    session.follower.look()
    actions.refresh()
    actions.trash.delete.trigger()
    assert [run.id for run in session.workspace.runs(trashed=True)] == [1]


def test_no_trash_of_another_workspace_is_emptied(qtbot, session, actions, config, open_other, monkeypatch):
    session.workspace.trash(session.workspace.create_run(config))
    session.follower.look()

    def answer(box):
        open_other()
        next(button for button in box.buttons() if button.text() == "Delete").click()

    monkeypatch.setattr(QMessageBox, "exec", answer)
    qtbot.waitUntil(lambda: len(session.trashed_runs()) == 1)
    actions.trash.empty.trigger()
    assert [run.id for run in session.workspace.runs(trashed=True)] == [1]


def test_no_run_of_another_workspace_gets_tags_or_a_note(session, actions, config, open_other, monkeypatch):
    session.show_run(session.workspace.create_run(config))

    def written(*_, **__):
        open_other()
        return "mine"

    monkeypatch.setattr("workbench.ui.actions.run_actions.ask_line", written)
    actions.tags.trigger()
    assert session.workspace.run(1).tags == ()


def test_no_run_of_another_workspace_is_exported(session, window, config, open_other):
    session.show_run(session.workspace.create_run(config))
    dialog, results = ExportDialog(session, session.run(), window), []
    dialog.finished.connect(results.append)
    dialog.open()
    open_other()
    assert results == [QDialog.DialogCode.Rejected]


def test_no_run_of_another_workspace_is_reported(qtbot, session, config, open_other):
    session.show_run(session.workspace.create_run(config))
    page = qtbot.addWidget(ReportPage(session))
    page.show()
    qtbot.waitUntil(lambda: page.ready)
    page.runs_button.click()
    dialog = page.findChild(RunDialog)
    assert dialog.isVisible()
    open_other()
    assert not dialog.isVisible()


def test_the_question_how_to_end_a_run_goes_with_its_workspace(qtbot, counting_session, window, config, tmp_path):
    session = counting_session
    ending = Ending(session, window)
    run_id = started(session, config)
    session.end_asked.emit(run_id)
    question = ending.ask
    assert question.isVisible()
    session.end_run(run_id)
    qtbot.waitUntil(lambda: not session.busy)
    session.open_workspace(Workspace(tmp_path / "other", create=True))
    assert ending.ask is None


@pytest.mark.parametrize(("epochs", "can"), [(0, False), (3, True)])
def test_the_question_says_whether_the_run_can_be_resumed(
    qtbot, counting_session, window, config, monkeypatch, epochs, can
):
    session = counting_session
    ending = Ending(session, window)
    run_id = started(session, config)
    of_session = session.run
    monkeypatch.setattr(session, "run", lambda *asked: replace(of_session(*asked), epoch=epochs))
    session.end_asked.emit(run_id)
    assert ("the run can be resumed" in ending.ask.words.text()) == can
    assert ("No epoch is finished yet" in ending.ask.words.text()) != can
    stop = "Stop now, keep finished epochs" if can else "Stop now, keep the curves"
    assert stop in [answer.text() for answer in ending.ask.findChildren(QPushButton)]
    ending.ask.reject()


def test_seeds_can_be_added_in_another_workspace_where_the_plan_for_this_one_was_left(
    qtbot, session, window, tmp_path, monkeypatch
):
    action, planned = MoreSeedsAction(session, window, lambda run: True), []
    monkeypatch.setattr(more_seeds, "more_seeds", lambda *_: planned.append(_) or more_seeds.MoreSeeds((), ()))
    action.ask()
    session.open_workspace(Workspace(tmp_path / "other", create=True))
    action.ask()
    qtbot.waitUntil(lambda: len(planned) == 2)


def test_no_template_of_another_workspace_is_deleted_or_renamed(session, chooser, tmp_path, monkeypatch):
    chooser.delete_action.trigger()
    box = chooser.findChild(QMessageBox)
    assert box.isVisible()

    def written(*_, **__):
        session.open_workspace(Workspace(tmp_path / "other", create=True))
        chooser.take(templates(), "comparison")
        return "Yours"

    monkeypatch.setattr("workbench.ui.pages.report.template_chooser.ask_name", written)
    chooser.rename_action.trigger()
    assert not box.isVisible()
    assert chooser.current() == templates()["comparison"]


def test_no_view_of_another_workspace_is_deleted(qtbot, session, tmp_path):
    saved = qtbot.addWidget(SavedViewsMenu(session, dict, pytest.fail))
    saved.save_as("Mine")
    delete = "Delete “Mine”…"
    qtbot.waitUntil(lambda: delete in [action.text() for action in saved.menu().actions()])
    next(action for action in saved.menu().actions() if action.text() == delete).trigger()
    question = saved.findChild(Question)
    assert question.isVisible()
    session.open_workspace(Workspace(tmp_path / "other", create=True))
    assert not question.isVisible()
