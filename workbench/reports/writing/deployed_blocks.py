"""The sections of a report on a run in use: stored smaller or searched otherwise, and with changed query images."""

from collections.abc import Sequence
from typing import Any

from workbench.numerals import minus, percentage
from workbench.reports.content.run_content import Content, percent
from workbench.reports.writing.blocks import NO_VALUE, Block, Plot, Table, said
from workbench.results.few_shot import few_shot_sentence
from workbench.results.open_set import RULES, open_set_facts, open_set_sentence
from workbench.results.stored import MAY_BE_0, difference_words, fitted_sentence

STORES = ("Store or search", "Bytes", "ms", "MAP@R %", "95% interval over queries", "Δ points", "R@1 %", "10 kept %")
SHOTS = ("Images stored", "By the class mean", "95% of draws", "By the nearest image", "95% of draws")
OPEN_SET = ("Images stored", "Rule", "FPIR", "DIR", "95% of draws", "Threshold", "Area under OSCR", "AUROC")
EPISODES = ("Episodes", "Accuracy", "95% interval of the mean")
NOT_DEPLOYED = "This evaluation was not measured. Deployment on the page Retrieval and `workbench deploy` measure it."
NOT_CHANGED = (
    "This evaluation was not measured. Robustness on the page Retrieval and `workbench robustness` measure it."
)
CURVES = "MAP@R of queries whose images are changed, by strength; 0 is unchanged."
MARKED = "A number marked ? may be that of the unchanged images: the paired 95% interval of the difference includes 0."


def deployment_blocks(content: Content) -> list[Block]:
    """Tables of stores and of new classes, with the threshold; a sentence where nothing was measured."""
    measured = content.deployment
    remarks: list[Block] = [said(content.deployment_damaged)] if content.deployment_damaged else []
    if measured is None:
        return remarks or [said(NOT_DEPLOYED, muted=True)]
    caption = (
        f"{_of_all(measured)} queries, {measured['gallery']:,} images searched, {measured['dim']:,} dimensions. Bytes "
        "are those of one image, ms those of one query on one thread."
    )
    rows = tuple(_store(store, store is measured["stores"][0]) for store in measured["stores"] if not store["refused"])
    refused = [
        f"{store['title']}: not measured. {store['refused']}" for store in measured["stores"] if store["refused"]
    ]
    return [
        *remarks,
        Table("stores", caption, STORES, rows, frozenset(range(1, len(STORES)))),
        *(said(sentence) for sentence in (fitted_sentence(measured["fitted_on"]), MAY_BE_0, *refused)),
        said(_threshold(measured["limit"])),
        *_new_classes(measured["new_classes"]),
        *_open_set(measured["open_set"]),
    ]


def robustness_blocks(content: Content) -> list[Block]:
    """Curves and a table for each metric; a sentence where nothing was measured."""
    measured = content.robustness
    if measured is None:
        return [said(content.robustness_damaged or NOT_CHANGED, muted=not content.robustness_damaged)]
    about = (
        f"{_of_all(measured)} queries with changed images, searched among {measured['gallery']:,} stored embeddings; "
        f"the gallery is not changed. {MARKED}"
    )
    sources = sorted({change["source"] for change in measured["changes"]})
    return [
        Plot("robustness", CURVES),
        _changes(measured, "MAP@R"),
        _changes(measured, "recall@1"),
        said(about),
        said(f"Strengths: {', '.join(sources)}.", muted=True),
    ]


def _of_all(measured: dict[str, Any]) -> str:
    there, asked = measured["queries_there"], measured["queries"]
    return f"{asked:,}" if asked == there else f"{asked:,} of {there:,}"


def _store(store: dict[str, Any], is_baseline: bool) -> tuple[str, ...]:
    at, difference = store["metrics"], store["difference"]
    less = difference_words(100 * difference[0], difference[1] > 0 or difference[2] < 0)
    return (
        store["title"], f"{store['bytes']:,.0f}", f"{store['ms']:.3g}", f"{100 * at['MAP@R']:.2f}",
        _between(at["MAP@R/low"], at["MAP@R/high"]), NO_VALUE if is_baseline else less, f"{100 * at['recall@1']:.2f}",
        f"{100 * store['kept']:.1f}",
    )  # fmt: skip


