"""Sends runs to a place: their rows in the workspace, a first folder for each, and the order to begin or resume."""

import contextlib
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from workbench import files
from workbench.config import KINDS, Choice, RunConfig
from workbench.control import Cancelled
from workbench.entries import catalog as catalogs
from workbench.files.temporary import temporary_folder
from workbench.jobs import command_line
from workbench.places.contract import Has, Launcher, Order, Part, Unreachable, all_of
from workbench.places.mirror import COMPARED, another_journal, last_of
from workbench.places.place import Place
from workbench.problem import UNSTARTED, Problem
from workbench.running import folds_and_seeds
from workbench.running.devices import together
from workbench.workspace import Workspace
from workbench.workspace.arriving.ingest import ingest
from workbench.workspace.folders import journal, travelling
from workbench.workspace.folders.dataset_copy import ExperimentCopy
from workbench.workspace.rows import Placement
from workbench.workspace.tables import placements
from workbench.workspace.times import now

FIRST_FILES = ("config.toml", travelling.CARD, "experiment.json")
# Files that a run reads only where another field of the same entry is "file".
READ_IF_FILE = {"weights_file": "weights", "file": "prototypes"}


class UnknownData(Problem):
    """A path of the config without a known counterpart at the place; `path` is that of this machine."""

    def __init__(self, path: str, place: str) -> None:
        command = command_line("workbench", "place", "data", place, path, "FOLDER-THERE")
        super().__init__(
            f"Where {path} is at {place} is not known.",
            kept="Nothing was started.",
            todo=f"Name its folder there once: {command}",
        )
        self.path = path


def prepare(
    workspace: Workspace, config: RunConfig, place: Place, experiment_id: int | None = None
) -> list[int]:  # fmt: skip
    """Create the runs of a config for a place; returns their numbers. They wait for `submit`.

    Args:
        experiment_id: to which a single run belongs, from the moment that it exists; several get one of their own.

    Raises:
        UnknownData: the config names a path without a known counterpart at the place.
        Problem: the workspace cannot be written.
    """
    config = translated(config, place)
    children = folds_and_seeds.children(config)
    group = None
    if len(children) > 1:
        group = ExperimentCopy(name=config.name, config=config.to_toml(), created=now())
    numbers: list[int] = []
    try:
        for child in children:
            numbers.append(_prepared(workspace, child.config, place, group, experiment_id))
    except BaseException as problem:
        said = str(problem) if isinstance(problem, Problem) else "you ended the program that made it."
        with contextlib.suppress(Problem), workspace.writing() as db:
            for run_id in numbers:
                placements.end(db, run_id, "failed", f"It was not sent, because a run beside it was not made: {said}")
        raise
    return numbers


def submit(workspace: Workspace, numbers: Sequence[int], place: Place, launcher: Launcher) -> None:
    """Begin or resume prepared or ended runs at their place, one after another.

    Raises:
        Unreachable: the place did not answer.
        Problem: it refused them: the runs stay, and can be resumed. Or the folder of a run that had begun there is
            gone, or the workspace cannot be written: nothing was changed. Or the workspace cannot be written any more
            once they have begun.
        Cancelled: by the launcher. The runs stay, and can be resumed.
    """
    with workspace.reading() as db:
        placed = [placements.required(db, run_id) for run_id in numbers]
    try:
        _refuse_without_folder(workspace, placed, place, launcher)
        orders = [_order(workspace, placement, place) for placement in placed]
        with workspace.writing() as db:  # first: what begins there is followed, and a full disk here begins nothing
            for placement in placed:
                placements.store(db, replace(placement, open=True))
        jobs = launcher.submit(orders)
    except BaseException as problem:  # Ctrl+C, too: no run may wait for what was never sent
        with contextlib.suppress(Problem), workspace.writing() as db:
            for placement in placed:
                placements.renew(db, replace(placement, open=True), placement)
                placements.end(db, placement.run_id, "failed", _ended(problem))
        if isinstance(problem, Problem) and problem.kept == UNSTARTED:  # the runs are in the list: that is not nothing
            raise Problem(problem.what, kept=_kept(numbers), todo=problem.todo) from problem
        raise
    try:
        with workspace.writing() as db:
            for placement, job in zip(placed, jobs, strict=True):
                at = place.whereabouts
                stored = Placement(placement.run_id, placement.uid, place.name, job, reached=now(), machine=at)
                placements.store(db, stored)
                placements.wait(db, placement.run_id)
    except Problem as problem:
        raise _begun_unrecorded(numbers, place.name, problem) from problem


