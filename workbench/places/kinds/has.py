"""What a machine has of the files and GPUs that a run names, in one short command that needs no Python there."""

import re
from collections.abc import Sequence

from workbench.places.contract import Has, Host

LIMIT = 20.0  # seconds
# A function of a path: below a folder that may not be searched it cannot be seen whether there is one.
STATE = (
    'state() { if [ -e "$1" ]; then if [ -r "$1" ] && { [ ! -d "$1" ] || [ -x "$1" ]; }; then echo there; '
    'else echo unreadable; fi; return; fi; above=$1; while [ ! -e "$above" ]; do case $above in '
    "/|.) break;; */*) above=${above%/*}; above=${above:-/};; *) above=.;; esac; done; "
    'if [ -d "$above" ] && [ ! -x "$above" ]; then echo unreadable; else echo missing; fi; }; '
)
# A line of the state of each path, then the GPUs of NVIDIA, where their number is certain, and the system. A machine
# with another device that torch may use, such as AMD's (kfd), or without a driver's tool, has an unknown number.
SCRIPT = (
    f'{STATE}for p in "$@"; do echo "path $(state "$p")"; done; '
    "n=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU '); "
    'if [ "$n" -gt 0 ]; then ls -d /dev/kfd 2>/dev/null | grep -q . || echo "gpus $n"; '
    'elif [ "$(uname)" = Linux ] && ! ls -d /dev/nvidia* /dev/nvhost* /dev/kfd /dev/dxg 2>/dev/null | grep -q .; then '
    'echo "gpus 0"; fi; echo "system $(uname)"'
)


def look(host: Host, paths: Sequence[str], *, trains: bool) -> Has:
    """Ask a machine; `trains`: whether runs train there, and not on nodes behind it. Raises Unreachable, Problem."""
    answer = host.call(["sh", "-c", SCRIPT, "sh", *paths], seconds=LIMIT)
    states, gpus, system = list[str](), None, ""
    for line in answer.out.decode("utf-8", "replace").splitlines():
        name, _, value = line.partition(" ")
        if name == "path":
            states.append(value)
        elif name == "gpus" and re.fullmatch(r"[0-9]{1,4}", value):
            gpus = int(value)
        elif name == "system":
            system = value
    whole = states if len(states) == len(paths) else []  # an answer that is cut says nothing
    return Has(dict(zip(paths, whole, strict=False)), gpus, system, trains)
