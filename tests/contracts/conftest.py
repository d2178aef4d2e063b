"""What the tests of the source leave behind."""

import pytest
from source_rules import forget_trees


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """With the last test of this folder that a process runs, the trees of the whole package are freed."""
    if nextitem is None or nextitem.path.parent != item.path.parent:
        forget_trees()
