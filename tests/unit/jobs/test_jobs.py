"""A job always ends with one Ended event, and the analysis process answers, dies and comes back."""

import errno
import os
import queue
import subprocess
import sys
import threading
from time import sleep

import psutil
import pytest

from tests.waits import HANG
from workbench import jobs
from workbench.control import Cancelled, Control
from workbench.events import Ended, Scalar
from workbench.jobs import AnalysisProcess, Job, interpreter, processes, threads, tools
from workbench.problem import Problem

POPEN = subprocess.Popen  # which the fixture below replaces
SERVER = """
import json, os, subprocess, sys, time
for line in sys.stdin:
    asked = json.loads(line)
    if asked["op"] == "die":
        os._exit(3)
    if asked["op"] == "sleep":
        time.sleep(60)
    if asked["op"] == "break off":
        sys.stdout.write('{"id": 1, "eve')
        sys.stdout.flush()
        os._exit(3)
    if asked["op"] == "die, output open":
        program = f"import os, time\\nwhile not os.path.exists({asked['until']!r}): time.sleep(0.01)"
        subprocess.Popen([sys.executable, "-c", program])
        os._exit(3)
    print(json.dumps({"id": asked["id"], "event": "progress", "done": 1}), flush=True)
    print(json.dumps({"id": asked["id"], "event": "result", "op": asked["op"], "pid": os.getpid()}), flush=True)
"""


def outcome(work, control=None, **options):
    events = []
    job = Job("test", work, events.append, control, **options).start()
    assert job.join(HANG)
    return events


@pytest.mark.parametrize(
    ("raised", "status", "says"),
    [
        (Cancelled(), "cancelled", ""),
        (Problem("The disk is full.", todo="Free some."), "failed", "The disk is full. Free some."),
        (MemoryError(), "failed", "not enough memory"),
        (ZeroDivisionError(), "failed", "defect in Workbench"),
    ],
)
def test_every_end_is_told(raised, status, says):
    def work(control, emit):
        emit(Scalar("batch/loss", 1, 0.5))
        raise raised

    events = outcome(work)
    assert events[0] == Scalar("batch/loss", 1, 0.5)
    assert events[1].status == status
    assert says in events[1].problem


def test_done_and_stopped():
    assert outcome(lambda control, emit: None) == [Ended("done")]
    control = Control()
    control.stop()
    assert outcome(lambda control, emit: None, control) == [Ended("stopped")]


def test_a_last_word_that_cannot_be_recorded_does_not_kill_the_thread(caplog):
    def emit(event):
        raise Problem("The disk is full.")

    job = Job("full", lambda control, emit: None, emit).start()
    assert job.join(HANG)
    assert "could not be recorded" in caplog.text
    assert (job.ended, str(job.untold)) == (Ended("done"), "The disk is full.")


def test_whoever_starts_a_job_does_not_wait_for_its_thread(monkeypatch):
    goes_on, begin = threading.Event(), threading.Thread.start

    def late(thread):
        assert goes_on.wait(HANG)
        begin(thread)

    outcome(lambda control, emit: None)  # the thread that starts the others is there
    monkeypatch.setattr(threading.Thread, "start", late)
    events = []
    job = Job("late", lambda control, emit: None, events.append).start()
    assert job.alive
    assert not job.join(0.01)
    assert events == []
    goes_on.set()
    assert job.join(HANG)
    assert not job.alive
    assert events == [Ended("done")]


def test_a_thread_that_the_system_does_not_give_is_a_failed_job(monkeypatch):
    def none_left(thread):
        raise RuntimeError("can't start new thread")

    outcome(lambda control, emit: None)
    monkeypatch.setattr(threading.Thread, "start", none_left)
    (ended,) = outcome(lambda control, emit: None)
    assert ended.status == "failed"
    assert "could not start another thread" in ended.problem


@pytest.mark.skipif(sys.platform != "linux", reason="threads have a niceness of their own on Linux only")
def test_a_job_of_a_window_yields_to_it_and_no_other_does():
    own, found = os.getpriority(os.PRIO_PROCESS, 0), []
    for behind_window in (True, False):
        outcome(
            lambda control, emit: found.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id())),
            behind_window=behind_window,
        )
    assert found == [max(threads.NICE, own), own]


