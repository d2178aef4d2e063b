"""What runs find together: against a plain search by the definition, in a real workspace."""

import csv
import json

import numpy as np
import pytest

from tests.unit.comparing.searched_runs import (
    LABELS,
    blobs_of,
    compared,
    plain_search,
    spoil_embeddings,
    store_searched,
    unit_rows,
)
from workbench import cli
from workbench.comparing.overview import overview
from workbench.comparing.queries import searched_alike as alike
from workbench.comparing.queries.replacing import replacing
from workbench.comparing.queries.together import METRICS, together
from workbench.comparing.statistics.intervals import paired_bootstrap
from workbench.comparing.together_text import HEAD, together_columns, together_notes, together_rows
from workbench.control import Cancelled
from workbench.entries import catalog
from workbench.files.spreadsheet import csv_text
from workbench.problem import Problem


def of(result, *runs):
    return next(ensemble for ensemble in result.ensembles if set(ensemble.runs) == set(runs))


def agrees(ensemble, tables, distance, labels=LABELS, asks=None):
    """Values and gains are those of the tables side by side and of the better table alone."""
    hits, precision = plain_search(np.hstack(tables), labels, distance, asks)
    assert ensemble.values["recall@1"] == pytest.approx(hits.mean())
    assert ensemble.values["MAP@R"] == pytest.approx(precision.mean(), abs=1e-6)
    for metric, both, column in zip(METRICS, (hits, precision), (0, 1), strict=True):
        alone = [plain_search(part, labels, distance, asks)[column] for part in tables]
        best = max(range(len(tables)), key=lambda place, alone=alone: alone[place].mean())
        assert ensemble.better[metric] == ensemble.runs[best]
        wanted, gain = paired_bootstrap(alone[best], both), ensemble.gains[metric]
        assert (gain.mean, gain.low, gain.high) == pytest.approx((wanted.mean, wanted.low, wanted.high), abs=1e-6)
        assert gain.n == len(hits)


def test_runs_searched_by_cosine_are_normalised_and_searched_side_by_side(workspace):
    tables = [blobs_of(seed, width, scale) for seed, width, scale in ((0, 6, 1), (1, 4, 30), (2, 5, 0.1))]
    for loss, table in zip(("ce", "triplet", "margin"), tables, strict=True):
        store_searched(workspace, table, loss=loss)
    result = together(workspace, compared(workspace))
    assert [ensemble.runs for ensemble in result.ensembles] == [
        (1,), (2,), (3,), (1, 2), (1, 3), (2, 3), (1, 2, 3)
    ]  # fmt: skip
    assert [ensemble.dim for ensemble in result.ensembles] == [6, 4, 5, 10, 11, 9, 15]
    assert of(result, 1, 2, 3).bytes_per_image == 60
    unit = [unit_rows(table) for table in tables]
    for place, table in enumerate(unit, start=1):
        hits, precision = plain_search(table, LABELS, "cosine")
        assert of(result, place).values == pytest.approx({"recall@1": hits.mean(), "MAP@R": precision.mean()})
    for runs in ((1, 2), (1, 3), (2, 3), (1, 2, 3)):
        agrees(of(result, *runs), [unit[run - 1] for run in runs], "cosine")
    assert (result.sets, result.queries, result.scaled, result.left_out) == (((1, 2, 3),), (len(LABELS),), (), ())


def test_another_order_of_the_runs_changes_no_value(workspace):
    for seed, loss in enumerate(("ce", "triplet", "margin")):
        store_searched(workspace, blobs_of(seed), loss=loss)
    first, second = (together(workspace, compared(workspace, *runs)) for runs in ((1, 2, 3), (3, 2, 1)))
    for ensemble in first.ensembles:
        other = of(second, *ensemble.runs)
        assert (other.values, other.gains, other.better) == (
            pytest.approx(ensemble.values), ensemble.gains, ensemble.better
        )  # fmt: skip


def test_images_that_were_stored_in_another_order_are_matched_by_their_ids(workspace):
    tables, order = [blobs_of(0), blobs_of(1)], np.random.default_rng(5).permutation(len(LABELS))
    store_searched(workspace, tables[0], loss="ce")
    store_searched(workspace, tables[1], loss="triplet", order=order)
    agrees(of(together(workspace, compared(workspace)), 1, 2), [unit_rows(table) for table in tables], "cosine")


def spread_of(rows):
    return np.sqrt(np.square(rows - rows.mean(0)).sum(1).mean())


