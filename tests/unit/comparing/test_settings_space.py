"""Heat maps and lines over the settings in which runs differ, against means written out."""

import dataclasses

import numpy as np
import pytest

from tests.unit.comparing.compared_runs import images, store
from workbench.comparing import settings_space
from workbench.comparing.grouping.settings import Difference
from workbench.comparing.measures import BEST
from workbench.comparing.overview import overview
from workbench.comparing.settings_space import FOOT, LOG_FROM, MOST_VALUES, RANGES, fields, heat_map, lines
from workbench.config import Choice, EmbeddingParams, TrainingParams
from workbench.workspace import Workspace

RATES, LOSSES, SEEDS = (0.001, 0.01, 1.0), ("ce", "spce"), (0, 1)


def value(rate, loss, seed):
    """The metric that a run is given."""
    return 0.1 + 0.2 * RATES.index(rate) + 0.05 * LOSSES.index(loss) + 0.01 * seed


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    with Workspace(tmp_path_factory.mktemp("sweep") / "space", create=True) as workspace:
        for rate in RATES:
            for loss in LOSSES:
                for seed in SEEDS:
                    if (rate, loss) != (1.0, "spce"):
                        store(
                            workspace, {1: np.full(6, value(rate, loss, seed))}, seed=seed,
                            training=TrainingParams(lr=rate), loss=Choice(name=loss),
                        )  # fmt: skip
        yield overview(workspace, workspace.runs(), {}, "MAP@R", BEST)


def test_settings_with_numbers_come_first(found):
    assert fields(found) == ["training.lr", "loss.name"]


def test_a_parameter_of_one_part_alone_is_left_out(found):
    margins = [None if each.settings["loss.name"] == "ce" else 0.2 for each in found.groups]
    varied = [None if each.settings["loss.name"] == "ce" else each.settings["training.lr"] * 7 for each in found.groups]
    rows = (*found.differences, Difference("loss.margin", tuple(margins)), Difference("loss.scale", tuple(varied)))
    assert fields(dataclasses.replace(found, differences=rows)) == ["training.lr", "loss.name", "loss.scale"]


def settings_of(found, **values):
    """The fields that are drawn where these differ, `part__name` each with a value for each group."""
    rows = tuple(Difference(name.replace("__", "."), tuple(drawn)) for name, drawn in values.items())
    return fields(dataclasses.replace(found, differences=rows))


def test_each_range_of_random_draws_is_drawn_although_no_value_comes_twice(found):
    """Each value tells the groups apart, as that of every other range does: it was taken for the same setting."""
    rates, decays = (0.1, 0.3, 0.2, 0.5, 0.4), (1e-3, 1e-5, 1e-6, 1e-2, 1e-4)
    assert settings_of(found, training__lr=rates, training__weight_decay=decays) == [
        "training.lr", "training.weight_decay"
    ]  # fmt: skip


def test_numbers_that_rise_or_fall_with_others_or_go_with_a_word_are_left_out(found):
    rates = (0.1, 0.3, 0.2, 0.5, 0.4)
    for alike in ([rate * 7 for rate in rates], [1 / rate for rate in rates]):
        assert settings_of(found, training__lr=rates, loss__scale=alike) == ["training.lr"]
    words, numbers = ("a", "b", "c", "d", "e"), (3, 1, 5, 2, 4)
    assert settings_of(found, loss__name=words, loss__scale=numbers) == ["loss.name"]
    assert settings_of(found, loss__scale=numbers, loss__name=words) == ["loss.scale"]


def test_cells_are_means_over_seeds(found):
    shown = heat_map(found, "training.lr", "loss.name")
    assert (shown.rows, shown.columns) == (("0.001", "0.01", "1"), ("ce", "spce"))
    assert not shown.pooled
    for down, rate in enumerate(RATES):
        for right, loss in enumerate(LOSSES):
            cell = shown.cells.get((down, right))
            if (rate, loss) == (1.0, "spce"):
                assert cell is None
            else:
                assert cell.mean == pytest.approx(np.mean([value(rate, loss, seed) for seed in SEEDS]), abs=1e-6)
                assert (cell.n, cell.groups) == (2, 1)


