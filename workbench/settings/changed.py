"""A config with some fields changed by dotted name: `--set FIELD=VALUE`, and each setting of a sweep."""

import os
import tomllib
from collections.abc import Mapping
from typing import Any

from workbench.config import KINDS, BadConfig, RunConfig
from workbench.entries import catalog as catalogs
from workbench.entries.catalog import Catalog
from workbench.settings.presets import presets


def read_config(name: str, changes: tuple[str, ...] = ()) -> RunConfig:
    """A config file or preset with `FIELD=VALUE` changes. Raises BadConfig naming each bad field."""
    by_key = {preset.key: preset.config for preset in presets()}
    config = by_key[name] if name in by_key and not os.path.exists(name) else RunConfig.from_toml(name)
    values: dict[str, Any] = {}
    for change in changes:
        field, equals, text = change.partition("=")
        if not equals:
            raise BadConfig(f"--set {change}", {field: "Write it as FIELD=VALUE."})
        values[field] = toml_value(text)
    return changed(config, values, catalogs.current(), name)


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
        for parent in parents:
            if not isinstance(section.get(parent), dict):
                raise BadConfig(source, {field: "There is no such field."})
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
