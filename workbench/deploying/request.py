"""The request to measure a stored evaluation, which the window and the command line share."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from workbench.deploying import kinds
from workbench.deploying.measure import KS, Search, as_an_index_compares, measure, plain, search_of
from workbench.deploying.pairs import Limit, limit_of
from workbench.deploying.saving import save
from workbench.deploying.stores import one_thread, version
from workbench.evaluation.conventions import Between
from workbench.numerals import finite
from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.results.few_shot import new_classes
from workbench.results.open_set import open_set
from workbench.results.stored import Stored, read_stored
from workbench.workspace import Workspace
from workbench.workspace.measured.deployments import RULES, NewClasses, OpenSet, newest_deployment, store_deployment

USUAL_RATE = 0.001  # false accepts
OF_CLASSES: dict[str, tuple[str, Callable[[Stored, Between], NewClasses | OpenSet]]] = {
    "new_classes": ("New classes", new_classes), "open_set": ("Open set", open_set),
}  # fmt: skip


def deployment(
    workspace: Workspace, evaluation_id: int, names: Sequence[str] = (), rate: float = USUAL_RATE,
    progress: Progress = quiet,
) -> dict[str, Any]:  # fmt: skip
    """Measure stores of an evaluation, its threshold for "same or different", new classes and the open set.

    What was measured before is read.

    Args:
        names: of kinds of stores; none: the usual ones.
        rate: of false accepts at most, in 0..1.

    Returns:
        Plain data: "stores" as measure.Measured, "limit" as pairs.Limit, "new_classes" as NewClasses and "open_set"
        as OpenSet, both with "trained_on" (whether those classes were in training; None: unknown),
        "gallery", "queries", "queries_there", "dim", "distance", "fitted_on", "threads", "faiss", "rules". None stands
        for what is not a finite number.

    Raises:
        Problem: a file of the evaluation is missing, no query counts, an unknown kind, a rate outside 0..1, points in
            the ball that an index ranks otherwise.
        Cancelled: by `progress`.
    """
    asked = [kinds.kind(name) for name in names]
    words = f"{','.join(kind.name for kind in asked)} {rate:g}"
    known = newest_deployment(workspace, evaluation_id, words)
    has_searches = known is not None and (bool(asked) or known.get("rules", 0) >= RULES)
    lacking = [name for name in OF_CLASSES if known is None or known.get(name) is None]
    if known is not None and has_searches and not lacking:
        return known
    stored, search = _read(workspace, evaluation_id, progress)
    count, dim = search.gallery.shape
    with one_thread():
        of_classes = {name: _of_classes(workspace, evaluation_id, stored, name, progress) for name in lacking}
        if known is not None:  # by an earlier version, which did not measure all of it
            measured = {**known, **of_classes}
            if not has_searches:
                measured = {**measured, "stores": known["stores"] + _missing(search, known, progress), "rules": RULES}
            store_deployment(workspace, evaluation_id, words, measured)
            return measured
        limit = limit_of(stored, rate, lambda: progress("Same or different", 0, 0))
        stores = measure(search, asked or _usual(search), KS, progress)
    measured = finite({
        "evaluation": evaluation_id, "distance": stored.distance, "dim": dim, "gallery": count,
        "queries": len(search.queries), "queries_there": search.drawn_from, "fitted_on": search.fitted_words,
        "threads": 1, "faiss": version(), "rules": RULES, "stores": plain(stores), "limit": asdict(limit),
        **of_classes,
    })  # fmt: skip
    store_deployment(workspace, evaluation_id, words, measured)
    return dict(measured)


def added(
    workspace: Workspace, evaluation_id: int, name: str, progress: Progress = quiet, known: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Measure one more store or method of search beside those of a measurement, which stays as it is.

    Args:
        known: the measurement; None: the newest.

    Returns:
        The measurement with it, as `deployment`; the same where it has it already.

    Raises:
        Problem: nothing was measured before, the evaluation cannot be searched this way, and as `deployment`.
        Cancelled: by `progress`.
    """
    wanted = kinds.kind(name)
    known = known or newest_deployment(workspace, evaluation_id)
    if known is None:
        raise Problem("This evaluation has no measurement to which a store could be added.", todo="Measure it first.")
    if any(store["name"] == name and not store["refused"] for store in known["stores"]):
        return known
    _, search = _read(workspace, evaluation_id, progress)
    with one_thread():
        (store,) = finite(plain(measure(search, [wanted], KS, progress)[1:]))
    if store["refused"]:
        raise Problem(f"{store['title']} cannot be measured: {store['refused']}.", kept="The measurement is unchanged.")
    stores = [*(other for other in known["stores"] if other["name"] != name), store]
    measured = {**known, "stores": stores}
    words = f"{','.join(store['name'] for store in stores)} {known['limit']['wanted']:g}"
    store_deployment(workspace, evaluation_id, words, measured)
    return measured


def _usual(search: Search) -> list[kinds.Kind]:
    count, dim = search.gallery.shape
    return kinds.usual(dim, count, search.cosine, len(search.fitted_on))


def _missing(search: Search, known: dict[str, Any], progress: Progress) -> list[Any]:
    """The usual stores that a measurement has not, measured, as plain data."""
    names = {store["name"] for store in known["stores"]}
    wanted = [usual for usual in _usual(search) if usual.name not in names]
    return list(finite(plain(measure(search, wanted, KS, progress)[1:]))) if wanted else []


def _of_classes(
    workspace: Workspace, evaluation_id: int, stored: Stored, name: str, progress: Progress
) -> dict[str, Any]:
    """What is measured in draws of the classes, as plain data: one of OF_CLASSES."""
    title, measured = OF_CLASSES[name]
    of_classes = asdict(measured(stored, lambda: progress(title, 0, 0)))
    return dict(finite({**of_classes, "trained_on": _trained_on(workspace, evaluation_id)}))


def _trained_on(workspace: Workspace, evaluation_id: int) -> bool | None:
    """Whether the classes that are searched were in training; None where that is unknown, as of an imported run."""
    data = workspace.run(workspace.evaluation(evaluation_id).run_id).environment.get("data")
    if not data or not data.get("train"):
        return None
    return not data["classes_disjoint"]


def export(
    workspace: Workspace, evaluation_id: int, name: str, folder: Path, rate: float = USUAL_RATE,
    progress: Progress = quiet,
) -> list[Path]:  # fmt: skip
    """Write one store of an evaluation and its threshold into `folder`; returns the files. Raises as `deployment`."""
    wanted = kinds.kind(name)
    stored, search = _read(workspace, evaluation_id, progress)
    with one_thread():
        limit: Limit = limit_of(stored, rate, lambda: progress("Same or different", 0, 0))
        return save(workspace, workspace.evaluation(evaluation_id), search, wanted, limit, folder, progress)


def _read(workspace: Workspace, evaluation_id: int, progress: Progress) -> tuple[Stored, Search]:
    progress("Reading the embeddings", 0, 0)
    stored = as_an_index_compares(read_stored(workspace, evaluation_id))
    return stored, search_of(stored)
