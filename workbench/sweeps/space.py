"""What a sweep varies: parameters by dotted name, each with values or a range, checked against the catalog."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from math import isfinite
from typing import Any

import numpy as np

from workbench.config import (
    KINDS,
    BadConfig,
    EmbeddingParams,
    EvaluationParams,
    RunConfig,
    TrainingParams,
    from_root,
    sections,
    similar_fields,
)
from workbench.entries import catalog as catalogs
from workbench.entries.catalog import Catalog
from workbench.names import inside_sentence, nearest_first
from workbench.params import Params
from workbench.settings import checks
from workbench.settings.changed import changed, toml_value

Value = bool | int | float | str
Setting = dict[str, Value]  # one value for each parameter, by dotted field
SECTIONS: dict[str, type[Params]] = {
    "embedding": EmbeddingParams,
    "training": TrainingParams,
    "evaluation": EvaluationParams,
}
MOST_WHOLE = 64  # whole numbers of a range that a grid takes one by one
MOST_POINTS = 10_000  # of a range, in a grid
LONGEST = 60  # letters of a text in names and tables
DIGITS = 6  # of a drawn number: it is written in names, tables and configs


@dataclass(frozen=True, slots=True)
class Parameter:
    """One field with its values, or with a range from `low` to `high`, both included."""

    field: str  # dotted: "loss.scale"
    values: tuple[Value, ...] = ()
    low: float | None = None
    high: float | None = None
    log: bool = False  # whether equal ratios, not equal steps, are alike
    points: int | None = None  # of a range, in a grid
    whole: bool = False  # whether only whole numbers are meant
    entries: tuple[str, ...] = ()  # those of its part that have the field, where the sweep varies others, too

    @property
    def chooser(self) -> str:
        """The field with the name of the entry that it belongs to: "loss.name"."""
        return f"{self.field.partition('.')[0]}.name"

    def belongs_to(self, setting: Mapping[str, Value]) -> bool:
        """Whether the entry that the setting chooses has the field."""
        return not self.entries or setting[self.chooser] in self.entries

    @property
    def ranged(self) -> bool:
        """Whether it is varied over a range of numbers instead of listed values."""
        return self.low is not None

    def at(self, share: float) -> int | float:
        """The number at that fraction (0..1) of the range, an integer or with six digits, never outside.

        Raises:
            ValueError: the parameter has values, not a range.
        """
        if self.low is None or self.high is None:
            raise ValueError(self.field)
        low, high = self.low, self.high
        exact = float(low * (high / low) ** share) if self.log else low + (high - low) * share
        if self.whole:
            return int(min(max(round(exact), low), high))
        return min(max(float(f"{exact:.{DIGITS}g}"), low), high)

    def listed(self) -> tuple[Value, ...]:
        """The values that a grid takes, without repeats. Raises BadConfig for a range without a number of points."""
        if self.low is None or self.high is None:
            return self.values
        points = self.points
        if points is None:
            if not self.whole or self.high - self.low >= MOST_WHOLE:
                raise BadConfig(
                    "The sweep", {self.field: f"A grid needs values, or a range with points: {written(self)}:5."}
                )
            return tuple(range(int(self.low), int(self.high) + 1))
        return tuple(dict.fromkeys(self.at(float(share)) for share in np.linspace(0, 1, points)))


def read(text: str) -> Parameter:
    """A parameter from "FIELD=A,B,C" or "FIELD=LOW..HIGH", then perhaps ":log" and ":POINTS".

    Raises:
        BadConfig: naming the field and what is wrong with it.
    """
    field, equals, listing = (part.strip() for part in text.partition("="))
    if not (field and equals and listing):
        raise BadConfig("The sweep", {field or text: "Write it as FIELD=A,B,C or FIELD=LOW..HIGH, with :log or :5."})
    listed = toml_value(f"[{listing}]")  # commas and dots inside quotes belong to the word
    if isinstance(listed, list) or ".." not in listing or "/" in listing or "\\" in listing:
        values = listed if isinstance(listed, list) else [toml_value(value.strip()) for value in listing.split(",")]
        if not all(isinstance(value, bool | int | float | str) and value != "" for value in values):
            raise BadConfig("The sweep", {field: f"{listing!r} are not values separated by commas."})
        return Parameter(field, tuple(dict.fromkeys(values)))
    limits, *marks = listing.split(":")
    low, _, high = limits.partition("..")
    ends = _number(field, low), _number(field, high)
    digits = [mark for mark in marks if mark != "log"]
    numbers = [int(mark[:9]) for mark in digits if mark.isascii() and mark.isdigit()]
    if len(digits) > 1 or len(numbers) < len(digits):
        raise BadConfig("The sweep", {field: f"After the range only :log and a number of points can stand: {listing}."})
    return Parameter(field, (), *ends, log="log" in marks, points=numbers[0] if numbers else None)


def written(parameter: Parameter) -> str:
    """The part after the "=" as `read` takes it."""
    if parameter.low is None or parameter.high is None:
        # Bare words and quoted ones do not mix: what is no TOML is cut at every comma.
        bare = all(_bare(value) for value in parameter.values)
        return ",".join(_word(value, bare) for value in parameter.values)
    points = "" if parameter.points is None else f":{parameter.points}"
    low, high = (_word(end, bare=True) for end in (parameter.low, parameter.high))  # with all digits
    return f"{low}..{high}{':log' if parameter.log else ''}{points}"


def checked(parameters: Sequence[Parameter], config: RunConfig, known: Catalog) -> tuple[Parameter, ...]:
    """The parameters with their values as the catalog's types, and with the entries that have them.

    Raises:
        BadConfig: no parameter, one named twice, a field that no chosen entry has, a value or limit that it cannot
            have.
    """
    if not parameters:
        raise BadConfig("The sweep", {"parameters": "Name at least one field with its values."})
    names = [parameter.field for parameter in parameters]
    for name in names:
        if names.count(name) > 1:
            raise BadConfig("The sweep", {name: "It is named twice."})
    chosen = entries_of(parameters)
    return tuple(_checked(parameter, config, known, chosen) for parameter in parameters)


def fields(
    config: RunConfig, known: Catalog, chosen: Mapping[str, Sequence[Value]] | None = None
) -> dict[str, dict[str, Any]]:
    """Every field that a sweep of this config can vary, described as in the catalog, by dotted name.

    `chosen` has the entries that it tries, as `entries_of` has them; the first with a field describes that, with the
    limits of all.
    """
    by_field = dict(_common())
    for kind in KINDS:
        names = catalogs.names(known, kind)
        by_field[f"{kind}.name"] = {"type": "string", "enum": names, "default": config.choice(kind).name}
        tried = [entry for entry in (chosen or {}).get(f"{kind}.name", ()) if f"{kind}/{entry}" in known]
        for entry in tried or (config.choice(kind).name,):
            described = known.get(f"{kind}/{entry}", {"params": {}})["params"]
            for name, facts in described.items():
                field = f"{kind}.{name}"
                by_field[field] = _allowed_by_both(by_field[field], facts) if field in by_field else facts
    return by_field


def _allowed_by_both(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """The description of the first field with the choices and limits that both have."""
    both = dict(first)
    if shared := [choice for choice in first.get("enum", ()) if choice in second.get("enum", ())]:
        both["enum"] = shared
    for sign, with_end, without in ((1, "minimum", "exclusiveMinimum"), (-1, "maximum", "exclusiveMaximum")):
        limits = [
            (sign * facts[key], key == without, key)
            for facts in (first, second) for key in (with_end, without) if key in facts
        ]  # fmt: skip
        if limits:
            narrowest, _, key = max(limits)
            both = {name: value for name, value in both.items() if name not in (with_end, without)}
            both[key] = sign * narrowest
    return both


def entries_of(parameters: Sequence[Parameter]) -> dict[str, tuple[Value, ...]]:
    """The entries that a sweep tries, by their field, such as "loss.name"."""
    named = (parameter for parameter in parameters if parameter.field == parameter.chooser)
    return {parameter.field: parameter.values for parameter in named if parameter.field.partition(".")[0] in KINDS}


@lru_cache(maxsize=1)
def _common() -> dict[str, dict[str, Any]]:
    """The fields of the common parts; not to be changed."""
    return {f"{part}.{name}": facts for part, named in sections().items() for name, facts in named.items()}


def configured(config: RunConfig, setting: Mapping[str, Value], known: Catalog) -> RunConfig:
    """The config of one setting, named after it. Raises BadConfig when the fields do not go together."""
    words = in_words(setting, config, known)
    configured_run = changed(config, setting, known, f"The setting {words}").with_whole_paths(known)
    return configured_run.model_copy(update={"name": f"{config.name[: max(20, 150 - len(words))]}: {words}"[:180]})


def in_words(setting: Mapping[str, Value], config: RunConfig, known: Catalog) -> str:
    """ "learning rate 1e-08, loss Normalised CE": fields and entries of a config's setting as the form names them."""
    described = fields(config, known, {field: (value,) for field, value in setting.items()})
    words = []
    for field, value in setting.items():
        part, _, name = field.partition(".")
        if part in KINDS and name == "name":
            title = known.get(f"{part}/{value}", {}).get("title", value)
            words.append(f"{checks.WORDS.get(part, part)} {title}")
            continue
        label = inside_sentence(described.get(field, {}).get("label") or name.replace("_", " "))
        if isinstance(value, bool):
            words.append(f"{label}: {'yes' if value else 'no'}")
        else:
            words.append(f"{label} {short(value)}")  # "1e-08": what a person types to find the run
    return ", ".join(words)


