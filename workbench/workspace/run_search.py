"""Searching runs by words and conditions: "lr<0.01", "MAP@R>80", 'tag="first try"', "state=failed", "size>1GB"."""

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import lru_cache
from itertools import chain
from typing import Any

from workbench.events import RunState
from workbench.names import visible_name
from workbench.numerals import byte_size
from workbench.workspace.rows import Run

TAG, DATE, STATE, NAME, SIZE = "tag", "date", "state", "name", "size"
STATES = f"{', '.join(state.word.casefold() for state in list(RunState)[:-1])} or {RunState.INTERRUPTED}"
LONGEST = 40  # letters of a field that a sentence names
OF_RUNS = (TAG, DATE, STATE, NAME, SIZE)  # fields that every run has
SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge,
}  # fmt: skip
DATA = "dataset"  # the section of a config whose column is called data
PLACES = ("folder", "file", "place")  # its fields of paths
CONDITION = re.compile(r"([^<>=]+)(<=|>=|<|>|=)(.*)", re.DOTALL)
DAY = re.compile(r"today|yesterday|[0-9]{1,4}|[0-9]{4}-([0-9]{1,2})?|[0-9]{4}-[0-9]{2}-[0-9]{0,2}")  # also half typed
RESTS = ("", "0", "1", "01", "-01", "0-01", "1-01", "01-01")  # of which one makes a day of what begins one
DAYS = {"today": timedelta(0), "yesterday": timedelta(1)}
WORD = re.compile(r'(?:[^\s"]|"[^"]*(?:"|$))+')  # a quotation that is not closed yet goes on to the end
AMOUNT = re.compile(r"([0-9]+(?:\.[0-9]*)?) ?(?:([kmgt])?(i)?b?)")  # of a size, in lower case
POWERS = {None: 0, "k": 1, "m": 2, "g": 3, "t": 4}


def words_of(text: str) -> list[str]:
    """The words of a search as a person types it, in lower case; in quotes a word may hold blanks: 'tag="my tag"'."""
    return [unquoted(word) for word in WORD.findall(text)]


def unquoted(word: str) -> str:
    """One word of a search in lower case, without the quotes around what holds blanks."""
    return word.replace('"', "").casefold()


def asks_for_size(words: Iterable[str]) -> bool:
    """Whether one of these words, in lower case, is a condition of a run's size."""
    return any(condition is not None and condition[0] == SIZE for condition in map(_parsed, words))


def meets(run: Run, word: str, size: int | None = None) -> bool:
    """Whether a run meets a condition: of tag, name, state, day, size on the disk, best scores, or of its config.

    After "=" a value may be the beginning of one: somebody may still be typing. Numbers are compared as numbers, sizes
    with their decimal units (1 GB is 10^9 bytes), or with those of a power of two (GiB); without a unit they are bytes.

    Args:
        word: in lower case, "lr<0.01"; a section may stand before the field of a config. Scores are in percent. False
            for a word that is no condition.
        size: bytes of the run's folder; without it no condition of the size is met.
    """
    condition = _parsed(word)
    if condition is None:
        return False
    field, sign, wanted = condition
    if field == TAG:
        return sign == "=" and any(tag.casefold().startswith(wanted) for tag in run.tags)
    if field == DATE:
        return _is_of_day(_day_of(run), sign, wanted)
    if field == STATE:
        return sign == "=" and any(name.startswith(wanted) for name in state_names(run.status))
    if field == SIZE:
        return size is not None and _has_size(size, sign, wanted)
    if field == NAME and sign == "=" and run.name.casefold().startswith(wanted):
        return True  # a name in its config is looked for as well: of a loss, or the one before it was renamed
    return any(_fits(value, sign, wanted) for value in _values(run, field))


def why_unmet(runs: Sequence[Run], words: Iterable[str]) -> str:
    """A sentence, after a blank, on the first condition of a search that no value can meet; empty if there is none.

    Such a condition has a field that none of the runs has, or a value that is no number, size, day or state where one
    is needed. Without runs there is no sentence.

    Args:
        words: in lower case.
    """

    def known(field: str) -> bool:
        return field in OF_RUNS or any(_has(run, field) for run in runs)

    if not runs:
        return ""
    names = [name for status in {*RunState, *(run.status for run in runs)} for name in state_names(status)]
    return _why_unmet(words, known, "No run has a field or a score", names, STATES)


def why_no_row_meets(
    rows: Sequence[Mapping[str, Sequence[str]]], words: Iterable[str], no_field: str, states: Sequence[str]
) -> str:
    """The same of the rows that `row_meets` is asked of.

    Args:
        no_field: begins the sentence on a field that no row has.
        states: what the state of a row may be called.
    """
    if not rows:
        return ""
    listed = f"{', '.join(states[:-1])} or {states[-1]}"
    return _why_unmet(words, lambda field: any(_named(row, field) for row in rows), no_field, states, listed)


