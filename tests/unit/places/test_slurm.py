"""Slurm, played by small programs: what sbatch is given, what its words mean, and what is said when it fails."""

import re
import shutil
import stat
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.waits import HANG
from workbench.places.contract import Ending, JobState, Order, Standing, Unreachable
from workbench.places.host.hosts import LocalHost
from workbench.places.kinds.slurm import Slurm
from workbench.places.kinds.slurm_script import script
from workbench.places.kinds.slurm_states import from_sacct, from_scontrol, of_exit_status, tasks
from workbench.places.place import SlurmPlace
from workbench.places.records import made
from workbench.problem import Problem

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the login node has a POSIX shell")
LINE = "JobId={} ArrayJobId=7 ArrayTaskId={} JobName=w UserId=a(1) JobState={} Reason={} Restarts={} ExitCode={} {}"


def told(task="0", state="RUNNING", reason="None", restarts=0, status="0:0", more="RunTime=00:00:09"):
    return from_scontrol(LINE.format(8, task, state, reason, restarts, status, more))


class Played:
    """A login node whose programs a test writes."""

    def __init__(self, base):
        self.base = base
        (base / "bin").mkdir(parents=True)
        self.program("squeue", "exit 0")
        self.program("sbatch", f"cat >'{base}/script'; echo 7")
        self.program("scontrol", "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1")
        self.program("sacct", "echo 'Slurm accounting storage is disabled' >&2; exit 1")
        self.program("scancel", f"echo \"$@\" >>'{base}/cancelled'")

    def program(self, name, lines):
        path = self.base / "bin" / name
        path.write_text(f"#!/bin/sh\n{lines}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def slurm(self, **fields):
        place = SlurmPlace(name="cl", folder="runs", commands=str(self.base / "bin"), **fields)
        return Slurm(LocalHost(self.base), place)

    def scontrol(self, *lines):
        (self.base / "said").write_text("\n".join(lines) + "\n")
        self.program("scontrol", f"cat '{self.base}/said'")


@pytest.fixture
def played(tmp_path):
    return Played(tmp_path / "login node")


def orders(*names):
    return [Order(name, {"config.toml": b"a", "run.json": name.encode()}, title="Digits; rm -rf /") for name in names]


def test_the_fields_of_the_place_become_options_and_its_own_lines_come_last():
    place = SlurmPlace(
        name="cl", partition="gpu", account="lab", gres="gpu:2", time="1-12", cpus=4, memory="16G", at_once=8,
        lines="--exclusive --qos=long", before="module load cuda", folder="my runs",
    )  # fmt: skip
    lines = script(place, orders("a", "b"), "array-1", "w").splitlines()
    for option in (
        "--array=0-1%8", "--signal=B:USR1@120", "--partition=gpu", "--account=lab", "--gres=gpu:2", "--time=1-12",
        "--cpus-per-task=4", "--mem=16G", "--requeue", '--output="my runs/array-1/slurm-%a.log"',
    ):  # fmt: skip
        assert f"#SBATCH {option}" in lines
    assert [line for line in lines if line.startswith("#SBATCH")][-1] == "#SBATCH --qos=long"
    assert lines.index("module load cuda") < next(at for at, line in enumerate(lines) if "'workbench'" in line)


def test_several_machines_are_ranks_that_srun_starts():
    text = script(SlurmPlace(name="cl", nodes=2, ranks=4), orders("a"), "array-1", "w")
    assert "#SBATCH --nodes=2" in text
    assert "#SBATCH --ntasks-per-node=4" in text
    assert "srun --kill-on-bad-exit=1" in text
    assert "'--devices' 'env'" in text


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("partition", "gpu; rm -rf ~"), ("account", "a b"), ("time", "soon"), ("gres", "gpu:1\n#SBATCH --x"),
        ("lines", "rm -rf ~"), ("lines", "--a\n--b"), ("host", "-oProxyCommand=x"), ("folder", 'a"b'),
    ],
)  # fmt: skip
def test_a_field_that_sbatch_would_misread_is_refused_in_a_sentence(field, value):
    with pytest.raises(Problem, match=field):
        made({"kind": "slurm", "name": "cl", field: value})


