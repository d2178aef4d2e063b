"""A Python for a place whose runs begin in a moment: torch and the engine are loaded once, and every run is forked.

`python -m tests.campaign.quick_python SOCKET` loads them and serves; `install` writes the Python of a place, a small
program that passes its words on, is killed as a run is killed, and ends with the status of the run.
"""

import ctypes
import importlib
import json
import os
import resource
import runpy
import signal
import socket
import subprocess
import sys
import threading
import traceback
from pathlib import Path

from workbench import registry

ROOT = Path(__file__).resolve().parents[2]
LOADED = (
    "torch", "torch._dynamo", "torchvision", "pytorch_metric_learning.losses", "pytorch_metric_learning.miners",
    "workbench.running.engine", "workbench.cli", "sklearn.datasets", "PIL.Image",
)  # fmt: skip
ENTRIES = ("datasets", "backbones", "losses")
CLIENT = """
import array, json, os, signal, socket, sys
wire = socket.socket(socket.AF_UNIX)
wire.connect(sys.argv[1])
asked = json.dumps({"words": sys.argv[3:], "folder": os.getcwd()}).encode()
descriptors = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [1, 2]))]
wire.sendmsg([len(asked).to_bytes(8, "big") + asked], descriptors)
pid = int.from_bytes(wire.recv(8), "big")
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1):
    signal.signal(number, lambda number, frame: os.kill(pid, number))
said = wire.recv(1)
sys.exit(said[0] if said else 137)
"""


def install(folder: Path, address: Path) -> Path:
    """Write the Python of a place into a folder; other words than `-m MODULE` are done by this Python itself."""
    client = folder / "client.py"
    client.write_text(CLIENT)
    program = folder / "python"
    program.write_text(
        "#!/bin/sh\n"
        f'[ "$1" = -m ] && exec {sys.executable} -S -E {client} {address} "$@"\n'
        f'PYTHONPATH={ROOT} exec {sys.executable} "$@"\n'
    )
    program.chmod(0o755)
    return program


def start(address: Path, **surroundings: str) -> "subprocess.Popen[str]":
    """Start the server and wait until it takes words; it ends when its input closes."""
    env = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **surroundings}
    words = [sys.executable, "-m", "tests.campaign.quick_python", str(address)]
    server = subprocess.Popen(words, cwd=ROOT, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    if not server.stdout.readline():
        raise RuntimeError("the engine cannot be loaded: see above")
    return server


def _become(wire: socket.socket, words: list[str], folder: str, descriptors: list[int]) -> None:
    """In the forked process: as `python -m MODULE WORDS`, and its exit status to who asked."""
    os.setsid()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(folder)
    for target, opened in enumerate(descriptors, start=1):
        os.dup2(opened, target)
        os.close(opened)

    def watch() -> None:
        if not wire.recv(1):  # who asked was killed
            os.kill(os.getpid(), signal.SIGKILL)

    wire.sendall(os.getpid().to_bytes(8, "big"))
    threading.Thread(target=watch, daemon=True).start()
    sys.argv = list(words)
    status: object = 0
    try:
        runpy.run_module(words[0], run_name="__main__", alter_sys=True)
    except SystemExit as end:
        status = end.code
    except BaseException:  # noqa: BLE001 - as Python itself ends
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    wire.sendall(bytes([status if isinstance(status, int) else int(status is not None)]))
    os._exit(0)


def serve(address: str) -> None:
    """Fork a process for each asker, until the input closes."""
    for module in LOADED:
        importlib.import_module(module)
    for kind in ENTRIES:
        registry.discover(f"workbench.{kind}")
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: it outlives no drill
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(address)
        door.listen(256)
        print("ready", flush=True)
        while True:
            wire, _ = door.accept()
            with wire:
                head, descriptors, _, _ = socket.recv_fds(wire, 1 << 16, 2)
                length = int.from_bytes(head[:8], "big")
                while len(head) < 8 + length:
                    head += wire.recv(1 << 16)
                asked = json.loads(head[8:])
                if os.fork() == 0:
                    door.close()
                    _become(wire, asked["words"], asked["folder"], descriptors)
                for opened in descriptors:
                    os.close(opened)


if __name__ == "__main__":
    serve(sys.argv[1])
