"""The ways to store and to search embeddings, by name: float32, int8, pca32, pq16, hnsw, float32+aqe10. No faiss.

The number is what is left of the dimensions (pca, first), the bytes of a code (pq, ivfpq), the neighbours of which a
mean is made (float32+aqe, float32+dba) or the images that are re-ranked (float32+candidates).
"""

import re
from dataclasses import dataclass

from workbench.names import nearest_first
from workbench.problem import UnknownName
from workbench.results.search_methods import (
    AUGMENTATION,
    CANDIDATES,
    EXPANDED,
    FEWEST_CANDIDATES,
    MOST_CANDIDATES,
    MOST_EXPANDED,
    MOST_LISTED,
    QUERY_EXPANSION,
    RECIPROCAL,
    REORDERED,
    SHARED,
)

BASELINE = "float32"
SIZED = {
    "pca": "PCA", "first": "First", "pq": "PQ", "ivfpq": "IVF-PQ", QUERY_EXPANSION: "αQE", AUGMENTATION: "DBA",
    CANDIDATES: "k-reciprocal of",
}  # fmt: skip
PLAIN = {
    "float32": ("float32", "as trained"),
    "float16": ("float16", "half precision"),
    "int8": ("int8", "scalar, per dimension"),
    "binary": ("Binary", "signs"),
    "binary+int8": ("Binary + rerank", "100 rescored in int8"),
    "hnsw": ("HNSW, int8", "index, 32 links"),
    RECIPROCAL: (
        "k-reciprocal",
        f"float32 and {SHARED} neighbours of each image, looked up once; the nearest {REORDERED} re-ranked",
    ),
}
KNOWN = (*PLAIN, *(f"{name}N" for name in SIZED))
RERANKED = 100  # nearest by signs that are compared again
LEAST_CODES = 256  # images that a product quantiser needs, one for each of its code words
PER_LIST = 39  # images for each list of an inverted file, at least: faiss's own limit


@dataclass(frozen=True, slots=True)
class Kind:
    """One way to store embeddings."""

    name: str  # as on the command line
    family: str  # without the number
    size: int  # the number, 0 without one
    title: str
    detail: str

    @property
    def approximate(self) -> bool:
        """Whether a search may miss near images, because it is an index and not a scan of all."""
        return self.family in ("hnsw", "ivfpq")

    @property
    def listed(self) -> int:
        """How many neighbours of every gallery image are looked up beforehand, one of them as a spare; 0 for none."""
        return {AUGMENTATION: self.size + 1, RECIPROCAL: SHARED + 1}.get(self.family, 0)


def kind(name: str) -> Kind:
    """The kind of that name. Raises Problem when there is none."""
    if name in PLAIN:
        return Kind(name, name, 0, *PLAIN[name])
    match = re.fullmatch(r"([a-z0-9+]*[a-z])([1-9][0-9]{0,3})", name)
    if match is None or match[1] not in SIZED:
        listed = ", ".join(nearest_first(name, KNOWN))
        raise UnknownName(f"There is no store named {name!r}.", todo=f"Known: {listed}; N is a number, as in pca32.")
    family, size = match[1], int(match[2])
    detail = {
        "pca": f"{size} principal components, float32",
        "first": f"{size} dimensions, the others cut off",
        "pq": f"{size} parts, 8 bits each",
        "ivfpq": f"{size} parts behind an inverted file",
        QUERY_EXPANSION: f"float32; the query becomes the mean of itself and its {size} nearest and is searched again",
        AUGMENTATION: f"float32; each image is stored as the mean of itself and its {size} nearest, computed once",
        CANDIDATES: f"float32; the nearest {size} re-ranked by neighbours that they share among themselves",
    }[family]
    return Kind(name, family, size, f"{SIZED[family]} {size}", detail)


def usual(dim: int, count: int, cosine: bool = True, fitted: int | None = None) -> list[Kind]:
    """The kinds that are compared unless others are asked for.

    Args:
        dim: of the embeddings. count: images in the gallery; small galleries have fewer components and no
            product quantiser, large ones (MOST_LISTED) no lists of every image's neighbours; their queries are
            re-ranked among the nearest of each.
        cosine: whether the evaluation compares by cosine, as the means with neighbours do.
        fitted: vectors that components and code words are fitted to; None: those of the gallery.
    """
    least = count if fitted is None else min(count, fitted)
    halves = [dim >> halvings for halvings in range(1, dim.bit_length())]
    names = [BASELINE, "float16", "int8"]
    names += [f"pca{size}" for size in [size for size in halves if 2 <= size <= least][:2]]
    names += [f"first{dim // 2}"] if dim >= 4 else []
    parts = [part for part in dict.fromkeys((_divisor(dim, dim // 4), _divisor(dim, dim // 8))) if part > 1]
    if least >= LEAST_CODES:
        names += [f"pq{part}" for part in parts]
    names += ["binary", "binary+int8", "hnsw"]
    if least >= max(LEAST_CODES, 4 * PER_LIST) and parts:
        names.append(f"ivfpq{parts[0]}")
    searches = [kind(f"{QUERY_EXPANSION}{EXPANDED}"), kind(f"{AUGMENTATION}{EXPANDED}"), kind(RECIPROCAL)]
    searches += [kind(f"{CANDIDATES}{REORDERED}")] if count > MOST_LISTED[RECIPROCAL] else []
    short = [wanted for wanted in searches if count <= MOST_LISTED.get(wanted.family, count)]
    return [kind(name) for name in names] + [wanted for wanted in short if not no_rule(wanted, count, cosine)]


def refusal(wanted: Kind, dim: int, count: int) -> str:
    """Why a kind cannot store embeddings of that dimension and number; empty if it can."""
    if wanted.family in ("pca", "first") and wanted.size > dim:
        return f"the embeddings have {dim} dimensions"
    if wanted.family == "pca" and wanted.size > count:
        return f"{count} images have no more than {count} components"
    if wanted.family in ("pq", "ivfpq"):
        if dim % wanted.size:
            return f"{dim} dimensions cannot be cut into {wanted.size} equal parts"
        if count < LEAST_CODES:
            return f"its code words need {LEAST_CODES} images, the gallery has {count}"
    return ""


def no_rule(wanted: Kind, images: int, cosine: bool) -> str:
    """Why a gallery of that many images cannot be searched by a kind; empty if it can."""
    needed = SHARED if wanted.family == RECIPROCAL else 0
    if wanted.family in (QUERY_EXPANSION, AUGMENTATION):
        if not cosine:
            return "its weights are powers of cosines, and this evaluation compares by L2"
        if wanted.size > MOST_EXPANDED:
            return f"its means are of {MOST_EXPANDED} neighbours at most"
        needed = wanted.size
    if wanted.family == CANDIDATES:
        if not FEWEST_CANDIDATES <= wanted.size <= MOST_CANDIDATES:
            return f"{FEWEST_CANDIDATES} to {MOST_CANDIDATES:,} images are re-ranked"
        needed = SHARED + 1  # and the query, which may be one of the gallery
    if needed and images < needed + 2:  # the image itself, and one to spare where a query is taken out
        return f"it needs {needed} neighbours of each image, the gallery has {images} images"
    return ""


def _divisor(dim: int, near: int) -> int:
    """The largest divisor of `dim` that is at most `near`, at least 1."""
    return next(size for size in range(max(1, near), 0, -1) if dim % size == 0)
