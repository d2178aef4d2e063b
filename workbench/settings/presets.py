"""Presets from resources/presets. What several files share is stored once, in a file below presets/shared.

`base = "ccp"` takes shared/ccp.toml, which may have its own base, and overrides it by the fields of the file. A part
that names another entry than the base's replaces the whole part of the base. A field that is overridden does not keep
the base's source: the file must name its own.
"""

import json
import tomllib
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any

from workbench.config import RunConfig
from workbench.files.resources import resources, shipped

Values = dict[str, Any]
SHARED = "shared"  # the folder of what presets share
SHIPPED = "presets.json"  # among the resources: what the files hold, written by packaging/catalog.py
UNSAID = "The paper does not say; Workbench's choice"


@dataclass(frozen=True)
class Preset:
    """A preset from resources/presets."""

    key: str  # the file's name without ending
    title: str
    summary: str
    values: Values  # of its config; do not change them
    sources: dict[str, str]  # dotted field -> paper and section, or a sentence if the paper does not say

    @cached_property
    def config(self) -> RunConfig:
        """The run; its parameters are not checked against the catalog."""
        return RunConfig.model_validate(self.values)

    @property
    def sources_told(self) -> dict[str, str]:
        """The sources in the words of the form."""
        return {field: f"{source} (the preset's value)" for field, source in self.sources.items()}


def presets() -> list[Preset]:
    """The presets by their `order`: as shipped; a file that was changed since is parsed again."""
    stored = shipped(SHIPPED)
    described = stored["presets"] if stored.get("files") == files_hash() else parsed()
    return [Preset(**fields) for fields in described]


def files_hash() -> str:
    """A hash of all files of presets, those that others share included."""
    folder, digest = resources() / "presets", blake2b(digest_size=16)
    for path in sorted(folder.rglob("*.toml")):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def parsed() -> list[dict[str, Any]]:
    """The fields of each Preset by their `order`, read from its file: 20 times slower than the shipped ones."""
    ordered = []
    for path in (resources() / "presets").glob("*.toml"):
        values = read(path)
        order, summary, sources = values.pop("order"), values.pop("summary"), values.pop("sources", {})
        unsaid = values.pop("unsaid", UNSAID)
        if sources:  # a paper's preset: fields without a source are marked as such
            sources = dict.fromkeys(fields_set(values), unsaid) | sources
        fields = {"key": path.stem, "title": values["name"], "summary": summary, "values": values, "sources": sources}
        ordered.append((order, fields))
    return [fields for _, fields in sorted(ordered, key=lambda pair: pair[0])]


def shipped_text() -> str:
    """The text of the shipped file."""
    return json.dumps({"files": files_hash(), "presets": parsed()}, ensure_ascii=False, indent=1) + "\n"


def read(path: Path) -> Values:
    """A preset's whole content, its base included: fields of the run, and order, summary, sources, unsaid."""
    own = tomllib.loads(path.read_text("utf-8"))
    if "base" not in own:
        return own
    shared = path.parent if path.parent.name == SHARED else path.parent / SHARED
    base = _shared(shared / f"{own.pop('base')}.toml")
    sources = base.get("sources", {})
    values = base | own
    for part, value in own.items():
        before = base.get(part)
        if not (isinstance(value, dict) and isinstance(before, dict)):
            continue
        if "name" not in value or "name" not in before or value["name"] == before["name"]:
            values[part] = before | value
    kept = set(fields_set(values)) - set(fields_set(own))
    values["sources"] = {field: source for field, source in sources.items() if field in kept} | own.get("sources", {})
    return values


@cache
def _shared(path: Path) -> Values:
    """What presets share; do not change it."""
    return read(path)


def fields_set(values: Values) -> list[str]:
    """Dotted names of the fields of a run that a preset sets, without its name."""
    fields: list[str] = []
    for part, value in values.items():
        if part in ("name", "order", "summary", "unsaid", "sources"):
            continue
        fields += [f"{part}.{field}" for field in value] if isinstance(value, dict) else [part]
    return fields
