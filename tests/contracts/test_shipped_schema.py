"""The schema that the wheel carries is that of the steps: a workspace is opened without loading sqlite-utils."""

import subprocess
import sys
from pathlib import Path

from sqlite_utils.utils import sqlite3

from workbench.files.resources import resources
from workbench.workspace import Workspace
from workbench.workspace.database import connection
from workbench.workspace.schema import schema


def test_the_shipped_schema_is_what_the_steps_make():
    assert (resources() / schema.SHIPPED).read_text("utf-8") == schema.text_of_newest(), "run: packaging/schema.py"


def test_one_sqlite_library_is_in_the_process():
    assert connection.sqlite3 is sqlite3


def test_the_window_s_modules_and_an_opened_workspace_need_no_sqlite_utils(tmp_path: Path):
    Workspace(tmp_path, create=True).close()
    program = (
        "import sys\n"
        "from workbench.ui.window import main_window\n"
        "from workbench.workspace import Workspace\n"
        f"Workspace({str(tmp_path)!r}).close()\n"
        "assert not {'sqlite_utils', 'torch', 'pyqtgraph'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", program], check=True, env=None)
