"""Reads what the report of a run shows from its workspace."""

import numpy as np

from workbench.comparing.measures import BEST, LAST, At
from workbench.comparing.published.published_tables import (
    EXPERIMENT_ROWS,
    beside,
    classes_of,
    experiment_rows,
    own_values,
)
from workbench.config import KINDS, OWN_LOOP, RunConfig
from workbench.entries import catalog as catalogs
from workbench.metric_names import metric_name
from workbench.names import visible_name
from workbench.numerals import percentage
from workbench.problem import Problem, UnknownName
from workbench.progress import Progress, duration, quiet
from workbench.projection.coordinates import has_coordinates
from workbench.projection.params import in_words
from workbench.projection.pca import fit_pca
from workbench.projection.subset import said_of
from workbench.projection.vectors import prepared
from workbench.reports.content.entry_titles import in_sentence, moment
from workbench.reports.content.provenance import command_of, facts_of
from workbench.reports.content.run_content import (
    Beside,
    ClassRow,
    Content,
    Curve,
    Map,
    MetricRow,
    QueryCard,
    Setting,
    percent,
)
from workbench.results.by_attribute import AllAttributes, all_attributes
from workbench.results.by_class_size import by_class_size
from workbench.results.network_scores import network_scores
from workbench.results.slices import slices
from workbench.workspace import Workspace
from workbench.workspace.experiments import experiments
from workbench.workspace.measured.deployments import read_deployment
from workbench.workspace.measured.robustness import checked_robustness
from workbench.workspace.rows import Evaluation, Run, recalls, wider_labels
from workbench.workspace.run_names import backbone_title, data_title, network_tested, title_of

SHOWN_METRICS = (  # after every recall@k
    "P@R", "MAP@R", "kNN@10", "validation/MAP@R", "NMI", "classifier/top-1", "linear/top-1", "linear/top-5", "kNN",
    "l2/recall@1", "l2/MAP@R", "cosine/recall@1", "cosine/MAP@R", "average/recall@1", "average/P@R", "average/MAP@R",
    "decided/recall@1", "decided/P@R", "decided/MAP@R",
)  # fmt: skip
CURVES = (
    "probe/ce",
    "probe/spce",
    "batch/loss",
    "batch/lr",
    "train/accuracy",
    "validation/MAP@R",
)
QUERIES, NEIGHBOURS = 6, 8
MEANT = {  # of an imported run
    "name", "embeddings", "labels", "images", "image_size", "distance", "recall_at", "neighbours",
}  # fmt: skip


def gather(
    workspace: Workspace, run_id: int, sections: tuple[str, ...], title: str, at: At = BEST, progress: Progress = quiet
) -> Content:
    """Read the content of the report of one run at one of its evaluations.

    Raises:
        Cancelled: by `progress`, which is called for the classes by size and for attributes: half a minute at most.
        Problem: there is no such run, or no evaluation is stored of the epoch `at` that the sections are about.
    """
    run = workspace.run(run_id)
    try:
        config = RunConfig.recorded(run.config)
    except Problem as problem:
        what = f"Run {run_id} cannot be reported. {problem.what}"
        raise Problem(what, kept="What is stored of it was not changed.", todo="Leave it out.") from None
    evaluations = workspace.evaluations(run_id)
    best = max(evaluations, key=lambda evaluation: evaluation.score, default=None)
    last = evaluations[-1] if evaluations else None
    shown = _evaluation(run, evaluations, best, at) if sections else best
    names = set(workspace.scalar_names(run_id))
    metrics = (*recalls(evaluations), *SHOWN_METRICS, *wider_labels(evaluations))
    measured = len(workspace.scalars(run_id, "test/MAP@R")[0])  # also those that the run did not keep
    chosen = "" if best is None or config.imported else _chosen(best, evaluations[-1], max(measured, len(evaluations)))
    worst, finest = _cards(workspace, run, shown) if shown and "queries" in sections else ([], [])
    changed, changed_damaged = (
        checked_robustness(workspace, shown.id) if shown and "robustness" in sections else (None, "")
    )
    deployed, damaged = read_deployment(workspace, shown.id) if shown and "deployment" in sections else (None, "")
    return Content(
        title=title or run.name,
        run=run,
        config=config,
        sections=sections,
        summary=_summary(run, best, evaluations, shown, chosen),
        settings=_settings(config),
        trained_with=_trained_with(run),
        curves={
            name: Curve(*workspace.scalars(run_id, name))
            for name in (*CURVES, *(f"test/{metric}" for metric in metrics), *(sorted(names) if run.curves_of else ()))
            if name in names and not config.imported
        },
        shown=shown,
        is_best=shown is best,
        chosen=chosen,
        last=last,
        metrics=_metrics(shown, last, metrics),
        tests=network_scores(workspace, run_id) if "metrics" in sections else [],
        deployment=deployed,
        deployment_damaged=damaged,
        robustness=changed,
        robustness_damaged=changed_damaged,
        published=_published(workspace, run, config, shown, last if shown is best else shown),
        classes=_classes(workspace, run, shown) if shown and "classes" in sections else [],
        by_size=by_class_size(workspace, shown.id, progress) if shown and "classes" in sections else None,
        tags=slices(workspace, shown.id) if shown and "classes" in sections and run.dataset_id is not None else [],
        across=_across(workspace, run, shown, progress) if "classes" in sections else None,
        map=map_of(workspace, run, shown) if shown and "map" in sections else None,
        worst=worst,
        finest=finest,
        environment=_environment(run),
        left_out=[(str(path), str(reason)) for path, reason in run.environment.get("data", {}).get("left_out", [])],
        command=command_of(run),
    )


