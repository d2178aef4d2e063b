"""Processes that nobody waits for, on this machine in place of a remote one: begun, asked to end, resumed, lost."""

import errno
import os
import signal
import stat
import subprocess
import sys
from dataclasses import replace
from time import monotonic, sleep

import psutil
import pytest

from tests.waits import HANG
from workbench.places import contract, installing, records
from workbench.places.contract import Answer, Ending, JobState, Order, Part, Unreachable
from workbench.places.host import host_files
from workbench.places.host.hosts import LocalHost
from workbench.places.host.printed_lines import PrintedLines
from workbench.places.kinds.processes import Processes
from workbench.places.place import SshPlace
from workbench.problem import Problem

pytestmark = pytest.mark.skipif(os.name != "posix", reason="places are POSIX machines")
# In place of Python: tells its words, obeys signals as a run in a folder does, and works until `go` is there.
PLAYED = """#!/bin/sh
folder=$(dirname "$4")
trap 'echo saved >>"$folder/told"; exit 130' TERM
echo "$@" >>"$folder/told"
while [ ! -e "$folder/go" ]; do
  [ -e "$folder/after-epoch" ] && { echo stopped >>"$folder/told"; exit 0; }
  sleep 0.05
done
exit "$(cat "$folder/go")"
"""


@pytest.fixture
def home(tmp_path):
    played = tmp_path / "pla ced;$(echo x)'" / "python"
    played.parent.mkdir()
    played.write_text(PLAYED)
    played.chmod(played.stat().st_mode | stat.S_IEXEC)
    return tmp_path


@pytest.fixture
def place(home):
    return SshPlace(name="box", host="box", folder="my runs `id` $HOME", python=f"{home}/pla ced;$(echo x)'/python")


@pytest.fixture
def processes(home, place):
    made = Processes(LocalHost(home), place)
    yield made
    for pid in home.rglob("pid"):
        made.stop(pid.parent.name, Ending.AT_ONCE)  # a number that is another process's now is left alone


def order(name: str) -> Order:
    return Order(name, {"config.toml": f"# {name}\n".encode(), "run.json": b"{}"})


def until(processes: Processes, job: str, *wanted: JobState):
    limit = monotonic() + HANG
    while (standing := processes.states([job])[0]).state not in wanted:
        assert monotonic() < limit, standing
        sleep(0.02)
    return standing


def wait(is_so) -> None:
    limit = monotonic() + HANG
    while not is_so():
        assert monotonic() < limit
        sleep(0.02)


def lets_go(home, place, job: str, status: int = 0) -> None:
    part = home / place.folder / job / "go.part"
    part.write_text(str(status))
    part.rename(part.with_name("go"))  # it is read as soon as it is there


def told(home, place, job: str) -> str:
    path = home / place.folder / job / "told"
    return path.read_text() if path.exists() else ""


def at_work(home, place, processes, job):
    """Its folder, once its process hears signals and its shell has noted the process: RUNNING comes before both."""
    folder = home / place.folder / job
    until(processes, job, JobState.RUNNING)
    wait(lambda: told(home, place, job) and (folder / "pid").exists())
    return folder


def test_orders_of_one_call_work_one_after_another(home, place, processes):
    first, second = processes.submit([order("a1"), order("b2")])
    until(processes, first, JobState.RUNNING)
    assert processes.states([second])[0].state is JobState.QUEUED
    lets_go(home, place, first)
    until(processes, second, JobState.RUNNING)
    lets_go(home, place, second, 3)
    assert until(processes, second, JobState.FAILED).words == "exit status 3"
    assert processes.states([first])[0].state is JobState.FINISHED
    words = f"-m workbench run {place.folder}/a1/config.toml --folder {place.folder}/a1 --resume --quiet"
    assert told(home, place, first).strip() == words
    assert (home / place.folder / "a1" / "config.toml").read_bytes() == b"# a1\n"


