"""Geometry, "Show them": which dimensions of the embeddings are dead, in place of the spectrum."""

import numpy as np
import pytest
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPixmap

from tests.ui.small_run import blobs, store_run
from workbench.ui.pages.train.geometry.alarm_card import HIDE, SHOW
from workbench.ui.pages.train.geometry.panel import GeometryPanel
from workbench.ui.pages.train.geometry.variance_plot import MOST_NAMED, VariancePlot
from workbench.ui.style import theme

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")
LABELS, DEAD = np.repeat(np.arange(4), 12), [2, 9]


def tables(*dead):
    """Embeddings of one epoch for each list of dead dimensions."""
    made = []
    for which in dead:
        table = blobs(LABELS, 0.5, 1, width=16)
        table[:, which] *= 1e-3
        made.append(table)
    return made


@pytest.fixture
def panel(qtbot, session, workspace):
    session.show_run(store_run(workspace, LABELS, embeddings=tables([], DEAD)).run_id)
    view = qtbot.shown(GeometryPanel(session), 1000, 720)
    qtbot.waitUntil(lambda: view.watched is not None)
    return view


def offered(panel):
    return [card for card in panel.cards if not card.isHidden() and not card.show_them.isHidden()]


def test_the_dead_ones_are_shown_in_place_of_the_spectrum_and_back(panel, qtbot):
    (card,) = offered(panel)
    assert card.title.text().endswith("2 of 16 dimensions are dead")
    assert panel.spectrum.isVisible()
    assert card.show_them.text() == SHOW
    card.show_them.setFocus()
    qtbot.keyClick(card.show_them, Qt.Key.Key_Space)
    assert panel.variances.isVisible()
    assert not panel.spectrum.isVisible()
    assert card.show_them.text() == HIDE
    assert "from 0: 2, 9." in panel.variances.picture.accessibleDescription()
    assert panel.variances.picture.toolTip() == panel.variances.describe()
    assert [row[0] for row in panel.variances.rows()[1:] if row[3] == "yes"] == DEAD
    qtbot.mouseClick(card.show_them, Qt.MouseButton.LeftButton)
    assert panel.spectrum.isVisible()


def test_at_an_epoch_without_a_dead_one_the_spectrum_is_back(panel, session):
    offered(panel)[0].show_them.click()
    session.show_evaluation(session.evaluations()[0].id)
    assert offered(panel) == []
    assert panel.spectrum.isVisible()
    session.show_evaluation(session.evaluations()[1].id)
    assert [card.show_them.text() for card in offered(panel)] == [SHOW]
    assert panel.spectrum.isVisible()


def test_every_dimension_is_a_row_and_a_picture(qtbot):
    plot = qtbot.addWidget(VariancePlot())
    assert plot.describe().endswith("no values yet.")
    variances = np.full(300, 2.0)
    variances[100 : 100 + MOST_NAMED + 5] = 0
    plot.show_variances(variances)
    assert len(plot.rows()) == 301
    assert plot.rows()[1 + 100][:2] == [100, 0]
    assert ", 119 and 5 more." in plot.describe()
    plot.show_variances(np.zeros(4))
    assert "from 0: 0, 1, 2, 3." in plot.describe()
    assert [row[2:] for row in plot.rows()[1:]] == [[0, "yes"]] * 4
    assert not plot.image().isNull()


@pytest.mark.parametrize("tokens", [theme.LIGHT, theme.DARK], ids=["light", "dark"])
def test_the_dots_are_not_joined(qtbot, tokens):
    plot, lines = VariancePlot(), []
    qtbot.addWidget(plot)

    class Counted(QPainter):
        def drawPolyline(self, *points):  # noqa: N802  Qt's way of naming
            lines.append(points)

    variances = np.ones(16)
    variances[DEAD] = 1e-5
    plot.show_variances(variances)
    sheet = QPixmap(300, 160)
    painter = Counted(sheet)
    plot.paint(painter, QRectF(0, 0, 300, 160), tokens)
    painter.end()
    assert lines == []