def _across(workspace: Workspace, run: Run, shown: Evaluation | None, progress: Progress) -> AllAttributes | None:
    return None if shown is None or run.dataset_id is None else all_attributes(workspace, shown.id, progress)


def _evaluation(run: Run, evaluations: list[Evaluation], best: Evaluation | None, at: At) -> Evaluation | None:
    """The evaluation at "best", "last" or an epoch; None if there is none yet. Raises Problem for another epoch."""
    if at == BEST or not evaluations:
        return best
    if at == LAST:
        return evaluations[-1]
    for evaluation in reversed(evaluations):
        if evaluation.epoch == at:
            return evaluation
    epochs = ", ".join(str(evaluation.epoch) for evaluation in evaluations)
    raise UnknownName(f"Run {run.id} has no evaluation at epoch {at}. Stored epochs: {epochs}.")


def _chosen(best: Evaluation, last: Evaluation, count: int) -> str:
    """Whether the best of `count` evaluations was chosen on the test set, which flatters it."""
    if count < 2:
        return ""
    if "validation/MAP@R" in best.metrics:
        said = "The best epoch was chosen by MAP@R of images that are held out, not on the test set."
    else:
        said = "Optimistic: the best epoch was chosen on the test set."
    untrained = best.epoch == 0 < last.epoch
    return said + (" It is before training, so the loss did not contribute to the numbers." if untrained else "")


def _summary(
    run: Run, best: Evaluation | None, evaluations: list[Evaluation], shown: Evaluation | None, chosen: str
) -> list[str]:
    said = _origin(run)
    if best is None:
        said.append(run.has_no("evaluation"))
    else:
        when = _measured(run) if run.environment.get("imported") else f"Best at epoch {best.epoch}"
        queries = f"{best.metrics.get('queries', 0):,.0f} queries ({best.distance})"
        said.append(f"{when}: {_scores(best)} over {queries}.")
        said += [chosen] if chosen else []
        first = evaluations[0]
        if first.epoch == 0 and first.id != best.id:
            said.append(f"The untrained network had MAP@R {percent(first.metrics.get('MAP@R', np.nan))}.")
    if shown is not None and shown is not best:
        said.append(f"Metrics, map, queries and classes are those of epoch {shown.epoch}: {_scores(shown)}.")
    return said + [words for words in (run.problem, run.unread) if words]