@pytest.mark.parametrize("distances", [("l2", "l2"), ("l2", "cosine")])
def test_a_run_searched_by_euclidean_distance_is_divided_by_its_spread(workspace, distances):
    tables = [blobs_of(0, scale=40), blobs_of(1)]
    for loss, table, distance in zip(("ce", "triplet"), tables, distances, strict=True):
        store_searched(workspace, table, loss=loss, distance=distance)
    rows = [
        unit_rows(table) if distance == "cosine" else table.astype(np.float64)
        for table, distance in zip(tables, distances, strict=True)
    ]
    result = together(workspace, compared(workspace))
    agrees(of(result, 1, 2), [part / spread_of(part) for part in rows], "l2")
    assert result.scaled == ((1, 2) if distances[1] == "l2" else (1,))


def test_with_a_gallery_only_its_queries_are_scored_and_only_it_is_searched(workspace):
    asks = np.arange(len(LABELS)) % 4 == 0
    tables = [blobs_of(0), blobs_of(1)]
    for loss, table in zip(("ce", "triplet"), tables, strict=True):
        store_searched(workspace, table, loss=loss, asks=asks)
    result = together(workspace, compared(workspace))
    agrees(of(result, 1, 2), [unit_rows(table) for table in tables], "cosine", asks=asks)
    assert result.queries == (int(asks.sum()),)


def test_runs_of_other_images_form_sets_of_their_own_and_one_alone_is_named(workspace):
    few = LABELS[:-8]
    for number, (loss, labels, name) in enumerate(
        (("ce", LABELS, "A"), ("triplet", LABELS, "A"), ("ce", few, "B"), ("triplet", few, "B"), ("ice", LABELS, "C"))
    ):
        store_searched(workspace, blobs_of(number, labels=labels), loss=loss, labels=labels, name=name)
    result = together(workspace, compared(workspace))
    assert result.sets == ((1, 2), (3, 4))
    assert result.left_out == ((alike.ALONE, (5,)),)
    agrees(of(result, 3, 4), [unit_rows(blobs_of(seed, labels=few)) for seed in (2, 3)], "cosine", few)
    with pytest.raises(Problem, match="There are no two runs here that kept embeddings of the same test images"):
        together(workspace, compared(workspace, 1, 3, 5))


def test_runs_by_hyperbolic_distance_and_more_than_six_are_left_out(workspace):
    for seed in range(8):
        store_searched(workspace, blobs_of(seed), loss="ce", seed=seed)
    store_searched(workspace, 0.01 * blobs_of(9), loss="hyperbolic", distance="hyperbolic")
    result = together(workspace, compared(workspace))
    assert result.sets == ((1, 2, 3, 4, 5, 6),)
    assert dict(result.left_out) == {alike.HYPERBOLIC: (9,), alike.TOO_MANY: (7, 8)}


def test_runs_without_two_images_of_a_class_are_left_out(workspace):
    for seed, loss in enumerate(("ce", "triplet")):
        store_searched(workspace, blobs_of(seed), loss=loss)
    store_searched(workspace, blobs_of(2, labels=np.arange(9)), loss="ice", labels=np.arange(9), name="Alone")
    shown = overview(workspace, workspace.runs(), catalog.current(), "queries", "last")
    assert together(workspace, shown).left_out == ((alike.NO_QUERIES, (3,)),)
    assert replacing(workspace, shown).left_out == ((alike.NO_QUERIES, (3,)),)


def test_only_queries_with_another_image_of_their_class_are_counted(workspace):
    labels = np.concatenate([LABELS, [4, 5]])  # the last two classes have one image each
    for seed, loss in enumerate(("ce", "triplet")):
        store_searched(workspace, blobs_of(seed, labels=labels), loss=loss, labels=labels)
    result = together(workspace, compared(workspace))
    assert result.queries == (len(LABELS),)
    assert together_notes(result)[0] == "Both runs were tested with the same 48 queries."


def test_a_run_whose_embeddings_are_not_all_numbers_is_left_out(workspace):
    for seed, loss in enumerate(("ce", "triplet", "margin")):
        store_searched(workspace, blobs_of(seed), loss=loss)
    spoil_embeddings(workspace, 2, np.inf)
    result = together(workspace, compared(workspace))
    assert (result.sets, result.left_out) == (((1, 3),), ((alike.NOT_FINITE, (2,)),))


def test_very_short_embeddings_count_as_much_as_long_ones(workspace):
    tables = [blobs_of(0, scale=1e-20), blobs_of(1)]
    for loss, table in zip(("ce", "triplet"), tables, strict=True):
        store_searched(workspace, table, loss=loss)
    agrees(of(together(workspace, compared(workspace)), 1, 2), [unit_rows(table) for table in tables], "cosine")


