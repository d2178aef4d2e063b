"""Groups of the points, by class, verdict, rank, tag or step of a scale, in the colours of a theme."""

from itertools import pairwise

import numpy as np

from workbench.colours import NEUTRAL, class_colours, rgb
from workbench.numerals import significant
from workbench.projection.coordinates import has_coordinates
from workbench.ui.pages.map.colours.columns import OF_ATTRIBUTE, Column
from workbench.ui.pages.map.model.groups import Groups, Scale
from workbench.ui.pages.map.model.map_data import MapData
from workbench.ui.style import theme

COLOURINGS = {
    "class": "Class",
    "verdict": "Right or wrong",
    "ap": "Average precision",
    "kept": "Neighbourhood kept",
    "prediction": "Predicted class",
    "first_hit": "First-hit rank",
    "radius": "Distance to its centre",
    "similarity": "Nearest neighbour",
    "others": "Images of its class",
    "hubness": "Hubness",
    "split": "Published split",
    "tag": "Tag",
}
OWN = ("class", "verdict", "ap", "kept")  # computed from the map's own data; the others need a column
SHARES = 5  # steps of a share
SHARE_COLOURS = ("#B3261E", "#D55E00", "#E69F00", "#56B4E9", "#0072B2")  # low to high, distinct without red and green
RANKS = (1, 5, 10, 100)  # the last rank of each group of first hits
STEPS = 64  # of a continuous scale
VIRIDIS = ("#440154", "#472D7B", "#3B528B", "#2C728E", "#21918C", "#28AE80", "#5EC962", "#ADDC30", "#FDE725")
ON_LIGHT, ON_DARK = (0.0, 0.86), (0.24, 1.0)  # the part of the scale that stands out from the background
LONELY, UNKNOWN = "No other image of its class", "Not measured on this map"
OF_OTHERS = "Measured on UMAP and t-SNE maps only"  # of its neighbours that a map keeps


def grouped(
    data: MapData,
    colouring: str,
    tokens: theme.Tokens | None = None,
    column: Column | None = None,
    limits: tuple[float, float] | None = None,
) -> Groups:
    """The groups of the points in the colours of `tokens`, by default the current theme.

    If only some points are on the map, groups without any of them are left out.

    Args:
        colouring: a key of COLOURINGS, or an attribute.
        column: the values to colour by, unless the colouring is one of OWN; without it the points are grouped by class.
        limits: lowest and highest value of a scale, for two maps side by side; by default those of the points.
    """
    tokens = tokens or theme.current()
    if column is None:
        groups = {"verdict": _by_verdict, "ap": _by_ap, "kept": _by_kept}.get(colouring, _by_class)(data, tokens)
    elif colouring == "prediction":
        groups = _by_prediction(data, column.of(data.ids), tokens)
    elif colouring == "first_hit":
        groups = _by_rank(column.of(data.ids))
    elif column.words or colouring in ("split", "tag") or colouring.startswith(OF_ATTRIBUTE):
        groups = _by_words(column, column.of(data.ids), tokens)
    else:
        groups = _by_number(column, column.of(data.ids), has_coordinates(data.points), tokens, limits)
    placed = has_coordinates(data.points)
    return groups if placed.all() else _of_placed(groups, placed)


def _by_class(data: MapData, tokens: theme.Tokens) -> Groups:
    known = data.numbered
    return Groups(known.of, known.names, class_colours(len(known.labels), tokens.dark), labels=known.labels)


def _by_verdict(data: MapData, tokens: theme.Tokens) -> Groups:
    of = np.where(np.isnan(data.ap), 2, np.where(data.right, 0, 1))
    inks = rgb(tokens.right, tokens.wrong, NEUTRAL)
    return _without_empty(Groups(of, ["✓ Right", "✗ Wrong", LONELY], inks, crosses=frozenset({1})))


def _by_ap(data: MapData, tokens: theme.Tokens) -> Groups:
    return _by_share(data.ap, "AP {} to {}%", LONELY)


def _by_kept(data: MapData, tokens: theme.Tokens) -> Groups:
    kept = np.full(len(data.ids), np.nan) if data.kept is None else data.kept
    return _by_share(kept, "{} to {}% kept", OF_OTHERS if data.made is None else UNKNOWN)


