"""Minus as a person reads it."""

from math import inf, nan

import pytest

from workbench.numerals import (
    as_read,
    byte_size,
    counted,
    grouped,
    megabytes,
    minus,
    numbers_in_words,
    percentage,
    raised,
    same_decimals,
    significant,
    with_point,
)


@pytest.mark.parametrize(("number", "shown"), [(0, "0 files"), (1, "1 file"), (1234, "1,234 files")])
def test_one_is_counted_without_an_s(number, shown):
    assert counted(number, "file") == shown
    assert counted(number, "class", "classes") == f"{number:,} {'class' if number == 1 else 'classes'}"


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
    ("share", "digits", "shown"),
    [
        (0.8123, 1, "81.2%"), (0.8123, 2, "81.23%"), (1, 0, "100%"), (-0.125, 1, "−12.5%"),
        (None, 1, "–"), (nan, 1, "–"), (inf, 2, "∞"), (-inf, 2, "−∞"),
    ],
)  # fmt: skip
def test_percentages_are_written_without_a_space(share, digits, shown):
    assert percentage(share, digits) == shown


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


@pytest.mark.parametrize(
    ("value", "digits", "said"),
    [
        (6423.7, 3, "6,420"), (-5264.0, 3, "−5,260"), (1234.5, 5, "1,234.5"), (34.52, 3, "34.5"),
        (0.0012345, 3, "0.00123"), (1.2e-6, 3, "1.2e-06"), (0.0, 3, "0"), (3.2e9, 3, "3.2e+09"),
        (float("nan"), 3, "–"), (float("inf"), 3, "∞"), (float("-inf"), 4, "−∞"), (999.9, 3, "1,000"),
    ],
)  # fmt: skip
def test_a_number_of_some_digits_has_no_power_of_ten_below_ten_million(value, digits, said):
    assert significant(value, digits) == said


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("4.61e+09", "4.61×10⁹"), ("−1.2e-06", "−1.2×10⁻⁶"), ("from 5e+10 to 2,300", "from 5×10¹⁰ to 2,300"),
        ("one+1", "one+1"), ("34.5", "34.5"),
    ],
)  # fmt: skip
def test_powers_of_ten_are_written_as_people_write_them(text, shown):
    assert raised(text) == shown


@pytest.mark.parametrize(
    ("value", "shown"), [("1e-08", "1×10⁻⁸"), ("-0.5", "−0.5"), ("0.01", "0.01"), ("net-1e-08", "net-1e-08")]
)
def test_only_a_value_that_is_a_number_is_written_as_one(value, shown):
    assert as_read(value) == shown


@pytest.mark.parametrize(("numbers", "shown"), [
    (["0", "0.05", "0.1"], ["0.00", "0.05", "0.10"]), (["−2.5", "−2", "10"], ["−2.5", "−2.0", "10.0"]),
    (["0", "10", "20"], ["0", "10", "20"]), (["1,000.5", "999"], ["1,000.5", "999.0"]),
    (["1e-07", "0.5"], ["1e-07", "0.5"]), ([], []),
])  # fmt: skip
def test_the_numbers_of_an_axis_have_equally_many_decimals(numbers, shown):
    assert same_decimals(numbers) == shown


@pytest.mark.parametrize(("number", "shown"), [
    ("60000", "60,000"), ("-1234.12345", "-1,234.12345"), ("999", "999"), ("0.12345", "0.12345"), ("1e+12345",) * 2,
])  # fmt: skip
def test_large_numbers_of_an_axis_have_separated_thousands(number, shown):
    assert grouped(number) == shown


@pytest.mark.parametrize(
    ("numbers", "shown"),
    [((), ""), ((4,), "4"), ((1, 2), "1, 2"), ((1, 2, 3, 7, 8), "1 to 3, 7, 8"), ((2, 4, 5, 6, 7), "2, 4 to 7")],
)
def test_numbers_in_a_row_are_written_by_their_ends(numbers, shown):
    assert numbers_in_words(numbers) == shown


@pytest.mark.parametrize(
    ("typed", "number"),
    [
        ("0,0005", "0.0005"),
        (" -1,5 ", "-1.5"),
        (",5", ".5"),
        ("1,5e-3", "1.5e-3"),
        ("0,125", "0.125"),
        ("1,000", ""),
        ("1,000,000", ""),
        ("0.5", ""),
        ("1, 2", ""),
        ("fast", ""),
        (0.5, ""),
    ],
)
def test_a_number_with_a_decimal_comma_gets_a_point_unless_it_may_be_a_thousand(typed, number):
    assert with_point(typed) == number
