"""A training loop of the user's own in a process of its own: seen while it trains, killed or stopped, and resumed."""

import os
import subprocess
import sys
import time

import numpy as np
import pytest

from tests.waits import HANG
from workbench.exchange import own_loop
from workbench.workspace import Workspace
from workbench.workspace.owners import ownership

LOOP = """
import sys, time
from pathlib import Path
import numpy as np
from workbench.exchange.own_loop import record_run
from workbench.workspace import Workspace

space, resume = Workspace(Path(sys.argv[1])), sys.argv[2] == "resume"
labels = np.arange(12) % 3
vectors = np.eye(3)[labels] + 0.1 * np.random.default_rng(0).normal(size=(12, 3))
with record_run(space, "Mine", labels, epochs=2, resume=resume, step=4 * resume) as run:
    if not resume:
        run.scalars(4, {"batch/loss": 1.0})
        if sys.argv[2] != "look":  # torch is loaded for it
            run.evaluate(1, vectors)
        step = 5
        while not (sys.argv[2] == "look" and run.stop_asked):  # until it is killed, or asked to stop
            run.scalars(step, {"batch/loss": 9.0})
            step += 1
            time.sleep(0.05)
    if sys.argv[2] != "look":
        run.scalars(8, {"batch/loss": 0.5})
        run.evaluate(2, vectors)
"""


@pytest.fixture
def loop(tmp_path):
    (tmp_path / "loop.py").write_text(LOOP)

    def start(space, word):
        line = [sys.executable, str(tmp_path / "loop.py"), str(space.path), word]
        return subprocess.Popen(line, env={**os.environ, "OMP_NUM_THREADS": "1"}, stderr=subprocess.PIPE, text=True)

    return start


def test_it_is_seen_while_it_trains_and_continues_after_a_kill(loop, tmp_path):
    with Workspace(tmp_path / "space", create=True) as space:
        training, end = loop(space, "begin"), time.monotonic() + HANG
        while not (space.runs() and space.evaluations(1) and len(space.scalars(1, "batch/loss")[0]) > 3):
            assert training.poll() is None, training.communicate()[1]
            assert time.monotonic() < end, "nothing of the run is seen"
            time.sleep(0.1)
        assert (space.run(1).status, space.run(1).epoch) == ("running", 1)
        assert space.sweep_dead_runs() == []
        training.kill()
        training.communicate(timeout=HANG)
        assert space.sweep_dead_runs() == [1]
        assert (space.run(1).status, space.run(1).problem) == ("interrupted", ownership.GONE)

        again = loop(space, "resume")
        _, trouble = again.communicate(timeout=HANG)
        assert again.returncode == 0, trouble
        assert (space.run(1).status, space.run(1).epoch) == ("done", 2)
        steps, values = space.scalars(1, "batch/loss")
        assert (steps.tolist(), values.tolist()) == ([4, 8], [1.0, 0.5])
        assert [evaluation.epoch for evaluation in space.evaluations(1)] == [1, 2]


def test_it_is_asked_to_stop_from_another_process(loop, tmp_path):
    with Workspace(tmp_path / "space", create=True) as space:
        training, end = loop(space, "look"), time.monotonic() + HANG
        while not (space.runs() and space.run(1).looks_for_stop):
            assert training.poll() is None, training.communicate()[1]
            assert time.monotonic() < end, "the loop does not look"
            time.sleep(0.1)
        space.ask_to_stop(1)
        _, trouble = training.communicate(timeout=HANG)
        assert training.returncode == 0, trouble
        assert (space.run(1).status, space.run(1).problem, space.run(1).epoch) == ("stopped", "", 0)


KILLED = """
import os, sys
from pathlib import Path
import numpy as np
from workbench.exchange import own_loop
from workbench.workspace import Workspace

own_loop.Recorder = lambda *run: os._exit(9)  # between the run's row and all that is recorded of it
own_loop.record_run(Workspace(Path(sys.argv[1])), "Mine", np.arange(12) % 3, epochs=2)
"""


def test_a_kill_right_after_the_run_was_made_leaves_a_run_that_is_known_and_can_be_resumed(tmp_path):
    with Workspace(tmp_path / "space", create=True) as space:
        killed = subprocess.run([sys.executable, "-c", KILLED, str(space.path)], timeout=HANG, check=False)
        assert killed.returncode == 9
        assert space.sweep_dead_runs() == [1]
        assert space.run(1).environment["own_loop"]["program"] == "-c"
        with own_loop.record_run(space, "Mine", np.arange(12) % 3, epochs=2, resume=True) as run:
            run.evaluate(2, np.eye(3)[np.arange(12) % 3])
        assert [(run.status, run.epoch) for run in space.runs()] == [("done", 2)]
