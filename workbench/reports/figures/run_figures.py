"""What a report of one run draws: for print, white, column width, 8 pt, colours for the colour-blind."""

from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.colors import to_rgba_array
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import NullFormatter, StrMethodFormatter

from workbench.colours import OKABE_ITO, class_colours
from workbench.comparing.curves.smoothing import BATCH_LOSS, exponential_mean
from workbench.comparing.measures import is_logged_share, percent_factor
from workbench.metric_names import metric_name
from workbench.names import in_one_line
from workbench.reports.content.run_content import Content, Curve, Map, QueryCard, percent
from workbench.reports.figures.drawing import COLUMN, FULL, Drawing, cut, legend_name

MAP_HEIGHT = 4.0  # inches: below the summary and the metrics of a run it fits on the first page
NAMED = 20  # classes in a legend; more can be distinguished on screen
LONGEST_NAME = 24  # letters of a class in it: the map needs most of the width
LEGEND_MARK = 14.0  # square points: the map's own are too small to tell their colours
COLOURS = (*OKABE_ITO[:6], "#000000", "#999933")  # yellow cannot be seen on paper
SERIES = {
    "probe/ce": ("CE", COLOURS[0], "-"),
    "probe/spce": ("SPCE", COLOURS[1], "--"),
    "batch/loss": ("loss", COLOURS[0], "-"),
    "batch/lr": ("learning rate", COLOURS[1], "--"),
}
RECALL_LOOKS = ((COLOURS[0], "-"), (COLOURS[4], "--"), (COLOURS[2], "-."), (COLOURS[3], ":"))  # the first four ranks
RIGHT, WRONG = "#1B7F4B", "#B3261E"
LARGEST = 1e300  # that an axis can have: the difference of two larger values may be infinite