def short_field(field: str) -> str:
    """ "scale" for "loss.scale", "loss" for "loss.name"."""
    return field.removesuffix(".name").rpartition(".")[2]


def short(value: Value) -> str:
    """A value as it is written in names and tables."""
    if isinstance(value, str):
        return value if len(value) <= LONGEST else f"…{value[1 - LONGEST :]}"  # paths differ at their ends
    return f"{value:g}" if isinstance(value, float) else str(value).lower() if isinstance(value, bool) else str(value)


def _checked(
    parameter: Parameter, config: RunConfig, known: Catalog, chosen: Mapping[str, Sequence[Value]]
) -> Parameter:
    part, _, name = parameter.field.partition(".")
    model = SECTIONS.get(part)
    if part in KINDS and name == "name":
        for value in parameter.values:
            if f"{part}/{value}" not in known:
                listed = ", ".join(nearest_first(str(value), catalogs.names(known, part)))
                said = f"There is no {checks.WORDS.get(part, part)} named {value!r}. Known: {listed}."
                raise BadConfig("The sweep", {parameter.field: said})
        if parameter.ranged:
            raise BadConfig("The sweep", {parameter.field: "A range needs a field that holds a number."})
        return parameter
    paths = bool(_common().get(parameter.field, {}).get("path"))
    having = {"": model} if model is not None and name in model.model_fields else {}
    if part in KINDS:
        entries = [str(value) for value in chosen.get(f"{part}.name", (config.choice(part).name,))]
        paths = any(
            known.get(f"{part}/{entry}", {"params": {}})["params"].get(name, {}).get("path") for entry in entries
        )
        models = {entry: catalogs.params_of(known, part, entry) for entry in entries if f"{part}/{entry}" in known}
        having = {entry: candidate for entry, candidate in models.items() if name in candidate.model_fields}
        if len(having) < len(models):
            parameter = replace(parameter, entries=tuple(having))
    if not having:
        raise BadConfig("The sweep", {parameter.field: _unknown(parameter.field, config, known, chosen)})
    fit = partial(_fitting, having, parameter.field, known)
    if not parameter.ranged:
        fitting = [fit(value) for value in parameter.values]
        if paths:  # a worker in another working folder finds them, too
            fitting = [from_root(value) if isinstance(value, str) else value for value in fitting]
        return replace(parameter, values=tuple(dict.fromkeys(fitting)))
    kinds = [candidate.model_fields[name].annotation for candidate in having.values()]
    if any(kind not in (int, float) for kind in kinds):
        raise BadConfig("The sweep", {parameter.field: "A range needs a field that holds a number."})
    low, high = (fit(_whole(end)) for end in (parameter.low, parameter.high))
    assert isinstance(low, int | float)
    assert isinstance(high, int | float)
    if not low < high:
        raise BadConfig("The sweep", {parameter.field: f"The range must rise: {low:g} to {high:g} does not."})
    if parameter.log and low <= 0:
        raise BadConfig("The sweep", {parameter.field: "A logarithmic range must begin above 0."})
    if parameter.points is not None and parameter.points < 2:
        raise BadConfig("The sweep", {parameter.field: "A range has 2 points or more."})
    if parameter.points is not None and parameter.points > MOST_POINTS:
        raise BadConfig("The sweep", {parameter.field: f"A range has {MOST_POINTS:,} points or fewer."})
    return replace(parameter, low=low, high=high, whole=int in kinds)


