"""The maps of a run over its epochs: what starts from what, what is made, and that a chain is one picture."""

from types import SimpleNamespace

import numpy as np
import pytest

from workbench.config import RunConfig
from workbench.control import Cancelled
from workbench.events import Ended, Evaluated
from workbench.projection.align import align
from workbench.projection.chain import Wanted, draw, draw_all, latest_before
from workbench.projection.maps import make_map
from workbench.workspace import Workspace
from workbench.workspace.measured import superseded
from workbench.workspace.measured.stored_maps import (
    Measured,
    kept_neighbours,
    longest_chain,
    maps_of,
    same_course,
    store_map,
)
from workbench.workspace.recorder import Recorder

COUNT = 80
UMAP = Wanted("umap", {"n_neighbors": 8, "metric": "cosine"}, 3)


def stored(path):
    """A workspace with one run of three evaluations, whose classes move apart."""
    rng = np.random.default_rng(0)
    labels, noise = np.arange(COUNT) % 4, rng.normal(size=(COUNT, 6))
    images = SimpleNamespace(
        name="blobs", root=None, image_size=8, channels=1, fingerprint="f00d", official=None,
        class_names=tuple("abcd"), paths=[f"{i}.png" for i in range(COUNT)], labels=labels,
        sample_ids=rng.permutation(COUNT) + 2**40,
    )  # fmt: skip
    workspace = Workspace(path, create=True)
    recorder = Recorder(workspace, workspace.create_run(RunConfig()))
    recorder.dataset(workspace.register_dataset(images, workspace.path / "pixels.npy"))
    ones = np.ones(COUNT, np.int32)
    for epoch in (1, 2, 3):
        vectors = (2 * epoch * np.eye(4, 6)[labels] + noise).astype(np.float32)
        recorder(Evaluated(
            epoch, 10 * epoch, "cosine", {"MAP@R": 0.5}, images.sample_ids, labels, vectors,
            ones.astype(np.float32), ones, ones, np.roll(images.sample_ids, 1)[:, None],
            np.ones((COUNT, 1), np.float32), np.eye(4, 6, dtype=np.float32), np.arange(4),
        ))  # fmt: skip
    recorder(Ended("done"))
    return workspace


@pytest.fixture
def workspace(tmp_path):
    with stored(tmp_path / "space") as made:
        yield made


def numbers(workspace):
    return [each.id for each in same_course(workspace, 1)]


def test_a_map_whose_start_was_deleted_meanwhile_starts_from_pca(workspace):
    pca = Wanted("pca", {}, 0)
    draw(workspace, 1, pca, None)
    start = latest_before(workspace, 2, pca)
    with workspace.writing() as db:
        gone = superseded.keep_only(db, 1, (2, 3))
    superseded.remove_files(workspace.folder(1), (2, 3), gone)
    made, _ = draw(workspace, 2, pca, start)
    assert [(projection.id, projection.start_id) for projection in workspace.projections(2)] == [(made, None)]


@pytest.mark.parametrize("at", ["Looking for a stored map", "Storing the map"])
def test_the_course_of_a_run_that_works_goes_on_after_an_evaluation_that_it_deletes_meanwhile(workspace, at):
    def delete(text, done, total):
        if text == f"map 2 of 3: {at}":
            with workspace.writing() as db:
                gone = superseded.keep_only(db, 1, (1, 3))
            superseded.remove_files(workspace.folder(1), (1, 3), gone)

    maps, made = draw_all(workspace, 1, Wanted("pca", {}, 0), delete)
    assert made == 2
    assert [(projection.id, projection.evaluation_id) for projection in maps_of(workspace, 1)] == [
        (maps[0], 1), (maps[1], 3),
    ]  # fmt: skip