def _refuse_without_folder(
    workspace: Workspace, placed: Sequence[Placement], place: Place, launcher: Launcher
) -> None:  # fmt: skip
    """Raise a Problem for a run that had begun and whose folder is gone there, or lost lines which have come.

    What came of it before would be mixed with the points of another training.
    """
    lengths = {there: journal.whole_lines(workspace.folder(there.run_id)) for there in placed if there.job}
    begun = {there: length for there, length in lengths.items() if length}
    asked = [
        Part(f"{there.uid}/{journal.NAME}", max(0, length - COMPARED), COMPARED) for there, length in begun.items()
    ]
    for (there, length), content in zip(begun.items(), all_of(launcher.read, asked), strict=True):
        if content is None:
            raise Problem(
                f"The folder of run {there.run_id} is not at {place.name} any more: it cannot be resumed.",
                kept="What was fetched of it is kept here.",
                todo="Train its config again as a new run.",
            )
        ours = last_of(workspace.folder(there.run_id), length)
        if content[: len(ours)] != ours:
            raise another_journal(there.uid, f"Run {there.run_id} was not resumed, and what was fetched of it is kept.")


def translated(config: RunConfig, place: Place) -> RunConfig:
    """The config with its paths replaced by those at the place. Raises UnknownData."""
    known = catalogs.last()
    changes: dict[str, Choice] = {}
    for kind in KINDS:
        choice: Choice = getattr(config, kind)
        fields = known.get(f"{kind}/{choice.name}", {}).get("params", {})
        moved = {
            name: path_there(value, place)
            for name, value in choice.params.items()
            if isinstance(value, str) and value and fields.get(name, {}).get("path")
        }
        if moved:
            changes[kind] = Choice(name=choice.name, params={**choice.params, **moved})
    return config.model_copy(update=changes)


def whole_path(path: str) -> str:
    """A path of this machine from its root on, as the records of places have it: from ~, or the working directory."""
    return os.path.abspath(os.path.expanduser(path))  # a name that cannot be expanded stays as it is


def path_there(path: str, place: Place) -> str:
    """The path at the place for a path of this machine, by the longest folder with a known counterpart.

    Raises UnknownData if there is none.
    """
    path = whole_path(path)
    for here in sorted(place.data, key=len, reverse=True):
        if Path(here) in (Path(path), *Path(path).parents):
            return str(PurePosixPath(place.data[here], *Path(path).relative_to(here).parts))
    raise UnknownData(path, place.name)


def refuse_missing(
    config: RunConfig, place: Place, launcher: Launcher, settings: Mapping[str, RunConfig] | None = None
) -> str:
    """Ask a place for its Python and what a config names, files, folders and devices, before anything is made or sent.

    A place that does not answer refuses nothing here: `submit` says so, and the runs stay, to be sent later.

    Args:
        settings: the configs of a sweep by their setting in words, whose files and folders are asked for instead.

    Returns:
        A remark on what the machine in front of a cluster has not: its nodes may have it.

    Raises:
        UnknownData: as `translated`.
        Problem: the machine that would train has not its Python or what a field names, or a path cannot be read;
            nothing was made.
    """
    there = translated(config, place)
    by_setting = {setting: paths_of(translated(one, place)) for setting, one in (settings or {"": config}).items()}
    count = Counter(path for paths in by_setting.values() for path in set(paths.values()))
    named: dict[str, tuple[str, str]] = {}  # field and setting by path; no setting where all need it
    for setting, paths in by_setting.items():
        for field, path in paths.items():
            named.setdefault(path, (field, setting if count[path] < len(by_setting) else ""))
    devices = str(getattr(place, "devices", ""))
    asked = together.parse_devices(devices) if devices else tuple(there.device.split(","))
    python = [place.python] if "/" in place.python else []  # a bare name is looked up on the path there
    try:
        has = launcher.has([*python, *named])
    except Unreachable:
        return ""
    if has.trains and has.paths.get(place.python) == "missing":
        install = command_line("workbench", "place", "install", place.name, "--wheel", "FILE")
        todo = f"Install Workbench there (Install… in File > Places…, or `{install}`), or name the Python that has it."
        raise Problem(f"{place.name} has no Python at {place.python}.", kept=UNSTARTED, todo=todo)
    lacks = [_lacks(place, path, has.paths.get(path, ""), *needed) for path, needed in named.items()]
    lacking = [problem for problem in lacks if problem is not None]
    if has.trains:
        if lacking:
            raise lacking[0]
        _refuse_devices(asked, has, place, "" if devices else "device")
        return ""
    remarks = [f"{problem.what} Its nodes must have it." for problem in lacking]
    return " ".join(remarks)


