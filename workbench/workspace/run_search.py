"""Searching runs by conditions: "lr<0.01", "training.optimiser=sgd", "MAP@R>80", "tag=baseline", "date=today"."""

import operator
import re
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Any

from workbench.workspace.rows import Run

TAG, DATE = "tag", "date"
SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge,
}  # fmt: skip
CONDITION = re.compile(r"([^<>=]+)(<=|>=|<|>|=)(.*)", re.DOTALL)
DAYS = {"today": timedelta(0), "yesterday": timedelta(1)}


def meets(run: Run, word: str) -> bool:
    """Whether a run meets a condition: of a tag, of the day when it was made, of its best scores, or of its config.

    After "=" a value may be the beginning of one: somebody may still be typing. Numbers are compared as numbers.

    Args:
        word: in lower case, "lr<0.01"; a section may stand before the field of a config. Scores are in percent. False
            for a word that is no condition.
    """
    condition = _parsed(word)
    if condition is None:
        return False
    field, sign, wanted = condition
    if field == TAG:
        return sign == "=" and any(tag.casefold().startswith(wanted) for tag in run.tags)
    if field == DATE:
        return _is_of_day(_day_of(run), sign, wanted)
    metric = _metric(tuple(run.best), field)
    values = (f"{100 * run.best[metric]:.2f}",) if metric else _values_of(run.config, field)
    return any(_fits(value, sign, wanted) for value in values)


@lru_cache(64)
def _parsed(word: str) -> tuple[str, str, str] | None:
    """Field, sign and value of a condition; None for any other word."""
    parts = CONDITION.fullmatch(word)
    return None if parts is None else (re.sub("^r@", "recall@", parts[1]), parts[2], parts[3])


def _values_of(config: str, field: str) -> Iterator[str]:
    """The values of a field in a config (TOML), in lower case.

    The file is not parsed: for a thousand runs that takes longer than anybody wants to wait between two letters.
    """
    section, _, name = field.rpartition(".")
    start = config.find(f"[{section}]\n") if section else 0
    end = config.find("\n[", start) if section else -1
    if start < 0 or not name:
        return
    line = f"{name} = "
    at, end = config.find(line, start), end if end >= 0 else len(config)
    while 0 <= at < end:
        after = at + len(line)
        if at == 0 or config[at - 1] == "\n":
            yield config[after:].partition("\n")[0].casefold().strip('"')
        at = config.find(line, after)


@lru_cache(64)
def _metric(names: tuple[str, ...], field: str) -> str:
    """The metric among these that a condition names; empty for none."""
    return next((name for name in names if name.casefold() == field), "")


def _fits(value: str, sign: str, wanted: str) -> bool:
    if not wanted or (sign == "=" and value.startswith(wanted)):
        return True
    try:
        return SIGNS[sign](float(value), float(wanted))
    except ValueError:
        return False


def _day_of(run: Run) -> date:
    return datetime.fromisoformat(run.created).astimezone().date()


def _is_of_day(day: date, sign: str, wanted: str) -> bool:
    """Whether a day is that one, or before or after it; of a month or a year, such as 2026-11, any day in it is."""
    if wanted in DAYS:
        wanted = (datetime.now().astimezone().date() - DAYS[wanted]).isoformat()
    return SIGNS[sign](day.isoformat()[: len(wanted)], wanted)