def test_one_setting_pools_the_others_and_says_so(found):
    shown = heat_map(found, "training.lr", "")
    assert shown.columns == ("",)
    assert shown.pooled
    means = [np.mean([value(rate, loss, seed) for loss in LOSSES for seed in SEEDS]) for rate in RATES[:2]]
    assert [shown.cells[at, 0].mean for at in (0, 1)] == pytest.approx(means, abs=1e-6)
    assert [shown.cells[at, 0].n for at in (0, 1, 2)] == [4, 4, 2]


def test_every_run_is_a_line_over_settings_and_metrics(found):
    shown = lines(found)
    assert len(shown.runs) == len(set(shown.runs)) == 10
    titles = [axis.title for axis in shown.axes]
    assert titles[0] in ("training.lr", "loss.name")
    assert titles[-1] == "MAP@R % ↑"
    rate = shown.axes[titles.index("training.lr")]
    assert {each: round(place, 6) for each, place in zip(rate.words, rate.places, strict=True)} == {
        "0.001": 0.0, "0.01": round(1 / 3, 6), "1": 1.0,
    }  # fmt: skip
    assert [words for _, words in rate.ticks] == ["0.001", "0.01", "1"]
    loss = shown.axes[titles.index("loss.name")]
    assert dict(zip(loss.words, loss.places, strict=True)) == {"ce": 0.25, "spce": 0.75}
    score = shown.axes[-1]
    assert [words for _, words in score.ticks] == ["10.00", "20.25", "30.50", "40.75", "51.00"]
    values = [100 * found.measured[run].value("MAP@R", BEST) for run in shown.runs]
    low, high = min(values), max(values)
    assert score.places == pytest.approx([(each - low) / (high - low) for each in values])


def test_runs_without_a_number_stand_below_the_numbers(found):
    margins = [
        None if each.settings["loss.name"] == "ce" else each.settings["training.lr"] * 7 for each in found.groups
    ]
    rows = (*found.differences, Difference("loss.margin", tuple(margins)))
    shown = lines(dataclasses.replace(found, differences=rows))
    axis = next(each for each in shown.axes if each.title == "loss.margin")
    assert {(words, place) for words, place in zip(axis.words, axis.places, strict=True)} == {
        ("–", 0.0), ("0.007", FOOT), ("0.07", 1.0),
    }  # fmt: skip
    assert axis.ticks == ((0.0, "–"), (FOOT, "0.007"), (1.0, "0.070"))


def test_settings_that_are_written_alike_are_one_row(found):
    rates = {0.001: 0.1234561, 0.01: 0.1234562, 1.0: 0.5}
    values = tuple(rates[each.settings["training.lr"]] for each in found.groups)
    kinds = tuple("none" if value == 0.5 else value for value in values)
    rows = (Difference("training.lr", values), Difference("loss.kind", kinds))
    near = dataclasses.replace(found, differences=rows)
    shown = heat_map(near, "training.lr", "")
    assert shown.rows == ("0.123456", "0.5")
    assert shown.cells[0, 0].n == 8
    assert lines(near).axes[0].words[0] == "0.123456"
    shown = heat_map(near, "loss.kind", "")
    assert shown.rows == ("0.123456", "none")
    assert lines(dataclasses.replace(near, differences=rows[1:])).axes[0].places[0] == 0.25


def test_a_thousand_values_are_written_once_each_not_once_for_each_other(found, monkeypatch):
    """The window draws the map: a million texts were over a second."""
    count, written = 1_000, settings_space.written
    asked = []
    monkeypatch.setattr(settings_space, "written", lambda value: asked.append(value) or written(value))
    values = tuple(f"draw {place}" for place in range(count))  # of numbers there are ranges
    many = dataclasses.replace(
        found,
        summaries=tuple(found.summaries[place % len(found.summaries)] for place in range(count)),
        differences=(Difference("training.lr", values),),
    )
    assert len(heat_map(many, "training.lr", "").cells) == count
    assert len(asked) < 10 * count


