"""The network of a run on other images, as a run of its own: nothing is trained, every image queries all others."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench import __version__, files, registry
from workbench.config import RunConfig
from workbench.datasets.image_set import ImageSet
from workbench.datasets.images.loader import bits_of, display_name, on_disk
from workbench.datasets.own.csv_list import columns_in, columns_named, columns_of_images
from workbench.datasets.own.folder import SET_LEVELS
from workbench.exchange.imported.importing import check_writable, config_of, data_facts, readable, store_searched
from workbench.files import typed_path
from workbench.jobs.threads import in_threads
from workbench.numerals import numbers_in_words
from workbench.problem import Problem, UnknownName
from workbench.progress import Progress, quiet
from workbench.running.search.image_search import BEST, LAST, Epoch, check_network, kept_network, tested_network
from workbench.workspace import Workspace
from workbench.workspace.rows import Evaluation
from workbench.workspace.times import now

if TYPE_CHECKING:
    from workbench.running.trained_network import Trained

AT_ONCE = 32  # images that are embedded together
LISTS = (".csv", ".tsv", ".txt")  # endings of lists of images; anything else is a folder or an archive
KEPT = "Nothing was tested."
NAMED_BY_A_LIST = "test a CSV list that names the class of each image instead"  # a test has no dataset.levels to set
NAMED = 3  # classes that a remark names
COLUMNS = ("path", "label", "split")  # fields of a list that name a column each
WHOLE_TESTED = "The run was trained on boxes. These images have no columns of boxes, so whole images were tested."


@dataclass(frozen=True, slots=True)
class Tested:
    """The run that was made."""

    run_id: int
    remarks: list[str]  # sentences on what limits the result


def evaluate_images(
    workspace: Workspace, run_id: int, images: Path, name: str = "", epoch: Epoch = BEST, device: str = "auto",
    progress: Progress = quiet,
) -> Tested:  # fmt: skip
    """Embed other images with the network of a run, and make a run of the embeddings with the run's metrics.

    Images are prepared and embedded as the run's own test set, and compared by its distance.

    Args:
        run_id: of the run that trained the network, which must have a checkpoint; or of a test of it.
        images: a folder (or an archive) with a folder for each class, or a CSV list with the columns path and label.
        name: of the new run; by default the names of the run and of the images.
        epoch: which network: best, last, or the number of an epoch. A test has one network alone, that it is of.
        device: as in a config: auto, cpu, cuda, cuda:1, mps.

    Raises:
        Problem: a run without a network, or without one of that epoch (see `image_search.search`); images that cannot
            be used; too few of them; a device that is not here; a workspace that cannot be written.
        Cancelled: by `progress`, which leaves no run behind.
    """
    with _refusals_of_a_test():
        return _tested(workspace, run_id, images, name, epoch, device, progress)


def evaluate_all(
    workspace: Workspace, run_ids: Sequence[int], images: Path, name: str = "", epoch: Epoch = BEST,
    device: str = "auto", progress: Progress = quiet, made: Callable[[Tested], object] = lambda tested: None,
) -> list[Tested]:  # fmt: skip
    """Test the networks of several runs on the same images, one after another, as `evaluate_images` tests one.

    Tests that are done stay, whatever becomes of the others.

    Args:
        run_ids: of runs, or of tests; a number that is there twice counts once.
        images, epoch, device: as in `evaluate_images`.
        name: of each new run, before the name of its run; by default the names of the run and of the images.
        progress: its counts are over all runs.
        made: called after each run that was made.

    Raises:
        Problem: as `evaluate_images`; a run without a network is refused before any is tested.
        Cancelled: by `progress`, which leaves the tests that are done.
    """
    numbers, done = list(dict.fromkeys(run_ids)), list[Tested]()
    with _refusals_of_a_test():
        for run_id in numbers:
            check_network(workspace, run_id)
    for place, run_id in enumerate(numbers):
        own_name = f"{name}: {workspace.run(run_id).name}" if name and len(numbers) > 1 else name
        counted = _counted_over_all(progress, place, len(numbers))
        try:
            with _refusals_of_a_test(_kept(done)):
                done.append(_tested(workspace, run_id, images, own_name, epoch, device, counted))
        except Problem as problem:
            if len(numbers) == 1:
                raise
            kind = UnknownName if isinstance(problem, UnknownName) else Problem
            raise kind(f"Run {run_id}: {problem.what}", kept=problem.kept, todo=problem.todo) from problem
        made(done[-1])
    return done


def _counted_over_all(progress: Progress, place: int, count: int) -> Progress:
    """`progress` as that of one run among several, from 0; unchanged for a single one."""
    if count == 1:
        return progress

    def of_one(text: str, done: int, total: int) -> None:
        progress(f"Test {place + 1} of {count}: {text}", place * total + done, count * total)

    return of_one


def _kept(done: Sequence[Tested]) -> str:
    if not done:
        return KEPT
    numbers = ", ".join(str(tested.run_id) for tested in done)
    return f"What was tested before stays: {'run' if len(done) == 1 else 'runs'} {numbers}."


@contextmanager
def _refusals_of_a_test(kept: str = KEPT) -> Iterator[None]:
    """Let each Problem say that nothing was tested, or what stays, also one of a part that imports or trains, too."""
    try:
        yield
    except Problem as problem:
        kind = UnknownName if isinstance(problem, UnknownName) else Problem
        raise kind(problem.what, kept=kept, todo=problem.todo) from problem


def _tested(
    workspace: Workspace, run_id: int, images: Path, name: str, epoch: Epoch, device: str, progress: Progress
) -> Tested:
    """As `evaluate_images`."""
    check_writable(workspace)
    progress("Loading the network", 0, 0)
    source_of_test = workspace.run(run_id).tested
    if source_of_test is not None and epoch == LAST:  # of the test, or of the run that trained?
        raise UnknownName(
            f"Run {run_id} is a test of one network of run {source_of_test}: it has no last one.",
            todo=f"Test run {source_of_test} for its last network.",
        )
    asked: object = epoch
    if source_of_test is not None:  # which network that test was asked for
        asked = workspace.run(run_id).environment["imported"].get("asked", epoch if isinstance(epoch, int) else None)
    network, evaluation = kept_network(workspace, run_id, epoch)
    network.move_to(device)
    digest = files.digest(network.checkpoint)  # at once: a run that still trains replaces the file
    tested = tested_network(RunConfig.recorded(workspace.run(run_id).config))
    source = workspace.run(run_id if tested is None else tested.run)  # that trained the network
    config, data = RunConfig.recorded(source.config), workspace.dataset(source.dataset_id or network.dataset.id)
    images = typed_path(images).absolute()
    listed = _listed(images, data.channels, data.image_size, config, progress)
    kept, cache = readable(workspace, listed, progress)
    vectors = _embedded(network, kept, progress)
    by = {"network": source.id, "epoch": network.epoch, "checkpoint": digest}
    made = _config(name or f"{source.name} on {display_name(images.stem)}", config, evaluation, images, by)
    facts: dict[str, object] = {
        "workbench": __version__,
        "imported": {
            "embeddings": f"run {source.id} ({source.name}), epoch {network.epoch}", "labels": str(images),
            "images": str(images), "dimensions": vectors.shape[1], "at": now(),
            "network": source.id, "epoch": network.epoch, **({} if asked is None else {"asked": asked}),
        },
        "data": data_facts(kept, f"embedded by run {source.id}, epoch {network.epoch}: every image queries all others"),
    }  # fmt: skip
    made_id = store_searched(workspace, made, kept, cache, vectors, facts, progress, network.epoch)
    remarks = [*_repeats(workspace, made_id, digest), *_remarks(kept, data.class_names, source.id)]
    if config.dataset.params.get("box") and kept.root is not None:
        remarks.append(WHOLE_TESTED)
    if epoch == BEST and source.best and source.best_epoch != network.epoch:
        untrained = ", before training" if source.best_epoch == 0 else ""
        remarks.append(
            f"The best evaluation of run {source.id} is that of epoch {source.best_epoch}{untrained}, whose network is "
            f"not kept: the network of epoch {network.epoch} was tested."
        )
    return Tested(made_id, remarks)


def is_list(images: Path) -> bool:
    """Whether a path is taken for a list of images, by its name; else it is a folder or an archive."""
    return images.suffix.lower() in LISTS


def _listed(images: Path, channels: int, size: int, config: RunConfig, progress: Progress) -> ImageSet:
    """The images with their classes, read as those of the run were.

    The columns of a list, and where its paths start, may also be those of the run's list; a class is named by as many
    folders as in the run's folder, if the images lie in so many.
    """
    registry.discover("workbench.datasets")
    name = "csv" if is_list(images) else "folder"
    entry = registry.entry("dataset", name)
    alike: dict[str, Any] = {
        "colour": "grey" if channels == 1 else "colour", "image_size": size, "bits": bits_of(config.dataset.params)
    }  # fmt: skip
    own = config.dataset.params if config.dataset.name == name else {}

    def build(fields: Mapping[str, Any]) -> ImageSet:
        listed: ImageSet = entry.build(entry.params(**alike, **fields), progress=progress)
        return listed

    *others, last = _ways_to_read(images, own) if name == "csv" else _depths(images, own)
    for fields in others:
        try:
            return build(fields)
        except Problem:
            continue
    return build(last)


def _ways_to_read(images: Path, own: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The columns of a list and the folder of its images, the likeliest first; `own` are those of the run's list.

    The columns of the run's list are those of any list that has them all: another column is other classes. So are its
    boxes, without which whole images are tested (see WHOLE_TESTED).
    """
    named, there = {name: own[name] for name in COLUMNS if own.get(name)}, columns_named(images)
    if not named or not all(str(column).strip().lower() in there for column in named.values()):
        named = columns_of_images(images) or {}
    wider = [{"levels": own["levels"]}, {}] if own.get("levels") else [{}]
    boxes = {name: own[name] for name in ("box", "box_numbers") if own.get("box") and name in own}
    if not {column.lower() for column in columns_in(str(own.get("box", "")), there)} <= set(there):
        boxes = {}
    folders = ["", *filter(None, [own.get("folder")])]
    return [
        {"file": str(images), "folder": folder, **named, **boxes, **above} for folder, above in product(folders, wider)
    ]


