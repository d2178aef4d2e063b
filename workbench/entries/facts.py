"""What entries declare besides their parameters: one class for each kind, so that a misspelt fact is an error."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

ByData = dict[str, dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Plain data for the form, the command line and the checks of a config."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetFacts(Facts):
    """Facts of a data set, whose `build(params, progress=progress)` returns an ImageSet.

    `progress` may raise Cancelled.
    """

    markers: Sequence[str] = ()
    """Patterns of files by which one is found."""
    named_by: str = ""
    """The parameter, a path, whose last part names the data; empty where the entry is one data set with a name."""
    may_be_mirrored: bool = True
    """Whether a mirrored image shows its class; it does not where the images are digits, letters or other signs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitFacts(Facts):
    """Facts of a split, whose `build(params, image_set, seed)` returns a Split."""

    classes_disjoint: bool = False
    """Whether no class is ever in both sets."""
    folds: bool = False
    """Whether it holds one part of the training classes out; its parameter `fold`, from 1, names which of its `folds`,
    and 0 asks for a run with each. A split without folds holds out by a parameter `validation`, above 0 or true."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplerFacts(Facts):
    """Facts of a sampler, whose `build(params, labels=int64 [n], batch_size=, seed=)` gives an object with
    `.batches(epoch) -> list[int64 array]`, a pure function of seed and epoch, `.steps_per_epoch` and `.places`: all
    rows of the training set that may be drawn.
    """

    images_of_class: str = ""
    """The parameter that says how many images of each class are in a batch; empty where that is left to chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AugmentationFacts(Facts):
    """Facts of an augmentation, whose `build(params)` gives a callable (images float [n, C, H, W] in 0..1 on any
    device, generator=torch.Generator) -> the same shape or a smaller crop; its `.evaluate(images)` is the
    deterministic twin.
    """

    changes: bool = True
    """Whether two views of one image differ."""
    mirrored_by: str = ""
    """The parameter, true or false, that mirrors images; empty where it has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackboneFacts(Facts):
    """Facts of a backbone, whose `build(params, channels)` gives a module [n, C, H, W] -> [n, feature_dim].

    The module has `.feature_dim`, and `.mean` and `.std` (tuples of length `channels`). It also has:

    - `.weights_path`, if it loaded a file;
    - `.licence` (text), if the licence of its weights is known;
    - `.pretrained_input` (side in px, share of the image's side), if the centre crop is known on which its weights were
      evaluated.
    """

    pretrained: bool = False
    """Whether published weights can be loaded."""
    fetches: bool = False
    """Whether its build also takes `progress=`, to report how far a download is; it may raise Cancelled."""
    named_by: str = ""
    """The parameter that names the network; empty where the entry is one network."""
    reads_text: bool = False
    """Whether its module has `embed_texts(texts) -> Tensor [n, feature_dim]` of length 1, in the space of its features,
    and parameters `weights` and `frozen`."""
    package: str = ""
    """A module that it imports from an optional package; empty if it needs none."""
    extra: str = ""
    """The extra of pyproject.toml that installs this package."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """What a fair comparison tries for one field of a run: `values`, or a range from `low` to `high`, both included."""

    source: str
    """Who names these values."""
    values: Sequence[bool | int | float | str] = ()
    low: float | None = None
    high: float | None = None
    log: bool = False
    """Whether the range is logarithmic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LossFacts(Facts):
    """Facts of a loss, whose `build(params, num_classes=K, embedding_dim=d)` gives a `losses.contract.Loss`."""

    family: str = ""
    """Its heading in the list of losses."""
    formula: str = ""
    """One line for the list of losses: z is an embedding, w or c a vector of a class, y the own class, s a cosine, D a
    distance at unit length, a an anchor, p its positives, n its negatives, i others of the batch."""
    needs_pairs: bool = False
    """Whether a batch must hold two images of a class."""
    of_images: bool = False
    """Whether its labels are the images of a batch, not their classes: views of one image share a label, and K is the
    number of images in a batch."""
    curved_by: str = ""
    """The parameter that, above 0, gives it points in the Poincaré ball (`Loss.own_distance`), so that a run can be
    evaluated by hyperbolic distance; empty where it has none."""
    batch: str = ""
    """Valid shapes of batches, in words."""
    defaults: ByData = field(default_factory=dict)
    """What papers name, by data set or by a parameter's value, written as losses/published.py says."""
    defaults_source: str = ""
    """Which paper names the defaults, or that none does."""
    measured: ByData = field(default_factory=dict)
    """What was found here, by data set; written like the defaults."""
    search: dict[str, Searched] = field(default_factory=dict)
    """What `workbench benchmark fair` tunes: a plain name is a parameter of the loss, a dotted one another field."""
    dimensions: dict[str, Any] | None = None
    """Which embedding sizes fit a choice and the number of classes (dimensions.py)."""
    spans: dict[str, Any] | None = None
    """How many dimensions of the embedding the loss uses, by the number of classes (dimensions.py)."""


CHOSEN_AT_FIRST = {
    "dataset": "digits", "split": "random", "backbone": "conv4", "loss": "ce",
    "sampler": "random", "augmentation": "none",
}  # fmt: skip
"""The default entry of each kind in a new config."""

OF_KIND: dict[str, type[Facts]] = {
    "dataset": DatasetFacts,
    "split": SplitFacts,
    "sampler": SamplerFacts,
    "augmentation": AugmentationFacts,
    "backbone": BackboneFacts,
    "loss": LossFacts,
}
