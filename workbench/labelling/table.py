"""Suggestions as sentences and as CSV, which the window and the command line share."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from workbench.files.spreadsheet import csv_text
from workbench.labelling.nearest import Share
from workbench.labelling.request import Suggested, Suggestion
from workbench.names import visible
from workbench.numerals import counted, minus, percentage

COLUMNS = (
    "path", "label", "group", "similarity", "nearest class", "nearest", "second class", "second similarity", "place",
)  # fmt: skip
ORDERS = BY_PATH, GROUPS, TYPICAL = ("path", "groups", "typical")
TRAINED = (
    " The network was trained on these classes and separates them better than others: more images of unknown classes "
    "may be given a class."
)


def threshold_sentence(suggested: Suggested) -> str:
    """How far the suggestions can be trusted: measured with the labelled images."""
    limit = suggested.threshold
    said = (
        f"A class is suggested from similarity {minus(f'{limit.similarity:.4f}')} on, which "
        f"at most {percentage(limit.fpir)} of {limit.queries:,} labelled images reach when their own class is left out"
    )
    if limit.worst is not None:
        _, hits, count = limit.worst
        said += f" (most of {visible(suggested.worst_class)}: {hits:,} of {count:,})"
    if limit.named is not None:
        said += f". With their class {percentage(limit.named[0])} reach it ({_range(limit.named)})"
    if limit.right is not None:
        said += f"; {percentage(limit.right[0])} of these get the right class ({_range(limit.right)})"
    return f"{said}.{TRAINED if suggested.shares_classes else ''}"


def groups_sentence(suggested: Suggested) -> str:
    """How many images are given a class, and how the others are grouped."""
    images, named = len(suggested.images), sum(1 for image in suggested.images if image.label)
    sizes = Counter(image.group for image in suggested.images if image.group)
    said = f"{named:,} of {images:,} images are given one of {suggested.classes:,} classes, {images - named:,} none."
    if images == 1:
        return f"The only image is given {'one' if named else 'none'} of {suggested.classes:,} classes."
    if sizes:
        in_groups = sum(sizes.values())
        groups = counted(len(sizes), "group")
        said += f" Of these, {counted(in_groups, 'is', 'are')} in {groups} of images that are alike"
        if suggested.cut is not None:
            said += f" (agreement of such groups with classes of labelled images: {suggested.cut.agreement:.2f} of 1)"
        said += "."
    return said


def unread_sentence(suggested: Suggested) -> str:
    """How many files could not be read, with the first of them; empty if all could."""
    if not suggested.left_out:
        return ""
    path, reason = suggested.left_out[0]
    return f"{counted(len(suggested.left_out), 'file')} could not be read: {visible(path)} {reason}."


def in_order(suggested: Suggested, order: str) -> Suggested:
    """The same with its images in another order, one of ORDERS."""
    if order == BY_PATH:
        return suggested
    key = group_key if order == GROUPS else typical_key
    return replace(suggested, images=sorted(suggested.images, key=lambda image: key(image, image.label)))


def group_key(image: Suggestion, label: str) -> tuple[bool, str, int, int, float]:
    """Sorts images: those with a class first, the least sure of each at the end; then the groups, the largest first.

    Of each group the most typical image is first; images that are alone are at the end.

    Args:
        label: the class of the image; empty for none.
    """
    group = image.group or 1 << 40
    return not label, label, 0 if label else group, 0 if label else image.place, -image.similarity


def typical_key(image: Suggestion, label: str) -> tuple[bool, int, str, float]:
    """Sorts images: those without a class first, the most typical one at the top; then as `group_key`."""
    return bool(label), 0 if label else image.place or 1 << 40, label, -image.similarity


def as_csv(suggested: Suggested, names: Mapping[int, str], answers: Mapping[str, str] | None = None) -> str:
    """All suggestions as a CSV list, which a data set "CSV list" reads with the suggested classes as labels.

    Args:
        names: the path of each labelled image, by its sample id.
        answers: the class that the person gave an image, by its path; in place of the suggested one.
    """
    decided = answers or {}
    return csv_text(
        list(COLUMNS),
        [
            [
                image.path, decided.get(image.path, image.label), image.group or "", image.similarity,
                image.nearest_class, names.get(image.nearest, ""), image.second_class, image.second_similarity,
                image.place or "",
            ]
            for image in suggested.images
        ],
    )  # fmt: skip


def _range(share: Share) -> str:
    return f"95%: {percentage(share[1], 1)} to {percentage(share[2], 1)}"