def _origin(run: Run) -> list[str]:
    """What trained the run, on which images, or where it comes from."""
    data, known = run.environment.get("data", {}), catalogs.current()
    if run.tested is not None:
        said = f"The network of {network_tested(run)}, was tested on {data_title(known, run)}; nothing was trained."
        return [said, *([f"{data['test']:,} images: each is searched in all others."] if data else [])]
    if imported := run.environment.get("imported"):
        return [f"Embeddings of a model trained elsewhere, imported from {imported['embeddings']}."]
    if run.curves_of:
        source = visible_name(run.curves_of)
        return [f"Curves of another program, imported from {source}: nothing else is known about the run."]
    said = (
        f"{backbone_title(known, run)} trained with {in_sentence(title_of(known, 'loss', run.loss))} on "
        f"{data_title(known, run)}: {run.status} after epoch {run.epoch} of {run.epochs}, "
        f"{duration(run.seconds)} of work."
    )
    if own := run.environment.get("own_loop"):
        recorded = f"The user's own training loop recorded it, in {own.get('program') or 'an unnamed program'}."
        return [said, recorded, *([f"{data['test']:,} images are searched."] if data else [])]
    if not data:
        return [said]
    apart = ", of classes never trained on" if data["classes_disjoint"] else "; the two sets share classes"
    return [said, f"{data['train']:,} images train, {data['test']:,} are searched{apart}."]


def _scores(evaluation: Evaluation) -> str:
    metrics = evaluation.metrics
    return f"MAP@R {percent(metrics.get('MAP@R', np.nan))} and R@1 {percent(metrics.get('recall@1', np.nan))}"


def _measured(run: Run) -> str:
    """What was done with the embeddings of an imported run."""
    return "Imported" if run.tested is None else "Tested"


def _trained_with(run: Run) -> list[Setting]:
    """The settings of the run that trained the network of a test; none of other runs, or of a damaged config."""
    if run.trainer is None:
        return []
    try:
        return _settings(RunConfig.recorded(run.trainer.config))
    except Problem:
        return []


def _settings(config: RunConfig) -> list[Setting]:
    known = catalogs.current()
    plain = RunConfig.model_validate({kind: config.choice(kind).name for kind in KINDS}).filled(known)
    settings = []
    filled = config if config.own_loop else config.filled(known)
    for section, values in filled.model_dump(exclude_unset=config.own_loop).items():
        defaults = plain.model_dump()[section]
        fields = values if isinstance(values, dict) else {section: values}
        for name, value in fields.items():
            if config.imported and (name not in MEANT or section not in ("name", "dataset", "evaluation")):
                continue
            if config.own_loop and value == OWN_LOOP and section != "dataset":
                continue  # a part of which the loop said nothing
            default = defaults.get(name) if isinstance(values, dict) else defaults
            part = "run" if not isinstance(values, dict) else section
            settings.append(Setting(part, name, _value(value), value != default))
    return settings


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _metrics(shown: Evaluation | None, last: Evaluation | None, names: tuple[str, ...]) -> list[MetricRow]:
    if shown is None or last is None:
        return []
    at = shown.metrics
    return [
        MetricRow(
            name, at.get(name, np.nan), at.get(f"{name}/low", np.nan), at.get(f"{name}/high", np.nan),
            last.metrics.get(name, np.nan),
        )
        for name in names
        if name in at or name in last.metrics  # a linear probe is measured at the last epoch alone
    ]  # fmt: skip


def _classes(workspace: Workspace, run: Run, shown: Evaluation) -> list[ClassRow]:
    queries = workspace.queries(shown.id)
    data = workspace.dataset(run.dataset_id) if run.dataset_id is not None else None
    counted = np.flatnonzero(np.isfinite(queries.ap))
    by_class = counted[np.argsort(queries.labels[counted], kind="stable")]  # one look at all, not one for each class
    labels, first = np.unique(queries.labels[by_class], return_index=True)
    rows_of_classes = [
        ClassRow(
            str(label) if data is None else data.class_name(label), len(rows),
            float(queries.ap[rows].mean()), float(queries.right[rows].mean()),
        )
        for label, rows in zip(labels.tolist(), np.split(by_class, first[1:]), strict=False)
    ]  # fmt: skip
    return sorted(rows_of_classes, key=lambda row: (row.map_at_r, row.name))


