"""The analysis process as it really runs: lines in, lines out, and an end when nobody is left."""

import json
import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from tests.waits import HANG
from workbench.config import RunConfig
from workbench.events import Ended, Evaluated
from workbench.jobs import serving
from workbench.problem import Problem
from workbench.progress import quiet
from workbench.projection import server
from workbench.workspace import Workspace
from workbench.workspace.recorder import Recorder


class Server:
    """A running analysis process and its pipes; `with` ends it, and kills it where the test failed."""

    def __init__(self, log, *arguments):
        self.process = subprocess.Popen(
            [sys.executable, *(arguments or ("-m", "workbench.projection.server"))],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
        )  # fmt: skip

    def __enter__(self):
        return self

    def __exit__(self, failed, *_):
        try:
            if failed is None:
                self.process.stdin.close()
                assert self.process.wait(HANG) == 0
        finally:
            self.kill()

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def say(self, line):
        self.process.stdin.write((line if isinstance(line, str) else json.dumps(line)) + "\n")
        self.process.stdin.flush()

    def hear(self):
        return json.loads(self.process.stdout.readline())

    def ask(self, **request):
        """Progress texts, and the answer that ends the request."""
        self.say(request)
        told = []
        while (found := self.hear())["event"] == "progress":
            assert found["id"] == request["id"]
            told.append(found["text"])
        return told, found


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """The process of most tests, as starting one takes a second; none at first and after a test that failed."""
    with (tmp_path_factory.mktemp("server") / "stderr.txt").open("w+") as file:
        kept = SimpleNamespace(server=None, log=file)
        yield kept
        if kept.server is not None:
            with kept.server:
                pass
        file.seek(0)
        assert file.read() == ""  # no warning and no traceback


@pytest.fixture
def running(shared, request):
    """A process that owes no answer to another test."""
    shared.server = shared.server or Server(shared.log)
    failed = request.session.testsfailed
    yield shared.server
    if request.session.testsfailed > failed:
        shared.server.kill()
        shared.server = None


@pytest.fixture
def arrays(tmp_path):
    """Fields of a request for 60 points of 3 classes."""
    rng = np.random.default_rng(0)
    labels = np.arange(60) % 3
    np.save(tmp_path / "embeddings.npy", np.eye(3, 5)[labels] + 0.05 * rng.normal(size=(60, 5)))
    np.save(tmp_path / "labels.npy", labels)
    np.save(tmp_path / "proxies.npy", np.eye(3, 5))
    (tmp_path / "out").mkdir()
    return {name: str(tmp_path / f"{name}.npy") for name in ("embeddings", "labels", "proxies")} | {
        "out": str(tmp_path / "out")
    }


@pytest.fixture
def evaluation(tmp_path):
    """A workspace on disk with one evaluation of 14 samples; its path and the evaluation's number."""
    rng = np.random.default_rng(1)
    images = SimpleNamespace(
        name="blobs", root=None, image_size=8, channels=1, fingerprint="f00d", official=None,
        class_names=("even", "odd"), paths=[f"{i}.png" for i in range(14)], labels=np.arange(14) % 2,
        sample_ids=np.arange(14) + 2**40,
    )  # fmt: skip
    with Workspace(tmp_path / "space", create=True) as workspace:
        run = workspace.create_run(RunConfig())
        recorder = Recorder(workspace, run)
        recorder.dataset(workspace.register_dataset(images, workspace.path / "pixels.npy"))
        recorder(
            Evaluated(
                1,
                10,
                "cosine",
                {"MAP@R": 0.5},
                images.sample_ids,
                images.labels,
                rng.normal(size=(14, 4)).astype(np.float32),
                np.ones(14, np.float32),
                np.ones(14, np.int32),
                np.full(14, 6, np.int32),
                np.roll(images.sample_ids, 1)[:, None],
                np.ones((14, 1), np.float32),
                np.eye(2, 4, dtype=np.float32),
                np.arange(2),
            )
        )  # fmt: skip
        recorder(Ended("done"))
        return str(workspace.path), workspace.evaluations(run)[0].id


