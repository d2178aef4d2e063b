"""Scores across the values of an attribute, of stored runs: cells, chance, the own value, rare values, the command."""

import csv
import io
import json
from math import isnan

import numpy as np
import pytest
from click.testing import CliRunner

from tests.ui.small_run import blobs, store_run
from workbench.cli import cli
from workbench.evaluation.across_values import OTHERS
from workbench.evaluation.class_sizes import chance_of_map, chance_of_recall
from workbench.problem import Problem, UnknownName
from workbench.results.by_attribute import (
    FEW_QUERIES,
    MOST,
    as_csv,
    as_data,
    attributes_of,
    by_attribute,
    matrix_rows,
    own_rows,
    own_titles,
    scored_text,
)
from workbench.workspace.choices.sample_tags import change_tags

LABELS = np.repeat(np.arange(12), 9)
CAMERAS = np.tile(np.repeat([0, 1, 2], 3), 12)
NAMES = np.array(["front", "rear", "side"])


def tag(workspace, run, values, name="camera"):
    """Give each image its value; an empty one is none."""
    dataset_id = workspace.run(run.run_id).dataset_id
    pairs = zip(run.ids.tolist(), values, strict=True)
    change_tags(workspace, dataset_id, [(number, f"{name}={value}") for number, value in pairs if str(value)])


def camera_vectors(shared):
    """Embeddings of which a share is of the class and the rest of class and camera together."""
    random = np.random.default_rng(0)
    of_class, of_both = random.normal(size=(12, 16)), random.normal(size=(12, 3, 16))
    noise = 0.1 * random.normal(size=(len(LABELS), 16))
    return (shared * of_class[LABELS] + (1 - shared) * of_both[LABELS, CAMERAS] + noise).astype(np.float32)


@pytest.fixture
def run(workspace):
    made = store_run(workspace, LABELS, embeddings=[camera_vectors(0.2)], with_proxies=False)
    tag(workspace, made, NAMES[CAMERAS])
    return made


def test_a_cell_has_the_score_of_its_images_alone(workspace, run):
    measured = by_attribute(workspace, run.evaluations[0], "camera")
    assert measured.titles == ("front", "rear", "side")
    vectors = workspace.vectors(run.evaluations[0]).astype(np.float64)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    for row in range(3):
        for column in range(3):
            gallery, right, precision = np.flatnonzero(column == CAMERAS), [], []
            for query in np.flatnonzero(row == CAMERAS).tolist():
                near = [at for at in gallery[np.argsort(-unit[gallery] @ unit[query])].tolist() if at != query]
                hits = LABELS[near] == LABELS[query]
                right.append(hits[0])
                first = hits[: hits.sum()]
                precision.append((first * first.cumsum() / np.arange(1, len(first) + 1)).sum() / len(first))
            cell, itself = measured.cells[row][column], int(row == column)
            assert (cell.queries, cell.left_out, cell.images) == (36, 0, 36)
            assert cell.scores["recall@1"].value == pytest.approx(np.mean(right), abs=1e-12)
            assert cell.scores["MAP@R"].value == pytest.approx(np.mean(precision), abs=1e-12)
            assert cell.chance["recall@1"] == pytest.approx((3 - itself) / (36 - itself), abs=1e-12)
            low_and_high = cell.scores["MAP@R"].low, cell.scores["MAP@R"].high
            assert low_and_high[0] <= np.mean(precision) <= low_and_high[1]


def test_the_score_without_matches_of_the_own_value_says_how_much_comes_from_it(workspace, run):
    measured = by_attribute(workspace, run.evaluations[0], "camera")
    assert [row.title for row in measured.own] == ["front", "rear", "side", "All"]
    every = measured.own[-1]
    assert (every.queries, every.left_out) == (108, 0)
    assert every.usual["recall@1"].value == pytest.approx((run.first_hit == 1).mean(), abs=1e-12)
    assert every.usual["recall@1"].value > 0.95
    assert every.others["recall@1"].value < 0.6
    assert every.others_chance["recall@1"] == pytest.approx(chance_of_recall(np.array([6]), 105)[0])
    assert every.usual_chance["MAP@R"] == pytest.approx(chance_of_map(np.array([8]), 107)[0])
    difference = every.difference["recall@1"]
    assert difference.value == pytest.approx(every.others["recall@1"].value - every.usual["recall@1"].value)
    assert difference.low < difference.value < difference.high < 0
    assert measured.verdict.startswith("Over 108 queries, R@1 is ")
    assert " with matches that have the query's own camera, and " in measured.verdict


