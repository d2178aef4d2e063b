"""Embeddings in faiss: built, decoded, searched, written. Runs in the analysis process."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import faiss
import numpy as np

from workbench.deploying.expansion import Augmented, QueryExpansion, augmented
from workbench.deploying.kinds import PER_LIST, RERANKED, Kind, kind, no_rule, refusal
from workbench.deploying.methods import Method
from workbench.deploying.neighbourhood import Neighbourhood, neighbourhood
from workbench.deploying.reciprocal import AmongNearest, Reciprocal
from workbench.problem import Problem
from workbench.results.search_methods import AUGMENTATION, CANDIDATES, QUERY_EXPANSION, SHARED

LINKS = 32  # of an image in an HNSW graph, twice as many in its lowest layer
BUILDING, SEARCHING = 200, 64  # candidates looked at when a graph is built and searched
PROBED = 8  # lists of an inverted file that a query looks into
BITS = 8
OF_A_NEIGHBOUR = 8  # bytes: its number and its distance


@dataclass(frozen=True, slots=True, eq=False)
class Built:
    """A store that contains its gallery."""

    kind: Kind
    index: Any  # faiss.Index, or faiss.IndexBinary
    prepare: Callable[[np.ndarray], np.ndarray]  # vectors [m, d] -> [m, e] float32 as the index compares them
    decoded: np.ndarray | None  # [n, e] float32 that the index holds; None for an approximate one
    bytes_per_image: float
    fine: "Built | None" = None  # compares the nearest again
    whole: bool = False  # the index holds its own components: it is asked with vectors [m, d]
    method: Method | None = None  # searches it instead of one scan

    @property
    def fixed_bytes(self) -> int:
        """Bytes that do not grow with the gallery: code books, components, lists."""
        own = max(0, round(len(serialised(self.index)) - self.index.ntotal * self.bytes_per_image))
        return int(own + (self.fine.fixed_bytes if self.fine else 0))

    def search(self, queries: np.ndarray, depth: int) -> np.ndarray:
        """Gallery rows [m, depth] int64 by the index itself, best first; -1 where it returns fewer.

        Args:
            queries: [m, d] float32.
        """
        if self.method is not None:
            return self.method.search(queries, depth)
        asked = np.ascontiguousarray(queries if self.whole else self.prepare(queries))
        if self.kind.family.startswith("binary"):
            rows = self.index.search(np.packbits(asked > 0, axis=1), max(depth, RERANKED) if self.fine else depth)[1]
            return rescored(queries, self.fine, rows)[:, :depth] if self.fine else rows
        return np.asarray(self.index.search(asked, depth)[1])


def rescored(queries: np.ndarray, fine: Built, rows: np.ndarray) -> np.ndarray:
    """Rows [m, k] with the first RERANKED of each in the order of their distance in `fine`, of equals as before."""
    assert fine.decoded is not None
    first = rows[:, :RERANKED]
    gaps = ((fine.decoded[first] - fine.prepare(queries)[:, None]) ** 2).sum(2)
    order = np.argsort(np.where(first < 0, np.inf, gaps), axis=1, kind="stable")
    return np.concatenate([np.take_along_axis(first, order, 1), rows[:, RERANKED:]], axis=1)


def build(
    wanted: Kind, gallery: np.ndarray, fitted_on: np.ndarray, cosine: bool, near: Neighbourhood | None = None,
) -> Built:  # fmt: skip
    """Fit a store and fill it. Code words and components are fitted to `fitted_on` alone.

    Args:
        gallery: [n, d] float32, of unit length for cosine. fitted_on: [t, d] float32, the same way.
        cosine: whether shorter vectors are brought to unit length again where dimensions are cut off.
        near: the neighbours of the gallery images, `wanted.listed` deep, where they are known already.

    Raises:
        Problem: embeddings of this dimension or number, or with these values, cannot be stored this way.
    """
    count, dim = gallery.shape
    why = refusal(wanted, dim, min(count, len(fitted_on))) or no_rule(wanted, count, cosine)
    why = why or without_direction(wanted, gallery, cosine)
    if why:
        raise Problem(f"{wanted.title} cannot be built: {why}.")
    if wanted.family == "binary":
        return _binary(wanted, gallery, fitted_on)
    if wanted.family == "binary+int8":
        return _reranked(wanted, gallery, fitted_on, cosine)
    if wanted.family == "pca":
        return _components(wanted, gallery, fitted_on)
    if wanted.family == "first":
        return _first(wanted, gallery, cosine)
    if wanted.family in (QUERY_EXPANSION, CANDIDATES):
        return _by_scan(wanted, gallery)
    if wanted.listed:
        return _by_neighbours(wanted, gallery, near or neighbourhood(gallery, wanted.listed))
    index = _index(wanted, dim, count)
    index.train(fitted_on)
    index.add(gallery)
    decoded = None if wanted.approximate else held(index, count)
    return Built(wanted, index, _as_is, decoded, _bytes(wanted, index, dim))


def without_direction(wanted: Kind, vectors: np.ndarray, cosine: bool) -> str:
    """Why vectors [n, d] cannot be cut to their first dimensions and compared by cosine; empty if they can.

    What has length zero there has no direction, but in L2 it is nearer to a unit vector than an orthogonal one is.
    """
    zero = int((~vectors[:, : wanted.size].any(axis=1)).sum()) if cosine and wanted.family == "first" else 0
    verb = "has" if zero == 1 else "have"
    where = "the first dimension" if wanted.size == 1 else f"the first {wanted.size} dimensions"
    return f"{zero:,} of {len(vectors):,} embeddings {verb} length zero in {where}, and so no direction" if zero else ""


def held(index: Any, count: int) -> np.ndarray:
    """Vectors [count, e] float32 that the index holds; an array also where a library had faiss give torch's tensors."""
    return np.asarray(index.reconstruct_n(0, count))


