"""Runs by one setting of their configs: which settings differ, and what each run has."""

from collections.abc import Iterable, Sequence

from workbench.comparing.grouping.setting_titles import field_title, short_title, title_with_unit, value_title
from workbench.comparing.grouping.settings import Settings, differing, settings_of
from workbench.entries.catalog import Catalog
from workbench.problem import Problem

UNREAD = "Settings cannot be read"


def settings_that_differ(configs: Iterable[str], known: Catalog) -> list[tuple[str, str]]:
    """The fields with several values among these configs (TOML), each with its title, "Training: Learning rate".

    What only some of them have, as the margin of a loss, counts where those have several values. Configs that cannot
    be read are left out.
    """
    chosen = [settings for settings in _read(configs, known).values() if settings is not None]
    fields = [
        row.field for row in differing(chosen) if len({str(value) for value in row.values if value is not None}) > 1
    ]
    return [(field, field_title(field, chosen, known)) for field in fields]


def titles_by(field: str, configs: Iterable[str], known: Catalog) -> tuple[str, dict[str, str]]:
    """The title of a field, and that of its value in each config (TOML): "Learning rate 0.01", "Without margin"."""
    read = _read(configs, known)
    chosen = [settings for settings in read.values() if settings is not None]
    titles = {config: _title(field, settings, chosen, known) for config, settings in read.items()}
    return field_title(field, chosen, known), titles


def _title(field: str, settings: Settings | None, chosen: Sequence[Settings], known: Catalog) -> str:
    if settings is None:
        return UNREAD
    value = settings.get(field)
    if value is None:
        return f"Without {short_title(field, chosen, known)}"
    title, _, unit = title_with_unit(field, chosen, known).rpartition(": ")[2].partition(", ")
    text = value_title(field, value, known) or "empty"
    return " ".join(filter(None, (f"{title}:" if isinstance(value, bool | str) else title, text, unit)))


def _read(configs: Iterable[str], known: Catalog) -> dict[str, Settings | None]:
    read: dict[str, Settings | None] = {}
    for config in configs:
        try:
            read[config] = settings_of(config, known)
        except Problem:
            read[config] = None
    return read
