"""Several configs with the same changes, to be trained again: their names, and each of those that are alike once."""

import re
from collections.abc import Mapping, Sequence

from workbench.config import BadConfig, RunConfig
from workbench.entries.catalog import Catalog
from workbench.settings.changed import changed_by_texts

LONGEST_NAME = 200  # letters
MORE = "seed+"  # the field of `seed+=5`


def changed_alike(
    configs: Sequence[tuple[str, str]], texts: Mapping[str, str], known: Catalog
) -> tuple[list[RunConfig], int]:
    """Configs with the same fields changed, each with a name that says so.

    Args:
        configs: the name of each in messages, and its text (TOML).
        texts: values as a person writes them, by dotted field; that of MORE is added to the seed of each, so that the
            seeds of an experiment stay different.
        known: the entries and their fields.

    Returns:
        Those that differ by more than their names, in order, and how many were left out.

    Raises:
        BadConfig: one of them cannot be read, or has not such a field or value.
    """
    different: dict[str, RunConfig] = {}
    for title, text in configs:
        before = RunConfig.from_toml_text(text, title, known)
        own = _with_own_seed(before.seed, texts, title)
        config = changed_by_texts(before, own, known, title)
        if "name" not in own:
            config = config.model_copy(update={"name": _named(before.name, own)})
        different.setdefault(config.model_copy(update={"name": "run"}).to_toml(), config)
    return list(different.values()), len(configs) - len(different)


def _with_own_seed(seed: int, texts: Mapping[str, str], title: str) -> Mapping[str, str]:
    """The changes of a config of that seed. Raises BadConfig for what cannot be added to it."""
    if MORE not in texts:
        return texts
    if "seed" in texts:
        raise BadConfig(title, {"seed": "Write either seed=NUMBER or seed+=NUMBER."})
    more = texts[MORE].strip()
    if not re.fullmatch(r"[0-9]{1,9}", more):
        raise BadConfig(title, {"seed": "Write it as seed+=NUMBER, with a whole number."})
    return {field: text for field, text in texts.items() if field != MORE} | {"seed": str(seed + int(more))}


def _named(name: str, texts: Mapping[str, str]) -> str:
    """A name with the changes behind it, in the place of the values that it said of these fields before."""
    words = [f"{field.removesuffix('.name').rpartition('.')[2].replace('_', ' ')} {texts[field]}" for field in texts]
    said = [re.compile(rf"{re.escape(word.rpartition(' ')[0])} \S+") for word in words]
    first, *parts = name.split(", ")
    kept: Sequence[str] = [part for part in parts if not any(before.fullmatch(part) for before in said)]
    return ", ".join((first, *kept, *words))[:LONGEST_NAME]
