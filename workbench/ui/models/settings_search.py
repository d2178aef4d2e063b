"""Searching runs by a setting of their configs: "lr=0.01", "training.optimiser=sgd"."""

import re
from functools import lru_cache


def has_setting(config: str, word: str) -> bool:
    """Whether a config (TOML) has a field with this value, or one that begins so: somebody may still be typing.

    The file is not parsed: for a thousand runs that takes longer than anybody wants to wait between two letters.

    Args:
        word: in lower case, "lr=0.01"; a section may stand before the field. Numbers are compared as numbers.
    """
    field, _, wanted = word.partition("=")
    section, _, name = field.rpartition(".")
    start = config.find(f"[{section}]\n") if section else 0
    end = config.find("\n[", start) if section else -1
    if start < 0 or not name:
        return False
    values = _lines_of(name).findall(config, start, end if end >= 0 else len(config))
    return any(_fits(value.casefold().strip('"'), wanted) for value in values)


@lru_cache(64)
def _lines_of(name: str) -> re.Pattern[str]:
    return re.compile(rf"^{re.escape(name)} = (.*)$", re.MULTILINE)


def _fits(value: str, wanted: str) -> bool:
    if value.startswith(wanted):
        return True
    try:
        return float(value) == float(wanted)
    except ValueError:
        return False
