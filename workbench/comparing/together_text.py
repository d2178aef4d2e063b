"""What runs find together, in words and as rows: the same in the window, on the command line and in a report."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from workbench.comparing.comparison_text import NO_VALUE, limits, markdown_table, metric_title, number
from workbench.comparing.fairness.shared_epochs import runs_named
from workbench.comparing.grouping.groups import unlike_parts
from workbench.comparing.queries.together import METRICS, Ensemble, Together
from workbench.comparing.queries.unread import unread_words
from workbench.comparing.statistics.intervals import Interval
from workbench.metric_names import metric_name
from workbench.names import inside_sentence
from workbench.numerals import minus, percentage
from workbench.problem import Problem

GAIN = "Gain [95%], points"
HEAD = ("Embedding", *(title for metric in METRICS for title in (metric_title(metric), GAIN)), "d", "Bytes/image")
CHOSEN_BY = "MAP@R"  # the metric whose best pair is named
MEANING = (
    "Side by side: the embeddings of several runs, each scaled to length 1, searched as one (Musgrave et al., 2020). A "
    "gain is over the better of its runs alone, with its 95% interval over the same queries."
)


def ensemble_title(ensemble: Ensemble, of_runs: Together) -> str:
    """ "1 Cross-entropy (CE)" of one run; "1 + 3" of two; "1 + 3 + 5 (all)"."""
    numbers = " + ".join(map(str, ensemble.runs))
    if len(ensemble.runs) > 2:
        return f"{numbers} (all)"
    return f"{numbers} {short_titles(of_runs.titles)[ensemble.runs[0]]}" if len(ensemble.runs) == 1 else numbers


def together_rows(of_runs: Together) -> list[list[str]]:
    """A row for each ensemble under HEAD; dashes for what was not searched, and for the gain of one run."""
    return [
        [
            ensemble_title(ensemble, of_runs),
            *(cell for metric in METRICS for cell in _cells(ensemble, metric)),
            f"{ensemble.dim:,}",
            f"{ensemble.bytes_per_image:,}",
        ]
        for ensemble in of_runs.ensembles
    ]


def together_notes(of_runs: Together) -> list[str]:
    """Of which queries the numbers are, which pair is best and how far to trust that, and what is left out."""
    sentences = [_queries(of_runs), *_best(of_runs), _scaled(of_runs), _too_large(of_runs)]
    sentences += [left_out_words(of_runs.left_out), unread_words(of_runs.unread)]
    return [sentence for sentence in sentences if sentence]


def together_lines(of_runs: Together | Problem) -> list[str]:
    """The rows as Markdown, and the notes; or why there are none."""
    if isinstance(of_runs, Problem):
        return [str(of_runs)]
    head = [*map(inside_sentence, HEAD)]
    notes = (MEANING, *together_notes(of_runs))
    return [
        markdown_table(head, together_rows(of_runs)),
        "",
        *(f"- {note}" for note in notes),
    ]


def together_columns(of_runs: Together) -> tuple[list[str], list[list[Any]]]:
    """Head and rows for a file, with all digits: fractions, the limits of gains; None for what is not known."""
    head = ["runs", "groups", "embedding_size", "bytes_per_image"]
    for metric in METRICS:
        head += [metric, *(f"{metric}_{part}" for part in ("better_run", "gain", "gain_low_95", "gain_high_95"))]
    rows = list[list[Any]]()
    for ensemble in of_runs.ensembles:
        titles = dict.fromkeys(of_runs.titles[run] for run in ensemble.runs)
        row: list[Any] = [" ".join(map(str, ensemble.runs)), "; ".join(titles), ensemble.dim, ensemble.bytes_per_image]
        for metric in METRICS:
            gain = ensemble.gains.get(metric)
            numbers = (None, None, None) if gain is None else (gain.mean, gain.low, gain.high)
            row += [ensemble.values.get(metric), ensemble.better.get(metric), *numbers]
        rows.append(row)
    return head, rows


def left_out_words(left_out: Sequence[tuple[str, tuple[int, ...]]]) -> str:
    """ "Left out: run 5 (no embeddings are kept)."; empty for none."""
    named = "; ".join(f"{runs_named(runs)} ({why})" for why, runs in left_out)
    return f"Left out: {named}." if named else ""


def short_titles(titles: Mapping[int, str]) -> dict[int, str]:
    """Titles of the groups of runs, by run, without what all have in common."""
    groups = list(dict.fromkeys(titles.values()))
    short = dict(zip(groups, unlike_parts(groups), strict=True))
    return {run: short[title] for run, title in titles.items()}


def _cells(ensemble: Ensemble, metric: str) -> tuple[str, str]:
    gain = ensemble.gains.get(metric)
    value = minus(number(ensemble.values.get(metric), metric))
    if gain is None:
        return value, NO_VALUE
    return value, minus(f"{number(gain.mean, metric, signed=True)} {limits(gain, metric, signed=True)}")


def _queries(of_runs: Together) -> str:
    if len(of_runs.sets) == 1:
        every = "Both" if len(of_runs.sets[0]) == 2 else f"All {len(of_runs.sets[0])}"
        return f"{every} runs were tested with the same {of_runs.queries[0]:,} queries."
    parts = (f"{runs_named(runs)} ({count:,})" for runs, count in zip(of_runs.sets, of_runs.queries, strict=True))
    return f"Runs with the same queries, and how many: {'; '.join(parts)}. Only these are put together."


def _best(of_runs: Together) -> list[str]:
    """The best pair of each set, how sure its gain is, and that it was chosen on the test set that is shown."""
    sentences = []
    for pairs in of_runs.pairs():
        known = [pair for pair in pairs if isfinite(pair.values[CHOSEN_BY])]
        if not known:
            continue
        best = max(known, key=lambda pair: pair.values[CHOSEN_BY])
        gain, alone = best.gains[CHOSEN_BY], best.better[CHOSEN_BY]
        size = next(ensemble.bytes_per_image for ensemble in of_runs.ensembles if ensemble.runs == (alone,))
        which = f"{'best' if len(known) > 1 else 'only'} pair by {metric_name(CHOSEN_BY)}"
        sentences.append(
            f"{runs_named(best.runs).capitalize()}, the {which}: {percentage(best.values[CHOSEN_BY], 2)}. "
            f"{_against(gain, alone)} The pair stores {best.bytes_per_image:,} bytes per image instead of {size:,}."
        )
        if len(known) > 1:
            sentences[-1] += (
                f" It was chosen among {len(known)} pairs on the test set that is shown, so its value is optimistic: "
                "measure it again on other images."
            )
    return sentences


def _against(gain: Interval, alone: int) -> str:
    if gain.holds_zero:
        return f"That is not clearly different from run {alone} alone: the 95% interval contains zero."
    points = number(abs(gain.mean), CHOSEN_BY)
    return f"That is {points} points {'more' if gain.mean > 0 else 'less'} than run {alone} alone."


def _scaled(of_runs: Together) -> str:
    if not of_runs.scaled:
        return ""
    named = runs_named(of_runs.scaled)
    verb = "is" if len(of_runs.scaled) == 1 else "are"
    return (
        f"{named.capitalize()} {verb} searched by Euclidean distance: in an ensemble with such a run each embedding is "
        "divided by its spread, so that none outweighs the others."
    )


def _too_large(of_runs: Together) -> str:
    large = [ensemble_title(ensemble, of_runs) for ensemble in of_runs.ensembles if not ensemble.values]
    named = ", ".join(large)
    return f"Not searched, as that needs more memory than is free: {named}. Choose fewer runs." if large else ""
