"""Has torch, Qt and the engine loaded and forks a program for each line it is given: seconds of start become moments.

`python -m tests.campaign.starter FOLDER` writes the catalog of the engine into FOLDER, then reads {"module", "words",
"env", "log", ...} or {"asked": PID} as JSON lines and answers with a number: the new process, or its exit status
(negative for a signal), null while it runs. The forked process does what `python -m MODULE WORDS` does. program.py is
the other side.
"""

import atexit
import ctypes
import importlib
import json
import os
import resource
import runpy
import signal
import sys
import traceback
from pathlib import Path
from typing import Any

from workbench.entries import catalog

LOADED = (
    "torch", "workbench.running.engine", "workbench.cli", "workbench.sweeps.worker", "workbench.reports",
    "workbench.app", "workbench.ui.window.main_window", "workbench.projection.maps", "workbench.exchange.formats",
    "workbench.reports.formats.html", "workbench.reports.formats.pdf", "sklearn.datasets", "PIL.Image",
)  # fmt: skip
CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "shutil.rmtree")


def end_at(count: int, delay: float, below: str) -> None:
    """End this process as a kill does, `delay` seconds after the `count`-th change of a file below a folder begins.

    Without a delay it is SIGKILL, before the change is made. Else the system's timer ends it by SIGALRM, which nothing
    here handles: no line of Python runs any more.
    """
    seen = 0

    def look(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal seen
        if event == "open":
            if not arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
                return
        elif event not in CHANGES:
            return
        if not isinstance(arguments[0], str | bytes | os.PathLike) or not os.fsdecode(arguments[0]).startswith(below):
            return
        seen += 1
        if seen == count and delay:
            signal.setitimer(signal.ITIMER_REAL, delay)
        elif seen == count:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(look)


def bind_root() -> None:
    """Have file permissions bind root, too: this process and its children give up the capabilities to pass them by."""
    if os.geteuid():
        return
    libc = ctypes.CDLL(None, use_errno=True)
    given_up = (0, 1, 2, 3)  # CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER
    for each in given_up:
        libc.prctl(24, each, 0, 0, 0)  # PR_CAPBSET_DROP
    header, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    if libc.capget(header, sets):
        raise OSError(ctypes.get_errno(), "capget")
    for place in range(3):  # effective, permitted, inheritable
        sets[place] &= ~sum(1 << each for each in given_up)
    if libc.capset(header, sets):
        raise OSError(ctypes.get_errno(), "capset")


def become(asked: dict[str, Any]) -> None:
    """In the forked process: its output, surroundings and limits, then the module."""
    os.setsid()
    descriptor = os.open(asked["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    os.dup2(os.open(asked.get("stdin") or os.devnull, os.O_RDWR), 0)
    os.environ.update(asked["env"])
    if asked.get("file_size"):
        resource.setrlimit(resource.RLIMIT_FSIZE, (asked["file_size"], asked["file_size"]))
    if asked.get("bound"):
        bind_root()
    if asked.get("end_at"):
        end_at(*asked["end_at"])
    sys.argv = [asked["module"], *asked["words"]]
    status: object = 0
    try:
        runpy.run_module(asked["module"], run_name="__main__", alter_sys=True)
    except SystemExit as end:
        status = end.code
    except BaseException:  # noqa: BLE001 - as Python itself ends
        traceback.print_exc()
        status = 1
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status if isinstance(status, int) else int(status is not None))  # to free all modules takes a second


def main() -> None:
    """Serve until the input closes; what still runs then is killed."""
    for module in LOADED:
        importlib.import_module(module)
    catalog.write(Path(sys.argv[1]))
    assert len(list(Path("/proc/self/task").iterdir())) == 1, "a process with threads cannot be forked"
    print("ready", flush=True)
    running: set[int] = set()
    for line in iter(sys.stdin.buffer.readline, b""):
        asked = json.loads(line)
        if "asked" in asked:
            pid, status = os.waitpid(asked["asked"], os.WNOHANG)
            running.discard(pid)
            answer = os.waitstatus_to_exitcode(status) if pid else None
        else:
            answer = os.fork()
            if answer == 0:
                become(asked)
                return
            running.add(answer)
        print(json.dumps(answer), flush=True)
    for pid in running:
        os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
