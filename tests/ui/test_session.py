"""The window's shared state: follows any writer, runs one at a time, and brings results back to its own thread."""

import math
import threading
from time import monotonic, sleep

import numpy as np
import pytest
import shiboken6
from PySide6.QtCore import SIGNAL, QObject

from tests.ui.started import started
from tests.waits import HANG
from workbench.config import RunConfig
from workbench.control import Cancelled, Control
from workbench.events import Ended, Scalar
from workbench.jobs import Job
from workbench.problem import Problem
from workbench.ui.state.background.activity import OFTEN
from workbench.ui.state.background.analysis import AnalysisClient
from workbench.ui.state.background.tasks import Task
from workbench.ui.state.session import Session
from workbench.workspace import Workspace
from workbench.workspace.recorder import Recorder


def status_of(session, run_id):
    return session.workspace.run(run_id).status


class Heard:
    """Counts how often a signal came, and keeps what it carried."""

    def __init__(self, signal):
        self.values = []
        signal.connect(self._take)

    def _take(self, *values):
        self.values.append(values[0] if len(values) == 1 else values)


# Following


def test_another_connections_writes_arrive_in_order_with_nan(qtbot, session, config):
    run_id = session.workspace.create_run(config)
    session.show_run(run_id)
    arrived, statuses = Heard(session.scalars_arrived), Heard(session.status_changed)
    with Workspace(session.workspace.path) as other:
        recorder = Recorder(other, run_id)
        for step, value in enumerate((0.5, math.nan, 0.25), start=1):
            recorder(Scalar("probe/ce", step, value))
        recorder(Ended("done"))
    qtbot.waitUntil(lambda: "done" in statuses.values)
    points = [point for chunk in arrived.values for point in chunk]
    assert [(name, step) for name, step, _ in points] == [("probe/ce", 1), ("probe/ce", 2), ("probe/ce", 3)]
    assert points[0][2] == 0.5
    assert math.isnan(points[1][2])


def test_a_run_shown_later_is_told_from_its_first_point(qtbot, session, config):
    first, second = session.workspace.create_run(config), session.workspace.create_run(config)
    with Workspace(session.workspace.path) as other:
        for run_id, length in ((first, 30), (second, 20)):
            recorder = Recorder(other, run_id)
            for step in range(1, length + 1):
                recorder(Scalar("batch/loss", step, float(run_id)))
            recorder(Ended("done"))
    arrived = Heard(session.scalars_arrived)
    for run_id, length in ((second, 20), (first, 30)):
        arrived.values.clear()
        session.show_run(run_id)
        qtbot.waitUntil(lambda: bool(arrived.values))
        points = [point for chunk in arrived.values for point in chunk]
        assert points == [("batch/loss", step, float(run_id)) for step in range(1, length + 1)]


def test_long_curves_come_whole_in_chunks(qtbot, session, config, monkeypatch):
    monkeypatch.setattr("workbench.workspace.news.ROWS_AT_ONCE", 100)
    run_id = session.workspace.create_run(config)
    with Workspace(session.workspace.path) as other:
        recorder = Recorder(other, run_id)
        for step in range(1, 1051):
            recorder(Scalar("batch/loss", step, 1.0))
        recorder(Ended("done"))
    arrived = Heard(session.scalars_arrived)
    session.show_run(run_id)
    qtbot.waitUntil(lambda: sum(map(len, arrived.values)) == 1050)
    assert [step for chunk in arrived.values for _, step, _ in chunk] == list(range(1, 1051))
    assert max(map(len, arrived.values)) <= 100


