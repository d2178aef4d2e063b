"""The metrics of an evaluation as the database stores them: what no metric can be is left out and named."""

import re
from collections.abc import Mapping
from math import isnan, nan

from workbench.names import visible_name
from workbench.workspace.database.columns import Unreadable, parsed

ROUNDING = 1e-6  # by which a mean of float32 may exceed 1
MOST_NAMED, LONGEST_NAMED = 3, 60  # metrics that one sentence names, and letters of each
SHARE = re.compile(
    r"(?:.*/)?(?:recall@[0-9]{1,9}|P@1|P@R|MAP@R)|NMI|kNN(?:@[0-9]{1,9})?|(?:linear|classifier)/top-[0-9]{1,9}"
    r"|train/accuracy",
    re.S,
)
COUNTS = ("queries", "queries/left_out")
# What chooses the best evaluation: a score that none can have is that of a damaged row, which is never the best.
HIGHEST_SCORE = f"max(case when score between 0 and {1 + ROUNDING} then score else -1 end)"


def metrics_of(text: object) -> tuple[dict[str, float], list[str]]:
    """Metrics by name, NaN if training met it, and in words what was left out: shares outside 0 to 1, counts below 0.

    Raises:
        Unreadable: it is no object of numbers.
    """
    metrics = parsed(text, dict)
    try:
        numbers = {name: nan if value is None else value + 0.0 for name, value in metrics.items()}
    except (TypeError, OverflowError):
        raise Unreadable("it holds more than numbers") from None
    return possible(numbers)


def possible(metrics: Mapping[str, float]) -> tuple[dict[str, float], list[str]]:
    """The metrics that are in their range, or NaN, and the others in words, such as "MAP@R: 5 is not from 0 to 1".

    Both limits of a metric are left out where one of them, or the metric itself, is.
    """
    kept, wrong, unsure = dict[str, float](), list[str](), set[str]()
    for name, value in metrics.items():
        if 0 <= value <= 1:  # any metric can be that: most are
            kept[name] = value
            continue
        of_metric = name.removesuffix("/low").removesuffix("/high")
        share = SHARE.fullmatch(of_metric) is not None
        if isnan(value) or (-ROUNDING <= value <= 1 + ROUNDING if share else name not in COUNTS or 0 <= value < 2**53):
            kept[name] = value
        else:
            wanted = "from 0 to 1" if share else "a count"
            wrong.append(f"{visible_name(name, LONGEST_NAMED)}: {value:g} is not {wanted}")
            unsure.add(of_metric)
    for of_metric in unsure:
        for limit in ("low", "high"):
            kept.pop(f"{of_metric}/{limit}", None)
    return kept, wrong


def named(wrong: list[str]) -> str:
    """What was left out, as half a sentence; the first few where there is much."""
    more = f" and {len(wrong) - MOST_NAMED:,} more" if len(wrong) > MOST_NAMED else ""
    return f"{'; '.join(wrong[:MOST_NAMED])}{more}"
