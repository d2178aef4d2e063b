"""Which images train and which are searched: class-disjoint halves, the official split, or at random."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from workbench.datasets.image_set import ImageSet, of_classes
from workbench.params import Params, param
from workbench.problem import Problem
from workbench.registry import register


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Rows of the decoded ImageSet, sorted; the two sets share no row."""

    train: np.ndarray  # [a] int64
    test: np.ndarray  # [b] int64
    classes_disjoint: bool
    note: str = ""
    is_query: np.ndarray | None = None  # [b] bool: which test rows search the others; None: each searches all others
    validation: np.ndarray | None = None  # [v] int64: of neither set; the best epoch is chosen on it


VALIDATION = "validation"
TESTED = ("test", "query", "gallery")
OWN_HALVES = "the data set's own training and test images"

# A user's word for a half -> "train", "test", "query", "gallery", or VALIDATION: the test set if there is no other.
# With the words that the library `datasets` takes for splits.
WORDS = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("test", "testing", "eval", "evaluation"), "test"),
    **dict.fromkeys(("query", "queries"), "query"),
    "gallery": "gallery",
    **dict.fromkeys(("val", "valid", "validation", "dev"), VALIDATION),
}


def official_halves(words: Iterable[str]) -> list[str]:
    """Each word as in ImageSet: "" for one that is not in WORDS; validation is the test set if there is no other."""
    halves = [WORDS.get(word.lower(), "") for word in words]
    if {"test", "query", "gallery"} & set(halves):
        return halves
    return ["test" if half == VALIDATION else half for half in halves]


class ClassesParams(Params):
    """Parameters of the split into training classes and unseen classes."""

    train_fraction: float = param(
        0.5, gt=0, lt=1, label="Training fraction", help="Fraction of the classes in the training set."
    )
    shuffle: bool = param(
        False, label="Shuffle classes", help="Draw the classes by the seed instead of taking the first."
    )
    validation: float = param(
        0.0, ge=0, le=0.5, label="Share held out",
        help="Share of the training classes on which the best epoch is chosen; at 0 it is chosen on the test set.",
    )  # fmt: skip


class OfficialParams(Params):
    """Parameters of the split that the data set gives."""

    validation: bool = param(
        False, label="Choose on validation",
        help="Choose the best epoch on the data set's own validation images. Otherwise it is chosen on the test set, "
        "and the validation images are in neither set.",
    )  # fmt: skip


class MLRCParams(Params):
    """Parameters of the split of the training classes into folds."""

    folds: int = param(4, ge=2, le=20, help="Parts of the training classes; each is held out once.")
    fold: int = param(0, ge=0, le=20, help="The part held out for choosing the best epoch; 0 runs all, one by one.")


class RandomParams(Params):
    """Parameters of the random split of each class's images."""

    train_fraction: float = param(
        0.5, gt=0, lt=1, label="Training fraction", help="Fraction of each class's images in the training set."
    )
    validation: float = param(
        0.0, ge=0, le=0.5, label="Share held out",
        help="Share of each class's training images on which the best epoch is chosen; at 0 it is chosen on the test "
        "set.",
    )  # fmt: skip


@register(
    "split", "classes", title="Unseen classes", params=ClassesParams, classes_disjoint=True,
    source="Conventional protocol of CUB, Cars and SOP: first half of the classes trains (2016)",
)  # fmt: skip
def classes(params: ClassesParams, image_set: ImageSet, seed: int) -> Split:
    """Some of the classes train, the others are searched: the two sets share no class."""
    present = np.unique(image_set.labels)
    order = np.random.default_rng(seed).permutation(present) if params.shuffle else present
    first = round(len(order) * params.train_fraction)
    if first < 1 or first >= len(order):
        raise Problem(
            f"The data set has {len(order)} {'class' if len(order) == 1 else 'classes'}: with a training fraction "
            f"of {params.train_fraction:g}, {first} would train and {len(order) - first} be searched.",
            kept="Nothing was started.",
            todo="Use a data set of two classes or more, or another fraction.",
        )
    held_out = max(1, round(first * params.validation)) if params.validation else 0
    if held_out == first:
        raise Problem(
            f"Holding out a share of {params.validation:g} of {first} training classes leaves none to train.",
            kept="Nothing was started.",
            todo="Hold out a smaller share.",
        )
    note = f"{first - held_out} of the classes train, {len(order) - first} are searched"
    trains = np.isin(image_set.labels, order[:first])
    halves = Split(np.flatnonzero(trains), np.flatnonzero(~trains), True)
    return _with_validation(image_set, halves, order[first - held_out : first], note)


