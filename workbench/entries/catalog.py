"""The registry as a cached file: the form, `list` and the docs read it without loading torch."""

import json
import os
from collections.abc import Callable, Iterator
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from platformdirs import user_cache_path
from pydantic import Field, ValidationError, create_model

from workbench import files, plugins, registry
from workbench.files import parts
from workbench.files.resources import shipped
from workbench.numerals import with_point
from workbench.params import Params
from workbench.problem import Problem

Catalog = dict[str, dict[str, Any]]
Values = dict[str, Any]
NameOf = Callable[[str], str]
SHIPPED = "catalog.json"  # among the resources; written by packaging/catalog.py
TYPES = {"boolean": bool, "integer": int, "number": float, "string": str}
_LAST: list[Catalog] = []
NO_TEXT = "Must be text."
NO_FIELD = "There is no such field."
LIMITS = {"minimum": "ge", "exclusiveMinimum": "gt", "maximum": "le", "exclusiveMaximum": "lt"}


def cache_folder() -> Path:
    """The folder for files that Workbench can make again."""
    return user_cache_path("workbench", appauthor=False)


def path(cache: Path) -> Path:
    """The file of the catalog of the current entries; a new or changed entry or plug-in changes its name."""
    here = os.path.dirname(registry.__file__)
    described = [os.path.join(here, file_name) for file_name in ("registry.py", "entries/facts.py", "params.py")]
    for package in registry.PACKAGES:
        described += _modules(os.path.join(here, package.rpartition(".")[2]))
    stamps = [*map(_stamp, sorted(described)), *plugins.stamps()]
    return cache / f"catalog-{sha256(repr(stamps).encode()).hexdigest()[:16]}.json"