def test_points_of_a_resumed_run_arrive_although_their_numbers_are_used_again(qtbot, session, config):
    run_id = session.workspace.create_run(config)
    session.show_run(run_id)
    arrived = Heard(session.scalars_arrived)
    with Workspace(session.workspace.path) as other:
        recorder = Recorder(other, run_id)
        for step in range(1, 11):
            recorder(Scalar("batch/loss", step, 1.0))
        recorder(Ended("interrupted"))
        qtbot.waitUntil(lambda: sum(map(len, arrived.values)) == 10)
        again = Recorder(other, run_id)
        again.forget_after(5)
        session.follower.look()
        qtbot.deliver()
        arrived.values.clear()
        for step in range(6, 11):
            again(Scalar("batch/loss", step, 2.0))
        again(Ended("done"))
    qtbot.waitUntil(lambda: bool(arrived.values))
    points = [point for chunk in arrived.values for point in chunk]
    assert points == [("batch/loss", step, 2.0) for step in range(6, 11)]


# Runs of this window


def test_runs_work_one_after_the_other(qtbot, counting_session, config):
    session = counting_session
    first, second = started(session, config), started(session, config)
    qtbot.waitUntil(lambda: status_of(session, first) == "running")
    assert status_of(session, second) == "queued"
    assert session.run_id == second, "the newest started is shown"
    session.control(first).stop()
    qtbot.waitUntil(lambda: status_of(session, second) == "running")
    assert status_of(session, first) == "stopped"
    assert session.control(first) is None
    with qtbot.waitSignal(session.queue.idle):
        session.end_run(second)
    assert status_of(session, second) == "stopped"


def test_a_run_that_was_taken_out_of_the_queue_can_be_put_back(qtbot, counting_session, config):
    session = counting_session
    first, second = started(session, config), started(session, config)
    session.end_run(second)
    session.follower.look()
    assert session.run(second).never_began
    assert session.can_resume()
    session.resume_run(second)
    assert session.queue.waiting == [second]
    session.show_run(first)
    session.end_run(first)
    qtbot.waitUntil(lambda: not session.queue.waiting)
    qtbot.waitUntil(lambda: session.run(second).status == "running")
    assert not session.run(first).never_began, "it had begun"


def test_a_waiting_run_is_withdrawn_at_once(qtbot, counting_session, config):
    first, second = started(counting_session, config), started(counting_session, config)
    counting_session.end_run(second)
    assert status_of(counting_session, second) == "cancelled"
    assert counting_session.queue.waiting == []
    assert counting_session.queue.running == [first]


def test_a_paused_run_stands_still(qtbot, counting_session, config):
    run_id = started(counting_session, config)
    qtbot.waitUntil(lambda: counting_session.control(run_id) is not None)
    control, standing, passed = counting_session.control(run_id), threading.Event(), []
    gate = control.gate

    def watched_gate():
        if control.paused:
            standing.set()
        gate()
        passed.append(control.paused)

    control.gate = watched_gate
    qtbot.waitUntil(lambda: len(passed) > 20)
    control.pause()
    qtbot.waitUntil(standing.is_set)
    before = len(passed)
    counting_session.follower.look()
    assert len(passed) == before
    control.resume()
    qtbot.waitUntil(lambda: len(passed) > before)


@pytest.mark.parametrize("status", ["queued", "running"])
def test_closing_the_session_ends_what_works(qtbot, tmp_path, config, make_counting_job, status):
    session = Session(Workspace(tmp_path / "w", create=True), make_job=make_counting_job)
    run_id = started(session, config)
    qtbot.waitUntil(lambda: status in ("queued", session.workspace.run(run_id).status))
    session.close()
    with Workspace(tmp_path / "w") as reopened:
        assert reopened.run(run_id).status in ("cancelled", "stopped")  # withdrawn before it began, or stopped


def test_a_discarded_run_goes_to_the_trash_when_it_has_ended(qtbot, counting_session, config):
    session = counting_session
    first, second = started(session, config), started(session, config)
    session.discard_run(second)
    assert session.workspace.run(second).trashed, "it waited in line"
    session.show_run(first)
    qtbot.waitUntil(lambda: status_of(session, first) == "running")
    session.discard_run(first)
    assert not session.workspace.run(first).trashed, "not before it has ended"
    qtbot.waitUntil(lambda: bool(session.workspace.run(first).trashed))
    assert session.run_id is None