def _published(
    workspace: Workspace, run: Run, config: RunConfig, shown: Evaluation | None, last: Evaluation | None
) -> list[Beside]:
    """The shown evaluation's numbers; those that are only measured after the last epoch are the last one's."""
    if shown is None or last is None:
        return []
    measured = {**last.metrics, **shown.metrics}
    experiment = next(
        (
            candidate
            for candidate in experiments.every(workspace)
            if candidate.id == run.experiment_id and candidate.result
        ),
        None,
    )
    tables = []
    for table in beside(config, measured, classes_of(run.environment)):
        rows = experiment_rows(table, experiment.title, config, experiment.result) if experiment is not None else []
        later = [metric_name(name) for name in table.metrics if name in last.metrics and name not in shown.metrics]
        unlike = table.differences(config, run.environment, measured) + ([EXPERIMENT_ROWS] if rows else [])
        if later:
            unlike.append(f"Of epoch {last.epoch}, not of the best epoch ({shown.epoch}): {', '.join(later)}.")
        tables.append(Beside(table, own_values(table, measured), rows, unlike))
    return tables


def map_of(workspace: Workspace, run: Run, shown: Evaluation) -> Map:
    """The newest stored UMAP of all test images at that evaluation, or else their PCA. Raises Problem."""
    ids, labels, embeddings = workspace.embeddings(shown.id)
    names = workspace.dataset(run.dataset_id).class_names if run.dataset_id is not None else ()
    stored = [
        projection
        for projection in workspace.projections(shown.id)
        if projection.method == "umap" and "only" not in projection.params
    ]
    of_all = f"{len(ids):,} of {len(ids):,} test images, epoch {shown.epoch}"
    if stored:
        newest = stored[-1]
        points, proxies = workspace.coordinates(newest.id)
        trust = "" if newest.trustworthiness is None else f", trustworthiness {newest.trustworthiness:.4f}"
        placed = has_coordinates(points)
        of_some = f"{said_of(newest.params, ids, placed)}, epoch {shown.epoch}"
        params = f" ({words})" if (words := in_words(newest.params)) else ""
        said = f"UMAP{params}, seed {newest.seed}{trust}; {of_some}"
        return Map(points[placed], labels[placed], proxies, names, said, f"UMAP, epoch {shown.epoch}")
    vectors, stored_proxies, proxies = prepared(embeddings, shown.distance), workspace.proxies(shown.id), None
    fitted = fit_pca(vectors)
    if stored_proxies is not None:
        proxies = fitted.transform(prepared(stored_proxies[0], shown.distance, "class vectors", vectors.shape[1]))
    share = sum(fitted.share)
    said = f"PCA, {percentage(share, 0)} of the variance; {of_all}"
    return Map(fitted.transform(vectors), labels, proxies, names, said, f"PCA, epoch {shown.epoch}")


def _cards(workspace: Workspace, run: Run, shown: Evaluation) -> tuple[list[QueryCard], list[QueryCard]]:
    queries = workspace.queries(shown.id)
    counted = np.flatnonzero(np.isfinite(queries.ap))
    order = counted[np.lexsort((queries.sample_ids[counted], queries.ap[counted]))]  # ties by sample id
    pictures = workspace.pictures(run.dataset_id) if run.dataset_id is not None else None

    def image(sample_id: int) -> np.ndarray | None:
        try:
            return None if pictures is None else pictures.thumbnail(sample_id)
        except (Problem, KeyError):
            return None  # the card says that the image is missing

    def card(row: int) -> QueryCard:
        sample_id = int(queries.sample_ids[row])
        near = workspace.neighbours(run.id, sample_id, shown.id)[:NEIGHBOURS]
        return QueryCard(
            workspace.query(shown.id, sample_id),
            image(sample_id),
            [(neighbour, image(neighbour.sample_id)) for neighbour in near],
        )

    return [card(row) for row in order[:QUERIES]], [card(row) for row in order[::-1][:QUERIES]]


def _environment(run: Run) -> list[tuple[str, str]]:
    name, version = next(iter((facts := facts_of(run)).items()))
    ended = moment(run.ended) if run.ended else "not yet"
    what = f"{run.id}, seed {run.seed}, created {moment(run.created)}, ended {ended}"
    return [(name, version), ("Run", what), *list(facts.items())[1:]]
