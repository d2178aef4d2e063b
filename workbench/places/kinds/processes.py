"""Runs as detached processes of a host: a workstation behind SSH, without a scheduler.

The orders of one call train one after another, in a shell that outlives its caller. Beside the run's files its folder
has `line` (process and name of that shell), `pid` (the run's process), `log` (what it printed), `withdrawn` (it was
asked to end), `after-epoch` (it was asked to end after its epoch), `turn` (the shell that is training it) and `exit`
(its exit status, once it has ended).
"""

import re
import shlex
import uuid
from collections.abc import Sequence
from time import monotonic, sleep

from workbench.places.contract import KILLED, Ending, Finding, JobState, Order, Standing, Unreachable
from workbench.places.host import host_files
from workbench.places.host.host_files import last_line
from workbench.places.kinds import checks
from workbench.places.kinds.run_command import BEGINS, run_folder, run_words
from workbench.places.kinds.through_host import ThroughHost
from workbench.places.place import Place
from workbench.problem import Problem
from workbench.workspace.folders.travelling import AFTER_EPOCH

TRIES = 3  # to submit, if the connection breaks
AT_ONCE = 5000  # jobs in one request
LAST_STEPS, LOOK = 60.0, 0.5  # seconds between a run's written end and its process's, at most; between two looks
SIGNALS = {Ending.SAVED: "TERM", Ending.AT_ONCE: "KILL"}
# Whether process $1 is there and has the word $2 among its own: a number is given again to other processes.
ALIVE = (
    'alive() { case $1 in ""|*[!0-9]*) return 1;; esac; '
    "if [ -d /proc/self ]; then tr '\\0' ' ' 2>/dev/null <\"/proc/$1/cmdline\"; "
    'else ps -p "$1" -o args= 2>/dev/null; fi | grep -qF -- "$2"; }; '
)
WORK = (
    ALIVE
    + """
mine() { # folder: one shell at a time works in it; the turn of one that is gone is taken over
  for _ in 1 2 3; do
    echo "$$ ${0##*/}" >"$1/turn.$$"
    if ln "$1/turn.$$" "$1/turn" 2>/dev/null; then rm -f "$1/turn.$$"; return 0; fi
    read -r p w 2>/dev/null <"$1/turn" && [ -n "$w" ] && alive "$p" "$w" && { rm -f "$1/turn.$$"; return 1; }
    mv -f "$1/turn" "$1/turn.$$" 2>/dev/null || continue
    read -r p w <"$1/turn.$$" && [ -n "$w" ] && alive "$p" "$w" && ln "$1/turn.$$" "$1/turn" # it was faster
  done
  rm -f "$1/turn.$$" # a disk without links, or without room: the run's own lock decides
}
put() { # file, content: whole, or not at all
  echo "$2" >"$1.part" && mv -f "$1.part" "$1"
}
work() { # name, folder, words of the run
  name=$1 folder=$2; shift 2
  [ -e "$folder/exit" ] && return # it was sent again since, and another line had it
  if [ -e "$folder/withdrawn" ]; then put "$folder/exit" 143; return; fi
  alive "$(cat "$folder/pid" 2>/dev/null)" "$name" && return
  mine "$folder" || return
  echo '"""
    + BEGINS
    + """' >>"$folder/log"
  "$@" >>"$folder/log" 2>&1 </dev/null &
  run=$!
  put "$folder/pid" $run
  [ -e "$folder/withdrawn" ] && kill -TERM $run
  wait $run
  put "$folder/exit" $?
  rm -f "$folder/turn"
}
"""
)
# This call's script, its log; then the run folders. A second call with the same script starts nothing.
START = (
    'mkdir -- "$1.begun" || { [ -d "$1.begun" ]; exit; }; script=$1 log=$2; shift 2; true >>"$log" || exit 4; '
    f'for f in "$@"; do rm -f "$f/exit" "$f/withdrawn" "$f/{AFTER_EPOCH}"; done; '
    'if command -v setsid >/dev/null 2>&1; then setsid nohup sh "$script" >>"$log" 2>&1 </dev/null & '
    'else nohup sh "$script" >>"$log" 2>&1 </dev/null & fi; '
    'for f in "$@"; do echo "$! ${script##*/}" >"$f/line.$$" && mv -f "$f/line.$$" "$f/line"; done; exit 0'
)
STATES = ALIVE + (  # whether the shell of a line is there is asked once: a thousand runs may wait in it
    'set -f; cd -- "$1" 2>/dev/null || { for n in $(cat); do echo none; done; exit 0; }; known=""; '
    'waits() { [ "$1 $2" = "$known" ] || { known="$1 $2"; there=no; alive "$1" "$2" && there=yes; }; '
    "[ $there = yes ]; }; "
    'for n in $(cat); do s=""; p=""; t=""; u=""; l=""; w=""; read -r t u 2>/dev/null <"$n/turn"; '
    'read -r s 2>/dev/null <"$n/exit"; read -r p 2>/dev/null <"$n/pid"; read -r l w 2>/dev/null <"$n/line"; '
    'if [ -e "$n/withdrawn" ] && [ ! -e "$n/pid" ]; then echo withdrawn; '
    'elif [ -n "$s" ]; then echo "exit $s"; elif alive "$p" "$n"; then echo running; '
    'elif [ -n "$w" ] && waits "$l" "$w"; then '
    'if [ "$t $u" = "$l $w" ]; then echo running; else echo queued; fi; '  # its status comes, or it begins
    'elif read -r s 2>/dev/null <"$n/exit"; [ -n "$s" ]; then echo "exit $s"; '  # it came meanwhile
    'elif [ -d "$n" ]; then echo lost; else echo none; fi; done'
)
# No signal asks a run to end after its epoch: one that still loads its libraries would die of it.
STOP = ALIVE + (
    'cd -- "$1" && [ -d "$2" ] || exit 0; [ -e "$2/exit" ] && exit 0; '
    f'[ -z "$3" ] && alive "$(cat "$2/pid" 2>/dev/null)" "$2" && {{ true >"$2/{AFTER_EPOCH}"; exit; }}; '
    'true >"$2/withdrawn"; p=$(cat "$2/pid" 2>/dev/null); '
    'alive "$p" "$2" && kill -s "${3:-TERM}" "$p"; exit 0'
)


