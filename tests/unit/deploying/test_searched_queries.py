"""All queries searched by a method: the ranks of a deployment, stored and read again, and what they change."""

import base64
import json
from dataclasses import replace

import numpy as np
import pytest

from tests.ui.small_run import blobs, store_run
from tests.unit.deploying.test_expansion import HALVES
from tests.unit.deploying.test_stores import evaluation
from workbench.control import Cancelled
from workbench.deploying import request, searched_queries
from workbench.deploying.kinds import kind
from workbench.deploying.measure import search_of
from workbench.deploying.searched_queries import search_queries, searched_by
from workbench.deploying.stores import build
from workbench.problem import Problem
from workbench.results.search_methods import (
    USUAL,
    ByMethod,
    cost_words,
    not_by_itself,
    rates_of,
    seconds,
    title_of,
    way_of,
)
from workbench.results.stored import read_stored
from workbench.workspace import Workspace
from workbench.workspace.measured.deployments import newest_deployment
from workbench.workspace.measured.searched import read_searched

LABELS = np.repeat(np.arange(4), 12)


@pytest.fixture(scope="module")
def space(tmp_path_factory):
    with Workspace(tmp_path_factory.mktemp("searched") / "space", create=True) as made:
        yield made, store_run(made, LABELS, embeddings=[blobs(LABELS, 1.5, 3, width=16)])


@pytest.mark.parametrize("name", USUAL)
def test_the_lists_are_the_ranks_that_a_deployment_measures(space, name):
    workspace, run = space
    evaluation = run.evaluations[-1]
    search_queries(workspace, evaluation, name)
    searched = read_searched(workspace, evaluation, name, len(LABELS))
    stored = read_stored(workspace, evaluation)
    search = search_of(stored)
    method = build(kind(name), search.gallery, search.gallery, search.cosine).method
    ranks = np.concatenate([rows for _, rows in method.rankings(search.queries, search.own, 47, lambda: None)])
    ids = stored.sample_ids
    assert ids[searched.queries].tolist() == np.sort(search.query_ids).tolist()
    of_query = dict(zip(search.query_ids.tolist(), search.gallery_ids[ranks].tolist(), strict=True))
    for row, near in zip(searched.queries.tolist(), searched.near.tolist(), strict=True):
        assert ids[near].tolist() == of_query[int(ids[row])][: len(near)]
    (_, measured) = request.deployment(workspace, evaluation, [name], 0.01)["stores"]
    assert searched.ap.mean() == pytest.approx(measured["metrics"]["MAP@R"], abs=1e-12)
    assert (searched.ap - searched.plain_ap).mean() == pytest.approx(measured["difference"][0], abs=1e-12)
    right = stored.labels[searched.near[:, 0]] == stored.labels[searched.queries]
    assert right.mean() == pytest.approx(measured["metrics"]["recall@1"])
    unit = search.gallery.astype(np.float64)
    place = {int(number): at for at, number in enumerate(search.gallery_ids)}
    first, second = (unit[[place[int(ids[row])] for row in rows]] for rows in (searched.queries, searched.near[:, 5]))
    np.testing.assert_allclose(searched.similarities[:, 5], (first * second).sum(1), atol=1e-5)


def test_it_says_where_each_image_stood_before_and_what_a_query_gains(space):
    workspace, run = space
    evaluation = run.evaluations[-1]
    searched = search_queries(workspace, evaluation, "float32+reciprocal")
    stored = read_stored(workspace, evaluation)
    row_of = {row: at for at, row in enumerate(searched.queries.tolist())}
    for query in (0, 13, 40):
        listed, before = searched.near[row_of[query]].tolist(), searched.before[row_of[query]].tolist()
        plain = stored.near[query].tolist()
        for row, rank in zip(listed, before, strict=True):
            if row in plain:
                assert rank == plain.index(row) + 1
    queries = workspace.queries(evaluation)
    by_method = ByMethod(searched, queries)
    np.testing.assert_allclose(searched.plain_ap, queries.ap[searched.queries], atol=1e-6)
    assert by_method.gains[searched.queries].tolist() == (searched.ap - searched.plain_ap).tolist()
    changes = by_method.changes
    first_right = LABELS[searched.near[:, 0]] == LABELS[searched.queries]
    was_right = queries.first_hit[searched.queries] == 1
    assert sorted(changes.won) == sorted(queries.sample_ids[searched.queries[first_right & ~was_right]])
    assert sorted(changes.lost) == sorted(queries.sample_ids[searched.queries[~first_right & was_right]])
    assert len(changes.won) + len(changes.lost) + changes.right + changes.wrong == len(LABELS)
    rising = int((searched.ap > searched.plain_ap).sum())
    assert by_method.sentence().startswith("By k-reciprocal: MAP@R ")
    assert f"over 48 queries. AP rises in {rising}" in by_method.sentence()


