"""Label triage: planted errors are found first, votes against loops, copies, precision; decisions stored and filed."""

import json
import re
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from tests.ui.small_run import blobs, store_run
from tests.unit.workspace.older import make_older
from workbench.cli import cli
from workbench.evaluation.retrieval import retrieve
from workbench.problem import Problem
from workbench.results import label_overlay, triage
from workbench.results.failures import COPY_SHARE
from workbench.results.label_overlay import Triage
from workbench.results.stored import Stored, Training, rows_of
from workbench.ui.pages.retrieval.triage.model import TriageModel
from workbench.ui.pages.retrieval.triage.words import claim, short_kind
from workbench.workspace import Workspace
from workbench.workspace.choices.label_decisions import Decision, all_decisions, decide, take_back

TRUE = np.repeat(np.arange(5), 30)


def evaluation(labels, vectors, *, proxies=False, ids=None):
    ids = np.arange(len(labels)) + 100 if ids is None else ids
    stored = retrieve(vectors, labels, ids, k=30)
    centres = np.stack([vectors[labels == name].mean(0) for name in np.unique(labels)]) if proxies else None
    names = np.unique(labels) if proxies else None
    near = rows_of(ids, stored.neighbours)
    return Stored(ids, labels, vectors, near, stored.first_hit, stored.r, "cosine", centres, names)


def planted(share, seed=0, spread=0.5):
    """Embeddings with a share of labels changed to another class; which ones, [n] bool."""
    rng = np.random.default_rng(seed)
    vectors, labels = blobs(TRUE, spread, 3, width=12), TRUE.copy()
    rows = rng.choice(len(labels), round(share * len(labels)), replace=False)
    labels[rows] = (labels[rows] + rng.integers(1, 5, len(rows))) % 5
    return vectors, labels, labels != TRUE


@pytest.mark.parametrize("proxies", [False, True])
@pytest.mark.parametrize("share", [0.05, 0.1, 0.2])
def test_planted_errors_are_listed_with_their_true_class(share, proxies):
    vectors, labels, wrong = planted(share)
    suspects = triage.queue(evaluation(labels, vectors, proxies=proxies))
    listed = [one for one in suspects if one.kind == triage.LABEL]
    hits = [one for one in listed if wrong[one.sample_id - 100]]
    assert len(hits) / wrong.sum() >= 0.9
    assert len(hits) / len(listed) >= 0.9
    assert np.mean([one.suggested == TRUE[one.sample_id - 100] for one in hits]) >= 0.95
    assert [one.suspicion for one in listed] == sorted((one.suspicion for one in listed), reverse=True)


def test_shares_are_weighted_votes_written_out():
    vectors, labels, _ = planted(0.1, spread=1.5)
    stored = evaluation(labels, vectors)
    weights = np.ones(len(labels))
    for _ in range(triage.ROUNDS):
        expected = np.zeros((len(labels), 5))
        for row in range(len(labels)):
            for near in stored.near[row, :10]:
                expected[row, labels[near]] += weights[near]
            expected[row] /= expected[row].sum()
        weights = np.maximum([expected[row, labels[row]] for row in range(len(labels))], triage.STRONGEST)
    shares, names = triage.class_shares(stored)
    assert names.tolist() == [0, 1, 2, 3, 4]
    np.testing.assert_allclose(shares, expected, atol=1e-12)
    doubt = triage.suspicions(shares, labels)
    row = int(doubt.argmax())
    others = np.delete(expected[row], labels[row])
    assert doubt[row] == pytest.approx((1 + others.max() - expected[row, labels[row]]) / 2)


def test_many_classes_need_no_table_of_all_samples_by_all_classes(monkeypatch):
    monkeypatch.setattr(triage, "CELLS", 2**14, raising=False)
    rng, count, classes = np.random.default_rng(0), 3000, 1500
    labels = rng.integers(0, classes, count)
    near = np.stack([rng.permutation(count)[:10] for _ in range(count)])
    vectors = rng.normal(size=(count, 4)).astype(np.float32)
    many = Stored(np.arange(count), labels, vectors, near, np.ones(count, np.int32), np.ones(count, np.int32))
    tracemalloc.start()
    try:
        triage.queue(many, least=0.9)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < count * classes * 8 / 2, "half of one such table"


