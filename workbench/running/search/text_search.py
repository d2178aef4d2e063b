"""Search a run's test set by words, if its embeddings are those of the image tower of a CLIP model."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from workbench import files
from workbench.config import RunConfig
from workbench.entries import catalog as catalogs
from workbench.files.packages import missing
from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.running.search.image_search import SHOWN, nearest
from workbench.workspace import Workspace
from workbench.workspace.rows import Evaluation, Neighbour


@dataclass(frozen=True, slots=True)
class TextAnswer:
    """The result of a search by words."""

    name: str  # the words
    evaluation: Evaluation
    neighbours: list[Neighbour]  # best first; `right` is meaningless
    tower: str  # the network and its weights, in words


def search_texts(
    workspace: Workspace,
    run_id: int,
    texts: Sequence[str],
    k: int = SHOWN,
    evaluation_id: int | None = None,
    progress: Progress = quiet,
) -> list[TextAnswer]:
    """Find the test images nearest to some words, by cosine.

    Args:
        texts: at least one.
        k: neighbours of each, at least 1; cut to the size of the test set.
        evaluation_id: one of the run's evaluations, the last by default; all have the same embeddings.

    Returns:
        One answer for each text, in the order given.

    Raises:
        Problem: a run whose embeddings cannot be compared with words (`refusal`), weights that are missing or have
            changed, no evaluation.
        Cancelled: by `progress`.
    """
    evaluation, embed = embedded_texts(workspace, run_id, evaluation_id, progress)
    progress("Comparing", 1, 2)
    run = workspace.run(run_id)
    data, tower = workspace.dataset(run.dataset_id or 0), _tower(RunConfig.recorded(run.config), run.environment)
    ids, labels, embeddings = workspace.embeddings(evaluation.id)
    stored = ids, labels, np.asarray(embeddings)
    return [
        TextAnswer(text, evaluation, nearest(query, stored, "cosine", data, k), tower)
        for text, query in zip(texts, embed(texts), strict=True)
    ]


def embedded_texts(
    workspace: Workspace, run_id: int, evaluation_id: int | None, progress: Progress
) -> tuple[Evaluation, Callable[[Sequence[str]], np.ndarray]]:
    """The evaluation that words are compared with, and what embeds them: texts -> [n, d] float32, unit length.

    Args: as `search_texts`. Raises: as `search_texts`.
    """
    run = workspace.run(run_id)
    config = RunConfig.recorded(run.config)
    if why := refusal(config):
        raise Problem(f"Run {run_id} cannot be searched by words: {why}", kept="Nothing was changed.")
    evaluations = workspace.evaluations(run_id)
    wanted = [row for row in evaluations if evaluation_id in (None, row.id)]
    if not wanted or run.dataset_id is None:
        raise Problem(f"Run {run_id} has no {'such ' if evaluations else ''}evaluation to compare with.")
    progress("Loading the network", 0, 2)
    backbone = _backbone(workspace, run_id, config, run.dataset_id)
    return wanted[-1], lambda texts: np.asarray(backbone.embed_texts(texts).numpy())


def refusal(config: RunConfig) -> str:
    """A sentence that says why words cannot be compared with the embeddings of a run; empty if they can."""
    known, head = catalogs.current(), config.embedding
    if not config.fact(known, "backbone", "reads_text"):
        return "its backbone has no tower for words."
    if config.value(known, "backbone", "weights") == "none":
        return "its tower for words was not pretrained."
    if head.dim or head.batch_norm:
        return "its embeddings come from a trained head; set the embedding size to 0 and batch-norm on top off."
    if not (config.value(known, "backbone", "frozen") or config.training.backbone_lr == 0):
        return "its tower for images was trained and no longer goes with the one for words; freeze it."
    if config.evaluation.distance != "cosine":
        return "it compares by Euclidean distance, words by cosine."
    package, extra = (str(config.fact(known, "backbone", name) or "") for name in ("package", "extra"))
    return missing("its tower for words", extra, (package,)) if package else ""


def _tower(config: RunConfig, environment: Mapping[str, Any]) -> str:
    """The network and its weights, such as "ViT-B-32 with the weights b32.safetensors (1a2b3c4d)", by their hash."""
    known = catalogs.current()
    value = partial(config.value, known, "backbone")
    network = value(str(config.fact(known, "backbone", "named_by") or "")) or config.backbone.name
    if value("weights") == "file":
        weights = Path(str(value("weights_file") or "")).name
    else:
        weights = f"{value('tag') or 'published'} of this machine's cache"
    digest = str(environment.get("weights", ""))[:8]
    return f"{network} with the weights {weights}" + (f" ({digest})" if digest else "")


def _backbone(workspace: Workspace, run_id: int, config: RunConfig, dataset_id: int) -> Any:
    """The run's backbone with the weights that the run was started from. Raises Problem if they have changed."""
    from workbench.backbones.model import build_model

    channels = workspace.dataset(dataset_id).channels
    backbone: Any = build_model(config.backbone.name, config.backbone.params, config.embedding, channels).backbone
    expected = workspace.run(run_id).environment.get("weights", "")
    if expected and backbone.weights_path is not None and files.digest(backbone.weights_path) != expected:
        raise Problem(
            f"The weights of run {run_id} have changed since: {backbone.weights_path}.",
            todo="Put the file back that the run was started with.",
        )
    return backbone
