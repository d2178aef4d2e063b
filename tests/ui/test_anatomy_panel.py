"""The Anatomy panel: curves of any loss, where PCE crosses CE or is undefined, and what it says about it."""

import numpy as np
import pyqtgraph as pg
import pytest
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QToolButton

from workbench.ui.pages.train.anatomy.loss_parts import AT_FIRST
from workbench.ui.pages.train.anatomy.panel import AnatomyPanel
from workbench.ui.plots.shade import Shade
from workbench.ui.preferences import Preferences
from workbench.ui.style import theme

NAN = float("nan")
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


@pytest.fixture
def panel(qtbot):
    made = qtbot.addWidget(AnatomyPanel(Preferences()))
    made.resize(1000, 600)
    made.show()
    qtbot.waitUntil(lambda: len(made.parts.plots) == AT_FIRST)
    qtbot.settle(made)
    return made


def test_the_plots_of_the_losses_are_made_once_the_panel_is_shown(qtbot):
    panel = qtbot.addWidget(AnatomyPanel(Preferences()))
    panel.add(of_losses("ce", "snca"))
    qtbot.deliver()
    assert panel.plots == (panel.bound, panel.information)
    panel.show()
    assert panel.plots[2].title == "CE, nats", "at once, so that the plots above keep their height"
    assert panel.plots[2].empty.isHidden()
    qtbot.waitUntil(lambda: len(panel.plots) == 4)
    qtbot.waitUntil(lambda: all(plot.isVisible() for plot in panel.plots))
    assert titles(panel) == ["CE", "SNCA"]
    assert panel.parts.plots["snca"].curves["anatomy/snca/sum"].values.tolist() == [1.0, 21.0]


def test_points_with_pce_above_ce_are_counted(panel):
    for step, ce, pce in ((0, 2.3, 1.0), (200, 1.0, 1.2), (400, 0.9, 1.3), (600, 0.5, 0.4), (800, 0.4, 0.6)):
        panel.add([("anatomy/ce", step, ce), ("anatomy/pce", step, pce), ("anatomy/lambda", step, 1e-3)])
    assert panel.bound.marks() == []
    assert "exceeds CE at 3 of 5 points" in panel.sentence.text()
    assert "λ = 0.001" in panel.sentence.text()


def test_the_gap_is_right_where_pce_is_under_ce_and_wrong_where_it_is_over(panel):
    under, over = [item for item in panel.bound.canvas.item.items if isinstance(item, Shade)]
    for step, ce, pce in ((0, 2.0, 1.0), (10, 1.0, 2.0), (20, 1.0, 2.0), (30, 1.0, NAN), (40, 1.0, 0.5)):
        panel.add([("anatomy/ce", step, ce), ("anatomy/pce", step, pce), ("anatomy/lambda", step, 1e-3)])
    panel.bound.redraw()

    def coloured(shade):
        return [at for at in (1, 4.9, 5.1, 12, 19, 25, 35, 40) if shade.path().contains(QPointF(at, 1.5))]

    assert coloured(under) == [1, 4.9], "the curves cross at step 5"
    assert coloured(over) == [5.1, 12, 19], "there is a gap after step 20"
    assert under.brush().color().name() == theme.current().right.lower()
    assert over.brush().color().name() == theme.current().wrong.lower()
    panel.bound.legend["anatomy/ce"].click()
    assert not under.isVisible()
    assert not over.isVisible()


def test_where_pce_is_undefined_stands_a_gap_with_its_reason(panel):
    panel.add([("anatomy/ce", 0, 2.3), ("anatomy/pce", 0, NAN), ("anatomy/lambda", 0, 1e-12)])
    assert panel.bound.marks() == []
    assert panel.sentence.text().startswith("PCE is undefined everywhere: λ is under 1×10⁻⁸")
    assert np.isnan(panel.bound.curves["anatomy/pce"].values).all()


def test_a_pce_that_would_take_too_long_is_said(panel):
    panel.add([("anatomy/ce", 0, 2.3), ("anatomy/pce", 0, NAN), ("anatomy/lambda", 0, NAN)])
    assert "would take too long" in panel.sentence.text()


def test_a_loss_without_a_classifier_says_that_pce_needs_one(panel):
    panel.add([("anatomy/entropy/within", 0, 1.0), ("anatomy/contrastive/tightness", 0, 0.3)])
    assert "this loss has none" in panel.sentence.text()
    assert panel.curves["anatomy/contrastive/tightness"].values.tolist() == [0.3]


def test_the_legend_says_what_unit_vectors_and_scale_a_classifier_s_curves_are_of(panel):
    assert panel.bound.legend["anatomy/ce"].text() == "CE"
    panel.add([("anatomy/ce", 0, 1.0), ("anatomy/pce", 0, 0.5), ("anatomy/seen/scale", 0, 20.0)])
    panel.add([("anatomy/lambda", 0, 1e-3)])
    assert panel.bound.legend["anatomy/ce"].text() == "CE*"
    assert panel.bound.legend["anatomy/ce"].accessibleName() == "Show CE (unit length × 20)"
    assert "CE (unit length × 20)" in panel.bound.legend["anatomy/ce"].toolTip()
    assert "CE (unit length × 20)" in [series.title for series in panel.bound.series], "in the table and in files"
    assert [plot.title for plot in panel.parts.shown()] == ["CE*, nats", "SPCE, nats", "PCE*, nats", "SNCA, nats"]
    assert panel.parts.plots["ce"].series[0].title == "tightness part T (unit length × 20)"
    assert panel.information.legend["anatomy/information/discriminative"].text() == "H(Y) − CE*"
    assert panel.bound.legend["probe/spce"].text().startswith("SPCE (no values"), "of embeddings as they are"
    assert "* At unit length × 20." in panel.sentence.text()
    assert "measured on what the loss compares: vectors of unit length × 20." in panel.sentence.toolTip()
    panel.clear()
    assert panel.bound.legend["anatomy/ce"].text() == "CE"


