"""No letter of a name turns round the sentence that it stands in, wherever the name is shown."""

import numpy as np
import pytest
from click.testing import CliRunner

from workbench.cli import cli
from workbench.config import RunConfig
from workbench.datasets.decisions import PathDecision, decided_labels
from workbench.datasets.image_set import ImageSet
from workbench.names import visible
from workbench.workspace import Workspace

TURNED = "\u202egnp.exe"
NAMES = [TURNED, "b\u2067c\u2069", "c\x1b[31m"]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("plain", "plain"), ("שלום", "שלום"), ("a b", "a b"), ("a　b", "a　b"), ("👩‍🔬", "👩‍🔬"),
        ("two\nlines\t.", "two\nlines\t."), ("\u202eabc", "\\u202eabc"), ("a\u2066b\u2069c", "a\\u2066b\\u2069c"),
        ("a\u200eb", "a\\u200eb"), ("\x1b[2J", "\\x1b[2J"), ("a\u2028b", "a\\u2028b"), ("\ud800", "\\ud800"), ("", ""),
    ],
)  # fmt: skip
def test_letters_that_steer_are_shown_as_escapes(name, shown):
    assert visible(name) == shown
    assert visible(shown) == shown


@pytest.fixture
def images():
    paths, labels = [f"{row}.png" for row in range(6)], np.arange(6, dtype=np.int64) % 3
    return ImageSet("arrays", None, paths, labels, NAMES, 1, 8, lambda row: np.zeros((8, 8), np.uint8))


def test_classes_and_runs_have_visible_names(images, tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        run_id = workspace.create_run(RunConfig(name=f"run {TURNED}"))
        dataset = workspace.dataset(workspace.register_dataset(images, None))
        assert dataset.class_names == ("\\u202egnp.exe", "b\\u2067c\\u2069", "c\\x1b[31m")
        assert workspace.run(run_id).name == "run \\u202egnp.exe"
    assert "run \\u202egnp.exe" in CliRunner().invoke(cli, ["list", "runs", "-w", str(tmp_path / "space")]).output


@pytest.mark.parametrize("new_class", [TURNED, visible(TURNED)])
def test_a_decision_names_a_class_either_way(images, new_class):
    assert decided_labels(images, [PathDecision("1.png", "b", "relabel", new_class)])[1] == 0


def test_a_note_on_the_data_is_visible(images):
    images.labels[:] = 1
    assert "\\u202egnp.exe" in dict(images.notes)["2 classes"]
