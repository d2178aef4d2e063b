"""Embeddings of a model trained elsewhere as a run: with a data set, one evaluation and stored neighbours."""

import contextlib
from collections.abc import Iterator, Mapping
from os.path import isdir
from pathlib import Path

import numpy as np

from workbench import __version__, events
from workbench.config import IMPORTED, KINDS, RunConfig
from workbench.datasets.cache.pixels import decoded
from workbench.datasets.image_set import ImageSet
from workbench.datasets.images.loader import display_name
from workbench.events import Ended, Evaluated, Scalar, Status
from workbench.exchange.imported import labelled_embeddings
from workbench.exchange.imported.named_arrays import KEPT
from workbench.exchange.source import IMAGE_SIZE
from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.workspace import Workspace
from workbench.workspace.folders.run_folders import RUNS
from workbench.workspace.paths import remove_folder
from workbench.workspace.recorder import Recorder
from workbench.workspace.tables.deletion import IMPORTED_IMAGES
from workbench.workspace.times import now

EPOCH = 1  # 0 is the untrained network


def import_embeddings(
    workspace: Workspace,
    embeddings: Path,
    labels: Path | None = None,
    images: Path | None = None,
    name: str = "",
    distance: str = "cosine",
    image_size: int = IMAGE_SIZE,
    progress: Progress = quiet,
) -> int:
    """Make a run of embeddings; returns its number. Every sample queries all others, as in a run's test set.

    Args:
        workspace: where the run is made; only when everything else is done.
        embeddings, labels, images, image_size: as in `labelled_embeddings.read`.
        name: of the run; by default the name of the file of embeddings.
        distance: "cosine" or "l2".
        progress: called at each stage; may raise Cancelled, which leaves no run behind.

    Raises:
        Problem: files that cannot be used (see `labelled_embeddings.read`), or a workspace that cannot be written.
    """
    check_writable(workspace)
    embeddings = embeddings.absolute()
    labels, images = (None if path is None else path.absolute() for path in (labels, images))
    of_folder = image_size if images is not None and isdir(images) else None  # Path.is_dir raises at long names
    config = config_of(name or display_name(embeddings.stem), embeddings, labels, images, distance, of_folder)
    table = labelled_embeddings.read(embeddings, labels, images, image_size, progress)
    kept, cache = readable(workspace, table.images, progress)
    vectors = table.vectors[labelled_embeddings.rows_of(kept, table)]
    facts = _environment(kept, embeddings, labels, images, vectors.shape[1])
    return store_searched(workspace, config, kept, cache, vectors, facts, progress)


def store_searched(
    workspace: Workspace, config: RunConfig, kept: ImageSet, cache: Path | None, vectors: np.ndarray,
    facts: dict[str, object], progress: Progress, epoch: int = EPOCH,
) -> int:  # fmt: skip
    """Make a run of embeddings [n, d] of the images, each of which queries all others; returns its number.

    Args:
        config: of `config_of`; says how embeddings are compared and what is measured.
        kept, cache: of `readable`.
        facts: the run's environment.
        epoch: of the network, where it is known; 0 is the untrained one.

    Raises:
        Problem: too few images to find anything, or a workspace that cannot be written.
        Cancelled: by `progress`, which leaves no run behind.
    """
    from workbench.evaluation.quality import quality
    from workbench.evaluation.retrieval import retrieve

    settings = config.evaluation
    check_searchable(kept)
    progress("Finding the neighbours", 0, 0)
    near = retrieve(
        vectors, kept.labels, kept.sample_ids, k=settings.neighbours, ks=settings.ks, distance=settings.distance,
        progress=progress,
    )  # fmt: skip
    near.metrics.update(quality(vectors, kept.labels, kept.sample_ids, near, settings.distance))
    for level in kept.levels:
        progress(f"Finding the neighbours of the same {level.name}", 0, 0)
        by_level = retrieve(
            vectors, level.labels, kept.sample_ids, k=1, ks=settings.ks, distance=settings.distance, progress=progress
        ).metrics
        names = (*(f"recall@{k}" for k in settings.ks), "P@R", "MAP@R")  # as in a run that trains
        near.metrics.update({f"level/{level.name}/{name}": by_level[name] for name in names})
    progress("Storing the run", 0, 0)
    evaluated = Evaluated(
        epoch, 1, settings.distance, near.metrics, kept.sample_ids, kept.labels, vectors, near.ap, near.first_hit,
        near.r, near.neighbours, near.similarities,
    )  # fmt: skip
    return _store(workspace, config, kept, cache, evaluated, facts, progress)