@register(
    "split", "mlrc", title="MLRC folds", params=MLRCParams, classes_disjoint=True, folds=True,
    source="Musgrave et al. 2020 (A metric learning reality check), Section 4; CCP, supplement Section 2",
)  # fmt: skip
def mlrc(params: MLRCParams, image_set: ImageSet, seed: int) -> Split:
    """The training classes in class-disjoint folds: one chooses the best epoch, the others train.

    Training classes are those of the data set's own split if its halves share no class (SOP and In-shop; their test
    images are then searched), else the first half of all classes (CUB, Cars).
    """
    halves = _class_disjoint_halves(image_set)
    trained = np.unique(image_set.labels[halves.train])
    if not 1 <= params.fold <= params.folds:
        raise Problem(
            f"There is no fold {params.fold}: there are {params.folds}, from 1 on.",
            kept="Nothing was started.",
            todo="Choose one of them.",
        )
    if len(trained) < params.folds:
        raise Problem(
            f"The data set has {len(trained)} training classes, too few for {params.folds} folds.",
            kept="Nothing was started.",
            todo="Choose fewer folds.",
        )
    held_out = np.array_split(trained, params.folds)[params.fold - 1]
    note = f"fold {params.fold}: {len(trained) - len(held_out)} classes train, {halves.note}"
    return _with_validation(image_set, halves, held_out, note)


