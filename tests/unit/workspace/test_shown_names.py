"""No letter of a name turns round the sentence that it stands in, wherever the name is shown."""

import json
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from workbench.charts import Chart, Marks
from workbench.cli import cli
from workbench.config import RunConfig
from workbench.datasets.decisions import PathDecision, decided_labels
from workbench.datasets.image_set import ImageSet
from workbench.names import LONGEST_SENTENCE, visible
from workbench.reports.templates import offered
from workbench.workspace import Workspace
from workbench.workspace.choices import report_templates
from workbench.workspace.choices.sample_tags import all_tags
from workbench.workspace.choices.saved_views import all_views
from workbench.workspace.choices.selections import all_selections
from workbench.workspace.experiments import experiments

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


def test_the_names_of_runs_and_experiments_have_one_line(tmp_path):
    config = RunConfig(name="first\r\nsecond\tthird")
    with Workspace(tmp_path / "space", create=True) as workspace:
        experiment = experiments.create(workspace, config)
        run_id = workspace.create_run(config, experiment)
        assert workspace.run(run_id).name == "first second third"
        assert [one.name for one in experiments.every(workspace)] == ["first second third"]
        workspace.rename(run_id, "other", before="first second third")
        assert workspace.run(run_id).name == "other"


def test_what_a_workspace_from_elsewhere_calls_very_long_is_cut(images, tmp_path):
    """A window would lay it out for a minute and more; Workbench itself stores no such name."""
    long = "n" * 3_000_000
    chart = Chart(long, long, (Marks(long, "line", (1.0,), (1.0,)),), long)
    with Workspace(tmp_path / "space", create=True) as workspace:
        run_id = workspace.create_run(RunConfig())
        number = workspace.register_dataset(images, None)
        report_templates.store_arrangement(workspace, "own", {"title": long, "base": "one-run"})
        report_templates.store_arrangement(workspace, long, {"base": "one-run"})
        with workspace.writing() as db:
            db.execute("insert into saved_views (name, listed, changed) values (?, '{}', '')", (long,))
            db.execute(
                "insert into sample_tags (dataset_id, sample_id, tag, created) values (?, 1, ?, '')", (number, long)
            )
            values = (number, long, long)
            db.execute(
                "insert into selections (dataset_id, name, samples, note, created) values (?, ?, '[]', ?, '')", values
            )
            db.execute(
                "insert into charts (run_id, step, charts) values (?, 1, ?)", (run_id, json.dumps([chart.plain()]))
            )
        (selection,) = all_selections(workspace, number)
        (shown,) = workspace.charts(run_id, 1)
        own = offered(report_templates.arrangements(workspace)).values()
        names = [
            all_views(workspace)[0].name, *all_tags(workspace, number), selection.name, selection.note, shown.title,
            shown.x_title, shown.note, shown.marks[0].title, *(template.title for template in own),
        ]  # fmt: skip
    assert max(map(len, names)) <= LONGEST_SENTENCE
    assert sum(name.endswith("…") for name in names) == 10


@pytest.mark.parametrize("new_class", [TURNED, visible(TURNED)])
def test_a_decision_names_a_class_either_way(images, new_class):
    assert decided_labels(images, [PathDecision("1.png", "b", "relabel", new_class)])[1] == 0


def test_a_note_on_the_data_is_visible(images):
    images.labels[:] = 1
    assert "\\u202egnp.exe" in dict(images.notes)["2 classes"]


def test_a_decision_finds_a_class_and_an_image_however_their_accents_are_written(images):
    """In names of folders that macOS makes, "é" may be two letters; a table has one."""
    paths, names = ["0.png", "e\u0301.png", "2.png"], ("Cafe\u0301", "b", "c")
    accented = replace(images, paths=paths, labels=images.labels[:3], class_names=names)
    assert decided_labels(accented, [PathDecision("é.png", "b", "relabel", "Café")])[1] == 0
