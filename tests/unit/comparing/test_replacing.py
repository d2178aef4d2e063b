"""Queries of one run in the gallery of another: against a plain search by the definition, in a real workspace."""

import csv
import json

import numpy as np
import pytest

from tests.unit.comparing.searched_runs import (
    blobs_of,
    compared,
    gaps,
    plain_search,
    spoil_embeddings,
    store_searched,
    unit_rows,
)
from workbench import cli
from workbench.comparing.queries import replacing as crossing
from workbench.comparing.queries import searched_alike as alike
from workbench.comparing.queries.replacing import replacing
from workbench.comparing.replacing_text import (
    HEAD,
    replacing_columns,
    replacing_notes,
    replacing_rows,
)
from workbench.comparing.statistics.intervals import paired_bootstrap
from workbench.control import Cancelled
from workbench.files.spreadsheet import csv_text
from workbench.problem import Problem

MANY = np.repeat(np.arange(8), 8)
ASKS = np.arange(len(MANY)) % 4 == 0


def of(result, old, new):
    return next(pair for pair in result.pairs if (pair.old, pair.new) == (old, new))


def halves(labels):
    """The classes of the first half, drawn as the code says: a permutation with seed 0."""
    names = np.unique(labels)
    return np.isin(labels, names[np.random.default_rng(0).permutation(len(names))[: len(names) // 2]])


def plain_hits(queries, gallery, labels, distance, asks=None):
    """Whether the nearest of each query, which is left out itself, has its class."""
    far = gaps(queries, gallery, distance)
    np.fill_diagonal(far, np.inf)
    if asks is not None:
        far[:, asks] = np.inf
    hits = (labels[far.argmin(1)] == labels).astype(np.float64)
    return hits if asks is None else hits[asks]


def plain_rotated(new, old, labels, distance, asks=None):
    """The same with each half of the classes rotated as fitted on the other half; padded with zeros."""
    wide = max(new.shape[1], old.shape[1])
    new, old = (np.hstack([table, np.zeros((len(table), wide - table.shape[1]))]) for table in (new, old))
    hits, first = np.empty(len(labels)), halves(labels)
    for fold in (first, ~first):
        left, _, right = np.linalg.svd(new[~fold].T @ old[~fold])
        hits[fold] = plain_hits(new @ (left @ right), old, labels, distance)[fold] if asks is None else 0
        if asks is not None:
            every = np.zeros(len(labels))
            every[asks] = plain_hits(new @ (left @ right), old, labels, distance, asks)
            hits[fold] = every[fold]
    return hits if asks is None else hits[asks]


def agrees(crossed, hits, alone):
    assert crossed.value == pytest.approx(hits.mean())
    wanted = paired_bootstrap(alone, hits)
    assert (crossed.change.mean, crossed.change.low, crossed.change.high) == pytest.approx(
        (wanted.mean, wanted.low, wanted.high)
    )


def rotated_copy(table, seed, noise=0.05):
    """The same embedding in other axes, and a little noise."""
    rng = np.random.default_rng(seed)
    turned = table.astype(np.float64) @ np.linalg.qr(rng.normal(size=(table.shape[1],) * 2))[0]
    return (turned + noise * rng.normal(size=table.shape)).astype(np.float32)


@pytest.mark.parametrize("asks", [None, ASKS])
@pytest.mark.parametrize("distance", ["cosine", "l2"])
def test_every_two_runs_are_searched_as_they_are_and_rotated(workspace, distance, asks):
    first = blobs_of(0, 6, labels=MANY)
    tables = [first, rotated_copy(first, 1), blobs_of(2, 4, labels=MANY)]
    for loss, table in zip(("ce", "triplet", "margin"), tables, strict=True):
        store_searched(workspace, table, loss=loss, distance=distance, labels=MANY, asks=asks)
    result = replacing(workspace, compared(workspace))
    assert [(pair.old, pair.new) for pair in result.pairs] == [(1, 2), (1, 3), (2, 1), (2, 3), (3, 1), (3, 2)]
    rows = [unit_rows(table) if distance == "cosine" else table.astype(np.float64) for table in tables]
    alone = [plain_search(table, MANY, distance, asks)[0] for table in rows]
    for pair in result.pairs:
        old, new = rows[pair.old - 1], rows[pair.new - 1]
        assert (pair.old_alone, pair.new_alone) == (
            pytest.approx(alone[pair.old - 1].mean()), pytest.approx(alone[pair.new - 1].mean())
        )  # fmt: skip
        agrees(pair.rotated, plain_rotated(new, old, MANY, distance, asks), alone[pair.old - 1])
        if 3 in (pair.old, pair.new):
            assert pair.as_they_are is None, "the embedding sizes differ"
        else:
            agrees(pair.as_they_are, plain_hits(new, old, MANY, distance, asks), alone[pair.old - 1])
    count = len(MANY) if asks is None else int(asks.sum())
    assert (result.queries, result.sets) == (((count, count),), ((1, 2, 3),))
    gallery = len(MANY) - 1 if asks is None else int((~asks).sum())
    assert result.chance == (pytest.approx((7 if asks is None else 6) / gallery),)


def test_a_rotated_copy_is_found_again_by_the_rotation_alone(workspace):
    first = blobs_of(0, 6, labels=MANY, spread=0.3)
    store_searched(workspace, first, loss="ce", labels=MANY)
    store_searched(workspace, rotated_copy(first, 3, 0.0), loss="triplet", labels=MANY)
    result = replacing(workspace, compared(workspace))
    pair = of(result, 1, 2)
    assert pair.rotated.value == pytest.approx(pair.old_alone)
    assert (pair.rotated.above_chance, pair.as_they_are.above_chance) == (True, False)
    notes = " ".join(replacing_notes(result))
    assert "zero: rotated 1 → 2, 2 → 1." in notes
    assert "No better than chance (11.1%), judged over classes: as they are 1 → 2, 2 → 1." in notes


def test_another_order_of_the_runs_and_of_their_images_changes_no_value(workspace):
    tables = [blobs_of(0, labels=MANY), blobs_of(1, labels=MANY)]
    store_searched(workspace, tables[0], loss="ce", labels=MANY)
    store_searched(workspace, tables[1], loss="triplet", labels=MANY, order=np.random.default_rng(3).permutation(64))
    for runs in ((1, 2), (2, 1)):
        pair = of(replacing(workspace, compared(workspace, *runs)), 1, 2)
        alone = plain_search(tables[0], MANY, "cosine")[0]
        agrees(pair.as_they_are, plain_hits(tables[1], tables[0], MANY, "cosine"), alone)
        agrees(pair.rotated, plain_rotated(unit_rows(tables[1]), unit_rows(tables[0]), MANY, "cosine"), alone)


def test_of_many_queries_some_are_drawn_the_same_for_all_numbers(workspace, monkeypatch):
    monkeypatch.setattr(crossing, "MOST_QUERIES", 20)
    for seed, loss in enumerate(("ce", "triplet")):
        store_searched(workspace, blobs_of(seed, labels=MANY), loss=loss, labels=MANY)
    result = replacing(workspace, compared(workspace))
    drawn = np.sort(np.random.default_rng(0).choice(64, 20, replace=False))
    first, second = (blobs_of(seed, labels=MANY) for seed in (0, 1))
    pair = of(result, 1, 2)
    assert pair.old_alone == pytest.approx(plain_search(first, MANY, "cosine")[0][drawn].mean())
    assert pair.as_they_are.value == pytest.approx(plain_hits(second, first, MANY, "cosine")[drawn].mean())
    assert result.queries == ((20, 64),)
    assert "20 of 64 queries" in replacing_notes(result)[0]


def test_a_rotation_of_many_images_is_fitted_on_some(workspace, monkeypatch):
    first = blobs_of(0, 3, labels=MANY, spread=0.2)
    store_searched(workspace, first, loss="ce", labels=MANY)
    store_searched(workspace, rotated_copy(first, 3, 0.0), loss="triplet", labels=MANY)
    monkeypatch.setattr(crossing, "MOST_FITTED", 9)
    assert of(replacing(workspace, compared(workspace)), 1, 2).rotated.value == pytest.approx(
        plain_search(first, MANY, "cosine")[0].mean()
    )


def test_runs_by_another_distance_or_of_other_images_are_not_mixed(workspace):
    store_searched(workspace, blobs_of(0), loss="ce")
    store_searched(workspace, blobs_of(1), loss="triplet", distance="l2")
    store_searched(workspace, blobs_of(2), loss="margin")
    store_searched(workspace, blobs_of(3), loss="ice", name="Others")
    result = replacing(workspace, compared(workspace))
    assert [(pair.old, pair.new) for pair in result.pairs] == [(1, 3), (3, 1)]
    notes = replacing_notes(result)
    assert "Left out: run 4 (no other run here was tested on the same images)." in notes
    assert (
        "Not searched in each other's gallery, as they are searched by different distances: runs 1, 3 and run 2."
        in (notes)
    )
    with pytest.raises(Problem, match="No two of these runs searched the same images by the same distance"):
        replacing(workspace, compared(workspace, 1, 2))


def test_one_class_has_no_other_half_to_fit_on(workspace):
    labels = np.zeros(12, np.int64)
    for seed, loss in enumerate(("ce", "triplet")):
        store_searched(workspace, blobs_of(seed, labels=labels), loss=loss, labels=labels)
    pair = of(replacing(workspace, compared(workspace)), 1, 2)
    assert (pair.rotated, pair.as_they_are.value, pair.as_they_are.above_chance) == (None, 1.0, False)


def test_what_would_not_fit_into_memory_is_not_searched(workspace, monkeypatch):
    for seed, loss in enumerate(("ce", "triplet")):
        store_searched(workspace, blobs_of(seed), loss=loss)
    monkeypatch.setattr(alike, "available", lambda: 1000)
    result = replacing(workspace, compared(workspace))
    assert (of(result, 1, 2).as_they_are, of(result, 1, 2).rotated) == (None, None)
    assert "too little free memory: 1 → 2, 2 → 1." in " ".join(replacing_notes(result))
    assert replacing_rows(result)[0][3:] == ["–"] * 4


def test_a_run_whose_file_is_damaged_is_left_out_and_minutes_can_be_refused(workspace):
    for seed, loss in enumerate(("ce", "triplet", "margin")):
        store_searched(workspace, blobs_of(seed), loss=loss)
    with pytest.raises(Problem, match="takes minutes"):
        replacing(workspace, compared(workspace), most=1e3)
    path = workspace.file(2, "embeddings-1.npy")
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    result = replacing(workspace, compared(workspace))
    assert [(pair.old, pair.new) for pair in result.pairs] == [(1, 3), (3, 1)]
    assert replacing_notes(result)[-1].startswith(f"Run 2 is left out. The file {path} is damaged")


def test_a_new_run_with_a_number_that_is_none_is_left_out(workspace):
    for seed, (loss, width) in enumerate((("ce", 6), ("triplet", 5), ("margin", 4))):
        store_searched(workspace, blobs_of(seed, width), loss=loss)
    spoil_embeddings(workspace, 2, np.nan)
    result = replacing(workspace, compared(workspace))
    assert [(pair.old, pair.new) for pair in result.pairs] == [(1, 3), (3, 1)]
    assert "Left out: run 2 (some of its embeddings are NaN or infinite)." in replacing_notes(result)


def test_a_run_with_stored_queries_that_are_not_those_of_its_embeddings_is_left_out(workspace):
    for seed, loss in enumerate(("ce", "triplet", "margin")):
        store_searched(workspace, blobs_of(seed), loss=loss)
    with workspace.writing() as db:  # so many queries are those of an official list, and this data set has none
        db.execute("update evaluations set metrics = json_set(metrics, '$.queries', 5) where run_id = 2")
    result = replacing(workspace, compared(workspace))
    assert result.sets == ((1, 3),)
    assert result.unread == ((2, "The queries that are stored of run 2 are not those of its embeddings."),)


def test_its_progress_rises_and_a_cancel_is_heard(workspace):
    for seed, loss in enumerate(("ce", "triplet")):
        store_searched(workspace, blobs_of(seed), loss=loss)
    shares = []

    def progress(text, done, total):
        if text.startswith("Queries"):
            shares.append(done / total)

    replacing(workspace, compared(workspace), progress)
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0, 1)

    def cancel(text, done, total):
        if text == "Queries of run 1 in the gallery of run 2":
            raise Cancelled

    with pytest.raises(Cancelled):
        replacing(workspace, compared(workspace), cancel)


def test_the_command_prints_a_row_for_each_two_runs_and_the_same_as_json(workspace, capsys):
    for seed, (loss, width) in enumerate((("ce", 6), ("triplet", 5), ("margin", 6))):
        store_searched(workspace, blobs_of(seed, width), loss=loss)
    asked = ["compare", "1", "2", "3", "--replace", "--workspace", str(workspace.path)]
    assert cli.main(asked) == 0
    lines = capsys.readouterr().out.partition("## One run in place of another")[2].splitlines()
    assert lines[2].startswith("| old → new | old R@1 % | new R@1 % | as they are % | change [95%], points | rotated %")
    assert lines[4].startswith("| 1 → 2 | ")
    assert "so that they can only be compared rotated: 1 → 2, 2 → 1, 2 → 3, 3 → 2." in "\n".join(lines)
    assert cli.main([*asked, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)["replaced"]
    result = replacing(workspace, compared(workspace))
    wanted, pair = of(result, 1, 3), printed["pairs"][1]
    assert pair == {
        "old_run": 1, "new_run": 3, "old_group": result.titles[1], "new_group": result.titles[3],
        "old_recall@1": wanted.old_alone, "new_recall@1": wanted.new_alone,
        **{
            kind: {"recall@1": crossed.value, "change": crossed.change.mean, "low_95": crossed.change.low,
                   "high_95": crossed.change.high, "above_chance": crossed.above_chance}
            for kind, crossed in (("as_they_are", wanted.as_they_are), ("rotated", wanted.rotated))
        },
    }  # fmt: skip
    assert printed["pairs"][0]["as_they_are"] is None
    assert printed["sets"] == [{"runs": [1, 2, 3], "queries": 48, "searched": 48, "chance": result.chance[0]}]
    head, *rows = csv.reader(csv_text(*replacing_columns(result)).splitlines())
    assert dict(zip(head, rows[1], strict=True))["rotated_change_low_95"] == str(wanted.rotated.change.low)
    assert {len(row) for row in (*replacing_rows(result), HEAD)} == {7}
    assert cli.main(["compare", "3", "--replace", "--workspace", str(workspace.path)]) == 0
    assert "no two runs here" in capsys.readouterr().out


def test_what_a_neighbour_drawn_at_random_would_find_is_no_better_than_chance(workspace):
    labels = np.repeat(np.arange(4), 40)
    for seed, loss in enumerate(("ce", "triplet")):
        noise = np.random.default_rng(seed).normal(size=(160, 6)).astype(np.float32)
        store_searched(workspace, noise, loss=loss, labels=labels)
    pair = of(replacing(workspace, compared(workspace)), 1, 2)
    assert pair.as_they_are.value > 0.2, "chance is a quarter"
    assert (pair.as_they_are.above_chance, pair.rotated.above_chance) == (False, False)
