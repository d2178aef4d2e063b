"""The parts of a config that every run has: embedding, training, evaluation; their fields with ranges and help."""

import json
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal

from pydantic import field_validator

from workbench.files.resources import shipped
from workbench.params import Params, param

SHIPPED = "sections.json"  # among the resources; written by packaging/catalog.py


class EmbeddingParams(Params):
    """The head between the backbone and the loss."""

    dim: int = param(
        100, ge=0, le=4096, symbol="d", label="Embedding size",
        help="Dimensions of the embedding; 0 keeps the backbone's own.",
    )  # fmt: skip
    layers: Literal["one", "two"] = param(
        "one", help="Linear, or two linear layers with a ReLU between: the projection head of two-stage training."
    )
    start: Literal["random", "identity", "orthogonal", "glorot"] = param(
        "random",
        label="Initialisation",
        help="Initial weights of the embedding layer. identity keeps pretrained features, as far as the size allows; "
        "orthogonal: rows of unit length at right angles; glorot: uniform, with a variance of 2 / (features + d); "
        "random: uniform, with a variance of 1 / (3 × features).",
    )
    bias: bool = param(True, help="The embedding layer (of two, the last) adds a trained bias to each dimension.")
    batch_norm: bool = param(
        True,
        label="Batch-norm on top",
        help="Batch-norm without scale and shift on the embedding; Fig. 1 of CE vs pairwise needs it.",
    )
    dropout: float = param(0.0, ge=0, lt=1, help="Fraction of the embedding's dimensions set to zero in training.")
    bounded: bool = param(
        False, label="Within the unit ball", help="Divide embeddings longer than 1 by their length, as CCP does."
    )
    normalise: bool = param(False, label="Unit length", help="Divide every embedding by its L2 norm before the loss.")


