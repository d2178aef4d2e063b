"""A training loop of the user's own records its run, in a workspace or in a run folder."""

from __future__ import annotations  # `help` shows ArrayLike, not the types behind it

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from pydantic import ValidationError

from workbench import __version__
from workbench.config import KINDS, OWN_LOOP, BadConfig, RunConfig
from workbench.entries import catalog
from workbench.events import score_of
from workbench.exchange.imported.importing import data_facts, take_back
from workbench.exchange.own_loop.arguments import MOST_STEPS, encodable, queries_of, whole, words_of
from workbench.exchange.own_loop.evaluated_images import EvaluatedImages, of_loop, of_run
from workbench.exchange.own_loop.recorded_run import RecordedRun
from workbench.exchange.source import IMAGE_SIZE, LARGEST_SIZE, LEAST_SIZE
from workbench.files.unreadable import DEEPEST, checked_nesting
from workbench.problem import UNSTARTED, Problem
from workbench.workspace import Workspace
from workbench.workspace.folders import journal, travelling
from workbench.workspace.paths import DATABASE
from workbench.workspace.recorder import Recorder
from workbench.workspace.recorders.folder_recorder import FolderRecorder
from workbench.workspace.tables.deletion import IMPORTED_IMAGES
from workbench.workspace.times import now

__all__ = ["RecordedRun", "record_run"]


def record_run(
    workspace: Workspace | Path | str,
    name: str,
    labels: Sequence[int | str] | ArrayLike,
    *,
    epochs: int,
    steps: int = 0,
    paths: Sequence[str | PurePath] = (),
    images: Path | str | np.ndarray | None = None,
    image_size: int = IMAGE_SIZE,
    queries: ArrayLike | None = None,
    data: str = "",
    same_data_as: int | None = None,
    settings: Mapping[str, Any] | None = None,
    resume: bool = False,
    step: int = 0,
) -> RecordedRun:
    """Begin a run that your own training loop records.

    Args:
        workspace: where the run is made; a window that has it open shows the run while it trains. Or a new folder, on
            a machine without a workspace: `workbench ingest FOLDER --follow` then brings the run into one.
        name: of the run.
        labels: [n] classes of the test images, as numbers or names; every embedding that is evaluated has one.
        epochs: how many the loop will train.
        steps: optimiser steps of all epochs, for the time left; 0 if they are not known.
        paths: [n] of the test images, below the folder `images`; without it they are names only.
        images: that folder, or pixels as uint8 [n, h, w] or [n, h, w, 3]; the pages show them. None for none. Images
            that cannot be read are left out of every evaluation, and named in the run's report.
        image_size: px; side of the squares that images of a folder are shown as.
        queries: [n] which images are queries; the others are only searched. By default all are both.
        data: what the data set is called, such as "CUB-200-2011".
        same_data_as: the number of a run of the workspace on whose data set the loop evaluates: its test images are
            then named by their `paths` alone, and Compare compares the queries of both runs.
        settings: what the loop trains with, in the sections and fields of a config: {"seed": 1, "loss": {"name":
            "triplet", "margin": 0.2}, "backbone": "resnet50", "training": {"lr": 1e-4, "batch_size": 112},
            "evaluation": {"distance": "l2"}}. Losses, backbones, samplers, augmentations and splits may have any name
            and any fields; runs that differ only in the seed are one group in Compare.
        resume: continue the newest run that was begun with the same arguments and is not done, or the one in the
            folder; its points after `step` are removed.
        step: optimiser steps done in the checkpoint that `resume` continues from.

    Raises:
        BadConfig: a setting that no config has, or a value that its field refuses.
        Problem: labels and images that do not fit each other; a workspace that cannot be written; no run to resume, or
            one that still works or was begun with other data.
        TypeError, ValueError: labels that are not numbers or names, other arguments of a wrong type or shape, or
            numbers out of their range. No run was begun.
    """
    images = Path(images) if isinstance(images, str) else images
    workspace = Path(workspace) if isinstance(workspace, str) else workspace
    if not isinstance(workspace, Workspace | Path):
        raise TypeError(f"A run is recorded into a workspace or a new folder, not {workspace!r}.")
    config = _config(name, epochs, data, images, settings or {})
    words = words_of(labels)
    if not words:
        raise Problem("There are no labels.", kept=UNSTARTED)
    steps, step = whole(steps, "The number of steps", MOST_STEPS), whole(step, "A step", MOST_STEPS)
    if isinstance(images, Path) and not whole(image_size, "A size", LARGEST_SIZE) >= LEAST_SIZE:
        raise ValueError(f"The size of images is a number from {LEAST_SIZE} to {LARGEST_SIZE:,}, not {image_size}.")
    mask = None if queries is None else queries_of(queries, len(words))
    recorder: Recorder | FolderRecorder
    if isinstance(workspace, Workspace):
        if workspace.read_only:
            raise Problem(f"The workspace {workspace.path} is open for reading only.", kept=UNSTARTED)
        if same_data_as is None:
            seen = of_loop(words, paths, images, image_size, workspace.path / IMPORTED_IMAGES)
        else:
            seen = of_run(workspace, same_data_as, words, paths)
        recorder, beat = _in_workspace(workspace, config, seen, resume=resume), workspace.beat
    else:
        if (workspace / DATABASE).exists():
            todo = "Open it: `with Workspace(Path(...)) as workspace`."
            raise Problem(f"{workspace} is a workspace, not a new folder.", kept=UNSTARTED, todo=todo)
        if same_data_as is not None:
            raise ValueError("A run folder has no other run whose data set could be the same.")
        seen = of_loop(words, paths, images, image_size, catalog.cache_folder() / "pixels")
        recorder = folder = _in_folder(workspace.absolute(), config, seen, resume=resume)
        beat = folder.beat
    if resume:
        recorder.forget_after(step)
    is_query = None if mask is None else mask[seen.rows]
    scores = _scores(recorder.folder) if resume else {}
    return RecordedRun(recorder, beat, config, seen.images, seen.rows, len(words), is_query, steps, scores)


