"""The names of a run, and of its data set, backbone and loss as the form shows them."""

import tomllib
from functools import lru_cache
from pathlib import PurePath

from workbench.config import OWN_LOOP, RunConfig
from workbench.entries import catalog as catalogs
from workbench.entries.catalog import Catalog
from workbench.names import visible
from workbench.workspace.rows import Dataset, Run

CURVES = "imported curves"  # of a run of another program: nothing else is known of it


def title_of(known: Catalog, kind: str, name: str) -> str:
    """What the form calls an entry, "Digits" for "dataset", "digits"; its name where the catalog has no such entry."""
    return str(known.get(f"{kind}/{name}", {}).get("title", name))


def data_title(known: Catalog, run: Run) -> str:
    """The data set of a run: its title, or the name of the folder or file that a user chose; empty without any."""
    if run.tested is not None:
        return _last_part(run.config, "dataset", "images") or title_of(known, "dataset", run.dataset)
    return CURVES if run.curves_of else _own_name(known, run, "dataset") or title_of(known, "dataset", run.dataset)


def title_of_data(known: Catalog, config: RunConfig) -> str:
    """The data set of a config that is no run yet, as `data_title`."""
    parameter = config.fact(known, "dataset", "named_by")
    own = _last_part(config.to_toml(), "dataset", parameter) if parameter else ""
    return own or title_of(known, "dataset", config.dataset.name)


def backbone_title(known: Catalog, run: Run) -> str:
    """The backbone of a run: its title, or the name of the network where the entry has many, "regnety_002"."""
    return CURVES if run.curves_of else _own_name(known, run, "backbone") or title_of(known, "backbone", run.backbone)


def trained_titles(known: Catalog, run: Run) -> tuple[str, str]:
    """Backbone and loss of a run, as the form calls them; of a test with a `trainer` those that it trained with."""
    if run.trainer is None:
        return backbone_title(known, run), names_of(known, run)[2]
    backbone, loss = tested_names(known, run)
    return title_of(known, "backbone", backbone), title_of(known, "loss", loss)


def tested_names(known: Catalog, run: Run) -> tuple[str, str]:
    """Backbone and loss of a tested network, by what the config of its `trainer` calls them; empty without one."""
    if run.trainer is None:
        return "", ""
    own = _chosen(known, "backbone", run.trainer.backbone, run.trainer.config)
    return own or run.trainer.backbone, run.trainer.loss


def short_names(known: Catalog, run: Run) -> tuple[str, str]:
    """Data set and backbone by what a config calls them, "digits"; the folder or network that a user chose.

    Of imported curves the backbone is not known: empty.
    """
    if run.curves_of:
        return CURVES, ""
    return _own_name(known, run, "dataset") or run.dataset, _own_name(known, run, "backbone") or run.backbone


def told_apart(known: Catalog, run: Run, data: Dataset) -> str:
    """The data set of a run beside others of its name: "Digits (fingerprint 3c1213b3, 8 px, 1 channel)".

    Imported embeddings may have no images: "imported (fingerprint ee96ab64, no images)".
    """
    name = data_title(known, run) if data.name == run.dataset else data.name
    channels = "1 channel" if data.channels == 1 else f"{data.channels} channels"
    images = f"{data.image_size} px, {channels}" if data.image_size else "no images"
    return f"{name} (fingerprint {visible(data.fingerprint[:8])}, {images})"


def names_of(known: Catalog, run: Run) -> tuple[str, str, str]:
    """Data set, backbone and loss of a run, as the form calls them."""
    if run.tested is not None:
        return data_title(known, run), "", f"test of {network_tested(run)}"
    loss = CURVES if run.curves_of else title_of(known, "loss", run.loss)
    return data_title(known, run), backbone_title(known, run), loss


def network_tested(run: Run) -> str:
    """The network that a run is a test of: "run 3, epoch 12"; "run 3, untrained" before its first epoch."""
    epoch = run.tested_epoch
    if epoch is None:
        return f"run {run.tested}"
    return f"run {run.tested}, epoch {epoch}" if epoch else f"run {run.tested}, untrained"


def name_with_seed(run: Run) -> str:
    """The name of a run with its seed, "Digits, seed 0"; a run of several seeds or folds is named with its own.

    Of a run that is known by its curves alone no seed is known.
    """
    if run.curves_of:
        return run.name
    seed = f", seed {run.seed}"
    return run.name if run.name.endswith(seed) or f"{seed}, fold " in run.name else f"{run.name}{seed}"


def _own_name(known: Catalog, run: Run, kind: str) -> str:
    """What a user chose where an entry has many data sets or networks; else empty."""
    return _chosen(known, kind, run.dataset if kind == "dataset" else run.backbone, run.config)


def _chosen(known: Catalog, kind: str, entry: str, config: str) -> str:
    parameter = "title" if entry == OWN_LOOP else catalogs.fact(known, kind, entry, "named_by")
    return _last_part(config, kind, parameter) if parameter else ""


@lru_cache(4096)  # a workspace has hundreds of runs, and every turn of the list asks for each
def _last_part(config: str, kind: str, parameter: str) -> str:
    """The last part of a path in that section of a config as TOML; empty if it has none."""
    try:
        return visible(PurePath(str(tomllib.loads(config)[kind].get(parameter, ""))).name)
    except (ValueError, LookupError, AttributeError, RecursionError):
        return ""