@pytest.mark.parametrize("proxies", [False, True])
def test_the_queue_is_the_same_in_parts(monkeypatch, proxies):
    vectors, labels, _ = planted(0.1, spread=1.5)
    stored = evaluation(labels, vectors, proxies=proxies)
    whole = {one.sample_id: one for one in triage.queue(stored)}
    monkeypatch.setattr(triage, "CELLS", 7)
    parts = {one.sample_id: one for one in triage.queue(stored)}
    assert parts.keys() == whole.keys()
    for number, one in parts.items():
        assert (one.kind, one.suggested, one.votes) == (
            whole[number].kind,
            whole[number].suggested,
            whole[number].votes,
        )
        assert one.suspicion == pytest.approx(whole[number].suspicion, abs=1e-12)
        assert one.other_proxy == pytest.approx(whole[number].other_proxy, abs=1e-12)


def test_a_copy_with_another_label_is_listed_once():
    vectors, labels = blobs(TRUE, 0.5, 3, width=12), TRUE.copy()
    vectors[40] = vectors[3] * 1.0001
    stored = evaluation(labels, vectors)
    listed = [one for one in triage.queue(stored) if one.sample_id in (103, 140)]
    assert [(one.sample_id, one.kind, one.other) for one in listed] == [(140, triage.LABEL, 103)]  # neighbours, too
    assert claim(listed[0], "b", "a") == "Labelled b, suspected to be a, as a near-copy is labelled"
    assert short_kind(listed[0]) == "near-copy"
    copies = [one for one in triage.queue(stored, least=1.1) if one.kind == triage.COPY]
    assert [(one.sample_id, one.other) for one in copies] == [(140, 103)]
    gaps = stored.gaps(np.arange(len(labels)), stored.near[:, 0])
    assert copies[0].suspicion == pytest.approx(1 - gaps[40] / (COPY_SHARE * np.median(gaps)) / 2)
    assert 0.5 < copies[0].suspicion < 1


def test_a_suspect_with_a_near_copy_comes_before_those_that_only_neighbours_contradict():
    vectors, labels, wrong = planted(0.1, spread=1.5)
    first = int(np.flatnonzero(~wrong)[0])
    of_another_class = int(np.flatnonzero(~wrong & (labels != labels[first]))[0])
    vectors[of_another_class] = vectors[first] * 1.0001
    queue = triage.queue(evaluation(labels, vectors))
    assert (queue[0].sample_id, queue[0].other) == (of_another_class + 100, first + 100)
    assert queue[0].suggested == labels[first], "the label of the same picture, not that of most neighbours"
    assert queue[0].suspicion < max(one.suspicion for one in queue if one.other is None)


@pytest.mark.parametrize("first", [True, False])
def test_of_two_copies_the_one_among_images_of_the_other_label_is_suspected(first):
    vectors, labels = blobs(TRUE, 0.5, 3, width=12), TRUE.copy()
    wrong, right = (3, 40) if first else (40, 3)
    labels[wrong], labels[right] = 2, TRUE[right]
    vectors[wrong] = vectors[right]
    copies = [one for one in triage.queue(evaluation(labels, vectors)) if one.other is not None]
    assert [(one.sample_id - 100, one.label, one.suggested) for one in copies] == [(wrong, 2, TRUE[right])]
    assert copies[0].other == right + 100


@pytest.mark.parametrize("proxies", [False, True])
def test_neighbours_say_nothing_against_the_label_of_an_image_that_is_alone_with_it(proxies):
    labels = TRUE.copy()
    labels[7] = 5
    vectors = blobs(TRUE, 0.5, 3, width=12)
    assert 107 not in [one.sample_id for one in triage.queue(evaluation(labels, vectors, proxies=proxies))]
    labels[8] = 5
    assert {107, 108} <= {one.sample_id for one in triage.queue(evaluation(labels, vectors))}, "two can contradict"
    labels[8], vectors[7] = 0, vectors[8]
    copies = [one for one in triage.queue(evaluation(labels, vectors)) if one.kind == triage.COPY]
    assert [(one.sample_id, one.other) for one in copies] == [(107, 108)], "its near-copy is said all the same"


