"""What a machine has for a run, a sentence each: Python, Workbench, GPU, room on the disk, data, the clock."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from time import monotonic
from typing import Any

from workbench import __version__
from workbench.places.contract import Finding, Host, Unreachable
from workbench.places.host_files import last_line
from workbench.places.place import Place
from workbench.problem import Problem

PROBE_LIMIT = 180.0  # seconds: the first import of torch from a slow disk
LEAST_ROOM = 2e9  # bytes
CLOCK_OFF = 300.0  # seconds
LARGEST_NUMBER = 1e18  # of bytes or seconds that are believed
PROBE = """
import json, os, platform, shutil, sys, time
folder, *data = sys.argv[1:]
facts = {"python": platform.python_version(), "clock": time.time(), "data": [os.path.isdir(path) for path in data]}
while folder and not os.path.isdir(folder):
    folder = os.path.dirname(folder)
facts["free"] = shutil.disk_usage(folder or ".").free
try:
    import workbench
    facts["workbench"] = workbench.__version__
except Exception as error:
    facts["no workbench"] = str(error)
try:
    import torch
    facts["torch"] = torch.__version__
    gpus = [torch.cuda.get_device_properties(at) for at in range(torch.cuda.device_count())]
    facts["gpus"] = [[gpu.name, gpu.total_memory] for gpu in gpus]
    facts["mps"] = torch.backends.mps.is_available()
except Exception as error:
    facts["no torch"] = str(error)
print("facts " + json.dumps(facts))
"""


def look(host: Host, place: Place) -> list[Finding]:
    """What is there and what is missing; an unreachable machine is one bad finding."""
    began = monotonic()
    try:
        host.call(["true"], seconds=20)
        finding = Finding("Connection", f"It answers in {1000 * (monotonic() - began):.0f} ms.")
        return [finding, *_of_facts(_facts(host, place), place)]
    except (Unreachable, _MissingPython) as problem:
        what = "Connection" if isinstance(problem, Unreachable) else "Python"
        findings = [] if isinstance(problem, Unreachable) else [finding]
        return [*findings, Finding(what, str(problem), good=False)]


class _MissingPython(Problem):
    """There is no such Python, or it does not answer as one."""


def _facts(host: Host, place: Place) -> dict[str, Any]:
    answer = host.call(
        [place.python, "-c", PROBE, place.folder, *sorted(place.data.values())], seconds=PROBE_LIMIT
    )  # fmt: skip
    lines = [line for line in answer.out.decode("utf-8", "replace").splitlines() if line.startswith("facts ")]
    try:
        facts = json.loads(lines[-1].removeprefix("facts "))
        if isinstance(facts, dict):
            return facts
    except (IndexError, ValueError, RecursionError):
        pass
    raise _MissingPython(
        f"There is no Python at {place.python} ({last_line(answer.errors)}).",
        todo=f"`workbench place install {place.name}` makes one, or name another.",
    )


def _of_facts(facts: dict[str, Any], place: Place) -> Iterable[Finding]:
    """Sentences on what the probe printed; it may be anything that JSON can say."""
    yield Finding("Python", f"Python {_word(facts.get('python'))} is at {place.python}.")
    there = _word(facts.get("workbench"))
    if "workbench" not in facts:
        todo = f"`workbench place install {place.name}` shows how to put it there."
        yield Finding("Workbench", f"Workbench is not there ({_word(facts.get('no workbench'))}). {todo}", good=False)
    elif there != __version__:
        yield Finding("Workbench", f"Workbench {there} is there and {__version__} is here.", doubtful=True)
    else:
        yield Finding("Workbench", f"Workbench {there} is there, as here.")
    yield _gpu(facts)
    room = _number(facts.get("free"))
    words = (
        f"{room / 1e9:,.0f} GB are free there." if room >= LEAST_ROOM else f"Only {room / 1e9:.1f} GB are free there."
    )
    yield Finding("Disk", words, good=room >= LEAST_ROOM)
    off = abs(_number(facts.get("clock")) - datetime.now(UTC).timestamp())
    if off > CLOCK_OFF:
        yield Finding(
            "Clock", f"Its clock is {off / 60:,.0f} min off this one's; runs are followed all the same.", doubtful=True
        )
    present = facts.get("data")
    for (_, path), is_there in zip(
        sorted(place.data.items(), key=lambda item: item[1]), present if isinstance(present, list) else [], strict=False
    ):
        yield Finding(
            "Data",
            f"{path} is there." if is_there is True else f"The data folder {path} is not there.",
            good=is_there is True,
        )


def _gpu(facts: dict[str, Any]) -> Finding:
    if "no torch" in facts:
        return Finding("GPU", f"PyTorch cannot be loaded there ({_word(facts['no torch'])}).", good=False)
    gpus = facts.get("gpus")
    names = (
        [f"{_word(gpu[0])}, {_number(gpu[1]) / 1e9:.0f} GB" for gpu in gpus if _is_gpu(gpu)]
        if isinstance(gpus, list)
        else []
    )
    if names:
        return Finding(
            "GPU", f"{len(names)} GPU: {names[0]}." if len(names) == 1 else f"{len(names)} GPUs: {'; '.join(names)}."
        )
    if facts.get("mps") is True:
        return Finding("GPU", "Its GPU is Apple's.")
    return Finding("GPU", "There is no GPU: runs train on its CPU.", doubtful=True)


def _is_gpu(gpu: object) -> bool:
    return isinstance(gpu, list) and len(gpu) == 2 and isinstance(gpu[1], int | float)


def _number(value: object) -> float:
    """A number of another machine; 0 for what is none, or is too large to be one."""
    if not isinstance(value, int | float) or not abs(value) < LARGEST_NUMBER:
        return 0.0
    return float(value)


def _word(value: object) -> str:
    """A value of another machine in a sentence: one line, cut short."""
    return "".join(letter if letter.isprintable() else " " for letter in str(value))[:100].strip()
