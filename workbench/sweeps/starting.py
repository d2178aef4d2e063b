"""Stores a sweep in the workspace and starts its worker, a process that outlives the window."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice, product

from workbench import jobs
from workbench.config import KINDS, BadConfig, RunConfig
from workbench.entries.catalog import Catalog
from workbench.places import sending
from workbench.places.contract import Launcher
from workbench.places.place import Place
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.running import folds_and_seeds, unusable
from workbench.running.listed import Listed
from workbench.sweeps import proposals
from workbench.sweeps.plan import TRIED_OUT, Plan
from workbench.sweeps.space import Setting, configured, entries_of, fields, in_words, short_field, written
from workbench.sweeps.trials import refusal
from workbench.workspace import Workspace
from workbench.workspace.experiments import sweep_worker
from workbench.workspace.experiments import sweeps as stored
from workbench.workspace.paths import inside, unshared

# Fields on which it depends whether the network takes images of their size: other settings may have another.
OF_SIZES = ("augmentation.", "backbone.", "dataset.")
# Fields on which it depends whether a step fits into the memory of the CPU.
OF_MEMORY = tuple(f"training.{name}" for name in ("backbone_lr", "batch_size", "chunk", "precision", "views"))
# Fields on which it depends whether there are enough images for a batch: other settings may have them.
OF_BATCHES = ("dataset.", "sampler.", "seed", "split.", "training.batch_size", "training.label_decisions")


def refuse_unusable(
    plan: Plan, known: Catalog, progress: Progress, devices: Sequence[str] = ()
) -> Listed | None:  # fmt: skip
    """List and split the data of a setting, the first where it is known, on this machine: every run would meet them.

    Of the other settings only the places on the disk are looked for. `devices` are those to use, by default the
    config's.

    Returns what was listed, for a worker in this process; None where nothing was.

    Raises:
        Problem: they, or the weights file, cannot be used. Cancelled: of `progress`.
    """
    _refuse_missing_places(plan, known)
    settings = plan.settings() or proposals.draws(plan.parameters, TRIED_OUT, plan.config.seed)
    # A Bayesian sweep may propose settings that cannot be trained, but not only such settings.
    setting = next(setting for setting in settings if not refusal(plan.config, setting, known))
    config = configured(plan.config, setting, known)
    batches, sizes, memory = (
        not any(parameter.field.startswith(fields) for parameter in plan.parameters)
        for fields in (OF_BATCHES, OF_SIZES, OF_MEMORY)
    )
    return unusable.refuse_unusable(
        config, progress, batches=batches, sizes=sizes, memory=memory, devices=devices
    )  # fmt: skip


def unsuited_settings(plan: Plan, known: Catalog, progress: Progress, listed: Listed | None) -> str:
    """A sentence on settings that are known before the first run and do not go with the data; empty if all do.

    Their batches, halves and image sizes are looked at, of at most TRIED_OUT that differ in these. Their runs fail with
    the same reason; those of the others are not concerned.

    Args:
        listed: has the data set, as `refuse_unusable` returns it; None where it is not known.

    Raises:
        Cancelled: of `progress`.
    """
    if listed is None:
        return ""
    differing: dict[str, Setting] = {}
    for setting in plan.settings():
        looked_at = {field: value for field, value in setting.items() if field.startswith((*OF_BATCHES, *OF_SIZES))}
        if looked_at:
            differing.setdefault(repr(looked_at), setting)
    chosen = list(differing.values())[:TRIED_OUT]
    reasons = {}
    for setting in chosen:
        if reason := unusable.unsuited(configured(plan.config, setting, known), progress, listed):
            reasons[in_words(setting, plan.config, known)] = reason
    if not reasons:
        return ""
    words, reason = next(iter(reasons.items()))
    return f"{len(reasons)} of {len(chosen)} settings cannot be trained with these data, such as {words}. {reason}"


def _refuse_missing_places(plan: Plan, known: Catalog) -> None:
    """Raises Problem for a varied path that leads nowhere: the runs before it would train for nothing."""
    for field, kind, path in _varied_paths(plan, known):
        if not os.path.exists(os.path.expanduser(path)):
            named = "file" if kind == "file" else "folder or archive"
            raise Problem(
                f"There is no {named} {path}, which {field} would be set to.",
                kept="Nothing was started.",
                todo="Correct it, or leave it out.",
            )


def refuse_unknown_data(plan: Plan, known: Catalog, place: Place, launcher: Launcher) -> str:
    """Look up where the data of the settings are at a place, before any run trains there.

    The image size is checked as `refuse_unusable` does, where no setting changes it; the devices of the first setting
    and the files of all that can be listed are asked for as by `sending.refuse_missing`, which says what is returned.

    Raises:
        UnknownData: a path of a setting has no known counterpart there.
        Problem: the network takes no images of that size; the place has not what a setting names.
    """
    for _, _, path in _varied_paths(plan, known):
        sending.path_there(path, place)
    configs = _of_entries(plan, known)
    config = next(iter(configs.values()), None)
    if config is None:
        return ""
    sending.translated(config, place)
    if not any(parameter.field.startswith(OF_SIZES) for parameter in plan.parameters):
        unusable.refuse_size_unseen(config)
    return sending.refuse_missing(config, place, launcher, configs)


def _of_entries(plan: Plan, known: Catalog) -> dict[str, RunConfig]:
    """The configs that differ in what their files depend on, entries and their fields, by these fields in words.

    Of a Bayesian sweep all combinations of listed values may be tried; those that do not go together are left out.
    """
    listed = [
        parameter for parameter in plan.parameters
        if parameter.field.partition(".")[0] in KINDS and not parameter.ranged
    ]  # fmt: skip
    settings: Iterable[Setting] = plan.settings()
    if plan.how == "bayes":
        (drawn,) = proposals.draws(plan.parameters, 1, plan.config.seed)
        names = [parameter.field for parameter in listed]
        values = islice(product(*(parameter.values for parameter in listed)), proposals.MOST)
        whole = ({**drawn, **dict(zip(names, combined, strict=True))} for combined in values)
        settings = (proposals.belonging(plan.parameters, setting) for setting in whole)
    different = dict[str, Setting]()
    for setting in settings:
        chosen = {entry.field: setting[entry.field] for entry in listed if entry.field in setting}
        words = ", ".join(f"{short_field(field)}={value}" for field, value in chosen.items())
        different.setdefault(words, setting)
    configs = {}
    for words, setting in different.items():
        with suppress(BadConfig):
            configs[words] = configured(plan.config, setting, known)
    return configs


def _varied_paths(plan: Plan, known: Catalog) -> Iterator[tuple[str, str, str]]:
    """Field, kind ("file", "place") and value of each path that a setting may have."""
    described = fields(plan.config, known, entries_of(plan.parameters))
    for parameter in plan.parameters:
        kind = str(described.get(parameter.field, {}).get("path") or "")
        yield from ((parameter.field, kind, str(value)) for value in parameter.values if kind and value)


def store(workspace: Workspace, plan: Plan) -> int:
    """Store a sweep with its queue of trials in the workspace; returns its number.

    Raises:
        Problem: the workspace cannot be written.
    """
    return stored.create(
        workspace,
        plan.config,
        how=plan.how,
        parameters=[f"{parameter.field}={written(parameter)}" for parameter in plan.parameters],
        points=plan.trials,
        metric=plan.metric,
        reported=plan.reported,
        source=plan.source,
        first=[point_of(plan.config, setting) for setting in plan.settings()],
        stop_early=plan.stop_early,
    )


def point_of(config: RunConfig, setting: Setting) -> stored.Point:
    """A setting with the seeds and folds of the config."""
    return stored.Point(setting, [(child.seed, child.fold) for child in folds_and_seeds.children(config)])


def resume(workspace: Workspace, sweep_id: int) -> None:
    """Mark a paused sweep as active; its worker is started separately. Raises Problem if it is finished."""
    sweep = stored.one(workspace, sweep_id)
    if sweep.state in ("done", "cancelled"):
        raise Problem(f"Sweep {sweep_id} is {sweep.state}.", todo="Retry brings failed and cancelled runs back.")
    stored.set_state(workspace, sweep_id, "active")


def pause(workspace: Workspace, sweep_id: int) -> None:
    """Ask the worker to save a checkpoint of the current run and to end. Raises Problem if the sweep is finished."""
    sweep = stored.one(workspace, sweep_id)
    if sweep.state in ("done", "cancelled"):
        raise Problem(f"Sweep {sweep_id} is {sweep.state}.", kept="It was not changed.")
    stored.set_state(workspace, sweep_id, "paused")


def work_apart(
    workspace: Workspace, sweep_id: int, devices: Sequence[str] = (), workers: int = 0, place: str = ""
) -> bool:
    """Start a worker that outlives this process, unless the sweep has one; returns whether it was started.

    `devices` and `workers` are those of `Worker`; `place` is the name of the place where its runs train.

    Raises:
        Problem: it cannot be started.
    """
    if not sweep_worker.announce(workspace, sweep_id):
        return False
    folder = str(workspace.path.absolute())
    log = unshared(inside(workspace.path, f"sweeps/{sweep_id}.log"))
    words = ["sweep", "run", str(sweep_id), "--workspace", folder, "--quiet"]
    words += ["--devices", ",".join(devices)] if devices else []
    words += ["--workers", str(workers)] if workers else []
    words += ["--place", place] if place else []
    jobs.start_detached(words, log)
    return True
