"""What refuses a run before it is made: its data, its split, its weights, its files of label decisions."""

import logging
from pathlib import Path

from workbench.config import RunConfig
from workbench.control import Cancelled
from workbench.entries import catalog as catalogs
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.running import folds_and_seeds
from workbench.running.listed import Listed

log = logging.getLogger(__name__)


def refuse_unusable(config: RunConfig, progress: Progress) -> Listed | None:
    """List and split the data of the config's first run, and read its weights; nothing is decoded or stored.

    Weights that are not on this machine are fetched if the config allows it.

    Returns what was listed, for `make_job` of that run; None if the check itself failed.

    Raises:
        Problem: one of them cannot be used. Cancelled: of `progress`.
    """
    try:
        return _listed(config, progress)
    except (Problem, Cancelled):
        raise
    except Exception as error:  # of a plug-in, or a defect: it keeps a run from being refused without a record of why
        log.warning("the check before the run failed (%r); the run meets the same, and shows it", error, exc_info=True)
        return None


def _listed(config: RunConfig, progress: Progress) -> Listed:
    from workbench.datasets.decisions import read_decisions
    from workbench.running.building import build_entry, list_images

    first = folds_and_seeds.children(config)[0].config
    listed = Listed()
    image_set = list_images(first, progress, listed)
    build_entry("split", first, image_set, first.seed)
    for decisions in (first.training.label_decisions, first.evaluation.label_decisions):
        if decisions:
            read_decisions(Path(decisions))
    if _has_weights(first):
        progress("Reading the weights", 0, 0)
        from workbench.backbones.model import build_model

        build_model(first.backbone.name, first.backbone.params, first.embedding, image_set.channels, progress)
    return listed


def _has_weights(config: RunConfig) -> bool:
    """Whether the backbone takes weights from a place on the disk, or from a cache that may lack them."""
    described = catalogs.current().get(f"backbone/{config.backbone.name}", {}).get("params", {})
    of_a_cache = "download" in described and config.backbone.params.get("weights") == "cache"
    return of_a_cache or any(config.backbone.params.get(name) for name, facts in described.items() if facts.get("path"))