class Processes(ThroughHost[Place]):
    """Launcher of plain processes. A job's number is the name of its run folder."""

    _trains = True

    def submit(self, orders: Sequence[Order]) -> list[str]:
        """As `Launcher.submit`: one after another. One that has written its end begins once its process has ended."""
        self._await_ends([order.name for order in orders if order.ended])
        number = uuid.uuid4().hex
        script = f"jobs/{number}.sh"
        text = self._script(orders).encode()
        base = self._place.folder
        names = [order.name for order in orders]
        for tries_left in reversed(range(TRIES)):
            try:
                self._write(orders, {script: text})
                folders = [run_folder(self._place, name) for name in names]
                refused = self._call(START, f"{base}/{script}", f"{base}/jobs/{number}.log", *folders)
            except Unreachable:
                if not tries_left:
                    raise
            else:
                if refused:
                    raise Problem(f"The runs cannot be started there: {refused}.", kept="Nothing was started.")
                break
        return names

    def states(self, jobs: Sequence[str]) -> list[Standing]:
        """As `Launcher.states`."""
        standings: list[Standing] = []
        for start in range(0, len(jobs), AT_ONCE):
            some = [host_files.checked(job) for job in jobs[start : start + AT_ONCE]]
            answer = self._host.call(["sh", "-c", STATES, "sh", self._place.folder], "\n".join(some).encode())
            lines = answer.out.decode("utf-8", "replace").splitlines()
            if len(lines) != len(some):
                raise Unreachable(f"The answer was cut: {last_line(answer.errors)}.")
            standings += [_standing(line) for line in lines]
        return standings

    def stop(self, job: str, how: Ending) -> None:
        """As `Launcher.stop`."""
        refused = self._call(STOP, self._place.folder, host_files.checked(job), SIGNALS.get(how, ""))
        if refused:
            raise Problem(f"The run cannot be asked to end: {refused}.", kept="It continues.")

    def check(self) -> list[Finding]:
        """As `Launcher.check`."""
        return checks.look(self._host, self._place)

    def _await_ends(self, jobs: Sequence[str]) -> None:
        """Wait for processes that are about to end: their shell would write the exit status of a run that goes on."""
        limit = monotonic() + LAST_STEPS
        while any(standing.state is JobState.RUNNING for standing in self.states(jobs)) and monotonic() < limit:
            sleep(LOOK)

    def _call(self, script: str, *words: str) -> str:
        """Run a small script there; returns its message if it failed, else nothing."""
        answer = self._host.call(["sh", "-c", script, "sh", *words])
        return last_line(answer.errors) if answer.status else ""

    def _script(self, orders: Sequence[Order]) -> str:
        folders, lines = [], []
        for order in orders:
            folder = run_folder(self._place, order.name)
            folders.append(shlex.quote(folder))
            lines.append("work " + shlex.join([order.name, folder, *run_words(self._place, order)]))
        put = 'echo "$$ ${0##*/}" >"$f/line.$$" && mv -f "$f/line.$$" "$f/line"'  # a line half written is none
        mark = f"for f in {' '.join(folders)}; do {put}; done"
        return "\n".join([WORK, mark, *lines, ""])


def _standing(line: str) -> Standing:
    """The state in one line of STATES."""
    if line in ("running", "queued", "lost"):
        return Standing(JobState(line))
    if line == "withdrawn":  # before it began
        return Standing(JobState.CANCELLED)
    if status := re.fullmatch(r"exit ([0-9]{1,3})", line):
        number = int(status[1])
        if number == 0:
            return Standing(JobState.FINISHED)
        state = JobState.INTERRUPTED if number in (130, KILLED, 143) else JobState.FAILED
        return Standing(state, f"exit status {number}")
    return Standing(JobState.LOST, "its folder there is gone" if line == "none" else "")
