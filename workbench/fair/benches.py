"""The data sets on which methods are compared: a preset, its data, and the batches that a loss needs."""

from dataclasses import dataclass, field
from typing import Any

from workbench.entries import catalog as catalogs
from workbench.entries.facts import CHOSEN_AT_FIRST

OF_VIEWS = "shift"  # what tells two views of a small image apart
Changes = dict[str, dict[str, object]]  # by part of the config, then by field


@dataclass(frozen=True, slots=True)
class Bench:
    """A data set to compare on: a preset, where its data is below the data folder, and how it is shortened."""

    preset: str
    data: dict[str, str]  # dotted field -> path below the data folder
    changes: Changes = field(default_factory=dict)
    per_class: int = 4  # images of a class in the batches of pair losses


BENCHES = {
    "omniglot": Bench(
        "omniglot-unseen", {"dataset.place": "omniglot/images_background_small1.zip"},
        {"evaluation": {"probe_size": 0, "every": 4}},
    ),
    "mnist": Bench(
        "mnist-ce-spce", {"dataset.folder": "mnist"},
        {"training": {"epochs": 1}, "backbone": {"width": 16}, "evaluation": {"probe_size": 0}}, per_class=8,
    ),
    "caltech": Bench(
        "photographs-unseen",
        {"dataset.folder": "caltech101", "backbone.weights_file": "weights/squeezenet1_0.pth"},
        {"training": {"epochs": 4}, "evaluation": {"probe_size": 0, "every": 2}},
    ),
}  # fmt: skip


def with_batches(values: dict[str, Any], method: str, per_class: int, known: catalogs.Catalog) -> None:
    """Put the sampler for a loss into raw values of a config: classes by images where it needs pairs, else random.

    A sampler of classes by images that is there already is kept. A loss of images gets half of the batch in two views,
    and an augmentation where there is none.
    """
    if catalogs.fact(known, "loss", method, "of_images"):
        values["training"] |= {"views": 2, "batch_size": values["training"]["batch_size"] // 2}
        if catalogs.fact(known, "augmentation", values["augmentation"]["name"], "changes") is False:
            values["augmentation"] = {"name": OF_VIEWS}
    samplers = catalogs.names(known, "sampler")
    of_class = {name: catalogs.fact(known, "sampler", name, "images_of_class") for name in samplers}
    if not catalogs.fact(known, "loss", method, "needs_pairs"):
        values["sampler"] = {"name": CHOSEN_AT_FIRST["sampler"]}
    elif not of_class[values["sampler"]["name"]]:
        sampler = next(name for name, field in of_class.items() if field)
        values["sampler"] = {"name": sampler, of_class[sampler]: per_class}