def _fitting(having: Mapping[str, type[Params]], field: str, known: Catalog, value: Any) -> Value:
    """The value as the field's type; raises BadConfig with the sentence of the form, and the entry if it has several.

    `having` are the entries that it is used with, by name, each of which may have other limits.
    """
    part, _, name = field.partition(".")
    for entry, model in having.items():
        errors = catalogs.errors(model, {name: value})
        if errors:
            title = known.get(f"{part}/{entry}", {}).get("title", entry)
            used = f" with {checks.WORDS.get(part, part)} {title}" if len(having) > 1 else ""
            raise BadConfig("The sweep", {field: f"{short(value)}{used}: {next(iter(errors.values()))}"})
    fitting: Value = getattr(next(iter(having.values())).model_validate({name: value}), name)
    return fitting


def _unknown(field: str, config: RunConfig, known: Catalog, chosen: Mapping[str, Sequence[Value]]) -> str:
    if field in ("seed", "seeds"):
        return "Seeds are not a parameter: set their number with --seeds."
    part = field.partition(".")[0]
    there = [name for name in fields(config, known, chosen) if name.startswith(f"{part}.")]
    if there:
        return f"{catalogs.NO_FIELD} Known: {', '.join(nearest_first(field, there))}."
    alike = ", ".join(similar_fields(field, config.model_dump(), known))
    return f"{catalogs.NO_FIELD} {f'Similar: {alike}.' if alike else 'Write its part before it, as in loss.scale.'}"


def _whole(number: float | None) -> int | float | None:
    return int(number) if number is not None and number.is_integer() else number


def _number(field: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not isfinite(number):
        raise BadConfig("The sweep", {field: f"{text.strip()!r} is not a number: a range is LOW..HIGH."})
    return number


def _bare(value: Value) -> bool:
    """Whether a value needs no quotes to be read as itself."""
    if not isinstance(value, str):
        return True
    return value.replace("_", "").replace("-", "").isalnum() and toml_value(value) == value


def _word(value: Value, bare: bool) -> str:
    if isinstance(value, str):
        return value if bare else '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, float) and float(f"{value:g}") == value:
        return f"{value:g}"
    return str(value).lower() if isinstance(value, bool) else repr(value)
