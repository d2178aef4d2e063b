"""Digits and letters are not mirrored: the form switches that off with the data set, unless a person has set it."""

import pytest

from workbench.config import Choice, RunConfig
from workbench.entries import catalog
from workbench.settings.changed import read_config
from workbench.ui.pages.setup.model.draft import Draft

FLIP = "augmentation.flip"


@pytest.fixture
def draft():
    """Photographs, which the preset mirrors."""
    made = Draft(catalog.current(), read_config("photographs-unseen"))
    assert made.value(FLIP) is True
    return made


@pytest.mark.parametrize("signs", ["digits", "mnist", "kmnist", "omniglot"])
def test_signs_are_not_mirrored_and_photographs_are_again(draft, signs):
    draft.set("dataset.name", signs)
    assert draft.value(FLIP) is False
    assert FLIP not in draft.changed()
    draft.set("dataset.name", "fashion_mnist")
    assert draft.value(FLIP) is True


def test_what_a_person_has_set_stays(draft):
    draft.set(FLIP, False)
    draft.set("dataset.name", "mnist")
    draft.set("dataset.name", "cub")
    assert draft.value(FLIP) is False
    draft.undo()
    draft.set(FLIP, True)
    draft.set("dataset.name", "omniglot")
    assert draft.value(FLIP) is True
    assert "mirrored sign of Omniglot" in draft.warnings()[FLIP]
    draft.reset(FLIP)
    assert draft.value(FLIP) is False
    assert draft.warnings() == {}
    draft.set("dataset.name", "cub")
    assert draft.value(FLIP) is True, "it follows again"


def test_an_undone_switch_counts_as_never_set(draft):
    draft.set(FLIP, False)
    draft.undo()
    draft.set("dataset.name", "mnist")
    draft.set("dataset.name", "cub")
    assert draft.value(FLIP) is True


def test_another_augmentation_of_signs_begins_without_mirrors(draft):
    draft.set("dataset.name", "mnist")
    draft.set("augmentation.name", "strong")
    assert draft.value(FLIP) is False
    assert draft.base_value(FLIP) is False
    draft.set("augmentation.name", "shift")
    draft.set("dataset.name", "cub")
    draft.set("augmentation.name", "strong")
    assert draft.value(FLIP) is True


def test_what_a_config_says_stays_until_another_data_set_is_chosen():
    mirrored = RunConfig(dataset=Choice(name="mnist"), augmentation=Choice(name="crop_flip", params={"flip": True}))
    draft = Draft(catalog.current(), mirrored)
    assert draft.value(FLIP) is True
    draft.set("dataset.name", "kmnist")
    assert draft.value(FLIP) is False
    draft.set("dataset.name", "mnist")
    assert draft.value(FLIP) is True


def test_a_value_of_an_opened_config_that_differs_from_the_preset_stays(draft):
    held = read_config("photographs-unseen")
    held = held.model_copy(update={"augmentation": Choice(name="crop_flip", params={"flip": False})})
    draft.load(held, as_base=False)
    draft.set("dataset.name", "cub")
    assert draft.value(FLIP) is False