def test_a_score_that_the_class_alone_makes_stays_without_the_own_value(workspace):
    run = store_run(workspace, LABELS, embeddings=[camera_vectors(1)], with_proxies=False)
    tag(workspace, run, NAMES[CAMERAS])
    every = by_attribute(workspace, run.evaluations[0], "camera").own[-1]
    assert every.usual["recall@1"].value == every.others["recall@1"].value == 1


def test_images_without_a_value_are_left_out_and_counted(workspace):
    run = store_run(workspace, LABELS, embeddings=[camera_vectors(0.5)], with_proxies=False)
    named = NAMES[CAMERAS].astype(object)
    named[:9] = ""  # of a whole class
    tag(workspace, run, named)
    measured = by_attribute(workspace, run.evaluations[0], "camera")
    assert measured.without == 9
    assert measured.own[-1].queries == 99
    assert measured.cells[0][0].images == 33
    assert measured.sentences[-1] == "9 images have no value of camera: left out."


def test_a_query_without_a_match_there_is_left_out_of_the_cell(workspace):
    run = store_run(workspace, LABELS, embeddings=[camera_vectors(0.5)], with_proxies=False)
    named = NAMES[CAMERAS].astype(object)
    named[:9] = "front"  # the first class was never seen from elsewhere
    tag(workspace, run, named)
    measured = by_attribute(workspace, run.evaluations[0], "camera")
    assert (measured.cells[0][1].queries, measured.cells[0][1].left_out) == (33, 9)
    assert (measured.own[0].queries, measured.own[0].left_out) == (33, 9)
    assert measured.own[-1].left_out == 9


def test_the_queries_of_a_cell_are_those_that_count_there(workspace, run):
    measured = by_attribute(workspace, run.evaluations[0], "camera")
    listed, failed = measured.queries_of(0, 1), measured.queries_of(0, 1, failed=True)
    assert sorted(listed.tolist()) == run.ids[CAMERAS == 0].tolist()
    assert set(failed.tolist()) < set(listed.tolist())
    assert sorted(measured.queries_of(3, OTHERS).tolist()) == run.ids.tolist()
    assert 1 - len(failed) / len(listed) == pytest.approx(measured.cells[0][1].scores["recall@1"].value)


def test_rare_values_are_together_and_keep_their_own_value(workspace):
    kinds = MOST + 3
    labels = np.repeat(np.arange(10), 2 * kinds)
    values = np.tile(np.repeat(np.arange(kinds), 2), 10)
    run = store_run(workspace, labels, embeddings=[blobs(labels, 1, 0)], with_proxies=False)
    named = [str(value) for value in values.tolist()]
    for row in np.flatnonzero(values < 3)[::2].tolist():
        named[row] = ""  # so 0, 1 and 2 are the rarest
    tag(workspace, run, named)
    measured = by_attribute(workspace, run.evaluations[0], "camera")
    assert measured.titles == (*(str(value) for value in range(3, kinds)), "other (3 values)")
    assert measured.values[-1] == ("0", "1", "2")
    other = measured.cells[-1][-1]
    assert (other.queries, other.images) == (30, 30)
    assert other.chance["recall@1"] == pytest.approx(2 / 29)  # two of the class, each with another value
    assert measured.own[-2].others_chance["recall@1"] == pytest.approx(measured.own[-2].usual_chance["recall@1"])


