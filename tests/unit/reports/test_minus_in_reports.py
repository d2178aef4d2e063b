"""Negative numbers in reports have the sign of minus; names and files for programs keep the hyphen."""

from types import SimpleNamespace

import numpy as np
import pytest

from workbench.reports.figures.run_figures import draw
from workbench.reports.writing.blocks import Table
from workbench.workspace.rows import Neighbour


def test_columns_of_numbers_have_the_sign_of_minus_and_names_the_hyphen():
    rows = (("ResNet-50", "-13.36", "[-13.36, +0.38]"), ("class -1", "2.00", "–"))
    table = Table("some", "", ("Name", "Difference", "95%"), rows, frozenset({1, 2}))
    assert table.rows == (("ResNet-50", "−13.36", "[−13.36, +0.38]"), ("class -1", "2.00", "–"))


@pytest.mark.parametrize(("value", "words"), [(-0.1224, "−0.122"), (0.5, "0.500")])
def test_a_similarity_below_zero(value, words):
    assert Neighbour(1, 7, value, False, 0, "ant").similarity_words == words


def test_the_legend_of_the_retrieval_curves_covers_no_curve():
    names = ("test/recall@1", "test/recall@2", "test/recall@4", "test/recall@8", "test/MAP@R")
    curves = {name: SimpleNamespace(steps=np.arange(5), values=np.linspace(0, 1, 5)) for name in names}
    content = SimpleNamespace(sections=("curves",), curves=curves, other_curves=(), map=None, worst=(), finest=())
    figure = draw(content)["retrieval"].figure()
    figure.draw_without_rendering()
    (legend,) = figure.legends
    assert len(legend.get_texts()) == len(names)
    assert not legend.get_window_extent().overlaps(figure.axes[0].get_window_extent())
