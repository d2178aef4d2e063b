"""Negative numbers in reports have the sign of minus; names and files for programs keep the hyphen."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from workbench.reports import figures
from workbench.reports.blocks import Table
from workbench.reports.content import similarity_words
from workbench.workspace.rows import Neighbour


def test_columns_of_numbers_have_the_sign_of_minus_and_names_the_hyphen():
    rows = (("ResNet-50", "-13.36", "[-13.36, +0.38]"), ("class -1", "2.00", "–"))
    table = Table("some", "", ("Name", "Difference", "95%"), rows, frozenset({1, 2}))
    assert table.rows == (("ResNet-50", "−13.36", "[−13.36, +0.38]"), ("class -1", "2.00", "–"))


@pytest.mark.parametrize(("value", "words"), [(-0.1224, "−0.122"), (0.5, "0.500")])
def test_a_similarity_below_zero(value, words):
    assert similarity_words(Neighbour(1, 7, value, False, 0, "ant")) == words


def test_the_legend_of_the_retrieval_curves_covers_no_curve():
    steps = np.arange(5)
    names = ("test/recall@1", "test/recall@2", "test/recall@4", "test/recall@8", "test/MAP@R")
    curves = {name: figures.Curve(steps, np.linspace(0, 1, 5)) for name in names}
    host = Figure(figsize=(3.3, 2.4), layout="constrained")
    figures._retrieval(type("Some", (), {"curves": curves})(), host)
    host.draw_without_rendering()
    (legend,) = host.legends
    assert not legend.get_window_extent().overlaps(host.axes[0].get_window_extent())