@pytest.mark.parametrize("distance", ["cosine", "l2", "hyperbolic"])
def test_near_copies_across_halves_are_listed_with_their_image_of_the_training_half(distance):
    vectors = blobs(TRUE, 0.5, 3, width=12)
    theirs = blobs(np.arange(30) % 5, 0.5, 9, width=12)
    theirs[4], theirs[17] = vectors[25] * 1.0001, vectors[7]
    if distance == "hyperbolic":
        vectors, theirs = (points / (1 + np.linalg.norm(points, axis=1, keepdims=True)) for points in (vectors, theirs))
    labels = np.arange(30) % 5 + 10  # other classes than those that are searched
    stored = replace(
        evaluation(TRUE, vectors), distance=distance, training=Training(np.arange(30) + 900, labels, theirs)
    )
    crossing = [one for one in triage.queue(stored) if one.across]
    assert {(one.sample_id, one.other, one.suggested) for one in crossing} == {(125, 904, 14), (107, 917, 12)}
    assert all(one.kind == triage.COPY and 0.5 <= one.suspicion <= 1 for one in crossing)
    assert {(one.votes, one.own_votes, one.voters) for one in crossing} == {(0, 10, 10)}, "all ten are of its own class"
    assert not [one for one in triage.queue(replace(stored, training=None)) if one.across]
    mislabelled = TRUE.copy()
    mislabelled[25] = 4  # its neighbours say so, too: the copy is still said
    doubted = replace(evaluation(mislabelled, vectors), distance=distance, training=stored.training)
    assert [one.kind for one in triage.queue(replace(doubted, training=None)) if one.sample_id == 125] == [triage.LABEL]
    assert [one.other for one in triage.queue(doubted) if one.sample_id == 125] == [904]
    model = TriageModel()
    model.show(Triage(1, 1, stored, [crossing[0]], {}))
    assert model.neighbours()[crossing[0].suggested][0] == (0, crossing[0].other)
    assert claim(crossing[0], "ant", "bee") == "Labelled ant, a near-copy labelled bee is in the training set"


def test_as_many_neighbours_vote_as_the_gallery_has_of_the_class():
    """Of a class with twelve queries and four images in the gallery no more than four of ten neighbours can be."""
    labels, ids = np.repeat([0, 1], [16, 40]), np.arange(56)
    is_query = np.concatenate([np.arange(16) >= 4, np.arange(40) < 20])
    vectors = np.concatenate([cluster(0.0, 16), cluster(0.6, 40)])
    found = retrieve(vectors, labels, ids, k=20, is_query=is_query)
    assert found.metrics["recall@1"] == 1
    stored = Stored(ids, labels, vectors, rows_of(ids, found.neighbours), found.first_hit, found.r)
    assert triage.queue(stored) == []


def cluster(angle, count):
    """Points [count, 2] on the circle around an angle."""
    angles = angle + 0.05 * np.random.default_rng(count).normal(size=count)
    return np.stack([np.cos(angles), np.sin(angles)], 1)


def test_nothing_is_suspect_in_one_class_or_without_neighbours():
    stored = evaluation(TRUE, blobs(TRUE, 0.5, 3))
    alone = Stored(stored.sample_ids, stored.labels * 0, stored.embeddings, stored.near, stored.first_hit, stored.r)
    assert triage.queue(alone) == []
    empty = Stored(stored.sample_ids, stored.labels, stored.embeddings, stored.near[:, :0], stored.first_hit, stored.r)
    assert triage.queue(empty) == []


