"""Answers that come after the part of the window that asked was deleted, while the session lives on."""

from functools import partial

import numpy as np
import pytest
from PySide6.QtWidgets import QFileDialog, QLabel, QWidget
from shiboken6 import delete

from tests.ui.small_run import store_run
from workbench.problem import Problem
from workbench.ui.pages.compare import ComparePage
from workbench.ui.pages.map import MapPage
from workbench.ui.pages.report import ReportPage
from workbench.ui.pages.report.template_chooser import TemplateChooser
from workbench.ui.pages.retrieval import RetrievalPage
from workbench.ui.pages.retrieval.attributes.panel import AttributesPanel
from workbench.ui.pages.retrieval.class_size.panel import SizePanel
from workbench.ui.pages.retrieval.class_size.plot import SizePlot
from workbench.ui.pages.retrieval.deployment.panel import DeployPanel
from workbench.ui.pages.retrieval.new_images.panel import NewImagesPanel
from workbench.ui.pages.retrieval.queries.saved_views_menu import SavedViewsMenu
from workbench.ui.pages.retrieval.robustness.panel import RobustnessPanel
from workbench.ui.pages.retrieval.triage.panel import TriagePanel
from workbench.ui.pages.setup import SetupPage
from workbench.ui.pages.train import TrainPage
from workbench.ui.widgets.images.pictures import shared_loader

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")
CHOICES = {"saved_views", "report_templates", "sample_tags", "decisions", "selections"}
PAGES = (SetupPage, TrainPage, MapPage, RetrievalPage, ComparePage, ReportPage)
VIEWS = (NewImagesPanel, TriagePanel, SizePanel, AttributesPanel, DeployPanel, RobustnessPanel)


def after_it(qtbot, session):
    """All that a session tells its pages once, with the answers that are still to come."""
    session.choices_changed.emit(CHOICES)
    session.evaluation_changed.emit(session.evaluation_id)
    session.runs_changed.emit()
    session.query_changed.emit(None)
    session.theme.changed.emit()
    shared_loader(session).ready.emit(set())
    qtbot.waitUntil(lambda: not session.reading)


def test_saved_views_that_are_read_too_late_are_dropped(qtbot, session):
    menu = SavedViewsMenu(session, lambda: None, lambda view: None)
    menu.read()
    delete(menu)
    after_it(qtbot, session)


def test_templates_that_are_read_too_late_are_dropped(qtbot, session):
    chooser = TemplateChooser(session, lambda: chooser.current())
    session.choices_changed.emit({"report_templates"})
    delete(chooser)
    after_it(qtbot, session)


@pytest.mark.parametrize("page", [*PAGES, *VIEWS], ids=lambda page: page.__name__)
def test_a_page_may_be_deleted_while_it_reads(qtbot, session, workspace, page):
    run = store_run(workspace, np.repeat(np.arange(4), 6))
    made = page(session)
    made.resize(1000, 700)
    with qtbot.waitExposed(made):
        made.show()
    session.show_run(run.run_id)
    session.choices_changed.emit(CHOICES)
    delete(made)
    after_it(qtbot, session)


@pytest.mark.parametrize("kind", [".png", ".svg", ".csv"])
def test_a_plot_that_is_removed_while_its_file_is_chosen_says_so(qtbot, session, tmp_path, monkeypatch, kind):
    window = qtbot.addWidget(QWidget())
    plot = SizePlot()
    plot.setParent(window)
    plot.wished.connect(session.fulfil)

    def choose(*_):
        delete(plot)
        return str(tmp_path / f"plot{kind}"), ""

    monkeypatch.setattr(QFileDialog, "getSaveFileName", choose)
    with qtbot.waitSignal(session.noticed) as said:
        plot.ask_and_save()
    assert said.args == ["The plot was not saved: it was removed while the file was chosen."]
    assert not list(tmp_path.glob("plot*"))


def test_the_result_that_nobody_takes_any_more_is_closed(qtbot, session, caplog):
    asking, dropped = QLabel(), []
    session.run_in_thread("Reading", lambda progress: "words", asking.setText, dropped=dropped.append)
    failing = QLabel()
    session.run_in_thread("Reading", refuse, failed=partial(show_in, failing.setText))
    delete(asking)
    delete(failing)
    qtbot.waitUntil(lambda: dropped == ["words"])
    qtbot.waitUntil(lambda: "what was to be told of it is gone: It is damaged." in caplog.text)


def refuse(progress):
    raise Problem("It is damaged.")


def show_in(show, problem):
    show(str(problem))
