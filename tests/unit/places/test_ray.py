"""Ray, played by a small server: what it is asked, what its answers mean, and what is said when it fails."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from workbench.places.contract import Ending, JobState, Order, Standing, Unreachable
from workbench.places.host.hosts import LocalHost
from workbench.places.kinds.ray import Ray
from workbench.places.place import RayPlace
from workbench.places.records import made
from workbench.problem import Problem

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the machine that sees the folder has a POSIX shell")


class Answers(BaseHTTPRequestHandler):
    """Notes what is asked; answers as the test says, by default as a Ray that keeps all jobs in one state."""

    def do_GET(self):
        self.reply()

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, asked))
        if self.path == "/api/jobs/":
            self.server.jobs.append(asked["submission_id"])
        self.reply()

    def reply(self):
        status, text = self.server.answer or (200, json.dumps(self.usual()).encode())
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def usual(self):
        if self.path == "/api/version":
            return {"ray_version": "2.60.0"}
        state, message = self.server.state
        return [{"submission_id": job, "status": state, "message": message} for job in self.server.jobs]

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    made = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    made.asked, made.jobs, made.answer, made.state = [], [], None, ("RUNNING", None)
    thread = Thread(target=made.serve_forever, args=(0.01,))
    thread.start()
    yield made
    made.shutdown()
    made.server_close()
    thread.join()


@pytest.fixture
def ray(server, tmp_path):
    place = RayPlace(name="r", url=f"http://127.0.0.1:{server.server_port}", folder=str(tmp_path / "runs"), python="/p")
    return Ray(LocalHost(tmp_path), place)


def orders(count):
    return [Order(f"run{number}", {"run.json": b"x"}, title="Digits") for number in range(count)]


def states(ray, jobs):
    return [standing.state for standing in ray.states(jobs)]


def test_runs_are_spread_over_jobs_that_ask_for_cores(ray, server, tmp_path):
    jobs = ray.submit(orders(6))
    assert [job.partition(":")[2] for job in jobs] == [f"run{number}" for number in range(6)]
    assert len({job.partition(":")[0] for job in jobs}) == 4
    assert all(asked["entrypoint_num_cpus"] == 1 for _, asked in server.asked)
    script = next((tmp_path / "runs/jobs").iterdir()).read_text()
    assert "-m workbench run" in script


def test_a_run_is_told_by_its_exit_status_then_by_its_job(ray, server, tmp_path):
    jobs = ray.submit(orders(2))
    assert states(ray, jobs) == [JobState.QUEUED] * 2
    (tmp_path / "runs/run0/begun").touch()
    assert states(ray, jobs) == [JobState.RUNNING, JobState.QUEUED]
    (tmp_path / "runs/run0/exit").write_text("137\n")
    assert ray.states(jobs)[0] == Standing(JobState.INTERRUPTED, "exit status 137")
    (tmp_path / "runs/run0/exit").write_text("0\n")
    server.state = ("FAILED", "node died\nkilled. Worker exit detail: (1) it")
    said = ray.states(jobs)
    assert said[0].state is JobState.FINISHED
    assert (said[1].state, said[1].words) == (JobState.INTERRUPTED, "its job in Ray ended: killed")
    assert [standing.unsure for standing in said] == [False, True]
    server.jobs.clear()
    assert states(ray, jobs) == [JobState.FINISHED, JobState.LOST]


def test_a_run_at_work_is_not_sent_twice(ray, server, tmp_path):
    """Two laptops have it and both resume it, or the answer to the first call was lost."""
    first = ray.submit(orders(2))
    (tmp_path / "runs/run0/begun").touch()
    assert ray.submit(orders(2)) == first
    assert states(ray, first) == [JobState.RUNNING, JobState.QUEUED]
    (tmp_path / "runs/run0/exit").write_text("130\n")
    ray.stop(first[1], Ending.SAVED)
    again = ray.submit(orders(2))
    assert not set(again) & set(first)
    assert states(ray, again) == [JobState.QUEUED] * 2
    server.state = ("SUCCEEDED", None)
    assert not set(ray.submit(orders(2))) & {*first, *again}


@pytest.mark.parametrize(
    ("how", "word"), [(Ending.AFTER_EPOCH, "EPOCH"), (Ending.SAVED, "TERM"), (Ending.AT_ONCE, "KILL")]
)
def test_a_run_is_asked_to_end_by_a_word_in_its_folder(ray, server, tmp_path, how, word):
    (job,) = ray.submit(orders(1))
    (tmp_path / "runs/run0/begun").touch()
    ray.stop(job, how)
    assert (tmp_path / "runs/run0/ask").read_text() == word
    assert [path for path, _ in server.asked] == ["/api/jobs/"]


def test_a_run_that_waits_alone_leaves_the_line(ray, server):
    (job,) = ray.submit(orders(1))
    ray.stop(job, Ending.SAVED)
    assert server.asked[-1][0] == f"/api/jobs/{job.partition(':')[0]}/stop"
    assert states(ray, [job]) == [JobState.CANCELLED], "whatever Ray still says of its job"


def test_states_of_many_runs_are_asked_in_parts(ray, monkeypatch):
    monkeypatch.setattr("workbench.places.kinds.ray.AT_ONCE", 2)
    assert states(ray, ray.submit(orders(5))) == [JobState.QUEUED] * 5


@pytest.mark.parametrize(
    "answer", [(200, b"<html>"), (200, b"[" * 100_000), (503, b"later"), (200, b"{}"), (302, b"")]
)  # fmt: skip
def test_what_is_no_answer_of_ray_is_no_end_of_a_run(ray, server, answer):
    jobs = ray.submit(orders(1))
    server.answer = answer
    with pytest.raises(Unreachable):
        ray.states(jobs)


def test_lists_of_anything_are_no_harm(ray, server):
    jobs = ray.submit(orders(1))
    server.answer = (
        200,
        json.dumps([1, None, {}, {"submission_id": jobs[0].partition(":")[0], "status": []}]).encode(),
    )
    assert states(ray, jobs) == [JobState.LOST]


def test_a_refusal_and_a_dead_address_are_sentences(ray, server):
    server.answer = (400, b"Job with submission_id exists")
    with pytest.raises(Problem, match="refused it: Job with"):
        ray.submit(orders(1))
    gone = Ray(LocalHost(), RayPlace(name="r", url="http://127.0.0.1:9", folder="/nowhere", python="/p"))
    assert [(finding.good, finding.said) for finding in gone.check()] == [
        (False, "Ray at http://127.0.0.1:9 does not answer: Connection refused.")
    ]


def test_the_address_is_called_url():
    assert RayPlace.model_json_schema()["properties"]["url"]["title"] == "URL"


@pytest.mark.parametrize(("field", "value"), [("url", "file:///etc/passwd"), ("url", "http://a b"), ("folder", "runs")])
def test_a_field_that_cannot_be_used_is_refused(field, value):
    values = {"kind": "ray", "name": "r", "url": "http://a:1", "folder": "/a", "python": "/p"}
    with pytest.raises(Problem, match=field):
        made({**values, field: value})
