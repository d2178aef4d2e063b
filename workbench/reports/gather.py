"""Reads from a workspace everything that the report of one run says."""

import tomllib
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from workbench import __version__, config
from workbench import catalog as catalogs
from workbench.config import KINDS, BadConfig, RunConfig
from workbench.problem import Problem
from workbench.projection.pca import fit_pca
from workbench.reports.content import (
    NO_EVALUATION,
    SHOWN_METRICS,
    Content,
    Curve,
    Map,
    MetricRow,
    QueryCard,
    Setting,
    moment,
    percent,
    readable,
)
from workbench.terminal import duration
from workbench.workspace import Workspace
from workbench.workspace.rows import Evaluation, Neighbour, Queries, Query, Run

Named = TypeVar("Named", Query, Neighbour)
CURVES = (
    *("probe/ce", "probe/spce", "batch/loss", "batch/lr", "train/accuracy"),
    *(f"test/{name}" for name in SHOWN_METRICS),
)
QUERIES, NEIGHBOURS = 6, 8
RESAMPLES = 1000
SETTINGS_NOTE = "Bold: differs from the default."
ENVIRONMENT = {
    "device": "Device", "torch": "PyTorch", "cuda": "CUDA", "python": "Python", "system": "System", "cores": "Cores",
    "threads": "Threads", "memory_gib": "Memory (GiB)", "parameters": "Trainable numbers",
}  # fmt: skip


def gather(workspace: Workspace, run_id: int, sections: tuple[str, ...], title: str, notes: str) -> Content:
    """Read everything of one run that its report says. Raises Problem when there is no such run."""
    run = workspace.run(run_id)
    evaluations = workspace.evaluations(run_id)
    best = max(evaluations, key=_score, default=None)
    last = evaluations[-1] if evaluations else None
    known = set(workspace.scalar_names(run_id))
    settings, settings_note = _settings(run.config)
    metrics = _metrics(workspace, best, last) if best and last else []
    found, map_note = _map(workspace, run, best) if best and "map" in sections else (None, NO_EVALUATION)
    worst, finest = _cards(workspace, run, best) if best and "queries" in sections else ([], [])
    data = run.environment.get("data", {})
    return Content(
        title=readable(title or run.name),
        subtitle=f"Workbench report of run {run.id}, started {moment(run.created)}",
        notes=readable(notes or run.note),
        run=run,
        sections=sections,
        summary=_summary(run, best, evaluations),
        settings=settings,
        settings_note=settings_note,
        curves={name: Curve(*workspace.scalars(run_id, name)) for name in CURVES if name in known},
        best=best,
        last=last,
        metrics=metrics,
        metrics_note=_metrics_note(best, metrics),
        map=found,
        map_note=map_note,
        worst=worst,
        finest=finest,
        queries_note=_queries_note(run, best, len(worst)),
        environment=_environment(run),
        left_out=[readable(f"{path}: {reason}") for path, reason in data.get("left_out", [])],
        left_out_count=int(data.get("left_out_count", 0)),
        config=readable(run.config),
        command="workbench run config.toml --workspace FOLDER",
    )


def _score(evaluation: Evaluation) -> float:
    score = evaluation.metrics.get("MAP@R", np.nan)
    return score if np.isfinite(score) else -1.0


def _summary(run: Run, best: Evaluation | None, evaluations: list[Evaluation]) -> list[str]:
    data = run.environment.get("data", {})
    said = [
        f"{run.backbone} trained with {run.loss} on {run.dataset}: {run.status} after epoch {run.epoch} "
        f"of {run.epochs}, {duration(run.seconds)} of work.",
    ]
    if data:
        halves = f"{data['train']:,} images train, {data['test']:,} are searched"
        said.append(readable(f"{halves}: {data['note']}." if data.get("note") else f"{halves}."))
    if best is None:
        said.append(NO_EVALUATION)
    else:
        said += _best_said(best, evaluations)
    if run.problem:
        said.append(readable(run.problem))
    return said


def _best_said(best: Evaluation, evaluations: list[Evaluation]) -> list[str]:
    metrics, first = best.metrics, evaluations[0]
    said = [
        f"Best at epoch {best.epoch}: MAP@R {percent(metrics.get('MAP@R', np.nan))} and recall@1 "
        f"{percent(metrics.get('recall@1', np.nan))} over {metrics.get('queries', 0):,.0f} queries "
        f"({best.distance} distance)."
    ]
    if first.epoch == 0 and first.id != best.id:
        said.append(f"The untrained network had MAP@R {percent(first.metrics.get('MAP@R', np.nan))}.")
    elif first.epoch == 0 and len(evaluations) > 1:
        said.append("No epoch of training was better than the untrained network.")
    return said