def test_lists_are_no_measurement_and_invalid_ones_are_not_read(space):
    workspace, run = space
    evaluation = run.evaluations[-1]
    measured = request.deployment(workspace, evaluation, ["int8"], 0.02)
    search_queries(workspace, evaluation, "float32+aqe5")
    assert newest_deployment(workspace, evaluation) == measured
    assert read_searched(workspace, evaluation, "float32+aqe6", len(LABELS)) is None
    assert read_searched(workspace, evaluation, "float32+aqe5", len(LABELS) - 1) is None, "it names another sample"
    assert read_searched(workspace, evaluation, "float32+aqe5", len(LABELS)) is not None
    sql = "select measured from deployments where wanted = 'neighbours float32+aqe5'"
    with workspace.reading() as db:
        whole = json.loads(db.execute(sql).fetchone()[0])
    for harm in (
        {"depth": 46}, {"asked": 10**9}, {"method": 5}, {"columns": {}}, {"there": -1},
        {"columns": {**whole["columns"], "ap": "no base64!"}}, {"more": " " * (64 << 20)},
        {"columns": {**whole["columns"], "queries": whole["columns"]["near"][:64]}},
        *({"columns": {**whole["columns"], "plain_ap": _column(len(LABELS), ap)}} for ap in (1.5, -0.1, np.nan)),
    ):  # fmt: skip
        with workspace.writing() as db:
            text = json.dumps({**whole, **harm})
            db.execute("update deployments set measured = ? where wanted = 'neighbours float32+aqe5'", (text,))
        assert read_searched(workspace, evaluation, "float32+aqe5", len(LABELS)) is None, harm


def _column(count, value):
    """A column of the stored lists, with one value everywhere."""
    return base64.b64encode(np.full(count, value, "<f8").tobytes()).decode()


def test_what_cannot_search_says_why_and_a_cancel_stores_nothing(space):
    workspace, run = space
    evaluation = run.evaluations[-1]
    with pytest.raises(Problem, match="int8 stores embeddings and is not a search method"):
        search_queries(workspace, evaluation, "int8")
    with pytest.raises(Problem, match="αQE 60 cannot search this evaluation: it needs 60 neighbours"):
        search_queries(workspace, evaluation, "float32+aqe60")

    def cancel(text, done, total):
        if "αQE" in text:
            raise Cancelled

    with pytest.raises(Cancelled):
        search_queries(workspace, evaluation, "float32+aqe7", cancel)
    assert read_searched(workspace, evaluation, "float32+aqe7", len(LABELS)) is None


def test_a_method_is_measured_beside_what_was_measured(space):
    workspace, run = space
    evaluation = run.evaluations[-1]
    before = request.deployment(workspace, evaluation, ["int8", "pca4"], 0.05)
    seen = []
    both = request.added(workspace, evaluation, "float32+aqe3", lambda *of: seen.append(of))
    assert [store["name"] for store in both["stores"]] == ["float32", "int8", "pca4", "float32+aqe3"]
    assert {**both, "stores": both["stores"][:-1]} == before
    assert newest_deployment(workspace, evaluation) == both
    assert request.deployment(workspace, evaluation, ["int8", "pca4"], 0.05) == before, "it stays as it was"
    assert request.added(workspace, evaluation, "float32+aqe3") == both
    counted = [(done, total) for text, done, total in seen if text == "αQE 3"]
    assert counted[0] == (48, 96), "queries of both searches"
    with pytest.raises(Problem, match="αQE 60 cannot be measured: it needs 60 neighbours"):
        request.added(workspace, evaluation, "float32+aqe60")
    assert newest_deployment(workspace, evaluation) == both


def test_a_large_gallery_says_what_is_not_measured_by_itself():
    assert not_by_itself(USUAL, 10**6, True) == not_by_itself([], 5_000, True) == ""
    said = not_by_itself(["float32", "float32+aqe10"], 70_000, True)
    assert said.startswith("Measured by default: DBA 10 up to 65,000 and k-reciprocal up to 5,000 images")
    assert said.endswith(" images; below the table you can measure any number. k-reciprocal of 300 has no such limit.")
    assert "DBA" not in not_by_itself(["float32"], 70_000, False), "means need cosines"


def test_by_l2_the_similarities_are_minus_the_distances(space, monkeypatch):
    workspace, run = space
    read = searched_queries.read_stored
    monkeypatch.setattr(searched_queries, "read_stored", lambda *of: replace(read(*of), distance="l2"))
    searched = search_queries(workspace, run.evaluations[-1], "float32+reciprocal")
    vectors = workspace.vectors(run.evaluations[-1])
    gaps = np.linalg.norm(vectors[searched.queries[7]] - vectors[searched.near[7]], axis=1)
    np.testing.assert_allclose(searched.similarities[7], -gaps, rtol=1e-5)
    with pytest.raises(Problem, match="compares by L2"):
        search_queries(workspace, run.evaluations[-1], "float32+aqe10")


