"""Names of settings and their values as the Set up page shows them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from workbench.comparing.grouping.settings import TRAINED_ON, Settings, written
from workbench.config import KINDS, sections
from workbench.entries.catalog import Catalog
from workbench.names import inside_sentence
from workbench.numerals import raised

KIND_TITLES = {"dataset": "Data set", TRAINED_ON: "Trained on"}
SAME_FIELDS = {TRAINED_ON: "dataset"}  # parts whose fields are those of another
TITLED = ("backbone.name", "loss.name")  # fields whose values say what they are


def field_title(field: str, chosen: Sequence[Settings], known: Catalog) -> str:
    """ "Training: Learning rate" for "training.lr", "Loss" for "loss.name".

    Args:
        field: dotted. chosen: settings that say which loss, data set and so on are meant. known: the catalog.
    """
    part, _, name = field.partition(".")
    heading = KIND_TITLES.get(part, part.capitalize())
    if not name:
        return heading.replace("_", " ")
    if name == "name" and SAME_FIELDS.get(part, part) in KINDS:
        return heading
    facts = _described(field, chosen, known)
    return f"{heading}: {facts.get('label') or name.replace('_', ' ').capitalize()}"


def column_titles(fields: Iterable[str], chosen: Sequence[Settings], known: Catalog) -> dict[str, str]:
    """ "Learning rate" for "training.lr"; with their part, "Loss: Scale", where two fields have that title."""
    whole = {field: field_title(field, chosen, known) for field in fields}
    short_titles = {field: title.rpartition(": ")[2] for field, title in whole.items()}
    times = Counter(short_titles.values())
    return {field: title if times[title] == 1 else whole[field] for field, title in short_titles.items()}


def title_with_unit(field: str, chosen: Sequence[Settings], known: Catalog) -> str:
    """As `field_title`, with the unit of its numbers: "Data set: Image size, px"; the head of a table's row."""
    unit = _described(field, chosen, known).get("unit")
    return ", ".join(filter(None, (field_title(field, chosen, known), unit)))


def short_title(field: str, chosen: Sequence[Settings], known: Catalog) -> str:
    """ "learning rate" for "training.lr", "loss" for "loss.name": the title without its part, inside a sentence."""
    return inside_sentence(field_title(field, chosen, known).rpartition(": ")[2])


def value_title(field: str, value: Any, known: Catalog) -> str:
    """An entry by its title, as "Cross-entropy (CE)"; "1×10⁻⁸" for 1e-08; any other value as a user writes it."""
    part, _, name = field.partition(".")
    title = known.get(f"{SAME_FIELDS.get(part, part)}/{value}", {}).get("title") if name == "name" else None
    text = str(title or written(value))
    return raised(text) if isinstance(value, float) else text


def setting_words(field: str, value: Any, chosen: Sequence[Settings], known: Catalog) -> str:
    """ "learning rate 0.1", "loss Cross-entropy (CE)", "batch-norm on top: yes": a setting inside a sentence."""
    return f"{short_title(field, chosen, known)}{':' * isinstance(value, bool)} {value_title(field, value, known)}"


def telling_words(field: str, value: Any, chosen: Sequence[Settings], known: Catalog) -> str:
    """As `setting_words`; a known loss or backbone by its title alone, "Cross-entropy (CE)"."""
    if field in TITLED and f"{field.partition('.')[0]}/{value}" in known:
        return value_title(field, value, known)
    return setting_words(field, value, chosen, known)


def setting_with_unit(field: str, value: Any, chosen: Sequence[Settings], known: Catalog) -> str:
    """As `setting_words`, with the unit of a number: "image size 64 px"."""
    unit = _described(field, chosen, known).get("unit", "") if isinstance(value, int | float) else ""
    return " ".join(filter(None, (setting_words(field, value, chosen, known), unit)))


def _described(field: str, chosen: Sequence[Settings], known: Catalog) -> dict[str, Any]:
    """What is known about a field: its label, unit and so on."""
    part, _, name = field.partition(".")
    return sections().get(part, {}).get(name) or _of_an_entry(part, name, chosen, known)


def _of_an_entry(part: str, name: str, chosen: Sequence[Settings], known: Catalog) -> dict[str, Any]:
    """The description of the parameter by the first entry that the settings choose."""
    kind = SAME_FIELDS.get(part, part)
    entries = (known.get(f"{kind}/{settings.get(f'{part}.name')}", {}) for settings in chosen)
    named = (entry.get("params", {}).get(name) for entry in entries)
    return next((facts for facts in named if facts), {})
