"""One registry. A file that decorates a factory appears in form, CLI, docs and property tests."""

import gc
import inspect
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from threading import RLock, current_thread, main_thread
from traceback import extract_tb
from typing import Any, Literal, TypeVar, get_args, get_origin

from workbench import plugins
from workbench.entries.facts import OF_KIND, Facts
from workbench.files.temporary import check_temporary
from workbench.params import Params
from workbench.problem import Problem

Factory = TypeVar("Factory", bound=Callable[..., Any])

PACKAGES = ("workbench.datasets", "workbench.backbones", "workbench.losses")
CALLS: dict[str, tuple[int, tuple[str, ...]]] = {  # kind -> arguments of its factory: by position, by name
    "dataset": (1, ("progress",)),
    "split": (3, ()),
    "sampler": (1, ("labels", "batch_size", "seed")),
    "augmentation": (1, ()),
    "backbone": (2, ()),
    "loss": (1, ("num_classes", "embedding_dim")),
}
METHODS = {"forward": "embeddings, labels", "forward_checked": "embeddings, labels"}  # of a loss, beside self
PLAIN = (bool, int, float, str)  # types of parameters for which the form has editors, beside Literal of strings


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
    origin: str = ""  # of a plug-in: its file, or its package; empty for Workbench's own


_ENTRIES: dict[tuple[str, str], Entry] = {}
_DISCOVERED: set[str] = set()  # packages whose modules are all imported
_LOADED: dict[str, str] = {}  # origin -> stamp of plug-ins that were loaded, or broke
_BROKEN: dict[str, str] = {}  # origin -> sentence
_LOADING = RLock()


def register(
    kind: str, name: str, *, title: str, params: type[Params], source: str, **facts: Any
) -> Callable[[Factory], Factory]:
    """Decorate a factory (class or function) whose first docstring line is the help and ends with a full stop.

    Args:
        kind: "dataset", "split", "sampler", "augmentation", "backbone" or "loss"; entries/facts.py says of each what
            its factory is called with and what it gives.
        name: what a config calls it.
        title: what the form calls it.
        params: its parameters.
        source: the paper, or whose idea it is.
        facts: fields of the kind's class in entries/facts.py.

    Raises:
        ValueError: the kind is unknown, or the name is taken.
        TypeError: a fact that entries of this kind do not have, or `params` that is not a class of parameters.
    """
    if kind not in OF_KIND:
        raise ValueError(f"there is no kind {kind!r}: known are {', '.join(OF_KIND)}")
    if not (isinstance(params, type) and issubclass(params, Params)):
        raise TypeError(f"params must be a class that derives from workbench.params.Params: got {params!r}")
    checked = _checked_facts(kind, facts)

    def decorate(build: Factory) -> Factory:
        if (kind, name) in _ENTRIES:
            raise ValueError(f"two files register the {kind} {name!r}")
        summary = (build.__doc__ or "").strip().partition("\n")[0]
        _ENTRIES[kind, name] = Entry(kind, name, title, summary, source, params, build, checked)
        return build

    return decorate


def _checked_facts(kind: str, facts: dict[str, Any]) -> Facts:
    known = [fact.name for fact in fields(OF_KIND[kind])]
    if unknown := [name for name in facts if name not in known]:
        said = ", ".join(repr(name) for name in unknown)
        raise TypeError(f"{said} is not a fact of a {kind}: those are {', '.join(known)}")
    return OF_KIND[kind](**facts)


def complaints(entry: Entry) -> list[str]:
    """What the window could not show of an entry, or a config not name; empty for a good one."""
    faults = []
    if entry.kind not in OF_KIND:
        faults.append(f"kind {entry.kind!r} is not known")
    if not entry.name.isidentifier() or entry.name != entry.name.lower():
        faults.append(f"name {entry.name!r} is not a lower-case word")
    if not entry.title or not entry.source:
        faults.append("no title or no source")
    if not entry.help.endswith("."):
        faults.append(f"help is not a sentence: {entry.help!r}")
    for name, parameter in entry.params.model_fields.items():
        if not (parameter.description or "").endswith("."):
            faults.append(f"{name}: help is not a sentence: {parameter.description!r}")
        if parameter.is_required():
            faults.append(f"{name}: no default")
        choices = get_args(parameter.annotation) if get_origin(parameter.annotation) is Literal else ()
        if parameter.annotation not in PLAIN and not (choices and all(isinstance(choice, str) for choice in choices)):
            faults.append(f"{name}: the form has no editor for {parameter.annotation}")
    return faults + _wrong_signatures(entry)