def test_a_job_that_cannot_be_made_fails_with_its_sentence(qtbot, workspace, config):
    def broken(*_):
        raise Problem("The disk is gone.")

    session = Session(workspace, make_job=broken)
    noticed = Heard(session.noticed)
    run_id = started(session, config)
    qtbot.waitUntil(lambda: status_of(session, run_id) == "failed")
    qtbot.waitUntil(lambda: bool(noticed.values))
    assert "The disk is gone." in str(noticed.values[0])
    assert not session.busy
    session.close()


def test_a_run_that_cannot_say_its_last_word_does_not_hold_up_the_line(qtbot, workspace, config, monkeypatch):
    monkeypatch.setattr("workbench.ui.state.runs.run_queue.WATCH_EVERY", 50)

    def silent(workspace, run_id, control, listen, resume):
        return Job("silent", lambda control, emit: None, lambda event: None, control)

    session = Session(workspace, make_job=silent)
    noticed = Heard(session.noticed)
    with qtbot.waitSignal(session.queue.idle):
        session.start(config)
        session.start(config)
    assert len(noticed.values) == 2
    assert "could not be recorded" in str(noticed.values[0])
    session.close()


def test_an_end_that_cannot_be_recorded_says_why(qtbot, workspace, config, monkeypatch):
    monkeypatch.setattr("workbench.ui.state.runs.run_queue.WATCH_EVERY", 50)

    def refuse(event):
        raise Problem("The workspace is not there any more.")

    def unheard(workspace, run_id, control, listen, resume):
        return Job("unheard", lambda control, emit: None, refuse, control)

    session = Session(workspace, make_job=unheard)
    noticed = Heard(session.noticed)
    with qtbot.waitSignal(session.queue.idle):
        session.start(config)
    assert [str(what) for what in noticed.values] == [
        "The run ended, but its end could not be recorded. The workspace is not there any more."
    ]
    session.close()


def test_an_end_that_a_full_disk_keeps_from_being_recorded_says_once_what_to_do(qtbot, workspace, config, monkeypatch):
    monkeypatch.setattr("workbench.ui.state.runs.run_queue.WATCH_EVERY", 50)
    advice = {"kept": "Everything written before is kept.", "todo": "Free some space and continue."}

    def work(control, emit):
        raise Problem("The disk is full.", **advice)

    def refuse(event):
        raise Problem("The run's journal could not be written.", **advice)

    session = Session(workspace, make_job=lambda space, run_id, control, *_: Job("full", work, refuse, control))
    noticed = Heard(session.noticed)
    with qtbot.waitSignal(session.queue.idle):
        session.start(config)
    assert [str(what) for what in noticed.values] == [
        "The disk is full. Everything written before is kept. Free some space and continue. "
        "The run ended, but its end could not be recorded. The run's journal could not be written."
    ]
    session.close()


def refuse_status(workspace, monkeypatch):
    """Have the workspace of the window refuse to write a run's state, as a full disk does."""

    def full(run_id, status, problem=""):
        raise Problem("The disk is full.")

    monkeypatch.setattr(workspace, "set_status", full)


def test_a_run_that_can_neither_begin_nor_be_marked_as_failed_does_not_hold_up_the_queue(
    qtbot, workspace, config, monkeypatch
):
    def broken(*_):
        raise Problem("The device is gone.")

    refuse_status(workspace, monkeypatch)
    session = Session(workspace, make_job=broken)
    noticed = Heard(session.noticed)
    with qtbot.waitSignal(session.queue.idle):
        session.start(config)
        session.start(config)
    sentences = {str(problem) for problem in noticed.values}
    assert sentences == {"The device is gone.", "The disk is full."}
    session.close()


def test_a_session_is_closed_although_the_end_of_a_queued_run_cannot_be_written(
    qtbot, workspace, config, make_counting_job, monkeypatch
):
    session = Session(workspace, make_job=make_counting_job)
    noticed = Heard(session.noticed)
    first, _ = started(session, config), started(session, config)
    session.show_run(first)
    qtbot.waitUntil(lambda: status_of(session, first) == "running")
    refuse_status(workspace, monkeypatch)
    session.close()
    assert not session.busy
    assert [str(problem) for problem in noticed.values] == ["The disk is full."]