@pytest.mark.parametrize(("right", "count", "low", "high"), [(2, 4, 0.1500, 0.8500), (10, 10, 0.7225, 1.0)])
def test_precision_has_the_interval_of_wilson(right, count, low, high):
    suspects = [triage.Suspect(number, "label", 0, 1, 0.9, 8, 1, 10) for number in range(count + 2)]
    decisions = {number: Decision(number, "relabel" if number < right else "keep", 1 if number < right else None)
                 for number in range(count)}  # fmt: skip
    decisions[count] = Decision(count, "unsure")
    judged = label_overlay.precision(suspects, decisions)
    assert (judged.right, judged.answered) == (right, count)
    assert (judged.low, judged.high) == pytest.approx((low, high), abs=1e-3)


def listed(count, label=0, suggested=1):
    return [triage.Suspect(number, "label", label, suggested, 0.9, 8, 1, 10) for number in range(count)]


def test_the_precision_after_each_answer_is_in_the_order_of_the_answers():
    words = {3: "relabel", 0: "keep", 2: "unsure", 1: "drop", 9: "keep"}  # 9 is not listed
    decisions = {number: Decision(number, word, 1 if word == "relabel" else None) for number, word in words.items()}
    path = label_overlay.precision_path(listed(5), decisions)
    assert [(one.right, one.answered) for one in path] == [(1, 1), (1, 2), (2, 3)]
    assert path[-1] == label_overlay.precision(listed(5), decisions)
    assert label_overlay.precision_path(listed(5), {}) == []


@pytest.mark.parametrize(("right", "answered"), [(0, 1), (1, 2), (5, 10), (3, 30), (60, 120)])
def test_so_many_more_answers_narrow_the_interval_and_no_fewer_do(right, answered):
    def half(count):  # of the interval of Wilson, from the roots of its equation
        share, square = right / answered, 1.959964**2 / count
        roots = np.roots([1 + square, -(2 * share + square), share * share])
        return abs(roots[0] - roots[1]) / 2

    more, aim = label_overlay.answers_to_narrow(label_overlay.Precision(right, answered, 0, 1))
    assert half(answered + more) < aim <= half(answered + more - 1)
    assert aim == next(value for value in label_overlay.HALVES if value < half(answered))


def test_no_more_answers_are_named_without_one_and_where_the_interval_is_narrow():
    assert label_overlay.answers_to_narrow(label_overlay.Precision(0, 0, 0, 1)) is None
    assert label_overlay.answers_to_narrow(label_overlay.Precision(500, 1000, 0, 1)) is None


def model_of(suspects, moments=()):
    model = TriageModel(iter(moments).__next__)
    model.show(Triage(1, 1, evaluation(TRUE, blobs(TRUE, 0.5, 3, width=12)), suspects, {}))
    return model


def test_the_time_left_follows_the_pace_of_the_last_answers_without_breaks():
    model = model_of(listed(20), (0, 4, 8, 1000, 1006, 1026))
    times = []
    for _ in range(6):
        model.answer("keep")
        times.append(model.seconds_left())
    assert times[:4] == [None] * 4, "three times between answers are the fewest, and a break of 992 s is none"
    assert times[4:] == [15 * 4, 14 * 5], "median of 4, 4, 6; of 4, 4, 6, 20"
    model.undo()
    assert model.seconds_left() == 15 * 4


def test_nothing_is_left_once_all_is_answered():
    model = model_of(listed(4), range(0, 40, 10))
    for _ in range(4):
        model.answer("keep")
    assert model.seconds_left() is None


def test_an_answer_that_is_given_again_is_the_last_one():
    model = model_of(listed(3), range(9))
    for _ in range(3):
        model.answer("keep")
    model.look_at(0)
    model.answer("drop")
    assert [one.right for one in model.judged_so_far()] == [0, 0, 1]
    assert list(model.triage.decisions) == [1, 2, 0]


def test_the_ranks_of_both_classes_are_those_of_the_stored_neighbours():
    vectors, labels, _ = planted(0.1)
    stored = evaluation(labels, vectors)
    suspect = triage.queue(stored)[0]
    model = TriageModel()
    assert model.ranks() == {}
    model.show(Triage(1, 1, stored, [suspect], {}))
    near = stored.labels[stored.near[suspect.sample_id - 100]].tolist()
    ranks = model.ranks()
    assert list(ranks) == [suspect.suggested, suspect.label]
    for label, places in ranks.items():
        assert places.tolist() == [rank for rank, other in enumerate(near, 1) if other == label]