# Settings


def _settings(text: str) -> tuple[list[Setting], str]:
    known = catalogs.current()
    try:
        given = RunConfig.from_toml_text(text, known=known)
    except BadConfig as bad:  # a run of a Workbench that knew other parts: its words are kept, unjudged
        return _as_written(text), f"This Workbench cannot tell what differs from the defaults. {bad}"
    plain = RunConfig.model_validate({kind: given.choice(kind).name for kind in KINDS}).filled(known).model_dump()
    fields = config.sections() | {kind: known[f"{kind}/{given.choice(kind).name}"]["params"] for kind in KINDS}
    found = []
    for section, values in given.filled(known).model_dump().items():
        if not isinstance(values, dict):
            found.append(_setting("run", section, values, values != plain[section], {}))
            continue
        for name, value in values.items():
            changed = name in plain[section] and value != plain[section][name]
            found.append(_setting(section, name, value, changed, fields[section].get(name, {})))
    return found, SETTINGS_NOTE


def _setting(section: str, name: str, value: object, changed: bool, field: dict[str, Any]) -> Setting:
    words = str(field.get("label") or name.replace("_", " ").capitalize())
    label = f"{words} ({field['symbol']})" if field.get("symbol") else words
    unit = str(field.get("unit") or "")
    said = f"{_value(value)} {unit.removesuffix('s') if value == 1 else unit}" if unit else _value(value)
    return Setting(section, name, readable(label), readable(said), changed)


def _as_written(text: str) -> list[Setting]:
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return []
    found = []
    for section, value in values.items():
        parts = value.items() if isinstance(value, dict) else [(section, value)]
        place = section if isinstance(value, dict) else "run"
        found += [_setting(readable(place), readable(name), each, False, {}) for name, each in parts]
    return found


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


# Metrics


def _metrics(workspace: Workspace, best: Evaluation, last: Evaluation) -> list[MetricRow]:
    limits, last_limits = (_limits(workspace, each) for each in (best, last))
    none = (np.nan, np.nan)
    return [
        MetricRow(
            name, best.metrics[name], *limits.get(name, none), last.metrics.get(name, np.nan),
            *last_limits.get(name, none),
        )
        for name in SHOWN_METRICS
        if name in best.metrics
    ]  # fmt: skip


def _limits(workspace: Workspace, evaluation: Evaluation) -> dict[str, tuple[float, float]]:
    """95% bootstrap limits over queries by metric: as stored, and of every recall@k from the first hits."""
    metrics = evaluation.metrics
    found = {
        name: (metrics[f"{name}/low"], metrics[f"{name}/high"]) for name in SHOWN_METRICS if f"{name}/low" in metrics
    }
    queries = workspace.queries(evaluation.id)
    first = queries.first_hit[queries.r > 0]
    for name in SHOWN_METRICS:
        if name.startswith("recall@") and name in metrics and name not in found and len(first):
            found[name] = share_limits(int((first <= int(name.partition("@")[2])).sum()), len(first))
    return found


def share_limits(hits: int, count: int, *, resamples: int = RESAMPLES, seed: int = 0) -> tuple[float, float]:
    """95% percentile-bootstrap limits of the share `hits` of `count`, count >= 1.

    The hits of `count` draws with replacement are binomial, so no query needs to be drawn one by one.
    """
    shares = np.random.default_rng(seed).binomial(count, hits / count, size=resamples) / count
    low, high = np.quantile(shares, [0.025, 0.975])
    return float(low), float(high)


def _metrics_note(best: Evaluation | None, rows: list[MetricRow]) -> str:
    if best is None:
        return ""
    left_out = best.metrics.get("queries/left_out", 0)
    said = f"{best.metrics.get('queries', 0):,.0f} queries, {best.distance} distance."
    if left_out:
        said += f" {left_out:,.0f} images are left out as queries: their class has no other image."
    said += " Intervals are 95% bootstrap limits over the queries of this one run, not over seeds."
    without = [row.name for row in rows if not np.isfinite(row.low)]
    return f"{said} Only the mean of {' and '.join(without)} is stored." if without else said


# Map


