"""A selection as a table and as a folder: links, copies where there can be none, PNG for images that are no files."""

import csv
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.ui.small_run import store_run
from workbench.control import Cancelled
from workbench.datasets.decisions import DROPPED, decided_labels, read_decisions
from workbench.datasets.image_set import ImageSet
from workbench.exchange.exported import selected_images
from workbench.exchange.exported.selected_images import Written, safe, write_dropped, write_links, write_table
from workbench.problem import Problem
from workbench.workspace import Workspace

LABELS = np.repeat(np.arange(2), 4)
CLASSES = ("=ant/..", "bee")


@pytest.fixture
def space(tmp_path):
    with Workspace(tmp_path / "space", create=True) as made:
        run = store_run(made, LABELS, class_names=CLASSES)
        yield made, made.run(run.run_id).dataset_id, run


@pytest.fixture
def with_files(space, tmp_path):
    """The images as files, too: all but the last."""
    workspace, dataset, _ = space
    with workspace.writing() as db:  # no image of a data set lies outside of its folder
        db.execute("update samples set path = replace(path, '/..', '')")
    root = tmp_path / "images"
    for path in workspace.samples(dataset).paths[:-1]:
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        Image.new("L", (8, 8), 9).save(place)
    with workspace.writing() as db:
        db.execute("update datasets set root = ? where id = ?", (str(root), dataset))
    return root


def quiet(text, done, total):
    pass


def test_the_table_has_one_row_each_and_no_formula(space, tmp_path):
    workspace, dataset, run = space
    write_table(tmp_path / "a.csv", workspace, dataset, run.ids[[6, 1]], run.evaluations[-1])
    rows = list(csv.DictReader((tmp_path / "a.csv").read_text("utf-8").splitlines()))
    assert [int(row["sample_id"]) for row in rows] == run.ids[[1, 6]].tolist()
    assert [row["class"] for row in rows] == ["'=ant/..", "bee"]
    assert [float(row["ap"]) for row in rows] == pytest.approx(run.ap[[1, 6]].tolist())
    assert [int(row["first_hit"]) for row in rows] == run.first_hit[[1, 6]].tolist()
    write_table(tmp_path / "b.csv", workspace, dataset, run.ids[:1], None)
    assert next(csv.DictReader((tmp_path / "b.csv").read_text("utf-8").splitlines()))["ap"] == ""


def test_dropped_images_are_decisions_that_a_run_takes(space, tmp_path):
    workspace, dataset, run = space
    write_dropped(tmp_path / "dropped.csv", workspace, dataset, run.ids[[6, 1]])
    decisions = read_decisions(tmp_path / "dropped.csv")
    assert [(one.class_name, one.decision) for one in decisions] == [(CLASSES[0], "drop"), (CLASSES[1], "drop")]
    paths = workspace.samples(dataset).paths
    images = ImageSet("same", None, list(paths), LABELS, list(CLASSES), 1, 8, lambda row: np.zeros((8, 8), np.uint8))
    left_out = np.flatnonzero(decided_labels(images, decisions) == DROPPED)
    assert workspace.samples(dataset).ids[left_out].tolist() == run.ids[[1, 6]].tolist()


def test_images_that_are_no_files_are_written_as_they_were_trained_on(space, tmp_path):
    workspace, dataset, run = space
    made = write_links(tmp_path / "out", workspace, dataset, run.ids[[0, 5]], None, quiet)
    assert made == Written(links=0, copies=0, pictures=2, missing=0)
    assert sorted(each.name for each in (tmp_path / "out").iterdir()) == ["0000 =ant_", "0001 bee", "selection.csv"]
    (picture,) = (tmp_path / "out" / "0001 bee").iterdir()
    assert picture.name.startswith(str(run.ids[5]))
    np.testing.assert_array_equal(np.asarray(Image.open(picture))[..., :1], np.load(run.pixels)[5])


def test_files_are_linked_to_and_what_is_no_file_is_drawn(space, with_files, tmp_path):
    workspace, dataset, run = space
    made = write_links(tmp_path / "out", workspace, dataset, run.ids, None, quiet)
    assert made == Written(links=7, copies=0, pictures=1, missing=0)
    links = [each for each in (tmp_path / "out").rglob("*.png") if each.is_symlink()]
    assert {each.resolve() for each in links} == {each.resolve() for each in with_files.rglob("*.png")}


def test_where_no_link_can_be_made_the_file_is_copied(space, with_files, tmp_path, monkeypatch):
    def refuse(self, target):
        raise OSError("no links here")

    monkeypatch.setattr(Path, "symlink_to", refuse)
    workspace, dataset, run = space
    made = write_links(tmp_path / "out", workspace, dataset, run.ids[:3], None, quiet)
    assert made == Written(links=0, copies=3, pictures=0, missing=0)
    original = sorted(with_files.rglob("*.png"))[0]
    assert sorted((tmp_path / "out").rglob("*.png"))[0].read_bytes() == original.read_bytes()


def test_images_that_are_gone_are_counted(space, tmp_path):
    workspace, dataset, run = space
    run.pixels.unlink()
    made = write_links(tmp_path / "out", workspace, dataset, run.ids[:3], None, quiet)
    assert made == Written(links=0, copies=0, pictures=0, missing=3)


def test_a_folder_with_something_in_it_is_refused_and_an_empty_one_is_filled(space, tmp_path):
    workspace, dataset, run = space
    (tmp_path / "out").mkdir()
    write_links(tmp_path / "out", workspace, dataset, run.ids[:1], None, quiet)
    with pytest.raises(Problem, match="not empty"):
        write_links(tmp_path / "out", workspace, dataset, run.ids[:1], None, quiet)


def test_a_cancelled_export_leaves_nothing(space, tmp_path):
    workspace, dataset, run = space
    home = tmp_path / "home"
    home.mkdir()

    def stop(text, done, total):
        if done == 2:
            raise Cancelled

    with pytest.raises(Cancelled):
        write_links(home / "out", workspace, dataset, run.ids, None, stop)
    assert not list(home.iterdir())


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("a/b", "a_b"), ("..", "unnamed"), ("", "unnamed"), ("x" * 300, "x" * 100), ('a:"\n', "a___"), (" é. ", "é"),
        ("Con", "_Con"), ("nul.tar", "_nul.tar"), ("com1", "_com1"), ("context", "context"),
    ],
)  # fmt: skip
def test_names_lead_nowhere_else(name, kept):
    assert safe(name) == kept
    assert "/" not in selected_images.safe(name)


def test_a_name_of_many_bytes_is_cut_so_that_a_file_system_takes_it(tmp_path):
    name = selected_images.safe("漢" * 300)
    assert set(name) == {"漢"}
    (tmp_path / f"0001 {name}").mkdir()
    (tmp_path / f"{2**63 - 1} {name}.png").touch()


@pytest.mark.parametrize("at", ["Reading the samples", "Writing the file"])
def test_a_table_that_is_cancelled_leaves_the_one_before(space, tmp_path, at):
    workspace, dataset, run = space
    table = tmp_path / "a.csv"
    table.write_text("before")

    def progress(text, done, total):
        if text == at:
            raise Cancelled

    with pytest.raises(Cancelled):
        write_table(table, workspace, dataset, run.ids, run.evaluations[-1], progress)
    assert [(path.name, path.read_text("utf-8")) for path in tmp_path.glob("a.csv*")] == [("a.csv", "before")]
