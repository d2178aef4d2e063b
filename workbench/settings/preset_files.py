"""How a preset's file is read: what it shares with others stands once, in a file below presets/shared.

`base = "ccp"` takes shared/ccp.toml and lays the file's own fields over it. A part that names another entry replaces
the base's part whole. A field that is set anew keeps nothing of the base's source: the file says its own.
"""

import tomllib
from pathlib import Path
from typing import Any

Values = dict[str, Any]


def read(path: Path) -> Values:
    """A preset's whole content, its base included: fields of the run, and order, summary, sources, unsaid."""
    own = tomllib.loads(path.read_text("utf-8"))
    if "base" not in own:
        return own
    base = tomllib.loads((path.parent / "shared" / f"{own.pop('base')}.toml").read_text("utf-8"))
    sources = base.pop("sources", {})
    found = base | own
    for part, value in own.items():
        before = base.get(part)
        if isinstance(value, dict) and isinstance(before, dict) and value.get("name") in (None, before.get("name")):
            found[part] = before | value
    kept = set(fields_set(found)) - set(fields_set(own))
    found["sources"] = {path: said for path, said in sources.items() if path in kept} | own.get("sources", {})
    return found


def fields_set(given: Values) -> list[str]:
    """Dotted names of the fields of a run that a preset sets; its name belongs to no recipe."""
    found: list[str] = []
    for part, value in given.items():
        if part in ("name", "order", "summary", "unsaid", "sources"):
            continue
        found += [f"{part}.{field}" for field in value] if isinstance(value, dict) else [part]
    return found