def _depths(images: Path, own: Mapping[str, Any]) -> list[dict[str, Any]]:
    """How many folders name a class: as many as in the run's data, else one."""
    return [{"folder": str(images), "levels": count} for count in dict.fromkeys((own.get("levels", 1), 1))]


def _embedded(network: "Trained", kept: ImageSet, progress: Progress) -> np.ndarray:
    """Embeddings [n, d] float32 of the images; threads prepare some batches ahead of the network."""
    root, count = kept.root, len(kept.paths)

    def prepare(start: int) -> np.ndarray:
        rows = range(start, min(start + AT_ONCE, count))
        if root is None:  # parts of files
            return network.inputs([np.asarray(kept.read(row)) for row in rows])
        return network.inputs([Path(on_disk(root, kept.paths[row])) for row in rows])

    vectors: list[np.ndarray] = []
    with closing(in_threads(prepare, range(0, count, AT_ONCE))) as batches:
        for batch in batches:
            progress("Embedding the images", len(vectors) * AT_ONCE, count)
            vectors.append(network.embed_inputs(batch))
    embedded = np.concatenate(vectors)
    if not np.isfinite(embedded).all():
        raise Problem("The network gives embeddings that are not finite.", todo="Choose another run.")
    return embedded


def _config(name: str, source: RunConfig, evaluation: Evaluation, images: Path, by: Mapping[str, object]) -> RunConfig:
    """A config of imported embeddings that names the network, and has the run's distance and metrics."""
    made = config_of(name, Path(f"run {by['network']}, epoch {by['epoch']}"), None, images, "cosine", None)
    values = made.model_dump()
    values["dataset"].update(by)
    values["training"]["epochs"] = max(1, int(str(by["epoch"])))  # those after which the network was tested
    values["evaluation"].update(
        distance=evaluation.distance, recall_at=source.evaluation.recall_at, neighbours=source.evaluation.neighbours
    )
    return RunConfig.model_validate(values)


