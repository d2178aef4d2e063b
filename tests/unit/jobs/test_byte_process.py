"""What a process of bytes says when it fails, when it is closed by another thread, and in a folder of other modules."""

import os
import signal
import sys
import threading
from pathlib import Path

import pytest

import workbench
from workbench import jobs
from workbench.problem import Problem

ROOT = Path(workbench.__file__).parents[1]
LONG = 60  # seconds, against a hang
ANSWERS = """
import sys, time
from workbench.jobs import serve_bytes

def answer(request):
    if request["want"] == "memory":
        raise MemoryError("too little")
    if request["want"] == "surrogate":
        raise ValueError("cannot read \\udcff.jpg")
    if request["want"] == "sleep":
        print("asleep", file=sys.stderr, flush=True)
        time.sleep(600)
    return str(len(request["want"])).encode()

serve_bytes(answer)
"""


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A module that answers with the length of what it is asked."""
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "answers_of_a_test.py").write_text(ANSWERS, "utf-8")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(tmp_path / "modules"), str(ROOT))))
    pool = jobs.BytePool("answers_of_a_test", [], 1)
    yield pool
    pool.close()


def test_too_little_memory_is_told_apart_and_the_process_goes_on(server):
    with pytest.raises(MemoryError, match="too little"):
        server.answer({"want": "memory"})
    with pytest.raises(ValueError, match=r"cannot read \\udcff.jpg"):
        server.answer({"want": "surrogate"})
    assert server.answer({"want": "abc"}) == b"3"


@pytest.mark.skipif(os.name != "posix", reason="signals that cut a call short")
def test_a_long_request_arrives_whole_although_signals_come(server):
    """The pipe takes 64 KiB at once: a signal to the thread that writes the rest cuts the call short."""
    before = signal.signal(signal.SIGUSR1, lambda number, frame: None)
    over, own = threading.Event(), threading.get_ident()

    def disturb():
        while not over.wait(0.0002):
            signal.pthread_kill(own, signal.SIGUSR1)

    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        for _ in range(5):
            assert server.answer({"want": "a" * 3_000_000}) == b"3000000"
    finally:
        over.set()
        thread.join(LONG)
        signal.signal(signal.SIGUSR1, before)


def test_closed_by_another_thread_a_request_is_a_problem(server, capfd):
    failed = []

    def ask():
        try:
            server.answer({"want": "sleep"})
        except (Problem, OSError, ValueError) as error:
            failed.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    while "asleep" not in capfd.readouterr().err:
        assert thread.is_alive()
    server.close()
    thread.join(LONG)
    assert [type(error) for error in failed] == [Problem]


def test_a_process_that_is_closed_is_a_problem_not_a_bad_image(server):
    process = jobs.ByteProcess("answers_of_a_test", [])
    process.close()
    with pytest.raises(Problem, match="ended"):
        process.answer({"want": "abc"})


def test_modules_of_the_current_folder_take_no_place_of_pythons(server, tmp_path, monkeypatch):
    for name in ("json", "random", "numpy", "workbench"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('the wrong module')\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [folder for folder in sys.path if folder])
    assert server.answer({"want": "abc"}) == b"3"


def test_the_current_folder_is_searched_where_this_process_searches_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(ROOT)])
    assert jobs.python("some.module") == [sys.executable, "-P", "-m", "some.module"]
    for entry in ("", str(tmp_path)):
        monkeypatch.setattr(sys, "path", [entry, str(ROOT)])
        assert jobs.python("some.module") == [sys.executable, "-m", "some.module"]
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "path", [str(ROOT)])
    assert jobs.python("some.module", "workbench") == ["workbench", "-m", "some.module"]