def _scores(folder: Path) -> dict[int, float]:
    """MAP@R by epoch of the evaluations that the run has."""
    recorded = (entry.evaluation for entry in journal.entries(folder, b'"evaluation"') if entry is not None)
    metrics = {facts.epoch: facts.metrics for facts in recorded if facts is not None}
    return {
        epoch: score_of({name: value for name, value in of_epoch.items() if value is not None}) or 0.0
        for epoch, of_epoch in metrics.items()
    }


def _config(
    name: str, epochs: int, data: str, images: Path | np.ndarray | None, settings: Mapping[str, Any]
) -> RunConfig:
    """A config with the sections that are given; parts without a name are called OWN_LOOP. Raises BadConfig."""
    if not (isinstance(name, str) and isinstance(data, str) and isinstance(settings, Mapping)):
        raise TypeError("`name` and `data` are text, and `settings` is a dictionary of sections.")
    if refused := {"name", "dataset", "seeds", "device"} & settings.keys():
        raise BadConfig("The settings", dict.fromkeys(sorted(refused), "Your own training loop has no such setting."))
    dataset = {"name": OWN_LOOP, **({"title": data} if data else {})}
    if isinstance(images, Path):
        dataset["images"] = str(images.absolute())
    parts = {kind: OWN_LOOP for kind in KINDS if kind != "dataset"}
    try:
        plain = {field: _plain(field, value) for field, value in settings.items()}
        checked_nesting(plain, "{" * (DEEPEST + 1))
    except RecursionError:  # what was stored of it could not be read
        raise BadConfig("The settings", {"settings": f"Must be nested at most {DEEPEST} times."}) from None
    encodable((name, data), "name")
    training = {**plain.get("training", {}), "epochs": epochs}
    try:
        return RunConfig.model_validate({**parts, **plain, "name": name, "dataset": dataset, "training": training})
    except ValidationError as error:
        raise BadConfig("The settings", catalog.sentences(error)) from None


