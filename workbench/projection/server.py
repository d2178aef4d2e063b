"""The analysis process: `python -m workbench.projection.server`. JSON lines in and out, one job at a time.

Requests are {"id", "op", ...}; answers {"id", "event": "progress", "text", "done", "total"}, {"id", "event": "result",
...} or {"id", "event": "error", "what", "kept", "todo"}. Ops: project, project_arrays, nmi, warm, cancel, quit. The
process ends when its input closes, also in the middle of a job.

A job hears {"op": "cancel", "id": N} between stages. Windows cannot look into a pipe without reading it: there a job
runs to its end unless the one who asked ends this process, as jobs.AnalysisProcess.cancel does when nothing else waits.
"""

import json
import logging
import os
import select
import signal
import sys
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np

from workbench import files
from workbench.control import Cancelled
from workbench.problem import Problem
from workbench.projection.maps import Map, make_map
from workbench.projection.vectors import Report

log = logging.getLogger(__name__)
Message = dict[str, Any]
CAN_PEEK = sys.platform != "win32"
Field = TypeVar("Field")
OFTEN = 0.1  # seconds between two progress answers of one stage


class InputClosed(Exception):  # noqa: N818 - an end, not an error
    """Whoever started this process is gone."""


class Requests:
    """Lines from a file descriptor, read ahead so that a running job hears of its cancellation."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._rest = b""
        self._lines: deque[bytes] = deque()
        self._closed = False

    def next(self) -> bytes | None:
        """The next line, waited for; None when the input has closed and all lines are read."""
        while not self._lines and not self._closed:
            self._read()
        return self._lines.popleft() if self._lines else None

    def withdrawn(self, number: object) -> bool:
        """Whether a cancel of this request has arrived. Raises InputClosed when the input ended."""
        while CAN_PEEK and not self._closed and select.select([self._descriptor], [], [], 0)[0]:
            self._read()
        if self._closed:
            raise InputClosed
        return any(is_cancel(line, number) for line in self._lines)

    def _read(self) -> None:
        chunk = os.read(self._descriptor, 65_536)
        self._closed = not chunk  # a last line without its end was never finished: it is left alone
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        self._lines.extend(line for line in lines if line.strip())


def is_cancel(line: bytes, number: object) -> bool:
    """Whether a line withdraws request `number`."""
    try:
        message = json.loads(line)
    except ValueError:
        return False
    return isinstance(message, dict) and message.get("op") == "cancel" and message.get("id") == number


def project(request: Message, report: Report) -> Message:
    """Map an evaluation of a workspace and store it there: workspace, evaluation, method, params, seed."""
    from workbench.workspace import Workspace

    started = time.monotonic()
    evaluation, method, seed = _field(request, "evaluation", int), _field(request, "method", str), _seed(request)
    params = _field({"params": {}, **request}, "params", dict)
    with Workspace(_field(request, "workspace", str)) as workspace:
        _, _, embeddings = workspace.embeddings(evaluation)
        proxies = workspace.proxies(evaluation)
        found = make_map(embeddings, proxies and proxies[0], method, params, seed, report)
        report("Storing the map", 0, 0)
        trustworthiness = found.trust.trustworthiness if found.trust else None
        number = workspace.add_projection(
            evaluation, method, found.params, seed, found.points, found.proxies, trustworthiness, found.versions
        )
    return {"projection": number, **_told(found, started)}


def project_arrays(request: Message, report: Report) -> Message:
    """Map embeddings.npy (and proxies.npy) into the folder `out`: points.npy and, with proxies, proxies.npy."""
    started = time.monotonic()
    embeddings, method = _array(_field(request, "embeddings", str)), _field(request, "method", str)
    proxies = _array(_field(request, "proxies", str)) if request.get("proxies") is not None else None
    folder = Path(_field(request, "out", str))
    found = make_map(
        embeddings, proxies, method, _field({"params": {}, **request}, "params", dict), _seed(request), report
    )
    answer = _told(found, started)
    for name, array in (("points", found.points), ("proxies", found.proxies)):
        if array is not None:
            answer[name] = _save(folder / f"{name}.npy", array)
    return answer


def nmi(request: Message, report: Report) -> Message:
    """k-means and NMI of embeddings.npy and labels.npy: embeddings, labels, metric, seed."""
    report("Clustering", 0, 0)
    from workbench.projection.clustering import nmi as measure

    embeddings, labels = _array(_field(request, "embeddings", str)), _array(_field(request, "labels", str))
    return {"nmi": measure(embeddings, labels, request.get("metric", "cosine"), _seed(request))}


def warm(request: Message, report: Report) -> Message:
    """Load and compile what UMAP needs, so that the first map is not the slow one."""
    started = time.monotonic()
    report("Loading UMAP", 0, 0)
    from workbench.projection.umap_map import warm_up

    warm_up(report)
    return {"seconds": time.monotonic() - started}


OPS: dict[str, Callable[[Message, Report], Message]] = {
    "project": project,
    "project_arrays": project_arrays,
    "nmi": nmi,
    "warm": warm,
}


def answer(line: bytes, requests: Requests, tell: Callable[[Message], None]) -> bool:
    """Do what one line asks; False when it asks to quit. Whatever goes wrong becomes an error answer."""
    number: object = None
    try:
        request = _understood(line)
        number = request.get("id")
        if request["op"] in ("quit", "cancel"):  # a cancel that comes after its job has nothing to do
            return bool(request["op"] == "cancel")
        report = _reporter(number, requests, tell)
        report("Starting", 0, 0)  # also hears a cancel that came while another job ran
        tell({"id": number, "event": "result", **OPS[request["op"]](request, report)})
    except Cancelled:
        tell(_error(number, "The request was cancelled."))
    except Problem as problem:
        tell(_error(number, problem.what, problem.kept, problem.todo))
    except MemoryError:
        tell(_error(number, "There is not enough memory for this map.", "Everything stored is kept.", "Use PCA."))
    except InputClosed:
        return False
    except Exception:  # ours: the traceback for the log, a sentence for the person
        log.exception("%r failed", line[:500])
        tell(_error(number, "This is a defect in Workbench.", "Everything stored is kept.", "See the log."))
    return True


def _understood(line: bytes) -> Message:
    try:
        request = json.loads(line)
    except ValueError as error:
        raise Problem("The analysis process was sent a line that is not JSON.") from error
    op = request.get("op") if isinstance(request, dict) else None
    if not isinstance(op, str) or op not in (*OPS, "cancel", "quit"):
        raise Problem(f"The analysis process knows no {op!r}.", todo=f"Known: {', '.join(OPS)}, cancel, quit.")
    return request


def _reporter(number: object, requests: Requests, tell: Callable[[Message], None]) -> Report:
    """A report that hears a cancel, and tells every stage at once but its numbers only now and then."""
    last_text, last_time = "", 0.0

    def report(text: str, done: int, total: int) -> None:
        nonlocal last_text, last_time
        if requests.withdrawn(number):
            raise Cancelled
        now = time.monotonic()
        if text != last_text or now - last_time >= OFTEN:
            last_text, last_time = text, now
            tell({"id": number, "event": "progress", "text": text, "done": done, "total": total})

    return report


def _field(request: Message, name: str, kind: type[Field]) -> Field:
    """A field of a request. Raises Problem when it is missing or not of that kind."""
    value = request.get(name)
    if not isinstance(value, kind):
        raise Problem(f"The request must name {name!r} as {kind.__name__}, not {value!r}.")
    return value


def _seed(request: Message) -> int:
    seed = _field({"seed": 0, **request}, "seed", int)
    if not 0 <= seed < 2**32:
        raise Problem(f"The seed must lie between 0 and 4,294,967,295, not at {seed}.")
    return seed


def _array(path: str) -> np.ndarray:
    """A memory-mapped .npy file. Raises Problem when it is not one."""
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise Problem(f"{path} cannot be read as an array.") from error


def _save(path: Path, array: np.ndarray) -> str:
    with files.atomic_write(path) as file:
        np.save(file, array, allow_pickle=False)
    return str(path)


def _told(found: Map, started: float) -> Message:
    measured = found.trust
    return {
        "trustworthiness": measured and measured.trustworthiness,
        "continuity": measured and measured.continuity,
        "trust_neighbours": measured and measured.neighbours,
        "trust_queries": measured and measured.queries,
        "points_count": len(found.points),
        "seconds": time.monotonic() - started,
    }


def _error(number: object, what: str, kept: str = "", todo: str = "") -> Message:
    return {"id": number, "event": "error", "what": what, "kept": kept, "todo": todo}


def serve(requests: Requests, out: IO[str]) -> None:
    """Answer requests until one says quit or the input closes."""

    def tell(message: Message) -> None:
        out.write(json.dumps(message) + "\n")
        out.flush()

    while (line := requests.next()) is not None and answer(line, requests, tell):
        pass


def main() -> None:
    """Keep the two pipes to ourselves: whatever a library prints goes to stderr, whatever it reads is empty.

    Training and the window go first, and Ctrl+C is for the one who started this process, who then closes the input.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "nice"):
        os.nice(5)
    own_input, own_output = os.dup(0), os.dup(1)
    with open(os.devnull) as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    with open(own_output, "w", encoding="utf-8") as out:
        try:
            serve(Requests(own_input), out)
        except BrokenPipeError:  # nobody listens any more
            os._exit(0)


if __name__ == "__main__":
    main()