def test_names_titles_and_costs_of_methods():
    assert [title_of(name) for name in USUAL] == ["αQE 10", "DBA 10", "k-reciprocal", "k-reciprocal of 300"]
    assert all(title_of(name) == kind(name).title for name in USUAL)
    for name in (
        "int8",
        "float32",
        "float32+aqe",
        "float32+aqe0",
        "float32+aqe101",
        "float32+aqex",
        "float32+dba10x",
        "float32+candidates21",
    ):
        assert way_of(name) is None, name
    assert seconds("float32+dba10", 60_000, 10_000) > 2 * seconds("float32+dba10", 30_000, 10_000)
    assert "5,000 of the 60,000 queries are used" in cost_words("float32+reciprocal", 60_000, 60_000)
    assert " k-reciprocal of 300 takes about " in cost_words("float32+reciprocal", 5_001, 5_001)
    assert "of 300" not in cost_words("float32+reciprocal", 5_000, 5_000)
    said = cost_words("float32+aqe10", 160, 160)
    assert said == "αQE 10 takes about 2 s, estimated from 30 ns a pair of images."
    assert seconds("float32+candidates300", 60_000, 10_000) < 0.3 * seconds("float32+reciprocal", 60_000, 10_000)


def test_costs_are_estimated_from_what_was_measured():
    stores = [
        {"name": "float32", "pair_seconds": 6e-8},
        {"name": "float32+reciprocal", "constant_ms": 2.0},
        {"name": "float32+candidates100", "constant_ms": 3.0},
    ]
    rates = rates_of({"gallery": 10_000, "stores": stores})
    slower = seconds("float32+aqe10", 50_000, 5_000, rates)
    assert slower - 2 == pytest.approx(2 * (seconds("float32+aqe10", 50_000, 5_000) - 2))
    pairs = 2 * 5_000 * 10_000 + 10_000**2
    assert seconds("float32+reciprocal", 10_000, 5_000, rates) == pytest.approx(2 + 6e-8 * pairs + 5_000 * 0.002)
    of_300 = 2 + 6e-8 * 2 * 5_000 * 10_000 + 5_000 * 0.009
    assert seconds("float32+candidates300", 10_000, 5_000, rates) == pytest.approx(of_300)
    for name in USUAL:
        assert ", estimated from the measured times." in cost_words(name, 160, 160, rates)


def test_what_was_not_measured_is_estimated_from_times_that_are_said():
    rates = rates_of({"gallery": 900, "stores": [{"name": "float32", "pair_seconds": 6e-8}, {"name": "int8"}]})
    assert "estimated from the measured times." in cost_words("float32+dba10", 160, 160, rates)
    said = cost_words("float32+candidates100", 160, 160, rates)
    assert "estimated from 60 ns a pair of images and 2 ms to re-rank a query." in said
    older = rates_of({"gallery": 900, "stores": [{"name": "float32"}, {"name": "float32+aqe10"}]})
    assert "estimated from 30 ns a pair of images." in cost_words("float32+aqe10", 160, 160, older)


@pytest.mark.parametrize("is_query", [None, HALVES])
@pytest.mark.parametrize("name", USUAL)
def test_rows_are_those_of_the_evaluation_in_whatever_order_its_samples_are(name, is_query):
    stored = evaluation(41, is_query=is_query)[0]
    assert (np.diff(stored.sample_ids) < 0).any(), "the ids do not rise"
    search = search_of(stored)
    searched = searched_by(kind(name), stored, search)
    method = build(kind(name), search.gallery, search.gallery, search.cosine).method
    parts = method.rankings(search.queries, search.own, 12, lambda: None)
    ranks = np.concatenate([rows for _, rows in parts])
    of_query = dict(zip(search.query_ids.tolist(), search.gallery_ids[ranks].tolist(), strict=True))
    assert (np.diff(searched.queries) > 0).all()
    assert sorted(of_query) == sorted(stored.sample_ids[searched.queries].tolist())
    for row, near, ap in zip(searched.queries.tolist(), searched.near, searched.ap.tolist(), strict=True):
        assert stored.sample_ids[near[:12]].tolist() == of_query[int(stored.sample_ids[row])]
        r = int(stored.r[row])
        hits = stored.labels[near[:r]] == stored.labels[row]
        assert ap == pytest.approx(float((hits * hits.cumsum() / np.arange(1, r + 1)).sum() / r))
