"""Minus as a person reads it."""

import pytest

from workbench.numerals import minus


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("-14.06", "−14.06"),
        ("[-13.36, -11.38]", "[−13.36, −11.38]"),
        ("from -0.1 to -inf", "from −0.1 to −inf"),
        ("-.5", "−.5"),
        ("class-1", "class-1"),
        ("2026-11-23", "2026-11-23"),
        ("1e-05", "1e-05"),
        ("--option", "--option"),
        ("a - b", "a - b"),
    ],
)
def test_only_the_sign_of_a_number_becomes_a_minus(text, shown):
    assert minus(text) == shown