def test_the_whole_course_is_one_chain_and_is_made_once(workspace):
    told = []
    maps, made = draw_all(workspace, 2, UMAP, lambda *what: told.append(what))
    assert (len(maps), made) == (3, 3)
    assert draw_all(workspace, 1, UMAP) == (maps, 0)
    chain = longest_chain(maps_of(workspace, 1), UMAP.fits)
    assert [each.id for each in chain] == maps
    assert [each.start_id for each in chain] == [None, *maps[:-1]]
    assert [each.evaluation_id for each in chain] == numbers(workspace)
    assert all(0.5 < each.trustworthiness <= 1 and 0.5 < each.continuity <= 1 for each in chain)
    assert {each.trust_queries for each in chain} == {COUNT}
    assert all(0 <= done <= total == 300 for _, done, total in told)
    assert told[0][0] == "map 1 of 3: Looking for a stored map"


def test_the_same_chain_is_the_same_picture(workspace, tmp_path):
    maps, _ = draw_all(workspace, 1, UMAP)
    with stored(tmp_path / "again") as again:
        others, _ = draw_all(again, 1, UMAP)
        for one, other in zip(maps, others, strict=True):
            for ours, theirs in zip(workspace.coordinates(one), again.coordinates(other), strict=True):
                np.testing.assert_array_equal(ours, theirs)


def test_points_stay_nearer_to_where_they_were_than_those_of_a_map_of_its_own(workspace):
    maps, _ = draw_all(workspace, 1, UMAP)
    before, after = (workspace.coordinates(number)[0] for number in maps[1:])
    alone = make_map(workspace.vectors(3), None, "umap", UMAP.params, 3).points
    turned, _ = align(alone, before)
    assert np.linalg.norm(after - before, axis=1).mean() < 0.9 * np.linalg.norm(turned - before, axis=1).mean()
    np.testing.assert_allclose(after.mean(0), before.mean(0), atol=1e-3)


def test_pca_is_laid_over_the_one_before(workspace):
    pca = Wanted("pca", {}, 0)
    maps, _ = draw_all(workspace, 1, pca)
    before, after = (workspace.coordinates(number)[0].astype(float) for number in maps[:2])
    alone = make_map(workspace.vectors(2), None, "pca", {}).points.astype(float)
    assert ((after - before) ** 2).sum() <= ((alone - before) ** 2).sum()
    apart = [np.linalg.norm(each[:, None] - each, axis=2) for each in (after, alone)]
    np.testing.assert_allclose(*apart, atol=1e-5)


def test_one_map_starts_from_the_nearest_earlier_one_alone(workspace):
    assert latest_before(workspace, 3, UMAP) is None
    first, _ = draw(workspace, 1, UMAP, None)
    assert latest_before(workspace, 3, UMAP).id == first
    assert latest_before(workspace, 1, UMAP) is None
    assert latest_before(workspace, 3, Wanted("umap", UMAP.params, 4)) is None
    last, found = draw(workspace, 3, UMAP, latest_before(workspace, 3, UMAP))
    assert workspace.projections(3)[0].start_id == first
    np.testing.assert_array_equal(kept_neighbours(workspace, last), found.kept)
    maps, made = draw_all(workspace, 1, UMAP)
    assert (maps[0], made) == (first, 2), "a map that skipped an epoch is made anew"


def test_what_was_done_before_a_cancel_is_kept(workspace):
    def stop(text, done, total):
        if text.startswith("map 2") and "Optimising" in text:
            raise Cancelled

    with pytest.raises(Cancelled):
        draw_all(workspace, 1, UMAP, stop)
    assert [len(workspace.projections(number)) for number in numbers(workspace)] == [1, 0, 0]


def test_a_map_stored_without_more_has_nothing_measured(workspace):
    number = store_map(workspace, 1, "pca", {}, 0, np.zeros((COUNT, 2)), None, {}, Measured())
    (made,) = workspace.projections(1)
    assert (made.id, made.continuity, made.start_id, made.kept, made.doubts) == (number, None, None, False, ())
    assert kept_neighbours(workspace, number) is None


def test_a_start_that_is_deleted_leaves_the_map(workspace):
    maps, _ = draw_all(workspace, 1, Wanted("pca", {}, 0))
    with workspace.writing() as db:
        db.execute("delete from projections where id = ?", (maps[0],))
    assert workspace.projections(2)[0].start_id is None