@pytest.mark.parametrize(
    ("time", "notice", "noted"),
    [("", 120, False), ("5", 120, True), ("6", 120, False), ("5:59", 120, True), ("0:06:00", 120, False),
     ("2", 30, True), ("1:00:00", 1800, True), ("1-0", 3600, False), ("0-00:05", 120, True), ("0", 120, False)],
)  # fmt: skip
def test_a_check_notes_a_time_limit_that_leaves_no_time_to_train(played, time, notice, noted):
    findings = played.slurm(time=time, notice=notice, python="none").check()
    assert [finding.doubtful for finding in findings if finding.what == "Time limit"] == [True] * noted


def test_runs_are_one_array_whose_tasks_find_their_folders(played):
    slurm = played.slurm()
    assert slurm.submit(orders("a", "b")) == ["7_0:a", "7_1:b"]
    assert (played.base / "runs/a/run.json").read_text() == "a"
    text = (played.base / "script").read_text()
    assert subprocess.run(["bash", "-n"], input=text, text=True, check=False).returncode == 0
    array = next((played.base / "runs").glob("array-*"))
    assert (array / "orders").read_text() == "a\nb\n"
    assert "rm -rf /" not in text


def test_an_array_longer_than_the_cluster_takes_is_sent_in_parts(played):
    played.program("scontrol", "echo 'MaxArraySize            = 2'")
    assert played.slurm().submit(orders("a", "b", "c")) == ["7_0:a", "7_1:b", "7_0:c"]


def test_runs_whose_answer_was_lost_are_not_queued_twice(played):
    slurm = played.slurm()
    assert slurm.submit(orders("a", "b", "c")) == ["7_0:a", "7_1:b", "7_2:c"]
    mark = next((played.base / "runs").glob("array-*")).name.removeprefix("array-")
    (played.base / "script").unlink()
    live = "\n".join(f"7 {task} RUNNING workbench-1-{mark}" for task in range(3))
    played.program("squeue", f"echo '{live}\n8 N/A RUNNING other\n9 0 RUNNING other-0123456789ab'")
    assert slurm.submit(orders("a", "b", "c")) == ["7_0:a", "7_1:b", "7_2:c"]
    assert slurm.submit(orders("b")) == ["7_1:b"]
    assert not (played.base / "script").exists()
    played.program("sbatch", f"cat >'{played.base}/script'; echo 10")
    assert slurm.submit(orders("d", "c")) == ["10_0:d", "7_2:c"]


@pytest.mark.parametrize(("state", "again"), [("RUNNING", True), ("PENDING", False)])
def test_a_run_that_has_ended_in_a_task_that_has_not_begins_after_it(played, state, again):
    """Resume in the second after Stop: squeue still has the task. One that waits was queued again by its time limit."""
    slurm = played.slurm()
    (first,) = slurm.submit(orders("a"))
    mark = next((played.base / "runs").glob("array-*")).name.removeprefix("array-")
    played.program("squeue", f"echo '7 0 {state} workbench-1-{mark}'")
    played.program("sbatch", f"cat >'{played.base}/script'; echo 10")
    (ended,) = orders("a")
    assert slurm.submit([replace(ended, ended=first)]) == (["10_0:a"] if again else ["7_0:a"])
    assert ("#SBATCH --dependency=afterany:7_0" in (played.base / "script").read_text().splitlines()) == again


def test_a_refusal_is_said_in_slurms_words(played):
    played.program("sbatch", "echo 'sbatch: error: invalid partition specified: gpu' >&2; exit 1")
    with pytest.raises(Problem, match="Slurm refused the job: invalid partition specified: gpu"):
        played.slurm().submit(orders("a"))


