"""An upgrade of the schema that is killed: the older workspace is there, and the next opening leaves one copy of it."""

import os
import signal
import subprocess
import sys

import pytest

from tests.unit.workspace.older import make_older
from workbench.config import RunConfig
from workbench.workspace import Workspace
from workbench.workspace.paths import DATABASE
from workbench.workspace.schema.going_back import go_back

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows keeps the folder while its writer's number lives")

KILLED = """
import os, signal, sys
from pathlib import Path
from workbench import files
from workbench.workspace import Workspace
from workbench.workspace.database import connection
from workbench.workspace.measured import sealing

space, moment = Path(sys.argv[1]), sys.argv[2]
connection.ASK_EVERY = 50

def kill(*args):
    os.kill(os.getpid(), signal.SIGKILL)

def copying(*args):
    if [*space.rglob("*workspace-before-*.db")]:
        kill()

if moment == "sealing":
    sealing.seal_anew = kill
if moment == "named":
    files.sync_folder = kill
Workspace(space, progress=copying if moment == "copying" else lambda *args: None)
"""


@pytest.mark.parametrize("moment", ["copying", "sealing", "named"])
def test_the_next_opening_upgrades_it_and_leaves_one_copy(tmp_path, moment):
    space = tmp_path / "space"
    with Workspace(space, create=True) as workspace:
        workspace.create_run(RunConfig(name="of then"))
    make_older(space / DATABASE, "m016_saved_views")
    for _ in range(2):
        ended = subprocess.run([sys.executable, "-c", KILLED, space, moment], check=False)
        assert ended.returncode == -signal.SIGKILL
    with Workspace(space) as workspace:
        assert [run.name for run in workspace.runs()] == ["of then"]
    left = sorted(os.listdir(space))
    assert [name for name in left if name not in (DATABASE, "runs")] == [left[-2]]
    assert left[-2].startswith("workspace-before-")
    assert "is workspace-before-" in go_back(space)
