"""The entry to the engine: prepare and start a run. Light to import; torch is loaded inside the functions."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.config import RunConfig
from workbench.control import Control, wait_if_asked
from workbench.entries import catalog as catalogs
from workbench.events import CHECKPOINTS, Emit, Event, Noted, Remarked, Status
from workbench.jobs import Job, repeating
from workbench.names import visible
from workbench.problem import UNSTARTED, Problem
from workbench.progress import Progress
from workbench.running.devices.launched_ranks import LAUNCHED
from workbench.running.devices.together import parse_devices, together
from workbench.running.facts.environment import changed_since, environment, split_notes
from workbench.running.facts.in_words import data_in_words
from workbench.running.listed import Listed
from workbench.running.trained_network import checkpoint_files
from workbench.workspace import Workspace
from workbench.workspace.folders import deleted_checkpoints
from workbench.workspace.owners.ownership import BEAT, unqueued
from workbench.workspace.recorder import Recorder
from workbench.workspace.recorders.folder_recorder import FolderRecorder

if TYPE_CHECKING:
    from workbench.running.building import Data
    from workbench.running.engine import Engine
    from workbench.training.ranks import OneRank


def prepare_run(config: RunConfig, workspace: Workspace) -> int:
    """Queue a run in the workspace; returns its number.

    Raises:
        TypeError: `config` is not a RunConfig. Problem: the workspace cannot be written.
    """
    if not isinstance(config, RunConfig):
        raise TypeError(
            f"A run is prepared from a RunConfig, not from {config!r:.60}: `RunConfig.from_toml` reads a config file, "
            "and `read_config` of workbench.settings.changed a file or a preset."
        )
    return workspace.create_run(config)


def make_job(
    workspace: Workspace, run_id: int, control: Control, listen: Emit | None = None, *, resume: bool = False,
    device: str = "", listed: Listed | None = None,
) -> Job:  # fmt: skip
    """A job that trains a prepared run; call its `start`. Its thread records every event, then passes it to `listen`.

    `device`, such as "cuda:1", overrides the config's, which is not changed; the two devices of "0,1" train together.
    `listed` may have the run's data set, and has it for the next run once this one has listed it.

    Raises:
        UnknownName: there is no such run. RunTaken: it has ended, or another process has it.
    """
    known = workspace.run(run_id)
    if not known.live:
        raise unqueued(run_id, known.status)
    recorder = Recorder(workspace, run_id, control)
    recorder.device = device

    def work(control: Control, emit: Emit) -> None:
        with repeating("sign of life", BEAT, workspace.beat):
            run(workspace, run_id, control, emit, recorder, resume=resume, listed=listed)

    return Job(f"run {run_id}", work, _both(recorder, listen), control, behind_window=control.attended)


def make_folder_job(
    folder: Path, control: Control, listen: Emit | None = None, *, resume: bool = False, device: str = ""
) -> Job:
    """As `make_job`, for the run in a run folder, without a workspace. Raises Problem if it is no run folder."""
    recorder = FolderRecorder(folder, control)
    recorder.device = device

    def work(control: Control, emit: Emit) -> None:
        with repeating("sign of life", BEAT, recorder.beat), _said_of("the run in this folder", resume=resume):
            _train(recorder, control, emit, str(folder), lambda data: "", resume=resume)

    return Job(f"run in {folder.name}", work, _both(recorder, listen), control)


def run(
    workspace: Workspace,
    run_id: int,
    control: Control,
    emit: Emit,
    recorder: Recorder,
    *,
    resume: bool = False,
    listed: Listed | None = None,
) -> None:
    """Train a prepared run on this thread. With `resume` it continues from its last intact checkpoint, else restarts.

    `listed` is as for `make_job`.

    Raises:
        Problem: data, device, disk or numbers; says what is kept.
        Cancelled: the user discarded it.
    """
    changed = partial(changed_since, workspace, run_id)
    with _said_of(f"run {run_id}", resume=resume):
        _train(recorder, control, emit, str(run_id), changed, resume=resume, listed=listed)


@contextmanager
def _said_of(run_in_words: str, *, resume: bool) -> Iterator[None]:
    """Of a run that is recorded nobody says that nothing was started: it stays in the list, and what it had stays."""
    try:
        yield
    except Problem as problem:
        if problem.kept != UNSTARTED:
            raise
        kept = f"Nothing was trained; {run_in_words} is kept as failed."
        if resume:
            kept = f"What {run_in_words} had is kept."
        raise Problem(problem.what, kept=kept, todo=problem.todo, field=problem.field) from problem


def _both(recorder: Emit, listen: Emit | None) -> Emit:
    def emit(event: Event) -> None:
        recorder(event)
        if listen is not None:
            listen(event)

    return emit


def _train(
    recorder: Recorder | FolderRecorder,
    control: Control,
    emit: Emit,
    name: str,
    changed: "Callable[[Data], str]",
    *,
    resume: bool,
    listed: Listed | None = None,
) -> None:
    emit(Status("Loading the engine"))
    config = RunConfig.from_toml_text(recorder.config)
    names = _names(recorder.device or (config.device if "," in config.device else ""))
    if len(names) == 1 and names != (LAUNCHED,):
        config = config.model_copy(update={"device": names[0]})
    from workbench.running.building import load_data
    from workbench.training import checkpoint

    with (
        together(names, config, recorder.folder) as ranks,
        closing(load_data(config, _progress(control, emit), listed)) as data,
        checkpoint.settings_of_one_run(),
    ):
        _run(recorder, config, data, control, emit, ranks, name, changed, resume=resume, devices=names)


def _names(device: str) -> tuple[str, ...]:
    """The devices that the start or the config of a run names; empty if its config names one."""
    if device in ("", "mps"):
        return (device,) if device else ()
    return parse_devices(device)


def _run(
    recorder: Recorder | FolderRecorder, config: RunConfig, data: "Data", control: Control, emit: Emit,
    ranks: "OneRank", name: str, changed: "Callable[[Data], str]", *, resume: bool, devices: tuple[str, ...],
) -> None:  # fmt: skip
    """Train a run as the first of its ranks, which have these devices; empty if its config names one."""
    from workbench.running.building import training_classes
    from workbench.running.engine import Engine
    from workbench.running.facts.memory_needed import refuse_run_without_memory
    from workbench.running.facts.remarks import engine_notes
    from workbench.training import device

    ranks.same(data.images.fingerprint)  # the others wait for the decoded images
    recorder.read(data.images, data.cache)
    sure = [
        f"{what[0].upper()}{what[1:]} {remark}." for what, remark in split_notes(config, data.images.labels, data.split)
    ]
    images = data.images
    left_out = images.problems, images.left_out, images.unit
    for sentence in (*data_in_words(images.unlike_published, data.notes, *left_out), *sure):
        emit(Remarked(sentence))
    if not resume:
        for field, sentence in config.warnings(catalogs.current(), len(training_classes(data))).items():
            emit(Noted(f"{field}: {sentence}"))
    refuse_run_without_memory(config, images, devices or (config.device,))
    with device.refusing_what_does_not_fit():
        engine = Engine(config, data, recorder.folder, control, emit, recorder.flush, ranks)
    facts = environment(engine, data, _progress(control, emit))
    before = recorder.known_environment().get("data", {})
    if resume and before.get("fingerprint") not in (None, data.images.fingerprint):
        raise Problem(
            f"The data set has changed since run {name} began: names, labels or sizes of its files differ.",
            kept="The run and its checkpoints are kept.",
            todo="Put the files back, or start a new run.",
        )
    if resume and before.get("stamp") not in (None, data.images.stamp):
        emit(
            Remarked(
                f"Files of {data.images.name} were written again since run {name} began, with the same names and "
                "sizes: it continues with the images that they hold now."
            )
        )
    facts["data"]["changed"] = changed(data)
    named = devices and devices != (LAUNCHED,)
    facts["devices"] = ",".join(devices) if named else str(engine.parts.device)
    recorder.environment(facts)
    for sentence in filter(None, (facts["data"]["shared"], facts["data"]["changed"])):
        emit(Remarked(f"{sentence}."))
    for what, remark in engine_notes(engine):
        emit(Remarked(visible(f"{what[0].upper()}{what[1:]} {remark}.")))
    if resume:
        _go_on(name, engine, recorder, emit)
    engine.run()


def _go_on(name: str, engine: "Engine", recorder: Recorder | FolderRecorder, emit: Emit) -> None:
    """Set the engine to the state of the last intact checkpoint, else to the start; later points are deleted.

    Raises:
        Problem: there are checkpoints, but none is intact; or the last one was deleted, or all are missing.
    """
    deleted_checkpoints.refuse_to_go_on(name, recorder.folder, saved=recorder.has_saved())
    damaged: list[str] = []
    for path in checkpoint_files(recorder.folder):
        try:
            engine.resume(path)
        except Problem as problem:
            damaged.append(problem.what)
            continue
        step = engine.parts.step
        recorder.forget_after(step)
        if not damaged and path.name != CHECKPOINTS["last"]:
            damaged.append(f"There is no {CHECKPOINTS['last']}.")
        if damaged:
            emit(Noted(f"{damaged[0]} The run went on from {path.name}, at step {step:,}."))
        return
    if damaged:
        raise Problem(
            " ".join(damaged), kept="Its curves and evaluations are kept.", todo="Start a new run of this config."
        )
    if forgotten := recorder.forget_after(-1):
        emit(
            Noted(
                f"Run {name} had no checkpoint yet: it starts from the beginning. Its {forgotten:,} earlier points "
                "of curves were removed."
            )
        )


def device_named(name: str) -> str:
    """The device of that name in a config: "cpu", "cuda:0", "mps". Raises Problem if this machine does not have it."""
    from workbench.training import device

    chosen = device.choose(name)
    return f"cuda:{chosen.index or 0}" if chosen.type == "cuda" else chosen.type


def _progress(control: Control, emit: Emit) -> Progress:
    """Emit the progress of work; wait while the run is paused."""

    def tell(text: str, done: int, total: int) -> None:
        wait_if_asked(control, emit)
        emit(Status(text, done, total))

    return tell
