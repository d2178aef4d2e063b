"""Functional ANOVA of a random forest: how much of its variance each field explains alone (Hutter et al. 2014)."""

from collections.abc import Sequence
from typing import Any

import numpy as np


def shares(forest: Any, bounds: Sequence[tuple[float, float]]) -> np.ndarray:
    """The share (0..1) of each field alone, averaged over the trees of a fitted RandomForestRegressor: [fields].

    `bounds` has the lowest and highest place of each field: the forest's prediction is averaged over them evenly. A
    tree is constant within the box of each leaf, so that its marginal over all other fields is the mean of the leaves
    over a place, weighted by the volumes of their boxes without this field. Source: An Efficient Approach for
    Assessing Hyperparameter Importance, ICML 2014, Algorithm 2. Trees of one value are not counted.

    Raises:
        ValueError: every tree has one value only.
    """
    fractions = [of_tree for tree in forest.estimators_ if (of_tree := _of_tree(tree.tree_, bounds)) is not None]
    if not fractions:
        raise ValueError("no tree of the forest predicts a difference")
    return np.mean(fractions, axis=0)


def _of_tree(tree: Any, bounds: Sequence[tuple[float, float]]) -> np.ndarray | None:
    """The fraction of one tree's variance that each field explains alone, [fields]; None if it has no variance."""
    low, high, values = _leaves(tree, np.array(bounds, float))
    sides = (high - low) / np.ptp(np.array(bounds, float), axis=1)  # [leaves, fields], of the whole range
    volumes = sides.prod(1)
    mean = volumes @ values
    variance = volumes @ (values - mean) ** 2
    if variance <= 0:
        return None
    explained = np.empty(len(bounds))
    for at in range(len(bounds)):
        edges = np.unique([*low[:, at], *high[:, at]])
        middles, lengths = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / (edges[-1] - edges[0])
        over = (low[:, at, None] < middles) & (middles < high[:, at, None])  # [leaves, places]
        marginal = (np.delete(sides, at, axis=1).prod(1) * values) @ over
        explained[at] = lengths @ (marginal - mean) ** 2
    return explained / variance


def _leaves(tree: Any, bounds: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lower and upper corners [leaves, fields] of the box of each leaf, and what it predicts [leaves]."""
    low, high = (np.repeat(side[None], tree.node_count, axis=0) for side in bounds.T)
    feature, threshold, right = tree.feature, tree.threshold, tree.children_right
    for node, left in enumerate(tree.children_left):  # a node comes before its children
        if left >= 0:
            for child in (left, right[node]):
                low[child], high[child] = low[node], high[node]
            high[left, feature[node]] = low[right[node], feature[node]] = threshold[node]
    ends = tree.children_left < 0
    return low[ends], high[ends], tree.value[ends, 0, 0]