@pytest.mark.parametrize(
    ("said", "todo"),
    [
        (
            "Invalid partition name specified",
            "Change Partition of cl, which is gpu, or ask the administrator of the cluster.",
        ),
        ("Invalid account or account/partition combination specified", "Change Account of cl, which is empty, "),
        ("Requested time limit is invalid (missing or exceeds some limit)", "Change Time of cl, which is empty, "),
        ("Invalid generic resource (gres) specification", "Change GRES of cl, which is empty, "),
        ("Invalid qos specification", "Change More options of cl, which is empty, "),
        ("Memory specification can not be satisfied", "Change Memory of cl, which is empty, "),
        (
            "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)",
            "Change the fields of",
        ),
        (
            "Zero Bytes were transmitted or received",
            "Change the fields of the place, or ask the administrator of the cluster.",
        ),
    ],
)
def test_a_refusal_names_the_field_to_change(played, said, todo):
    played.program("sbatch", f'echo "sbatch: error: Batch job submission failed: {said}" >&2; exit 1')
    with pytest.raises(Problem, match=re.escape(f"Slurm refused the job: {said}. ")) as caught:
        played.slurm(partition="gpu").submit(orders("a"))
    assert todo in caught.value.todo


def test_slurm_without_its_configuration_does_not_answer(played):
    """As on a login node whose shell has lost SLURM_CONF: no run has ended for that."""
    played.program("scontrol", "echo 'scontrol: fatal: Could not establish a configuration source' >&2; exit 1")
    with pytest.raises(Unreachable, match="Slurm does not answer there"):
        played.slurm().states(["7_0:a"])


def test_a_wrong_option_is_named_and_not_the_pointer_of_sbatch_to_its_help(played):
    lines = ("sbatch: unrecognized option '--nonsense'", 'Try "sbatch --help" for more information')
    (played.base / "said").write_text("\n".join(lines) + "\n", encoding="utf-8")
    played.program("sbatch", f"cat '{played.base}/said' >&2; exit 1")
    with pytest.raises(Problem, match="Slurm refused the job: unrecognized option '--nonsense'"):
        played.slurm().submit(orders("a"))


@pytest.mark.parametrize("answer", ["", "seven", "7 8", "-7", "9" * 40])
def test_a_number_that_is_none_is_not_used(played, answer):
    played.program("sbatch", f"echo '{answer}'")
    with pytest.raises(Problem, match="Slurm refused"):
        played.slurm().submit(orders("a"))


def test_the_number_of_a_federation_is_used_without_the_clusters_name(played):
    played.program("sbatch", "echo '7;here'")
    assert played.slurm().submit(orders("a")) == ["7_0:a"]


def test_a_controller_that_is_down_is_no_answer(played):
    played.program("scontrol", "echo 'slurm_load_jobs error: Unable to contact slurm controller (connect failure)' >&2")
    with pytest.raises(Unreachable, match="Slurm does not answer"):
        played.slurm().states(["7_0:a"])


def test_what_scontrol_has_forgotten_is_asked_of_sacct_then_of_the_task_itself(played):
    slurm = played.slurm()
    slurm.submit(orders("a", "b", "c"))
    jobs = ["7_0:a", "7_1:b", "7_2:c"]
    for name in "abc":
        (played.base / f"runs/{name}/log").touch()
    assert {standing.state for standing in slurm.states(jobs)} == {JobState.LOST}
    played.program("sacct", "exit 127")  # there is none
    assert {standing.state for standing in slurm.states(jobs)} == {JobState.LOST}
    (played.base / "runs/b/exit").write_text("137\n")
    played.program("sacct", "echo '7_0|CANCELLED by 0|0:15|00:01:00'; echo '7_[2]|CANCELLED by 0|0:0|00:00:00'")
    said = [standing.state for standing in slurm.states(jobs)]
    assert said == [JobState.INTERRUPTED, JobState.INTERRUPTED, JobState.CANCELLED]


def test_a_waiting_task_that_was_cancelled_alone_is_cancelled(played):
    """Slurm names the other tasks of its array only, and the task has not even a log."""
    slurm = played.slurm()
    slurm.submit(orders("a", "b"))
    (played.base / "runs/a/log").touch()
    played.scontrol(LINE.format(8, 0, "RUNNING", "None", 0, "0:0", ""))
    assert [standing.state for standing in slurm.states(["7_0:a", "7_1:b"])] == [JobState.RUNNING, JobState.CANCELLED]