@pytest.mark.parametrize(
    ("how", "state", "word"),
    [
        (Ending.AFTER_EPOCH, JobState.FINISHED, "stopped"),
        (Ending.SAVED, JobState.INTERRUPTED, "saved"),
        (Ending.AT_ONCE, JobState.INTERRUPTED, "workbench"),
    ],
)
def test_a_run_ends_as_it_is_asked_and_can_go_on(home, place, processes, how, state, word):
    (job,) = processes.submit([order("a1")])
    at_work(home, place, processes, job)
    processes.stop(job, how)
    until(processes, job, state)
    assert word in told(home, place, job)
    processes.stop(job, how)  # one that has ended is no error
    processes.submit([order("a1")])
    until(processes, job, JobState.RUNNING)
    lets_go(home, place, job)
    until(processes, job, JobState.FINISHED)


def test_one_that_has_ended_does_not_wait_again_before_its_status_is_written(home, place, processes):
    (job,) = processes.submit([order("a1")])
    folder = at_work(home, place, processes, job)
    run, shell = psutil.Process(int((folder / "pid").read_text())), int((folder / "line").read_text().split()[0])
    os.kill(shell, signal.SIGSTOP)
    try:
        lets_go(home, place, job)
        wait(lambda: run.status() == psutil.STATUS_ZOMBIE)
        assert processes.states([job])[0].state is JobState.RUNNING
    finally:
        os.kill(shell, signal.SIGCONT)
    until(processes, job, JobState.FINISHED)


def test_one_that_is_resumed_before_its_process_has_ended_begins_after_it(home, place, processes, monkeypatch):
    (job,) = processes.submit([order("a1")])
    folder = at_work(home, place, processes, job)
    run, shell = psutil.Process(int((folder / "pid").read_text())), int((folder / "line").read_text().split()[0])
    os.kill(shell, signal.SIGSTOP)
    monkeypatch.setattr("workbench.places.kinds.processes.sleep", lambda seconds: os.kill(shell, signal.SIGCONT))
    try:
        processes.stop(job, Ending.SAVED)
        wait(lambda: run.status() == psutil.STATUS_ZOMBIE)
        processes.submit([replace(order("a1"), ended=job)])
    finally:
        os.kill(shell, signal.SIGCONT)
    at_work(home, place, processes, job)
    wait(lambda: told(home, place, job).count("workbench run") == 2)
    lets_go(home, place, job)
    until(processes, job, JobState.FINISHED)


def test_one_that_waits_leaves_the_line(home, place, processes):
    first, second = processes.submit([order("a1"), order("b2")])
    until(processes, first, JobState.RUNNING)
    processes.stop(second, Ending.SAVED)
    assert processes.states([second])[0].state is JobState.CANCELLED, "at once: it does not wait for the one before"
    lets_go(home, place, first)
    wait((home / place.folder / second / "exit").exists)  # its turn has come, and gone
    assert told(home, place, second) == ""


def test_one_that_left_the_line_and_was_sent_again_is_done_once(home, place, processes):
    first, second = processes.submit([order("a1"), order("b2")])
    until(processes, first, JobState.RUNNING)
    processes.stop(second, Ending.SAVED)
    processes.submit([order("b2")])
    until(processes, second, JobState.RUNNING)
    lets_go(home, place, second)
    until(processes, second, JobState.FINISHED)
    lets_go(home, place, first)
    until(processes, first, JobState.FINISHED)
    assert told(home, place, second).count("workbench run") == 1


def test_a_run_at_work_is_not_started_twice(home, place, processes):
    (job,) = processes.submit([order("a1")])
    until(processes, job, JobState.RUNNING)
    processes.submit([order("a1")])
    second = int((home / place.folder / job / "line").read_text().split()[0])
    wait(lambda: not psutil.pid_exists(second))
    lets_go(home, place, job)
    until(processes, job, JobState.FINISHED)
    assert told(home, place, job).count("workbench run") == 1


def test_a_machine_that_was_restarted_has_lost_its_runs(home, place, processes):
    (job,) = processes.submit([order("a1")])
    folder = at_work(home, place, processes, job)
    for name in ("line", "pid"):  # numbers of processes that are others now; the shell first: it writes no exit status
        kept = (folder / name).read_text().split()
        os.kill(int(kept[0]), signal.SIGKILL)
    until(processes, job, JobState.LOST, JobState.INTERRUPTED)
    (folder / "pid").write_text(str(os.getppid()))
    (folder / "exit").unlink(missing_ok=True)
    assert processes.states([job, "never"])[0].state is JobState.LOST
    processes.stop(job, Ending.AT_ONCE)  # another's process is left alone
    assert os.getppid() > 0


