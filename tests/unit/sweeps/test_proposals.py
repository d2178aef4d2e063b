"""What a sweep tries: grids are complete, draws seeded, TPE repeats itself and finds a minimum."""

from dataclasses import replace
from itertools import product
from math import log10
from statistics import pstdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.config import BadConfig
from workbench.sweeps.proposals import belonging, combinations, draws, grid, next_proposal
from workbench.sweeps.space import Parameter

LR = Parameter("training.lr", (), 1e-4, 1e-1, log=True)
RATES = Parameter("training.lr", (), 1e-4, 1e2, log=True)
WHOLE = Parameter("training.epochs", (), 1, 9, whole=True)
WORDS = Parameter("loss.name", ("ce", "spce", "ice"))


@given(st.lists(st.integers(1, 4), min_size=1, max_size=3))
def test_a_grid_is_every_combination_once(sizes):
    parameters = [Parameter(f"a.p{place}", tuple(range(size))) for place, size in enumerate(sizes)]
    found = [tuple(setting.values()) for setting in grid(parameters)]
    assert found == list(product(*(range(size) for size in sizes)))


def test_a_grid_without_end_is_refused():
    with pytest.raises(BadConfig, match="draw some at random"):
        grid([Parameter(f"a.p{place}", tuple(range(50))) for place in range(3)])


def test_draws_are_seeded_different_and_inside():
    first = draws([LR, WHOLE, WORDS], 60, seed=4)
    assert first == draws([LR, WHOLE, WORDS], 60, seed=4)
    assert first != draws([LR, WHOLE, WORDS], 60, seed=5)
    assert len({tuple(each.values()) for each in first}) == 60
    assert all(1e-4 <= each["training.lr"] <= 1e-1 for each in first)
    assert {each["training.epochs"] for each in first} == set(range(1, 10))
    below = sum(each["training.lr"] < 10**-2.5 for each in first)
    assert 15 <= below <= 45, "a logarithmic range has as many below its geometric middle as above"


def test_a_grid_and_its_limit():
    assert len(grid([Parameter("a.b", tuple(range(100))), Parameter("a.c", tuple(range(100)))])) == 10_000
    with pytest.raises(BadConfig, match="10,001"):
        grid([Parameter("a.b", tuple(range(10_001)))])


def test_whole_numbers_of_a_logarithmic_range_have_as_many_below_its_geometric_middle_as_above():
    found = [
        setting["loss.k"] for setting in draws([Parameter("loss.k", (), 1, 10_000, log=True, whole=True)], 60, seed=4)
    ]
    assert all(isinstance(number, int) and 1 <= number <= 10_000 for number in found)
    assert 15 <= sum(number < 100 for number in found) <= 45


def test_what_tpe_proposes_has_six_digits_as_draws_have():
    rate = next_proposal([LR], [({"training.lr": 0.01}, 1.0)], 0, 10, least=True)["training.lr"]
    assert rate == float(f"{rate:.6g}")


def test_no_more_draws_than_there_are_combinations():
    assert combinations([WHOLE, WORDS]) == 27
    assert combinations([LR, WORDS]) is None
    assert len(draws([WHOLE, WORDS], 100, seed=0)) == 27


def test_tpe_tries_every_combination_once_before_it_repeats_one():
    words = [Parameter("loss.name", ("ce", "spce", "ice")), Parameter("training.epochs", (), 1, 4, whole=True)]
    tried = []
    for turn in range(12):
        tried.append((next_proposal(words, tried, 7, 12, least=True), float(turn)))
    assert len({tuple(setting.values()) for setting, _ in tried}) == 12
    assert next_proposal(words, tried, 7, 13, least=True) in [setting for setting, _ in tried]


def test_tpe_varies_a_field_only_where_its_entry_has_it_and_finds_the_best_of_it():
    margin = Parameter("loss.margin", (), 0.0, 1.0, entries=("contrastive", "triplet"))
    space = [Parameter("loss.name", ("ce", "contrastive", "triplet")), margin]
    tried = []
    for _ in range(30):
        setting = next_proposal(space, tried, 7, 30, least=True)
        assert ("loss.margin" in setting) == (setting["loss.name"] != "ce")
        assert setting not in [before for before, _ in tried]
        tried.append((setting, 0.5 if len(setting) == 1 else (setting["loss.margin"] - 0.7) ** 2))
    assert sum(setting["loss.name"] == "ce" for setting, _ in tried) == 1
    assert min(value for _, value in tried) < 0.001


@given(st.lists(st.tuples(st.integers(1, 3), st.sampled_from(["", "a", "b", "ab"])), max_size=3))
def test_every_combination_that_entries_have_is_counted_listed_and_drawn_once(sizes):
    names = Parameter("loss.name", ("a", "b", "c"))
    others = [
        Parameter(f"loss.p{place}", tuple(range(size)), entries=tuple(entries))
        for place, (size, entries) in enumerate(sizes)
    ]
    for parameters in ([names, *others], [*others, names]):
        whole = grid([replace(parameter, entries=()) for parameter in parameters])
        settings = grid(parameters)
        unlike = {tuple(belonging(parameters, setting).items()) for setting in whole}
        assert {tuple(setting.items()) for setting in settings} == unlike
        assert len(settings) == combinations(parameters) == len(unlike)
        assert {tuple(setting.items()) for setting in draws(parameters, len(unlike), seed=0)} == unlike


