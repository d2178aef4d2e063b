"""Parameters of maps; the forms of the map page and the analysis process read the same classes."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import ValidationError

from workbench.entries.catalog import sentences
from workbench.params import Params, param
from workbench.problem import Problem


class PcaParams(Params):
    """Linear projection on the two directions of greatest variance."""

    metric: Literal["cosine", "l2"] = param("cosine", help="Cosine projects the directions of the embeddings only.")


class UmapParams(Params):
    """UMAP (McInnes, Healy and Melville, 2018)."""

    n_neighbors: int = param(
        15, ge=2, le=200, help="Neighbours per point: few show local detail, many the overall structure."
    )
    min_dist: float = param(0.1, ge=0.0, le=0.99, help="Smallest distance between points of the map.")
    metric: Literal["cosine", "l2"] = param("cosine", help="Distance between embeddings.")
    target_weight: float = param(
        0.0, ge=0.0, le=0.99,
        help="Supervised by class: how much the classes pull, as in umap-learn; 0 leaves them out.",
    )  # fmt: skip


class TsneParams(Params):
    """t-SNE (van der Maaten and Hinton, 2008), by openTSNE."""

    perplexity: float = param(30.0, ge=2.0, le=200.0, help="Effective number of neighbours of each point.")
    metric: Literal["cosine", "l2"] = param("cosine", help="Distance between embeddings.")


IN_SPACE = "-3d"  # ends the name of a method that makes a map of three dimensions
METHODS: dict[str, type[Params]] = {
    "pca": PcaParams, "umap": UmapParams, "tsne": TsneParams, f"pca{IN_SPACE}": PcaParams, f"umap{IN_SPACE}": UmapParams
}  # fmt: skip


_WORDS = {  # titles of the stored parameters that are shown; others are not
    "n_neighbors": "{} neighbours",
    "min_dist": "minimum distance {}",
    "perplexity": "perplexity {}",
    "metric": "{}",
    "target_weight": "supervised by class with weight {}",
}


def in_words(params: Mapping[str, Any]) -> str:
    """The stored parameters of a map for a reader, such as "15 neighbours, minimum distance 0.1, cosine".

    A weight of classes that were not used (0) is left out, and so is what says which samples are mapped.
    """
    return ", ".join(
        _WORDS[name].format("Euclidean" if value == "l2" else value)
        for name, value in params.items()
        if name in _WORDS and (name != "target_weight" or value)
    )


def dimensions_of(method: str) -> int:
    """Of the maps that a method makes: 2 or 3."""
    return 3 if method.endswith(IN_SPACE) else 2


def read_params(method: str, values: dict[str, Any]) -> Params:
    """Checked parameters of a method. Raises Problem, naming the method or each bad field."""
    if method not in METHODS:
        raise Problem(f"There is no map method named {method!r}.", todo=f"Known: {', '.join(METHODS)}.")
    try:
        return METHODS[method](**values)
    except ValidationError as error:
        reasons = " ".join(f"{field}: {sentence}" for field, sentence in sentences(error).items())
        raise Problem(f"The map cannot be made with these parameters. {reasons}") from None
