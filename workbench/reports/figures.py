"""Figures drawn for print: white, column width, 8 pt, colours that the colour-blind can tell apart."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from typing import Literal

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, StrMethodFormatter

from workbench.reports.contact_sheet import sheet
from workbench.reports.content import Content, Curve, Map
from workbench.reports.print_style import BLACK, MUTED, WRONG, drawable, style

COLUMN, FULL = 3.3, 6.8  # inches
NAMED = 20  # classes in a legend; more are told apart on screen
FEW = 3000  # points up to which a map is drawn as shapes; more become an image inside the figure
OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#F0E442", "#000000")
SERIES = {
    "probe/ce": ("CE", "#0072B2", "-"),
    "probe/spce": ("SPCE", "#D55E00", "--"),
    "test/recall@1": ("recall@1", "#0072B2", "-"),
    "test/recall@2": ("recall@2", "#56B4E9", "--"),
    "test/recall@4": ("recall@4", "#009E73", "-."),
    "test/recall@8": ("recall@8", "#CC79A7", ":"),
    "test/MAP@R": ("MAP@R", "#E69F00", "-"),
    "train/accuracy": ("training accuracy", "#5A6372", (0, (1, 1))),
}
Format = Literal["svg", "pdf", "png"]
Margins = tuple[float, float, float, float]  # inches: left, right, bottom, top
PLAIN: Margins = (0.5, 0.12, 0.4, 0.26)
TWO_AXES: Margins = (0.5, 0.6, 0.4, 0.26)


@dataclass(frozen=True, slots=True, eq=False)
class Drawing:
    """A figure that can be painted alone or on a page."""

    width: float  # inches
    height: float  # inches
    margins: Margins
    paint: Callable[[Axes], None]
    title: str
    caption: str
    told: str  # what it shows in one sentence, for those who cannot see it

    def on(self, page: Figure, left: float, top: float) -> None:
        """Paint it on a page, `left` and `top` inches from its upper left corner."""
        wide, high = (float(side) for side in page.get_size_inches())
        at_left, at_right, at_bottom, at_top = self.margins
        inside = (self.width - at_left - at_right, self.height - at_bottom - at_top)
        bottom = high - top - self.height + at_bottom
        axes = page.add_axes(((left + at_left) / wide, bottom / high, inside[0] / wide, inside[1] / high))
        self.paint(axes)


def draw(content: Content) -> dict[str, Drawing]:
    """Every figure that the report has data for, by name: "ce-spce", "retrieval", "loss", "map", "worst", "best"."""
    found: dict[str, Drawing] = {}
    if "curves" in content.sections:
        found |= _curves(content.curves)
    if content.map is not None:
        found["map"] = _map(content.map)
    for name, cards, title in (
        ("worst", content.worst, "Lowest average precision"),
        ("best", content.finest, "Highest average precision"),
    ):
        if cards:
            height, paint = sheet(cards, FULL)
            told = f"{title}: {len(cards)} queries in rows, each with its nearest neighbours."
            found[name] = Drawing(FULL, height, (0, 0, 0, 0), paint, title, content.queries_note, told)
    return found


def alone(drawing: Drawing) -> Figure:
    """The figure by itself."""
    figure = Figure(figsize=(drawing.width, drawing.height))
    drawing.on(figure, 0.0, 0.0)
    return figure


def encode(drawing: Drawing, kind: Format) -> bytes:
    """A figure as a file: SVG with text as text, PDF with whole fonts, PNG at 300 dots per inch."""
    out = BytesIO()
    with style():
        figure = alone(drawing)
        FigureCanvasAgg(figure)
        figure.savefig(out, format=kind, dpi=300, metadata=_metadata(drawing, kind))
    return out.getvalue()


def _metadata(drawing: Drawing, kind: Format) -> dict[str, str | None]:
    """Title and caption go with the file; no date, so that the same run gives the same file."""
    said = drawable(f"{drawing.title}. {drawing.caption}")
    if kind == "pdf":
        return {"Title": drawable(drawing.title), "Subject": said, "CreationDate": None}
    facts: dict[str, str | None] = {"Title": drawable(drawing.title), "Description": said}
    return facts | ({"Date": None} if kind == "svg" else {})


# Curves


def _curves(curves: dict[str, Curve]) -> dict[str, Drawing]:
    found: dict[str, Drawing] = {}

    def add(name: str, margins: Margins, paint: Callable[[Axes], None], title: str, caption: str, told: str) -> None:
        found[name] = Drawing(COLUMN, 2.2, margins, paint, title, caption, told)

    probe: dict[str, Curve] = {name: curves[name] for name in ("probe/ce", "probe/spce") if name in curves}
    if probe:
        title = "Cross-entropy on the probe (nats) ↓"
        caption = "CE and SPCE" if len(probe) == 2 else SERIES[next(iter(probe))][0]
        caption += " on the same fixed training images, in evaluation mode."
        add("ce-spce", PLAIN, partial(_paint_probe, probe, title), title, caption, _told(probe, "{:.4g}"))
    names = [name for name in SERIES if name.startswith("test/") or name == "train/accuracy"]
    shares = {name: curves[name] for name in names if name in curves}
    if any(name.startswith("test/") for name in shares):
        title = "Retrieval on the test half (%) ↑"
        caption = "Retrieval metrics on the test half at each evaluation"
        caption += "; accuracy on the probe of training images." if "train/accuracy" in shares else "."
        add("retrieval", PLAIN, partial(_paint_shares, shares, title), title, caption, _told(shares, "{:.2%}"))
    if "batch/loss" in curves:
        loss, rate = {"batch/loss": curves["batch/loss"]}, curves.get("batch/lr")
        title = "Batch loss" if rate is None else "Batch loss and learning rate"
        caption = "Loss of every batch (faint) and its centred mean (bold)"
        caption += "." if rate is None else "; learning rate (dashed, right axis)."
        margins = PLAIN if rate is None else TWO_AXES
        add(
            "loss",
            margins,
            partial(_paint_loss, loss["batch/loss"], rate, title),
            title,
            caption,
            _told(loss, "{:.4g}"),
        )
    return found


def _told(curves: Mapping[str, Curve], form: str) -> str:
    said = []
    for name, curve in curves.items():
        good = np.flatnonzero(np.isfinite(curve.values))
        word = SERIES[name][0] if name in SERIES else "Batch loss"
        if not len(good):
            said.append(f"{word} is never a finite number")
            continue
        first, last = good[0], good[-1]
        ends = f"from {form.format(curve.values[first])} to {form.format(curve.values[last])}"
        said.append(f"{word} goes {ends} between steps {curve.steps[first]:,} and {curve.steps[last]:,}")
    return "; ".join(said) + "."


def _paint_probe(curves: dict[str, Curve], title: str, axes: Axes) -> None:
    for name, curve in curves.items():
        _line(axes, name, curve, 1.0)
    values = np.concatenate([curve.values for curve in curves.values()])
    if (values[np.isfinite(values)] > 0).all() and np.isfinite(values).any():
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set(xlabel="Step", title=title)
    _mark_trouble(axes, curves.values())
    axes.legend()


def _paint_shares(curves: dict[str, Curve], title: str, axes: Axes) -> None:
    for name, curve in curves.items():
        _line(axes, name, curve, 100.0, marker="." if len(curve.steps) <= 40 else "")
    axes.set(xlabel="Step", title=title)
    axes.legend(ncols=2, loc="best")


def _paint_loss(loss: Curve, rate: Curve | None, title: str, axes: Axes) -> None:
    axes.plot(loss.steps, loss.values, color=OKABE_ITO[0], alpha=0.25, linewidth=0.6)
    axes.plot(loss.steps, smoothed(loss.values), color=OKABE_ITO[0], label="loss, smoothed")
    axes.set(xlabel="Step", title=title)
    _mark_trouble(axes, [loss])
    if rate is not None:
        right = axes.twinx()
        right.grid(visible=False)
        right.plot(rate.steps, rate.values, "--", color=OKABE_ITO[1], linewidth=0.9)
        right.set_ylabel("Learning rate", color=OKABE_ITO[1])
        right.ticklabel_format(axis="y", style="sci", scilimits=(-2, 3), useMathText=False)
        right.yaxis.get_offset_text().set_fontsize(6)
        right.spines["right"].set_visible(True)
    axes.legend()


def _line(axes: Axes, name: str, curve: Curve, scale: float, marker: str = "") -> None:
    word, colour, line = SERIES[name]
    marker = marker or ("." if len(curve.steps) == 1 else "")
    axes.plot(curve.steps, scale * curve.values, linestyle=line, color=colour, label=word, marker=marker, markersize=4)


def _mark_trouble(axes: Axes, curves: Iterable[Curve]) -> None:
    """A red line where the first value is not a finite number."""
    bad = [int(curve.steps[~np.isfinite(curve.values)][0]) for curve in curves if not np.isfinite(curve.values).all()]
    if bad:
        axes.axvline(min(bad), color=WRONG, linewidth=0.8)
        axes.text(min(bad), 0.98, " not finite", color=WRONG, va="top", transform=axes.get_xaxis_transform())


def smoothed(values: np.ndarray, share: float = 0.02) -> np.ndarray:
    """A centred mean over `share` of the values that leaves gaps out. [n] -> [n]."""
    width = max(1, int(len(values) * share)) | 1
    good = np.isfinite(values)
    ones = np.ones(width)
    sums = np.convolve(np.where(good, values, 0), ones, "same")
    counts = np.convolve(good.astype(float), ones, "same")
    return np.where(counts > 0.5, sums / np.maximum(counts, 1), np.nan)


# Map


def _map(data: Map) -> Drawing:
    present = np.unique(data.labels)
    stars = " Stars are class proxies." if data.proxies is not None else ""
    told = f"{len(data.points):,} test images of {len(present):,} classes in two dimensions. {data.caption}."
    legend = len(present) <= NAMED or data.proxies is not None
    margins = (0.04, 1.36 if legend else 0.04, 0.04, 0.04)
    caption = f"{data.caption}. Each point is a test image, coloured by class.{stars}"
    return Drawing(FULL, 4.1, margins, partial(_paint_map, data), "Map of the test embeddings", caption, told)


def _paint_map(data: Map, axes: Axes) -> None:
    present = np.unique(data.labels)
    named = len(present) <= NAMED
    colours = [_colour(place, len(present)) for place in range(len(present))]
    # One call for all points in an order of their own: no class hides another for being drawn last.
    order = np.random.default_rng(0).permutation(len(data.points))
    shades = np.array([_rgba(colour) for colour in colours])[np.searchsorted(present, data.labels)][order]
    size = float(np.clip(4000 / max(1, len(data.points)), 1.5, 12))
    axes.scatter(
        data.points[order, 0], data.points[order, 1], s=size, c=shades, linewidths=0, rasterized=len(order) > FEW
    )
    if named:
        for label, colour in zip(present, colours, strict=True):
            name = data.class_names[label] if label < len(data.class_names) else str(label)
            axes.scatter([], [], s=16, color=colour, linewidths=0, label=cut(name, 20))
    if data.proxies is not None:
        axes.scatter(
            data.proxies[:, 0], data.proxies[:, 1], s=64, marker="*", color="white", edgecolors=BLACK, linewidths=0.8,
            label="class proxies",
        )  # fmt: skip
    axes.set(xticks=[], yticks=[])
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.03)
    for side in axes.spines.values():
        side.set(visible=True, color=MUTED, linewidth=0.4)
    if named or data.proxies is not None:
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), borderaxespad=0.4, handletextpad=0.2)


def _colour(place: int, count: int) -> str | tuple[float, ...]:
    """Okabe and Ito's colours up to eight classes, then steps of a map that runs through all hues."""
    if count <= len(OKABE_ITO):
        return OKABE_ITO[place]
    return tuple(colormaps["turbo"](0.04 + 0.92 * place / max(1, count - 1)))


def _rgba(colour: str | tuple[float, ...]) -> tuple[float, ...]:
    if isinstance(colour, tuple):
        return colour
    return (*(int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)), 1.0)


def cut(name: str, most: int) -> str:
    """The end of a name, at most so many letters: of "Alphabet/character07" the character tells more."""
    last = name.rpartition("/")[2] if len(name) > most else name
    return drawable(last if len(last) <= most else f"{last[: most - 1]}…")