# Work in threads


def test_work_happens_elsewhere_and_its_result_comes_back_here(qtbot, session):
    threads, results = [], []

    def work(progress):
        threads.append(threading.current_thread())
        progress("Half", 1, 2)
        return 42

    def then(result):
        threads.append(threading.current_thread())
        results.append(result)

    session.run_in_thread("Counting", work, then)
    qtbot.waitUntil(lambda: results == [42])
    assert threads[0] is not threading.main_thread()
    assert threads[1] is threading.main_thread()
    qtbot.waitUntil(lambda: session.activity.items[0].state == "done")


def test_a_problem_in_a_thread_keeps_its_three_parts(qtbot, session):
    told = []

    def work(progress):
        raise Problem("No disk.", kept="All is kept.", todo="Buy one.")

    session.run_in_thread("Failing", work, failed=told.append)
    qtbot.waitUntil(lambda: bool(told))
    assert (told[0].what, told[0].kept, told[0].todo) == ("No disk.", "All is kept.", "Buy one.")


def test_cancelled_work_says_nothing_more(qtbot, session):
    results, heard = [], threading.Event()

    def work(progress):
        try:
            while True:
                progress("Working", 0, 0)
                sleep(0.005)
        except Cancelled:
            heard.set()
            raise

    task = session.run_in_thread("Endless", work, results.append, results.append)
    with qtbot.waitSignal(task.ended):
        session.activity.items[0].cancel()
    assert heard.is_set()
    assert results == []


@pytest.mark.parametrize("by_user", [True, False])
def test_a_cancel_of_the_user_is_told_and_that_of_whoever_asked_is_not(qtbot, session, by_user):
    gate, told = threading.Event(), []
    task = session.run_in_thread(
        "Long", lambda progress: gate.wait(), told.append, cancelled=lambda: told.append("end")
    )
    (session.activity.newest_working if by_user else task).cancel()
    gate.set()
    with qtbot.waitSignal(task.over):
        pass
    assert told == (["end"] if by_user else [])


def test_the_window_does_not_wait_for_the_end_of_a_thread(qtbot, session, monkeypatch):
    goes_on, alive = threading.Event(), []
    run = threading.Thread.run

    def run_and_linger(thread):
        run(thread)
        goes_on.wait()

    monkeypatch.setattr(threading.Thread, "run", run_and_linger)
    task = session.run_in_thread("Slow to end", lambda progress: 1, lambda result: alive.append(not task.join(0)))
    qtbot.waitUntil(lambda: bool(alive))
    assert alive == [True]
    with qtbot.waitSignal(task.over):
        goes_on.set()
    assert task.join(0)
    qtbot.waitUntil(lambda: not shiboken6.isValid(task))


def test_a_flood_of_progress_is_coalesced(qtbot, session):
    item = session.activity.add("Fast")
    changes = Heard(item.changed)

    def flood(progress):
        for step in range(50_000):
            item.progress(step, 50_000)
        item.finish("Over")

    started = monotonic()
    session.run_in_thread("Flood", flood, quiet=True)
    qtbot.waitUntil(lambda: item.state == "done")
    assert item.now.text == "Over", "the last word is exact"
    assert len(changes.values) <= 2 + (monotonic() - started) / (0.8 * OFTEN / 1000)


# What is shown


def test_the_best_evaluation_is_shown_until_one_is_chosen(qtbot, session, config, stored_evaluation):
    run_id = session.workspace.create_run(config)
    session.show_run(run_id)
    assert session.evaluation_id is None
    first = stored_evaluation(run_id, epoch=1, score=0.5)
    qtbot.waitUntil(lambda: session.evaluation_id == first)
    second = stored_evaluation(run_id, epoch=2, score=0.9)
    qtbot.waitUntil(lambda: session.evaluation_id == second)
    third = stored_evaluation(run_id, epoch=3, score=0.7)
    qtbot.waitUntil(lambda: session.evaluations()[-1].id == third)
    assert session.evaluation_id == second, "the newest is not the best"
    session.show_later()
    assert session.evaluation_id == third
    fourth = stored_evaluation(run_id, epoch=4, score=0.95)
    qtbot.waitUntil(lambda: session.evaluations()[-1].id == fourth)
    assert session.evaluation_id == third, "it was chosen"
    session.show_evaluation(None)
    assert session.evaluation_id == fourth
    session.show_run(None)
    session.show_run(run_id)
    qtbot.waitUntil(lambda: session.evaluation_id == fourth)


