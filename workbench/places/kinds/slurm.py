"""Runs of a Slurm cluster: array jobs by sbatch, their states by scontrol and then sacct, ended by scancel.

A job's number is `ARRAY_TASK:NAME`, with the name of its run folder. Beside the run folders are folders of arrays, with
`orders` (names of run folders, by task), `script` and Slurm's own output (`slurm-TASK.log`).
"""

import re
from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

from workbench.places.contract import Answer, Ending, Finding, JobState, Order, Part, Standing, Unreachable
from workbench.places.host import host_files
from workbench.places.host.host_files import last_line
from workbench.places.kinds import checks
from workbench.places.kinds.slurm_script import quoted, script
from workbench.places.kinds.slurm_states import Standings, from_sacct, from_scontrol, of_exit_status, of_task
from workbench.places.kinds.through_host import ThroughHost
from workbench.places.place import SlurmPlace
from workbench.problem import Problem
from workbench.workspace.folders import travelling

LONGEST_ARRAY = 1000  # tasks: Slurm's own MaxArraySize is 1001, a cluster's may be less
LIMIT = "scontrol show config | sed -n 's/^MaxArraySize *= *//p'"
# The user's own tasks that wait or run: array, task, state, name of the job.
LIVE = 'squeue -h -r -o "%F %K %T %j" -u "$(id -un)" -t PENDING,CONFIGURING,RUNNING,SUSPENDED'
LOOK = 'for job in "$@"; do echo "=$job"; scontrol -o show job "$job" 2>&1; done'
MOST_LOOK = 64 << 20  # bytes that scontrol may say of a thousand jobs
EARLY = 60  # seconds: Slurm may give its notice so much sooner
TOO_SHORT = "A run is given notice in the first half of its time limit. Raise the limit, or lower Notice."
SLOW = 120.0  # seconds for a controller that is busy
NO_ANSWER = (
    "contact slurm controller", "Socket timed out", "Connection refused", "communication connection",
    "Could not establish a configuration source", "Unable to process configuration file",
)  # fmt: skip
# Of words with which sbatch refuses a job, the field of the place that has to change; none where it may be any limit.
AT_FAULT = {
    "accounting/qos policy": "", "invalid partition": "partition", "access/permission denied": "partition",
    "not permitted to use this partition": "partition", "invalid account": "account", "time limit": "time",
    "gres": "gres", "generic resource": "gres", "memory": "memory", "cpu count": "cpus", "node count": "nodes",
    "qos": "lines", "unrecognized option": "lines",
}  # fmt: skip


class Number(NamedTuple):
    """The parts of a job's number."""

    array: str
    task: int
    name: str