@pytest.fixture
def analysis(monkeypatch, tmp_path):
    (tmp_path / "server.py").write_text(SERVER)
    real = processes.subprocess.Popen
    monkeypatch.setattr(
        processes.subprocess,
        "Popen",
        lambda command, **options: real([sys.executable, str(tmp_path / "server.py")], **options),
    )
    answers: queue.Queue = queue.Queue()
    process = AnalysisProcess(answers.put)
    yield process, answers
    process.close()


def test_answers_carry_their_number(analysis):
    process, answers = analysis
    first, second = process.request("warm"), process.request("project", seed=1)
    found = [answers.get(timeout=HANG) for _ in range(4)]
    assert [(each["id"], each["event"]) for each in found] == [
        (first, "progress"), (first, "result"), (second, "progress"), (second, "result"),
    ]  # fmt: skip


def test_a_dead_process_is_an_error_for_those_who_wait_and_is_started_anew(analysis):
    process, answers = analysis
    number = process.request("die")
    answer = answers.get(timeout=HANG)
    assert (answer["id"], answer["event"]) == (number, "error")
    assert "ended unexpectedly" in answer["what"]
    again = process.request("warm")
    assert answers.get(timeout=HANG)["id"] == again


def test_cancel_ends_the_work_and_the_next_request_gets_a_new_process(analysis):
    process, answers = analysis
    number = process.request("sleep")
    process.cancel(number)
    again = process.request("warm")
    assert answers.get(timeout=HANG)["id"] == again
    assert answers.get(timeout=HANG)["event"] == "result"
    assert answers.empty()


def test_no_process_outlives_close(analysis):
    process, answers = analysis
    before = set(psutil.Process().children())
    process.request("warm")
    answers.get(timeout=HANG)
    (child,) = set(psutil.Process().children()) - before
    process.close()
    assert not child.is_running()
    assert not [thread for thread in threading.enumerate() if not thread.daemon and "analysis" in thread.name]


@pytest.mark.parametrize(("op", "seconds"), [("sleep", processes.AT_WORK), ("warm", processes.GRACE)])
def test_close_waits_less_for_a_process_at_work(analysis, monkeypatch, op, seconds):
    process, answers = analysis
    process.request(op)
    if op == "warm":
        while answers.get(timeout=HANG)["event"] != "result":
            pass
    waits, wait = [], POPEN.wait

    def watched(child, timeout=None):
        waits.append(timeout)
        return wait(child, timeout)

    monkeypatch.setattr(POPEN, "wait", watched)
    process.close()
    assert seconds in waits


def test_a_detached_process_that_cannot_write_its_log_is_a_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(Problem, match="background process cannot be started"):
        jobs.start_detached(["doctor"], tmp_path / "file" / "worker.log")


@pytest.mark.skipif(os.name != "posix", reason="an AppImage is for Linux")
def test_in_an_appimage_the_appimage_is_what_outlives_this_process(tmp_path, monkeypatch):
    """The files of the AppImage that this process came from are unmounted when it ends."""
    said = tmp_path / "said"
    os.mkfifo(said)  # read when it is written
    image = tmp_path / "Workbench.AppImage"
    image.write_text(f'#!/bin/sh\necho "$@" > "{said}"\n', "utf-8")
    image.chmod(0o755)
    monkeypatch.setenv("APPIMAGE", str(image))
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    jobs.start_detached(["doctor"], tmp_path / "worker.log")
    assert said.read_text("utf-8") == "-m workbench doctor\n"


def test_a_process_that_dies_in_the_middle_of_an_answer_is_an_error_for_those_who_wait(analysis):
    process, answers = analysis
    number = process.request("break off")
    answer = answers.get(timeout=HANG)
    assert (answer["id"], answer["event"]) == (number, "error")