@pytest.mark.parametrize(
    ("highest", "titles"),
    [(25.0, ("1 to 3", "3 to 5", "23 to 25")), (4096.0, ("1 to 2", "2 to 4", "2,050 to 4,100"))],
)
def test_many_numbers_are_in_ranges_of_one_width_and_other_values_are_not(found, highest, titles):
    """Hundreds of draws had a row each, of a px or two: neither name nor number was drawn."""
    count = MOST_VALUES + 1
    steps = np.arange(count)
    numbers = (1.0 + steps if highest < LOG_FROM else 2.0 ** (steps / 2)).tolist()
    assert numbers[-1] == highest
    values = (*numbers, None, "auto")
    many = dataclasses.replace(
        found,
        summaries=tuple(found.summaries[place % len(found.summaries)] for place in range(len(values))),
        differences=(Difference("loss.margin", values),),
    )
    shown = heat_map(many, "loss.margin", "")
    assert (*shown.rows[:2], shown.rows[RANGES - 1], *shown.rows[RANGES:]) == (*titles, "auto", "–")
    assert shown.in_ranges == ("loss.margin",)
    assert [shown.cells[at, 0].groups for at in range(RANGES)] == [2] * (RANGES - 1) + [3], "and the highest"
    assert [shown.cells[RANGES + at, 0].groups for at in (0, 1)] == [1, 1]
    few = dataclasses.replace(many, differences=(Difference("loss.margin", (*numbers[:-1], None, *[1.0] * 2)),))
    assert len(heat_map(few, "loss.margin", "").rows) == MOST_VALUES + 1
    assert heat_map(few, "loss.margin", "").in_ranges == ()


def test_groups_that_were_tested_on_other_images_are_left_out_of_the_heat_map(tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        for name, rate, shown in (("A", 0.1, images(6)), ("B", 0.2, images(6)), ("C", 0.1, images(6, "cars"))):
            store(
                workspace, {1: np.full(6, rate + (name == "C") / 2)}, name=name, shown=shown,
                training=TrainingParams(lr=rate), embedding=EmbeddingParams(dim=8 if name == "C" else 4),
            )  # fmt: skip
        compared = overview(workspace, workspace.runs(), {}, "MAP@R", BEST)
    shown = heat_map(compared, "training.lr", "")
    assert [cell.mean for _, cell in sorted(shown.cells.items())] == pytest.approx([0.1, 0.2], abs=1e-6)
    assert (shown.tested_like, shown.left_out, shown.pooled) == ("A", ("C",), False)
    shown = heat_map(compared, "training.lr", "", compared.groups[2])
    assert [cell.mean for cell in shown.cells.values()] == pytest.approx([0.6], abs=1e-6)
    assert (shown.tested_like, shown.left_out) == ("C", ("A", "B"))


def test_runs_that_did_not_train_to_their_end_are_marked_and_in_no_cell(tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        for rate, status in ((0.1, "done"), (0.2, "done"), (0.3, "stopped")):
            run_id = store(
                workspace, {1: np.full(6, rate), 2: np.full(6, rate)}, status=status, training=TrainingParams(lr=rate)
            )
            with workspace.writing() as db:
                db.execute("update runs set epoch = 2, epochs = ? where id = ?", (2 + (status == "stopped"), run_id))
        best, first = (overview(workspace, workspace.runs(), {}, "MAP@R", at) for at in (BEST, 1))
        ended = overview(workspace, workspace.runs()[:1], {}, "MAP@R", BEST)
    stopped = best.groups[2].title
    assert lines(best).unfinished == ("", "", "stopped, epoch 2 of 3")
    shown = heat_map(best, "training.lr", "")
    assert [cell.mean for _, cell in sorted(shown.cells.items())] == pytest.approx([0.1, 0.2], abs=1e-6)
    assert (shown.ended_early, shown.left_out) == ((stopped,), ())
    assert lines(first).unfinished == ("", "", ""), "epoch 1 is epoch 1"
    assert len(heat_map(first, "training.lr", "").cells) == 3
    assert [group.runs[0].status for group in ended.groups] == ["stopped"]
    assert len(heat_map(ended, "training.lr", "").cells) == 1, "there is no other"