def paths_of(config: RunConfig) -> dict[str, str]:
    """The files and folders that a config names and its run reads, by field: "dataset.folder"."""
    known = catalogs.last()
    paths = {}
    for kind in KINDS:
        choice = config.choice(kind)
        described = known.get(f"{kind}/{choice.name}", {}).get("params", {})
        for name, value in choice.params.items():
            by = READ_IF_FILE.get(name, "")
            is_read = by not in described or choice.params.get(by, described[by].get("default")) == "file"
            if isinstance(value, str) and value and described.get(name, {}).get("path") and is_read:
                paths[f"{kind}.{name}"] = value
    return paths


def _lacks(place: Place, path: str, state: str, field: str, setting: str) -> Problem | None:
    """The Problem of a path that is missing there, or cannot be read; None for one that is there, or not known."""
    needed = f"{path} ({field} of the setting {setting})" if setting else f"{path} ({field})"
    if state == "missing":
        named = command_line("workbench", "place", "data", place.name, "HERE", "THERE")
        todo = f"Copy it there, or name where it is: {named}"
        return Problem(f"{place.name} has no {needed}.", kept=UNSTARTED, todo=todo, field=field)
    if state == "unreadable":
        what = f"{needed} cannot be read by you at {place.name}."
        todo = "Change its permissions there, or those of the folders above it."
        return Problem(what, kept=UNSTARTED, todo=todo, field=field)
    return None


def _refuse_devices(asked: Sequence[str], has: Has, place: Place, field: str) -> None:
    """Raise Problem for a device that a place certainly has not; `field` names it in the config, if that does."""
    named = "device of the config" if field else "Devices of the place"
    for device in asked:
        kind, _, number = device.partition(":")
        if kind == "cuda" and has.gpus is not None and has.gpus <= int(number or 0):
            count = f"{has.gpus} GPU{'' if has.gpus == 1 else 's'}, numbered from 0" if has.gpus else "no GPU"
            what = f"{place.name} has {count}, and {named} names {device}."
        elif kind == "mps" and has.system not in ("", "Darwin"):
            what = f"{place.name} has no Apple GPU, and {named} names {device}."
        else:
            continue
        raise Problem(what, kept=UNSTARTED, todo="Name a device that it has, or auto.", field=field)


def _prepared(
    workspace: Workspace, config: RunConfig, place: Place, group: ExperimentCopy | None, experiment_id: int | None
) -> int:  # fmt: skip
    with temporary_folder("workbench") as folder:
        travelling.make(folder, config, group)
        return ingest(workspace, folder, place.name, experiment_id).run_id


def _ended(problem: BaseException) -> str:
    """What is stored of a run whose sending ended with this."""
    if isinstance(problem, Unreachable) or not isinstance(problem, Problem):
        said = "Sending it was cancelled." if isinstance(problem, Cancelled) else "you ended the program that sent it."
        said = str(problem) if isinstance(problem, Problem) else said
        return f"Whether it was started is not known; Resume finds out: {said}"
    kept = "" if problem.kept == UNSTARTED else problem.kept
    return " ".join(filter(None, (f"It was not started: {problem.what}", kept, problem.todo)))


def _kept(numbers: Sequence[int]) -> str:
    if len(numbers) == 1:
        return f"Run {numbers[0]} was not started; it is kept as failed, and Resume sends it."
    return f"Runs {numbers[0]} to {numbers[-1]} were not started; they are kept as failed, and Resume sends them."


def _begun_unrecorded(numbers: Sequence[int], place: str, problem: Problem) -> Problem:
    """The Problem of runs that have begun at their place when the workspace could not be written any more."""
    one = len(numbers) == 1
    said = f"Run {numbers[0]} was" if one else f"Runs {numbers[0]} to {numbers[-1]} were"
    again = "resume it: it is not started twice." if one else "resume them: none is started twice."
    return Problem(
        f"{said} started at {place}, which could not be recorded: {problem.what}",
        kept="Training continues there.",
        todo=f"Once the workspace can be written, {again}",
    )


def _order(workspace: Workspace, placement: Placement, place: Place) -> Order:
    home = workspace.folder(placement.run_id)
    if not workspace.has_file(placement.run_id, travelling.CARD):  # its maker was killed between its row and its folder
        run = workspace.run(placement.run_id)
        files.make_folder(home)
        travelling.write_first(home, run.config, placement.uid, run.created)
    contents = {name: (home / name).read_bytes() for name in FIRST_FILES if workspace.has_file(placement.run_id, name)}
    title = f"workbench {placement.run_id}"
    ended = "" if journal.last_state(home).live else placement.job
    return Order(placement.uid, contents, title, str(getattr(place, "devices", "")), ended)
