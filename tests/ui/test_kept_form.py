"""What Set up showed is there again in the next window on the same workspace."""

import json

import pytest

from tests.ui.test_setup import CATALOG, choose, looked, typed  # noqa: F401 - a fixture
from workbench.config import RunConfig
from workbench.ui.pages.setup import SetupPage
from workbench.ui.pages.setup.form.kept_form import KEPT, kept_form

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


@pytest.fixture
def opened(session, qtbot, looked):  # noqa: F811
    """Opens the page, as in a new window."""
    session.set_catalog(CATALOG)

    def open_page():
        return qtbot.addWidget(SetupPage(session))

    return open_page


def test_a_form_is_there_again_with_what_was_changed(opened, session):
    first = opened()
    first.take_config(RunConfig(name="Photographs"))
    typed(first, "training.epochs", "7")
    choose(first, "loss.name", "psce")
    session.leaving.emit()
    second = opened()
    assert second.draft.values == first.draft.values
    assert second.draft.changed() == first.draft.changed()
    assert second.chooser.currentText() == "Photographs (opened)"
    second.undo.click()
    assert second.draft.changed() == []


def test_a_value_that_is_no_number_is_not_kept_and_the_preset_is(opened, session):
    first = opened()
    first.take_config(RunConfig(name="Photographs"))
    typed(first, "training.epochs", "x")
    session.leaving.emit()
    assert opened().draft.value("training.epochs") == RunConfig().training.epochs


def test_another_workspace_begins_with_the_first_preset(opened, session):
    first = opened()
    first.take_config(RunConfig(name="Photographs"))
    session.leaving.emit()
    stored = json.loads(session.preferences.text(KEPT))
    session.preferences.set_text(KEPT, json.dumps(["elsewhere", *stored[1:]]))
    assert opened().draft.value("name") == "Sample: Digits"


def test_what_cannot_be_read_is_as_nothing(opened, session):
    for text in ("", "{", "[]", "[1, 2, 3]", '["a"]', '["", "name = 3", ""]', "9" * 5000, "[" * 99999):
        session.preferences.set_text(KEPT, text)
        assert kept_form(session, session.catalog) is None, text[:20]
    assert opened().draft.value("name") == "Sample: Digits"


def test_a_start_keeps_it_for_a_program_that_is_killed(opened, session, monkeypatch):
    monkeypatch.setattr(type(session), "busy", True)
    monkeypatch.setattr(session, "add_runs", lambda configs, then, failed: None)
    first = opened()
    first.take_config(RunConfig(name="Photographs"))
    first.start_run()
    assert opened().draft.value("name") == "Photographs"