def _plain(field: str, value: Any) -> Any:
    """A setting as TOML writes it. Raises BadConfig for anything but numbers, text, lists and sections of them."""
    if isinstance(value, Mapping):
        encodable(map(str, value), "setting")
        return {str(name): _plain(f"{field}.{name}", within) for name, within in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(field, entry) for entry in value]
    value = value.item() if isinstance(value, np.generic) else value
    if not isinstance(value, bool | int | float | str) or value != value:  # NaN: no config would be that of its run
        raise BadConfig("The settings", {field: f"Must be a number, text or a list of them, not {value!r}."})
    if isinstance(value, str):
        encodable((value,), "setting")
    return value


def _in_workspace(workspace: Workspace, config: RunConfig, seen: EvaluatedImages, *, resume: bool) -> Recorder:
    """The recorder of a new run, or of the newest one of that config that is not done."""
    if resume:
        unfinished = [run for run in workspace.runs() if run.live or run.resumable]
        run_id = next((run.id for run in unfinished if config.is_recorded_as(run.config)), None)
        if run_id is None:
            what = f"There is no unfinished run of this loop with these settings in {workspace.path}."
            raise Problem(what, todo="Leave `resume` out to record a new one.")
        known = workspace.run(run_id).environment
        _check_data(known, seen)
        workspace.take_over(run_id)
        recorder = _of_data(Recorder(workspace, run_id), seen)
        recorder.environment(known | {"own_loop": _about()})  # nobody has asked this program to stop
        return recorder
    facts = _facts(seen)
    run_id = workspace.create_run(config, facts=facts)
    recorder = Recorder(workspace, run_id)
    try:
        _of_data(recorder, seen).environment(facts)
    except BaseException:
        take_back(workspace, recorder, run_id)
        raise
    return recorder


def _of_data(recorder: Recorder, seen: EvaluatedImages) -> Recorder:
    """Tie the run to its data set."""
    if seen.dataset is None:
        recorder.read(seen.images, seen.cache)
    else:
        recorder.dataset(seen.dataset)
    return recorder


def _in_folder(folder: Path, config: RunConfig, seen: EvaluatedImages, *, resume: bool) -> FolderRecorder:
    """The recorder of a new run folder, or of the run in it, which must have that config."""
    if resume:
        _, begun, _ = travelling.read(folder)
        if begun != config:
            what = f"The run in {folder} was not begun by this loop with these settings."
            raise Problem(what, kept="It was not changed.", todo="Leave `resume` out, and name another folder.")
    else:
        travelling.make(folder, config)
    recorder = FolderRecorder(folder)
    try:
        known = recorder.known_environment()
        if known:
            _check_data(known, seen)
        recorder.read(seen.images, seen.cache)
        recorder.environment(known | {"own_loop": _about()} if known else _facts(seen))
        recorder.forget_request()  # nobody has asked this program to stop
    except BaseException:
        recorder.close()
        raise
    return recorder


def _check_data(environment: dict[str, Any], seen: EvaluatedImages) -> None:
    """Raise Problem unless these are the images of the run with that environment."""
    if environment.get("data", {}).get("fingerprint") != seen.fingerprint:
        what = "The data set has changed since the run began: names, labels or sizes of its files differ."
        raise Problem(what, kept="The run was not changed.", todo="Restore the files, or record a new run.")


def _about() -> dict[str, str]:
    return {"program": Path(sys.argv[0]).name, "at": now()}


def _facts(seen: EvaluatedImages) -> dict[str, Any]:
    about = data_facts(seen.images, "recorded by a training loop of the user's own")
    return {
        "workbench": __version__,
        "own_loop": _about(),
        "data": {**about, "fingerprint": seen.fingerprint},
    }
