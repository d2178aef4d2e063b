"""Sentences about curves, on curves whose story is known."""

import numpy as np
import pytest

from workbench.ui.pages.train.findings.reading import LONG, read_curves

STEPS = np.arange(10, 110, 10)


def texts(curves, scores=(), **facts):
    made = {name: (STEPS[: len(values)], np.asarray(values, float)) for name, values in curves.items()}
    return [(sentence.kind, sentence.text) for sentence in read_curves(made, list(scores), **facts)]


def test_nothing_is_said_without_numbers():
    assert texts({}) == []
    assert texts({"probe/ce": [1.0], "probe/spce": [2.0]}, [(0, 0.5)]) == []
    assert texts({"probe/ce": [np.nan] * 5, "probe/spce": [1.0] * 5}) == []


def test_curves_that_meet():
    ce = [2.0, 1.0, 0.5, 0.5, 0.5]
    spce = [2.5, 1.3, 0.6, 0.51, 0.505]
    assert texts({"probe/ce": ce, "probe/spce": spce}) == [
        ("note", "CE and SPCE meet: from step 40 on they differ by less than 0.02 nats.")
    ]


def test_curves_that_cross():
    ce = [2.0, 1.0, 0.5, 0.2]
    spce = [1.0, 0.9, 0.8, 0.7]
    assert texts({"probe/ce": ce, "probe/spce": spce}) == [
        ("note", "SPCE is 0.5 nats above CE at the end; the two cross at step 30.")
    ]


def test_curves_that_never_meet():
    assert texts({"probe/ce": [2, 1, 0.5], "probe/spce": [1, 0.6, 0.25]}) == [
        ("note", "SPCE is 0.25 nats below CE at the end and never meets it.")
    ]


def test_a_run_that_trains_has_no_end_yet():
    curves = {"probe/ce": [2, 1, 0.5], "probe/spce": [1, 0.6, 0.25]}
    assert texts(curves, ended=False) == [("note", "SPCE is 0.25 nats below CE at step 30 and has not met it so far.")]


def test_a_spce_of_long_embeddings_is_readable_and_says_why_it_is_large():
    ((kind, text),) = texts({"probe/ce": [2.3, 4e4, 4e6], "probe/spce": [2.3, 1e8, 4.61e9]})
    assert kind == "note"
    assert text == f"SPCE is 4.61×10⁹ nats above CE at the end; they agree up to step 10. {LONG}"


@pytest.mark.parametrize("middle", [0.99, 1.0, 1.01])
def test_curves_that_touch_once_are_not_said_never_to_meet(middle):
    assert texts({"probe/ce": [2, 1, 0.5], "probe/spce": [1.5, middle, 0.25]}) == [
        ("note", "SPCE is 0.25 nats below CE at the end; the two meet at step 20 and separate again.")
    ]


def test_curves_that_agree_at_the_start_alone_are_not_said_to_meet_later():
    assert texts({"probe/ce": [2, 1, 0.5], "probe/spce": [2.01, 1.01, 0.75]}) == [
        ("note", "SPCE is 0.25 nats above CE at the end; they agree up to step 20.")
    ]


def test_a_bound_that_holds():
    assert texts({"anatomy/ce": [2, 1], "anatomy/pce": [-5, -1]}) == [
        ("note", "The bound CE ≥ PCE holds at every measured point (2).")
    ]


@pytest.mark.parametrize(
    ("lam", "why"),
    [(1e-7, "λ falls to 1×10⁻⁷ there"), (0.1, "λ is measured at the class vectors of that step")],
)
def test_a_bound_that_fails_and_why_it_may(lam, why):
    ((kind, text),) = texts({"anatomy/ce": [2, 1, 0.5], "anatomy/pce": [-5, 3, np.nan], "anatomy/lambda": [1, lam, 1]})
    assert kind == "warning"
    assert text.startswith("The bound CE ≥ PCE fails at 1 of 2 points, first at step 20. ")
    assert why in text


def test_the_part_that_moves_most():
    curves = {"anatomy/ce/tightness": [0, -1], "anatomy/ce/contrastive": [5, 1.5], "anatomy/snca/tightness": [0, 9]}
    assert texts(curves) == [
        ("note", "In CE, the contrastive part changes most: from 5 to 1.5 nats (tightness part from 0 to −1).")
    ]
    curves["anatomy/ce/tightness"] = [0, -8]
    assert "the tightness part changes most: from 0 to −8" in texts(curves)[0][1]


def test_the_parts_of_ce_are_named_as_in_their_plot_where_it_has_an_asterisk():
    curves = {"anatomy/ce/tightness": [0, -1], "anatomy/ce/contrastive": [5, 1.5]}
    ((_, said),) = texts(curves, seen="unit length × 16")
    assert said.startswith("In CE* (at unit length × 16), the contrastive part changes most")
    curves = {name.replace("/ce/", "/snca/"): values for name, values in curves.items()}
    ((_, said),) = texts(curves, seen="unit length × 16")
    assert said.startswith("In SNCA, ")


def test_an_estimate_above_the_entropy_of_the_labels_cannot_be_right():
    ((kind, text),) = texts({"anatomy/information/generative": [1, 2, 40], "anatomy/entropy/labels": [2.3, 2.3, 2.3]})
    assert kind == "warning"
    assert "exceeds H(Y) = 2.3 nats at 1 of 3 points" in text


@pytest.mark.parametrize(
    ("scores", "kind", "text"),
    [
        ([(0, 0.2), (1, 0.5), (2, 0.6)], "note", "MAP@R still rises at the last epoch (60.0%): more epochs may help."),
        ([(0, 0.2), (1, 0.6), (2, 0.5995)], "note", "MAP@R has been flat since epoch 1 (60.0%)."),
        (
            [(0, 0.2), (1, 0.6), (2, 0.5)],
            "warning",
            "MAP@R is best at epoch 1 (60.0%) and 10.0 points lower at epoch 2.",
        ),
        (
            [(0, 0.3), (1, 0.305), (2, 0.296)],
            "warning",
            "MAP@R is best at epoch 1 (30.5%) and 0.9 points lower at epoch 2, below the 30.0% before training.",
        ),
    ],
)
def test_where_the_best_epoch_lies(scores, kind, text):
    assert texts({}, scores) == [(kind, text)]


def test_a_run_that_goes_on_is_not_told_to_take_more_epochs():
    ((kind, text),) = [(said.kind, said.text) for said in read_curves({}, [(0, 0.2), (1, 0.5)], ended=False)]
    assert (kind, text) == ("note", "MAP@R still rises (50.0% at epoch 1).")


@pytest.mark.parametrize("last", [0.18, 0.2249, 0.225])
def test_a_run_that_never_rises_above_the_untrained_network_says_so(last):
    ((kind, text),) = texts({}, [(0, 0.225), (1, 0.2), (2, last)])
    assert kind == "warning"
    assert text.startswith(
        f"Training has not raised MAP@R: it was 22.5% before training (epoch 0) and is {100 * last:.1f}% at epoch 2. "
    )


@pytest.mark.parametrize(("last", "kind"), [(1.0, "note"), (0.9, "warning")])
def test_a_run_whose_untrained_network_had_all_right_is_offered_no_other_settings(last, kind):
    said = "MAP@R was 100.0% before training (epoch 0): this test set cannot show that training helps."
    assert texts({}, [(0, 1.0), (1, last)]) == [(kind, said)]


def test_without_epoch_0_nothing_is_said_about_the_untrained_network():
    ((_, text),) = texts({}, [(1, 0.6), (2, 0.5)])
    assert "training" not in text
