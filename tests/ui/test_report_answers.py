"""Answers of the drawing process that come when another run or workspace is shown."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PySide6.QtGui import QImage

from tests.ui.small_run import store_run
from workbench.ui.pages.report.page import ReportPage
from workbench.workspace import Workspace

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")
LABELS = np.repeat(np.arange(3), 4)


class Drawing:
    """Stands for the drawing process: keeps (op, fields, done) of its requests."""

    def __init__(self):
        self.asked = []

    def request(self, op, fields, on_progress, on_result, on_error):
        self.asked.append((op, fields, on_result))
        return SimpleNamespace(cancel=lambda: None)

    def of(self, op):
        return [(fields, done) for name, fields, done in self.asked if name == op]

    def close(self):
        pass


@pytest.fixture
def drawing(session):
    session.drawing.close()
    session.drawing = Drawing()
    return session.drawing


@pytest.fixture
def page(qtbot, session, workspace, drawing):
    run_id = store_run(workspace, LABELS).run_id
    made = qtbot.addWidget(ReportPage(session))
    made.show()
    session.show_run(run_id)
    qtbot.waitUntil(lambda: made.ready and bool(made.folder.text()))
    return made


def test_files_of_a_run_that_was_left_are_said_and_not_shown_as_those_of_the_next(qtbot, session, page, drawing, said):
    page.export()
    ((_, done),) = drawing.of("write")
    session.show_run(store_run(session.workspace, LABELS, name="Next").run_id)
    done({"files": [str(Path("out") / "report.html")]})
    assert page.model.written == []
    assert said == ["The report was written: 1 file in out."]


def test_the_preview_goes_on_after_another_workspace_was_opened_while_pages_were_read(
    qtbot, session, page, drawing, tmp_path
):
    qtbot.waitUntil(lambda: len(drawing.of("preview")) == 1)
    other = Workspace(tmp_path / "other", create=True)
    run_id = store_run(other, LABELS).run_id
    drawing.of("preview")[0][1]({"pages": [], "total": 0, "sections": {}})
    session.open_workspace(other)
    session.show_run(run_id)
    qtbot.waitUntil(lambda: len(drawing.of("preview")) == 2)
    assert drawing.of("preview")[1][0]["workspace"] == str(tmp_path / "other")


def test_pages_that_come_while_the_report_is_hidden_are_laid_out_when_it_is_shown(qtbot, page, drawing, tmp_path):
    qtbot.waitUntil(lambda: len(drawing.of("preview")) == 1)
    image = QImage(210, 297, QImage.Format.Format_ARGB32)
    image.fill(0xFFFFFFFF)
    assert image.save(str(tmp_path / "page.png"))
    page.hide()
    drawing.of("preview")[0][1]({"pages": [str(tmp_path / "page.png")] * 2, "total": 2, "sections": {}})
    qtbot.waitUntil(lambda: not Path(drawing.of("preview")[0][0]["out"]).exists())  # they were taken
    assert page.preview.count == 0
    page.show()
    qtbot.waitUntil(lambda: page.preview.count == 2)
    assert len(drawing.of("preview")) == 1, "nothing is drawn again"
