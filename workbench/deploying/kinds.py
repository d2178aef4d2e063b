"""The ways to store embeddings, by name: float32, float16, int8, pca32, first32, pq16, binary, hnsw, ivfpq16. No faiss.

The number is what is left of the dimensions (pca, first) or the bytes of a code (pq, ivfpq).
"""

import re
from dataclasses import dataclass

from workbench.names import nearest_first
from workbench.problem import UnknownName

BASELINE = "float32"
SIZED = {"pca": "PCA", "first": "First", "pq": "PQ", "ivfpq": "IVF-PQ"}
PLAIN = {
    "float32": ("float32", "as trained"),
    "float16": ("float16", "half precision"),
    "int8": ("int8", "scalar, per dimension"),
    "binary": ("Binary", "signs"),
    "binary+int8": ("Binary + rerank", "100 rescored in int8"),
    "hnsw": ("HNSW, int8", "index, 32 links"),
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


def kind(name: str) -> Kind:
    """The kind of that name. Raises Problem when there is none."""
    if name in PLAIN:
        return Kind(name, name, 0, *PLAIN[name])
    match = re.fullmatch(r"([a-z]+)([1-9][0-9]{0,3})", name)
    if match is None or match[1] not in SIZED:
        listed = ", ".join(nearest_first(name, KNOWN))
        raise UnknownName(f"There is no store named {name!r}.", todo=f"Known: {listed}.")
    family, size = match[1], int(match[2])
    detail = {
        "pca": "principal components, float32",
        "first": "dimensions, the others cut off",
        "pq": "parts, 8 bits each",
        "ivfpq": "parts behind an inverted file",
    }[family]
    return Kind(name, family, size, f"{SIZED[family]} {size}", detail)


def usual(dim: int, count: int) -> list[Kind]:
    """The kinds that are compared unless others are asked for.

    Args:
        dim: of the embeddings. count: images in the gallery; small galleries have no product quantiser.
    """
    names = [BASELINE, "float16", "int8"]
    names += [f"pca{size}" for size in (dim // 2, dim // 4) if size >= 2]
    names += [f"first{dim // 2}"] if dim >= 4 else []
    parts = [part for part in dict.fromkeys((_divisor(dim, dim // 4), _divisor(dim, dim // 8))) if part > 1]
    if count >= LEAST_CODES:
        names += [f"pq{part}" for part in parts]
    names += ["binary", "binary+int8", "hnsw"]
    if count >= max(LEAST_CODES, 4 * PER_LIST) and parts:
        names.append(f"ivfpq{parts[0]}")
    return [kind(name) for name in names]


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


def _divisor(dim: int, near: int) -> int:
    """The largest divisor of `dim` that is at most `near`, at least 1."""
    return next(size for size in range(max(1, near), 0, -1) if dim % size == 0)