def test_maps_of_a_workspace_are_stored_there(running, evaluation):
    path, number = evaluation
    for method, params in (("pca", {"metric": "cosine"}), ("umap", {"n_neighbors": 5})):
        told, found = running.ask(
            id=1, op="project", workspace=path, evaluation=number, method=method, params=params, seed=3
        )
        assert found["event"] == "result", found
        assert 0 < found["trustworthiness"] <= 1
        assert found["seconds"] > 0
        assert told[-1] == "Storing the map"
        with Workspace(path) as workspace:
            stored = next(each for each in workspace.projections(number) if each.id == found["projection"])
            points, proxies = workspace.coordinates(stored.id)
        assert (stored.method, stored.seed, stored.trustworthiness) == (method, 3, found["trustworthiness"])
        assert stored.params.items() >= params.items()
        assert points.shape == (14, 2)
        assert proxies.shape == (2, 2)


def test_the_course_of_a_run_is_mapped_once(running, evaluation):
    path, number = evaluation
    asked = {"op": "project_epochs", "workspace": path, "evaluation": number, "method": "pca", "seed": 5}
    told, found = running.ask(id=2, **asked)
    assert found["made"] == 1, found
    assert told[-1] == "map 1 of 1: Storing the map"
    _, again = running.ask(id=3, **asked)
    assert (again["projections"], again["made"]) == (found["projections"], 0)


def test_stored_maps_of_a_read_only_workspace_are_found(evaluation, monkeypatch):
    path, number = evaluation
    asked = {"workspace": path, "evaluation": number, "method": "pca", "seed": 6}
    made = server.project_epochs(asked, quiet)
    true, stages = os.access, []
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK and true(path, mode))
    assert server.project_epochs(asked, quiet)["projections"] == made["projections"]
    for ask in (server.project, server.project_epochs):
        with pytest.raises(Problem, match=r"cannot be: .* reading only. PCA and the stored maps are shown"):
            ask({**asked, "seed": 7}, lambda text, *_: stages.append(text))
    assert stages == ["map 1 of 1: Looking for a stored map"], "nothing is computed that could not be stored"


def test_maps_of_arrays_are_written_beside_each_other(running, arrays):
    _, found = running.ask(id="a", op="project_arrays", method="pca", **arrays)
    points, proxies = np.load(found["points"]), np.load(found["proxies"])
    assert points.shape == (60, 2)
    assert proxies.shape == (3, 2)
    assert (found["trust_queries"], found["points_count"]) == (60, 60)
    _, found = running.ask(id="b", op="project_arrays", method="pca", **arrays | {"proxies": None})
    assert "proxies" not in found


def test_nmi_and_warm(running, arrays):
    _, found = running.ask(id=5, op="nmi", embeddings=arrays["embeddings"], labels=arrays["labels"])
    assert found["nmi"] == pytest.approx(1)
    told, found = running.ask(id=6, op="warm")
    assert "Optimising layout" in told
    assert found["event"] == "result"


def test_a_problem_passes_in_its_own_words(running, arrays, tmp_path):
    np.save(tmp_path / "nan.npy", np.full((3, 2), np.nan))
    np.save(tmp_path / "objects.npy", np.array([{}], dtype=object), allow_pickle=True)
    (tmp_path / "text.npy").write_text("no array")
    for change, said in (
        ({"embeddings": str(tmp_path / "nan.npy")}, "3 of 3 embeddings contain NaN"),
        ({"embeddings": str(tmp_path / "objects.npy")}, "cannot be read as an array"),
        ({"embeddings": str(tmp_path / "text.npy")}, "cannot be read as an array"),
        ({"embeddings": str(tmp_path / "none.npy")}, "cannot be read as an array"),
        ({"embeddings": 7}, "'embeddings' as str"),
        ({"method": "isomap"}, "no map method"),
        ({"params": {"metric": 3}}, "metric"),
        ({"params": []}, "'params' as dict"),
        ({"seed": -1}, "seed"),
        ({"out": str(tmp_path / "nowhere")}, "could not be written"),
    ):
        _, found = running.ask(**{"id": 7, "op": "project_arrays", "method": "pca", **arrays, **change})
        assert found["event"] == "error", change
        assert said in found["what"]
        assert set(found) == {"id", "event", "what", "kept", "todo"}
    _, found = running.ask(id=8, op="project", workspace=str(tmp_path / "none"), evaluation=1, method="pca")
    assert found["event"] == "error"


