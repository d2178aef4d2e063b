"""The name of a run that nobody named: of what it starts from, with the settings that differ."""

import re
from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import Any

from workbench.config import KINDS, RunConfig
from workbench.entries import catalog as catalogs
from workbench.entries.catalog import Catalog
from workbench.settings.field_words import Field, abbreviated, in_words, title_of
from workbench.settings.run_fields import common_fields

MOST = 3  # settings that are named in the form
LONGEST_FILE = 28  # letters of the name of a file
LONGEST = 190  # characters; seed and fold of a run come behind
OF_ONE_RUN = re.compile(r"(seed|fold) \d+|\d+ more changed")  # differing parts in the name of a run
# Fields that are shown elsewhere, or are not part of the experiment.
UNNAMED = ("name", "seed", "seeds", "device", "dataset.name", "loss.name")
LATER = ("sampler", "augmentation", "evaluation")  # parts that the form shows behind all others
Values = dict[str, Any]


def short_title(field: Field, value: Any) -> str:
    """How a choice is called in short: "ICE" of "Instance cross-entropy (ICE)"."""
    names = dict(zip(field.get("enum", ()), field.get("titles") or field.get("enum", ()), strict=True))
    return abbreviated(str(names.get(value, value)))


def name_that_follows(
    base: Mapping[str, Any], fields: Mapping[str, Field], changed: Mapping[str, Any], network: str = "",
    most: int = MOST,
) -> str:  # fmt: skip
    """The name of a config that nobody named.

    Args:
        base: values of the preset or config that it started from; its name holds for its loss and data set.
        fields: descriptions by path; those of `changed` and "loss.name".
        changed: the values that differ from `base`, by path.
        network: path of the field that names the network where a backbone has many, "backbone.model"; its value is
            enough then.
        most: the number of settings that are named; of the others their number is.

    Returns:
        The name of `base` or, with another loss or data set, the loss in short; then what differs.
    """
    named = [path for path in changed if path not in UNNAMED and not _says_which_data(path, fields[path])]
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
        str(changed[path]) if path == network else _words(path, fields[path], changed[path]) for path in named[:most]
    ]
    more = [f"{len(named) - most} more changed"] if len(named) > most else []
    return ", ".join((head, *words, *more))[:LONGEST]


def named_by_changes(base: RunConfig, config: RunConfig, known: Catalog) -> str:
    """The name of a config that was changed from `base` and that nobody named, as the form names it.

    Every setting is named that fits, and the seed of a single run, so that the runs of a loop differ by their names.

    Args:
        base: the config of a preset or file.
        config: the same with other values; both checked, and with whole paths.
        known: the entries and their fields.
    """
    before, now, fields = _all_values(base, config, known)
    parts = sorted(now, key=lambda part: part in LATER)
    paths = [f"{part}.{name}" if name else part for part in parts for name in _names_in(now[part])]
    changed = {path: _at(now, path) for path in paths if _at(now, path) != _at(before, path)}
    network = catalogs.fact(known, "backbone", config.backbone.name, "named_by")
    of_one_run = "".join(f", {part}" for part in _seed_and_fold(base, config, known))
    for most in range(len(changed), -1, -1):
        name = name_that_follows(before, fields, changed, f"backbone.{network}" if network else "", most)
        if len(name) + len(of_one_run) < LONGEST:
            break
    return name[: LONGEST - len(of_one_run)] + (of_one_run if changed else "")


def _all_values(base: RunConfig, config: RunConfig, known: Catalog) -> tuple[Values, Values, dict[str, Field]]:
    """The values of both with every parameter of the entries of `config`, as they are by default, and their fields."""
    before, now, fields = base.model_dump(), config.model_dump(), common_fields()
    for kind in KINDS:
        was, chosen = {"name": before[kind]["name"]}, {"name": now[kind]["name"]}
        described: Mapping[str, Field] = known[f"{kind}/{now[kind]['name']}"]["params"]
        fresh = {name: field["default"] for name, field in described.items()}
        before[kind] = was | fresh | (before[kind] if was == chosen else {})
        now[kind] = chosen | fresh | now[kind]
        titles = {name: str(known[f"{kind}/{name}"]["title"]) for name in catalogs.names(known, kind)}
        fields[f"{kind}.name"] = {"enum": list(titles), "titles": list(titles.values())}
        fields |= {f"{kind}.{name}": field for name, field in described.items()}
    return before, now, fields


def _names_in(part: Any) -> Iterable[str]:
    """The fields of a part of the values; of a field at the top an empty name."""
    return part if isinstance(part, dict) else ("",)


def _at(values: Values, path: str) -> Any:
    part, _, name = path.partition(".")
    return values[part].get(name) if name else values[part]


def _seed_and_fold(base: RunConfig, config: RunConfig, known: Catalog) -> list[str]:
    """The seed of a single run that has another, and seed and fold that the name of `base` says and that still hold."""
    words = base.name.split(", ")
    seed, fold = f"seed {config.seed}", f"fold {config.folds(known)[0]}"
    other_seed = config.seeds == 1 and (config.seed != base.seed or seed in words)
    return [*([seed] if other_seed else []), *([fold] if fold in words else [])]


def _says_which_data(path: str, field: Field) -> bool:
    """Whether the field is words on where the data are or what is read of them, which lists show in another place."""
    return path.startswith("dataset.") and field.get("type") == "string" and "enum" not in field


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