class Slurm(ThroughHost[SlurmPlace]):
    """Launcher of a cluster with Slurm, by its login node."""

    def submit(self, orders: Sequence[Order]) -> list[str]:
        """As `Launcher.submit`: an array job, in parts if the cluster does not allow one as long.

        A run that waits or trains there keeps its number, as when the answer to an earlier call was lost. One that has
        ended, in a task that has not, begins after that task.
        """
        if not orders:
            return []
        self._write(orders)
        numbers, ending = self._at_work(orders)
        new = [order for order in orders if order.name not in numbers]
        longest = self._longest_array() if len(new) > 1 else 1
        for first in range(0, len(new), longest):
            numbers |= self._submit_array(new[first : first + longest], ending)
        return [numbers[order.name] for order in orders]

    def states(self, jobs: Sequence[str]) -> list[Standing]:
        """As `Launcher.states`: of scontrol, then sacct, then the exit status that the task wrote."""
        numbers = [_number(job) for job in jobs]
        standings = self._scontrol(sorted({number.array for number in numbers}, key=int))
        missing = [number for number in numbers if of_task(standings, number.array, number.task) is None]
        if missing:
            standings |= self._sacct(sorted({number.array for number in missing}, key=int))
        missing = [number for number in numbers if of_task(standings, number.array, number.task) is None]
        if missing:
            standings |= self._exits(missing)
        said = "Slurm does not know the job any more, and its task wrote no exit status"
        forgotten = Standing(JobState.LOST, said, unsure=True)
        return [of_task(standings, number.array, number.task) or forgotten for number in numbers]

    def stop(self, job: str, how: Ending) -> None:
        """As `Launcher.stop`; a task that waits leaves the queue in any case."""
        number = _number(job)
        task = f"{number.array}_{number.task}"
        signal = {Ending.AFTER_EPOCH: "USR2", Ending.SAVED: "TERM", Ending.AT_ONCE: ""}[how]
        waits = self.states([job])[0].state is JobState.QUEUED
        words = ["scancel", task] if waits or not signal else ["scancel", "--batch", f"--signal={signal}", task]
        answer = self._call(words)
        over = ("Invalid job id", "already completing", "already completed")
        if answer.status and not any(words in answer.errors for words in over):
            raise Problem(f"Slurm refused to end job {task}: {last_line(answer.errors)}.", kept="It continues.")

    def check(self) -> list[Finding]:
        """Whether sbatch exists, answers, and would accept a run with the fields of this place."""
        try:
            version = self._call(["sbatch", "--version"])
            if version.status:
                said = f"There is no sbatch ({last_line(version.errors)})."
                return [Finding("Slurm", f"{said} Name its folder in Folder of sbatch.", good=False)]
            order = Order("check", {})
            trial = self._call(["sbatch", "--test-only"], script(self._place, [order], "check", "check").encode())
            waiting = self._call(self._waiting())
        except Unreachable as problem:
            return [Finding("Connection", str(problem), good=False)]
        name = last_line(version.out.decode("utf-8", "replace"))
        lines = waiting.out.decode("utf-8", "replace").splitlines()
        queue = (
            "" if waiting.status else " 1 job waits there." if len(lines) == 1 else f" {len(lines):,} jobs wait there."
        )
        taken = Finding("Queue", f"{_said_of_trial(trial, self._place)}{queue}", good=not trial.status)
        slurm = Finding("Slurm", f"{name} answers.")
        limits = [Finding("Time limit", TOO_SHORT, doubtful=True)] if _is_too_short(self._place) else []
        return [slurm, taken, *limits, *checks.look(self._host, self._place)]

    def _waiting(self) -> list[str]:
        words = ["squeue", "-h", "-t", "PENDING", "-o", "%i"]
        return [*words, "-p", self._place.partition] if self._place.partition else words

    def _longest_array(self) -> int:
        said = self._shell(LIMIT).out.strip()
        return max(1, min(LONGEST_ARRAY, int(said))) if said.isdigit() and len(said) < 10 else LONGEST_ARRAY

    def _at_work(self, orders: Sequence[Order]) -> tuple[dict[str, str], list[str]]:
        """The numbers of the jobs of these runs that wait or run, by name, and the tasks whose run has ended."""
        ended = {order.name: order.ended for order in orders}
        live: dict[str, list[tuple[str, int, str]]] = {}  # arrays, tasks and states, by mark
        said = self._shell(LIVE, most=MOST_LOOK).out.decode("utf-8", "replace")
        for match in re.finditer(r"(?m)^([0-9]{1,12}) ([0-9]{1,7}) ([A-Z]+) \S*-([0-9a-f]{12})$", said):
            live.setdefault(match[4], []).append((match[1], int(match[2]), match[3]))
        lists = self._read_all([Part(f"array-{mark}/orders") for mark in live])
        numbers: dict[str, str] = {}
        ending: list[str] = []
        for tasks, text in zip(live.values(), lists, strict=True):
            listed = (text or b"").decode("utf-8", "replace").splitlines()
            for array, task, state in tasks:
                if task >= len(listed) or (name := listed[task]) not in ended:
                    continue
                number = f"{array}_{task}:{name}"
                if state == "RUNNING" and number == ended[name]:
                    ending.append(f"{array}_{task}")
                else:
                    numbers[name] = number
        return numbers, ending

    def _submit_array(self, orders: Sequence[Order], after: Sequence[str]) -> dict[str, str]:
        names = "".join(f"{order.name}\n" for order in orders)
        mark = blake2b(names.encode(), digest_size=6).hexdigest()
        batch = f"array-{mark}"
        title = re.sub(r"[^A-Za-z0-9._-]+", "-", orders[0].title)[:60].strip("-.")
        job_name = f"{title or 'workbench'}-{mark}"
        text = script(self._place, orders, batch, job_name, after)
        own = {f"{batch}/orders": names.encode(), f"{batch}/script": text.encode()}
        host_files.write_all(self._host, self._place.folder, own)
        answer = self._call(["sbatch", "--parsable"], text.encode())
        number = answer.out.decode("utf-8", "replace").strip().partition(";")[0]
        if answer.status or not re.fullmatch(r"[0-9]{1,12}", number):
            said = _reason(answer)
            raise Problem(f"Slurm refused the job: {said}.", kept="Nothing was started.", todo=_todo(self._place, said))
        return {order.name: f"{number}_{task}:{order.name}" for task, order in enumerate(orders)}

    def _scontrol(self, arrays: Sequence[str]) -> Standings:
        answer = self._shell(LOOK, *arrays, most=MOST_LOOK)
        return from_scontrol(answer.out.decode("utf-8", "replace"))

    def _sacct(self, arrays: Sequence[str]) -> Standings:
        """Nothing if the cluster keeps no accounts."""
        words = ["sacct", "-n", "-X", "-P", "-o", "JobID,State,ExitCode,Elapsed", "-j", ",".join(arrays)]
        try:
            answer = self._call(words, most=MOST_LOOK)
        except Unreachable:  # its database may be down where the controller is not
            return {}
        return {} if answer.status else from_sacct(answer.out.decode("utf-8", "replace"))

    def _exits(self, numbers: Sequence[Number]) -> Standings:
        """Of the exit status that a task wrote; a task without even a log was cancelled while it waited.

        Nothing is said of a task whose folder is gone, as after a clean-up there.
        """
        names = ("exit", "log", travelling.CONFIG)
        written = iter(self._read_all([Part(f"{number.name}/{name}", most=8) for number in numbers for name in names]))
        standings: Standings = {}
        for number, text, log, config in zip(numbers, written, written, written, strict=True):
            if text is not None and re.fullmatch(rb"[0-9]{1,3}\n", text):
                standings[number.array, number.task] = of_exit_status(int(text))
            elif text is None and log is None and config is not None:
                standings[number.array, number.task] = Standing(JobState.CANCELLED)
        return standings

    def _shell(self, line: str, *values: str, stdin: bytes = b"", most: int = 1 << 20) -> Answer:
        """Run a line of shell there with values as $1, $2, ..."""
        path = f"PATH={quoted(self._place.commands)}:$PATH; " if self._place.commands else ""
        return self._told(self._host.call(["sh", "-c", path + line, "sh", *values], stdin, seconds=SLOW, most=most))

    def _call(self, words: Sequence[str], stdin: bytes = b"", most: int = 1 << 20) -> Answer:
        return self._shell('exec "$@"', *words, stdin=stdin, most=most)

    def _told(self, answer: Answer) -> Answer:
        """The answer of Slurm's controller. Raises Unreachable without one."""
        for text in (answer.errors, answer.out[:4096].decode("utf-8", "replace")):
            if any(words in text for words in NO_ANSWER):
                raise Unreachable(f"Slurm does not answer there: {last_line(text)}.")
        return answer


