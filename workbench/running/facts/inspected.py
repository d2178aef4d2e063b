"""What was seen of a data set before training, as lines of text and as plain data."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.datasets.inspection import Copy, Inspection
    from workbench.datasets.near_duplicates import Member, NearDuplicates


def lines_of(inspection: "Inspection", near: "NearDuplicates | None", most: int) -> Iterator[str]:
    """What was seen, in lines; at most `most` of each list."""
    yield f"Images: {inspection.images:,}, classes: {len(inspection.class_names):,}"
    for half, counts in zip(inspection.halves, inspection.counts.T, strict=True):
        yield f"In {half}: {counts.sum():,}, classes: {(counts > 0).sum():,}"
    yield from _listed("Left out", inspection.left_out, [f"{what}: {why}" for what, why in inspection.problems], most)
    for title, remarks in (
        ("Differs from the published counts", inspection.unlike_published), ("Notes", inspection.notes),
    ):  # fmt: skip
        if remarks:
            yield from _listed(title, len(remarks), [f"{what}: {remark}" for what, remark in remarks], most)
    yield from _copies(inspection, most)
    if near is not None:
        yield from _near_duplicates(near, most)


def _copies(inspection: "Inspection", most: int) -> Iterator[str]:
    groups = [", ".join(_placed(copy.path, copy.half) for copy in group) for group in inspection.copies]
    yield from _listed("Groups of images with the same pixels", len(groups), groups, most)
    if groups:
        yield f"Test images with a copy in the training set: {inspection.shared:,}"
        yield f"Groups whose images have different labels: {inspection.of_two_classes:,}"


def _near_duplicates(near: "NearDuplicates", most: int) -> Iterator[str]:
    pairs = [
        f"{pair.similarity:.3f}  {_placed(pair.first.path, pair.first.half)}, "
        f"{_placed(pair.second.path, pair.second.half)}"
        for pair in near.pairs
    ]
    yield from _listed("Pairs of near-duplicates", near.total, pairs, most)
    if near.total > len(pairs):
        yield f"Only the {len(pairs):,} most similar are known by name."
    if pairs:
        yield f"Test images with a near-duplicate in the training set: {near.shared:,}"
        yield f"Pairs of two classes: {near.other_class:,}"


def _listed(title: str, count: int, lines: list[str], most: int) -> Iterator[str]:
    yield f"{title}: {count:,}"
    yield from (f"  {line}" for line in lines[:most])
    if len(lines) > most:
        yield f"  ... and {len(lines) - most:,} more; --most and --json print them"


def _placed(path: str, half: str) -> str:
    return f"{path} ({half})" if half else path


def plain(inspection: "Inspection", near: "NearDuplicates | None") -> dict[str, Any]:
    """All that was seen, as plain data."""
    counts = dict(zip(inspection.class_names, inspection.counts.tolist(), strict=True))
    named = {
        "images": inspection.images,
        "halves": inspection.halves,
        "classes": {name: dict(zip(inspection.halves, row, strict=True)) for name, row in counts.items()},
        "left_out": inspection.left_out,
        "problems": inspection.problems,
        "unlike_published": inspection.unlike_published,
        "notes": inspection.notes,
        "copies": [[_copy(copy) for copy in group] for group in inspection.copies],
        "copies_in_both_halves": inspection.shared,
        "copies_of_two_classes": inspection.of_two_classes,
    }
    if near is None:
        return named
    pairs = [
        {"similarity": pair.similarity, "images": [_member(pair.first), _member(pair.second)]} for pair in near.pairs
    ]
    totals = {"total": near.total, "in_both_halves": near.shared, "of_two_classes": near.other_class}
    return named | {"near_duplicates": totals | {"pairs": pairs}}


def _copy(copy: "Copy") -> dict[str, str]:
    return {"path": copy.path, "class": copy.class_name, "half": copy.half}


def _member(member: "Member") -> dict[str, str]:
    return {"path": member.path, "class": member.class_name, "half": member.half}
