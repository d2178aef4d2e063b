"""Map and Retrieval without an evaluation say whether a run is missing or only its first evaluation."""

import pytest

from workbench.exchange.imported.curve_import import import_curves
from workbench.settings.presets import presets
from workbench.ui.pages.map import MapPage
from workbench.ui.pages.retrieval import RetrievalPage

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)  # Qt's offscreen platform, at every show


@pytest.mark.parametrize("kind", [MapPage, RetrievalPage])
def test_the_page_asks_for_a_run_where_there_are_some_and_none_is_selected(qtbot, session, kind):
    page = qtbot.addWidget(kind(session))
    assert page.hint.title.text() == "Nothing has been evaluated yet"
    run_id = session.workspace.create_run(presets()[0].config)
    session.follower.look()
    assert page.hint.title.text() == "No run selected"
    assert page.hint.sentence.text().endswith("Choose one in the list of runs.")
    session.show_run(run_id)
    assert page.hint.title.text() == "Nothing has been evaluated yet"
    session.show_run(None)
    assert page.hint.title.text() == "No run selected"


@pytest.mark.parametrize("kind", [MapPage, RetrievalPage])
def test_of_a_run_that_has_ended_none_is_awaited(qtbot, session, kind):
    run_id = session.workspace.create_run(presets()[0].config)
    session.follower.look()
    page = qtbot.addWidget(kind(session))
    session.show_run(run_id)
    assert page.hint.title.text() == "Nothing has been evaluated yet"
    session.workspace.set_status(run_id, "failed")
    session.follower.look()
    assert page.hint.title.text() == "This run has no evaluation"
    assert page.hint.sentence.text().endswith("It ended before its first one. Choose another run.")


def test_of_curves_of_another_program_it_is_said_that_they_have_no_embeddings(qtbot, session, tmp_path):
    table = tmp_path / "curves.csv"
    table.write_text("step,loss\n1,0.5\n2,0.25\n", encoding="utf-8")
    [imported], _ = import_curves(session.workspace, table)
    session.follower.look()
    page = qtbot.addWidget(MapPage(session))
    session.show_run(imported.run_id)
    assert "curves of another program" in page.hint.sentence.text()


@pytest.mark.parametrize("kind", [MapPage, RetrievalPage])
def test_without_any_run_the_button_leads_to_set_up(qtbot, session, kind):
    page = qtbot.addWidget(kind(session))
    asked = []
    session.page_asked.connect(asked.append)
    assert page.hint.go.text() == "Set up a run"
    page.hint.go.click()
    session.workspace.create_run(presets()[0].config)
    session.follower.look()
    assert page.hint.go.text() == "Go to Train"
    page.hint.go.click()
    assert asked == ["setup", "train"]
