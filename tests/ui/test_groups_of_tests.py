"""What the Compare page says of groups of tests on other images."""

import numpy as np
import pytest
from PySide6.QtCore import Qt

from tests.unit.comparing.compared_runs import store, store_test
from workbench.comparing.difference.baseline import against_baseline
from workbench.comparing.overview import overview
from workbench.ui.pages.compare.groups.group_table import GroupTable
from workbench.workspace import Workspace


@pytest.fixture
def workspace(tmp_path):
    with Workspace(tmp_path / "space", create=True) as made:
        yield made


def test_the_tooltip_of_a_group_of_tests_says_which_networks_they_are_of(workspace, qapp):
    runs = [store(workspace, {1: np.ones(6)}, seed=seed, name="Trees") for seed in range(2)]
    for run in runs:
        store_test(workspace, run, np.ones(9))
    shown = overview(workspace, workspace.runs(), {}, "MAP@R", "best")
    table = GroupTable()
    table.show(against_baseline(shown, shown.groups[0], ["MAP@R"]), {})
    own, tested = (table.data(table.index(row, 0), Qt.ItemDataRole.ToolTipRole) for row in (0, 1))
    assert "network: best epoch of each run, seeds 0, 1." in tested
    assert "are separate groups" in tested
    assert "network" not in own
