"""Figures drawn for print: white, column width, 8 pt, colours that the colour-blind can tell apart."""

from io import BytesIO
from typing import Literal

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import NullFormatter, StrMethodFormatter

from workbench.reports.content import Content, Curve, Map, QueryCard, percent

COLUMN, FULL = 3.3, 6.8  # inches
NAMED = 20  # classes in a legend; more are told apart on screen
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#999933")
SERIES = {
    "probe/ce": ("CE", COLOURS[0], "-"),
    "probe/spce": ("SPCE", COLOURS[1], "--"),
    "batch/loss": ("loss", COLOURS[0], "-"),
    "batch/lr": ("learning rate", COLOURS[1], "--"),
}
RECALL_LOOKS = ((COLOURS[0], "-"), (COLOURS[4], "--"), (COLOURS[2], "-."), (COLOURS[3], ":"))  # the first four ranks
STYLE = {
    "font.size": 8, "axes.titlesize": 8, "axes.labelsize": 8, "legend.fontsize": 7, "xtick.labelsize": 7,
    "ytick.labelsize": 7, "lines.linewidth": 1.2, "axes.spines.top": False, "axes.spines.right": False,
    "axes.grid": True, "grid.alpha": 0.25, "grid.linewidth": 0.5, "svg.fonttype": "none", "pdf.fonttype": 42,
    "legend.frameon": False, "figure.constrained_layout.use": True, "axes.unicode_minus": True,
    "svg.hashsalt": "workbench", "text.parse_math": False,
}  # fmt: skip
RIGHT, WRONG = "#1B7F4B", "#B3261E"
Format = Literal["svg", "pdf", "png"]


def draw(content: Content) -> dict[str, Figure]:
    """Every figure that the report has data for, by name: "ce-spce", "retrieval", "loss", "map", "worst", "best"."""
    found: dict[str, Figure] = {}
    with rc_context(STYLE):
        if "curves" in content.sections:
            if "probe/spce" in content.curves:
                found["ce-spce"] = _curves(content, ("probe/ce", "probe/spce"), "Cross-entropy on the probe (nats)")
            if "test/MAP@R" in content.curves:
                found["retrieval"] = _retrieval(content)
            if "batch/loss" in content.curves:
                found["loss"] = _loss(content.curves["batch/loss"], content.curves.get("batch/lr"))
        if content.map is not None:
            found["map"] = _map(content.map)
        if content.worst:
            found["worst"] = _sheet(content.worst)
            found["best"] = _sheet(content.finest)
    return found


def encode(figure: Figure, kind: Format) -> bytes:
    """A figure as a file: SVG with text as text, PDF with whole fonts, PNG at 300 dots per inch."""
    FigureCanvasAgg(figure)
    out = BytesIO()
    date = {"Date": None} if kind == "svg" else ({"CreationDate": None} if kind == "pdf" else None)
    with rc_context(STYLE):
        figure.savefig(out, format=kind, dpi=300 if kind == "png" else "figure", metadata=date)
    return out.getvalue()


def raster(figure: Figure, dpi: float) -> np.ndarray:
    """A figure as uint8 [h, w, 4], to be placed on a page."""
    canvas = FigureCanvasAgg(figure)
    with rc_context(STYLE):
        figure.set_dpi(dpi)
        canvas.draw()
    return np.asarray(canvas.buffer_rgba()).copy()


def _figure(width: float, height: float) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(width, height))
    return figure, figure.add_subplot()


def _curves(content: Content, names: tuple[str, ...], title: str) -> Figure:
    figure, axes = _figure(COLUMN, 2.2)
    for name in names:
        if name in content.curves:
            word, colour, line = SERIES[name]
            axes.plot(content.curves[name].steps, content.curves[name].values, line, color=colour, label=word)
    axes.set(xlabel="Step", title=title)
    drawn = [content.curves[name].values for name in names if name in content.curves]
    if all((values[np.isfinite(values)] > 0).all() for values in drawn):  # a logarithm would hide the others
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
    axes.legend()
    return figure


