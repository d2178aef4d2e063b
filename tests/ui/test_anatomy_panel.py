"""The Anatomy panel: curves of any loss, where PCE crosses CE or is undefined, and what it says about it."""

import numpy as np
import pyqtgraph as pg
import pytest

from workbench.ui.pages.train.anatomy import AnatomyPanel

NAN = float("nan")
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


@pytest.fixture
def panel(qtbot):
    made = AnatomyPanel()
    qtbot.addWidget(made)
    made.resize(1000, 600)
    made.show()
    return made


def test_crossings_are_counted_and_marked(panel):
    for step, ce, pce in ((0, 2.3, 1.0), (200, 1.0, 1.2), (400, 0.9, 1.3), (600, 0.5, 0.4), (800, 0.4, 0.6)):
        panel.add([("anatomy/ce", step, ce), ("anatomy/pce", step, pce), ("anatomy/lambda", step, 1e-3)])
    assert panel.bound.marks() == [(200.0, "PCE > CE"), (800.0, "PCE > CE")], "one mark for each stretch"
    assert "exceeds CE at 3 of 5 points" in panel.sentence.text()
    assert "λ = 0.001" in panel.sentence.text()


def test_the_gap_between_ce_and_pce_is_shaded(panel):
    lines = panel.bound.canvas.lines
    (shade,) = [item for item in panel.bound.canvas.item.items if isinstance(item, pg.FillBetweenItem)]
    assert set(shade.curves) == {lines["anatomy/ce"].raw, lines["anatomy/pce"].raw}


def test_where_pce_is_undefined_stands_a_gap_with_its_reason(panel):
    panel.add([("anatomy/ce", 0, 2.3), ("anatomy/pce", 0, NAN), ("anatomy/lambda", 0, 1e-12)])
    assert panel.bound.marks() == []
    assert panel.sentence.text().startswith("PCE is undefined everywhere: λ is under 1e-08")
    assert np.isnan(panel.bound.curves["anatomy/pce"].values).all()


def test_a_pce_that_would_take_too_long_is_said(panel):
    panel.add([("anatomy/ce", 0, 2.3), ("anatomy/pce", 0, NAN), ("anatomy/lambda", 0, NAN)])
    assert "would take too long" in panel.sentence.text()


def test_a_loss_without_a_classifier_says_that_pce_needs_one(panel):
    panel.add([("anatomy/entropy/within", 0, 1.0), ("anatomy/contrastive/tightness", 0, 0.3)])
    assert "this loss has none" in panel.sentence.text()
    assert panel.tightness.curves["anatomy/contrastive/tightness"].values.tolist() == [0.3]
    assert not panel.tightness.legend["anatomy/center/tightness"].isChecked()


def test_the_legend_says_what_unit_vectors_and_scale_a_classifier_s_curves_are_of(panel):
    assert panel.bound.legend["anatomy/ce"].text() == "CE"
    panel.add([("anatomy/ce", 0, 1.0), ("anatomy/pce", 0, 0.5), ("anatomy/seen/scale", 0, 20.0)])
    panel.add([("anatomy/lambda", 0, 1e-3)])
    assert panel.bound.legend["anatomy/ce"].text() == "CE*"
    assert panel.bound.legend["anatomy/ce"].accessibleName() == "Show CE (unit length × 20)"
    assert "CE (unit length × 20)" in panel.bound.legend["anatomy/ce"].toolTip()
    assert "CE (unit length × 20)" in [series.title for series in panel.bound.series], "in the table and in files"
    assert panel.tightness.legend["anatomy/center/tightness"].text() == "Center*"
    assert panel.information.legend["anatomy/information/discriminative"].text() == "H(Y) − CE*"
    assert panel.bound.legend["probe/spce"].text().startswith("SPCE (no values"), "of embeddings as they are"
    assert "* Measured on what the loss compares: unit length × 20." in panel.sentence.text()
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
