"""UMAP's layout: the sampled gradient descent of umap-learn (McInnes, Healy and Melville, 2018) on one thread.

The two forces depend only on the distance. umap-learn computes a power for each of them; here both are looked up in a
table over the squared distance, which takes a fifth of the time (docs/benchmarks.md).
"""

from collections.abc import Callable

import numba
import numpy as np
from scipy.sparse import csr_matrix

NEGATIVES = 5  # negative samples per positive one, as in umap-learn
FARTHEST = np.float32(4)  # move along one axis at a rate of 1, as in umap-learn

# A float's upper bits are its octave and its place in it: they number the table's steps.
FIRST, LAST = -30, 26  # octaves of squared distances; beyond them the force at the end is taken
STEPS = 64  # of the table in one octave
SHIFT = 17  # the lower bits, 23 - log2(STEPS): the place within one step
WITHIN = (1 << SHIFT) - 1
BASE = (127 + FIRST) * STEPS
LAST_STEP = (LAST - FIRST) * STEPS - 1


def forces(a: float, b: float) -> np.ndarray:
    """The factors by which a difference attracts (negative, first) and repels, for steps of the squared distance.

    Float32 [2, steps, 2]: the factor at the start of a step, and by how much it grows for each of a float's lower bits.

    Args:
        a, b: of the curve 1 / (1 + a d^(2b)) that umap-learn fits to min_dist.
    """
    octave, step = np.divmod(np.arange(LAST_STEP + 2), STEPS)
    squared = np.ldexp(1 + step / STEPS, octave + FIRST)
    curve = a * squared**b + 1
    factors = np.stack([-2 * a * b * squared ** (b - 1) / curve, 2 * b / ((0.001 + squared) * curve)])
    return np.stack([factors[:, :-1], np.diff(factors) / (WITHIN + 1)], 2).astype(np.float32)


@numba.njit(cache=True, inline="always")
def force(table: np.ndarray, kind: int, squared: np.float32) -> np.float32:
    """One of the two factors (0 pulls, 1 pushes) in the table of `forces` at a squared distance; 0 at distance 0."""
    if squared <= 0:
        return np.float32(0)
    bits = np.float32(squared).view(np.int32)
    step = (bits >> SHIFT) - BASE
    if step < 0 or step > LAST_STEP:
        return np.float32(table[kind, 0 if step < 0 else LAST_STEP, 0])
    return np.float32(table[kind, step, 0] + table[kind, step, 1] * np.float32(bits & WITHIN))


@numba.njit(cache=True, inline="always")
def _cut(move: np.float32) -> np.float32:
    return min(max(move, -FARTHEST), FARTHEST)


@numba.njit(cache=True)
def _epoch(
    heads: np.ndarray,
    tails: np.ndarray,
    both: bool,
    starts: np.ndarray,
    ends: np.ndarray,
    every: np.ndarray,
    due: np.ndarray,
    table: np.ndarray,
    epoch: np.float32,
    rate: np.float32,
    state: np.uint64,
) -> np.uint64:
    """Take the edges that are due once; the state of the random numbers after it."""
    count = np.uint64(len(tails))
    for head in range(len(heads)):
        x, y = heads[head, 0], heads[head, 1]
        for edge in range(starts[head], starts[head + 1]):
            if due[edge] > epoch:
                continue
            due[edge] += every[edge]
            tail = ends[edge]
            across, up = x - tails[tail, 0], y - tails[tail, 1]
            pull = force(table, 0, across * across + up * up)
            across, up = _cut(pull * across) * rate, _cut(pull * up) * rate
            x += across
            y += up
            if both:
                tails[tail, 0] -= across
                tails[tail, 1] -= up
            right = above = np.float32(0)
            for _ in range(NEGATIVES):  # all from one place: five chains of sums are faster than one of five
                state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)  # Knuth's MMIX
                other = np.int64(((state >> np.uint64(32)) * count) >> np.uint64(32))
                if both and other == head:
                    continue
                across, up = x - tails[other, 0], y - tails[other, 1]
                push = force(table, 1, across * across + up * up)
                right += _cut(push * across)
                above += _cut(push * up)
            x += right * rate
            y += above * rate
        heads[head, 0], heads[head, 1] = x, y
    return state


@numba.njit(cache=True)
def _epoch_in_space(
    heads: np.ndarray,
    tails: np.ndarray,
    both: bool,
    starts: np.ndarray,
    ends: np.ndarray,
    every: np.ndarray,
    due: np.ndarray,
    table: np.ndarray,
    epoch: np.float32,
    rate: np.float32,
    state: np.uint64,
) -> np.uint64:
    """As `_epoch`, for places of any width; it takes longer for two, whose sums stay in registers there."""
    count, width = np.uint64(len(tails)), heads.shape[1]
    gap, moved = np.empty(width, np.float32), np.empty(width, np.float32)
    for head in range(len(heads)):
        for edge in range(starts[head], starts[head + 1]):
            if due[edge] > epoch:
                continue
            due[edge] += every[edge]
            tail = ends[edge]
            squared = np.float32(0)
            for axis in range(width):
                gap[axis] = heads[head, axis] - tails[tail, axis]
                squared += gap[axis] * gap[axis]
            pull = force(table, 0, squared)
            for axis in range(width):
                step = _cut(pull * gap[axis]) * rate
                heads[head, axis] += step
                if both:
                    tails[tail, axis] -= step
                moved[axis] = 0
            for _ in range(NEGATIVES):
                state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)  # Knuth's MMIX
                other = np.int64(((state >> np.uint64(32)) * count) >> np.uint64(32))
                if both and other == head:
                    continue
                squared = np.float32(0)
                for axis in range(width):
                    gap[axis] = heads[head, axis] - tails[other, axis]
                    squared += gap[axis] * gap[axis]
                push = force(table, 1, squared)
                for axis in range(width):
                    moved[axis] += _cut(push * gap[axis])
            for axis in range(width):
                heads[head, axis] += moved[axis] * rate
    return state


def lay_out(
    heads: np.ndarray,
    tails: np.ndarray,
    graph: csr_matrix,
    curve: tuple[float, float],
    epochs: int,
    rate: float,
    seed: int,
    tell: Callable[[int, int], None],
) -> None:
    """Move `heads` in place by the weights of their edges; the tails, too, where both are one array.

    Args:
        heads: [n, k] float32, k being 2 or 3. tails: [m, k] float32, the same array or points that stay.
        graph: [n, m] weights >= 0, at least one above 0; an edge is taken in a share of the epochs by its weight, the
            heaviest in each, and one that would not be taken once is left out.
        curve: a and b of umap-learn's find_ab_params.
        rate: of the first epoch; it falls linearly to 0.
        seed: of the negative samples, 0 to 2**63 - 1; the same seed gives the same places on one machine.
        tell: called with the epoch and their number before each; what it raises ends the work.
    """
    graph = graph.tocsr().copy()
    heaviest = graph.data.max()
    graph.data[graph.data < heaviest / epochs] = 0
    graph.eliminate_zeros()
    every = (heaviest / graph.data).astype(np.float32)  # epochs between two times that an edge is taken
    due, table = every.copy(), forces(*curve)
    starts, ends = graph.indptr.astype(np.int32), graph.indices.astype(np.int32)
    state = np.uint64(seed)
    one_epoch = _epoch if heads.shape[1] == 2 else _epoch_in_space
    for epoch in range(epochs):
        tell(epoch, epochs)
        falling = np.float32(rate * (1 - epoch / epochs))
        state = np.uint64(
            one_epoch(heads, tails, heads is tails, starts, ends, every, due, table, np.float32(epoch), falling, state)
        )