@pytest.mark.parametrize("name", ["../x", "a/../../x", "-rf", "a b", "$(id)", "a\nb", "", "/etc", ".hidden"])
def test_no_name_leaves_the_places_folder(processes, name):
    with pytest.raises(Problem):
        processes.submit([order(name)])
    with pytest.raises(Problem):
        processes.read([Part(name)])
    with pytest.raises(Problem):
        processes.stop(name, Ending.SAVED)


def test_parts_are_read_and_links_are_not_followed(home, place, processes):
    processes.put("run/file.bin", b"\x00one\ntwo")
    os.symlink("/etc/passwd", home / place.folder / "run" / "link")
    parts = [Part("run/file.bin", 1, 3), Part("run/link"), Part("run/none"), Part("run/file.bin", 99), Part("run")]
    assert processes.read(parts) == [b"one", None, None, b"", None]
    ends = [
        Part("run/file.bin", -3, 3),
        Part("run/file.bin", -5, 2),
        Part("run/file.bin", -99, 99),
        Part("run/none", -1),
    ]
    assert processes.read(ends) == [b"two", b"e\n", b"\x00one\ntwo", None]


def test_an_answer_holds_as_much_as_there_is_room_for(home, place, processes, monkeypatch):
    monkeypatch.setattr(host_files, "ROOM", 10)
    names = [f"run{at}/file" for at in range(5)]
    for name in names:
        processes.put(name, name.encode())
    parts = [Part(name) for name in names]
    assert list(processes.read(parts)) == [b"run0/file"]  # the next would make 18 bytes
    assert list(processes.read([Part("none/file"), *parts[1:]])) == [None, b"run1/file"]
    assert contract.all_of(processes.read, parts) == [name.encode() for name in names]


class Cut:
    """A host whose connection is lost after so many bytes of an answer."""

    def __init__(self, host: LocalHost, left: int) -> None:
        self.host, self.left = host, left

    def call(self, words, stdin=b"", *, seconds=60.0, most=1 << 20):
        problem = Unreachable("The connection was lost.")
        problem.came = self.host.call(words, stdin, seconds=seconds, most=most).out[: self.left]
        raise problem


@pytest.mark.parametrize("left", [0, 10, 24, 25, 29, 30, 53, 54, 60])
def test_of_an_answer_that_was_cut_the_beginning_is_used(home, place, processes, left):
    for name in ("a/file", "b/file"):
        processes.put(name, name.encode())
    parts, contents = [Part("a/file"), Part("b/file")], []
    with pytest.raises(Unreachable, match="lost"):
        contents.extend(host_files.read(Cut(LocalHost(home), left), place.folder, parts))
    assert b"".join(contents) == b"a/fileb/file"[: max(0, min(left, 30) - 24) + max(0, left - 54)]


class Answering:
    """A host that answers this."""

    def __init__(self, out: bytes, status: int = 0) -> None:
        self.answer = Answer(status, out, "why")

    def call(self, words, stdin=b"", *, seconds=60.0, most=1 << 20):
        return self.answer


@pytest.mark.parametrize(
    "out",
    [
        b"", b"12", b"0" * 22 + b"3\nab", b"0" * 22 + b"9\n" + b"x" * 9, b"x" * 23 + b"\n", b"0" * 23 + b"\nmore",
        b"\xff" * 50,
    ],
)  # fmt: skip
def test_an_answer_that_is_cut_or_lies_is_not_used(out):
    with pytest.raises(Unreachable):
        list(host_files.read(Answering(out), "runs", [Part("file", 0, 5)]))


@pytest.mark.parametrize("line", [b"", b"running\nrunning\n", b"exit 99999999999\n", b"\xff\n", b"<script>\n"])
def test_states_that_no_shell_prints_are_no_states(place, line):
    try:
        (standing,) = Processes(Answering(line), place).states(["a1"])
    except Unreachable:
        return
    assert (standing.state, standing.words) == (JobState.LOST, "")