def _threshold(limit: dict[str, Any]) -> str:
    low, high = limit["similarity_range"]
    at = minus(f"{limit['similarity']:.4f} ({low:.4f} to {high:.4f})")
    return (
        f"Same or different at {100 * limit['wanted']:g}% false accepts: threshold {at}; it accepts "
        f"{percent(limit['accepts'])} ({_between(*limit['accepts_range'])}) of {limit['same_pairs']:,} pairs of one "
        f"class. Equal error rate: {percent(limit['equal_error'])}."
    )


def _new_classes(new: dict[str, Any] | None) -> list[Block]:
    """A table of the accuracy by the images that are stored of each class, and one of episodes."""
    if new is None:
        return []
    rows = tuple(
        (str(point["images"]), *(word for way in ("by_mean", "by_nearest") for word in _spread(point[way])))
        for point in new["points"]
    )
    episodes = tuple(
        (f"{one['ways']}-way {one['shots']}-shot", percent(one["accuracy"]), f"± {percentage(one['half_width'], 2)}")
        for one in new["episodes"]
    )
    blocks: list[Block] = [said(few_shot_sentence(new))]
    if rows:
        blocks.append(Table("new-classes", "Accuracy among new classes.", SHOTS, rows, frozenset(range(5))))
    if episodes:
        blocks.append(Table("episodes", "Few-shot episodes.", EPISODES, episodes, frozenset({1, 2})))
    return blocks


def _open_set(measured: dict[str, Any] | None) -> list[Block]:
    """What is identified when half of the classes is unknown: sentences, and a table by rule and rate."""
    if measured is None:
        return []
    rows = tuple(
        (
            "all" if point["images"] is None else str(point["images"]), title, f"{100 * at['fpir']:g}%",
            *_spread(at["dir"]), minus(f"{at['threshold'][0]:.4f}"), percent(of_rule["oscr"][0]),
            percent(of_rule["auroc"][0]),
        )
        for point in measured["points"] for rule, title in RULES.items() for of_rule in (point[rule],)
        for at in of_rule["rates"]
    )  # fmt: skip
    blocks: list[Block] = [said(open_set_facts(measured))]
    if rows:
        blocks += [said(open_set_sentence(measured, point["images"])) for point in measured["points"]]
        blocks.append(Table("open-set", "Open-set identification.", OPEN_SET, rows, frozenset(range(2, 8))))
    return blocks


def _spread(values: Sequence[float]) -> tuple[str, str]:
    return percent(values[0]), _between(values[1], values[2])


def _between(low: float, high: float) -> str:
    return f"{percent(low)} to {percent(high)}"


def _changes(measured: dict[str, Any], metric: str) -> Table:
    """A row for each change, with its scores by strength."""
    levels = max(len(change["levels"]) for change in measured["changes"])
    title = "R@1" if metric == "recall@1" else metric
    unchanged = percent(measured["unchanged"]["metrics"][metric])
    head = ("Change", "From", "To", *(str(number) for number in range(1, levels + 1)))
    rows = []
    for change in measured["changes"]:
        ends = (change["levels"][0]["words"], change["levels"][-1]["words"])
        scores = [_marked(level, metric) for level in change["levels"]]
        rows.append((change["title"], *ends, *scores, *[NO_VALUE] * (levels - len(scores))))
    caption = f"{title} in percent by the strength of the change; unchanged: {unchanged}."
    key = "robustness" if metric == "MAP@R" else "robustness-recall"
    return Table(key, caption, head, tuple(rows), frozenset(range(3, len(head))))


def _marked(level: dict[str, Any], metric: str) -> str:
    _, low, high = level["difference"][metric]
    return f"{'' if low > 0 or high < 0 else '? '}{100 * level['metrics'][metric]:.1f}"
