"""What a run trained on, as the window and its sentences call it."""

import pytest

from tests.unit.comparing.compared_runs import store
from workbench.entries import catalog
from workbench.workspace import Workspace
from workbench.workspace.rows import Dataset
from workbench.workspace.run_names import told_apart


@pytest.mark.parametrize(
    ("chosen", "stored", "said"),
    [
        ({"name": "digits"}, "digits", "Digits (fingerprint 3c1213b3)"),
        ({"name": "folder", "folder": "photographs/birds"}, "folder", "birds (fingerprint 3c1213b3)"),
        ({"name": "folder"}, "My birds", "My birds (fingerprint 3c1213b3)"),
    ],
)
def test_a_data_set_is_called_by_its_title_its_folder_or_its_own_name(tmp_path, chosen, stored, said):
    with Workspace(tmp_path / "space", create=True) as workspace:
        run = workspace.run(store(workspace, {}, dataset=chosen))
    data = Dataset(1, stored, "", "3c1213b3d4e5", (), None, 16, 1)
    assert told_apart(catalog.current(), run, data) == said