def _repeats(workspace: Workspace, made_id: int, digest: str) -> list[str]:
    """A sentence on earlier tests of the network with that checkpoint on the images of the new run, or nothing."""
    made, same = workspace.run(made_id), list[int]()
    for run in workspace.runs():
        if run.id != made_id and run.images == made.images and run.tested == made.tested:
            network = tested_network(RunConfig.recorded(run.config))
            same += [run.id] if network is not None and network.digest == digest else []
    if not same:
        return []
    tests = f"run {same[0]} is a test" if len(same) == 1 else f"runs {numbers_in_words(sorted(same))} are tests"
    return [f"Run {made_id} repeats an earlier one: {tests} of the same network on the same images."]


def _remarks(kept: ImageSet, trained: Sequence[str], run_id: int) -> list[str]:
    """What was left out, and classes that the network may have been trained on."""
    known = sorted({*trained} & {*kept.class_names})
    named = ", ".join(known[:NAMED]) + (", ..." if known[NAMED:] else "")
    remarks = [kept.left_out_said.strip()] if kept.left_out else []
    remarks += [f"{subject} {said.replace(SET_LEVELS, NAMED_BY_A_LIST)}." for subject, said in kept.notes]
    halves = Counter(half for half in kept.official or () if half)
    if len(halves) > 1:
        counts = ", ".join(f"{half} {count:,}" for half, count in halves.items())
        remarks.append(f"These images come in a split ({counts}), which is ignored: each image queries all others.")
    if known:
        remarks.append(
            f"{len(known):,} of the {len(kept.class_names):,} classes have the name of a class of run {run_id}'s data "
            f"({named}): if it was trained on them, this is no test of unseen classes."
        )
    return remarks