def _by_share(share: np.ndarray, name: str, without: str) -> Groups:
    """Equal steps of a share in 0..1; `name` has places for both limits, `without` names the points that are NaN."""
    steps = np.minimum((np.nan_to_num(share) * SHARES).astype(int), SHARES - 1)
    names = [name.format(100 * low // SHARES, 100 * (low + 1) // SHARES) for low in range(SHARES)]
    of = np.where(np.isnan(share), SHARES, steps)
    return _without_empty(Groups(of, [*names, without], rgb(*SHARE_COLOURS, NEUTRAL)))


def _by_prediction(data: MapData, predicted: np.ndarray, tokens: theme.Tokens) -> Groups:
    """Groups by predicted class, in the colours that the classes have in the colouring by class."""
    present = np.unique(data.labels)
    known = np.isin(predicted, present)
    of = np.where(known, np.searchsorted(present, np.where(known, predicted, present[0] if len(present) else 0)), -1)
    of = np.where(of < 0, len(present), of)
    names = [data.class_name(class_label) for class_label in present.tolist()]
    inks = np.append(class_colours(len(present), tokens.dark), rgb(NEUTRAL))
    groups = _without_empty(Groups(of, [*names, "No neighbour"], inks))
    groups.labels = present
    return groups


def _by_rank(ranks: np.ndarray) -> Groups:
    of = np.where(np.isnan(ranks), len(RANKS) + 1, np.searchsorted(RANKS, np.nan_to_num(ranks)))
    firsts = [last + 1 for last in RANKS]
    between = [f"Ranks {first} to {last}" for first, last in zip(firsts, RANKS[1:], strict=False)]
    names = ["Rank 1", *between, f"Ranks over {RANKS[-1]}", LONELY]
    return _without_empty(Groups(of, names, rgb(*reversed(SHARE_COLOURS), NEUTRAL)))


def _by_words(column: Column, values: np.ndarray, tokens: theme.Tokens) -> Groups:
    of = np.where(np.isnan(values), len(column.words), np.nan_to_num(values)).astype(int)
    inks = np.append(class_colours(len(column.words), tokens.dark), rgb(NEUTRAL))
    return _without_empty(Groups(of, [*column.words, f"No {column.title.lower()}"], inks, scored=True))


def _by_number(
    column: Column,
    values: np.ndarray,
    placed: np.ndarray,
    tokens: theme.Tokens,
    limits: tuple[float, float] | None,
) -> Groups:
    """Equal steps from the lowest to the highest value on the map, or between the limits."""
    good = np.isfinite(values)
    shown = values[good & placed]
    low, high = limits or ((float(shown.min()), float(shown.max())) if len(shown) else (0.0, 0.0))
    wide = high - low
    share = (np.where(good, values, low) - low) / wide if wide > 0 else np.zeros(len(values))
    of = np.where(good, np.clip((share * STEPS).astype(int), 0, STEPS - 1), STEPS)
    edges = [low + wide * step / STEPS for step in range(STEPS + 1)]
    names = [f"{significant(start, 4)} to {significant(end, 4)}" for start, end in pairwise(edges)]
    scale = Scale(column.title, low, high, int((placed & ~good).sum()))
    return Groups(of, [*names, "No value"], np.append(ramp(STEPS, tokens.dark), rgb(NEUTRAL)), scale=scale)


def _without_empty(groups: Groups) -> Groups:
    """Leave the last group out of the legend if it is empty."""
    if groups.counts[-1]:
        return groups
    return Groups(
        groups.of, groups.names[:-1], groups.colours[:-1], groups.labels, groups.crosses, scored=groups.scored
    )


def _of_placed(groups: Groups, placed: np.ndarray) -> Groups:
    """Only the groups of points with finite coordinates; their colours stay."""
    counts = np.bincount(groups.of[placed], minlength=len(groups.names))
    keep = np.arange(len(counts)) if groups.scale is not None else np.flatnonzero(counts)
    number = np.zeros(len(counts), int)
    number[keep] = np.arange(len(keep))
    return Groups(
        np.where(placed, number[groups.of], 0),
        [groups.names[group] for group in keep.tolist()],
        groups.colours[keep],
        None if groups.labels is None else groups.labels[keep[keep < len(groups.labels)]],
        frozenset(number[[group for group in groups.crosses if counts[group]]].tolist()),
        groups.scale,
        placed,
        groups.scored,
    )


def ramp(count: int, dark: bool) -> np.ndarray:
    """Colours from low to high, rising in lightness, distinct also for colour-blind users (viridis). uint32 [count]."""
    stops = np.array([[int(stop[at : at + 2], 16) for at in (1, 3, 5)] for stop in VIRIDIS], float)
    at = np.linspace(*(ON_DARK if dark else ON_LIGHT), count) * (len(stops) - 1)
    channels = [
        np.rint(np.interp(at, np.arange(len(stops)), stops[:, channel])).astype(np.uint32) for channel in range(3)
    ]
    whole: np.ndarray = np.uint32(0xFF << 24) | channels[0] << np.uint32(16) | channels[1] << np.uint32(8) | channels[2]
    return whole