def _reason(answer: Answer) -> str:
    """What sbatch said last, without its name; where an option is wrong, the line before its pointer to --help."""
    lines = [line for line in answer.errors.splitlines() if not line.startswith('Try "sbatch')]
    said = last_line("\n".join(lines)).removeprefix("sbatch: ").removeprefix("error: ")
    return said.removeprefix("Batch job submission failed: ").removeprefix("allocation failure: ")


def _todo(place: SlurmPlace, said: str) -> str:
    """What to change after a refusal: the field that it names, or the fields."""
    field = next((field for words, field in AT_FAULT.items() if words in said.lower()), "")
    if not field:
        return "Change the fields of the place, or ask the administrator of the cluster."
    title = SlurmPlace.model_fields[field].title or field.capitalize()
    value = getattr(place, field)
    is_now = f"which is {value}" if value else "which is empty"
    return f"Change {title} of {place.name}, {is_now}, or ask the administrator of the cluster."


def _said_of_trial(trial: Answer, place: SlurmPlace) -> str:
    """Whether Slurm would accept a run, and when it would begin."""
    said = _reason(trial)
    if trial.status:
        return f"Slurm would refuse a run with these fields: {said}. {_todo(place, said)}"
    moment = re.search(r" to start at (\d{4}-\d\d-\d\d)T(\d\d:\d\d)", said)
    return f"A run with these fields would begin at {moment[1]} {moment[2]}." if moment else f"{said}."


def _is_too_short(place: SlurmPlace) -> bool:
    """Whether a run would spend most of its time limit on saving itself and loading again."""
    days, dash, clock = place.time.rpartition("-")
    parts = [int(part) for part in clock.split(":") if part]
    if dash:
        parts = [*parts, 0, 0][:3]
    elif len(parts) < 3:
        parts = [0, *parts, 0, 0][:3]
    seconds = sum(part * unit for part, unit in zip(parts, (3600, 60, 1), strict=True)) + 86_400 * int(days or 0)
    return 0 < seconds < 2 * (place.notice + EARLY)


def _number(job: str) -> Number:
    """The parts of a job's number. Raises Problem for an invalid one."""
    match = SlurmPlace.job.fullmatch(job)
    if match is None:
        raise Problem(f"{job[:100]!r} is not a job of Slurm.")
    return Number(match[1], int(match[2]), match[3])
