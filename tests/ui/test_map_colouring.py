"""Columns and colours of the map: values written from their formulas, groups that count what is on the map."""

import numpy as np
import pytest
from small_run import blobs, store_run

from workbench.colours import class_colours
from workbench.problem import Problem
from workbench.ui.pages.map.colours.colouring import COLOURINGS, OWN, STEPS, grouped, ramp
from workbench.ui.pages.map.colours.columns import READERS, Column, read_column
from workbench.ui.pages.map.making.reading import by_pca
from workbench.ui.pages.map.model.map_data import MapData
from workbench.ui.style import theme
from workbench.workspace.choices.sample_tags import tag_sample

LABELS = np.array([0] * 8 + [1] * 8 + [2])


@pytest.fixture
def stored(workspace):
    """A run whose third class has one image, which no other can be found for."""
    run = store_run(workspace, LABELS, embeddings=[blobs(LABELS, 0.9, 0)])
    yield workspace, run, run.evaluations[0], workspace.run(run.run_id).dataset_id
    workspace.close()


def unit(table):
    table = np.asarray(table, np.float64)
    return table / np.linalg.norm(table, axis=1, keepdims=True)


def test_every_colouring_has_its_values():
    assert set(COLOURINGS) == set(OWN) | set(READERS)


def test_columns_of_the_ranking(stored):
    workspace, run, evaluation, _ = stored
    table = unit(workspace.vectors(evaluation))
    scores = table @ table.T
    np.fill_diagonal(scores, -np.inf)
    nearest = scores.argmax(1)
    assert read_column(workspace, evaluation, "prediction").of(run.ids).tolist() == LABELS[nearest].tolist()
    np.testing.assert_allclose(read_column(workspace, evaluation, "similarity").of(run.ids), scores.max(1), atol=6e-5)
    assert read_column(workspace, evaluation, "others").of(run.ids).tolist() == [7.0] * 16 + [0.0]
    lists = np.argsort(-scores, axis=1)[:, :10].ravel()
    times = read_column(workspace, evaluation, "hubness").of(run.ids)
    assert times.tolist() == np.bincount(lists, minlength=17).tolist()
    assert times.sum() == 170
    first = read_column(workspace, evaluation, "first_hit").of(run.ids)
    assert first[:16].tolist() == run.first_hit[:16].tolist()
    assert np.isnan(first[16])


def test_the_distance_to_the_own_proxy_and_without_proxies_to_the_class_mean(stored):
    workspace, run, evaluation, _ = stored
    table, stars = unit(workspace.vectors(evaluation)), unit(workspace.proxies(evaluation)[0])
    found = read_column(workspace, evaluation, "radius")
    assert found.title == "Distance to the own class vector (unit vectors)"
    np.testing.assert_allclose(found.of(run.ids), np.linalg.norm(table - stars[LABELS], axis=1), atol=1e-6)
    bare = store_run(workspace, LABELS, embeddings=[blobs(LABELS, 0.9, 0)], with_proxies=False, name="Bare")
    found = read_column(workspace, bare.evaluations[0], "radius")
    assert found.title == "Distance to the class mean (unit vectors)"
    means = np.stack([table[label == LABELS].mean(0) for label in range(3)])
    np.testing.assert_allclose(found.of(bare.ids), np.linalg.norm(table - means[LABELS], axis=1), atol=1e-6)


def test_published_halves_and_tags(stored):
    workspace, run, evaluation, dataset = stored
    with pytest.raises(Problem, match="no published split"):
        read_column(workspace, evaluation, "split")
    with workspace.writing() as db:
        db.execute("update samples set official = 'query' where dataset_id = ? and \"row\" < 5", (dataset,))
        db.execute("update samples set official = 'gallery' where dataset_id = ? and \"row\" >= 6", (dataset,))
    found = read_column(workspace, evaluation, "split")
    assert found.words == ("Gallery", "Query")
    np.testing.assert_array_equal(found.of(run.ids), [1] * 5 + [np.nan] + [0] * 11)
    for word, row in (("b", 0), ("a", 0), ("b", 2)):
        tag_sample(workspace, dataset, int(run.ids[row]), word)
    found = read_column(workspace, evaluation, "tag")
    assert found.words == ("a, b", "b")
    np.testing.assert_array_equal(found.of(run.ids[:4]), [0, np.nan, 1, np.nan])
    groups = grouped(by_pca(workspace, evaluation), "tag", theme.DARK, found)
    assert (groups.names, groups.counts.tolist()) == (["a, b", "b", "No tag"], [1, 1, 15])


