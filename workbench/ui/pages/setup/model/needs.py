"""What the loss of a draft needs, and whether the draft has it; without Qt."""

from collections.abc import Mapping
from dataclasses import dataclass

from workbench.entries import catalog as catalogs
from workbench.ui.pages.setup.model.draft import Draft


@dataclass(frozen=True, slots=True)
class Need:
    """One thing that a loss needs, in a few words."""

    words: str
    met: bool


def needs_of(draft: Draft, errors: Mapping[str, str]) -> list[Need]:
    """What the chosen loss needs of batches and of the embedding; empty for a loss that is not known."""
    loss, known = str(draft.values["loss"]["name"]), draft.catalog
    if f"loss/{loss}" not in known:
        return []
    several_views = draft.values["training"]["views"] not in (0, 1)
    if catalogs.fact(known, "loss", loss, "of_images"):
        needs = [Need("two views of each image", several_views)]
    elif catalogs.fact(known, "loss", loss, "needs_pairs"):
        needs = [Need("several images of a class in a batch", several_views or _several(draft))]
    else:
        needs = [Need("any batch", True)]
    if catalogs.fact(known, "loss", loss, "dimensions") and draft.classes is not None:
        needs.append(Need(f"an embedding size that fits {draft.classes:,} classes", "embedding.dim" not in errors))
    return needs


def _several(draft: Draft) -> bool:
    """Whether the sampler puts several images of a class into a batch."""
    sampler = draft.values["sampler"]
    images_of_class = catalogs.fact(draft.catalog, "sampler", str(sampler["name"]), "images_of_class")
    return bool(images_of_class) and sampler.get(images_of_class) != 1
