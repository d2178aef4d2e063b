"""The tiles at the top of a report: which numbers they hold, and that HTML and pages show them."""

import numpy as np
import pytest

from tests.ui.small_run import store_run
from tests.unit.comparing.compared_runs import store
from workbench.comparing.overview import overview
from workbench.config import Choice, RunConfig, TrainingParams
from workbench.progress import quiet
from workbench.reports import wish_of
from workbench.reports.document import make
from workbench.reports.formats import html
from workbench.reports.formats.typesetting import typeset
from workbench.reports.writing.blocks import Document, Section, Tile, said
from workbench.reports.writing.headline import tiles_of_groups
from workbench.workspace import Workspace

LABELS = np.repeat(np.arange(4), 8)


@pytest.fixture
def workspace(tmp_path):
    with Workspace(tmp_path / "w", create=True) as opened:
        store_run(opened, LABELS)
        yield opened


def test_a_run_has_its_scores_queries_epochs_and_a_report_without_summary_has_none(workspace):
    made = make(workspace, wish_of(1, ("summary", "metrics")), quiet)
    tiles = {tile.title: tile.value for tile in made.document.tiles}
    assert tiles["Best MAP@R"] == "12.0%"
    assert tiles["R@1"].endswith("%")
    assert tiles["Epochs"].startswith(f"{workspace.run(1).epoch} of ")
    page = html.page(made.document)
    assert page.index('class="tiles"') < page.index('id="summary"')
    assert "12.0%" in page
    assert make(workspace, wish_of(1, ("metrics",)), quiet).document.tiles == ()


def test_groups_have_their_best_one_with_its_lead(workspace):
    made = make(workspace, wish_of((1,), ("groups",)), quiet)
    titles = [tile.title for tile in made.document.tiles]
    assert titles[:2] == ["Best of 1 group", "MAP@R"]
    assert "Lead" not in titles
    assert made.document.tiles[1].value == "12.00%"


def test_groups_on_different_images_are_not_ranked(workspace):
    store_run(workspace, LABELS[:24], name="Other")
    titles = [tile.title for tile in make(workspace, wish_of((1, 2), ("groups",)), quiet).document.tiles]
    assert titles == ["Groups", "Runs"]


def test_the_pages_hold_the_tiles_whatever_is_in_them():
    evil = '#panic("x") & <b> \\ "'
    tiles = (Tile("MAP@R", "97.2%", "epoch 8"), Tile(evil, evil * 9, evil), Tile("Time", "1 min"))
    document = Document("t", "s", (Section("notes", "Notes", (said("words"),)),), tiles=tiles)
    with typeset(document) as report:
        assert report.pages == 1
        assert report.pdf().startswith(b"%PDF-")
    assert "<b>" not in html.page(document).split('class="tiles"')[1].split("</dl>")[0]


def test_a_run_that_has_not_read_its_data_is_no_other_data_set(workspace):
    workspace.create_run(RunConfig.recorded(workspace.run(1).config).model_copy(update={"seed": 7}))
    made = make(workspace, wish_of((1, 2), ("groups",)), quiet)
    assert made.document.tiles[0].title == "Best of 1 group"


def test_a_group_that_ended_early_is_not_ranked_with_those_that_trained_to_their_end(tmp_path):
    with Workspace(tmp_path / "groups", create=True) as space:
        for name, score, status in (("A", 0.4, "done"), ("B", 0.5, "done"), ("C", 0.9, "stopped")):
            rate = TrainingParams(lr=score)
            store(space, {1: np.full(6, score)}, name=name, status=status, training=rate)
        at_best, at_first = (overview(space, space.runs(), {}, "MAP@R", at) for at in ("best", 1))
        titles = [(tiles_of_groups(shown)[0].title, tiles_of_groups(shown)[1].value) for shown in (at_best, at_first)]
    assert titles == [("Highest of 2 groups", "50.00%"), ("Highest of 3 groups", "90.00%")]


def test_the_highest_group_is_not_called_the_best_where_more_is_not_better(workspace):
    with workspace.writing() as db:
        db.execute("update evaluations set metrics = json_set(metrics, '$.hubness/skew', 3.0)")
    made = make(workspace, wish_of((1,), ("groups",), metric="hubness/skew"), quiet)
    assert made.document.tiles[0].title == "Highest of 1 group"
    assert not any("best" in tile.note for tile in made.document.tiles if tile.title == "Time of a run")


