"""The papers' tables, and which of them can be compared with a run: same data set, protocol and metric."""

import tomllib
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from math import isfinite, nan
from typing import Any

from workbench.config import RunConfig
from workbench.files.resources import resources

NAMES = {
    "resnet50": "ResNet-50", "resnet18": "ResNet-18", "resnet34": "ResNet-34", "resnet32": "ResNet-32",
    "vit_small_patch16_224.dino": "ViT-S/16 (DINO)", "vit_small_patch16_224": "ViT-S/16 (ImageNet-21k)",
    "deit_small_distilled_patch16_224": "ViT-S/16 (DeiT)",
    "preact_resnet20": "ResNet-20 v2", "bn_inception": "BN-Inception", "googlenet": "GoogLeNet with batch-norm",
}  # fmt: skip

FOLDS = 4  # of the tables under "mlrc"


@dataclass(frozen=True, slots=True)
class Published:
    """One row of a paper's table."""

    method: str
    values: tuple[float, ...]  # percent, one per metric; NaN if the paper has none
    loss: str = ""  # the entry of that name here; empty without one
    backbone: str = ""
    dim: int = 0  # 0 if the paper does not say
    distance: str = ""  # "cosine", "l2" or "hyperbolic"; empty if the paper does not say


@dataclass(frozen=True, slots=True)
class Table:
    """One table of a paper, on one data set under one protocol."""

    paper: str
    title: str
    source: str  # "Table 4"
    dataset: str
    split: str  # the entry of that name
    metrics: tuple[str, ...]  # as in an evaluation
    rows: tuple[Published, ...]
    note: str = ""  # "separated", "concatenated", "long-tailed 100"
    losses: tuple[str, ...] = ()  # entries here: an ablation is shown beside their runs only; empty for any
    classes: int = 0  # where only their number identifies the data set, such as ImageNet-1K; else 0
    images: int = 0  # as published, of both sets, where `classes` is not 0

    @property
    def distances(self) -> list[str]:
        """By which its rows compare, where the paper says it."""
        return sorted({row.distance for row in self.rows if row.distance})

    def columns(self, metrics: Collection[str]) -> tuple[str, ...]:
        """The metrics of a run that stand in the table's columns: by the one distance of its rows, if it has those."""
        if len(self.distances) == 1:
            by_distance = tuple(f"{self.distances[0]}/{name}" for name in self.metrics)
            if set(by_distance) <= set(metrics):
                return by_distance
        return self.metrics

    def differences(self, config: RunConfig, environment: dict[str, Any], metrics: Collection[str]) -> list[str]:
        """Sentences on what differs between a run, with its environment and metrics, and every row of the table."""
        network, dim = _network(config), config.embedding.dim
        own = NAMES.get(network, network)
        backbones = sorted({row.backbone for row in self.rows if row.backbone})
        dims = sorted({row.dim for row in self.rows if row.dim})
        distances, by_theirs = self.distances, self.columns(metrics) != self.metrics
        sentences = []
        if backbones and own not in backbones:
            sentences.append(f"This run's backbone is {own}, the table's {_listed(backbones)}.")
        if dim and dims and dim not in dims:  # 0: as many as the backbone has, which a config does not say
            sentences.append(
                f"This run's embeddings have {dim} dimensions, the table's {_listed(list(map(str, dims)))}."
            )
        if distances and config.evaluation.distance not in distances and not by_theirs:
            sentences.append(f"This run compares by {config.evaluation.distance}, the table by {_listed(distances)}.")
        data = environment.get("data", {})
        unlike = data.get("unlike_published", [])
        sentences += [f"This run's data are not the table's: {name} {what}." for name, what in unlike]
        if self.images and data.get("images", self.images) != self.images:
            sentences.append(f"This run's data are not the table's: {data['images']:,} images, not {self.images:,}.")
        split = config.split.params
        if self.split == "mlrc" and split.get("folds", FOLDS) != FOLDS:
            sentences.append(f"This run's training classes are in {split['folds']} folds, the table's in {FOLDS}.")
        if self.split == "classes" and split.get("validation", 0):
            sentences.append(f"This run holds out a share of {split['validation']:g} of the training classes.")
        if self.note == "concatenated":
            sentences.append("The table joins the embeddings of all folds; this is one of them.")
        return sentences


