"""A config with some fields changed by dotted name: `--set FIELD=VALUE`, and each setting of a sweep."""

import os
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from workbench.config import KINDS, BadConfig, Choice, RunConfig, with_similar
from workbench.entries import catalog as catalogs
from workbench.entries.catalog import NO_FIELD, NO_TEXT, Catalog
from workbench.names import similar, visible_name
from workbench.problem import UnknownName
from workbench.settings.naming import LONGEST, named_by_changes
from workbench.settings.presets import presets


def read_config(
    name: str, changes: tuple[str, ...] = (), *, before: Mapping[str, Any] | None = None, source: str = ""
) -> RunConfig:
    """A config file or preset with `FIELD=VALUE` changes; a field that is text takes `name=2026` as it is written.

    Unless the changes give a name, it says what they are, as `named_by_changes` writes it; a file without a name gives
    its own. A relative path, also one in the file, starts at the working folder, and is whole in the result.

    Args:
        before: values by dotted field that are set first, so that `changes` may change them again.
        source: how error messages name the config; by default by `name`.

    Raises:
        BadConfig: it names each bad field.
        UnknownName: there is no such file or preset.
        Problem: the file cannot be read.
    """
    return read_config_and_base(name, changes, before=before, source=source)[0]


def read_config_and_base(
    name: str, changes: tuple[str, ...] = (), *, before: Mapping[str, Any] | None = None, source: str = ""
) -> tuple[RunConfig, RunConfig]:
    """As `read_config`, and the same settings with the name in the file or preset, which version 0.1 gave every run."""
    texts, known, source = parted(changes, "--set "), catalogs.current(), source or name
    read = _named(name)
    base = (changed(read, before, known, source) if before else read).with_whole_paths(known)
    config = changed_by_texts(base, texts, known, source).with_whole_paths(known)
    if "name" in texts:
        return config, config
    if "name" not in read.model_fields_set:
        own = base.model_copy(update={"name": visible_name(Path(name).stem, LONGEST)})
        base = own if os.path.isfile(name) else RunConfig.model_validate({})
    return config.model_copy(update={"name": named_by_changes(base, config, known)}), config


def parted(changes: Iterable[str], option: str = "") -> dict[str, str]:
    """The values that are written as `FIELD=VALUE`, by field.

    Args:
        option: stands before each of them in an error message.

    Raises:
        BadConfig: a change is written in another way.
    """
    texts: dict[str, str] = {}
    for change in changes:
        field, sign, text = change.partition("=")
        if not field or not sign:
            raise BadConfig(f"{option}{change}", {field or "FIELD": "Write it as FIELD=VALUE."})
        texts[field] = text
    return texts


def changed_by_texts(config: RunConfig, texts: Mapping[str, str], known: Catalog, source: str) -> RunConfig:
    """As `changed`, of values as a person writes them; a field that is text takes `2026` as it is written.

    Raises:
        BadConfig: naming each bad field.
    """
    values = {field: toml_value(text) for field, text in texts.items()}
    while True:  # fields of entries are checked after the others
        try:
            return changed(config, values, known, source)
        except BadConfig as bad:
            words = {field for field in texts if bad.errors.get(field) == NO_TEXT and values[field] != texts[field]}
            if not words:
                raise
            values |= {field: texts[field] for field in words}


def as_changes(base: RunConfig, config: RunConfig, known: Catalog) -> list[str]:
    """What makes `config` of `base`, each as `FIELD=VALUE`; both checked."""
    before, now = base.filled(known).model_dump(), config.filled(known).model_dump()
    fresh = (
        config.model_copy(update={kind: Choice(name=now[kind]["name"]) for kind in KINDS}).filled(known).model_dump()
    )
    changes = []
    for part, values in now.items():
        fields = values if isinstance(values, dict) else {"": values}
        other_entry = part in KINDS and before[part]["name"] != values["name"]
        for name, value in fields.items():
            same = before[part].get(name) if name else before[part]
            if value != (fresh[part][name] if other_entry and name != "name" else same):
                text = str(value).lower() if isinstance(value, bool) else str(value)
                changes.append(f"{part}.{name}={text}" if name else f"{part}={text}")
    return changes


def _named(name: str) -> RunConfig:
    """The config file or the preset of that name; a file comes first."""
    if os.path.exists(name):
        return RunConfig.from_toml(name)
    there = {preset.key: preset for preset in presets()}
    if name in there:
        return there[name].config
    listed = ", ".join(similar(name, there))
    raise UnknownName(
        f"There is no config file {name}, and no preset of that name.",
        kept="Nothing was started.",
        todo=f"{f'Similar: {listed}. ' if listed else ''}`workbench list presets` shows the presets.",
    )


def changed(config: RunConfig, changes: Mapping[str, Any], known: Catalog, source: str) -> RunConfig:
    """The config with other values; names of entries are set first, and drop the parameters of the old entries.

    Args:
        changes: values by dotted field, such as "loss.scale".
        source: how error messages name the config.

    Raises:
        BadConfig: naming each bad field.
    """
    values = config.model_dump()
    for field in sorted(changes, key=lambda name: not name.endswith(".name")):
        *parents, last = field.split(".")
        section: Any = values
        for depth, parent in enumerate(parents, 1):
            if not isinstance(section.get(parent), dict):
                [sentence] = with_similar({".".join(parents[:depth]): NO_FIELD}, values, known).values()
                raise BadConfig(source, {field: sentence})
            section = section[parent]
        if last == "name" and parents and parents[0] in KINDS and section[last] != changes[field]:
            section.clear()  # the new entry has other parameters
        section[last] = changes[field]
    result, errors = RunConfig.from_values(values, known)
    if result is None:
        raise BadConfig(source, errors)
    return result


def toml_value(text: str) -> Any:
    """The TOML value of the text, or the text itself if it is not valid TOML, so that words need no quotes."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):  # also for too many digits or brackets
        return text
