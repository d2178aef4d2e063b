"""The address under which SQLite opens a workspace, whatever its folder is called."""

from pathlib import PurePosixPath, PureWindowsPath

import pytest

from workbench.workspace.database.connection import address


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        (PurePosixPath("/data/a b/ü?#%.db"), "file:///data/a%20b/%C3%BC%3F%23%25.db"),
        (PureWindowsPath(r"C:\my data\workspace.db"), "file:///C:/my%20data/workspace.db"),
        (PureWindowsPath(r"\\lab\share\workspace.db"), "file:////lab/share/workspace.db"),
    ],
)
def test_the_address_has_no_host_and_no_letter_that_means_something(path, uri):
    assert address(path) == uri
