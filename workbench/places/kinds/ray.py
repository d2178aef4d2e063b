"""Runs of a Ray cluster: jobs by the REST interface of its dashboard, run folders on a disk that its nodes share.

A job's number is `SUBMISSION:NAME`: one job of Ray trains several runs in turn. A word in `ask` in a run's folder asks
it to end, which the job's shell passes on as a signal, or as the file `after-epoch`; `exit` has the exit status of a
run that has ended.
"""

import json
import re
import shlex
import urllib.error
import urllib.request
import uuid
from collections.abc import Sequence
from http.client import HTTPException
from typing import Any, NamedTuple

from workbench.places.contract import KILLED, Ending, Finding, JobState, Order, Part, Standing, Unreachable
from workbench.places.host.host_files import last_line
from workbench.places.kinds import checks
from workbench.places.kinds.run_command import BEGINS, run_folder, run_words
from workbench.places.kinds.through_host import ThroughHost
from workbench.places.place import RayPlace
from workbench.problem import Problem
from workbench.workspace.folders.travelling import AFTER_EPOCH

LARGEST_ANSWER = 64 << 20  # bytes
AT_ONCE = 1000  # runs in one request
PATIENCE = 30.0  # seconds for an answer
SAVED = (130, 143)  # exit statuses of a run that was asked to end
ASKED = {Ending.AFTER_EPOCH: "EPOCH", Ending.SAVED: "TERM", Ending.AT_ONCE: "KILL"}
WORK = (
    """\
ended() { echo "$1" >"$folder/exit.part" && mv -f "$folder/exit.part" "$folder/exit"; }
stop() { [ -n "$run" ] && kill -TERM $run; stopped=1; }
trap stop TERM INT
work() { # folder, words of the run
  folder=$1; shift; run=
  [ -z "$stopped" ] || return
  [ "$(cat "$folder/job")" = "$job" ] || return # it was sent again since
  if [ -s "$folder/ask" ]; then ended 143; return; fi
  echo '"""
    + BEGINS
    + """' >>"$folder/log"
  "$@" >>"$folder/log" 2>&1 </dev/null & run=$!
  : >"$folder/begun"
  while kill -0 $run 2>/dev/null; do
    if [ -s "$folder/ask" ]; then
      case $(cat "$folder/ask") in
        EPOCH) : >"$folder/AFTER_EPOCH";;
        KILL) kill -KILL $run;;
        *) kill -TERM $run;;
      esac
      : >"$folder/ask"
    fi
    sleep 0.5
  done
  wait $run; ended $?; run=
}
"""
).replace("AFTER_EPOCH", AFTER_EPOCH)
FRESH = f'cd -- "$1" && shift && for n in "$@"; do rm -f -- "$n/exit" "$n/ask" "$n/begun" "$n/{AFTER_EPOCH}"; done'


class Number(NamedTuple):
    """The parts of a job's number."""

    submission: str
    name: str