def test_showing_another_run_clears_query_and_selection(session, config):
    first, second = session.workspace.create_run(config), session.workspace.create_run(config)
    session.show_run(first)
    session.show_query(7)
    session.select(np.array([1, 2, 3]))
    session.show_run(second)
    assert session.query is None
    assert len(session.selection) == 0


def test_another_workspace_forgets_the_run_and_closes_the_first(qtbot, session, config, tmp_path):
    session.show_run(session.workspace.create_run(config))
    before = session.workspace
    with qtbot.waitSignals([session.workspace_changed, session.run_changed]):
        session.open_workspace(Workspace(tmp_path / "other", create=True))
    assert session.run_id is None
    assert session.runs() == []
    qtbot.waitUntil(lambda: not session.reading)  # it is closed on a thread
    with pytest.raises(Exception, match="closed"):
        before.runs()
    new = session.workspace.create_run(RunConfig(name="There"))
    qtbot.waitUntil(lambda: [run.id for run in session.runs()] == [new])


def test_a_workspace_stays_while_a_run_works(counting_session, config, tmp_path):
    counting_session.start(config)
    with pytest.raises(Problem, match="still training"), Workspace(tmp_path / "other", create=True) as other:
        counting_session.open_workspace(other)


def test_five_thousand_signals(session):
    """PySide6 6.12.0 dies on Python 3.11 after some hundred: it loses a reference to True with each."""
    heard = Heard(session.selection_changed)
    for number in range(5000):
        session.select(np.array([number]))
    assert len(heard.values) == 5000


# The analysis process


class ToldProcess:
    """Stands for the other process: answers what the test says, from a thread."""

    def __init__(self, on_answer):
        self.on_answer, self.cancelled, self.asked = on_answer, [], []

    def request(self, op, **fields):
        self.asked.append((op, fields))
        return len(self.asked)

    def cancel(self, number):
        self.cancelled.append(number)

    def close(self):
        self.cancelled.append("closed")

    def answer(self, **fields):
        thread = threading.Thread(target=self.on_answer, args=(fields,))
        thread.start()
        thread.join()


@pytest.fixture
def analysis(qapp):
    made = {}

    def start(on_answer):
        made["process"] = ToldProcess(on_answer)
        return made["process"]

    return AnalysisClient(start=start), made["process"]


def test_answers_come_on_the_windows_thread_in_order(qtbot, analysis):
    client, process = analysis
    told = []

    def hear(answer):
        told.append((answer["event"], threading.current_thread() is threading.main_thread()))

    client.request("project", {"seed": 1}, hear, hear)
    process.answer(id=1, event="progress", done=1, total=2)
    process.answer(id=1, event="result", projection=5)
    qtbot.waitUntil(lambda: len(told) == 2)
    assert told == [("progress", True), ("result", True)]
    assert process.asked == [("project", {"seed": 1})]


def test_nothing_is_told_to_an_owner_that_is_gone(qtbot, analysis):
    client, process = analysis
    told = []
    owner = QObject()
    client.request("project", {}, told.append, told.append, owner=owner)
    owner.deleteLater()
    qtbot.deliver()
    process.answer(id=1, event="result", projection=5)
    qtbot.deliver()
    assert told == []
    assert process.cancelled == [1]


