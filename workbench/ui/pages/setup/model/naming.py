"""The name of a run that nobody named: of what it starts from, with the settings that differ."""

import re
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from workbench.ui.style.field_words import Field, abbreviated, in_words, title_of

MOST = 3  # settings that are named
LONGEST_FILE = 28  # letters of the name of a file
LONGEST = 190  # characters; seed and fold of a run come behind
OF_ONE_RUN = re.compile(r"(seed|fold) \d+|\d+ more changed")  # differing parts in the name of a run
UNNAMED = ("name", "seed", "seeds", "device", "loss.name")  # shown elsewhere, or not part of the experiment


def short_title(field: Field, value: Any) -> str:
    """How a choice is called in short: "ICE" of "Instance cross-entropy (ICE)"."""
    names = dict(zip(field.get("enum", ()), field.get("titles") or field.get("enum", ()), strict=True))
    return abbreviated(str(names.get(value, value)))


def name_that_follows(
    base: Mapping[str, Any], fields: Mapping[str, Field], changed: Mapping[str, Any], network: str = ""
) -> str:
    """The name of a config that nobody named.

    Args:
        base: values of the preset or config that it started from; its name holds for its loss and data set.
        fields: descriptions by path; those of `changed` and "loss.name".
        changed: the values that differ from `base`, by path.
        network: path of the field that names the network where a backbone has many, "backbone.model"; its value is
            enough then.

    Returns:
        The name of `base` or, with another loss or data set, the loss in short; then what differs.
    """
    named = [path for path in changed if path not in UNNAMED and not path.startswith("dataset.")]
    if "loss.name" in changed or "dataset.name" in changed:
        head = short_title(fields["loss.name"], changed.get("loss.name", base["loss"]["name"]))
    elif changed:
        before = str(base["backbone"].get(network.partition(".")[2], ""))
        labels = [_label(path, fields[path], base) for path in named]
        head = _still_true(str(base["name"]), [*labels, before] if before and network in named else labels)
    else:
        head = str(base["name"])
    if "backbone.weights_file" in named:  # says as well that they are of a file
        named = [path for path in named if path != "backbone.weights"]
    if network in named:
        named = [path for path in named if path != "backbone.name"]
    words = [
        str(changed[path]) if path == network else _words(path, fields[path], changed[path]) for path in named[:MOST]
    ]
    more = [f"{len(named) - MOST} more changed"] if len(named) > MOST else []
    return ", ".join((head, *words, *more))[:LONGEST]


def _still_true(name: str, labels: list[str]) -> str:
    """A name of the same kind without the seed, the fold and what is different now."""
    first, *parts = name.split(", ")
    return ", ".join(
        (first, *(part for part in parts if not OF_ONE_RUN.fullmatch(part) and not part.startswith(tuple(labels))))
    )


def _label(path: str, field: Field, base: Mapping[str, Any]) -> str:
    """The beginning of `_words` for the value in `base`."""
    part, _, name = path.partition(".")
    if name == "name":
        return short_title(field, base[part][name])
    title = title_of(path, field)
    small = f"{title[:1].lower()}{title[1:]}" if title[1:2].islower() else title
    return f"{small}: " if field.get("type") == "boolean" else f"{small} "


def _in_short(name: str) -> str:
    """The name of a file, without its middle where it is long: its end often says which version it is."""
    return name if len(name) <= LONGEST_FILE else f"{name[: LONGEST_FILE // 2]}…{name[1 - LONGEST_FILE // 2 :]}"


def _words(path: str, field: Field, value: Any) -> str:
    if path.endswith(".name"):
        return short_title(field, value)
    words = ("yes" if value else "no") if isinstance(value, bool) else in_words(value)
    if field.get("path") and isinstance(value, str):
        words = _in_short(PurePath(value).name) or words
    return f"{_label(path, field, {})}{words}"