def test_ce_of_a_loss_with_logits_of_its_own_kind_is_said(panel):
    panel.add([("anatomy/ce", 0, 1.0), ("anatomy/entropy/within", 0, 1.0)])
    assert panel.sentence.text().startswith("CE is computed from the loss's own logits. PCE needs")


def test_clearing_forgets_the_run(panel):
    panel.add([("anatomy/ce", 0, 1.0), ("anatomy/pce", 0, 2.0), ("anatomy/lambda", 0, 1e-3)])
    panel.clear()
    assert panel.bound.marks() == []
    assert "Nothing has been measured" in panel.sentence.text()


def of_losses(*names):
    return [
        (f"anatomy/{name}/{part}", step, value + step)
        for name in names
        for part, value in (("tightness", -2.0), ("contrastive", 3.0))
        for step in (0, 10)
    ]


def titles(panel):
    return [plot.title.partition(",")[0] for plot in panel.parts.shown()]


def test_each_loss_has_its_parts_and_their_sum(panel):
    panel.add(of_losses("ce", "snca"))
    sums = panel.parts.plots["snca"].curves["anatomy/snca/sum"]
    assert sums.values.tolist() == [1.0, 21.0]
    panel.add([("anatomy/snca/tightness", 20, 1.0)])
    assert sums.steps.tolist() == [0.0, 10.0], "where one of the parts is not there yet, there is no sum"
    panel.clear()
    assert len(sums) == len(panel.curves["anatomy/snca/tightness"]) == 0


def test_the_losses_that_have_values_are_shown_until_the_user_chooses(panel):
    assert titles(panel) == ["CE", "SPCE", "PCE", "SNCA"]
    panel.add(of_losses("spce", "snca", "contrastive", "ms"))  # of a loss without class vectors
    assert titles(panel) == ["SPCE", "SNCA", "Contrastive", "MS"]
    assert panel.parts.plots["ms"].curves["anatomy/ms/sum"].values.tolist() == [1.0, 21.0], "made when it was shown"
    panel.parts.actions["snca"].trigger()
    panel.parts.actions["center"].trigger()
    assert titles(panel) == ["SPCE", "Contrastive", "MS", "Center"]
    panel.clear()
    panel.add(of_losses("ce", "pce"))
    assert titles(panel) == ["SPCE", "Contrastive", "MS", "Center"], "in another run, too"
    again = AnatomyPanel(Preferences())
    assert titles(again) == titles(panel), "and at the next start"
    for name in ("spce", "contrastive", "ms", "center"):
        panel.parts.actions[name].trigger()
    assert titles(panel) == ["CE", "PCE"], "without any those are shown again that have values"
    assert panel.parts.actions["ce"].isChecked()


def test_the_plots_are_laid_out_once_for_all_values_that_come_together(panel):
    laid_out = []
    panel.parts.changed.connect(lambda: laid_out.append(titles(panel)))
    panel.add(of_losses("ce", "spce", "snca", "contrastive", "ms"))
    assert laid_out == [["CE", "SPCE", "SNCA", "Contrastive"]]
    panel.clear()
    panel.add(of_losses("ce", "spce", "snca", "contrastive", "ms"))
    assert len(laid_out) == 1, "another run with the same losses moves nothing"


def test_the_parts_stand_in_one_row_where_four_have_room(panel, qtbot):
    def rows():
        return len({plot.y() for plot in panel.parts.shown()})

    assert rows() == 1
    assert panel.bound.y() == panel.information.y()
    panel.resize(560, 600)
    qtbot.waitUntil(lambda: rows() == 2)
    assert panel.bound.y() == panel.information.y()


def test_the_best_epoch_is_marked_in_plots_that_are_made_later(panel):
    panel.grid.show_best(1, 10)
    panel.parts.actions["ms"].trigger()
    panel.add(of_losses("ms"))
    plot = panel.parts.plots["ms"]
    plot.redraw()
    assert any(isinstance(item, pg.InfiniteLine) and item.value() == 10 for item in plot.canvas.item.items)


@pytest.mark.parametrize("plot", ["bound", "information"])
def test_a_plot_that_may_need_it_has_a_button_for_the_logarithmic_scale(panel, plot):
    shown = getattr(panel, plot)
    buttons = [one for one in shown.findChildren(QToolButton) if one.accessibleName().startswith("Logarithmic scale")]
    assert [one.accessibleName() for one in buttons] == [f"Logarithmic scale of {shown.title}"][: plot == "bound"]
    for one in buttons:
        assert one.text() == "Log"
        one.click()
        assert shown.log
        assert one.isChecked()