def test_checks_say_what_is_missing(home, place):
    findings = Processes(LocalHost(home), place.model_copy(update={"python": "none/bin/python"})).check()
    assert [finding.what for finding in findings if not finding.good] == ["Python"]
    assert "workbench place install box" in findings[1].said
    lies = (
        b'facts {"python": ["\\n<b>"], "workbench": {"x": 1}, "free": "much", "gpus": [1, ["a", 2], {}], "clock": null}'
    )
    findings = Processes(Answering(lies), place).check()
    assert {finding.what: finding.good for finding in findings}["Disk"] is False
    assert all("\n" not in finding.said for finding in findings)


@pytest.mark.parametrize(
    "facts",
    [
        b'{"free": 1' + b"0" * 400 + b', "clock": 1' + b"0" * 4000 + b"}",
        b'{"free": Infinity, "clock": NaN, "gpus": [["H200", 1' + b"0" * 400 + b"]]}",
        b"[" * 100_000,
    ],
)
def test_numbers_that_no_machine_has_are_none(place, facts):
    findings = Processes(Answering(b"facts " + facts), place).check()
    assert not all(finding.good for finding in findings)


def test_two_shells_do_not_work_in_one_folder(home, place, processes):
    folder = home / place.folder / "a1"
    folder.mkdir(parents=True)
    other = subprocess.Popen(["sh", "-c", "read line; :", "another.sh"], stdin=subprocess.PIPE)
    try:
        (folder / "turn").write_text(f"{other.pid} another.sh\n")
        (job,) = processes.submit([order("a1")])
        until(processes, job, JobState.LOST)
        assert told(home, place, job) == ""
    finally:
        other.kill()
        other.communicate()
    processes.submit([order("a1")])  # the turn of one that is gone is taken over
    until(processes, job, JobState.RUNNING)
    lets_go(home, place, job)
    until(processes, job, JobState.FINISHED)
    wait(lambda: not list(folder.glob("turn*")))  # it is left after the exit status is written


@pytest.fixture
def full(home, monkeypatch):
    """A disk that takes no more folders beside our scripts."""
    (home / "bin").mkdir()
    (home / "bin" / "mkdir").write_text(
        '#!/bin/sh\ncase "$*" in *.begun) echo "mkdir: No space left on device" >&2; exit 1;; esac\n'
        'exec /bin/mkdir "$@"\n'
    )
    (home / "bin" / "mkdir").chmod(0o755)
    monkeypatch.setenv("PATH", f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}")


def test_runs_that_a_full_disk_keeps_from_starting_are_refused(processes, full):
    with pytest.raises(Problem, match="cannot be started there: mkdir: No space left"):
        processes.submit([order("a1")])


def test_a_run_is_ended_also_where_nothing_can_be_written(home, place, processes):
    (job,) = processes.submit([order("a1")])
    folder = at_work(home, place, processes, job)
    (folder / "withdrawn").mkdir()  # in the place of the file
    processes.stop(job, Ending.AT_ONCE)
    assert until(processes, job, JobState.INTERRUPTED).words == "exit status 137"


def test_a_record_is_written_and_read(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_PLACES", str(tmp_path / "places"))
    assert records.known() == []
    place = SshPlace(name="Box 1", host="me@box", folder="~/runs/", data={"/here": "/there"})
    records.store(place)
    assert records.known() == [place]
    assert records.named("Box 1").folder == "runs"
    records.remove("Box 1")
    with pytest.raises(Problem, match="no place Box 1"):
        records.named("Box 1")
    (tmp_path / "places" / "broken.toml").write_text("kind = [")
    with pytest.raises(Problem, match="cannot be read"):
        records.known()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("host", "-oProxyCommand=touch x"), ("host", "a b"), ("host", ""), ("folder", "-rf"), ("name", "../x"),
        ("none", "1"),
    ],
)  # fmt: skip
def test_values_that_no_place_has_are_refused(field, value):
    with pytest.raises(Problem, match=field):
        records.made({"kind": "ssh", "name": "box", "host": "box", field: value})


def test_the_plan_of_an_installation_can_be_read_first(tmp_path):
    place = SshPlace(name="box", host="box")
    assert installing.plan(place).lines()[0] == "python3 -m venv workbench-place"
    assert "metric-workbench==" in installing.plan(place).lines()[1]
    with pytest.raises(Problem, match="not the Python of a virtual environment"):
        installing.plan(place.model_copy(update={"python": "/usr/bin/python3"}))