@pytest.mark.parametrize(
    ("seeds", "tile"),
    [
        ((0, 1), Tile("Lead", "+20.00", "over")),
        ((1,), Tile("Difference", "-10.00", "from")),  # the mean of both seeds is better, the common seed is not
        ((2,), Tile("Lead", "+15.00", "over")),
    ],
    ids=["the same seeds", "one in common", "none in common"],
)
def test_the_lead_is_the_difference_that_the_table_shows(tmp_path, seeds, tile):
    others = {0: 0.6, 1: 0.3, 2: 0.5} if len(seeds) > 1 else {1: 0.5, 2: 0.5}
    with Workspace(tmp_path / "leads", create=True) as opened:
        for seed, score in ((0, 0.9), (1, 0.4)):
            store(opened, {1: np.full(4, score)}, seed=seed, name="A")
        for seed in seeds:
            store(opened, {1: np.full(4, others[seed])}, seed=seed, name="B", training=TrainingParams(lr=0.5))
        tiles = tiles_of_groups(overview(opened, opened.runs(), {}, "MAP@R", "best"))
    (shown,) = (shown for shown in tiles if shown.title in ("Lead", "Difference"))
    assert (shown.title, shown.value.replace("−", "-")) == (tile.title, tile.value)
    assert shown.note.startswith(f"points {tile.note} ")


@pytest.mark.parametrize(
    ("scores", "title", "ending"),
    [
        ((0.50, 0.60, 0.55), "Best of 2 groups", "points over A"),
        ((0.50, 0.60, 0.20), "Highest of 2 groups", "points over A, no winner"),
        ((0.50, 0.60), "Highest of 2 groups", "points over A, no winner"),
    ],
    ids=["above zero", "contains zero", "too few seeds"],
)
def test_a_group_is_called_the_best_only_where_its_lead_is_above_zero(tmp_path, scores, title, ending):
    with Workspace(tmp_path / "leads", create=True) as opened:
        for seed, score in enumerate(scores):
            store(opened, {1: np.full(4, 0.1 + 0.01 * seed)}, seed=seed, name="A")
            store(opened, {1: np.full(4, score)}, seed=seed, name="B", training=TrainingParams(lr=0.5))
        tiles = tiles_of_groups(overview(opened, opened.runs(), {}, "MAP@R", "best"))
    assert (tiles[0].title, tiles[0].value, tiles[2].note) == (title, "B", ending)


def of_three(folder, third):
    """The tiles of three groups, of which the second leads the first by about two points in each seed."""
    with Workspace(folder / "leads", create=True) as opened:
        for seed, scores in enumerate(zip((0.50, 0.51, 0.52), (0.520, 0.5315, 0.545), third, strict=True)):
            for place, score in enumerate(scores):
                training = TrainingParams(lr=0.1 * (place + 1))
                store(opened, {1: np.full(4, score)}, seed=seed, name="ABC"[place], training=training)
        return tiles_of_groups(overview(opened, opened.runs(), {}, "MAP@R", "best"))


@pytest.mark.parametrize(
    ("third", "title", "note"),
    [
        ((0.40, 0.41, 0.42), "Best of 3 groups", "points over A"),
        ((0.30, 0.55, 0.31), "Highest of 3 groups", "points over A, no winner"),
    ],
    ids=["both are worse", "the last varies, so that it may be better"],
)
def test_the_best_of_several_groups_leads_each_of_them(tmp_path, third, title, note):
    tiles = of_three(tmp_path, third)
    assert (tiles[0].title, tiles[0].value, tiles[2].note) == (title, "B", note)


def test_the_tile_of_groups_calls_a_metric_as_the_tables_do(workspace):
    made = make(workspace, wish_of((1,), ("groups",), metric="recall@1"), quiet)
    assert made.document.tiles[1].title == "R@1"


def test_a_difference_over_one_fold_of_several_is_no_lead(tmp_path):
    """The mean of both folds is better, the common fold is not."""
    with Workspace(tmp_path / "folds", create=True) as opened:
        for lr, fold, score in ((0.1, 1, 0.5), (0.1, 2, 0.9), (0.5, 1, 0.6)):
            split, training = Choice(name="mlrc", params={"fold": fold}), TrainingParams(lr=lr)
            store(opened, {1: np.full(4, score)}, split=split, training=training, name=str(lr))
        tiles = tiles_of_groups(overview(opened, opened.runs(), {}, "MAP@R", "best"))
    (shown,) = (shown for shown in tiles if shown.title in ("Lead", "Difference"))
    assert (shown.title, shown.value.replace("−", "-")) == ("Difference", "-10.00")
    assert shown.note.endswith(", same folds, no winner")
