"""A measurement of robustness as lines of text and as CSV, which the window and the command line share."""

from typing import Any

from workbench.files.spreadsheet import csv_text
from workbench.numerals import percentage
from workbench.results.stored import difference_words

COLUMNS = (
    "change", "level", "strength", "in words", "source", "queries", "MAP@R", "MAP@R low", "MAP@R high",
    "MAP@R change", "MAP@R change low", "MAP@R change high", "recall@1", "recall@1 low", "recall@1 high",
    "recall@1 change", "recall@1 change low", "recall@1 change high",
)  # fmt: skip
METRICS = ("MAP@R", "recall@1")
UNCHANGED = "unchanged"


def sure(difference: list[float]) -> bool:
    """Whether the interval of a difference (mean, low, high) leaves 0 out."""
    return difference[1] > 0 or difference[2] < 0


def head_sentence(measured: dict[str, Any]) -> str:
    """What was searched, and how far unchanged embeddings are from the stored ones."""
    of_all = "" if measured["queries"] == measured["queries_there"] else f" of {measured['queries_there']:,}"
    return (
        f"{measured['queries']:,}{of_all} queries with changed images, searched among the {measured['gallery']:,} "
        "stored embeddings; the gallery is not changed. Embeddings of the unchanged images differ from the stored ones "
        f"by {_apart(measured['apart'])} of their length."
    )


def table_lines(measured: dict[str, Any]) -> list[str]:
    """A line for each strength, below a head and the unchanged queries."""
    wide = max(len(words) for change in measured["changes"] for words in (change["title"], *_strengths(change))) + 2
    at = measured["unchanged"]["metrics"]
    lines = [
        f"{'change':{wide}} {'MAP@R %':>8} {'95%':>13} {'change':>8} {'R@1 %':>7} {'change':>8}",
        f"{UNCHANGED:{wide}} {_share(at, 'MAP@R'):>8} {_range(at, 'MAP@R')} {'–':>8} {_share(at, 'recall@1'):>7} "
        f"{'–':>8}",
    ]
    for change in measured["changes"]:
        lines.append(change["title"])
        for level in change["levels"]:
            at, less = level["metrics"], {name: _less(level["difference"][name]) for name in METRICS}
            words = f"  {level['words']}"
            lines.append(
                f"{words:{wide}} {_share(at, 'MAP@R'):>8} {_range(at, 'MAP@R')} {less['MAP@R']:>8} "
                f"{_share(at, 'recall@1'):>7} {less['recall@1']:>8}"
            )
    return lines


def as_csv(measured: dict[str, Any]) -> str:
    """All numbers as CSV: a row for the unchanged queries and one for each strength; fractions."""
    at = measured["unchanged"]["metrics"]
    nothing = [0.0, 0.0, 0.0]
    rows = [[UNCHANGED, 0, "", "", "", measured["queries"], *_numbers(at, dict.fromkeys(METRICS, nothing))]]
    for change in measured["changes"]:
        for number, level in enumerate(change["levels"], start=1):
            about = [change["name"], number, level["strength"], level["words"], change["source"], measured["queries"]]
            rows.append([*about, *_numbers(level["metrics"], level["difference"])])
    return csv_text(list(COLUMNS), rows)


def _numbers(at: dict[str, float], difference: dict[str, list[float]]) -> list[float]:
    return [
        number
        for name in METRICS
        for number in (at[name], at[f"{name}/low"], at[f"{name}/high"], *difference[name])
    ]  # fmt: skip


def _apart(share: float) -> str:
    return "less than 0.01%" if share < 1e-4 else f"up to {percentage(share, 2)}"


def _strengths(change: dict[str, Any]) -> list[str]:
    return [level["words"] for level in change["levels"]]


def _share(at: dict[str, float], name: str) -> str:
    return f"{100 * at[name]:.2f}"


def _range(at: dict[str, float], name: str) -> str:
    return f"{100 * at[f'{name}/low']:6.2f}-{100 * at[f'{name}/high']:<6.2f}"


def _less(difference: list[float]) -> str:
    return difference_words(100 * difference[0], sure(difference))
