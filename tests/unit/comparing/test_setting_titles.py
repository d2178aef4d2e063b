"""Settings are named as on the Set up page."""

import pytest

from workbench.comparing.grouping.setting_titles import (
    field_title,
    setting_words,
    short_title,
    telling_words,
    title_with_unit,
    value_title,
)

KNOWN = {
    "loss/ce": {"title": "Cross-entropy (CE)", "params": {}},
    "loss/margin": {"title": "Margin", "params": {"beta": {"label": "Boundary", "unit": "px"}, "alpha": {"label": ""}}},
}
CHOSEN = [{"loss.name": "ce"}, {"loss.name": "margin"}]


@pytest.mark.parametrize(
    ("field", "title"),
    [
        ("loss.name", "Loss"),
        ("dataset.name", "Data set"),
        ("training.batch_size", "Training: Batch"),
        ("training.epochs", "Training: Epochs"),
        ("loss.beta", "Loss: Boundary"),
        ("loss.alpha", "Loss: Alpha"),
        ("loss.of_an_older_one", "Loss: Of an older one"),
        ("device", "Device"),
    ],
)
def test_fields_have_the_words_of_the_form(field, title):
    assert field_title(field, CHOSEN, KNOWN) == title


@pytest.mark.parametrize(
    ("field", "title"),
    [
        ("loss.name", "loss"),
        ("training.lr", "learning rate"),
        ("embedding.dim", "embedding size"),
        ("evaluation.nmi", "NMI"),
    ],
)
def test_inside_a_sentence_a_title_is_small_and_has_no_part(field, title):
    assert short_title(field, CHOSEN, KNOWN) == title


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("embedding.batch_norm", True, "batch-norm on top: yes"),
        ("embedding.batch_norm", False, "batch-norm on top: no"),
        ("embedding.dim", 1, "embedding size 1"),
        ("loss.name", "ce", "loss Cross-entropy (CE)"),
    ],
)
def test_a_setting_inside_a_sentence(field, value, words):
    assert setting_words(field, value, CHOSEN, KNOWN) == words


def test_a_known_loss_distinguishes_groups_by_its_title_alone():
    assert telling_words("loss.name", "ce", CHOSEN, KNOWN) == "Cross-entropy (CE)"
    assert telling_words("loss.name", "gone", CHOSEN, KNOWN) == "loss gone"
    assert telling_words("embedding.dim", 1, CHOSEN, KNOWN) == "embedding size 1"


def test_values_that_name_entries_have_their_titles():
    assert value_title("loss.name", "ce", KNOWN) == "Cross-entropy (CE)"
    assert value_title("loss.name", "gone", KNOWN) == "gone"
    assert value_title("training.lr", 0.5, KNOWN) == "0.5"
    assert value_title("training.lr", 1e-8, KNOWN) == "1×10⁻⁸"
    assert value_title("dataset.folder", "1e-8", KNOWN) == "1e-8", "a name stays as it is"
    assert value_title("loss.name", None, KNOWN) == "–"


def test_rows_of_a_table_name_the_unit_of_their_numbers():
    assert title_with_unit("loss.beta", CHOSEN, KNOWN) == "Loss: Boundary, px"
    assert title_with_unit("loss.alpha", CHOSEN, KNOWN) == "Loss: Alpha"
    assert title_with_unit("training.warmup_steps", CHOSEN, KNOWN) == "Training: Warm-up, steps"
    assert title_with_unit("device", CHOSEN, KNOWN) == "Device"
