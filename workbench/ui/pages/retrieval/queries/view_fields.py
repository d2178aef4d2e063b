"""The contents of a saved view: filter, order and search text, by names that are valid for every run."""

from typing import Any

import numpy as np

from workbench.names import visible_name
from workbench.results.explanations import ConfusedPair
from workbench.ui.pages.retrieval.model.browsing import Browsing
from workbench.ui.pages.retrieval.model.filters import ClassGroup
from workbench.ui.pages.retrieval.model.listing import AP, CLASS, FIRST_HIT, GAIN
from workbench.ui.style.words import counted

COLUMNS = {"class": CLASS, "ap": AP, "first_hit": FIRST_HIT, "gain": GAIN}
LONGEST = 40  # letters of the title and of the size of a group
SAVED = " when the view was saved"  # behind the size of a group: in another run its classes may have other sizes
Listed = dict[str, Any]


def listed_now(browsing: Browsing, words: str) -> Listed:
    """What is listed, as plain data.

    Args:
        words: of the search by words.
    """
    filters, listing = browsing.filters, browsing.listing
    pair = filters.pair
    return {
        "failures_only": filters.failures_only,
        "class": None if filters.label is None else listing.class_name(filters.label),
        "cause": filters.key,
        "pair": None if pair is None else [pair.class_name, pair.taken_for],
        "group": None if filters.group is None else _group_now(filters.group, browsing),
        "similarity": None if filters.similarity is None else list(filters.similarity),
        "order": [next(name for name, column in COLUMNS.items() if column == listing.column), listing.descending],
        "words": words,
    }


def list_again(browsing: Browsing, listed: Listed) -> list[str]:
    """List what a view holds; returns what this evaluation does not have of it, each as a few words.

    What is no value of its field is passed over: a user may have edited the workspace.
    """
    missing = []
    labels = dict(zip(browsing.listing.names, browsing.listing.labels, strict=True))
    name, pair, cause = _text(listed.get("class")), listed.get("pair"), _text(listed.get("cause"))
    if name is not None and name not in labels:
        missing.append(f"class “{name}”")
    keys = {option.key for group in browsing.filters.options() for option in group}
    if cause not in keys:
        missing.append("its cause, tag or comparison")
    confused = None
    if isinstance(pair, list) and _two_of(pair, str):
        if pair[0] in labels and pair[1] in labels:
            confused = ConfusedPair(labels[pair[0]], pair[0], labels[pair[1]], pair[1], times=0, share=0.0)
        else:
            missing.append(f"“{pair[0]}” taken for “{pair[1]}”")
    group, without = _group_again(listed.get("group"), labels)
    missing += [without] if without else []
    limits = listed.get("similarity")
    order = listed.get("order")
    column, descending = order if isinstance(order, list) and len(order) == 2 else ("ap", False)
    browsing.list_as(
        COLUMNS.get(_text(column) or "", AP),
        descending=bool(descending),
        failures_only=listed.get("failures_only") is True,
        label=None if name is None else labels.get(name),
        key=cause if cause in keys else None,
        pair=confused,
        group=group,
        cell=None,  # it is of one evaluation, so no view has one
        similarity=(limits[0], limits[1]) if isinstance(limits, list) and _two_of(limits, float) else None,
    )
    return missing


def _group_now(group: ClassGroup, browsing: Browsing) -> Listed:
    names = [browsing.listing.class_name(label) for label in group.labels.tolist()]
    return {"title": group.group, "size": group.size.removesuffix(SAVED), "classes": names}


def _group_again(stored: Any, labels: dict[str, int]) -> tuple[ClassGroup | None, str]:
    """The classes of a stored group that are there, and in words those that are not; None without any."""
    if not isinstance(stored, dict):
        return None, ""
    title, size, names = _text(stored.get("title")), _text(stored.get("size")), stored.get("classes")
    if title is None or size is None or not isinstance(names, list):
        return None, ""
    title, size = visible_name(title, LONGEST), visible_name(size, LONGEST)  # a workspace may be another person's
    there = sorted(labels[name] for name in set(filter(_text, names)) & labels.keys())
    lost = len(names) - len(there)
    without = f"{counted(lost, 'class', 'classes')} of the group “{title}”" if lost else ""
    if not there:
        return None, without
    return ClassGroup(title, f"{size}{SAVED}", np.array(there, np.int64)), without


def words_of(listed: Listed) -> str:
    """The search text of a view; empty for none."""
    words = listed.get("words")
    return words if isinstance(words, str) else ""


def _text(value: Any) -> str | None:
    """The value, if it is a text; a list cannot be looked up."""
    return value if isinstance(value, str) else None


def _two_of(values: list[Any], kind: type) -> bool:
    return len(values) == 2 and all(isinstance(value, kind) and value == value for value in values)  # no NaN