def test_a_line_that_is_no_request_is_answered_and_the_process_goes_on(running):
    for line in (
        "garbage",
        "[1, 2]",
        '"warm"',
        "null",
        "{}",
        '{"op": ["warm"]}',
        '{"id": 9, "op": "__import__"}',
        "\x00",
    ):
        running.say(line)
        found = running.hear()
        assert found["event"] == "error"
        assert found["what"].startswith("The analysis process")
    assert found["id"] is None
    running.say("")
    assert running.ask(id=10, op="nmi")[1]["id"] == 10


def test_a_cancel_ends_the_job_that_runs_and_spares_the_next(running, arrays):
    running.say({"id": 11, "op": "project_arrays", "method": "pca", **arrays})
    running.say({"id": 12, "op": "project_arrays", "method": "pca", **arrays})
    running.say({"id": 12, "op": "cancel"})
    answers = []
    while len(answers) < 2:
        if (found := running.hear())["event"] != "progress":
            answers.append((found["id"], found["event"], found.get("what")))
    assert answers == [(11, "result", None), (12, "error", "The request was cancelled.")]
    assert running.ask(id=13, op="project_arrays", method="pca", **arrays)[1]["event"] == "result"


def test_it_ends_when_asked():
    """That it ends without a word when its input closes is seen of the process that the tests share."""
    done = subprocess.run(
        [sys.executable, "-m", "workbench.projection.server"], input='{"id": 1, "op": "quit"}\n', capture_output=True,
        text=True, timeout=HANG,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_it_ends_in_the_middle_of_a_job_when_its_input_closes(tmp_path, arrays):
    np.save(arrays["embeddings"], np.random.default_rng(0).normal(size=(5_000, 5)))
    with Server(subprocess.DEVNULL) as started:
        started.say({"id": 1, "op": "project_arrays", "method": "umap", **arrays, "proxies": None})
        while started.hear()["text"] != "Optimising layout":
            pass


class Pipe:
    """Requests without a pipe, for what a real process shows only by chance."""

    def withdrawn(self, number):
        return False


def test_an_unforeseen_error_is_told_as_a_defect(caplog):
    def broken(request, report):
        raise ZeroDivisionError

    told = []
    assert serving.answer(b'{"id": 1, "op": "warm"}', {"warm": broken}, Pipe(), told.append)
    assert told[-1] == {
        "id": 1, "event": "error", "what": "This is a defect in Workbench.", "kept": "Everything stored is kept.",
        "todo": "See the log.",
    }  # fmt: skip
    assert "ZeroDivisionError" in caplog.text


def test_what_a_library_prints_stays_out_of_the_answers(tmp_path):
    code = (
        "import os, sys\n"
        "from workbench.jobs import serving\n"
        "def noisy(request, report):\n"
        "    print('printed'); os.write(1, b'written'); os.system('echo shell'); return {'read': sys.stdin.read()}\n"
        "serving.run({'warm': noisy})\n"
    )
    with (tmp_path / "stderr.txt").open("w") as file, Server(file, "-c", code) as started:
        started.say({"id": 1, "op": "warm"})
        assert [started.hear()["event"], started.hear()] == ["progress", {"id": 1, "event": "result", "read": ""}]
    said = (tmp_path / "stderr.txt").read_text()
    for text in ("printed", "written", "shell"):
        assert text in said


def test_it_ends_without_unloading_its_libraries(tmp_path):
    code = (
        "import atexit, sys\n"
        "from workbench.jobs import serving\n"
        "atexit.register(print, 'unloaded', file=sys.stderr)\n"
        "serving.run({'warm': lambda request, report: print('loaded') or {}})\n"
    )
    with (tmp_path / "stderr.txt").open("w") as file, Server(file, "-c", code) as started:
        started.ask(id=1, op="warm")
    assert (tmp_path / "stderr.txt").read_text() == "loaded\n"
