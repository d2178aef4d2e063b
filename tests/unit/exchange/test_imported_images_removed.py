"""Images copied at an import go when the last run that shows them is deleted for good, and no others."""

import numpy as np
import pytest
from PIL import Image

from workbench.exchange.imported.importing import import_embeddings
from workbench.workspace.tables.deletion import IMPORTED_IMAGES


@pytest.fixture
def given(tmp_path):
    """Embeddings with labels, two arrays of images, and a folder of them."""
    rng = np.random.default_rng(0)
    labels = np.arange(12) % 3
    np.save(tmp_path / "vectors.npy", np.eye(3, 4)[labels] + 0.2 * rng.normal(size=(12, 4)))
    np.save(tmp_path / "labels.npy", labels)
    for name in ("first", "second"):
        np.save(tmp_path / f"{name}.npy", rng.integers(0, 256, (12, 12, 12), dtype=np.uint8))
    (tmp_path / "images").mkdir()
    for row in range(12):
        Image.fromarray(np.full((9, 9), 20 * row, np.uint8)).save(tmp_path / "images" / f"{row}.png")
    lines = [f"{row}.png,{label}" for row, label in enumerate(labels)]
    (tmp_path / "labels.csv").write_text("\n".join(["path,label", *lines]), "utf-8")
    return tmp_path


def imported(workspace, given, images, labels="labels.npy"):
    return import_embeddings(workspace, given / "vectors.npy", given / labels, given / images)


def copies(workspace):
    return {path.name for path in (workspace.path / IMPORTED_IMAGES).iterdir()}


def gone(workspace, run_id):
    workspace.trash(run_id)
    workspace.delete(run_id)


def thumbnail(workspace, run_id):
    dataset = workspace.run(run_id).dataset_id
    return workspace.pictures(dataset).thumbnail(int(workspace.samples(dataset).ids[5]))


def test_only_the_copies_of_the_deleted_run_go(workspace, given):
    first = imported(workspace, given, "first.npy")
    of_first = copies(workspace)
    assert len(of_first) == 2, "pixels, and the list of images that cannot be read"
    second, folder = imported(workspace, given, "second.npy"), imported(workspace, given, "images", "labels.csv")
    others = copies(workspace) - of_first
    assert len(others) == 4
    shown = thumbnail(workspace, second)
    workspace.trash(first)
    assert copies(workspace) == of_first | others, "what is in the trash can be restored"
    workspace.delete(first)
    assert copies(workspace) == others
    np.testing.assert_array_equal(thumbnail(workspace, second), shown)
    gone(workspace, folder)
    gone(workspace, second)
    assert copies(workspace) == set()
    assert len(list((given / "images").iterdir())) == 12, "the person's own images stay"


def test_images_that_two_runs_share_stay_for_the_other(workspace, given):
    first, second = (imported(workspace, given, "first.npy") for _ in range(2))
    before = copies(workspace)
    gone(workspace, first)
    assert copies(workspace) == before
    thumbnail(workspace, second)
    workspace.trash(second)
    third = imported(workspace, given, "first.npy")
    workspace.empty_trash()
    assert copies(workspace) == before
    gone(workspace, third)
    assert copies(workspace) == set()


def test_deleted_images_can_be_imported_again(workspace, given):
    first = imported(workspace, given, "first.npy")
    shown = thumbnail(workspace, first)
    gone(workspace, first)
    np.testing.assert_array_equal(thumbnail(workspace, imported(workspace, given, "first.npy")), shown)


def test_the_pixels_of_a_trained_run_stay(workspace, stored_run, tmp_path):
    cache = tmp_path / "cache.npy"
    cache.write_bytes(b"pixels")
    with workspace.writing() as db:
        db.execute("update datasets set pixels = ?", (str(cache),))
    gone(workspace, stored_run)
    assert cache.exists()
