"""What the unit tests share: an empty workspace."""

import pytest

from workbench.workspace import Workspace


@pytest.fixture
def workspace(tmp_path):
    """A new workspace in `space`, below the test's own folder."""
    with Workspace(tmp_path / "space", create=True) as made:
        yield made
