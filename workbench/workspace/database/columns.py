"""The columns of a row, checked when they are read: a bad value is reported, and the others are shown."""

import json
from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime
from functools import cache
from math import isfinite
from typing import Any, TypeVar, get_args, get_type_hints

import numpy as np

from workbench.files.unreadable import checked_nesting
from workbench.problem import Problem
from workbench.workspace.database.connection import Connection
from workbench.workspace.times import NO_TIME

T = TypeVar("T")
TIMES = ("created", "ended", "trashed")
MOST_LABELS = 1 << 24  # a label is an index of arrays
LARGEST_INT32 = 2**31 - 1
FROM_A_COPY = "A copy of workspace.db from before brings it back."

PAIRS = "pairs of texts"
DATA = {
    "fingerprint": str, "stamp": str, "read_as": dict, "images": int, "classes": int, "train": int, "test": int,
    "classes_disjoint": bool, "note": str, "shared": str, "changed": str, "left_out": PAIRS, "left_out_count": int,
    "unlike_published": PAIRS, "notes": PAIRS,
}  # fmt: skip
NEEDED = ("fingerprint", "train", "test", "classes_disjoint", "left_out", "left_out_count")  # in every run's data
ENVIRONMENT = {"data": dict, "versions": dict, "plugins": dict, "imported": dict, "own_loop": dict, "curves": dict}


class Unreadable(ValueError):  # noqa: N818 - as BadImage: the word for what it is
    """A column with invalid content; its text gives the reason."""


def parsed(text: object, kind: type[T]) -> T:
    """The JSON of a column as a dict or a list. Raises Unreadable."""
    if not isinstance(text, str):
        raise Unreadable("it is not text")
    try:
        value = checked_nesting(json.loads(text), text)
    except RecursionError:
        raise Unreadable("it is nested too deeply") from None
    except ValueError as error:
        raise Unreadable(str(error)) from None
    if not isinstance(value, kind):
        raise Unreadable(f"it is not {'an object' if kind is dict else 'a list'}")
    if "\\ud" in text.lower():  # lone surrogates, which cannot be written to files and terminals
        written: T = _writable(value)
        return written
    return value


def rows_as_one(db: Connection, columns: str, rows: str, values: Sequence[object] = ()) -> list[Any]:
    """Rows as lists, fetched as one text: each row would be a wait for the interpreter beside a training thread.

    Args:
        columns: as SQL. rows: what has them, as SQL: a table, or a statement in parentheses.
    """
    ((text,),) = db.execute(f"select json_group_array(json_array({columns})) from {rows}", values).fetchall()
    return list(json.loads(text))


def integers_of(text: object) -> tuple[int, ...]:
    """A list of 64-bit integers. Raises Unreadable."""
    numbers = parsed(text, list)
    if not all(type(number) is int and -(2**63) <= number < 2**63 for number in numbers):
        raise Unreadable("it holds more than whole numbers")
    return tuple(numbers)


def texts_of(text: object) -> tuple[str, ...]:
    """A list of texts. Raises Unreadable."""
    texts = parsed(text, list)
    if not all(isinstance(text_of_one, str) for text_of_one in texts):
        raise Unreadable("it holds more than texts")
    return tuple(texts)


def environment_of(text: object) -> tuple[dict[str, Any], list[str]]:
    """The environment of a run without invalid values, and the names of the values that were left out."""
    try:
        environment = parsed(text, dict)
    except Unreadable as error:
        return {}, [f"environment ({error})"]
    doubts = [
        name for name, kind in ENVIRONMENT.items() if name in environment and not isinstance(environment[name], kind)
    ]
    for name in doubts:
        del environment[name]
    if not isinstance(environment.get("imported", {"embeddings": ""}).get("embeddings"), str):
        del environment["imported"]
        doubts.append("imported: embeddings")
    data = environment.get("data", {})
    bad = [name for name, kind in DATA.items() if name in data and not _is(data[name], kind)]
    bad += [name for name in NEEDED if data and name not in data]
    if bad:
        environment["data"] = {}
    return environment, [*doubts, *(f"data: {name}" for name in bad)]


def checked_row(row_type: type, facts: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The values of one row, checked against the types of the fields of a dataclass.

    Returns:
        The values, with 0, an empty text or None for those of another type, infinite numbers and invalid times, and the
        names of these columns.
    """
    checked, doubts = dict(facts), []
    for name, value in facts.items():
        kinds = _kinds(row_type)[name]
        good = isinstance(value, kinds) and not isinstance(value, bool)
        if good and isinstance(value, int | float):
            good = isfinite(value) and abs(value) < 2**63
        if good and name in TIMES and value is not None:
            good = _is_time(value)
        if not good:
            checked[name] = NO_TIME if name == "created" else None if type(None) in kinds else kinds[0]()
            doubts.append(name)
    return checked, doubts


def told_of(what: Sequence[str]) -> str:
    """The sentence about columns that could not be read; empty for none."""
    return f"What is stored of it could not all be read: {'; '.join(dict.fromkeys(what))}." if what else ""


def even(what: str, columns: dict[str, np.ndarray]) -> None:
    """Raises Problem unless all columns of `what` have one length, and labels are valid indices."""
    if len({len(values) for values in columns.values()}) > 1:
        wrong = f"{what} could not be read: its columns differ in length."
        raise Problem(wrong, kept="The rest is kept.", todo=FROM_A_COPY)
    for name, (least, most) in {"labels": (-1, MOST_LABELS), "rows": (0, max(map(len, columns.values())) - 1)}.items():
        column = columns.get(name)
        if column is not None and len(column) and not (least <= column.min() and column.max() <= most):
            wrong = f"{what} could not be read: {name} are out of range."
            raise Problem(wrong, kept="The rest is kept.", todo=FROM_A_COPY)


def _writable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_writable(item) for item in value]
    if isinstance(value, dict):
        return {_writable(name): _writable(item) for name, item in value.items()}
    return value


def _is(value: object, kind: object) -> bool:
    if kind is PAIRS:
        return isinstance(value, list) and all(isinstance(item, list) and len(item) == 2 for item in value)
    if kind is int:
        return type(value) is int and 0 <= value < 2**63
    return isinstance(value, kind)  # type: ignore[arg-type]


def _is_time(value: str) -> bool:
    try:
        moment = datetime.fromisoformat(value)
        return moment.tzinfo is not None and 1 < moment.year < 9999  # else it may have no time in another zone
    except ValueError:
        return False


@cache
def _kinds(row_type: type) -> dict[str, tuple[type, ...]]:
    """The types that the value of each field may have, that of its default first."""
    hints = get_type_hints(row_type)
    kinds_of = {field.name: get_args(hints[field.name]) or (hints[field.name],) for field in fields(row_type)}
    return {name: (*kinds, int) if kinds == (float,) else kinds for name, kinds in kinds_of.items()}