@dataclass(frozen=True, slots=True)
class ExperimentRow:
    """The joint result of an experiment's folds, in the columns of a paper's table."""

    title: str  # names the experiment and how its folds are put together
    backbone: str
    dim: int  # 0 if it is not known
    values: tuple[float, ...]  # percent, mean over `n`; NaN if the experiment has none
    n: int  # seeds of the concatenated row, runs of the separated one


RECOGNISED = "Data are matched with a table by their layout and counts; the images themselves are not compared."
EXPERIMENT_ROWS = (
    "Rows of an experiment take the best epoch of every fold: concatenated, the embeddings of a seed's folds side by "
    "side (n seeds); separated, the mean of the folds (n runs)."
)


def experiment_rows(table: Table, title: str, config: RunConfig, result: dict[str, Any]) -> list[ExperimentRow]:
    """The experiment's rows in a table of its protocol; none before all its folds are done, or without folds.

    Args:
        title: of the experiment. config: of any of its runs.
        result: as `folds_and_seeds.conclude` stores it, fractions.
    """
    together: list[dict[str, float]] = result.get("concatenated", [])
    if not together:
        return []
    folds, rest = divmod(int(result["runs"]), len(together))
    in_all = [name for name in together[0] if all(name in metrics for metrics in together)]
    beside_each_other = {name: [metrics[name] for metrics in together] for name in in_all}
    separated: dict[str, list[float]] = result["separated"]
    new_rows = []
    for word, n, times, columns in (
        ("concatenated", len(together), 0 if rest else folds, beside_each_other),
        ("separated", int(result["runs"]), 1, separated),
    ):
        # P@1 and recall@1 are one number; an experiment keeps it as recall@1.
        lists = [columns.get("recall@1" if name == "P@1" else name, []) for name in table.metrics]
        values = tuple(100 * sum(fractions) / len(fractions) if fractions else nan for fractions in lists)
        dim = times * config.embedding.dim
        new_rows.append(ExperimentRow(f"{title}: folds {word}", _network(config), dim, values, n))
    return new_rows


def _network(config: RunConfig) -> str:
    """The network by its own name where the backbone's entry has many."""
    return str(config.backbone.params.get("model", config.backbone.name))


@cache
def tables() -> tuple[Table, ...]:
    """All tables in resources/tables; read once."""
    every: list[Table] = []
    for path in sorted((resources() / "tables").glob("*.toml")):
        stored = tomllib.loads(path.read_text("utf-8"))
        every += [_table_of(stored["paper"], entry) for entry in stored["table"]]
    return tuple(every)


def beside(config: RunConfig, metrics: dict[str, float], classes: int = 0) -> list[Table]:
    """The tables with the run's data set and protocol, and a metric that the run has.

    Args:
        classes: of the run's data set; 0 if it is not known.
    """
    return [
        table
        for table in tables()
        if _same_protocol(table, config) and table.classes in (0, classes) and set(table.metrics) & set(metrics)
        if not table.losses or config.loss.name in table.losses
    ]


def classes_of(environment: dict[str, Any]) -> int:
    """Classes of the data set in a run's environment; 0 if it has none yet."""
    return int(environment.get("data", {}).get("classes", 0))


def own_values(table: Table, metrics: dict[str, float]) -> list[float]:
    """The run's numbers for the table's columns, in percent; NaN if it has none."""
    return [100 * value if isfinite(value := metrics.get(name, nan)) else nan for name in table.columns(metrics)]


def _same_protocol(table: Table, config: RunConfig) -> bool:
    if (table.dataset, table.split) != (config.dataset.name, config.split.name):
        return False
    params = config.split.params
    if table.split == "classes" and (params.get("train_fraction", 0.5) != 0.5 or params.get("shuffle", False)):
        return False
    ratio = float(config.sampler.params.get("ratio", 100.0)) if config.sampler.name == "long_tailed" else 0.0
    asked = float(table.note.removeprefix("long-tailed ")) if table.note.startswith("long-tailed") else 0.0
    return ratio == asked


def _table_of(paper: str, stored: dict[str, Any]) -> Table:
    rows = tuple(
        Published(**{**row, "values": tuple(nan if value == "" else float(value) for value in row["values"])})
        for row in stored["rows"]
    )
    return Table(
        paper=paper,
        **{**stored, "metrics": tuple(stored["metrics"]), "losses": tuple(stored.get("losses", ())), "rows": rows},
    )


def _listed(words: list[str]) -> str:
    return ", ".join(words[:-1]) + " or " + words[-1] if len(words) > 1 else words[0]
