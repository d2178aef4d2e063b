"""What one run is: plain parts with ranges and help; TOML in and out; one error per bad field, naming it."""

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import tomli_w
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_serializer, model_validator

from workbench import files
from workbench.entries import catalog as catalogs
from workbench.entries import dimensions
from workbench.entries.catalog import Catalog
from workbench.entries.facts import CHOSEN_AT_FIRST
from workbench.files.resources import resources
from workbench.files.unreadable import refusing
from workbench.params import Params, param
from workbench.problem import Problem
from workbench.settings import preset_files

LARGEST = 1 << 20  # bytes of a config
KINDS = ("dataset", "split", "sampler", "augmentation", "backbone", "loss")
UNSAID = "The paper does not say; Workbench's choice"
IMPORTED = "imported"  # the name of every part of a run whose embeddings come from elsewhere


class BadConfig(Problem):
    """A config with wrong fields; `errors` holds one sentence by dotted field."""

    def __init__(self, source: str, errors: dict[str, str]) -> None:
        self.errors = errors
        listed = " ".join(f"{field}: {sentence}" for field, sentence in errors.items())
        super().__init__(f"{source} cannot be used. {listed}", kept="Nothing was started.")


class Choice(BaseModel):
    """An entry of the registry by name, with its parameters; flat in TOML: `[loss] name = "ce" ...`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    params: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _gather(cls, given: Any) -> Any:
        if isinstance(given, str):
            return {"name": given}
        if isinstance(given, dict) and "params" not in given:
            return {"name": given.get("name"), "params": {key: value for key, value in given.items() if key != "name"}}
        return given

    @model_serializer
    def _flatten(self) -> dict[str, Any]:
        return {"name": self.name, **self.params}


class EmbeddingParams(Params):
    """The head between the backbone and the loss."""

    dim: int = param(
        100,
        ge=0,
        le=4096,
        symbol="d",
        label="Embedding size",
        help="Numbers per embedding; 0 keeps the backbone's own.",
    )
    layers: Literal["one", "two"] = param(
        "one", help="Linear, or two linear layers with a ReLU between: the projection head of two-stage training."
    )
    start: Literal["random", "identity"] = param(
        "random",
        help="How the embedding's layer begins; identity keeps what pretrained features know, as far as its size goes.",
    )
    batch_norm: bool = param(
        True,
        label="Batch-norm on top",
        help="Batch-norm without scale and shift on the embedding; Fig. 1 of CE vs pairwise needs it.",
    )
    dropout: float = param(0.0, ge=0, lt=1, help="Share of the embedding's numbers set to zero in training.")
    bounded: bool = param(
        False, label="Within the unit ball", help="Divide embeddings longer than 1 by their length, as CCP does."
    )
    normalise: bool = param(False, label="Unit length", help="Divide every embedding by its L2 norm before the loss.")


class TrainingParams(Params):
    """Optimiser, schedule and precision."""

    epochs: int = param(10, ge=1, le=100_000, help="Passes over the training half.")
    batch_size: int = param(64, ge=2, le=65_536, label="Batch", unit="images", symbol="n", help="Images per step.")
    views: int = param(
        1,
        ge=1,
        le=8,
        help="Augmented copies of each image in a batch; two-view losses ask for 2. The loss sees n × views.",
    )
    optimiser: Literal["sgd", "adam", "adamw"] = param("adam", help="Rule that turns gradients into steps.")
    lr: float = param(1e-3, gt=0, le=100, label="Learning rate", symbol="η", help="Size of a step at its highest.")
    backbone_lr: float = param(
        1.0, ge=0, le=100, label="Backbone learning rate", unit="×",
        help="Learning rate of the backbone, as a multiple; small keeps pretrained features, 0 freezes them.",
    )  # fmt: skip
    layer_decay: float = param(
        1.0, gt=0, le=1, label="Layer-wise decay", unit="× per block",
        help="Each block of a transformer learns this much slower than the one after it; 1: all at one rate.",
    )  # fmt: skip
    momentum: float = param(0.9, ge=0, lt=1, help="Share of the last step that is kept; SGD only.")
    beta2: float = param(
        0.999, gt=0, lt=1, symbol="β₂", label="Second moment", help="Share of the squares kept; Adam and AdamW only."
    )
    nesterov: bool = param(False, help="Look ahead along the momentum; SGD only, with momentum above 0.")
    weight_decay: float = param(0.0, ge=0, le=1, help="Pull of every weight towards zero.")
    decay_matrices_only: bool = param(
        True, label="Decay weights only", help="Leave biases and batch-norm out of the weight decay."
    )
    schedule: Literal["constant", "cosine"] = param("cosine", help="How the learning rate goes after the warm-up.")
    head_epochs: int = param(
        0, ge=0, le=100_000, label="Head alone", unit="epochs",
        help="Epochs at the start in which only the embedding and the loss's own parameters learn, not the backbone.",
    )  # fmt: skip
    patience: int = param(
        0, ge=0, le=100_000, unit="evaluations",
        help="Evaluations without a better MAP@R of held-out classes that end the run; 0 trains all epochs.",
    )  # fmt: skip
    warmup_steps: int = param(0, ge=0, le=1_000_000, label="Warm-up", unit="steps", help="Steps of linear rise.")
    clip_norm: float = param(0.0, ge=0, le=1e6, label="Clip gradients", help="Longest gradient allowed; 0 is off.")
    precision: Literal["auto", "float32", "bf16", "fp16"] = param(
        "auto",
        help="auto: bf16 autocast on CUDA, float32 elsewhere. fp16 scales the loss so that gradients stay above 0.",
    )
    weight_average: float = param(
        0.0, ge=0, lt=1, label="Weight average", unit="decay",
        help="Above 0, an exponential average of the weights is evaluated beside them: 0.999 spans about 1,000 steps.",
    )  # fmt: skip
    compile_backbone: bool = param(
        False, label="Compile backbone",
        help="torch.compile: faster steps on a GPU after a first one that takes a minute or more.",
    )  # fmt: skip
    keep_images: Literal["auto", "pixels", "encoded"] = param(
        "auto",
        help="pixels: centre squares in a memory map; encoded: whole images as JPEG; auto: pixels up to 32 GiB, "
        "unless crops are taken of whole images.",
    )
    deterministic: bool = param(False, help="Ask torch for the same result on every run of a GPU; slower.")


class EvaluationParams(Params):
    """What is measured while training."""

    every: int = param(
        1,
        ge=1,
        le=100_000,
        label="Evaluate every",
        unit="epochs",
        help="Epochs between evaluations; the last is always evaluated.",
    )
    distance: Literal["cosine", "l2"] = param("cosine", help="How near two embeddings are.")
    other_distance: bool = param(
        False, label="Other distance, too",
        help="Also measure recall, P@R and MAP@R by the distance that is not chosen: l2/recall@1, or cosine/recall@1.",
    )  # fmt: skip
    recall_at: str = param(
        "1 2 4 8", label="Recall at", symbol="k", help="Ranks of recall@k, with spaces between: SOP has 1 10 100 1000."
    )
    neighbours: int = param(100, ge=1, le=1000, symbol="k", help="Neighbours stored for each query.")
    probe_size: int = param(
        2048,
        ge=0,
        le=100_000,
        label="Probe",
        unit="images",
        help="Fixed training images on which CE and SPCE are measured; 0 is off. "
        "Half as many cost half the time, which Preflight tells.",
    )
    probe_every: int = param(
        50,
        ge=1,
        le=1_000_000,
        label="Probe every",
        unit="steps",
        help="Steps between two points of the probe curves; twice as many cost half the time, which Preflight tells.",
    )
    anatomy_every: int = param(
        200, ge=0, le=1_000_000, label="Anatomy every", unit="steps",
        help="Steps between two looks at PCE, the parts of each loss and the information on the probe; 0 is off.",
    )  # fmt: skip
    linear_probe: bool = param(
        False, help="After the last epoch: a linear classifier and kNN on the frozen features before the embedding."
    )
    nmi: bool = param(
        False,
        label="NMI",
        help="Also cluster the test half by k-means and compare with its classes; slow for thousands of them.",
    )
    untrained: bool = param(True, label="Evaluate untrained", help="Also evaluate before the first step, as epoch 0.")

    @field_validator("recall_at")
    @classmethod
    def _ranks(cls, text: str) -> str:
        words = text.replace(",", " ").split()
        if not words or not all(word.isascii() and word.isdigit() and 0 < int(word) <= 100_000 for word in words):
            raise ValueError("Must be ranks from 1 on, such as 1 2 4 8")
        return " ".join(dict.fromkeys(["1", *words]))

    @property
    def ks(self) -> tuple[int, ...]:
        """Ranks of recall@k; the first is always there."""
        return tuple(int(word) for word in self.recall_at.split())


class RunConfig(BaseModel):
    """Everything that decides a run. Frozen; unknown fields are errors.

    `RunConfig(...)` checks shapes and the common parts; `check(catalog)` also checks the parameters of entries.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field("Digits", min_length=1, max_length=200)
    seed: int = Field(0, ge=0, lt=2**31)
    seeds: int = Field(1, ge=1, le=100)
    device: Literal["auto", "cpu", "cuda", "mps"] = "auto"
    dataset: Choice = Choice(name=CHOSEN_AT_FIRST["dataset"])
    split: Choice = Choice(name=CHOSEN_AT_FIRST["split"])
    backbone: Choice = Choice(name=CHOSEN_AT_FIRST["backbone"])
    embedding: EmbeddingParams = EmbeddingParams()
    loss: Choice = Choice(name=CHOSEN_AT_FIRST["loss"])
    sampler: Choice = Choice(name=CHOSEN_AT_FIRST["sampler"])
    augmentation: Choice = Choice(name=CHOSEN_AT_FIRST["augmentation"])
    training: TrainingParams = TrainingParams()
    evaluation: EvaluationParams = EvaluationParams()

    @classmethod
    def from_toml(cls, path: Path | str) -> "RunConfig":
        """Read and check a file. Raises BadConfig with one sentence per bad field, Problem when it is unreadable."""
        path = Path(path)
        refused = "The config {} cannot be read ({})."
        with refusing(lambda why: Problem(refused.format(path, why), kept="Nothing was started.")):
            if path.stat().st_size > LARGEST:
                raise ValueError(f"it is over {LARGEST >> 20} MiB")
            text = path.read_text("utf-8")
        return cls.from_toml_text(text, source=str(path))

    @classmethod
    def from_toml_text(cls, text: str, source: str = "The config", known: Catalog | None = None) -> "RunConfig":
        """As `from_toml`, from text; `known` is the catalog, read when it is not given."""
        config = cls._of_text(text, source)
        errors = config.check(known if known is not None else catalogs.current())
        if errors:
            raise BadConfig(source, errors)
        return config

    @classmethod
    def recorded(cls, text: str) -> "RunConfig":
        """The config of a run that is looked at, not started: entries may be unknown. Raises BadConfig for bad TOML."""
        return cls._of_text(text, "The config")

    def is_recorded_as(self, text: str) -> bool:
        """Whether a run's config is this one; a field that is newer than the run has its default there."""
        try:
            return self.recorded(text) == self
        except BadConfig:
            return False

    @classmethod
    def _of_text(cls, text: str, source: str) -> "RunConfig":
        with refusing(lambda why: BadConfig(source, {"TOML": f"{why}."}), ValidationError):
            given = tomllib.loads(text)
        try:
            return cls.model_validate(given)
        except ValidationError as found:
            raise BadConfig(source, catalogs.sentences(found)) from None

    @classmethod
    def from_values(
        cls, values: dict[str, Any], known: Catalog, classes: int | None = None
    ) -> tuple["RunConfig | None", dict[str, str]]:
        """A config from raw nested values, as a form holds them: the config, or None and one sentence per bad field."""
        try:
            config = cls.model_validate(values)
        except ValidationError as found:
            return None, catalogs.sentences(found)
        errors = config.check(known, classes)
        return (None if errors else config), errors

    def to_toml(self, path: Path | None = None) -> str:
        """The config as TOML text; also written to `path` when one is given."""
        text = tomli_w.dumps(self.model_dump())
        if path is not None:
            with files.atomic_write(path) as file:
                file.write(text.encode())
        return text

    @property
    def imported(self) -> bool:
        """Whether the embeddings come from elsewhere: there is nothing to train."""
        return self.dataset.name == IMPORTED

    def choice(self, kind: str) -> Choice:
        """The choice of that kind: "dataset", "loss", ..."""
        found: Choice = getattr(self, kind)
        return found

    def fact(self, known: Catalog, kind: str, of: str) -> Any:
        """A fact (entries/facts.py) of the chosen entry of that kind; None where it is unknown."""
        return catalogs.fact(known, kind, self.choice(kind).name, of)

    def value(self, known: Catalog, kind: str, field: str) -> Any:
        """A parameter of the chosen entry of that kind, or its default; None where it has none of that name."""
        choice = self.choice(kind)
        described = known.get(f"{kind}/{choice.name}", {"params": {}})["params"]
        return choice.params.get(field, described.get(field, {}).get("default"))

    def folds(self, known: Catalog) -> tuple[int, int]:
        """The fold that is asked for, from 1, or 0 for each of them, and how many there are; 0, 0 without folds."""
        if not self.fact(known, "split", "folds"):
            return 0, 0
        return int(self.value(known, "split", "fold")), int(self.value(known, "split", "folds"))

    def holds_out(self, known: Catalog) -> bool:
        """Whether training classes are held out, on which the best epoch and the best setting can be chosen."""
        return bool(self.fact(known, "split", "folds") or self.value(known, "split", "validation"))

    def check(self, known: Catalog, classes: int | None = None) -> dict[str, str]:
        """One sentence per bad field by dotted name, such as "loss.margin"; empty when the run can start.

        `classes` is the number of training classes where it is known: some losses need a size that goes with it.
        """
        errors: dict[str, str] = {}
        if self.imported:
            return {"dataset.name": "The embeddings were imported: there is nothing to train."}
        for kind in KINDS:
            choice = self.choice(kind)
            if f"{kind}/{choice.name}" not in known:
                names = ", ".join(catalogs.names(known, kind))
                errors[f"{kind}.name"] = f"There is no {kind} named {choice.name!r}. Known: {names}."
                continue
            for field, sentence in catalogs.errors(catalogs.params_of(known, kind, choice.name), choice.params).items():
                errors[f"{kind}.{field}"] = sentence
        return errors | self._impossible(known, errors) | ({} if errors else self._misfit(known, classes))

    def _impossible(self, known: Catalog, errors: dict[str, str]) -> dict[str, str]:
        found: dict[str, str] = {}
        if self.training.nesterov and self.training.momentum == 0:
            found["training.nesterov"] = "Nesterov needs a momentum above 0."
        if self.training.patience and not self.holds_out(known):
            found["training.patience"] = (
                "Early stopping needs training classes held out: take MLRC folds or set the share held out."
            )
        if "loss.name" in errors or "sampler.name" in errors:
            return found
        if self.evaluation.linear_probe and self.fact(known, "split", "classes_disjoint"):
            splits = catalogs.names(known, "split")
            others = " or ".join(each for each in splits if not catalogs.fact(known, "split", each, "classes_disjoint"))
            found["evaluation.linear_probe"] = f"The split leaves no class in both halves: use {others}."
        if not any(field.startswith("split") for field in errors):
            fold, folds = self.folds(known)
            if fold > folds:
                found["split.fold"] = "There are fewer folds: 0 runs all of them."
        loss, views = known[f"loss/{self.loss.name}"], self.training.views
        if views > 1 and self.fact(known, "augmentation", "changes") is False:
            found["training.views"] = f"{views} views without an augmentation are the same image {views} times."
        images_of_class = self.fact(known, "sampler", "images_of_class")
        in_batch = self.value(known, "sampler", images_of_class) if images_of_class else 0
        if loss["facts"].get("needs_pairs") and views == 1 and in_batch == 1:
            found[f"sampler.{images_of_class}"] = f"{loss['title']} compares images of one class: take 2 or more."
        if loss["facts"].get("needs_pairs") and not images_of_class and views == 1:
            found["sampler.name"] = (
                f"{loss['title']} compares images of one class: choose the sampler of classes x images, or 2 views."
            )
        if images_of_class and not any(field.startswith("sampler") for field in errors):
            found |= self._uneven(known, loss, images_of_class)
        return found

    def warnings(self, known: Catalog, classes: int | None) -> dict[str, str]:
        """One sentence by dotted name of a field that is allowed and that one may regret; of a checked config."""
        rule = self.fact(known, "loss", "spans")
        if rule is None or classes is None or not self.embedding.batch_norm:
            return {}
        params = catalogs.params_of(known, "loss", self.loss.name).model_validate(self.loss.params).model_dump()
        said = dimensions.idle(rule, params, classes, self.embedding.dim)
        return {"embedding.dim": said} if said else {}

    def _misfit(self, known: Catalog, classes: int | None) -> dict[str, str]:
        """An embedding whose size does not go with the loss and its classes; 0 is the backbone's own size."""
        rule = self.fact(known, "loss", "dimensions")
        if rule is None or classes is None or not self.embedding.dim:
            return {}
        params = catalogs.params_of(known, "loss", self.loss.name).model_validate(self.loss.params).model_dump()
        said = dimensions.refusal(rule, params[rule["of"]], classes, self.embedding.dim)
        return {"embedding.dim": said} if said else {}

    def _uneven(self, known: Catalog, loss: dict[str, Any], images_of_class: str) -> dict[str, str]:
        """Batches that are no whole number of classes, or hold one class where a loss needs negatives."""
        sampler = catalogs.params_of(known, "sampler", self.sampler.name).model_validate(self.sampler.params)
        each, batch = sampler.model_dump()[images_of_class], self.training.batch_size
        if batch % each:
            return {"training.batch_size": f"{batch} images cannot be dealt as {each} of each class."}
        if loss["facts"].get("needs_pairs") and batch == each:
            return {"training.batch_size": f"A batch of one class has no negatives: take {2 * each} images or more."}
        return {}

    def filled(self, known: Catalog) -> "RunConfig":
        """The same run with every parameter of its entries written out; unknown entries are left as they are."""
        changes = {}
        for kind in KINDS:
            choice = self.choice(kind)
            if f"{kind}/{choice.name}" not in known:
                continue
            full = catalogs.params_of(known, kind, choice.name).model_validate(choice.params).model_dump()
            changes[kind] = Choice(name=choice.name, params=full)
        return self.model_copy(update=changes)