def _retrieval(content: Content) -> Figure:
    figure, axes = _figure(COLUMN, 2.2)
    names = [name for name in content.curves if name.startswith("test/recall@")]
    looks = [(name, *look) for name, look in zip(names, RECALL_LOOKS, strict=False)]
    for name, colour, line in (*looks, ("test/MAP@R", COLOURS[5], "-")):
        curve, word = content.curves[name], name.removeprefix("test/")
        axes.plot(curve.steps, 100 * curve.values, line, color=colour, label=word, marker=".", markersize=4)
    axes.set(xlabel="Step", title="Retrieval on the test half (%) ↑")
    axes.legend(ncols=2)
    return figure


def _loss(loss: Curve, rate: Curve | None) -> Figure:
    figure, axes = _figure(COLUMN, 2.2)
    axes.plot(loss.steps, loss.values, color=COLOURS[0], alpha=0.25, linewidth=0.6)
    axes.plot(loss.steps, _smoothed(loss.values), color=COLOURS[0], label="loss, smoothed")
    axes.set(xlabel="Step", title="Batch loss and learning rate")
    for step in loss.steps[~np.isfinite(loss.values)][:1]:
        axes.axvline(step, color=WRONG, linewidth=0.8)
        axes.text(step, 0.98, " not finite", color=WRONG, va="top", transform=axes.get_xaxis_transform())
    if rate is not None:
        right = axes.twinx()
        right.grid(visible=False)
        right.plot(rate.steps, rate.values, "--", color=COLOURS[1], linewidth=0.9)
        right.set_ylabel("Learning rate", color=COLOURS[1])
        right.spines["right"].set_visible(True)
    axes.legend()
    return figure


def _smoothed(values: np.ndarray, share: float = 0.02) -> np.ndarray:
    """A centred mean that leaves gaps out."""
    width = max(1, int(len(values) * share)) | 1
    good = np.isfinite(values)
    ones = np.ones(width)
    sums = np.convolve(np.where(good, values, 0), ones, "same")
    counts = np.convolve(good.astype(float), ones, "same")
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _map(data: Map) -> Figure:
    figure, axes = _figure(FULL, 4.6)
    present = np.unique(data.labels)
    many, named = len(present) > len(COLOURS), len(present) <= NAMED
    for place, label in enumerate(present):
        chosen = data.labels == label
        colour = _spread(place, len(present)) if many else COLOURS[place]
        name = data.class_names[label] if label < len(data.class_names) else str(label)
        axes.scatter(
            data.points[chosen, 0], data.points[chosen, 1], s=max(1.0, min(8.0, 4000 / len(data.points))),
            color=colour, linewidths=0, label=name if named else None, rasterized=len(data.points) > 3000,
        )  # fmt: skip
    if data.proxies is not None:
        axes.scatter(
            data.proxies[:, 0],
            data.proxies[:, 1],
            s=60,
            marker="*",
            color="white",
            edgecolors="black",
            linewidths=0.8,
            label="class proxies",
        )
    axes.set(xticks=[], yticks=[], title=data.caption)
    axes.set_aspect("equal", adjustable="datalim")
    axes.grid(visible=False)
    if named or data.proxies is not None:
        axes.legend(markerscale=1.2, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def _spread(place: int, count: int) -> tuple[float, float, float, float]:
    from matplotlib import colormaps

    colour: tuple[float, float, float, float] = colormaps["turbo"](0.04 + 0.92 * place / max(1, count - 1))
    return colour


def _sheet(cards: list[QueryCard]) -> Figure:
    """A row per query: the query, then its neighbours with tick or cross in a frame of right or wrong.

    One set of axes for all pictures: dozens of small ones take seconds to lay out.
    """
    columns = 1 + max(len(card.neighbours) for card in cards)
    figure = Figure(figsize=(FULL, FULL / columns * 1.3 * len(cards)))
    figure.set_layout_engine("none")
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, columns), ylim=(len(cards) * 1.3, 0), aspect="auto")
    axes.set_axis_off()
    for row, card in enumerate(cards):
        title = f"query  AP {percent(card.query.ap)}\n{_short(card.query.class_name)}"
        _picture(axes, 0, row, card.image, title, "black")
        for column, (near, image) in enumerate(card.neighbours, start=1):
            colour, sign = (RIGHT, "✓") if near.right else (WRONG, "✗")
            _picture(axes, column, row, image, f"{sign} {near.similarity:.3f}\n{_short(near.class_name)}", colour)
    axes.set(xlim=(0, columns), ylim=(len(cards) * 1.3, 0))
    return figure


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
