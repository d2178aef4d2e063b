"""A process that waits for a run with torch loaded: used once, replaced, started anew where it died; no orphan."""

import os
import subprocess
import sys
from time import monotonic, sleep

import psutil
import pytest

from tests.unit.running.test_own_process import ENDLESS, until
from tests.waits import HANG
from workbench.control import Control
from workbench.running.launch import prepare_run
from workbench.running.processes import own_process
from workbench.running.processes.spare import Spare
from workbench.workspace import Workspace


def wait(is_so):
    """Until it is so."""
    patience = monotonic() + HANG
    while not (value := is_so()):
        assert monotonic() < patience
        sleep(0.02)
    return value


@pytest.fixture
def spare():
    with Spare() as made:
        made.want(True)
        wait(lambda: made.pid)
        yield made


def ended(pid):
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_a_run_trains_in_the_process_that_waited_and_another_one_waits_then(spare, tmp_path):
    waited = spare.pid
    with Workspace(tmp_path / "space", create=True) as workspace:
        run_id, control = prepare_run(ENDLESS, workspace), Control()
        wait(lambda: spare.ready)
        assert spare.memory() > 100e6
        job = own_process.make_job(workspace, run_id, control, spare=spare).start()
        until(workspace, run_id, lambda run: run.epoch >= 1)
        assert workspace.run(run_id).pid == waited
        following = wait(lambda: spare.pid)
        assert following != waited
        control.stop_now()
        job.join()
    assert ended(waited)
    assert spare.pid == following


def test_one_that_died_is_not_given_a_run_and_another_is_started(spare, tmp_path):
    died = spare.pid
    child = next(child for child in psutil.Process().children() if child.pid == died)
    child.kill()
    wait(lambda: spare.pid is None)
    assert spare.take(["nowhere", "1"], tmp_path / "log") is None
    assert spare.memory() == 0
    spare.prepare()
    assert spare.pid not in (None, died)
    assert spare.memory() > 0


def test_nothing_waits_where_it_is_no_longer_wanted(spare):
    waited = spare.pid
    spare.want(False)
    assert ended(waited)
    assert spare.pid is None
    spare.prepare()
    assert spare.pid is None


def test_it_ends_when_the_process_that_started_it_is_killed():
    """It sees that its input has closed, whatever became of the window."""
    code = (
        "import os, signal, sys, time\n"
        "from workbench.running.processes.spare import Spare\n"
        "spare = Spare(); spare.want(True)\n"
        "while not spare.pid: time.sleep(0.01)\n"
        "print(spare.pid, flush=True); sys.stdin.read()"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as window:
        waiting = psutil.Process(int(window.stdout.readline()))
        assert waiting.ppid() == window.pid
        window.kill()
    waiting.wait(HANG)
    assert waiting.pid != os.getpid()