def test_a_column_knows_nothing_of_other_samples():
    column = Column("x", np.array([5, 2]), np.array([50.0, 20.0]))
    np.testing.assert_array_equal(column.of(np.array([1, 2, 5, 9])), [np.nan, 20, 50, np.nan])
    assert np.isnan(Column("x", np.empty(0, np.int64), np.empty(0)).of(np.array([1]))).all()


def data_of(labels, points=None):
    count = len(labels)
    points = np.zeros((count, 2), np.float32) if points is None else points
    return MapData(
        points, None, np.empty(0, np.int64), np.arange(count), np.asarray(labels), np.ones(count), np.ones(count, bool),
        (), "",
    )  # fmt: skip


def column_of(values, words=()):
    return Column("Values", np.arange(len(values)), np.asarray(values, float), words)


def test_predictions_have_the_colours_of_their_classes():
    data = data_of([3, 3, 7, 9])
    groups = grouped(data, "prediction", theme.LIGHT, column_of([7, 3, 7, np.nan]))
    assert groups.names == ["3", "7", "9", "No neighbour"]
    assert groups.counts.tolist() == [1, 2, 0, 1]
    by_class = grouped(data, "class", theme.LIGHT)
    assert groups.colours[:3].tolist() == by_class.colours.tolist()


def test_first_hits_fall_into_their_ranks():
    groups = grouped(data_of([0] * 9), "first_hit", theme.LIGHT, column_of([1, 2, 5, 6, 10, 11, 100, 101, np.nan]))
    assert groups.names == [
        "Rank 1", "Ranks 2 to 5", "Ranks 6 to 10", "Ranks 11 to 100", "Ranks over 100", "No other image of its class"
    ]  # fmt: skip
    assert groups.counts.tolist() == [1, 2, 2, 2, 1, 1]


def test_a_number_falls_into_equal_steps_between_the_least_and_greatest_on_the_map():
    points = np.zeros((5, 2), np.float32)
    points[4] = np.nan
    groups = grouped(data_of([0] * 5, points), "radius", theme.LIGHT, column_of([1.0, 3.0, 2.0, np.nan, 99.0]))
    assert (groups.scale.low, groups.scale.high, groups.scale.without) == (1.0, 3.0, 1)
    assert groups.of[:4].tolist() == [0, STEPS - 1, STEPS // 2, STEPS]
    assert groups.counts.sum() == 4
    same = grouped(data_of([0, 0]), "radius", theme.LIGHT, column_of([2.5, 2.5]))
    assert (same.scale.low, same.scale.high) == (2.5, 2.5)
    none = grouped(data_of([0]), "radius", theme.LIGHT, column_of([np.nan]))
    assert none.scale.without == 1


def test_groups_without_a_point_on_the_map_are_left_out_and_colours_stay():
    points = np.zeros((4, 2), np.float32)
    points[:2] = np.nan
    groups = grouped(data_of([0, 1, 1, 2], points), "class", theme.LIGHT)
    assert (groups.names, groups.counts.tolist(), groups.labels.tolist()) == (["1", "2"], [1, 1], [1, 2])
    assert groups.colours.tolist() == class_colours(3, False)[1:].tolist()
    verdict = grouped(data_of([0, 1, 1, 2], points), "verdict", theme.LIGHT)
    assert (verdict.names, verdict.crosses) == (["✓ Right"], frozenset())


@pytest.mark.parametrize("dark", [False, True])
def test_the_ramp_rises_in_lightness_and_stands_out_from_the_background(dark):
    inks = ramp(STEPS, dark)
    assert ((inks >> 24) == 0xFF).all()
    light = ((inks >> 16 & 255) * 0.2126 + (inks >> 8 & 255) * 0.7152 + (inks & 255) * 0.0722).astype(float)
    assert (np.diff(light) > -1).all()
    ground = int((theme.DARK if dark else theme.LIGHT).plot_background[1:], 16)
    channels = [ground >> 16 & 255, ground >> 8 & 255, ground & 255]
    level = float(np.dot(channels, [0.2126, 0.7152, 0.0722]))
    assert np.abs(light - level).min() > 30
