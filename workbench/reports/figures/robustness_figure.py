"""What a report draws of robustness: MAP@R by the strength of each change of the query images."""

from functools import partial
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from workbench.reports.figures.drawing import FULL, Drawing, legend_name
from workbench.reports.figures.run_figures import COLOURS

STROKES = ("-", "--", ":")  # of the first changes, of those that have the colours again, and so on


def robustness_drawings(measured: dict[str, Any] | None) -> dict[str, Drawing]:
    """The drawing "robustness", where it was measured."""
    if measured is None:
        return {}
    return {"robustness": Drawing(partial(_paint, measured), FULL, 2.8, _table(measured))}


def _paint(measured: dict[str, Any], host: Figure) -> None:
    axes = host.subplots()
    first = measured["unchanged"]["metrics"]["MAP@R"]
    for number, change in enumerate(measured["changes"]):
        values = [100 * score for score in (first, *(level["metrics"]["MAP@R"] for level in change["levels"]))]
        axes.plot(
            range(len(values)), values, STROKES[number // len(COLOURS) % len(STROKES)], marker=".",
            color=COLOURS[number % len(COLOURS)], label=legend_name(change["title"]),
        )  # fmt: skip
    axes.axhline(100 * first, color="0.5", linewidth=0.5)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set(xlabel="Strength", ylabel="MAP@R, %")
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0))


def _table(measured: dict[str, Any]) -> tuple[list[str], list[list[Any]]]:
    head = ["change", "level", "strength"]
    head += [f"{metric}{end}" for metric in ("map_at_r", "recall_at_1") for end in ("", "_low", "_high")]
    rows: list[list[Any]] = [["unchanged", 0, "", *_numbers(measured["unchanged"])]]
    for change in measured["changes"]:
        for number, level in enumerate(change["levels"], start=1):
            rows.append([change["name"], number, level["words"], *_numbers(level)])
    return head, rows


def _numbers(scored: dict[str, Any]) -> list[float]:
    return [scored["metrics"][f"{metric}{end}"] for metric in ("MAP@R", "recall@1") for end in ("", "/low", "/high")]