def test_an_installation_without_an_index_takes_all_from_a_folder_there(tmp_path):
    place = SshPlace(name="box", host="box")
    last = installing.plan(place, wheel=tmp_path / "a.whl", wheels="~/my wheels").lines()[-1]
    assert last.endswith("-m pip install --no-index --find-links 'my wheels' workbench-runs/a.whl")
    for folder in ("--upgrade", "a\nb"):
        with pytest.raises(Problem, match="is not a folder there"):
            installing.plan(place, wheels=folder)


NO_PACKAGE = "ERROR: Could not find a version\nERROR: No matching distribution found for"
NOTICE = "\n[notice] A new release of pip is available\n[notice] To update, run: pip install --upgrade pip\n"


@pytest.mark.parametrize(
    ("fails", "out", "errors", "said"),
    [
        ("venv", "", "no module venv", r"no module venv\. Nothing was installed\. Name a Python there that has venv\."),
        ("venv", "install python3-venv\n", "", r"failed: install python3-venv\. Nothing was installed\."),
        ("pip", "", f"no module pip{NOTICE}", r"no module pip\. Steps before it are done\.$"),
        ("pip", "", f"{NO_PACKAGE} torch{NOTICE}", r"found for torch\. Steps before it are done\. Its pip has no"),
        (
            "pip", "", f"{NO_PACKAGE} metric-workbench==1{NOTICE}",
            r"found for metric-workbench==1\. .* on no index that pip reads there\. In a checkout, ",
        ),
        (
            "pip", "", f"WARNING: Retrying (Retry(total=0)) after connection broken\n{NO_PACKAGE} torch{NOTICE}",
            r"found for torch\. .* If that machine reaches no package index: collect the wheels",
        ),
    ],
)  # fmt: skip
def test_an_installation_that_fails_says_why_and_what_is_done(fails, out, errors, said):
    class Lacking:
        def call(self, words, stdin=b"", *, seconds=60.0, most=1 << 20, heard=None):
            return Answer(1, out.encode(), errors) if fails in words else Answer(0, b"", "")

    with pytest.raises(Problem, match=said):
        installing.carry_out(installing.plan(SshPlace(name="box", host="box")), Lacking(), lambda step: None)


def test_the_lines_of_pip_are_heard_while_it_prints_them(home):
    heard = []
    steps = ((sys.executable, "-c", "print('Collecting torch\\n\\n  Using\\x1b[2J cached', end='\\r\\n')"),)
    installing.carry_out(installing.Plan(steps, None, "runs"), LocalHost(home), heard.append)
    assert heard[1:] == ["Collecting torch", "  Using [2J cached"]


def test_a_line_is_heard_before_the_command_has_ended(home):
    first, release = [], home / "release"
    words = ("sh", "-c", "echo begun; while [ ! -e release ]; do sleep 0.05; done; echo over")

    def heard(line):
        first.append(line)
        release.write_bytes(b"")  # without it the command would wait for ever

    assert LocalHost(home).call(words, seconds=HANG, heard=heard).out == b"begun\nover\n"
    assert first == ["begun", "over"]


def test_what_a_shell_prints_before_the_answer_is_not_heard():
    heard = []
    lines = PrintedLines(heard.append, behind=b"answer:")
    word = "törch\r".encode()
    for piece in (b"Welcome!\nans", b"wer:Collecting ", word[:2], word[2:], b"\n \nend"):
        lines.take(piece)
    assert heard == ["Collecting törch"]


def test_a_folder_that_cannot_be_made_is_said_with_what_to_do(home):
    (home / "file").write_text("", encoding="utf-8")
    with pytest.raises(Problem, match=r"file/runs cannot be written there.* Free some space there, or name another"):
        host_files.write_all(LocalHost(home), "file/runs", {"a/config.toml": b""})


def test_a_full_disk_of_temporary_files_is_not_a_program_that_is_missing(tmp_path, monkeypatch):
    def full(*words, **options):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("workbench.places.host.hosts.run_tool", full)
    with pytest.raises(Problem, match="Free some space for temporary files"):
        LocalHost(tmp_path).call(["true"])
