"""Minus as a person reads it."""

import pytest

from workbench.numerals import byte_size, megabytes, minus


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


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (0, "0 MB"), (120_000, "0.12 MB"), (3_145_728, "3.1 MB"), (412_000_000, "412 MB"), (999_600_000, "1.0 GB"),
        (2**30, "1.1 GB"), (5, "under 0.01 MB"), (85_899_345_920, "85.9 GB"),
    ],
)  # fmt: skip
def test_a_megabyte_is_a_million_bytes(count, said):
    assert byte_size(count) == said
    assert byte_size(count, "\u2009") == "\u2009".join(said.rsplit(" ", 1))


def test_a_column_of_megabytes_has_whole_numbers():
    assert megabytes(2**30) == "1,074"
