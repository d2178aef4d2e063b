"""A run in a process of its own: this side starts it, passes commands on, and waits for its end.

The process writes to the workspace itself, like a run of the command line. If it crashes (a fault of CUDA, no memory),
only the run has failed.
"""

import contextlib
import signal
from typing import Any

from workbench.control import Cancelled, Control
from workbench.events import Emit
from workbench.jobs import Job, ToldProcess
from workbench.problem import Problem
from workbench.running.processes.spare import MODULE, Spare
from workbench.workspace import Workspace
from workbench.workspace.paths import unshared

LOG = "process.log"
LOOK = 0.05  # seconds between two checks of the control
LONGEST_LINE = 200  # characters of a log's last line


def make_job(
    workspace: Workspace, run_id: int, control: Control, listen: Emit | None = None, *, resume: bool = False,
    device: str = "", threads: int = 0, spare: Spare | None = None,
) -> Job:  # fmt: skip
    """As `launch.make_job`; `listen` gets only the last of the run's events, the others are in the workspace.

    `threads` is how many threads torch may use on the CPU, 0 for its default. `spare` may have a process that waits for
    a run; the next one is started when this run trains.
    """

    def work(control: Control, emit: Emit) -> None:
        control.standing_back = True  # no window waits for this thread
        follow(workspace, run_id, control, resume=resume, device=device, threads=threads, spare=spare)

    return Job(f"run {run_id}", work, listen or (lambda event: None), control)


def follow(
    workspace: Workspace, run_id: int, control: Control, *, resume: bool, device: str = "", threads: int = 0,
    spare: Spare | None = None,
) -> None:  # fmt: skip
    """Start the process of a run that this process owns, and return when the run has ended.

    Raises:
        Problem: the run failed, or its process crashed, in which case the run is marked as failed.
        Cancelled: it was asked to end at once.
    """
    workspace.hand_over(run_id)
    words = [str(workspace.path.absolute()), str(run_id), f"--device={device}"]
    words += ["--resume"] if resume else []
    words += ["--attended"] if control.attended else []
    variables = {"OMP_NUM_THREADS": str(threads)} if threads else {}
    log = unshared(workspace.file(run_id, LOG))
    process = spare.take(words, log) if spare is not None and not threads else None
    process = process or ToldProcess(MODULE, words, log, variables)
    ended: dict[str, Any] = {}
    control.pass_on = lambda seconds: process.tell({"give_way": seconds})
    try:
        before, status = asked_of(Control()), None
        while status is None:
            asked = asked_of(control)
            if asked != before:
                process.tell(asked)
                before = asked
            status = process.join(LOOK)
            for answer in process.answers():
                if answer.get("event") == "waiting":
                    control.reason = str(answer.get("reason", ""))
                    control.pause()
                elif answer.get("event") == "ended":
                    ended = answer
                elif answer.get("event") == "training" and spare is not None:
                    spare.prepare()
    finally:
        control.pass_on = None
        process.close()
        if spare is not None:
            spare.prepare()  # of a run that ended before its first step
    _conclude(workspace, run_id, control, ended, status)


def asked_of(control: Control) -> dict[str, bool]:
    """The current state of the control, as it is sent to the run's process."""
    return {
        "pause": control.paused, "stop": control.stop_asked, "interrupt": control.interrupted,
        "cancel": control.cancelled, "keep": control.kept,
    }  # fmt: skip


def _conclude(workspace: Workspace, run_id: int, control: Control, ended: dict[str, Any], status: int) -> None:
    match ended.get("status"):
        case "done":
            return
        case "stopped":
            if not control.kept:
                control.interrupted = True  # whoever requested it
                return
            raise Cancelled
        case "cancelled":
            raise Cancelled
        case "failed":
            problem = Problem(str(ended.get("problem", "")))
            if workspace.run(run_id).live:  # it could not record the end, or not even begin
                with contextlib.suppress(Problem):
                    workspace.take_over(run_id)
                    workspace.set_status(run_id, "failed", str(problem))
            raise problem
    run = workspace.run(run_id)
    if run.status == "done":
        return
    sentence = _crash(workspace, run_id, status)
    workspace.take_over(run_id)
    workspace.set_status(run_id, "failed", sentence)
    raise Problem(sentence)


def _crash(workspace: Workspace, run_id: int, status: int) -> str:
    """The Problem of a process that ended without a message."""
    if status < 0:
        try:
            name = signal.Signals(-status).name
        except ValueError:
            name = f"signal {-status}"
        how = f"was ended by {name}"
        if name == "SIGKILL":
            how = f"{how}, as systems do when memory runs out"
    else:
        how = f"ended with status {status}"
    try:
        lines = workspace.file(run_id, LOG).read_text("utf-8", "replace").strip().splitlines()
    except OSError:
        lines = []
    last = f" Its last output: {lines[-1][:LONGEST_LINE]}" if lines and status > 0 else ""
    kept = "What was saved is kept; Resume continues the run from its last checkpoint."
    return f"The process of run {run_id} {how}.{last} {kept}"
