"""One registry. A file that decorates a factory appears in form, CLI, docs and property tests."""

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, TypeVar

from workbench.params import Params
from workbench.problem import Problem

Factory = TypeVar("Factory", bound=Callable[..., Any])

PACKAGES = ("workbench.datasets", "workbench.backbones", "workbench.losses")


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that a config can name."""

    kind: str  # "dataset", "split", "sampler", "augmentation", "backbone", "loss"
    name: str  # as written in a config file
    title: str
    help: str
    source: str  # paper and equation, or the library
    params: type[Params]
    build: Callable[..., Any]
    facts: dict[str, Any] = field(default_factory=dict)
    """Plain data for the form. Losses: needs_pairs, has_proxies, batch (valid shapes, in words), defaults (published
    values by data set, perhaps none), defaults_source (who names them, or that nobody does) and measured (values found
    here, by data set; losses/published.py says how both are written). Data sets: markers (patterns of files by which
    one is found)."""


_ENTRIES: dict[tuple[str, str], Entry] = {}


def register(
    kind: str, name: str, *, title: str, params: type[Params], source: str, **facts: Any
) -> Callable[[Factory], Factory]:
    """Decorate a factory (class or function). Raises ValueError when the name is taken."""

    def decorate(build: Factory) -> Factory:
        if (kind, name) in _ENTRIES:
            raise ValueError(f"two files register the {kind} {name!r}")
        summary = (build.__doc__ or "").strip().partition("\n")[0]
        _ENTRIES[kind, name] = Entry(kind, name, title, summary, source, params, build, facts)
        return build

    return decorate


def discover(package: str) -> None:
    """Import every module of `package`, so that its entries register themselves."""
    for module in iter_modules(import_module(package).__path__, f"{package}."):
        import_module(module.name)


def discover_all() -> None:
    """Import every package of entries. Loads torch: seconds, never on the window's thread."""
    for package in PACKAGES:
        discover(package)


def entries(kind: str) -> list[Entry]:
    """All registered entries of one kind, by name."""
    return sorted((entry for entry in _ENTRIES.values() if entry.kind == kind), key=lambda entry: entry.name)


def entry(kind: str, name: str) -> Entry:
    """The entry of that name; its package must have been discovered. Raises Problem when there is none."""
    if (kind, name) not in _ENTRIES:
        known = ", ".join(each.name for each in entries(kind))
        raise Problem(f"There is no {kind} named {name!r}.", todo=f"Known: {known}.")
    return _ENTRIES[kind, name]


def catalog() -> dict[str, dict[str, Any]]:
    """The registry as plain data: all that the window, `workbench list` and the docs may see."""
    return {
        f"{each.kind}/{each.name}": {
            "title": each.title,
            "help": each.help,
            "source": each.source,
            "facts": each.facts,
            "params": each.params.model_json_schema().get("properties", {}),
        }
        for each in sorted(_ENTRIES.values(), key=lambda each: (each.kind, each.name))
    }
