"""How many images a person labels until the others get their class, by the order in which they are labelled.

    python -m tests.benchmarks.label_orders --workspace DIR --run RUN --draws 10

Of the test classes of a run one half is known, in each draw another one, and one half of its images is labelled; the
other half and all images of the other classes are new. Those that `label` gives no class are labelled one by one; each
of the others has the class of the nearest labelled image. The second table is of answers to whole groups: the image at
the top is named, and with it those of its group that are of its class; the others were chosen in vain.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np

from workbench.labelling.groups import cut_of, gaps_between, groups
from workbench.labelling.nearest import labelled, nearest, threshold
from workbench.labelling.typical import typical_first
from workbench.results.stored import Stored, comparable, read_stored
from workbench.workspace import Workspace

SHARE = 0.9  # of the images without a class that are to be named
FIRST = (30, 100, 200)  # labels after which the named images are counted


def half_known(of: Stored, seed: int) -> tuple[Stored, np.ndarray]:
    """The labelled images as an evaluation, and the rows of the new ones, shuffled."""
    random = np.random.default_rng(seed)
    classes = random.permutation(np.unique(of.labels))
    kept, new = [], []
    for place, label in enumerate(classes):
        rows = random.permutation(np.flatnonzero(of.labels == label))
        half = len(rows) // 2 if place < len(classes) // 2 else 0
        kept.append(rows[:half])
        new.append(rows[half:])
    rows = np.concatenate(kept)
    labels = of.labels[rows]
    count, sizes = len(rows), np.bincount(labels)
    nothing, r = np.empty((count, 0), np.int64), (sizes[labels] - 1).astype(np.int32)
    stored = Stored(of.sample_ids[rows], labels, of.embeddings[rows], nothing, r * 0, r, of.distance)
    return stored, random.permutation(np.concatenate(new))


def furthest_first(gaps: np.ndarray, left: np.ndarray) -> np.ndarray:
    """k-center: each next image is the furthest from all labelled ones (Sener and Savarese, 2018)."""
    left, order = left.copy(), []
    for _ in range(len(gaps)):
        order.append(int(left.argmax()))
        left = np.minimum(left, gaps[order[-1]])
        left[order] = -1
    return np.array(order)


def one_by_one(
    order: np.ndarray, gaps: np.ndarray, left: np.ndarray, near: np.ndarray, truth: np.ndarray
) -> list[float]:
    """Labels until SHARE of the images have their class, and the percentage that has it after FIRST labels."""
    left, name, shares, until = left.copy(), near.copy(), [], len(order)
    for count, row in enumerate(order, start=1):
        nearer = gaps[row] < left
        left[nearer], name[nearer] = gaps[row][nearer], truth[row]
        left[row], name[row] = -1, truth[row]
        right = float((name == truth).mean())
        shares += [100 * right] if count in FIRST else []
        until = min(until, count) if right >= SHARE else until
    return [until, *shares]


def by_groups(order: np.ndarray, group: np.ndarray, truth: np.ndarray) -> list[float]:
    """Answers until SHARE of the images are named, and images that were chosen in vain, in percent of all."""
    named, answers, vain = np.zeros(len(order), bool), 0, 0
    for row in order:
        if named.mean() >= SHARE:
            break
        if not named[row]:
            of_group = np.flatnonzero((group == group[row]) & ~named) if group[row] else np.array([row])
            same = truth[of_group] == truth[row]
            named[of_group[same]] = True
            answers, vain = answers + 1, vain + int((~same).sum())
    return [answers, 100 * vain / len(order)]


def measured(of: Stored, seed: int) -> dict[str, list[float]]:
    """The numbers of each order in one draw."""
    stored, new = half_known(of, seed)
    vectors = of.embeddings[new]
    by, limit = nearest(vectors, np.full(len(new), -1), labelled(stored)), threshold(stored, labelled(stored), 0.01)
    unsure = by.similarity < limit.similarity
    vectors, truth, near, similarity = vectors[unsure], of.labels[new[unsure]], by.label[unsure], by.similarity[unsure]
    left = 1 - similarity if of.distance == "cosine" else -similarity
    unit = comparable(vectors, of.distance)
    gaps, group = gaps_between(unit, unit, of.distance), groups(vectors, of.distance, cut_of(stored))
    place, large = typical_first(vectors, of.distance, similarity), np.where(group > 0, group, len(group))
    orders: dict[str, Callable[[], np.ndarray]] = {
        "any order": lambda: np.arange(len(group)),
        "groups, largest first": lambda: np.lexsort((-similarity, large)),
        "groups, typical image first": lambda: np.lexsort((place, large)),
        "furthest first": lambda: furthest_first(gaps, left),
        "typical first": lambda: np.argsort(place),
    }
    numbers: dict[str, list[float]] = {"images": [len(group), len(np.unique(truth))]}
    for name, order in orders.items():
        numbers[name] = [*one_by_one(order(), gaps, left, near, truth), *by_groups(order(), group, truth)]
    return numbers


def main() -> None:
    """Print the mean and the standard deviation over draws."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--workspace", type=Path, required=True)
    parser.add_argument("--run", type=int, required=True)
    parser.add_argument("--epoch", type=int, help="that is measured; the best one by default")
    parser.add_argument("--draws", type=int, default=10)
    asked = parser.parse_args()
    with Workspace(asked.workspace) as workspace:
        epoch = workspace.run(asked.run).best_epoch if asked.epoch is None else asked.epoch
        shown = next(one for one in workspace.evaluations(asked.run) if one.epoch == epoch)
        of = read_stored(workspace, shown.id)
    draws = [measured(of, seed) for seed in range(asked.draws)]
    print(f"labels to 90%, % named after {FIRST}, answers to groups, % chosen in vain: mean (sd)")
    for name in draws[0]:
        numbers = np.array([draw[name] for draw in draws])
        cells = zip(numbers.mean(axis=0), numbers.std(axis=0, ddof=1), strict=True)
        print(f"{name:28}", *(f"{mean:7.1f} ({spread:.1f})" for mean, spread in cells))


if __name__ == "__main__":
    main()
