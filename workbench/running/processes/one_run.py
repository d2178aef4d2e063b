"""The process of one run.

`python -m workbench.running.processes.one_run WORKSPACE RUN [--resume] [--attended] [--device=NAME]` is how it starts.
It reads commands as JSON lines, and ends with a checkpoint when the process that started it is gone. With `--spare`
alone it first loads torch and the engine, and then reads its arguments from a line {"words", "log"}.
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from typing import Any, BinaryIO

from workbench.control import Control
from workbench.events import Ended, Event, Progress, Waiting
from workbench.jobs import collect_rarely, let_the_window_go_first, start_daemon
from workbench.problem import Problem
from workbench.running import launch
from workbench.running.processes.spare import WAITING
from workbench.workspace import Workspace

Tell = Callable[[dict[str, Any]], None]


def main(words: list[str]) -> int:
    """Train the run that the words name; returns the exit status."""
    tell = _own_output()
    collect_rarely()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the process that started this one
    if words == [WAITING]:
        words = wait_for_run(sys.stdin.buffer, tell)
    folder, number, *options = words
    device = next((option.partition("=")[2] for option in options if option.startswith("--device=")), "")
    control = Control(attended="--attended" in options)
    if control.attended:
        let_the_window_go_first()
    signal.signal(signal.SIGTERM, lambda *_: control.interrupt())

    begun = False

    def listen(event: Event) -> None:
        nonlocal begun
        if isinstance(event, Progress) and not begun:
            begun = True
            tell({"event": "training"})
        if isinstance(event, Waiting) and event.reason:  # it waits by itself; a requested pause is known
            tell({"event": "waiting", "reason": event.reason})
        elif isinstance(event, Ended):
            tell({"event": "ended", "status": event.status, "problem": event.problem})

    try:
        with Workspace(Path(folder)) as workspace:
            run_id = int(number)
            workspace.take_over(run_id)
            resume = "--resume" in options
            job = launch.make_job(workspace, run_id, control, listen, resume=resume, device=device)
            start_daemon("orders", lambda: obey(sys.stdin.buffer, control))
            job.start().join()
    except Problem as problem:
        tell({"event": "ended", "status": "failed", "problem": str(problem)})
        return 1
    return 0


def wait_for_run(orders: BinaryIO, tell: Tell) -> list[str]:
    """Load what a run needs, then wait for its arguments; ends the process if the one that started it is gone."""
    lines: SimpleQueue[bytes] = SimpleQueue()

    def hear() -> None:
        line = orders.readline()
        if not line.endswith(b"\n"):
            os._exit(0)  # also in the middle of loading: nothing has to be released
        lines.put(line)

    start_daemon("the run's words", hear)
    let_the_window_go_first()
    from workbench.entries import catalog
    from workbench.running import engine  # noqa: F401
    from workbench.training import device

    catalog.current()
    device.choose("auto")
    tell({"event": "ready"})
    order = json.loads(lines.get())
    with open(order["log"], "ab") as errors:
        os.dup2(errors.fileno(), 2)
        os.dup2(errors.fileno(), 1)
    return [str(word) for word in order["words"]]


def obey(orders: BinaryIO, control: Control) -> None:
    """Obey the commands until the input ends; then the run ends with a checkpoint."""
    for line in orders:
        asked = json.loads(line)
        if "give_way" in asked:
            control.give_way(float(asked["give_way"]))
        elif asked["cancel"]:
            (control.stop_now if asked["keep"] else control.cancel)()
        elif asked["interrupt"]:
            control.interrupt()
        elif asked["stop"] and not control.stop_asked:
            control.stop()
        elif asked["pause"]:
            control.pause()
        else:
            control.resume()
    control.interrupt()


def _own_output() -> Tell:
    """Reserve the pipe for answers: what a library prints goes to stderr."""
    own = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)

    def tell(message: dict[str, Any]) -> None:
        try:
            own.write(json.dumps(message).encode() + b"\n")
        except OSError:  # the reader is gone
            return

    return tell


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
