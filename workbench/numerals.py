"""Numbers as a user reads them. What a program reads, as files and copied tables, keeps the hyphen."""

import re
from collections.abc import Sequence
from math import copysign, isfinite, isnan, nan
from typing import Any

MINUS = "−"
_PLAIN = re.compile(rf"[-{MINUS}]?[\d,]+(\.\d+)?")
_LARGE = re.compile(r"(-?\d{4,})(\.\d+)?")
_POWER = re.compile(r"(?<=\d)e([+-])0*(\d+)")
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")  # a number with a decimal comma
_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")  # may be a thousand and more, with a comma between its digits
_HYPHEN = re.compile(r"(?<![^\s(\[±])-(?=[\d.]|inf)")  # before a number, not inside a word or a range


def words_of(value: float) -> str:
    """The text of a table for a number that is not finite: a dash for NaN, the infinity sign for infinity."""
    return "–" if isnan(value) else "∞" if copysign(1, value) > 0 else "−∞"


def finite(data: Any) -> Any:
    """Plain data with None for every number that is not finite: JSON has none of them."""
    if isinstance(data, float):
        return data if isfinite(data) else None
    if isinstance(data, dict):
        return {key: finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [finite(value) for value in data]
    return data


def with_point(value: object) -> str:
    """A number typed with a decimal comma, with a point: "0,05" as "0.05"; empty for all else, and for "1,000"."""
    text = value.strip() if isinstance(value, str) else ""
    return text.replace(",", ".") if _COMMA.fullmatch(text) and not _GROUPED.fullmatch(text) else ""


def counted(number: int, one: str, many: str = "") -> str:
    """ "1 file", "1,234 files"; `many` where the plural is not made with an s."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def percentage(share: float | None, digits: int = 1) -> str:
    """0.8123 as "81.2%", as sentences write it; a dash when there is no number, "∞" for an infinite one."""
    if share is None:
        return words_of(nan)
    return minus(f"{100 * share:.{digits}f}%") if isfinite(share) else words_of(share)


def byte_size(count: float, space: str = " ") -> str:
    """Bytes as "0.12 MB", "412 MB" or "1.3 GB", where MB is 10^6 and GB 10^9 of them: the unit of the whole program.

    `space` separates the number from its unit. A limit that is a power of two is written in MiB or GiB instead.
    """
    millions = count / 1e6
    if 0 < millions < 0.01:
        return f"under 0.01{space}MB"
    if millions >= 999.5:
        return f"{millions / 1e3:.1f}{space}GB"
    return f"{millions:.0f}{space}MB" if millions >= 9.95 or not millions else f"{millions:.2g}{space}MB"


def megabytes(count: float) -> str:
    """Bytes for a column of MB: "1,074"."""
    return f"{count / 1e6:,.0f}"


def minus(text: str) -> str:
    """The text with the sign of minus before its negative numbers: "[−13.36, −11.38]"; "class-1" stays."""
    return _HYPHEN.sub(MINUS, text)


def signed(value: float, form: str) -> str:
    """A difference with its sign, "+1.20" and "-0.40" for the form ".2f"; what is written as zero has none, "0.00"."""
    text = f"{value:+z{form}}"
    return text.removeprefix("+") if float(text) == 0 else text


def grouped(number: str) -> str:
    """A plain number with separated thousands: "-60000.5" as "-60,000.5"; others, "1e+07", stay."""
    large = _LARGE.fullmatch(number)
    return f"{int(large[1]):,}{large[2] or ''}" if large else number


def same_decimals(numbers: Sequence[str]) -> list[str]:
    """Numbers of one axis with equally many decimals: "0", "0.05", "0.1" as "0.00", "0.05", "0.10".

    They stay as they are if one of them has an exponent.
    """
    if not all(_PLAIN.fullmatch(number) for number in numbers):
        return list(numbers)
    most = max((len(number.partition(".")[2]) for number in numbers), default=0)
    return [_padded(number, most) for number in numbers]


def _padded(number: str, decimals: int) -> str:
    whole, _, fraction = number.partition(".")
    return f"{whole}.{fraction:0<{decimals}}" if decimals else whole


def significant(value: float, digits: int = 3) -> str:
    """A number with so many significant digits: "6,420", "−0.012", "1.2e-06"; from ten million on "1.2e+07".

    A dash stands for NaN, the infinity sign for infinity.
    """
    if not isfinite(value):
        return words_of(value)
    text = f"{value:.{digits}g}"
    rounded = float(text)
    if 1000 <= abs(rounded) < 1e7:
        text = f"{rounded:,.0f}" if rounded.is_integer() else f"{rounded:,}"
    return minus(text)


def raised(text: str) -> str:
    """Numbers of a text with their powers of ten as people write them: "4.61e+09" as "4.61×10⁹"."""
    return _POWER.sub(lambda power: f"×10{(power[1].strip('+') + power[2]).translate(RAISED)}", text)


def as_read(value: str) -> str:
    """A value that a program has written, as people write it where it is a number: "1e-08" as "1×10⁻⁸"."""
    try:
        float(value)
    except ValueError:
        return value
    return raised(minus(value))


def numbers_in_words(numbers: Sequence[int]) -> str:
    """Rising whole numbers, three or more in a row by their ends: "1 to 3, 7, 8"."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][-1] + 1:
            spans[-1].append(number)
        else:
            spans.append([number])
    return ", ".join(f"{span[0]} to {span[-1]}" if len(span) > 2 else ", ".join(map(str, span)) for span in spans)