def test_the_first_run_of_each_group_comes_before_the_second_ones(workspace, monkeypatch):
    monkeypatch.setattr(alike, "MOST_RUNS", 3)
    for loss, seed in (("ce", 0), ("ce", 1), ("triplet", 0)):
        store_searched(workspace, blobs_of(seed), loss=loss, seed=seed)
    assert together(workspace, compared(workspace)).sets == ((1, 3, 2),)


def test_what_would_not_fit_into_memory_is_not_searched(workspace, monkeypatch):
    monkeypatch.setattr(alike, "available", lambda: 6 * 8 * 12 * len(LABELS))
    for seed, loss in enumerate(("ce", "triplet", "margin")):
        store_searched(workspace, blobs_of(seed), loss=loss)
    result = together(workspace, compared(workspace))
    assert (of(result, 1, 2, 3).values, of(result, 1, 2, 3).dim) == ({}, 18)
    assert of(result, 1, 2).values
    assert [len(pairs) for pairs in result.pairs()] == [3]
    assert "Not searched, as that needs more memory than is free: 1 + 2 + 3 (all)." in " ".join(together_notes(result))


def damage(path):
    """Change one bit of a file."""
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def test_a_run_whose_file_is_damaged_is_left_out_and_named_and_the_rest_is_searched(workspace):
    for seed, loss in enumerate(("ce", "triplet", "margin")):
        store_searched(workspace, blobs_of(seed), loss=loss)
    damage(path := workspace.file(2, "embeddings-1.npy"))
    result = together(workspace, compared(workspace))
    assert (result.sets, result.left_out) == (((1, 3),), ())
    assert together_notes(result)[-1].startswith(f"Run 2 is left out. The file {path} is damaged: it is not what was")
    damage(workspace.file(3, "ranking-1.npz"))
    with pytest.raises(Problem, match=r"can be read\. Run 2 is left out\. .* Run 3 is left out\. .*ranking-1\.npz is"):
        together(workspace, compared(workspace))


def test_a_run_whose_stored_queries_cannot_be_read_is_left_out(workspace):
    for seed, loss in enumerate(("ce", "triplet", "margin")):
        store_searched(workspace, blobs_of(seed), loss=loss)
    with workspace.writing() as db:
        db.execute("update queries set ap = 7 where evaluation_id in (select id from evaluations where run_id = 3)")
    result = together(workspace, compared(workspace))
    assert result.sets == ((1, 2),)
    assert "Run 3 is left out. " in together_notes(result)[-1]


def test_of_many_damaged_runs_three_are_said_and_the_others_named(workspace):
    for seed in range(7):
        store_searched(workspace, blobs_of(seed), loss="ce", seed=seed)
    for run in range(3, 8):
        workspace.file(run, "embeddings-1.npy").unlink()
    result = together(workspace, compared(workspace))
    assert [run for run, _ in result.unread] == [3, 4, 5, 6, 7]
    assert together_notes(result)[-1].endswith(" What was stored of runs 6, 7 cannot be read either.")
    assert together_notes(result)[-1].count("is left out") == 3


@pytest.mark.parametrize("asks", [None, np.arange(len(LABELS)) % 4 == 0])
@pytest.mark.parametrize("word", ["Run 2", "Runs 1 and 2 together", "All 3 runs together"])
def test_a_cancel_is_heard_at_every_stage(workspace, word, asks):
    for seed, loss in enumerate(("ce", "triplet", "margin")):
        store_searched(workspace, blobs_of(seed), loss=loss, asks=asks)

    def progress(text, done, total):
        assert done <= total
        if text == word:
            raise Cancelled

    with pytest.raises(Cancelled):
        together(workspace, compared(workspace), progress)


def test_the_best_pair_is_named_with_its_cost_and_that_it_was_chosen_on_the_shown_half(workspace):
    for seed, loss in enumerate(("ce", "triplet", "margin")):
        noise = np.random.default_rng(10 + seed).normal(size=(len(LABELS), 6))  # of each run, around the same centres
        store_searched(workspace, blobs_of(0, spread=0.1) + noise.astype(np.float32), loss=loss)
    result = together(workspace, compared(workspace))
    rows = together_rows(result)
    assert [row[0] for row in rows[3:]] == ["1 + 2", "1 + 3", "2 + 3", "1 + 2 + 3 (all)"]
    assert rows[0][0].startswith("1 ")
    assert (rows[0][2], rows[0][4], rows[3][-2:]) == ("–", "–", ["12", "48"])
    gain = of(result, 1, 2).gains["MAP@R"]
    assert rows[3][4] == f"{100 * gain.mean:+.2f} [{100 * gain.low:+.2f}, {100 * gain.high:+.2f}]".replace("-", "−")
    assert {len(row) for row in rows} == {len(HEAD)}
    best = max(result.pairs()[0], key=lambda pair: pair.values["MAP@R"])
    (sentence,) = [note for note in together_notes(result) if "the best pair by MAP@R" in note]
    assert sentence.startswith(f"Runs {best.runs[0]}, {best.runs[1]}, the best pair")
    assert f"{100 * best.gains['MAP@R'].mean:.2f} points more than run {best.better['MAP@R']} alone" in sentence
    assert "48 bytes per image instead of 24" in sentence
    assert "chosen among 3 pairs on the test set that is shown, so its value is optimistic" in sentence
    assert "All 3 runs were tested with the same 48 queries." in together_notes(result)