def _class_disjoint_halves(image_set: ImageSet) -> Split:
    """The published split if they share no class, else the first and the second half of the classes."""
    if image_set.official is not None and "train" in image_set.official:
        halves, labels = np.array(image_set.official), image_set.labels
        # Looked at first: halves that share classes may be refused, and are not used here.
        if not np.isin(labels[np.isin(halves, TESTED)], labels[halves == "train"]).any():
            published = official(OfficialParams(), image_set, 0)
            searched = len(np.unique(labels[published.test]))
            return replace(published, note=published.note.replace(OWN_HALVES, f"{searched:,} are searched"))
    present = np.unique(image_set.labels)
    trains = np.isin(image_set.labels, present[: len(present) // 2])
    note = f"{len(present) - len(present) // 2} are searched"
    return Split(np.flatnonzero(trains), np.flatnonzero(~trains), True, note)


def _with_validation(image_set: ImageSet, halves: Split, held_out: np.ndarray, note: str) -> Split:
    """These halves, with the training images of the held-out classes (if any) for choosing the best epoch."""
    kept = np.isin(image_set.labels[halves.train], held_out)
    validation = halves.train[kept]
    if len(held_out):
        note += f"; the best epoch is chosen on {len(held_out)} other{'s' if len(held_out) > 1 else ''}"
        if np.bincount(image_set.labels[validation]).max() < 2:
            raise Problem(
                "No class that is held out has two images, so no epoch can be chosen on them.",
                kept="Nothing was started.",
                todo="Hold out more classes.",
            )
    train = halves.train[~kept]
    validated = validation if len(held_out) else None
    return _checked(image_set, Split(train, halves.test, True, note, halves.is_query, validated))


@register(
    "split", "official", title="Official", params=OfficialParams,
    source="As published with the data set (train / test lists)",
)  # fmt: skip
def official(params: OfficialParams, image_set: ImageSet, seed: int) -> Split:
    """The data set's own training and test images, and its validation images if requested."""
    if image_set.official is None:
        raise Problem(
            "The data set has no official split.",
            kept="Nothing was started.",
            todo="Choose unseen classes or random.",
            field="split.name",
        )
    halves = np.array(image_set.official)
    train, test = np.flatnonzero(halves == "train"), np.flatnonzero(np.isin(halves, TESTED))
    disjoint = not np.isin(image_set.labels[test], image_set.labels[train]).any()
    is_query, note = _queries(image_set, halves[test], test)
    validation = np.flatnonzero(halves == VALIDATION) if params.validation else None
    if validation is not None:
        _check_validation(image_set, validation)
        note += f"; the best epoch is chosen on {len(validation):,} validation images"
    return _checked(image_set, Split(train, test, disjoint, note, is_query, validation))


def _check_validation(image_set: ImageSet, rows: np.ndarray) -> None:
    """Raises Problem where the best epoch cannot be chosen on these images of the set."""
    if not len(rows):
        said, todo = "The data set has no validation images.", "Choose the best epoch on the test set."
    elif np.bincount(image_set.labels[rows]).max() < 2:
        said = "No class has two of the validation images, so no epoch can be chosen on them."
        todo = "Choose the best epoch on the test set."
    else:
        return
    raise Problem(said, kept="Nothing was started.", todo=todo, field="split.validation")


def _queries(image_set: ImageSet, halves: np.ndarray, test: np.ndarray) -> tuple[np.ndarray | None, str]:
    """Which test rows are queries, and a remark on them. Raises Problem for queries without a gallery."""
    is_query = halves == "query"
    if not is_query.any() and not (halves == "gallery").any():
        return None, OWN_HALVES
    for rows, word, other in ((is_query, "queries", "gallery"), (~is_query, "a gallery", "queries")):
        if rows.all():
            raise Problem(
                f"The data set has {word} but no {other}.",
                kept="Nothing was started.",
                todo="Correct the list, or choose another split.",
            )
    alone = np.setdiff1d(image_set.labels[test[is_query]], image_set.labels[test[~is_query]])
    note = f"{is_query.sum():,} queries search a gallery of {(~is_query).sum():,}"
    return is_query, note + (f"; {_classes_are(len(alone))} not in the gallery" if len(alone) else "")


@register("split", "random", title="Random images", params=RandomParams, source="Workbench 2026, stratified by class")
def random(params: RandomParams, image_set: ImageSet, seed: int) -> Split:
    """A part of each class's images trains, the rest is searched: all classes are in both sets."""
    rng = np.random.default_rng(seed)
    half = np.zeros(len(image_set.labels), np.int8)  # 0: test, 1: train, 2: held out of the training set
    for rows in rows_by_class(image_set.labels):
        count = min(max(1, round(len(rows) * params.train_fraction)), max(1, len(rows) - 1))
        kept = max(1, count - round(count * params.validation))
        drawn = rng.permutation(rows)
        half[drawn[:kept]], half[drawn[kept:count]] = 1, 2
    held_out, note = np.flatnonzero(half == 2) if params.validation else None, "all classes are in both sets"
    if held_out is not None:
        if not len(held_out) or np.bincount(image_set.labels[held_out]).max() < 2:
            raise Problem(
                f"A share of {params.validation:g} holds out two training images of no class, so no epoch can be "
                "chosen on them.",
                kept="Nothing was started.",
                todo="Hold out a larger share, or add images.",
                field="split.validation",
            )
        note += f"; the best epoch is chosen on {len(held_out):,} training images that are held out"
    return _checked(image_set, Split(np.flatnonzero(half == 1), np.flatnonzero(half == 0), False, note, None, held_out))


def notes(image_set: ImageSet, split: Split) -> list[tuple[str, str]]:
    """(subject, remark) on a set and its halves; nothing is left out because of them.

    Images may be in neither set. Halves may share only some classes: those in the training set only are never
    searched.
    """
    lines = image_set.notes + _in_neither(image_set, split)
    if split.classes_disjoint:
        return lines
    train, test = (np.unique(image_set.labels[rows]) for rows in (split.train, split.test))
    for classes, word in ((np.setdiff1d(train, test), "training"), (np.setdiff1d(test, train), "test")):
        lines += of_classes(
            classes, image_set.class_names, *(f"{has} images in the {word} set only" for has in ("has", "have"))
        )
    return lines


def _in_neither(image_set: ImageSet, split: Split) -> list[tuple[str, str]]:
    """(subject, remark) on the images that neither train nor are searched, nor choose the best epoch."""
    unused = np.ones(len(image_set.labels), bool)
    for rows in (split.train, split.test, split.validation):
        if rows is not None:
            unused[rows] = False
    if image_set.official is None or not unused.any():
        return []
    validation = int((np.array(image_set.official)[unused] == VALIDATION).sum())
    others, lines = int(unused.sum()) - validation, list[tuple[str, str]]()
    if validation:
        subject, verb = _counted(validation, "validation image")
        lines.append((subject, f"{verb} in neither set: Choose on validation (split.validation) uses them"))
    if others:
        subject, verb = _counted(others, "image")
        lines.append((subject, f"{verb} in neither set"))
    return lines


def rows_by_class(labels: np.ndarray) -> list[np.ndarray]:
    """For each class that occurs, in order, its rows [m] int64, ascending."""
    _, counts = np.unique(labels, return_counts=True)  # before the order: each takes memory for millions of rows
    return np.split(np.argsort(labels, kind="stable"), np.cumsum(counts)[:-1])


def _checked(image_set: ImageSet, split: Split) -> Split:
    for rows, word in ((split.train, "training"), (split.test, "test")):
        if not len(rows):
            raise Problem(
                f"The {word} set is empty.{image_set.left_out_said}",
                kept="Nothing was started.",
                todo=f"{'Correct what was left out, or choose' if image_set.problems else 'Choose'} another split.",
            )
    searched = image_set.labels[split.test]
    alone = np.bincount(searched).max() < 2
    if split.is_query is not None:
        alone = not np.isin(searched[split.is_query], searched[~split.is_query]).any()
    if alone:
        raise Problem(
            "No class of the test set has two images, so nothing can be retrieved.",
            kept="Nothing was started.",
            todo="Choose another split, or add images.",
        )
    return split


def _counted(count: int, noun: str) -> tuple[str, str]:
    return (f"1 {noun}", "is") if count == 1 else (f"{count:,} {noun}s", "are")


def _classes_are(count: int) -> str:
    return "1 class is" if count == 1 else f"{count:,} classes are"