def test_the_nearest_of_each_class_are_listed_with_their_ranks():
    vectors, labels, _ = planted(0.2)
    stored = evaluation(labels, vectors)
    near = stored.near[7].tolist()
    wanted = {name: [(rank, row) for rank, row in enumerate(near, 1) if labels[row] == name][:3] for name in range(5)}
    assert sum(map(len, wanted.values())) > 3
    assert triage.ranked_by_class(stored, 7, range(5), 3) == wanted


@pytest.fixture
def space(tmp_path):
    labels = np.repeat(np.arange(3), 12)
    with Workspace(tmp_path / "space", create=True) as made:
        vectors = blobs(labels, 0.4, 1)
        vectors[5] = vectors[20] * 1.001
        yield made, store_run(made, labels, embeddings=[vectors])


def test_decisions_are_stored_replaced_and_taken_back(space):
    workspace, run = space
    dataset = workspace.run(run.run_id).dataset_id
    first, second = run.ids[:2].tolist()
    decide(workspace, dataset, [Decision(first, "relabel", 2), Decision(second, "drop")])
    decide(workspace, dataset, [Decision(first, "keep")])
    assert all_decisions(workspace, dataset)[first] == Decision(first, "keep")
    take_back(workspace, dataset, Decision(first, "keep"), None)
    assert list(all_decisions(workspace, dataset)) == [second]
    for wrong in (Decision(first, "guess"), Decision(first, "relabel"), Decision(first, "keep", 1)):
        with pytest.raises(Problem):
            decide(workspace, dataset, [wrong])


def test_decisions_of_one_second_are_in_the_order_in_which_they_were_made(space):
    workspace, run = space
    dataset = workspace.run(run.run_id).dataset_id
    made = run.ids[[9, 2, 7, 4, 8, 1]].tolist()
    for sample_id in made:
        decide(workspace, dataset, [Decision(sample_id, "keep")])
    assert list(all_decisions(workspace, dataset)) == made


def test_an_older_workspace_has_no_decisions(tmp_path):
    with Workspace(tmp_path / "space", create=True) as made:
        run = store_run(made, np.repeat(np.arange(2), 4))
    make_older(made.database, "m013_deployments_and_labels")
    with Workspace(tmp_path / "space") as again:
        assert all_decisions(again, again.run(run.run_id).dataset_id) == {}


def test_the_command_lists_exports_and_imports(space, tmp_path):
    workspace, run = space
    dataset = workspace.run(run.run_id).dataset_id
    decide(workspace, dataset, [Decision(int(run.ids[5]), "relabel", 1), Decision(int(run.ids[6]), "unsure")])
    words, file = ["triage", str(run.run_id), "-w", str(workspace.path)], tmp_path / "made" / "decisions.csv"
    told = CliRunner().invoke(cli, [*words, "--export", str(file)])
    assert told.exit_code == 0, told.output
    assert "class 00/00005.png" in told.output
    assert "Of 1 answered, 1 was a wrong label: 100%" in told.output
    assert re.search(r" {2}\d+ of \d+ neighbours {2}", told.output)
    assert "class 00/00005.png,class 00,relabel,class 01" in file.read_text()
    for answer in all_decisions(workspace, dataset).values():
        take_back(workspace, dataset, answer, None)
    data = json.loads(CliRunner().invoke(cli, [*words, "--import", str(file), "--json"], catch_exceptions=False).stdout)
    assert {row["decision"] for row in data if row["sample_id"] == run.ids[5]} == {"relabel"}
    assert len(all_decisions(workspace, dataset)) == 2
    file.write_text("path,decision,new_class\nclass 00/00005.png,relabel,none such\n")
    told = CliRunner().invoke(cli, [*words, "--import", str(file)])
    assert told.exit_code == 1
    assert "has no class named" in told.output