def draw(content: Content) -> dict[str, Drawing]:
    """Every figure that the run has data for, by name: those of curves, "map", "worst" and "best"."""
    drawings: dict[str, Drawing] = {}
    if "curves" in content.sections:
        curves = content.curves
        if "probe/spce" in curves:
            names = tuple(name for name in ("probe/ce", "probe/spce") if name in curves)
            paint = partial(_curves, content, names, "Cross-entropy on the probe (nats)")
            drawings["ce-spce"] = Drawing(paint, COLUMN, 2.2, _points(content, names))
        if "test/MAP@R" in curves:
            recalled = [name for name in curves if name.startswith("test/recall@")][: len(RECALL_LOOKS)]
            table = _points(content, (*recalled, "test/MAP@R"))
            drawings["retrieval"] = Drawing(partial(_retrieval, content), COLUMN, 2.2, table)
        if "batch/loss" in curves:
            shown = tuple(name for name in ("batch/loss", "batch/lr") if name in curves)
            paint = partial(_loss, curves["batch/loss"], curves.get("batch/lr"))
            drawings["loss"] = Drawing(paint, COLUMN, 2.2, _points(content, shown))
        if others := content.other_curves:
            height = 1.5 * -(-len(others) // 2)
            drawings["other-curves"] = Drawing(
                partial(_others, content, others), FULL, height, _points(content, others)
            )
    if content.map is not None:
        drawings["map"] = Drawing(partial(draw_map, content.map), FULL, MAP_HEIGHT, _places(content.map))
    for name, cards in (("worst", content.worst), ("best", content.finest)):
        if cards:
            height = FULL / _columns(cards) * 1.3 * len(cards)
            drawings[name] = Drawing(partial(_sheet, cards), FULL, height, _ranked(cards), laid_out=False)
    return drawings


def _points(content: Content, names: tuple[str, ...]) -> tuple[list[str], list[list[Any]]]:
    rows = [
        [name, step, value]
        for name in names
        for step, value in zip(content.curves[name].steps.tolist(), content.curves[name].values.tolist(), strict=True)
    ]
    return ["name", "step", "value"], rows


def _places(data: Map) -> tuple[list[str], list[list[Any]]]:
    rows: list[list[Any]] = [
        ["image", _class_name(data, label), x, y]
        for label, (x, y) in zip(data.labels.tolist(), data.points.tolist(), strict=True)
    ]
    stars = [] if data.proxies is None else data.proxies.tolist()
    return ["kind", "class", "x", "y"], rows + [["class vector", "", x, y] for x, y in stars]


def _ranked(cards: list[QueryCard]) -> tuple[list[str], list[list[Any]]]:
    rows = [
        [card.query.sample_id, card.query.class_name, card.query.ap, near.rank, near.sample_id, near.class_name,
         near.similarity, "yes" if near.right else "no"]
        for card in cards
        for near, _ in card.neighbours
    ]  # fmt: skip
    return ["query", "query_class", "ap", "rank", "neighbour", "neighbour_class", "similarity", "right"], rows


def _class_name(data: Map, label: int) -> str:
    return data.class_names[label] if label < len(data.class_names) else str(label)


def _columns(cards: list[QueryCard]) -> int:
    return 1 + max(len(card.neighbours) for card in cards)


def _curves(content: Content, names: tuple[str, ...], title: str, host: Figure) -> None:
    axes = host.add_subplot()
    for name in names:
        word, colour, line = SERIES[name]
        axes.plot(content.curves[name].steps, _drawn(content.curves[name]), line, color=colour, label=word)
        _mark_trouble(axes, content.curves[name], f"{word} ")
    axes.set(xlabel="Step", title=title)
    drawn = np.concatenate([_drawn(content.curves[name]) for name in names])
    finite = drawn[np.isfinite(drawn)]
    if finite.size and (finite > 0).all():  # a logarithm would hide the others
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
    axes.legend()


def _others(content: Content, names: tuple[str, ...], host: Figure) -> None:
    """One plot for each: their units are not known, but those of metrics, which are in percent."""
    for place, name in enumerate(names, 1):
        axes = host.add_subplot(-(-len(names) // 2), 2, place)
        curve, unit = content.curves[name], " (%)" if is_logged_share(name) else ""
        axes.plot(curve.steps, _in_percent(name, curve), color=COLOURS[0], linewidth=0.9)
        _mark_trouble(axes, curve)
        axes.set_title(f"{legend_name(name)}{unit}", fontsize="small")
        axes.set_xlabel("Step", fontsize="small")


def _retrieval(content: Content, host: Figure) -> None:
    axes = host.add_subplot()
    names = [name for name in content.curves if name.startswith("test/recall@")]
    looks = [(name, *look) for name, look in zip(names, RECALL_LOOKS, strict=False)]
    for name, colour, line in (*looks, ("test/MAP@R", COLOURS[5], "-")):
        curve, word = content.curves[name], metric_name(name.removeprefix("test/"))
        axes.plot(curve.steps, _in_percent(name, curve), line, color=colour, label=word, marker=".", markersize=4)
    axes.set(xlabel="Step", title="Retrieval on the test set (%) ↑")
    host.legend(loc="outside lower center", ncols=4, fontsize="small", columnspacing=1)  # the curves fill the axes


def _loss(loss: Curve, rate: Curve | None, host: Figure) -> None:
    axes = host.add_subplot()
    axes.plot(loss.steps, _drawn(loss), color=COLOURS[0], alpha=0.25, linewidth=0.6)
    axes.plot(loss.steps, exponential_mean(_drawn(loss), BATCH_LOSS), color=COLOURS[0], label="loss, smoothed")
    axes.set(xlabel="Step", title="Batch loss and learning rate")
    _mark_trouble(axes, loss)
    if rate is not None:
        right = axes.twinx()
        right.grid(visible=False)
        right.plot(rate.steps, _drawn(rate), "--", color=COLOURS[1], linewidth=0.9)
        right.set_ylabel("Learning rate", color=COLOURS[1])
        right.spines["right"].set_visible(True)
    axes.legend()


def _drawn(curve: Curve) -> np.ndarray:
    """The values with NaN where there is nothing to draw."""
    return np.where(np.abs(curve.values) <= LARGEST, curve.values, np.nan)


def _in_percent(name: str, curve: Curve) -> np.ndarray:
    """The values with fractions in percent, as the pages Train and Compare draw them."""
    drawn = _drawn(curve)
    return percent_factor(name, drawn) * drawn


def _mark_trouble(axes: Axes, curve: Curve, whose: str = "") -> None:
    """A line where the values first are no number, and which kind of none, or too large."""
    for index in np.flatnonzero(np.isnan(_drawn(curve)))[:1]:
        value, step = curve.values[index], curve.steps[index]
        what = "NaN" if np.isnan(value) else "infinite" if np.isinf(value) else f"beyond {LARGEST:g}"
        axes.axvline(step, color=WRONG, linewidth=0.8)
        axes.text(step, 0.98, f" {whose}{what}", color=WRONG, va="top", transform=axes.get_xaxis_transform())


def draw_map(data: Map, host: Figure) -> None:
    """The points by class, and the proxies as stars, on new axes of `host`."""
    axes = host.add_subplot()
    present, of = np.unique(data.labels, return_inverse=True)
    inks = [f"#{int(ink) & 0xFFFFFF:06X}" for ink in class_colours(len(present))]
    look: dict[str, Any] = {
        "s": max(1.0, min(8.0, 4000 / len(data.points))), "linewidths": 0, "rasterized": len(data.points) > 3000,
    }  # fmt: skip
    named = len(present) <= NAMED
    if named:
        for index, label in enumerate(present):
            chosen = of == index
            name = legend_name(cut(in_one_line(_class_name(data, label)), LONGEST_NAME))
            axes.scatter(data.points[chosen, 0], data.points[chosen, 1], color=inks[index], label=name, **look)
    else:  # at once: thousands of classes would be thousands of looks at all points
        order = np.argsort(of, kind="stable")
        axes.scatter(data.points[order, 0], data.points[order, 1], color=to_rgba_array(inks)[of[order]], **look)
    if data.proxies is not None:
        axes.scatter(
            data.proxies[:, 0],
            data.proxies[:, 1],
            s=60,
            marker="*",
            color="white",
            edgecolors="black",
            linewidths=0.8,
            label="class vectors",
        )
    axes.set(xticks=[], yticks=[], title=data.title)
    axes.set_aspect("equal", adjustable="datalim")
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)  # the directions of a map mean nothing
    if named or data.proxies is not None:
        legend = axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
        for mark in legend.legend_handles:
            if isinstance(mark, PathCollection):
                mark.set_sizes([LEGEND_MARK])


def _sheet(cards: list[QueryCard], host: Figure) -> None:
    """A row per query: the query, then its neighbours with tick or cross in a frame of right or wrong.

    One set of axes for all pictures: dozens of small ones take seconds to lay out.
    """
    columns = _columns(cards)
    axes = host.add_axes((0, 0, 1, 1), xlim=(0, columns), ylim=(len(cards) * 1.3, 0), aspect="auto")
    axes.set_axis_off()
    for row, card in enumerate(cards):
        title = f"query  AP {percent(card.query.ap)}\n{_short(card.query.class_name)}"
        _picture(axes, 0, row, card.image, title, "black")
        for column, (near, image) in enumerate(card.neighbours, start=1):
            colour, sign = (RIGHT, "✓") if near.right else (WRONG, "✗")
            _picture(axes, column, row, image, f"{sign} {near.similarity_words}\n{_short(near.class_name)}", colour)
    axes.set(xlim=(0, columns), ylim=(len(cards) * 1.3, 0))


def _picture(axes: Axes, column: int, row: int, image: np.ndarray | None, title: str, colour: str) -> None:
    left, top, side = column + 0.04, row * 1.3 + 0.3, 0.92
    axes.text(left + side / 2, top - 0.03, title, fontsize=5, color=colour, ha="center", va="bottom")
    if image is None:
        axes.text(left + side / 2, top + side / 2, "missing", ha="center", va="center", fontsize=5)
    else:
        extent = (left, left + side, top + side, top)
        axes.imshow(image, interpolation="nearest", extent=extent, aspect="auto")
    axes.add_patch(Rectangle((left, top), side, side, fill=False, edgecolor=colour, linewidth=1.2))


def _short(name: str) -> str:
    last = name.rpartition("/")[2] if len(name) > 16 else name
    return last if len(last) <= 16 else f"{last[:15]}…"