def test_requests_that_have_ended_leave_their_owner_alone(qtbot, analysis):
    client, process = analysis
    owner, told = QObject(), []
    owner.destroyed.connect(lambda: None)  # with the first one PySide makes one for itself
    before = owner.receivers(SIGNAL("destroyed(QObject*)"))
    for number in range(1, 7):
        request = client.request("project", {}, None, told.append, told.append, owner=owner)
        assert owner.receivers(SIGNAL("destroyed(QObject*)")) == before + 1
        if number % 3 == 0:
            request.cancel()
        else:
            process.answer(id=number, event="result" if number % 3 == 1 else "error")
            qtbot.deliver()
    assert len(told) == 4
    client.request("project", {}, owner=owner)
    assert owner.receivers(SIGNAL("destroyed(QObject*)")) == before + 1
    client.close()
    assert owner.receivers(SIGNAL("destroyed(QObject*)")) == before
    owner.deleteLater()
    qtbot.deliver()


def test_a_dead_process_is_told_as_a_problem(qtbot, analysis):
    client, process = analysis
    problems = []
    client.request("project", {}, on_error=problems.append)
    process.answer(id=1, event="error", what="It ended.", kept="All.", todo="Ask again.")
    qtbot.waitUntil(lambda: bool(problems))
    assert (problems[0].what, problems[0].todo) == ("It ended.", "Ask again.")


def test_a_cancelled_request_is_silent_even_when_its_answer_was_on_its_way(qtbot, analysis):
    client, process = analysis
    told = []
    request = client.request("project", {}, told.append, told.append, told.append)
    process.answer(id=1, event="result")
    request.cancel()
    qtbot.deliver()
    assert told == []
    assert process.cancelled == [1]


def test_a_workspace_that_was_opened_too_late_is_dropped(qtbot, tmp_path, config, make_counting_job):
    """The answer of the thread that opens it may still be on its way when the session closes."""
    session = Session(Workspace(tmp_path / "w", create=True), make_job=make_counting_job)
    run_id = started(session, config)
    assert session.queue.findChild(Task).join(HANG)
    session.close()
    qtbot.deliver()
    with Workspace(tmp_path / "w") as workspace:
        assert workspace.run(run_id).status == "cancelled"


def test_after_its_end_a_session_begins_nothing(qtbot, tmp_path):
    started = []

    class Process:
        def __init__(self, on_answer):
            started.append("process")

        def request(self, op, **fields):
            started.append(op)
            return 1

        def cancel(self, number):
            pass

        def close(self):
            pass

    session = Session(Workspace(tmp_path / "w", create=True))
    session.analysis = AnalysisClient(session, Process)
    session.close()
    session.run_in_thread("Late", lambda progress: started.append("work"), failed=started.append)
    session.analysis.request("project", {}, on_error=started.append).cancel()
    qtbot.deliver()
    assert started == ["process"]


def test_a_run_trains_in_a_process_of_its_own_where_that_was_chosen(qtbot, tmp_path, monkeypatch):
    from workbench.running import launch
    from workbench.running.processes import own_process
    from workbench.running.processes.spare import Spare
    from workbench.ui.preferences import Preferences
    from workbench.ui.state.runs.run_jobs import OWN_PROCESS, chosen_job

    preferences = Preferences(tmp_path / "window.ini")
    monkeypatch.setattr(launch, "make_job", lambda *job, **options: "thread")
    monkeypatch.setattr(own_process, "make_job", lambda *job, **options: "process")
    assert chosen_job(preferences, Spare(), None, 1, Control(), lambda event: None, False) == "thread"
    preferences.set_flag(OWN_PROCESS, True)
    assert chosen_job(preferences, Spare(), None, 1, Control(), lambda event: None, False) == "process"


def test_a_shown_run_that_was_deleted_elsewhere_is_shown_no_longer(session, workspace, config, qtbot):
    run_id = workspace.create_run(config)
    workspace.set_status(run_id, "done")
    session.show_run(run_id)
    session.follower.look()
    with Workspace(workspace.path) as other:
        other.trash(run_id)
        session.follower.look()
        assert session.run_id == run_id, "in the trash it can still be looked at"
        other.delete(run_id)
    with qtbot.waitSignal(session.said) as said:
        session.follower.look()
    assert session.run_id is None
    assert "deleted" in said.args[0]
