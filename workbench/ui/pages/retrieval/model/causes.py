"""Why a query failed: its cause, and sentences with the numbers behind it."""

from collections import Counter
from dataclasses import dataclass
from math import isfinite

from workbench.numerals import minus, significant
from workbench.results.explanations import Explanation, FailedQueries
from workbench.ui.pages.retrieval.model.cause_names import TITLES
from workbench.ui.pages.retrieval.model.reading import ShownQuery
from workbench.ui.style.words import NO_VALUE, counted
from workbench.workspace.rows import Neighbour

MOST_CLASSES = 4  # named in one sentence


@dataclass(frozen=True, slots=True)
class Why:
    """The cause of a failed query as a title, and sentences; both are empty where there is nothing to say."""

    title: str = ""
    words: str = ""
    suspected: bool = False  # a cause was found


NOTHING = Why()


def explanation(shown: ShownQuery, explained: FailedQueries | None, other: str, *, explaining: bool) -> Why:
    """Why a query failed, as far as it is known; NOTHING if it did not.

    Args:
        explained: causes of the failed queries; None while they are not known.
        other: names the evaluation compared with: "epoch 3".
        explaining: whether the causes are being worked out.
    """
    query, title, sentences, suspected = shown.query, "", [], False
    if explained is None:
        title = "Looking for the cause…" if query.first_hit > 1 and explaining else ""
    elif (about := explained.about(query.sample_id)) is not None:
        title, suspected = TITLES[about.cause], about.cause != "none"
        sentences.append(evidence(about))
    sentences.append(before_first_hit(shown.near, query.first_hit))
    if shown.elsewhere is not None:
        sentences.append(changed(shown.elsewhere.first_hit, query.first_hit, other))
    return Why(title, " ".join(filter(None, sentences)), suspected)


def evidence(about: Explanation) -> str:
    """What speaks for the cause of a failed query, and which other causes hold."""
    also = ", ".join(TITLES[cause].lower() for cause in about.also)
    return f"{_evidence(about)} Also: {also}." if also else _evidence(about)


def before_first_hit(neighbours: list[Neighbour], first_hit: int) -> str:
    """Which classes come before the first true neighbour, as a sentence; empty if none does.

    Args:
        neighbours: all that are stored of the query, best first.
        first_hit: rank of the first true neighbour; 0 when there is none.
    """
    before = neighbours[: first_hit - 1] if first_hit else []
    if not before:
        return ""
    counts = Counter(neighbour.class_name for neighbour in before).most_common()
    named = ", ".join(f"{times} of “{name}”" for name, times in counts[:MOST_CLASSES])
    rest = len(counts) - MOST_CLASSES
    more = f" and {counted(rest, 'other class', 'other classes')}" if rest > 0 else ""
    known = f", among the first {len(before)}, are" if len(before) < first_hit - 1 else " are"
    return f"Its first true neighbour is at rank {first_hit:,}; before it{known} {named}{more}."


def changed(before: int, after: int, word: str) -> str:
    """How a query changed since another evaluation, as a sentence; empty if it is no query in one of them.

    Args:
        before, after: ranks of the first true neighbour; 0 for no query.
        word: names the other evaluation: "epoch 3".
    """
    if not before or not after:
        return ""
    state = {
        (False, True): "won",
        (True, False): "lost",
        (True, True): "right in both",
        (False, False): "wrong in both",
    }[(before == 1, after == 1)]
    return f"At {word} its first hit was at rank {before:,}: {state}."


def _evidence(about: Explanation) -> str:
    near = about.nearest_class
    match about.cause:
        case "copy":
            return f"The nearest neighbour, of class “{near}”, is {_nearness(about)}; {_usual(about)}."
        case "label":
            return f"{about.votes} of its {about.voters} nearest neighbours are of class “{about.agreed_class}”."
        case "hub":
            return (
                f"The nearest neighbour, of class “{near}”, is among the ten neighbours of {about.times:,} "
                f"samples ({about.mean_times:.0f} on average), {about.wrong_times:,} of them of other classes."
            )
        case "rare":
            return (
                f"Its class has {counted(about.r, 'other sample')} to find; "
                f"the median class has {about.typical_r:,.0f}."
            )
        case "proxy":
            kind = "Cosine" if about.distance == "cosine" else "Minus the distance"
            return (
                f"{kind} {_number(about.other_proxy)} to the class vector of "
                f"“{about.other_proxy_class}”, {_number(about.own_proxy)} to that of its own class."
            )
    return f"The nearest neighbour is of class “{near}”, {_nearness(about)}."


def _nearness(about: Explanation) -> str:
    """How near the nearest neighbour is, in the measure of the evaluation, as its card says it."""
    if about.distance == "cosine":
        return f"at a cosine of {_cosine(about.gap)}"
    return f"{_number(about.gap)} away"


def _usual(about: Explanation) -> str:
    if about.distance == "cosine":
        return f"for half of all samples it is below {_cosine(about.typical_gap)}"
    return f"for half of all samples it is over {_number(about.typical_gap)} away"


def _cosine(gap: float) -> str:
    """The cosine of two unit vectors from their distance, with three decimals as on the cards."""
    return minus(f"{1 - gap * gap / 2:.3f}") if isfinite(gap) else NO_VALUE


def _number(value: float) -> str:
    return significant(value) if isfinite(value) else NO_VALUE