def test_those_who_wait_for_a_dead_process_get_an_error_even_after_another_was_started(analysis, tmp_path):
    (process, answers), before = analysis, psutil.Process().children()
    lost = process.request("die, output open", until=str(tmp_path / "end"))  # so that its death is heard late
    (dead,) = [child for child in psutil.Process().children() if child not in before]  # it may be dead by now
    while dead.is_running() and dead.status() != psutil.STATUS_ZOMBIE:
        sleep(0.01)
    later = process.request("warm")
    assert [answers.get(timeout=HANG)["id"] for _ in range(2)] == [later, later]
    (tmp_path / "end").touch()
    answer = answers.get(timeout=HANG)
    assert (answer["id"], answer["event"]) == (lost, "error")


def test_a_process_that_cannot_be_started_is_a_problem_and_its_request_does_not_wait(analysis, monkeypatch):
    process, answers = analysis

    def no_more(command, **options):
        raise OSError(24, "Too many open files")

    with monkeypatch.context() as patch:
        patch.setattr(processes.subprocess, "Popen", no_more)
        with pytest.raises(Problem, match="cannot be started"):
            process.request("warm")
    process.request("warm")
    assert answers.get(timeout=HANG)["event"] == "progress"
    before = answers.get(timeout=HANG)["pid"]
    process.cancel(process.request("sleep"))
    process.request("warm")
    assert answers.get(timeout=HANG)["event"] == "progress"
    assert answers.get(timeout=HANG)["pid"] != before  # nothing else waited for it: it was ended


@pytest.fixture
def options_of_popen(monkeypatch):
    """The options of each process that was to be started; none is."""
    seen: list[dict] = []

    def refuse(command, **options):
        seen.append(options)
        raise OSError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    return seen


def test_what_works_in_the_background_opens_no_console_of_windows(options_of_popen, tmp_path, monkeypatch):
    """A process without a console gives each of its own processes a new one; what may ask needs that of its caller."""
    monkeypatch.setattr(processes, "NO_CONSOLE", 0x08000000)
    monkeypatch.setattr(tools, "NO_CONSOLE", 0x08000000)
    with pytest.raises(Problem):
        jobs.start_detached(["doctor"], tmp_path / "worker.log")
    for asks in (False, True):
        with pytest.raises(OSError, match="temporarily"):
            jobs.run_tool(["ssh"], asks=asks)
    assert [options["creationflags"] for options in options_of_popen] == [0x08000000, 0x08000000, 0]


@pytest.mark.parametrize(("there", "expected"), [(True, None), (False, subprocess.DEVNULL)])
def test_a_window_without_an_error_output_gives_its_processes_none(options_of_popen, monkeypatch, there, expected):
    """So it is on Windows: what a library prints would end the process."""
    if not there:
        monkeypatch.setattr(sys, "stderr", None)
    with pytest.raises(Problem):
        AnalysisProcess(print).request("warm")
    with pytest.raises(Problem):
        jobs.ByteProcess("tests", [])
    assert {options["stderr"] for options in options_of_popen} == {expected}


@pytest.mark.parametrize(
    ("windows", "quoted"),
    [(False, r"workbench run 'C:\My runs\a.toml'"), (True, r'workbench run "C:\My runs\a.toml"')],
)
def test_a_command_is_quoted_as_the_system_s_shell_reads_it(monkeypatch, windows, quoted):
    monkeypatch.setattr(interpreter, "WINDOWS", windows)
    assert jobs.command_line("workbench", "run", r"C:\My runs\a.toml") == quoted


@pytest.mark.parametrize(
    ("word", "quoted"),
    [
        ("C:\\runs", "C:\\runs"), ("a&calc", '"a&calc"'), ("a;b", '"a;b"'), ("a^b", '"a^b"'), ("", '""'),
        ("$(calc)", '"`$(calc)"'), ("a`b", '"a``b"'), ("a\u201d;calc", '"a`\u201d;calc"'), ("%x%", '"%x%"'),
        ("a b\\", '"a b\\\\"'), ('a"&calc', '"a""&calc"'),
    ],
)  # fmt: skip
def test_a_name_is_no_command_of_a_shell_of_windows(monkeypatch, word, quoted):
    monkeypatch.setattr(interpreter, "WINDOWS", True)
    assert jobs.command_line(word) == quoted