@dataclass(frozen=True, slots=True)
class Preset:
    """A ready run from resources/presets."""

    key: str  # the file's name without ending
    title: str
    summary: str
    config: RunConfig
    sources: dict[str, str]  # dotted field -> paper and section, or a sentence where the paper is silent


def presets() -> list[Preset]:
    """The presets by their `order`. Parameters are not checked against the catalog here."""
    found = []
    for path in (resources() / "presets").glob("*.toml"):
        given = preset_files.read(path)
        order, summary, sources = given.pop("order"), given.pop("summary"), given.pop("sources", {})
        unsaid = given.pop("unsaid", UNSAID)
        config = RunConfig.model_validate(given)
        if sources:  # a paper's recipe: what it sets without a source is said to have none
            sources = dict.fromkeys(preset_files.fields_set(given), unsaid) | sources
        found.append((order, Preset(path.stem, config.name, summary, config, sources)))
    return [preset for _, preset in sorted(found, key=lambda each: each[0])]


@lru_cache(maxsize=1)
def sections() -> dict[str, dict[str, Any]]:
    """Fields of the common parts, described as in the catalog: "embedding", "training", "evaluation".

    Not to be changed: the same dictionary is returned each time.
    """
    parts: dict[str, type[Params]] = {
        "embedding": EmbeddingParams,
        "training": TrainingParams,
        "evaluation": EvaluationParams,
    }
    return {name: part.model_json_schema()["properties"] for name, part in parts.items()}