def test_a_forgotten_task_whose_folder_was_cleaned_up_is_lost_not_cancelled(played):
    """It may have trained: that nothing is there any more says nothing of how it ended."""
    slurm = played.slurm()
    slurm.submit(orders("a"))
    shutil.rmtree(played.base / "runs/a")
    (standing,) = slurm.states(["7_0:a"])
    assert standing.state is JobState.LOST


def test_a_task_that_goes_on_forgets_how_the_one_before_it_ended(played):
    """It may be killed, and Slurm may forget it: the status that stands there then would be another's."""
    played.program("python", "ls runs/a >seen")
    played.slurm(python=str(played.base / "bin" / "python")).submit(orders("a"))
    (played.base / "runs/a/exit").write_text("143\n")
    env = {"PATH": "/usr/bin:/bin", "SLURM_ARRAY_TASK_ID": "0"}
    subprocess.run(["bash", played.base / "script"], cwd=played.base, env=env, check=True)
    assert "exit" not in (played.base / "seen").read_text()
    assert (played.base / "runs/a/exit").read_text() == "0\n"


def test_a_task_says_while_it_is_queued_again_that_its_run_goes_on(played):
    played.program("python", "trap 'exit 130' TERM; kill -USR1 $PPID; while :; do sleep 0.05; done")
    played.program("scontrol", "ls runs/a >seen; exit 1")
    played.slurm(python=str(played.base / "bin" / "python")).submit(orders("a"))
    env = {"PATH": "/usr/bin:/bin", "SLURM_ARRAY_TASK_ID": "0"}
    ended = subprocess.run(["bash", played.base / "script"], cwd=played.base, env=env, check=False, timeout=HANG)
    assert ended.returncode == 130
    assert "again" in (played.base / "seen").read_text().split()
    assert not (played.base / "runs/a/again").exists(), "Slurm refused to queue it again: it has ended"


@pytest.mark.parametrize(("restarts", "kept"), [("0", False), ("1", True), (None, False)])
def test_a_task_that_was_asked_to_end_after_its_epoch_still_is_when_slurm_starts_it_again(played, restarts, kept):
    """Its run is asked by a file, which is heard also while it starts; a run that is resumed is not asked any more."""
    played.program("python", "ls runs/a >seen")
    played.slurm(python=str(played.base / "bin" / "python")).submit(orders("a"))
    (played.base / "runs/a/after-epoch").touch()
    env = {"PATH": "/usr/bin:/bin", "SLURM_ARRAY_TASK_ID": "0"} | (
        {"SLURM_RESTART_COUNT": restarts} if restarts else {}
    )
    subprocess.run(["bash", played.base / "script"], cwd=played.base, env=env, check=True)
    assert ("after-epoch" in (played.base / "seen").read_text()) == kept


def test_usr2_asks_the_run_of_a_task_to_end_after_its_epoch(played):
    played.program("python", "kill -USR2 $PPID; while [ ! -e runs/a/after-epoch ]; do sleep 0.05; done")
    played.slurm(python=str(played.base / "bin" / "python")).submit(orders("a"))
    env = {"PATH": "/usr/bin:/bin", "SLURM_ARRAY_TASK_ID": "0"}
    subprocess.run(["bash", played.base / "script"], cwd=played.base, env=env, check=True, timeout=HANG)
    assert (played.base / "runs/a/exit").read_text() == "0\n"


def test_a_task_that_still_prepares_its_run_is_asked_to_end_after_its_epoch_too(played):
    played.program("python", "ls runs/a >seen")
    played.slurm(python=str(played.base / "bin" / "python"), before="kill -USR2 $$").submit(orders("a"))
    env = {"PATH": "/usr/bin:/bin", "SLURM_ARRAY_TASK_ID": "0"}
    assert subprocess.run(["bash", played.base / "script"], cwd=played.base, env=env, check=False).returncode == 0
    assert "after-epoch" in (played.base / "seen").read_text()


