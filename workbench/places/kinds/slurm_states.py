"""States of jobs from the output of scontrol and sacct. Invalid lines are skipped."""

import re

from workbench.places.contract import KILLED, JobState, Standing

Standings = dict[tuple[str, int], Standing]  # by array and task
QUEUED = {"PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "RESV_DEL_HOLD", "SPECIAL_EXIT"}
RUNNING = {"RUNNING", "COMPLETING", "RESIZING", "SIGNALING", "STAGE_OUT", "STOPPED", "SUSPENDED"}
INTERRUPTED = {
    "BOOT_FAIL": "the node did not start", "DEADLINE": "its deadline came", "NODE_FAIL": "its node failed",
    "PREEMPTED": "another job with a higher priority took its nodes", "REVOKED": "it was revoked",
    "TIMEOUT": "its time limit came",
}  # fmt: skip
SAVED = (130, 143)  # exit statuses of a run that was asked to end
ENDING = ("2", "9", "15")  # signals that end a task, whose exit status is 0 then
NAMES = ("JobState", "ExitCode", "Reason", "Restarts", "StartTime", "RunTime", "BatchHost", "ArrayTaskId", "ArrayJobId")
FIELD = re.compile(rf"(?:^| )({'|'.join(NAMES)})=(\S*)")
TASKS = re.compile(r"[0-9,:-]+(%[0-9]+)?")
MOST_TASKS = 100_000
REST = -1  # the tasks of an array that have no line of their own
NO_TASK = "4294967294"  # as scontrol names them when all that waited were cancelled
WAITS_FOR = {
    "Priority": "other jobs come first", "Resources": "no node is free", "BeginTime": "Slurm starts it again soon",
    "JobArrayTaskLimit": "the limit of running tasks of its array is reached",
    "Dependency": "another job has to end first",
    "ReqNodeNotAvail": "its nodes are down or kept free", "PartitionDown": "the partition is down",
    "PartitionTimeLimit": "the partition allows no run as long: end it, and lower Time of the place",
    "PartitionNodeLimit": "the partition allows no run on so many nodes: end it, and lower Nodes of the place",
    "AccountNotAllowed": "the partition does not take its account: end it, and change Account of the place",
    "InvalidAccount": "Slurm does not know its account: end it, and change Account of the place",
    "InvalidQOS": "Slurm does not know its QOS: end it, and change More options of the place",
    "JobHeldUser": "it is held", "JobHeldAdmin": "the administrator of the cluster holds it",
}  # fmt: skip


def from_scontrol(text: str) -> Standings:
    """Of `scontrol -o show job`: a line a task, or one for all tasks that wait."""
    standings: Standings = {}
    for line in text.splitlines():
        facts: dict[str, str] = {}
        for name, value in FIELD.findall(line):
            facts.setdefault(name, value)  # names of people come after them
        if "JobState" in facts and facts.get("ArrayJobId", "").isdecimal():
            standing = _standing(facts)
            named = facts.get("ArrayTaskId", "")
            for task in [REST] if named == NO_TASK else tasks(named):
                standings[facts["ArrayJobId"], task] = standing
    return standings


def of_task(standings: Standings, array: str, task: int) -> Standing | None:
    """The state of one task; None if there is none."""
    return standings.get((array, task), standings.get((array, REST)))


def from_sacct(text: str) -> Standings:
    """Of `sacct -nXP -o JobID,State,ExitCode,Elapsed`: a line a task, or one for all that never began."""
    standings: Standings = {}
    for line in text.splitlines():
        match = re.fullmatch(r"([0-9]{1,12})_\[?([0-9,:%-]+)\]?\|([A-Z_]+)[^|]*\|([0-9]+:[0-9]+)\|([0-9:-]+)", line)
        if match is not None:
            standing = _standing({"JobState": match[3], "ExitCode": match[4], "RunTime": match[5]})
            for task in tasks(match[2]):
                standings[match[1], task] = standing
    return standings


def of_exit_status(status: int) -> Standing:
    """Of a task that has ended with this exit status."""
    if status == 0:
        return Standing(JobState.FINISHED)
    if status in SAVED:
        return Standing(JobState.INTERRUPTED)
    return Standing(JobState.INTERRUPTED if status == KILLED else JobState.FAILED, f"exit status {status}")


def tasks(text: str) -> list[int]:
    """The tasks in Slurm's notation, such as "0,3-5" or "0-9:3%2"; none if it is invalid or names too many."""
    if not TASKS.fullmatch(text):
        return []
    named: list[int] = []
    for part in text.partition("%")[0].split(","):
        match = re.fullmatch(r"([0-9]{1,7})(?:-([0-9]{1,7})(?::([0-9]{1,7}))?)?", part)
        if match is None:
            return []
        first, last, step = int(match[1]), int(match[2] or match[1]), int(match[3] or 1)
        if not step or len(named) + (last - first) // step >= MOST_TASKS:
            return []
        named += range(first, last + 1, step)
    return named


def _standing(facts: dict[str, str]) -> Standing:
    state = facts["JobState"]
    status, _, signal = facts.get("ExitCode", "0:0").partition(":")
    if state in QUEUED:
        return Standing(JobState.QUEUED, _why_it_waits(facts))
    if state in RUNNING:
        return Standing(JobState.RUNNING, "suspended" if state == "SUSPENDED" else "")
    if state == "COMPLETED":
        return Standing(JobState.FINISHED)
    if state == "CANCELLED":
        ran = facts.get("RunTime", "00:00:00") != "00:00:00" or "BatchHost" in facts  # it may have been a moment
        began = ran or facts.get("Restarts", "0") != "0"
        return Standing(JobState.INTERRUPTED if began else JobState.CANCELLED, "cancelled in Slurm")
    if state in INTERRUPTED:
        return Standing(JobState.INTERRUPTED, INTERRUPTED[state])
    if state == "OUT_OF_MEMORY":
        return Standing(JobState.FAILED, "it needed more memory than it had")
    if state == "FAILED" and status == "0" and signal in ENDING:
        return Standing(JobState.INTERRUPTED, f"signal {signal}")
    if state == "FAILED":
        return of_exit_status(int(status)) if status.isdecimal() and status != "0" else Standing(JobState.FAILED)
    return Standing(JobState.LOST, "Slurm reports an unknown state")


def _why_it_waits(facts: dict[str, str]) -> str:
    reason = facts.get("Reason", "")
    again = facts.get("Restarts", "0")
    words = [WAITS_FOR.get(reason, "" if reason in ("", "None") else f"it waits for {reason[:40]}")]
    if re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d", facts.get("StartTime", "")):
        words.append(f"expected at {facts['StartTime'][:16].replace('T', ' ')}")
    if again.isdecimal() and again != "0":
        words.append(f"restarted {'once' if again == '1' else f'{again[:6]} times'}")
    return ", ".join(filter(None, words))