def test_an_equal_run_beside_it_gains_nothing_and_one_pair_was_not_chosen(workspace):
    for loss in ("ce", "triplet"):
        store_searched(workspace, blobs_of(0), loss=loss)
    (sentence,) = [note for note in together_notes(together(workspace, compared(workspace))) if "pair by" in note]
    assert "That is not clearly different from run 1 alone" in sentence
    assert "the only pair" in sentence
    assert "optimistic" not in sentence


def test_the_command_prints_a_row_for_each_ensemble_and_the_same_as_json(workspace, capsys):
    for seed, loss in enumerate(("ce", "triplet")):
        store_searched(workspace, blobs_of(seed), loss=loss, distance="l2")
    store_searched(workspace, blobs_of(2), loss="ice", name="Others")
    asked = ["compare", "1", "2", "3", "--together", "--workspace", str(workspace.path)]
    assert cli.main(asked) == 0
    lines = capsys.readouterr().out.partition("## Runs together")[2].splitlines()
    assert lines[2].startswith("| embedding | R@1 % ↑ | gain [95%], points | MAP@R % ↑ | gain")
    assert [line.split(" | ")[0] for line in lines[4:7]][2] == "| 1 + 2"
    assert "- Left out: run 3 (no other run here was tested on the same images)." in lines
    assert "Runs 1, 2 are searched by Euclidean distance" in "\n".join(lines)
    assert cli.main([*asked, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)["together"]
    pair, wanted = printed["ensembles"][2], of(together(workspace, compared(workspace)), 1, 2)
    assert pair["metrics"]["MAP@R"] == {
        "value": wanted.values["MAP@R"], "better_run": wanted.better["MAP@R"], "gain": wanted.gains["MAP@R"].mean,
        "low_95": wanted.gains["MAP@R"].low, "high_95": wanted.gains["MAP@R"].high,
    }  # fmt: skip
    assert (pair["embedding_size"], pair["bytes_per_image"], printed["scaled_runs"]) == (12, 48, [1, 2])
    head, *rows = list(csv.reader(csv_text(*together_columns(together(workspace, compared(workspace)))).splitlines()))
    assert dict(zip(head, rows[2], strict=True)) | {"groups": ""} == {
        "runs": "1 2", "groups": "", "embedding_size": "12", "bytes_per_image": "48",
        **{f"{metric}{part}": str(pair["metrics"][metric][name]) for metric in METRICS
           for part, name in (("", "value"), ("_better_run", "better_run"), ("_gain", "gain"),
                              ("_gain_low_95", "low_95"), ("_gain_high_95", "high_95"))},
    }  # fmt: skip
    assert rows[0][5:9] == [""] * 4
    assert cli.main(["compare", "3", "--together", "--workspace", str(workspace.path)]) == 0
    assert "no two runs here" in capsys.readouterr().out


def test_the_command_names_a_damaged_run_below_each_table_and_shows_the_rest(workspace, capsys):
    for seed, loss in enumerate(("ce", "triplet", "margin")):
        store_searched(workspace, blobs_of(seed), loss=loss)
    damage(path := workspace.file(2, "embeddings-1.npy"))
    arguments = ["compare", "1", "2", "3", "--similarity", "--together", "--replace"]
    arguments += ["--at", "last", "--workspace", str(workspace.path)]
    assert cli.main(arguments) == 0
    printed = capsys.readouterr().out
    assert printed.count(f"- Run 2 is left out. The file {path} is damaged") == 3
    assert "| 1 + 3 |" in printed
    assert "| 1 → 3 |" in printed
    assert cli.main([*arguments, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    for name, rows in (("similarity", "pairs"), ("together", "ensembles"), ("replaced", "pairs")):
        assert [left_out["run"] for left_out in data[name]["unread_runs"]] == [2]
        assert data[name][rows]