def _map(workspace: Workspace, run: Run, best: Evaluation) -> tuple[Map | None, str]:
    """The map, or None and why there is none."""
    try:
        ids, labels, embeddings = workspace.embeddings(best.id)
        names = workspace.dataset(run.dataset_id).class_names if run.dataset_id is not None else ()
        stored = [each for each in workspace.projections(best.id) if each.method == "umap"]
        of_all = f"{len(ids):,} of {len(ids):,} test images, epoch {best.epoch}"
        if stored:
            made = stored[-1]
            points, proxies = workspace.coordinates(made.id)
            trust = "" if made.trustworthiness is None else f", trustworthiness {made.trustworthiness:.4f}"
            params = ", ".join(f"{name} {value}" for name, value in made.params.items())
            caption = f"UMAP ({params}), seed {made.seed}{trust}; {of_all}"
        else:
            found = workspace.proxies(best.id)
            vectors, stars = np.asarray(embeddings), None if found is None else found[0]
            if not np.isfinite(vectors).all():
                return None, "There is no map: the embeddings hold numbers that are not finite."
            points, proxies, share = _pca(vectors, stars, best.distance)
            caption = f"PCA, {share:.0%} of the variance; {of_all}"
    except Problem as problem:
        return None, f"There is no map. {problem}"
    return Map(points, labels, proxies, tuple(readable(name) for name in names), readable(caption)), ""


def _pca(vectors: np.ndarray, proxies: np.ndarray | None, distance: str) -> tuple[np.ndarray, np.ndarray | None, float]:
    """Points [n, 2], proxies [p, 2] by the same fit, and the share of the variance that is seen."""
    stars = None if proxies is None or not np.isfinite(proxies).all() else proxies
    if distance == "cosine":  # what is compared by angle is drawn by angle
        vectors, stars = _unit(vectors), None if stars is None else _unit(stars)
    fitted = fit_pca(vectors)
    return fitted.transform(vectors), None if stars is None else fitted.transform(stars), sum(fitted.share)


def _unit(vectors: np.ndarray) -> np.ndarray:
    unit: np.ndarray = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return unit


# Queries


def _cards(workspace: Workspace, run: Run, best: Evaluation) -> tuple[list[QueryCard], list[QueryCard]]:
    """The worst queries, worst first, and the best, best first; no query is in both."""
    order = by_precision(workspace.queries(best.id), run.seed)
    most = min(QUERIES, (len(order) + 1) // 2)
    worst, finest = order[:most], order[most:][::-1][:QUERIES]
    pictures = workspace.pictures(run.dataset_id) if run.dataset_id is not None else None

    def image(sample_id: int) -> np.ndarray | None:
        try:
            return None if pictures is None else pictures.thumbnail(sample_id)
        except (Problem, KeyError):
            return None  # the card says that the image is missing

    def card(sample_id: int) -> QueryCard:
        near = workspace.neighbours(run.id, sample_id, best.id)[:NEIGHBOURS]
        query = workspace.query(best.id, sample_id)
        return QueryCard(_named(query), image(sample_id), [(_named(each), image(each.sample_id)) for each in near])

    return [card(each) for each in worst.tolist()], [card(each) for each in finest.tolist()]


def by_precision(queries: Queries, seed: int) -> np.ndarray:
    """Sample ids of the queries that count, by rising average precision; ties in an order drawn with the seed."""
    counted = np.flatnonzero(np.isfinite(queries.ap))
    ids = np.sort(queries.sample_ids[counted])
    drawn = np.random.default_rng(seed).permutation(len(ids))
    place = drawn[np.searchsorted(ids, queries.sample_ids[counted])]  # the same for any order of the rows
    found: np.ndarray = queries.sample_ids[counted[np.lexsort((place, queries.ap[counted]))]]
    return found


def _named(each: Named) -> Named:
    return replace(each, class_name=readable(each.class_name))


def _queries_note(run: Run, best: Evaluation | None, shown: int) -> str:
    if best is None or not shown:
        return NO_EVALUATION if best is None else "No query has another image of its class to find."
    return (
        f"By average precision (AP) at epoch {best.epoch}; equal ones in an order drawn with seed {run.seed}. "
        "Each row: the query, then its nearest neighbours with their similarity; ✓ of its class, ✗ of another."
    )


# Environment


def _environment(run: Run) -> list[tuple[str, str]]:
    facts, data = run.environment, run.environment.get("data", {})
    said = [
        ("Run", f"{run.id}, {run.status}"),
        ("Seed", str(run.seed)),
        ("Created", moment(run.created)),
        ("Ended", moment(run.ended)),
        ("Work", duration(run.seconds)),
        ("Workbench", str(facts.get("workbench", __version__))),
    ]
    said += [(word, str(facts[key])) for key, word in ENVIRONMENT.items() if key in facts]
    said += [(name, str(number)) for name, number in facts.get("versions", {}).items() if name != "torch"]
    if data:
        said.append(("Data", f"{run.dataset}, {data['images']:,} images of {data['classes']:,} classes"))
        said.append(("Data fingerprint", str(data["fingerprint"])))
        said.append(("Images left out", f"{data['left_out_count']:,}"))
    return [(readable(word), readable(value)) for word, value in said]