def _why_unmet(
    words: Iterable[str], known: Callable[[str], bool], no_field: str, states: Sequence[str], listed: str
) -> str:
    """`states` are what a state may be called, and `listed` is what a sentence says of them."""
    for field, sign, wanted in filter(None, map(_parsed, words)):
        if not known(field):
            return f" {no_field} “{visible_name(field, LONGEST)}”."
        if field == STATE and not any(name.startswith(wanted) for name in states):
            return f" “{visible_name(wanted, LONGEST)}” is no state; write {listed}."
        if wanted and (expected := _expected(field, sign, wanted)):
            return f" “{visible_name(wanted, LONGEST)}” is no {expected}."
    return ""


def _expected(field: str, sign: str, wanted: str) -> str:
    """What the value of a condition should be and is not; empty where it can be met."""
    if field == SIZE:
        return "" if AMOUNT.fullmatch(wanted) else "size; write one as 500MB or 1GB"
    if field == DATE:
        return "" if _begins_a_day(wanted) else "day; write today, yesterday, 2026-11-20, 2026-11 or 2026"
    if sign == "=":
        return ""
    try:
        float(wanted)
    except ValueError:
        return "number; words are compared by = alone"
    return ""


def _begins_a_day(wanted: str) -> bool:
    """Whether a day may be written so, or what is typed of it so far: 2026-1, but not 2026-13 or 2026-02-3."""
    if DAY.fullmatch(wanted) is None:
        return False
    return "-" not in wanted or any(map(_is_day, (f"{wanted}{rest}" for rest in RESTS)))


def _is_day(text: str) -> bool:
    try:
        return len(text) == len("2026-11-20") and date.fromisoformat(text) is not None
    except ValueError:
        return False


def _has(run: Run, field: str) -> bool:
    return any(True for _ in _values(run, field))


def _values(run: Run, field: str) -> Iterable[str]:
    """What a run has of a field: a best score in percent, or the values in its config; "loss" is also its loss.

    A test on other images has the settings of the run that trained its network, and its own data.
    """
    if metric := _metric(tuple(run.best), field):
        return (f"{100 * run.best[metric]:.2f}",)
    if run.trainer is None or field in (DATA, "data") or field.startswith(f"{DATA}."):
        return chain(_chosen(run.config, field), _values_of(run.config, field))
    trained = run.trainer.config
    return chain(_chosen(trained, field), _values_of(trained, field), _values_of(run.config, f"{DATA}.{field}"))


def _chosen(config: str, section: str) -> Iterator[str]:
    """What a section of a config names, as a loss, in lower case; of data also their folder or file, as lists do."""
    if "." in section:
        return
    section = DATA if section == "data" else section
    yield from _values_of(config, f"{section}.name")
    for place in PLACES if section == DATA else ():
        for path in _values_of(config, f"{section}.{place}"):
            yield path.replace("\\", "/").rstrip("/").rpartition("/")[2]


def row_meets(values: Mapping[str, Sequence[str]], word: str) -> bool:
    """Whether a row of a table, such as a sweep's trial, meets a condition of one of its fields, as a run meets it.

    Args:
        values: for each field in lower case what its value is called. The name of a field of a config may be written
            without its section, and the section without "name".
        word: in lower case, "lr<0.01". False for a word that is no condition.
    """
    condition = _parsed(word)
    if condition is None:
        return False
    field, sign, wanted = condition
    return any(_fits(value.casefold(), sign, wanted) for name in _named(values, field) for value in values[name])


def _named(values: Iterable[str], field: str) -> list[str]:
    """The names among those of a row that a condition of this field is about."""
    return [name for name in values if name in (field, f"{field}.name") or name.endswith(f".{field}")]


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


def state_names(status: str) -> tuple[str, ...]:
    """What a state is called in files and on the command line, and in the window; in lower case."""
    return (status, RunState(status).word.casefold()) if status in set(RunState) else (status,)


def _has_size(size: int, sign: str, wanted: str) -> bool:
    """Whether so many bytes are that many, fewer or more; of equal sizes the same is written."""
    amount = AMOUNT.fullmatch(wanted)
    if amount is None:
        return not wanted
    number, power, of_two = amount.groups()
    limit = float(number) * (1024 if of_two else 1000) ** POWERS[power]
    return byte_size(size) == byte_size(limit) if sign == "=" else SIGNS[sign](size, limit)


def _day_of(run: Run) -> date:
    return datetime.fromisoformat(run.created).astimezone().date()


def _is_of_day(day: date, sign: str, wanted: str) -> bool:
    """Whether a day is that one, or before or after it; of a month or a year, such as 2026-11, any day in it is."""
    if wanted in DAYS:
        wanted = (datetime.now().astimezone().date() - DAYS[wanted]).isoformat()
    return SIGNS[sign](day.isoformat()[: len(wanted)], wanted)