def _modules(folder: str) -> Iterator[str]:
    """The Python files in a folder and below it. As text: a hundred objects of Path take four times as long."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                yield entry.path
            elif entry.name != "__pycache__" and entry.is_dir():
                yield from _modules(entry.path)


def _stamp(file: str) -> tuple[str, int, int]:
    facts = os.stat(file)
    return file, facts.st_size, facts.st_mtime_ns


def read(cache: Path | None = None) -> Catalog | None:
    """The catalog, or None if it must be written first. Takes a few milliseconds."""
    stored = _stored(cache)
    return None if stored is None else stored["entries"]


def at_first() -> Catalog:
    """The catalog for a window that opens now: that of `read`, else Workbench's own entries as shipped.

    At the very first start, plug-ins are missing until `current` was called. Takes a few milliseconds.
    """
    stored = read()
    return shipped(SHIPPED) if stored is None else stored


def text_of(known: Catalog) -> str:
    """A catalog as the text of its file."""
    return json.dumps(known, ensure_ascii=False, indent=1) + "\n"


def broken(cache: Path | None = None) -> dict[str, str]:
    """Origin -> one sentence, for every plug-in that could not be used when the catalog was written."""
    stored = _stored(cache)
    return {} if stored is None else stored["broken"]


def _stored(cache: Path | None) -> dict[str, Any] | None:
    """The content of the catalog's file; None if it is missing, damaged or cannot be read: then it is made again."""
    try:
        stored: Any = json.loads(path(cache or cache_folder()).read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    whole = isinstance(stored, dict) and all(isinstance(stored.get(part), dict) for part in ("entries", "broken"))
    return stored if whole else None


def names(known: Catalog, kind: str) -> list[str]:
    """The entries of that kind, by name."""
    return [key.partition("/")[2] for key in known if key.startswith(f"{kind}/")]


def fact(known: Catalog, kind: str, name: str, of: str) -> Any:
    """A fact of an entry (facts.py); None if the entry or the fact is unknown."""
    return known.get(f"{kind}/{name}", {}).get("facts", {}).get(of)


def published(known: Catalog, loss: str, dataset: str, chosen: Values | None = None) -> Values:
    """Parameters of this loss that a paper gives for this data set; empty if it gives none.

    If they depend on another parameter, its value in `chosen` decides, else the paper's first choice.
    """
    fields = _resolved(_by_data(known, loss, "defaults").get(dataset, {}), chosen or {})
    return {name: value for name, value in fields.items() if "." not in name}


def published_fields(known: Catalog, loss: str, dataset: str, chosen: Values | None = None) -> Values:
    """All values that a paper gives for this loss on this data set, by dotted field of the run; may be empty."""
    return _dotted(_resolved(_by_data(known, loss, "defaults").get(dataset, {}), chosen or {}))


def deciding(known: Catalog, loss: str, dataset: str) -> set[str]:
    """Parameters of the loss on whose value other published values for this data set depend."""
    fields = _by_data(known, loss, "defaults").get(dataset, {})
    return {name for name, value in fields.items() if isinstance(value, dict)}


def measured_fields(known: Catalog, loss: str, dataset: str) -> dict[str, Any]:
    """The settings, by dotted field, with which this loss was measured here on this data set (docs/results.md)."""
    return _dotted(_by_data(known, loss, "measured").get(dataset, {}))


def defaults_told(
    known: Catalog, loss: str, dataset: str = "", name_of: NameOf = lambda key: key.removeprefix("dataset/")
) -> list[str]:
    """What is published and what was measured here, a sentence each; for one data set, or for all.

    `name_of` gives the words for a dotted field and for a data set, "dataset/cub"; by default as in a config file.
    """
    source = fact(known, "loss", loss, "defaults_source")
    named, said = list(_by_data(known, loss, "defaults")), []
    for data in [name for name in named if dataset in ("", name)]:
        for chosen in _choices(_by_data(known, loss, "defaults")[data]):
            values = listed(published_fields(known, loss, data, chosen), name_of)
            said.append(f"Published for {name_of(f'dataset/{data}')}: {values} ({source}).")
    if not said and source:
        others = ", ".join(name_of(f"dataset/{data}") for data in named)
        nothing = f"No values are published for {name_of(f'dataset/{dataset}')}; there are some for {others}."
        said.append(nothing if named else f"{source}.")
    for data in [name for name in _by_data(known, loss, "measured") if dataset in ("", name)]:
        values = listed(measured_fields(known, loss, data), name_of)
        said.append(f"Measured here on {name_of(f'dataset/{data}')}: {values} (docs/results.md).")
    return said


def listed(values: dict[str, Any], name_of: NameOf) -> str:
    """Values by dotted field as text: "loss.margin = 0.5, embedding.bounded = true"."""
    return ", ".join(
        f"{name_of(path)} = {str(value).lower() if isinstance(value, bool) else value}"
        for path, value in values.items()
    )


def _by_data(known: Catalog, loss: str, of: str) -> dict[str, dict[str, Any]]:
    return fact(known, "loss", loss, of) or {}


def _resolved(values: Values, chosen: Values) -> Values:
    """The values, with those that depend on a parameter resolved for its chosen value or the paper's first choice."""
    fields: Values = {}
    for name, value in values.items():
        if isinstance(value, dict):
            choice = chosen.get(name, next(iter(value)))
            fields |= {name: choice, **value.get(choice, {})}
        else:
            fields[name] = value
    return fields


def _choices(values: Values) -> list[Values]:
    """The values of the parameter on which others depend; one empty choice if there is no such parameter."""
    return [{name: choice} for name, value in values.items() if isinstance(value, dict) for choice in value] or [{}]


def _dotted(values: Values) -> Values:
    return {name if "." in name else f"loss.{name}": value for name, value in values.items()}


def write(cache: Path, between: Callable[[], None] = lambda: None) -> Catalog:
    """Load the engine and describe it. Takes seconds: never call it on the window's thread.

    `between` is called before each module and each plug-in; it may raise Cancelled. Raises Problem if the file cannot
    be written.
    """
    registry.discover_all(between)
    between()
    described = registry.catalog()
    stored = {"entries": described, "broken": registry.broken()}
    files.make_folder(cache)
    parts.remove_dead(cache)
    with files.atomic_write(path(cache)) as file:
        file.write(json.dumps(stored, ensure_ascii=False, indent=1).encode())
    return described


def write_now(between: Callable[[], None] = lambda: None) -> Catalog:
    """Write the catalog where every start looks for it; `between` as in `write`."""
    return write(cache_folder(), between)


def current(between: Callable[[], None] = lambda: None) -> Catalog:
    """The catalog, made when it is not there yet (seconds); `between` as in `write`.

    Where its file cannot be written, as on a full disk, it is made at each start.
    """
    catalog = read()
    if not catalog:
        try:
            catalog = write_now(between)
        except Problem:
            catalog = registry.catalog()
    _LAST[:] = [catalog]
    return catalog


def last() -> Catalog:
    """The catalog that `current` last returned in this process, else `current()`: for frequent calls of the window."""
    return _LAST[0] if _LAST else current()


@lru_cache(maxsize=256)
def _model(described: str) -> type[Params]:
    fields: dict[str, Any] = {}
    for name, field in json.loads(described).items():
        kind: Any = Literal[tuple(field["enum"])] if "enum" in field else TYPES[field["type"]]
        limits = {LIMITS[key]: value for key, value in field.items() if key in LIMITS}
        fields[name] = (kind, Field(field["default"], **limits))
    return create_model("Described", __base__=Params, **fields)


def params_of(catalog: Catalog, kind: str, name: str) -> type[Params]:
    """The parameter class of an entry, built from its description: the same checks, without loading the engine."""
    return _model(json.dumps(catalog[f"{kind}/{name}"]["params"]))


def errors(model: type[Params], values: dict[str, Any]) -> dict[str, str]:
    """One sentence for each bad value, by field name."""
    try:
        model.model_validate(values)
    except ValidationError as error:
        return sentences(error)
    return {}


def sentences(invalid: ValidationError) -> dict[str, str]:
    """pydantic's errors by dotted field, in the words of the form."""
    return {".".join(str(part) for part in error["loc"]): _sentence(dict(error)) for error in invalid.errors()}


def _sentence(error: dict[str, Any]) -> str:
    context = error.get("ctx", {})
    match error["type"]:
        case "extra_forbidden":
            return NO_FIELD
        case "missing":
            return "This field is needed."
        case "greater_than":
            return f"Must be more than {_number(context['gt'])}."
        case "greater_than_equal":
            return f"Must be {_number(context['ge'])} or more."
        case "less_than":
            return f"Must be less than {_number(context['lt'])}."
        case "less_than_equal":
            return f"Must be {_number(context['le'])} or less."
        case "literal_error":
            return f"Must be one of {context['expected']}."
        case "int_parsing" | "int_type" | "int_from_float":
            return "Must be a whole number."
        case "float_parsing" | "float_type" | "finite_number":
            point = with_point(error.get("input"))
            return f"Must be a number with a point, not a comma: {point}." if point else "Must be a number."
        case "bool_parsing" | "bool_type":
            return "Must be true or false."
        case "string_type":
            return NO_TEXT
        case "string_too_short":
            return "Must not be empty."
        case "string_too_long":
            return f"Must have at most {_number(context['max_length'])} characters."
        case "model_type" | "dict_type":
            return "Must be a section with fields."
        case "value_error":  # a sentence of our own
            return f"{context['error']}".rstrip(".") + "."
    return "This value cannot be used."


def _number(limit: float) -> str:
    """A limit with all its digits: "1,000,000" and "0.5"."""
    return f"{int(limit):,}" if limit == int(limit) else f"{limit:g}"
