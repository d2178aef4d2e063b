"""Page turns leave no file open: what a page has shown is let go of when the next run is shown."""

from itertools import islice, product
from types import SimpleNamespace

import psutil
import pytest

from tests.ui.trained import trained_run
from workbench.ui.state.background.tasks import Task
from workbench.ui.window.main_window import MainWindow

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)
TURNS = 24
AT_ONCE = 6  # arrays of the run that is shown: its embeddings on each page, its pixels


def test_page_turns_and_run_changes_leave_no_array_open(qtbot, session, workspace, tmp_path, monkeypatch):
    monkeypatch.setattr(session.analysis, "request", lambda *args, **fields: SimpleNamespace(cancel=lambda: None))
    shown = [trained_run(workspace, tmp_path / "cache", 40 + 4 * each, f"run {each}") for each in range(6)]
    session.theme.apply()
    window = qtbot.shown(MainWindow(session))
    for run_id, page in islice(product(shown * 2, ("map", "retrieval")), TURNS):
        session.show_run(run_id)
        session.show_page(page)
        qtbot.waitUntil(
            lambda page=page: (
                window.pages.currentWidget() is window.pages.page(page) and not session.findChildren(Task)
            ),
        )

    def few_arrays():
        opened = [each.path for each in psutil.Process().open_files() if each.path.startswith(str(workspace.path))]
        arrays = [path for path in opened if path.endswith(".npy")]  # other tests of this process have theirs
        assert len(arrays) <= AT_ONCE, arrays

    qtbot.waitUntil(few_arrays)