def serialised(index: Any) -> bytes:
    """The index as the content of a file for faiss.read_index or faiss.read_index_binary."""
    binary = isinstance(index, faiss.IndexBinary)
    return bytes((faiss.serialize_index_binary if binary else faiss.serialize_index)(index))


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """faiss uses one thread for the block, as a query of its own would; torch, which shares the setting, as well."""
    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(threads)


def version() -> str:
    """The version of faiss that builds the stores."""
    return str(faiss.__version__)


def _as_is(vectors: np.ndarray) -> np.ndarray:
    return vectors


def _index(wanted: Kind, dim: int, count: int) -> Any:
    match wanted.family:
        case "float32":
            return faiss.IndexFlatL2(dim)
        case "float16":
            return faiss.IndexScalarQuantizer(dim, faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_L2)
        case "int8":
            return faiss.IndexScalarQuantizer(dim, faiss.ScalarQuantizer.QT_8bit, faiss.METRIC_L2)
        case "pq":
            quantiser = faiss.IndexPQ(dim, wanted.size, BITS)
            quantiser.pq.cp.min_points_per_centroid = 1  # faiss warns below 39 images a code word, on every part
            return quantiser
        case "hnsw":
            graph: Any = faiss.index_factory(dim, f"HNSW{LINKS}_SQ8", faiss.METRIC_L2)
            graph.hnsw.efConstruction, graph.hnsw.efSearch = BUILDING, SEARCHING
            return graph
    lists = max(1, min(round(4 * count**0.5), count // PER_LIST))
    inverted: Any = faiss.index_factory(dim, f"IVF{lists},PQ{wanted.size}x{BITS}", faiss.METRIC_L2)
    inverted.pq.cp.min_points_per_centroid = 1
    # It orders code words for a search by Hamming distance, which is not made, and takes a second for each part.
    inverted.do_polysemous_training = False
    inverted.nprobe = min(PROBED, lists)
    return inverted


def _bytes(wanted: Kind, index: Any, dim: int) -> float:
    """Bytes that one more image takes."""
    if wanted.family == "float32":
        return 4.0 * dim
    if wanted.family == "hnsw":
        return float(index.storage.sa_code_size() + 4 * index.hnsw.neighbors.size() / index.ntotal)
    if wanted.family == "ivfpq":
        return float(index.code_size + 8)  # the number of the image beside its code
    return float(index.sa_code_size())


def _components(wanted: Kind, gallery: np.ndarray, fitted_on: np.ndarray) -> Built:
    pca = faiss.PCAMatrix(gallery.shape[1], wanted.size)
    index = faiss.IndexPreTransform(pca, faiss.IndexFlatL2(wanted.size))
    index.train(fitted_on)
    index.add(gallery)
    return Built(wanted, index, pca.apply, pca.apply(gallery), 4.0 * wanted.size, whole=True)


def _first(wanted: Kind, gallery: np.ndarray, cosine: bool) -> Built:
    def prepare(vectors: np.ndarray) -> np.ndarray:
        cut = np.ascontiguousarray(vectors[:, : wanted.size], np.float32)
        lengths = np.linalg.norm(cut, axis=1, keepdims=True)
        return cut / np.where(lengths > 0, lengths, 1) if cosine else cut

    index = faiss.IndexFlatL2(wanted.size)
    index.add(prepare(gallery))
    return Built(wanted, index, prepare, prepare(gallery), 4.0 * wanted.size)


def _binary(wanted: Kind, gallery: np.ndarray, fitted_on: np.ndarray) -> Built:
    middle = fitted_on.mean(axis=0, dtype=np.float64).astype(np.float32)
    width = -(-gallery.shape[1] // 8) * 8  # whole bytes; the bits beyond are never set

    def prepare(vectors: np.ndarray) -> np.ndarray:
        signs = np.zeros((len(vectors), width), np.float32)
        signs[:, : len(middle)] = vectors > middle
        return signs

    index = faiss.IndexBinaryFlat(width)
    decoded = prepare(gallery)
    index.add(np.packbits(decoded > 0, axis=1))
    return Built(wanted, index, prepare, decoded, width / 8)


def _reranked(wanted: Kind, gallery: np.ndarray, fitted_on: np.ndarray, cosine: bool) -> Built:
    coarse = _binary(wanted, gallery, fitted_on)
    fine = build(kind("int8"), gallery, fitted_on, cosine)
    size = coarse.bytes_per_image + fine.bytes_per_image
    return Built(wanted, coarse.index, coarse.prepare, coarse.decoded, size, fine)


def _flat(vectors: np.ndarray) -> Any:
    index = faiss.IndexFlatL2(vectors.shape[1])
    index.add(vectors)
    return index


def _by_scan(wanted: Kind, gallery: np.ndarray) -> Built:
    index = _flat(gallery)
    method: Method
    if wanted.family == QUERY_EXPANSION:
        method = QueryExpansion(gallery, index, wanted.size)
    else:
        method = AmongNearest(gallery, index, wanted.size)
    return Built(wanted, index, _as_is, None, 4.0 * gallery.shape[1], method=method)


def _by_neighbours(wanted: Kind, gallery: np.ndarray, near: Neighbourhood) -> Built:
    size = 4.0 * gallery.shape[1]
    if wanted.family == AUGMENTATION:
        means = augmented(gallery, near, wanted.size)
        index = _flat(means)
        return Built(wanted, index, _as_is, None, size, method=Augmented(gallery, means, index, near, wanted.size))
    size += SHARED * OF_A_NEIGHBOUR + 4  # and the largest distance of its row
    return Built(wanted, _flat(gallery), _as_is, None, size, method=Reciprocal(gallery, near))