@pytest.mark.parametrize(("signal", "requeued"), [("USR1", True), ("TERM", False)])
def test_a_signal_just_before_the_run_of_a_task_has_started_ends_it(played, signal, requeued):
    played.program("python", "exec sleep 5")
    played.program("scontrol", 'echo "$@" >>requeued; exit 1')
    played.slurm(python=str(played.base / "bin" / "python")).submit(orders("a"))
    script = (played.base / "script").read_text().replace("\necho ", f"\nkill -{signal} $$\necho ", 1)
    env = {"PATH": f"{played.base}/bin:/usr/bin:/bin", "SLURM_ARRAY_TASK_ID": "0"}
    env |= {"SLURM_ARRAY_JOB_ID": "7"}
    ended = subprocess.run(["bash", "-c", script], cwd=played.base, env=env, check=False, timeout=HANG)
    assert ended.returncode == 128 + 15
    assert (played.base / "requeued").exists() == requeued
    assert (played.base / "runs/a/exit").read_text() == "143\n"


def test_each_way_to_end_is_a_signal_and_what_waits_leaves_the_line(played):
    slurm = played.slurm()
    played.scontrol(LINE.format(8, 0, "RUNNING", "None", 0, "0:0", ""))
    for how in Ending:
        slurm.stop("7_0:a", how)
    played.scontrol(LINE.format(8, 0, "PENDING", "Priority", 0, "0:0", ""))
    slurm.stop("7_0:a", Ending.SAVED)
    assert (played.base / "cancelled").read_text().splitlines() == [
        "--batch --signal=USR2 7_0", "--batch --signal=TERM 7_0", "7_0", "7_0",
    ]  # fmt: skip


def test_an_array_that_was_cancelled_in_the_line_has_one_line_for_all_its_tasks(played):
    slurm = played.slurm()
    slurm.submit(orders("a", "b"))
    for own in (0, 1):
        played.scontrol(
            LINE.format(8, own, "COMPLETED", "None", 0, "0:0", "BatchHost=n1"),
            LINE.format(7, 4294967294, "CANCELLED", "JobHeldUser", 0, "0:0", "RunTime=00:00:00"),
        )
        states = [standing.state for standing in slurm.states(["7_0:a", "7_1:b"])]
        assert states[own] is JobState.FINISHED
        assert states[1 - own] is JobState.CANCELLED


@pytest.mark.parametrize("job", ["7", "7_0", "7_0:../a", "x_0:a", "7_0:a b", ""])
def test_a_number_of_no_job_is_refused(played, job):
    with pytest.raises(Problem, match="not a job of Slurm"):
        played.slurm().states([job])


def test_states_of_slurm():
    assert told()["7", 0] == Standing(JobState.RUNNING)
    assert told(state="COMPLETED")["7", 0].state is JobState.FINISHED
    assert told(state="FAILED", status="1:0")["7", 0] == Standing(JobState.FAILED, "exit status 1")
    assert told(state="FAILED", status="130:0")["7", 0].state is JobState.INTERRUPTED
    assert told(state="FAILED", status="143:0")["7", 0] == Standing(JobState.INTERRUPTED)
    assert told(state="FAILED", status="137:0")["7", 0] == Standing(JobState.INTERRUPTED, "exit status 137")
    assert told(state="FAILED", status="0:9")["7", 0] == Standing(JobState.INTERRUPTED, "signal 9")
    assert told(state="NODE_FAIL")["7", 0] == Standing(JobState.INTERRUPTED, "its node failed")
    assert told(state="TIMEOUT")["7", 0].state is JobState.INTERRUPTED
    assert told(state="OUT_OF_MEMORY")["7", 0].state is JobState.FAILED
    assert told(state="CANCELLED", more="RunTime=00:00:00")["7", 0].state is JobState.CANCELLED
    assert told(state="CANCELLED")["7", 0].state is JobState.INTERRUPTED
    assert told(state="CANCELLED", more="RunTime=00:00:00 BatchHost=n1")["7", 0].state is JobState.INTERRUPTED
    assert told(state="PENDING", reason="Priority")["7", 0] == Standing(JobState.QUEUED, "other jobs come first")
    once = told(state="PENDING", restarts=1)["7", 0]
    assert once == Standing(JobState.QUEUED, "restarted once")
    again = told(state="PENDING", reason="BeginTime", restarts=2)["7", 0]
    assert again == Standing(JobState.QUEUED, "Slurm starts it again soon, restarted 2 times")
    assert sorted(told(task="0-2,9%3", state="PENDING", reason="Priority")) == [("7", 0), ("7", 1), ("7", 2), ("7", 9)]
    assert of_exit_status(0).state is JobState.FINISHED


