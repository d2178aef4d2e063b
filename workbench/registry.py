"""One registry. A file that decorates a factory appears in form, CLI, docs and property tests."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, TypeVar

from workbench.facts import OF_KIND, Facts
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
    facts: Facts = field(default_factory=Facts)


_ENTRIES: dict[tuple[str, str], Entry] = {}


def register(
    kind: str, name: str, *, title: str, params: type[Params], source: str, **facts: Any
) -> Callable[[Factory], Factory]:
    """Decorate a factory (class or function); `facts` are those of facts.py for this kind.

    Raises:
        ValueError: the kind is none, or the name is taken.
        TypeError: a fact that entries of this kind do not have.
    """
    if kind not in OF_KIND:
        raise ValueError(f"there is no kind {kind!r}: known are {', '.join(OF_KIND)}")
    told = OF_KIND[kind](**facts)

    def decorate(build: Factory) -> Factory:
        if (kind, name) in _ENTRIES:
            raise ValueError(f"two files register the {kind} {name!r}")
        summary = (build.__doc__ or "").strip().partition("\n")[0]
        _ENTRIES[kind, name] = Entry(kind, name, title, summary, source, params, build, told)
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
            "facts": asdict(each.facts),
            "params": each.params.model_json_schema().get("properties", {}),
        }
        for each in sorted(_ENTRIES.values(), key=lambda each: (each.kind, each.name))
    }
