"""The field of a config whose file or folder a problem is about."""

import contextlib
import re
from collections.abc import Iterator

from workbench.config import RunConfig
from workbench.entries import catalog as catalogs
from workbench.files import typed_path
from workbench.problem import UNSTARTED, Problem


@contextlib.contextmanager
def naming_the_place(config: RunConfig, kind: str) -> Iterator[None]:
    """Give a problem that names the file or folder of a field of this choice, and no field, that field.

    Args:
        kind: "dataset" or "backbone", whose images or weights are read in the block.

    Raises:
        Problem: the one that was raised in the block.
    """
    try:
        yield
    except Problem as problem:
        if not problem.field and problem.kept == UNSTARTED:
            problem.field = _field_of(config, kind, problem.what)
        raise


def _field_of(config: RunConfig, kind: str, said: str) -> str:
    """The field whose place a sentence names, the longest where one lies in another; the only one if it is not chosen;
    empty for none."""
    choice = config.choice(kind)
    described = catalogs.current().get(f"{kind}/{choice.name}", {}).get("params", {})
    chosen = {name: str(choice.params.get(name) or "") for name, facts in described.items() if facts.get("path")}
    if len(chosen) == 1 and not any(chosen.values()):
        return f"{kind}.{next(iter(chosen))}"
    named = [name for name, place in chosen.items() if place and _names(said, place)]
    return f"{kind}.{max(named, key=lambda name: len(chosen[name]))}" if named else ""


def _names(said: str, place: str) -> bool:
    """Whether a sentence has the path of a place, or of what is in it: "/data/birds" is not in "/data/birds-2"."""
    paths = "|".join(re.escape(path) for path in {place, str(typed_path(place))})
    return re.search(rf"(?<![\w/\\.~-])(?:{paths})(?![\w~-]|\.\w)", said) is not None