class Ray(ThroughHost[RayPlace]):
    """Launcher of a Ray cluster, by a machine that sees the folder of the runs."""

    def submit(self, orders: Sequence[Order]) -> list[str]:
        """As `Launcher.submit`: spread over `at_once` jobs.

        A run that waits or trains there keeps its number: another laptop sent it, or the answer to an earlier call was
        lost.
        """
        self._write(orders)
        numbers = self._at_work([order.name for order in orders])
        new = [order for order in orders if order.name not in numbers]
        self._host.call(["sh", "-c", FRESH, "sh", self._place.folder, *(order.name for order in new)])
        for first in range(min(self._place.at_once, len(new))):
            line = new[first :: self._place.at_once]
            submission = f"workbench-{uuid.uuid4().hex}"
            script = f"jobs/{submission}.sh"
            own = {f"{order.name}/job": f"{submission}\n".encode() for order in line}
            own[script] = self._script(submission, line).encode()
            self._write((), own)
            asked: dict[str, Any] = {
                "entrypoint": shlex.join(["sh", f"{self._place.folder}/{script}"]),
                "submission_id": submission,
                "metadata": {"name": line[0].title[:200] or line[0].name},
                "entrypoint_num_cpus": self._place.cpus,
            }
            if self._place.gpus:
                asked["entrypoint_num_gpus"] = self._place.gpus
            self._request("/api/jobs/", asked)
            numbers |= {order.name: f"{submission}:{order.name}" for order in line}
        return [numbers[order.name] for order in orders]

    def states(self, jobs: Sequence[str]) -> list[Standing]:
        """As `Launcher.states`: of the runs' exit statuses, else of their jobs in Ray."""
        numbers = [_number(job) for job in jobs]
        jobs_by_id = {str(job.get("submission_id")): job for job in self._jobs()}
        standings: list[Standing] = []
        for start in range(0, len(numbers), AT_ONCE):
            some = numbers[start : start + AT_ONCE]
            parts = [Part(f"{number.name}/{name}", most=8) for number in some for name in ("exit", "begun", "ask")]
            written = iter(self._read_all(parts))
            standings += [
                _standing(jobs_by_id.get(number.submission), status, begun is not None, bool(asked))
                for number, status, begun, asked in zip(some, written, written, written, strict=True)
            ]
        return standings

    def stop(self, job: str, how: Ending) -> None:
        """As `Launcher.stop`; a run that waits for the one before it is left out."""
        number = _number(job)
        waits = self.states([job])[0].state is JobState.QUEUED
        self.put(f"{number.name}/ask", ASKED[how].encode())
        if waits and self._last_of(number):
            self._request(f"/api/jobs/{number.submission}/stop", {})

    def check(self) -> list[Finding]:
        """Whether the dashboard answers, and what the machine has that sees the folder."""
        try:
            version = self._request("/api/version")
        except (Unreachable, Problem) as problem:
            return [Finding("Ray", str(problem), good=False)]
        name = re.sub(r"[^0-9A-Za-z.]", "", str(version.get("ray_version")))[:20] if isinstance(version, dict) else ""
        ray = Finding("Ray", f"Ray {name} answers.")
        return [ray, *checks.look(self._host, self._place)]

    def _at_work(self, names: Sequence[str]) -> dict[str, str]:
        """The numbers of these runs whose jobs are live, by name; not of those that have ended or are asked to."""
        parts = [Part(f"{name}/{file}", most=64) for name in names for file in ("job", "exit", "ask")]
        written = iter(self._read_all(parts))
        sent: dict[str, str] = {}  # submissions
        for name, job, status, asked in zip(names, written, written, written, strict=True):
            if job and status is None and not asked:
                sent[name] = job.decode("ascii", "replace").strip()
        jobs = self._jobs() if sent else []
        live = {str(job.get("submission_id")) for job in jobs if job.get("status") in ("PENDING", "RUNNING")}
        return {name: f"{submission}:{name}" for name, submission in sent.items() if submission in live}

    def _last_of(self, number: Number) -> bool:
        """Whether the job has this run alone."""
        (script,) = self._read_all([Part(f"jobs/{number.submission}.sh")])
        return script is not None and script.count(b"\nwork ") == 1

    def _script(self, submission: str, orders: Sequence[Order]) -> str:
        lines = [shlex.join(["work", run_folder(self._place, order.name), *run_words(self._place, order)])
                 for order in orders]  # fmt: skip
        return "\n".join([f"job={submission}", WORK, *lines, "exit 0", ""])

    def _jobs(self) -> list[dict[str, Any]]:
        jobs = self._request("/api/jobs/")
        if not isinstance(jobs, list):
            raise Unreachable(f"{self._place.url} gave no list of jobs.")
        return [job for job in jobs if isinstance(job, dict)]

    def _request(self, path: str, asked: dict[str, Any] | None = None) -> Any:
        """The answer to a GET, or to a POST of `asked`. Raises Unreachable, or Problem if it is refused."""
        url = self._place.url.rstrip("/") + path
        body = None if asked is None else json.dumps(asked).encode()
        request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                text = answer.read(LARGEST_ANSWER + 1)
        except urllib.error.HTTPError as error:
            with error:
                said = last_line(error.read(1 << 16).decode("utf-8", "replace"))
            if error.code == 404 and path.endswith("/stop"):  # it has ended, and Ray has forgotten it
                return None
            if asked is None or not 400 <= error.code < 500:
                raise Unreachable(f"Ray at {self._place.url} cannot answer now: {said}.") from None
            raise Problem(f"Ray at {self._place.url} refused it: {said}.", kept="Nothing was started.") from None
        except (OSError, HTTPException) as error:
            reason = getattr(error, "reason", error)
            said = last_line(str(getattr(reason, "strerror", None) or reason))
            raise Unreachable(f"Ray at {self._place.url} does not answer: {said}.") from None
        if len(text) > LARGEST_ANSWER:
            raise Unreachable(f"Ray at {self._place.url} answers with over {LARGEST_ANSWER >> 20} MiB.")
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            raise Unreachable(f"{self._place.url} does not answer as Ray does.") from None


def _standing(job: dict[str, Any] | None, status: bytes | None, begun: bool, asked: bool) -> Standing:
    """Of the job's facts, the run's exit status, whether it began and whether it was asked to end."""
    if status is not None and re.fullmatch(rb"[0-9]{1,3}\n", status):
        number = int(status)
        if number == 0:
            return Standing(JobState.FINISHED)
        if number in SAVED:
            return Standing(JobState.INTERRUPTED if begun else JobState.CANCELLED)
        return Standing(JobState.INTERRUPTED if number == KILLED else JobState.FAILED, f"exit status {number}")
    if asked and not begun:
        return Standing(JobState.CANCELLED)
    if job is None:
        said = "Ray does not know the job any more, and its run wrote no exit status"
        return Standing(JobState.LOST, said, unsure=True)
    state, said = job.get("status"), last_line(str(job.get("message") or "")).partition(". ")[0]
    if state == "PENDING":
        return Standing(JobState.QUEUED, "Ray looks for a free node")
    if state == "RUNNING":
        return Standing(JobState.RUNNING) if begun else Standing(JobState.QUEUED, "runs before it are still working")
    if state == "STOPPED":
        return Standing(JobState.INTERRUPTED if begun else JobState.CANCELLED, "stopped in Ray")
    if state in ("FAILED", "SUCCEEDED"):
        return Standing(JobState.INTERRUPTED, f"its job in Ray ended: {said}", unsure=True)
    return Standing(JobState.LOST, "Ray reports an unknown state")


def _number(job: str) -> Number:
    """The parts of a job's number. Raises Problem for an invalid one."""
    match = RayPlace.job.fullmatch(job)
    if match is None:
        raise Problem(f"{job[:100]!r} is not a job of Ray.")
    return Number(match[1], match[2])
