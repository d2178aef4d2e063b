"""What the curves of a run show, in plain sentences computed from their numbers. It does not use Qt."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from workbench.numerals import percentage, raised, significant
from workbench.ui.pages.train.findings.crossings import ALIKE, Curve, both, longest_stretch, meeting
from workbench.ui.plots.rings import Crossing
from workbench.ui.style.words import counted
from workbench.workspace.rows import Run

SMALL_LAMBDA = 1e-6  # the terms in 1 / lambda amplify noise below it
GROWN = 10  # times SPCE at the first step, which is about log K: only long embeddings have so large a value
LONG = (
    "SPCE grows with the square of the embeddings' length, and these have become long. Batch-norm on top keeps them "
    "short in training, Unit length always."
)
FLAT = 0.001  # of MAP@R: epochs this close to the best are as good
# Subjects of notes in a run's facts (running/facts).
TOLD = (
    "the pretrained weights", "the frozen layers", "the training set", "the test set",
    "the training half", "the test half",  # as earlier versions stored them
)  # fmt: skip
PARTS_OF = (("ce", "CE"), ("spce", "SPCE"), ("snca", "SNCA"), ("contrastive", "the contrastive loss"))


@dataclass(frozen=True, slots=True)
class Sentence:
    """One thing that the curves show."""

    kind: Literal["note", "warning"]
    text: str


def read_curves(
    curves: Mapping[str, Curve],
    scores: list[tuple[int, float]],
    *,
    ended: bool = True,
    crossed: Sequence[Crossing] = (),
    seen: str = "",
) -> list[Sentence]:
    """All sentences that the numbers support.

    Args:
        curves: by the names of their scalars; missing ones are passed over.
        scores: (epoch, MAP@R as a fraction) of every evaluation, in order.
        ended: whether no more epochs come by themselves.
        crossed: what `crossings` found, where a plot shows its letters.
        seen: at what the parts of CE are measured, "unit length × 16", where the plot's title has an asterisk for it.
    """
    bound, pair = ([crossing.letter for crossing in crossed if crossing.wrong is wrong] for wrong in (True, False))
    said = [
        _ce_and_spce(curves, *pair, ended=ended),
        _bound(curves, bound),
        _parts(curves, seen),
        _information(curves),
        _best_epoch(scores, ended),
    ]
    return [sentence for sentence in said if sentence is not None]


def known_before(run: Run) -> list[Sentence]:
    """What was known before the first step: a recall@k of 100% with any network, and notes on its weights."""
    notes = run.environment.get("data", {}).get("notes", [])
    return [
        Sentence("note", f"{what[0].upper()}{what[1:]} {remark}.")
        for what, remark in notes if what in TOLD or what.startswith("R@")
    ]  # fmt: skip


def _ce_and_spce(curves: Mapping[str, Curve], letter: str = "", *, ended: bool = True) -> Sentence | None:
    steps, ce, spce = both(curves, "probe/ce", "probe/spce")
    if len(steps) < 2:
        return None
    gap = spce - ce
    last = float(gap[-1])
    met = meeting(steps, gap)
    if abs(last) < ALIKE:
        since = _step(steps[0] if met is None else met[1], letter)
        return Sentence("note", f"CE and SPCE meet: from {since} on they differ by less than {ALIKE:g} nats.")
    where = f"SPCE is {raised(significant(abs(last)))} nats {'above' if last > 0 else 'below'} CE "
    where += "at the end" if ended else f"at step {steps[-1]:,.0f}"
    why = f" {LONG}" if spce[-1] > GROWN * max(1.0, spce[0]) else ""
    close = np.flatnonzero(np.abs(gap) < ALIKE)
    if met is not None:
        course = f"; the two cross at {_step(met[1], letter)}."
    elif len(close) and close[-1] == len(close) - 1:
        course = f"; they agree up to {_step(steps[close[-1]], '')}."
    elif len(close):
        course = f"; the two meet at {_step(steps[close[-1]], '')} and separate again."
    else:
        course = " and never meets it." if ended else " and has not met it so far."
    return Sentence("note", f"{where}{course}{why}")


def _step(step: float, letter: str) -> str:
    return f"{letter} (step {step:,.0f})" if letter else f"step {step:,.0f}"


def _bound(curves: Mapping[str, Curve], letters: Sequence[str] = ()) -> Sentence | None:
    steps, ce, pce = both(curves, "anatomy/ce", "anatomy/pce")
    if not len(steps):
        return None
    fails = np.flatnonzero(pce > ce)
    if not len(fails):
        return Sentence("note", f"The bound CE ≥ PCE holds at every measured point ({len(steps)}).")
    at, lam = curves.get("anatomy/lambda", (np.empty(0), np.empty(0)))
    there = lam[np.isin(at, steps[fails]) & np.isfinite(lam)]
    if len(there) and there.min() < SMALL_LAMBDA:
        why = f"λ falls to {raised(f'{there.min():.1g}')} there, and terms in 1/λ amplify the noise of the probe"
    else:
        why = "λ is measured at the class vectors of that step, but the bound assumes it for all class vectors"
    return Sentence(
        "warning",
        f"The bound CE ≥ PCE fails at {len(fails)} of {counted(len(steps), 'point')}, "
        f"{_where(steps, pce > ce, letters)}. Possible reason: {why}.",
    )


def _where(steps: np.ndarray, fails: np.ndarray, letters: Sequence[str]) -> str:
    """Where the bound fails; `letters`: of those ends of the longest stretch that were measured."""
    start, end = longest_stretch(fails)
    if not letters:
        return f"first at step {steps[np.argmax(fails)]:,.0f}"
    longest = "" if fails.sum() == end - start + 1 else "longest "
    if start == 0:
        return f"{longest}up to {_step(steps[end], letters[0])}"
    if len(letters) == 1:
        return f"{longest}from {_step(steps[start], letters[0])} on"
    steps_there = f"step {steps[start]:,.0f}" if start == end else f"steps {steps[start]:,.0f} to {steps[end]:,.0f}"
    return f"{longest}from {letters[0]} to {letters[1]} ({steps_there})"


def _parts(curves: Mapping[str, Curve], seen: str = "") -> Sentence | None:
    for method, title in PARTS_OF:
        moved = {part: _moved(curves.get(f"anatomy/{method}/{part}")) for part in ("tightness", "contrastive")}
        tight, apart = moved["tightness"], moved["contrastive"]
        if tight is None or apart is None:
            continue
        name, other = ("tightness", "contrastive")
        if abs(apart[1] - apart[0]) > abs(tight[1] - tight[0]):
            name, other, tight, apart = other, name, apart, tight
        title = f"{title}* (at {seen})" if seen and method == "ce" else title
        before, after, other_before, other_after = (raised(significant(value)) for value in (*tight, *apart))
        return Sentence(
            "note",
            f"In {title}, the {name} part changes most: from {before} to {after} nats "
            f"({other} part from {other_before} to {other_after}).",
        )
    return None


def _information(curves: Mapping[str, Curve]) -> Sentence | None:
    steps, estimate, entropy = both(curves, "anatomy/information/generative", "anatomy/entropy/labels")
    over = np.flatnonzero(estimate > entropy)
    if not len(over):
        return None
    return Sentence(
        "warning",
        f"The estimate H(Z) − H(Z|Y) exceeds H(Y) = {significant(entropy[-1])} nats at {len(over)} of "
        f"{counted(len(steps), 'point')}: mutual information cannot exceed H(Y), so the estimate is wrong there.",
    )


def _best_epoch(scores: list[tuple[int, float]], ended: bool) -> Sentence | None:
    known = [(epoch, score) for epoch, score in scores if np.isfinite(score)]
    if len(known) < 2:
        return None
    best_epoch, best = max(known, key=lambda pair: (pair[1], -pair[0]))
    last_epoch, last = known[-1]
    before = known[0][1] if known[0][0] == 0 else None  # of the network as it was before training
    if before is not None and best_epoch == 0:
        return _never_above_untrained(before, last_epoch, last)
    if best_epoch == last_epoch and not ended:
        return Sentence("note", f"MAP@R still rises ({percentage(best)} at epoch {last_epoch}).")
    if best_epoch == last_epoch:
        return Sentence("note", f"MAP@R still rises at the last epoch ({percentage(best)}): more epochs may help.")
    if best - last <= FLAT:
        return Sentence("note", f"MAP@R has been flat since epoch {best_epoch} ({percentage(best)}).")
    fallen = before is not None and last < before
    below = f", below the {percentage(before)} before training" if before is not None and fallen else ""
    return Sentence(
        "warning" if fallen or best - last > 10 * FLAT else "note",
        f"MAP@R is best at epoch {best_epoch} ({percentage(best)}) and {100 * (best - last):.1f} points lower at epoch "
        f"{last_epoch}{below}.",
    )


def _never_above_untrained(before: float, epoch: int, last: float) -> Sentence:
    if percentage(before) == percentage(1.0):
        return Sentence(
            "warning" if last < before else "note",
            f"MAP@R was {percentage(before)} before training (epoch 0): this test set cannot show that training helps.",
        )
    return Sentence(
        "warning",
        f"Training has not raised MAP@R: it was {percentage(before)} before training (epoch 0) and is "
        f"{percentage(last)} at epoch {epoch}. A lower learning rate of the backbone, pretrained weights or another "
        "loss may help.",
    )


def _moved(curve: Curve | None) -> tuple[float, float] | None:
    """First and last number of a curve; None with fewer than two."""
    if curve is None:
        return None
    numbers = curve[1][np.isfinite(curve[1])]
    return (float(numbers[0]), float(numbers[-1])) if len(numbers) > 1 else None