def test_one_value_is_a_sentence_alone(workspace):
    run = store_run(workspace, LABELS, with_proxies=False)
    tag(workspace, run, ["front"] * len(LABELS))
    measured = by_attribute(workspace, run.evaluations[0], "camera")
    assert (measured.cells, measured.own, measured.verdict) == ((), (), "")
    assert measured.sentences == ["All images have the value front of camera: there is nothing to search across."]
    assert (matrix_rows(measured, "MAP@R"), own_rows(measured)) == ([], [])
    assert as_data(measured)["cells"] == []
    assert len(as_csv(measured).splitlines()) == 1


def test_classes_of_one_value_each_have_nothing_across(workspace):
    run = store_run(workspace, LABELS, with_proxies=False)
    tag(workspace, run, NAMES[LABELS % 3])
    measured = by_attribute(workspace, run.evaluations[0], "camera")
    assert measured.verdict == (
        "No class has images with two values of camera, so there is nothing to find across values."
    )
    cell = measured.cells[0][1]
    assert (cell.queries, scored_text(cell.scores, cell.chance, "MAP@R")) == (0, "–")
    assert isnan(cell.scores["MAP@R"].value)
    assert as_data(measured)["cells"][1]["scores"]["MAP@R"]["value"] is None
    assert own_rows(measured)[-1][-1] == "–"


def in_halves(workspace, run, is_query):
    """Make all but these rows a gallery that is searched by them alone."""
    gallery = [(run.evaluations[0], number) for number in run.ids[~is_query].tolist()]
    with workspace.writing() as db:
        db.executemany(
            "update queries set r = 0, first_hit = 0, ap = null where evaluation_id = ? and sample_id = ?", gallery
        )


def test_queries_search_a_gallery_of_its_own(workspace):
    run = store_run(workspace, LABELS, embeddings=[camera_vectors(0.2)], with_proxies=False)
    in_halves(workspace, run, np.arange(len(LABELS)) % 3 == 0)  # one of each class and camera
    tag(workspace, run, NAMES[CAMERAS])
    measured = by_attribute(workspace, run.evaluations[0], "camera")
    assert {(cell.queries, cell.left_out, cell.images) for row in measured.cells for cell in row} == {(12, 0, 24)}
    assert measured.cells[0][0].chance["recall@1"] == measured.cells[0][1].chance["recall@1"] == pytest.approx(2 / 24)
    assert sorted(measured.sample_ids.tolist()) == run.ids[::3].tolist()


@pytest.mark.parametrize("queries", [True, False])
def test_values_of_one_half_alone_are_a_sentence(workspace, queries):
    run = store_run(workspace, LABELS, embeddings=[camera_vectors(0.2)], with_proxies=False)
    is_query = np.arange(len(LABELS)) % 3 == 0
    in_halves(workspace, run, is_query)
    tag(workspace, run, np.where(is_query == queries, NAMES[CAMERAS].astype(object), ""))
    measured = by_attribute(workspace, run.evaluations[0], "camera")
    assert measured.cells == ()
    assert measured.sentences[0] == (
        "No query has a value of camera, or no searched image has one: there is nothing to search across."
    )


def test_a_value_that_occurs_once_in_a_class_leaves_nothing_to_ignore(workspace):
    labels = np.repeat(np.arange(20), 3)
    run = store_run(workspace, labels, with_proxies=False)
    tag(workspace, run, NAMES[np.tile([0, 1, 2], 20)])
    measured = by_attribute(workspace, run.evaluations[0], "camera")
    assert measured.verdict == "No match has the query's own camera, so no score comes from it."
    assert measured.own[-1].difference["MAP@R"].value == 0


def test_few_queries_are_said(workspace):
    labels = np.repeat(np.arange(3), 4)
    run = store_run(workspace, labels, with_proxies=False)
    tag(workspace, run, ["a", "b"] * 6)
    assert FEW_QUERIES in by_attribute(workspace, run.evaluations[0], "camera").sentences