def config_of(
    name: str, embeddings: Path, labels: Path | None, images: Path | None, distance: str, image_size: int | None = None
) -> RunConfig:
    """A config in which every part is called imported; `image_size` in px is that of images of a folder."""
    sources = {"embeddings": embeddings, "labels": labels, "images": images}
    named = {key: display_name(path) for key, path in sources.items() if path is not None}
    size = {} if image_size is None else {"image_size": image_size}
    dataset = {"name": IMPORTED, **named, **size}
    parts = {kind: IMPORTED for kind in KINDS if kind != "dataset"}
    values = {"name": name.strip()[:200] or IMPORTED, "dataset": dataset, **parts, "training": {"epochs": 1}}
    return RunConfig.model_validate({**values, "evaluation": {"distance": distance}})


def check_writable(workspace: Workspace) -> None:
    """Raise Problem if no run can be made here."""
    if workspace.read_only:
        raise Problem(f"The workspace {workspace.path} is open for reading only.", kept=KEPT)


def readable(workspace: Workspace, images: ImageSet, progress: Progress) -> tuple[ImageSet, Path | None]:
    """The set without unreadable images, and the cache of its pixels; None without images."""
    if not images.image_size:
        return images, None
    kept, _, cache = decoded(images, workspace.path / IMPORTED_IMAGES, progress)
    return kept, cache


def check_searchable(kept: ImageSet) -> None:
    """Raise Problem if the images that could be read leave nothing to find."""
    counts = np.bincount(kept.labels)
    if np.count_nonzero(counts) < 2:
        what = "Only images of one class can be read, so every neighbour would be right."
        raise Problem(what, kept=KEPT, todo="Choose images of two classes or more.")
    if counts.max() < 2:
        what = "No class has two images that can be read: no neighbour could be right."
        raise Problem(what, kept=KEPT, todo="Choose classes of two images or more.")


def _environment(
    kept: ImageSet, embeddings: Path, labels: Path | None, images: Path | None, width: int
) -> dict[str, object]:
    return {
        "workbench": __version__,
        "imported": {
            "embeddings": str(embeddings),
            "labels": str(labels or embeddings),
            "images": str(images or ""),
            "dimensions": width,
            "at": now(),
        },
        "data": data_facts(kept, "imported embeddings: every sample queries all others"),
    }


def data_facts(kept: ImageSet, note: str) -> dict[str, object]:
    """Facts of a data set whose images only query each other, for a run's environment; `note` says how."""
    return {
        "fingerprint": kept.fingerprint,
        "images": len(kept.paths),
        "classes": len(kept.class_names),
        "train": 0,
        "test": len(kept.paths),
        "classes_disjoint": False,
        "note": note,
        "left_out": kept.problems[:1000],
        "left_out_count": kept.left_out,
    }


def _store(
    workspace: Workspace,
    config: RunConfig,
    kept: ImageSet,
    cache: Path | None,
    evaluated: Evaluated,
    facts: dict[str, object],
    progress: Progress,
) -> int:
    """The run with all its rows, or none at all."""
    dataset = workspace.register_dataset(kept, cache)
    with imported_run(workspace, config, "Storing the run", evaluated.epoch, facts) as recorder:
        recorder.dataset(dataset)
        recorder.environment(facts)
        for name, value in evaluated.metrics.items():
            own = (name.startswith("recall@") and "/" not in name) or name in ("P@1", "P@R", "MAP@R")
            if own or name.startswith("level/"):
                recorder(Scalar(f"test/{name}", evaluated.step, value))
        recorder(evaluated)
        progress("Storing the run", 1, 1)  # the last moment at which a cancel is heard
    return recorder.run_id


@contextlib.contextmanager
def imported_run(
    workspace: Workspace, config: RunConfig, doing: str, epoch: int = EPOCH, facts: Mapping[str, object] | None = None
) -> Iterator[Recorder]:
    """A new run that is done at the end of the block, after that epoch, or gone after an error in it.

    A kill leaves a run that says what became of it, from its `facts`, and that `unfinished.remove_unfinished` deletes.

    Raises:
        Problem: the workspace cannot be written.
    """
    run_id = workspace.create_run(config, facts=facts)
    recorder = Recorder(workspace, run_id)
    try:
        recorder(Status(doing))
        yield recorder
        recorder.reached(epoch)
        recorder(events.Progress(1, 1, 0.0))
        recorder(Ended("done"))
    except BaseException:
        take_back(workspace, recorder, run_id)
        raise


def take_back(workspace: Workspace, recorder: Recorder, run_id: int) -> None:
    """Remove the incomplete run; on a full disk its files go first, as they make the room for the rest."""
    with contextlib.suppress(Problem):
        if not recorder.over:
            recorder(Ended("failed"))
    with contextlib.suppress(Problem):
        if workspace.run(run_id).live:  # its end could not be stored
            remove_folder(workspace.path / RUNS, str(run_id))
            workspace.set_status(run_id, "failed")
        workspace.delete(run_id, at_once=True)