def _wrong_signatures(entry: Entry) -> list[str]:
    """What cannot be called as Workbench calls it: the factory and, of a loss, what computes its value."""
    if entry.kind not in CALLS:
        return []
    count, names = CALLS[entry.kind]
    if getattr(entry.facts, "fetches", False):
        names = (*names, "progress")
    called = ", ".join(["params", *["..."] * (count - 1), *(f"{name}=..." for name in names)])
    faults = [_refusal(entry.build, f"its factory is called with ({called})", count, names)]
    if entry.kind == "loss":
        for method, arguments in METHODS.items():
            function = inspect.getattr_static(entry.build, method, None)
            if inspect.isfunction(function):
                faults.append(_refusal(function, f"its {method} is called with (self, {arguments})", 3, ()))
    return [fault for fault in faults if fault]


def _refusal(function: Callable[..., Any], said: str, count: int, names: tuple[str, ...]) -> str:
    """Why a function takes other arguments than `count` by position and those names; empty if it takes them."""
    try:
        inspect.signature(function).bind(*[None] * count, **dict.fromkeys(names))
    except TypeError as error:
        return f"{said}: {error}"
    return ""


def discover(package: str, between: Callable[[], None] = lambda: None) -> None:
    """Import every module of `package` and its folders, once, so that their entries register themselves.

    `between` is called before each.

    Raises:
        Problem: a library that one needs does not load, as torchvision beside a torch of another device.
        ImportError, OSError, RuntimeError: the same of a file of the package itself, which is a defect of it.
    """
    if package in _DISCOVERED:
        return
    for module in iter_modules(import_module(package).__path__, f"{package}."):
        between()
        with loading_for(module.name), _no_search_for_garbage():
            import_module(module.name)
        if module.ispkg:
            discover(module.name, between)
    _DISCOVERED.add(package)


@contextmanager
def loading_for(module: str) -> Iterator[None]:
    """Around the imports of a module: a library that does not load is named as a Problem, as by `discover`.

    Raises:
        Problem, ImportError, OSError, RuntimeError: as `discover`.
    """
    try:
        yield
    except (ImportError, OSError, RuntimeError) as error:
        if _is_of(module.partition(".")[0], error):
            raise
        check_temporary()  # torch does not load without a folder for temporary files
        why = f"{type(error).__name__}: {error}".partition("\n")[0]
        raise Problem(
            f"A library that {module} needs does not load ({why}).", kept="Nothing was started.",
            todo="Run `workbench doctor`: it shows what to install.",
        ) from error  # fmt: skip


@contextmanager
def _no_search_for_garbage() -> Iterator[None]:
    """What modules make stays: Python's looks through it took half a second of each start of the engine.

    Only on the main thread: another one would turn on again what that thread has turned off meanwhile.
    """
    on = gc.isenabled() and current_thread() is main_thread()
    if not on:
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _is_of(package: str, error: ImportError | OSError | RuntimeError) -> bool:
    """Whether code of the package is at fault: it names something that the package lacks, or raised the error."""
    if isinstance(error, ImportError) and error.name:
        return error.name.partition(".")[0] == package
    raised_in = Path(extract_tb(error.__traceback__)[-1].filename)
    return any(raised_in.is_relative_to(folder) for folder in import_module(package).__path__)


def discover_all(between: Callable[[], None] = lambda: None) -> None:
    """Import every package of entries, and the plug-ins. Loads torch: seconds, never on the window's thread.

    `between` is called before each module and each plug-in; it may raise Cancelled.
    """
    for package in PACKAGES:
        discover(package, between)
    load_plugins(between)


def load_plugins(between: Callable[[], None] = lambda: None) -> None:
    """Load plug-ins that are new or have changed, and forget those that are gone. `broken` reports those that fail.

    `between` is called before each; it may raise Cancelled.
    """
    with _LOADING:
        for package in PACKAGES:
            discover(package)  # first, so that a name of Workbench's own stays its own
        there = {plugin.origin: plugin for plugin in plugins.all_plugins()}
        for origin, stamp in list(_LOADED.items()):
            if origin not in there or there[origin].stamp != stamp:
                _forget(origin)
        for origin, plugin in there.items():
            if origin not in _LOADED:
                between()
                _LOADED[origin] = plugin.stamp
                _load(plugin)