def test_an_attribute_that_no_image_has_is_refused_with_those_that_there_are(workspace, run):
    with pytest.raises(UnknownName, match=r"No image of this evaluation has a value of 'view'. Its attributes: camera"):
        by_attribute(workspace, run.evaluations[0], "view")
    assert list(attributes_of(workspace, run.evaluations[0])) == ["camera"]
    other = store_run(workspace, LABELS, name="Other", with_proxies=False)
    with pytest.raises(UnknownName, match=r"workbench tags RUN --import TABLE\.csv"):
        by_attribute(workspace, other.evaluations[0], "view")


def test_the_number_of_an_attribute_changes_with_its_values_alone(workspace, run):
    tag(workspace, run, ["day", "night"] * 54, "light")
    before = attributes_of(workspace, run.evaluations[0])
    assert attributes_of(workspace, run.evaluations[0]) == before
    change_tags(workspace, workspace.run(run.run_id).dataset_id, [(int(run.ids[0]), "camera=rear")])
    after = attributes_of(workspace, run.evaluations[0])
    assert after.keys() == before.keys() == {"camera", "light"}
    assert (after["camera"] == before["camera"], after["light"] == before["light"]) == (False, True)


def test_embeddings_that_are_not_finite_are_a_problem(workspace, run, monkeypatch):
    broken = np.array(workspace.vectors(run.evaluations[0]))
    broken[4] = np.nan
    monkeypatch.setattr(workspace, "vectors", lambda number: broken)
    with pytest.raises(Problem, match="1 of 108 embeddings contain NaN or infinity"):
        by_attribute(workspace, run.evaluations[0], "camera")


def test_a_cancel_is_heard(workspace, run):
    class Ended(Exception):  # noqa: N818 - as Cancelled
        pass

    def progress(text, done, total):
        if text == "Searching across values":
            raise Ended

    with pytest.raises(Ended):
        by_attribute(workspace, run.evaluations[0], "camera", progress)


def test_the_csv_has_each_cell_and_both_searches_in_all_images(workspace, run):
    measured = by_attribute(workspace, run.evaluations[0], "camera")
    rows = list(csv.DictReader(io.StringIO(as_csv(measured))))
    assert len(rows) == 2 * (9 + 2 * 4)
    first = rows[0]
    assert (first["query_value"], first["gallery"], first["gallery_value"]) == ("front", "one value", "front")
    assert float(rows[1]["score"]) == measured.cells[0][0].scores["MAP@R"].value
    assert [row["gallery"] for row in rows[-4:]] == ["all images"] * 2 + ["all but matches of the same value"] * 2


def test_the_command_prints_tables_json_and_a_csv(workspace, run, tmp_path):
    asked = ["tags", str(run.run_id), "--workspace", str(workspace.path), "--across", "camera"]
    shown = CliRunner().invoke(cli, [*asked, "--csv", str(tmp_path / "cells.csv")])
    assert shown.exit_code == 0, shown.output
    lines = shown.stdout.splitlines()
    measured = by_attribute(workspace, run.evaluations[0], "camera")
    first = measured.cells[0][0]
    text = scored_text(first.scores, first.chance, "recall@1")
    assert lines[0].split() == ["R@1", "%", "(chance)", "front", "rear", "side"]
    assert lines[1].split()[:3] == ["front", *text.split()]
    assert next(line for line in lines if line.startswith("Score")).split()[:3] == ["Score", "camera", "Queries"]
    assert lines[-len(measured.sentences) :] == measured.sentences
    assert (tmp_path / "cells.csv").read_text("utf-8") == as_csv(measured)
    read = json.loads(CliRunner().invoke(cli, [*asked, "--json"]).stdout)
    assert [len(read["cells"]), len(read["own_value"])] == [9, 4]
    assert own_titles(measured)[1] == "camera"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--across", "camera", "--by-size"], "give one of them"),
        (["--csv", "no.csv"], "--csv needs --by-size or --across"),
        (["--across", "nothing"], "No image of this evaluation has a value of 'nothing'. Its attributes: camera."),
    ],
)
def test_wrong_use_of_the_command_is_said(workspace, run, options, words):
    done = CliRunner().invoke(cli, ["tags", str(run.run_id), "--workspace", str(workspace.path), *options])
    said = done.stderr or str(done.exception)
    assert done.exit_code
    assert words in said
