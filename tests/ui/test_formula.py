"""Formulas of losses as rich text."""

import pytest

from workbench.entries import catalog
from workbench.ui.style.formula import rich


@pytest.mark.parametrize(
    ("formula", "drawn"),
    [
        ("D_ap² + α", "D<sub>ap</sub>² + α"),
        ("softmax_y(W z + b)", "softmax<sub>y</sub>(W z + b)"),
        ("e^{s_ap / τ}", "e<sup>s<sub>ap</sub> / τ</sup>"),
        ("Σ_{s > λ} s", "Σ<sub>s &gt; λ</sub> s"),
        ("Σ_{i in k} z_i / n", "Σ<sub>i in k</sub> z<sub>i</sub> / n"),
        ("a < b", "a &lt; b"),
    ],
)
def test_subscripts_and_powers_are_drawn_as_such(formula, drawn):
    assert rich(formula) == f"<qt>{drawn}</qt>"


def test_every_loss_has_a_family_and_a_formula_of_one_line():
    known = catalog.current()
    for name in catalog.names(known, "loss"):
        family, formula = (catalog.fact(known, "loss", name, of) for of in ("family", "formula"))
        assert family, name
        assert 0 < len(formula) <= 100, name
        drawn = rich(formula)
        assert not set("_^{}") & set(drawn), (name, drawn)
