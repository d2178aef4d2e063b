"""Saliency of a pair of images: against loops written from its definition, and on a trained Digits run."""

import numpy as np
import pytest

from tests.trained_sample import sample_space
from tests.ui.small_run import store_run
from workbench.control import Cancelled
from workbench.problem import Problem
from workbench.running.search.image_search import OwnImage
from workbench.running.search.saliency import PairSaliency, Saliency, heat_of, pair_saliency, windows_of
from workbench.running.search.saliency_picture import GAP, SIDE, pair_picture
from workbench.workspace import Workspace


@pytest.fixture(scope="module")
def space(tmp_path_factory):
    """A workspace whose run 1 is the sample project after one epoch."""
    return sample_space(tmp_path_factory.mktemp("salient"), 1)


@pytest.fixture
def workspace(space):
    with Workspace(space) as opened:
        yield opened


@pytest.mark.parametrize(("height", "width"), [(28, 28), (224, 224), (32, 20), (9, 60), (3, 3), (1, 1), (5, 400)])
def test_windows_cover_every_pixel_and_stay_inside(height, width):
    counts = np.zeros((height, width), int)
    for rows, columns in windows_of(height, width):
        assert 0 <= rows.start < rows.stop <= height
        assert 0 <= columns.start < columns.stop <= width
        assert rows.stop - rows.start == columns.stop - columns.start
        counts[rows, columns] += 1
    assert counts.min() >= 1


def test_of_a_square_there_are_49_windows_of_a_quarter_of_its_side():
    windows = windows_of(224, 224)
    assert len(windows) == 49
    assert {rows.stop - rows.start for rows, _ in windows} == {56}


def test_the_heat_is_the_mean_fall_of_the_similarity_over_the_windows_that_cover_a_pixel():
    rng = np.random.default_rng(0)
    image, weights = rng.random((3, 12, 16)), rng.normal(size=(3, 12, 16))

    def similar(batch):
        return np.tanh((batch * weights).sum((1, 2, 3)))

    heat = heat_of(image, similar)
    colour = [float(np.median(image[channel])) for channel in range(3)]
    for row, column in ((0, 0), (5, 7), (11, 15), (11, 0)):
        falls = []
        for rows, columns in windows_of(12, 16):
            if rows.start <= row < rows.stop and columns.start <= column < columns.stop:
                covered = image.copy()
                for channel in range(3):
                    covered[channel, rows, columns] = colour[channel]
                falls.append(float(similar(image[None])[0] - similar(covered[None])[0]))
        assert heat[row, column] == pytest.approx(sum(falls) / len(falls), abs=1e-12)


def test_a_part_that_nothing_depends_on_is_exactly_zero_and_signs_tell_for_from_against():
    image = np.zeros((1, 16, 16))
    image[0, :4, :4], image[0, 12:, 12:] = 1, 1
    heat = heat_of(image, lambda batch: batch[:, 0, :4, :4].mean((1, 2)) - batch[:, 0, 12:, 12:].mean((1, 2)))
    assert heat[:4, :4].min() > 0
    assert heat[12:, 12:].max() < 0
    assert not heat[8:, :8].any()


def test_a_run_shows_both_images_as_its_network_was_given_them(workspace):
    evaluation = workspace.evaluations(1)[-1]
    ids = workspace.embeddings(evaluation.id)[0]
    query = int(ids[3])
    near = workspace.neighbours(1, query, evaluation.id)[0]
    steps: list[tuple[int, int]] = []
    pair = pair_saliency(
        workspace, 1, evaluation.id, query, near.sample_id, lambda text, done, total: steps.append((done, total))
    )
    assert pair.similarity == pytest.approx(near.similarity, abs=1e-3)
    assert (pair.distance, pair.epoch) == (evaluation.distance, evaluation.epoch)
    pictures = workspace.pictures(workspace.run(1).dataset_id)
    for part, sample in ((pair.query, query), (pair.neighbour, near.sample_id)):
        assert part.picture.shape[:2] == part.heat.shape
        assert np.abs(part.picture.astype(int) - pictures.thumbnail(sample)).max() <= 1
        assert np.abs(part.heat).max() > 0
    assert steps[-1] == (98, 98)
    assert [done for done, _ in steps] == sorted(done for done, _ in steps)
    assert pair.largest == max(np.abs(pair.query.heat).max(), np.abs(pair.neighbour.heat).max())


def test_an_own_image_is_compared_like_a_sample(workspace):
    evaluation = workspace.evaluations(1)[-1]
    query, other = (int(sample) for sample in workspace.embeddings(evaluation.id)[0][[3, 40]])
    pixels = workspace.pictures(workspace.run(1).dataset_id).thumbnail(query)
    own = pair_saliency(workspace, 1, evaluation.id, OwnImage("mine", pixels), other)
    stored = pair_saliency(workspace, 1, evaluation.id, query, other)
    assert own.similarity == pytest.approx(stored.similarity, abs=1e-6)
    assert own.query.heat == pytest.approx(stored.query.heat, abs=1e-5)


def test_it_can_be_cancelled_between_two_batches(workspace):
    evaluation = workspace.evaluations(1)[-1]
    query, other = (int(sample) for sample in workspace.embeddings(evaluation.id)[0][[3, 40]])

    def stop(text, done, total):
        if done >= 7:
            raise Cancelled

    with pytest.raises(Cancelled):
        pair_saliency(workspace, 1, evaluation.id, query, other, stop)


def test_an_image_that_is_gone_and_a_run_without_a_network_are_said(workspace, tmp_path):
    evaluation = workspace.evaluations(1)[-1]
    query = int(workspace.embeddings(evaluation.id)[0][3])
    with pytest.raises(Problem, match="no longer in the data set"):
        pair_saliency(workspace, 1, evaluation.id, query, 999_999)
    with Workspace(tmp_path / "other", create=True) as other:
        stored = store_run(other, np.repeat([0, 1], 10))
        shown = other.evaluations(stored.run_id)[-1]
        with pytest.raises(Problem, match="has no checkpoint"):
            pair_saliency(other, stored.run_id, shown.id, query, query)


def test_the_picture_of_a_pair_is_orange_and_blue_on_one_scale_and_plain_without_changes():
    flat = np.full((40, 20, 3), 128, np.uint8)
    fall, rise = np.zeros((40, 20)), np.zeros((40, 20))
    fall[:10], rise[30:] = 0.2, -0.1
    pair = PairSaliency(0.5, "cosine", 1, Saliency(flat, fall), Saliency(flat, rise))
    picture = pair_picture(pair).astype(int)
    assert picture.shape == (SIDE, SIDE + GAP, 3)
    orange, blue, plain = picture[9, 99], picture[-9, -99], picture[SIDE // 2, 99]
    assert orange[0] > 150 > orange[2]
    assert blue[2] > 128 > blue[0]
    assert abs(orange - plain).max() > 1.5 * abs(blue - plain).max()
    assert (plain == 128).all()
    assert (picture[0, SIDE // 2 + GAP // 2] == 255).all()
    without = PairSaliency(0.5, "cosine", 1, *(Saliency(flat, np.zeros((40, 20))) for _ in range(2)))
    assert set(np.unique(pair_picture(without))) == {128, 255}