def broken() -> dict[str, str]:
    """Origin -> one sentence, of every plug-in that was looked at and cannot be used."""
    return dict(_BROKEN)


def fault_of_plugin(error: BaseException) -> str:
    """A sentence that names the plug-in in whose code an error was raised, or was on its way; empty if in none."""
    for frame in reversed(extract_tb(error.__traceback__)):
        for stored in list(_ENTRIES.values()):
            if stored.origin and _has_code(stored, Path(frame.filename)):
                where = f"{type(error).__name__} in line {frame.lineno} of {Path(frame.filename).name}"
                what = str(error).partition("\n")[0].rstrip(".")
                return f"The plug-in {stored.origin} failed. {where}{f': {what}' if what else ''}."
    return ""


def entries(kind: str) -> list[Entry]:
    """All registered entries of one kind, by name."""
    return sorted((entry for entry in list(_ENTRIES.values()) if entry.kind == kind), key=lambda entry: entry.name)


def entry(kind: str, name: str) -> Entry:
    """The entry of that name, perhaps of a plug-in; else its package must have been discovered.

    Raises:
        Problem: there is none.
    """
    if (kind, name) not in _ENTRIES:
        load_plugins()
    if (kind, name) not in _ENTRIES:
        known = ", ".join(known_entry.name for known_entry in entries(kind))
        raise Problem(f"There is no {kind} named {name!r}.", todo=f"Known: {known}.")
    return _ENTRIES[kind, name]


def catalog() -> dict[str, dict[str, Any]]:
    """The registry as plain data: all that the window, `workbench list` and the docs may see."""
    return {f"{stored.kind}/{stored.name}": _plain(stored) for _, stored in sorted(_ENTRIES.items())}


def _plain(entry: Entry) -> dict[str, Any]:
    return {
        "title": entry.title,
        "help": entry.help,
        "source": entry.source,
        "origin": entry.origin,
        "facts": asdict(entry.facts),
        "params": entry.params.model_json_schema().get("properties", {}),
    }


def _load(plugin: plugins.Plugin) -> None:
    before = set(_ENTRIES)
    try:
        plugin.load()
        added = [key for key in _ENTRIES if key not in before]
        if not added:
            raise Problem("It registers nothing.")
        for key in added:
            if wrong := complaints(_ENTRIES[key]):
                raise Problem(f"{key[0].capitalize()} {key[1]!r}: {'; '.join(wrong)}.")
            json.dumps(_plain(_ENTRIES[key]))
            _ENTRIES[key] = replace(_ENTRIES[key], origin=plugin.origin)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - other people's code raises anything; `broken` reports it
        for key in [key for key in _ENTRIES if key not in before]:
            del _ENTRIES[key]
        _BROKEN[plugin.origin] = f"The plug-in {plugin.origin} cannot be used. {_said(plugin, error)}"


def _said(plugin: plugins.Plugin, error: BaseException) -> str:
    """The error in one sentence, with the line of the plug-in's file where there is one."""
    if isinstance(error, Problem):
        return str(error)
    lines = [frame.lineno for frame in extract_tb(error.__traceback__) if frame.filename == plugin.origin]
    line = error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else None
    what = error.msg if isinstance(error, SyntaxError) else str(error).partition("\n")[0]
    where = f"{type(error).__name__}{f' in line {line}' if line else ''}"
    return f"{where}: {what.rstrip('.')}." if what else f"{where}."


def _has_code(entry: Entry, file: Path) -> bool:
    """Whether a file is the one that registers an entry, or in the package that does."""
    module = sys.modules.get(entry.build.__module__.partition(".")[0])
    folders = getattr(module, "__path__", ())
    return str(file) == getattr(module, "__file__", None) or any(file.is_relative_to(folder) for folder in folders)


def _forget(origin: str) -> None:
    del _LOADED[origin]
    _BROKEN.pop(origin, None)
    for key in [key for key, stored in _ENTRIES.items() if stored.origin == origin]:
        del _ENTRIES[key]