class TrainingParams(Params):
    """Optimiser, schedule and precision."""

    epochs: int = param(10, ge=1, le=100_000, help="Passes over the training set.")
    batch_size: int = param(64, ge=2, le=65_536, label="Batch", unit="images", symbol="n", help="Images per step.")
    views: int = param(
        1, ge=1, le=8,
        help="Augmented copies of each image in a batch; two-view losses ask for 2. The loss sees n × views.",
    )  # fmt: skip
    chunk: int = param(
        0, ge=0, le=65_536, unit="images",
        help="For batches larger than memory: activations are kept for this many images at a time; 0 is off. Value and "
        "gradient are those of the whole batch, for every loss, also with the head's batch-norm and dropout. The "
        "backbone computes its features twice. Not with batch-norm that is trained in the backbone, nor with "
        "any other layer that compares the images of a batch.",
    )  # fmt: skip
    optimiser: Literal["sgd", "adam", "adamw"] = param("adam", help="How gradients become updates of the weights.")
    lr: float = param(
        1e-3, gt=0, le=100, label="Learning rate", symbol="η", help="Highest learning rate, reached after the warm-up."
    )
    backbone_lr: float = param(
        1.0, ge=0, le=100, label="Backbone learning rate", unit="×",
        help="Learning rate of the backbone, as a multiple of that of the head; small values keep pretrained features, "
        "0 freezes them.",
    )  # fmt: skip
    layer_decay: float = param(
        1.0, gt=0, le=1, label="Layer-wise decay", unit="× per block",
        help="Learning rate of each block of a transformer relative to the block after it; 1: the same for all.",
    )  # fmt: skip
    momentum: float = param(0.9, ge=0, lt=1, help="Fraction of the last update that is kept; SGD only.")
    beta2: float = param(
        0.999,
        gt=0,
        lt=1,
        symbol="β₂",
        label="Second moment",
        help="Decay of the second-moment estimate; Adam and AdamW only.",
    )
    epsilon: float = param(
        1e-8, gt=0, le=1, symbol="ε",
        help="Added to the root of the second moment, so that small gradients move a weight less; Adam and AdamW only. "
        "Keras has 1e-7.",
    )  # fmt: skip
    nesterov: bool = param(False, help="Look ahead along the momentum; SGD only, with momentum above 0.")
    weight_decay: float = param(0.0, ge=0, le=1, help="Pull of every weight towards zero.")
    decay_matrices_only: bool = param(
        True, label="Decay weights only", help="Leave biases and batch-norm out of the weight decay."
    )
    schedule: Literal["constant", "cosine", "cosine_throughout"] = param(
        "cosine",
        help="Course of the learning rate after the warm-up. cosine_throughout: a cosine over all steps, which the "
        "warm-up only cuts off.",
    )
    final_lr: float = param(
        0.0, ge=0, le=1, label="Final learning rate", unit="×",
        help="Final value of a cosine, as a multiple of the learning rate: 0.001 is a thousandth of it.",
    )  # fmt: skip
    head_epochs: int = param(
        0, ge=0, le=100_000, label="Head only", unit="epochs",
        help="Epochs at the start in which only the embedding and the loss's own parameters learn, not the backbone.",
    )  # fmt: skip
    patience: int = param(
        0, ge=0, le=100_000, unit="evaluations",
        help="Evaluations without a better held-out MAP@R that end the run; 0 trains all epochs.",
    )  # fmt: skip
    warmup_steps: int = param(
        0,
        ge=0,
        le=1_000_000,
        label="Warm-up",
        unit="steps",
        help="Steps in which the learning rate rises linearly from 0.",
    )
    clip_norm: float = param(
        0.0, ge=0, le=1e6, label="Clip gradients",
        help="Largest norm of the gradient; 0 is off. Train draws the norm before clipping beside the loss of a batch.",
    )  # fmt: skip
    clip_decay: bool = param(
        False, label="Clip with the decay",
        help="Whether the gradient whose norm is limited includes the weight decay; SGD and Adam only.",
    )  # fmt: skip
    precision: Literal["auto", "float32", "bf16", "fp16"] = param(
        "auto",
        help="auto: bf16 autocast on CUDA where the GPU computes in it (from Ampere on), float32 elsewhere. fp16 "
        "scales the loss so that gradients stay above 0. float32 leaves TF32 on for convolutions, as torch does.",
    )
    weight_average: float = param(
        0.0, ge=0, lt=1, label="Weight average", unit="decay",
        help="Above 0, an exponential average of the weights is evaluated, too: 0.999 spans about 1,000 steps.",
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
    keep_side: int = param(
        0, ge=0, le=4096, label="Short side kept", unit="px",
        help="For whole images: the largest short side kept. Above the image size, crops that show a small part "
        "stay sharp; 512 instead of 256 takes up to four times the disk and time to decode. 0: the image size.",
    )  # fmt: skip
    keep_features: bool = param(
        False, label="Features once",
        help="Compute the features of a frozen backbone once, in evaluation mode, and train the head on them. "
        "Needs a backbone learning rate of 0 and no augmentation; the features are kept in the cache.",
    )  # fmt: skip
    label_decisions: str = param(
        "", label="Label decisions", path="file", optional=True,
        help="A file of `workbench triage --export`: its decisions relabel or drop training images.",
    )  # fmt: skip
    local_batch_norm: bool = param(
        False, label="Local batch-norm",
        help="On several devices, batch-norm over each device's part of a batch: faster, but not equal to one device.",
    )  # fmt: skip
    deterministic: bool = param(False, help="Ask torch for the same result in every run on a GPU; slower.")

    @property
    def images_per_step(self) -> int:
        """What the loss sees in a step: the images of a batch, with each view of them."""
        return self.batch_size * self.views


class EvaluationParams(Params):
    """What is measured while training."""

    every: int = param(
        1, ge=1, le=100_000, label="Evaluate every", unit="epochs",
        help="Epochs between evaluations; the last is always evaluated.",
    )  # fmt: skip
    keep: Literal["all", "best and last"] = param(
        "all", label="Keep evaluations",
        help="Evaluations whose embeddings and neighbours stay on the disk, for maps, retrieval and tables by epoch; "
        "curves of recall and MAP@R always have all. 'best and last' keeps the untrained one, too. Preflight shows the "
        "size.",
    )  # fmt: skip
    distance: Literal["cosine", "l2", "hyperbolic"] = param(
        "cosine",
        help="The distance between embeddings in metrics, neighbours and the choice of the best epoch. 'hyperbolic' "
        "is for losses with points in the Poincaré ball (Hyp-ViT); these points are then stored.",
    )
    store_training: bool = param(
        False, label="Store training set",
        help="Keep the embeddings of the training set, too: stores for deployment are then fitted on them, and label "
        "triage looks for near-copies across the two sets. Each evaluation then also embeds and stores them.",
    )  # fmt: skip
    other_distance: bool = param(
        False, label="Other distance, too",
        help="Also measure recall, P@R and MAP@R by the distances that are not chosen: l2/recall@1, cosine/recall@1, "
        "and hyperbolic/recall@1 where the paper of the loss searches by it.",
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
        "Half as many take half the time; Preflight shows it.",
    )
    probe_every: int = param(
        50, ge=1, le=1_000_000, label="Probe every", unit="steps",
        help="At most this many steps between two points of the probe curves; a short run has a point for each epoch, "
        "or 20. Twice as many take half the time; Preflight shows it.",
    )  # fmt: skip
    anatomy_every: int = param(
        200, ge=0, le=1_000_000, label="Anatomy every", unit="steps",
        help="At most this many steps between two measurements of PCE, the parts of each loss and the information on "
        "the probe; a short run has 20 of them. 0 is off.",
    )  # fmt: skip
    linear_probe: bool = param(
        False, help="After the last epoch: a linear classifier and kNN on the frozen features before the embedding."
    )
    nmi: bool = param(
        False,
        label="NMI",
        help="Also cluster the test set by k-means and compare with its classes; slow for thousands of them.",
    )
    label_decisions: str = param(
        "", label="Score with label decisions, too", path="file", optional=True,
        help="A file of `workbench triage --export`: recall and MAP@R are also measured with its decisions.",
    )  # fmt: skip
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
        """Ranks of recall@k; 1 is always among them."""
        return tuple(int(word) for word in self.recall_at.split())


@lru_cache(maxsize=1)
def sections() -> dict[str, dict[str, Any]]:
    """Fields of the common parts, described as in the catalog: "embedding", "training", "evaluation".

    Do not change it: the same dictionary is returned each time.
    """
    stored = shipped(SHIPPED)
    fields: dict[str, dict[str, Any]] = stored["fields"] if stored.get("source") == source_hash() else described()
    return fields


def source_hash() -> str:
    """A hash of this file: the shipped fields are valid as long as they were made from it."""
    return blake2b(Path(__file__).read_bytes(), digest_size=16).hexdigest()


def described() -> dict[str, dict[str, Any]]:
    """What `sections` returns, built from the classes, which takes a tenth of the time to the window's first paint."""
    parts: dict[str, type[Params]] = {
        "embedding": EmbeddingParams,
        "training": TrainingParams,
        "evaluation": EvaluationParams,
    }
    return {name: part.model_json_schema()["properties"] for name, part in parts.items()}


def shipped_text() -> str:
    """The text of the shipped file."""
    return json.dumps({"source": source_hash(), "fields": described()}, ensure_ascii=False, indent=1) + "\n"
