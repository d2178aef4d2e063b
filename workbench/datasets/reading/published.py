"""Data sets with lists of their images: every line is checked, and counts are compared with the published ones."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import wraps
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import Any, Literal

from workbench.datasets.image_set import ImageSet, numbered
from workbench.datasets.images.image_files import ImageFiles
from workbench.datasets.images.scan import Problems, missing
from workbench.datasets.reading.data_folder import archives_said
from workbench.files import unreadable
from workbench.params import Params, param
from workbench.problem import Problem
from workbench.progress import Progress

TELL_EVERY = 1000  # lines
NAMED = 5  # numbers that a remark names
MOST_DIGITS = 18  # of a number in a list
AGAIN = "Get the file again."
HALVES = {"train": "training images", "test": "test images", "query": "queries", "gallery": "images in the gallery"}
Build = Callable[..., ImageSet]


class PublishedParams(Params):
    """Parameters of every published set of photographs."""

    folder: str = param(
        "", label="Folder or archive", path="place", help="As published; a zip or tar is unpacked once."
    )
    image_size: int = param(
        256, ge=8, le=1024, label="Image size", unit="px", help="Side of the decoded square; crops are taken from it."
    )
    fit: Literal["centre", "stretch"] = param(
        "centre", help="centre: the short side fits, the rest is cut off; stretch: all of the image is in the square."
    )


@dataclass(frozen=True, slots=True)
class Line:
    """One image of a list."""

    path: str  # relative, posix
    label: str  # the class
    half: str = ""  # "train", "test", "query", "gallery"; empty if the list has no halves
    source: str = ""  # "FILE, line N"


@dataclass(frozen=True, slots=True)
class Counts:
    """What was published: images and classes of the whole, and images of its halves where the lists name them."""

    classes: int
    images: int
    halves: tuple[tuple[str, int], ...] = ()  # ("train", images), ...


def published_at(page: str) -> Callable[[Build], Build]:
    """Decorates the function that reads a published set: its Problems say on which page the set is published."""

    def decorate(build: Build) -> Build:
        @wraps(build)
        def built(*arguments: Any, **named: Any) -> ImageSet:
            try:
                return build(*arguments, **named)
            except Problem as problem:
                todo = f"{problem.todo} Its authors publish the data set at {page}.".lstrip()
                raise Problem(problem.what, kept=problem.kept, todo=todo, field=problem.field) from problem

        return built

    return decorate


def lines_of(path: Path, columns: int | None, *, skip: int = 0) -> Iterator[tuple[int, list[str]]]:
    """(line number from 1, its words) of every line that is not empty, after the first `skip` ones.

    Args:
        columns: words that every line must have; None leaves that to the caller.

    Raises:
        Problem: no such file, not text, nothing in it, or another number of words; names file and line.
    """
    nothing = True

    def refused(why: str) -> Problem:
        return Problem(f"{path} is not a text file ({why}).", kept="Nothing was started.", todo=AGAIN)

    with unreadable.opened_text(path, AGAIN, "utf-8-sig") as file, unreadable.refusing(refused):
        for number, line in enumerate(unreadable.lines_of(file), start=1):
            words = line.split()
            if number <= skip or not words:
                continue
            nothing = False
            if columns is not None and len(words) != columns:
                raise wrong(path, number, f"{len(words)} columns instead of {columns}")
            yield number, words
    if nothing:
        raise Problem(f"{path} lists nothing.", kept="Nothing was started.", todo=AGAIN)


def whole_number(path: Path, number: int, word: str, what: str) -> int:
    """The word as a number of at least 0. Raises Problem naming file and line."""
    if not word.isascii() or not word.isdigit() or len(word) > MOST_DIGITS:
        raise wrong(path, number, f"the {what} {word[:40]!r} is not a whole number")
    return int(word)


def wrong(path: Path, number: int, what: str) -> Problem:
    """The Problem for a line that cannot be used."""
    return Problem(f"{path}, line {number}: {what}.", kept="Nothing was started.", todo=AGAIN)


def skipped_numbers(name: str, numbers: list[int]) -> Problems:
    """(list, remark) if class numbers have gaps; classes are renumbered, nothing is left out."""
    present = sorted(set(numbers))
    gaps = [range(number + 1, next_number) for number, next_number in pairwise(present)]
    missing = sum(gap.stop - gap.start for gap in gaps)  # a gap may be longer than `len` can say
    if not missing:
        return []
    listed = ", ".join(map(str, islice(chain.from_iterable(gaps), NAMED))) + (", ..." if missing > NAMED else "")
    many = f"{missing:,} {'number' if missing == 1 else 'numbers'}"
    return [(name, f"skips {many} between {present[0]} and {present[-1]} ({listed}): no class has them")]


def from_lines(
    name: str, root: Path, lines: list[Line], counts: Counts, params: PublishedParams, progress: Progress,
    remarks: Problems | None = None,
) -> ImageSet:  # fmt: skip
    """The set of the listed images that are on disk; others are in its `problems`, counts in `unlike_published`.

    Args:
        remarks: (subject, remark) on the lists.

    Raises:
        Problem: a repeated path, one outside the root, or no image at all.
    """
    problems: Problems = []
    kept: list[Line] = []
    seen: dict[str, str] = {}
    for done, line in enumerate(lines):
        if done % TELL_EVERY == 0:
            progress(f"Looking at {name}", done, len(lines))
        if line.path.startswith(("/", "\\")) or ".." in line.path.split("/"):
            raise Problem(f"{line.source}: {line.path} lies outside {root}.", kept="Nothing was started.", todo=AGAIN)
        if line.path in seen:
            raise Problem(
                f"{line.source}: {line.path} is already in {seen[line.path]}.", kept="Nothing was started.", todo=AGAIN
            )
        seen[line.path] = line.source
        if why := missing(root / line.path):
            problems.append((line.path, f"is in {line.source}, but {why}"))
        else:
            kept.append(line)
    if problems and not kept:
        path, reason = problems[0]
        many = (
            "The only image that its lists name is"
            if len(lines) == 1
            else f"All {len(lines):,} images of its lists are"
        )
        raise Problem(
            f"{many} missing in {root}: {path} {reason}.{archives_said(root)}",
            kept="Nothing was started.",
            todo="Get the images, put the lists beside them, or choose the folder that holds both.",
        )
    kept.sort(key=lambda line: line.path)
    labels, names = numbered([line.label for line in kept])
    paths = [line.path for line in kept]
    size = params.image_size

    return ImageSet(
        name=name,
        root=root,
        paths=paths,
        labels=labels,
        class_names=names,
        channels=3,
        image_size=size,
        read=ImageFiles(root, paths, 3, size, stretch=params.fit == "stretch"),
        content="" if params.fit == "centre" else params.fit,  # other pixels, another cache
        official=[line.half for line in kept] if kept and kept[0].half else None,
        problems=problems,
        remarks=remarks or [],
        unlike_published=count_differences(name, counts, len(names), len(paths), [line.half for line in kept]),
    )


def count_differences(name: str, counts: Counts, classes: int, images: int, official: Sequence[str] = ()) -> Problems:
    """(name, difference) for numbers that are not the published ones; of the halves where the whole is complete.

    Args:
        official: the half of each image, as in an image set.
    """
    numbers = [(counts.classes, classes, "classes"), (counts.images, images, "images")]
    if counts.images == images:
        sizes = Counter(official)
        numbers += [(stated, sizes[half], HALVES[half]) for half, stated in counts.halves]
    differences = []
    for stated, there, word in numbers:
        if stated != there:
            missing_word = "is missing" if stated - there == 1 else "are missing"
            less = f"{stated - there:,} {missing_word}" if there < stated else f"{there - stated:,} too many"
            differences.append((name, f"was published with {stated:,} {word} and has {there:,} here: {less}"))
    return differences