@given(st.text() | st.from_regex(r"(JobState=\w*|ArrayJobId=[0-9]{0,30}|ArrayTaskId=[0-9,%:-]*| |\n|\|)*"))
def test_whatever_is_printed_is_a_known_state_or_nothing(text):
    for standings in (from_scontrol(text), from_sacct(text)):
        assert all(isinstance(standing.state, JobState) for standing in standings.values())


@given(st.from_regex(r"[0-9,:%-]{0,30}", fullmatch=True))
def test_tasks_are_few_whatever_range_is_named(text):
    assert len(tasks(text)) <= 100_000


def test_tasks_are_named_one_by_one_in_ranges_and_in_steps():
    """With what follows %: how many of them run at once."""
    assert tasks("4") == [4]
    assert tasks("0,3-5,9%2") == [0, 3, 4, 5, 9]
    assert tasks("1-10:3,20") == [1, 4, 7, 10, 20]
    assert tasks("0-9:0") == tasks("1,,2") == tasks("%2") == []


def test_a_hundred_thousand_tasks_are_named_and_not_one_more():
    assert tasks("0-99999") == list(range(100_000))
    assert len(tasks("0-199999:2")) == len(tasks("7,1-99999")) == 100_000
    assert tasks("0-100000") == tasks("0-200000:2") == tasks("0-99999,7") == []


@pytest.mark.parametrize(
    ("sbatch", "good", "said"),
    [
        ("echo 'sbatch: Job 15 to start at 2026-11-23T05:27:43 using 1 processors on nodes n1' >&2", True,
         "A run with these fields would begin at 2026-11-23 05:27. 2 jobs wait there."),
        ("echo 'sbatch: error: Invalid account or account/partition' >&2; exit 1", False,
         "Slurm would refuse a run with these fields: Invalid account or account/partition. Change Account of cl, "
         "which is empty, or ask the administrator of the cluster. 2 jobs wait there."),
    ],
)  # fmt: skip
def test_a_check_says_whether_slurm_takes_a_run(played, sbatch, good, said):
    played.program("sbatch", f'[ "$1" = --version ] && echo slurm-wlm 22.05.8 && exit; {sbatch}')
    played.program("squeue", "echo 1; echo 2")
    slurm, queue, *_ = played.slurm(python="none").check()
    assert (slurm.said, slurm.good) == ("slurm-wlm 22.05.8 answers.", True)
    assert (queue.said, queue.good) == (said, good)


@pytest.mark.parametrize(("squeue", "said"), [("echo 1", " 1 job waits there."), ("true", " 0 jobs wait there.")])
def test_a_check_counts_the_waiting_jobs(played, squeue, said):
    played.program("sbatch", '[ "$1" = --version ] && echo slurm-wlm 22.05.8 && exit; exit 0')
    played.program("squeue", squeue)
    _, queue, *_ = played.slurm(python="none").check()
    assert queue.said.endswith(said)


def test_a_login_node_without_sbatch_is_one_sentence(played):
    played.program("sbatch", "echo 'sbatch: not found' >&2; exit 127")
    (slurm,) = played.slurm().check()
    assert slurm.said == "There is no sbatch (sbatch: not found). Name its folder in Folder of sbatch."
    assert not slurm.good
