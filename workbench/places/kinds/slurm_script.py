"""The script of an array job: one task per run, made from the fields of the place.

Slurm sends USR1 before the time limit: the run saves itself, and its task is queued again and resumes it.
USR2 ends the run after its epoch, TERM before its next step with a checkpoint.
"""

import shlex
from collections.abc import Sequence
from uuid import uuid4

from workbench.places.contract import Order
from workbench.places.kinds.run_command import AGAIN, BEGINS, run_words
from workbench.places.place import SlurmPlace
from workbench.workspace.folders.travelling import AFTER_EPOCH

BODY = """\
name=$(sed -n "$((SLURM_ARRAY_TASK_ID + 1))p" {orders})
folder={folder}/"$name"
[ -n "$name" ] && [ -d "$folder" ] || exit 72
log=$folder/log
rm -f "$folder/exit" "$folder/{goes_on}" # of the task that it was before it was resumed
[ "${{SLURM_RESTART_COUNT:-0}}" != 0 ] || rm -f "$folder/{after_epoch}"
trap ': >"$folder/{after_epoch}"' USR2
{before}
again= run= early= # a signal may come before there is a run
end() {{ if [ -n "$run" ]; then kill -TERM $run; else early=1; fi; }}
trap 'again=1; : >"$folder/{goes_on}"; end' USR1
trap 'again=; rm -f "$folder/{goes_on}"; end' TERM
echo {begins} >>"$log"
{words} >>"$log" 2>&1 &
run=$!
[ -z "$early" ] || kill -TERM $run
status=127
while kill -0 $run 2>/dev/null; do
  wait $run
  status=$?
done
wait $run # a signal may have ended the one above
new=$?
[ $new = 127 ] || status=$new
if [ -n "$again" ] && [ $status != 0 ]; then
  trap - TERM # with which Slurm ends this task: its run still goes on
  scontrol requeue "${{SLURM_ARRAY_JOB_ID}}_$SLURM_ARRAY_TASK_ID" && sleep 300
fi
rm -f "$folder/{goes_on}"
echo $status >"$folder/exit.part" && mv -f "$folder/exit.part" "$folder/exit"
exit $status
"""


def script(
    place: SlurmPlace, orders: Sequence[Order], batch: str, job_name: str, after: Sequence[str] = ()
) -> str:  # fmt: skip
    """The script for sbatch.

    Args:
        place: its fields become options; its own lines come last and win.
        orders: of the runs, the tasks 0, 1, ... of the array; all with the same devices.
        batch: folder of the array below the place's folder: `orders` holds the names of the run folders, a line each.
        job_name: as squeue shows it.
        after: tasks, as ARRAY_TASK, that must have ended before one of these begins.
    """
    here = f"{place.folder}/{batch}"
    options = {
        "job-name": job_name,
        "array": f"0-{len(orders) - 1}" + (f"%{place.at_once}" if place.at_once else ""),
        "output": f'"{here.replace("%", "%%")}/slurm-%a.log"',
        "open-mode": "append",
        "signal": f"B:USR1@{place.notice}",
        "nodes": str(place.nodes),
        "ntasks-per-node": str(place.ranks),
        "partition": place.partition,
        "account": place.account,
        "gres": place.gres,
        "time": place.time,
        "cpus-per-task": str(place.cpus or ""),
        "mem": place.memory,
        "dependency": f"afterany:{':'.join(after)}" if after else "",
    }
    lines = [f"#SBATCH --{option}={value}" for option, value in options.items() if value]
    lines += ["#SBATCH --requeue", *(f"#SBATCH {shlex.quote(option)}" for option in shlex.split(place.lines))]
    path = [f'export PATH={quoted(place.commands)}:"$PATH"'] if place.commands else []
    body = BODY.format(
        orders=quoted(f"{here}/orders"), folder=quoted(place.folder), before="\n".join([*path, place.before]),
        begins=quoted(BEGINS), after_epoch=AFTER_EPOCH, goes_on=AGAIN, words=_words(place, orders[0]),
    )  # fmt: skip
    return "\n".join(["#!/bin/bash", *lines, body])


def quoted(word: str) -> str:
    """The word in quotes for a shell, whatever its content."""
    return "'" + word.replace("'", "'\"'\"'") + "'"


def _words(place: SlurmPlace, order: Order) -> str:
    """The words of the run whose folder's name is in $name: of several ranks, started by srun."""
    mark = uuid4().hex
    several = place.nodes * place.ranks > 1
    devices = "env" if several else order.devices
    words = run_words(place, Order(mark, {}, devices=devices))
    line = " ".join(quoted(word).replace(mark, "'\"$name\"'") for word in words)
    return f"srun --kill-on-bad-exit=1 --unbuffered {line}" if several else line
