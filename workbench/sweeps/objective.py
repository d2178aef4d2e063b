"""The objective of a sweep: a metric of held-out classes, of training or of the test set."""

import re
from collections.abc import Iterable

import numpy as np

from workbench.config import BadConfig, RunConfig
from workbench.entries.catalog import Catalog
from workbench.metric_names import metric_name
from workbench.names import nearest_first
from workbench.numerals import percentage
from workbench.workspace import Workspace

HELD_OUT = "validation/MAP@R"
REPORTED = "MAP@R"
TRAIN_SIDE = {"train/accuracy": False, "probe/ce": True, "probe/spce": True}  # whether the least is the best
PROBED = "linear/top-1"  # measured once, after the last epoch
REPORTED_NAMES = re.compile(rf"MAP@R|P@R|P@1|NMI|recall@[1-9]\d*|{PROBED}")
OPTIMISTIC = "Optimistic: the objective is measured on the test set, which also chooses the setting."

SAME_IMAGES = ("dataset.image_size", "dataset.colour", "dataset.bits", "dataset.fit")  # read in another way


def on_other_images(varied: Iterable[str]) -> str:
    """A sentence where fields that are varied choose the images that are searched; empty if none does."""
    choosing = [name for name in varied if name.startswith(("dataset.", "split.")) and name not in SAME_IMAGES]
    if not choosing:
        return ""
    return (
        f"The settings differ in {' and '.join(choosing)}: where other images are searched, their values are not "
        "comparable."
    )


def on_other_steps(varied: Iterable[str]) -> str:
    """A sentence where the batch is varied: an epoch of larger batches has fewer steps."""
    if "training.batch_size" not in varied:
        return ""
    return "The settings differ in the batch: with equally many epochs larger batches make fewer steps of training."


def chosen(metric: str, config: RunConfig, known: Catalog) -> str:
    """The name of the objective; "" is the best available: held-out classes, else MAP@R of the test set.

    Raises:
        BadConfig: a metric that the runs will not have, or one of the test set where classes are held out.
    """
    held_out = config.holds_out(known)
    if not metric:
        return HELD_OUT if held_out else REPORTED
    if metric == HELD_OUT and not held_out:
        raise BadConfig("The sweep", {"metric": f"{HELD_OUT} needs images held out: set split.validation."})
    if reported(metric) and held_out:
        raise BadConfig(
            "The sweep",
            {"metric": f"{metric} is measured on the test set; this split holds out classes: use {HELD_OUT}."},
        )
    if metric.startswith("probe/") and not config.evaluation.probe_size:
        raise BadConfig("The sweep", {"metric": f"{metric} needs a probe: set evaluation.probe_size."})
    there = _offered(config, held_out=held_out)
    if metric not in there:
        listed = ", ".join(nearest_first(metric, there))
        raise BadConfig("The sweep", {"metric": f"The runs will have no {metric!r}. Known: {listed}."})
    return metric


def of_paper(metric: str, config: RunConfig, known: Catalog) -> str:
    """The metric in which a paper reports its sweep, if the runs of the config have it; else "", the default."""
    held_out = config.holds_out(known)
    return metric if not held_out and metric in _offered(config, held_out=False) else ""


def _offered(config: RunConfig, *, held_out: bool) -> list[str]:
    """The metrics of the config's runs by which a sweep can choose."""
    recalls = [f"recall@{k}" for k in config.evaluation.ks]
    probed = [PROBED] if config.evaluation.linear_probe else []
    of_classes = [HELD_OUT] if held_out else [REPORTED, "P@R", "P@1", "NMI", *recalls, *probed]
    return [*of_classes, *(name for name in TRAIN_SIDE if config.evaluation.probe_size or name == "train/accuracy")]


def reported(metric: str) -> bool:
    """Whether the metric is measured on the test set."""
    return bool(REPORTED_NAMES.fullmatch(metric))


def written(metric: str, value: float) -> str:
    """The value as a person reads it: losses of the probe in nats, all other objectives in percent."""
    return f"{value:.4f}" if least_is_best(metric) else percentage(value, 2)


def least_is_best(metric: str) -> bool:
    """Whether a lower value of the objective is better, as of a loss; metrics of retrieval are better higher."""
    return TRAIN_SIDE.get(metric, False)


def measured(workspace: Workspace, run_id: int, metric: str) -> float | None:
    """The run's value: at its best epoch, or the last point of a training curve; None if that is not a number.

    The linear probe is measured after the last epoch alone. A training curve that ended in NaN or infinity gives no
    value: its last finite point was before it diverged.
    """
    if metric in TRAIN_SIDE:
        _, values = workspace.scalars(run_id, metric)
        value = float(values[-1]) if len(values) else None
    elif metric == PROBED:
        value = workspace.run(run_id).last.get(metric)
    else:
        value = workspace.run(run_id).best.get(metric)
    return value if value is not None and np.isfinite(value) else None


def reason_without(workspace: Workspace, run_id: int, metric: str) -> str:
    """Why `measured` gave None, as a sentence."""
    if metric in TRAIN_SIDE and len(workspace.scalars(run_id, metric)[1]):
        return f"The run diverged: its last {metric_name(metric)} is not a number."
    return f"The run has no {metric_name(metric)}."