def test_a_draw_is_looked_up_and_not_compared_with_every_other():
    compared = []

    class Word(str):
        __hash__ = str.__hash__

        def __eq__(self, other):
            compared.append(other)
            return str.__eq__(self, other)

    words = Parameter("loss.name", tuple(Word(number) for number in range(1_000)))
    assert len(draws([words], 900, seed=0)) == 900
    assert len(compared) < 9_000


def toy(setting):
    """A bowl with its minimum 0 at lr = 10^-2.5, 6 epochs and "spce"."""
    import math

    apart = math.log10(setting["training.lr"]) + 2.5
    return apart**2 + 0.05 * (setting["training.epochs"] - 6) ** 2 + (setting["loss.name"] != "spce")


def searched(turns, past=()):
    told = list(past)
    while len(told) < turns:
        setting = next_proposal([LR, WHOLE, WORDS], told, 3, 40, least=True)
        told.append((setting, toy(setting)))
    return told


def test_tpe_finds_the_minimum_and_a_restart_changes_nothing():
    whole = searched(40)
    assert min(value for _, value in whole) < 0.15
    late = [value for _, value in whole[25:]]
    early = [value for _, value in whole[:10]]
    assert sum(late) / len(late) < sum(early) / len(early)
    again = [(dict(setting), value) for setting, value in whole[:20]]
    assert searched(24, again) == whole[:24], "another process that was told the first 20 goes on alike"


def test_tpe_can_look_for_the_greatest_and_goes_on_after_a_failure():
    told = [({"training.lr": 0.01, "training.epochs": 3, "loss.name": "ce"}, None)]
    for _ in range(14):
        setting = next_proposal([LR, WHOLE, WORDS], told, 0, 15, least=False)
        assert 1e-4 <= setting["training.lr"] <= 1e-1
        assert isinstance(setting["training.epochs"], int)
        told.append((setting, -toy(setting)))
    assert len({tuple(setting.values()) for setting, _ in told}) == 15


def test_tpe_proposes_less_of_what_failed():
    """Rates over 0.1 fail, which is half of the space; just below it is the best."""
    failed = 0
    for seed in (0, 1):
        tried = []
        while len(tried) < 30:
            setting = next_proposal([RATES], tried, seed, 30, least=False)
            rate = setting["training.lr"]
            tried.append((setting, None if rate > 0.1 else rate))
        failed += sum(value is None for _, value in tried[10:])
    assert failed < 20, "of 40"


NEIGHBOURS = Parameter("loss.k", (), 1, 10_000, log=True, whole=True)


def test_tpe_proposes_whole_numbers_of_a_logarithmic_range_and_searches_its_logarithm():
    tried = []
    while len(tried) < 24:
        setting = next_proposal([NEIGHBOURS], tried, 1, 24, least=True)
        tried.append((setting, (log10(setting["loss.k"]) - 1) ** 2))
    numbers = [setting["loss.k"] for setting, _ in tried]
    assert all(isinstance(number, int) and 1 <= number <= 10_000 for number in numbers)
    assert len(set(numbers)) == 24
    modelled = numbers[8:]
    assert sum(number < 100 for number in modelled) > len(modelled) / 2, "a hundredth of the range, half of it as a log"
    assert min(abs(number - 10) for number in modelled) <= 1


@pytest.mark.parametrize("seed", range(5))
def test_a_setting_that_trains_now_is_not_proposed_again(seed):
    """The best two of three train: without them in mind, TPE would propose one of them."""
    tried = [({"loss.name": "ce"}, None), ({"loss.name": "spce"}, None)]
    running = [setting for setting, _ in tried]
    assert next_proposal([WORDS], tried, seed, 3, least=True, pending=running) == {"loss.name": "ice"}


@pytest.mark.parametrize("seed", [0, 1])
def test_settings_that_train_at_once_are_not_neighbours(seed):
    """TPE alone would propose 8 rates within a fifth of a decade around the best one."""
    tried = [(setting, (log10(setting["training.lr"]) + 2.5) ** 2) for setting in draws([LR], 12, seed)]
    running = []
    for _ in range(8):
        running.append(next_proposal([LR], tried, seed, 40, least=True, pending=running))
        tried.append((running[-1], None))
    assert pstdev([log10(setting["training.lr"]) for setting in running]) > 0.25


def test_settings_that_train_now_are_no_results_yet():
    """Ten results come before the model: with three and nine in training the next is random, whatever they are."""
    rates = draws([LR], 12, seed=3)
    rates, measured = rates[:9], rates[9:]
    proposed = []
    for values in ((2.0, 1.0, 0.0), (0.0, 1.0, 2.0)):
        tried = [*((rate, None) for rate in rates), *zip(measured, values, strict=True)]
        proposed.append(next_proposal([LR], tried, 7, 40, least=True, pending=rates))
    assert proposed[0] == proposed[1]


def test_failures_alone_teach_nothing():
    """Of settings that all failed none is worse than another, so that the next is random, whatever failed."""
    rates = draws([LR], 24, seed=3)
    first, others = ([(setting, None) for setting in half] for half in (rates[:12], rates[12:]))
    assert next_proposal([LR], first, 7, 40, least=True) == next_proposal([LR], others, 7, 40, least=True)
