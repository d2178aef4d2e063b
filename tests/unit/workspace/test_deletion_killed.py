"""A deletion that is killed: the run is there whole, or gone, and what is left of its folder is removed."""

import os
import signal
import subprocess
import sys

import pytest

from workbench.config import RunConfig
from workbench.workspace import Workspace
from workbench.workspace.folders.run_folders import HIGHEST
from workbench.workspace.repairs.repair import missing, repair

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows keeps the folder while its writer's number lives")

KILLED = """
import os, signal, sys
from workbench.workspace import Workspace
unlink, left = os.unlink, [2]

def killing(*args, **how):
    left[0] -= 1
    if left[0] == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    unlink(*args, **how)

workspace = Workspace(sys.argv[1])
os.unlink = killing
workspace.delete(1)
"""


def test_a_run_whose_deletion_was_killed_does_not_come_back_and_leaves_nothing(tmp_path):
    space = tmp_path / "space"
    with Workspace(space, create=True) as workspace:
        run_id = workspace.create_run(RunConfig())
        workspace.set_status(run_id, "done")
        for name in ("best.pt", "last.pt", "journal.jsonl"):
            (workspace.folder(run_id) / name).write_bytes(b"of the run")
        workspace.trash(run_id)
    ended = subprocess.run([sys.executable, "-c", KILLED, space], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert os.listdir(space / "runs") != []
    assert "1 run" not in repair(space)[0]
    with Workspace(space) as workspace:
        assert workspace.runs() == workspace.runs(trashed=True) == []
        with workspace.reading() as db:
            assert missing(db, space) == []
        workspace.sweep_dead_runs()
        assert os.listdir(space / "runs") == [HIGHEST]
