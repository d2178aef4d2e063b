"""The draft of a run takes the published parameters of the chosen loss and data set, unless somebody changed them."""

import re

import pytest

from workbench import registry
from workbench.comparing.published.published_tables import tables
from workbench.entries.catalog import defaults_told, measured_fields, published_fields
from workbench.losses.published import UNNAMED
from workbench.settings.presets import presets
from workbench.ui.pages.setup.model.draft import Draft
from workbench.ui.pages.setup.model.repairs import repairs
from workbench.ui.style.field_words import tooltip


@pytest.fixture(scope="module")
def described():
    registry.discover_all()
    return registry.catalog()


@pytest.fixture
def draft(described):
    return Draft(described, presets()[0].config)


def test_a_loss_comes_with_what_is_published_for_the_data_set(draft):
    draft.set("dataset.name", "cars")
    draft.set("loss.name", "multi_similarity")
    assert draft.values["loss"] == {
        "name": "multi_similarity", "alpha": 14.35, "beta": 75.83, "base": 0.66, "epsilon": 0.1,
    }  # fmt: skip
    assert draft.base_value("loss.alpha") == 14.35


def test_another_data_set_changes_only_what_nobody_touched(draft):
    draft.set("loss.name", "multi_similarity")
    assert draft.value("loss.beta") == 50
    draft.set("loss.beta", 30.0)
    draft.set("dataset.name", "inshop")
    assert (draft.value("loss.alpha"), draft.value("loss.beta")) == (8.49, 30.0)
    draft.set("dataset.name", "digits")
    assert (draft.value("loss.alpha"), draft.value("loss.beta")) == (2.0, 30.0)
    draft.undo()
    assert draft.value("loss.alpha") == 8.49


def test_published_values_follow_the_pair_loss_inside_until_somebody_changes_them(draft):
    draft.set("dataset.name", "cars")
    draft.set("loss.name", "xbm")
    assert (draft.value("loss.inner"), draft.value("loss.cosine_margin")) == ("contrastive_cosine", 0.5)
    draft.set("loss.inner", "contrastive_positive_margin")
    assert (draft.value("loss.positive_margin"), draft.value("loss.margin")) == (0.2652, 0.5409)
    assert draft.offered()["published"]["loss.inner"] == "contrastive_positive_margin", "the choice of now is kept"
    draft.set("loss.margin", 0.9)
    draft.set("dataset.name", "cub")
    assert (draft.value("loss.inner"), draft.value("loss.positive_margin")) == ("contrastive_positive_margin", 0.0)
    assert draft.value("loss.margin") == 0.9
    draft.set("loss.inner", "contrastive_cosine")
    draft.undo()
    assert draft.value("loss.inner") == "contrastive_positive_margin"
    draft.set("loss.name", "ccp")
    draft.set("loss.inner", "contrastive_cosine")
    assert draft.value("loss.cosine_margin") == 0.5
    draft.set("loss.inner", "multi_similarity")
    draft.set("dataset.name", "inshop")
    assert (draft.value("loss.alpha"), draft.value("loss.base"), draft.value("loss.pool")) == (8.49, 0.41, 7)


def test_the_tooltip_names_the_batches(draft):
    draft.set("loss.name", "ice")
    assert "Batches: classes × images; the paper: 6 × 10" in draft.fields("Loss")["loss.name"]["description"]


def shipped_losses():
    registry.discover_all()
    return [each for each in registry.entries("loss") if each.build.__module__.startswith("workbench.")]


def test_every_loss_says_what_is_published_for_it_or_that_nothing_is():
    for entry in shipped_losses():
        assert entry.facts.batch, entry.name
        source = entry.facts.defaults_source
        assert bool(entry.facts.defaults) != source.startswith(UNNAMED), entry.name
        assert all(values for values in entry.facts.defaults.values()), entry.name


def test_published_and_measured_values_are_real_and_in_range(draft):
    """Every field exists and holds its value; what is published together can be started, but for what the words say."""
    datasets = {entry.name for entry in registry.entries("dataset")}
    for entry in shipped_losses():
        measured = {key: values for key, values in entry.facts.measured.items() if key in datasets}
        for kind, by_data in (("published", entry.facts.defaults), ("measured", measured)):
            assert set(by_data) <= datasets
            for dataset in by_data:
                draft.load(presets()[0].config)
                draft.set("dataset.name", dataset)
                draft.set("loss.name", entry.name)
                if entry.facts.needs_pairs:
                    draft.set("sampler.name", "classes_images")
                draft.take(kind)
                named = published_fields if kind == "published" else measured_fields
                for path, value in named(draft.catalog, entry.name, dataset).items():
                    assert draft.value(path) == value, (entry.name, dataset, path)
                errors = draft.check()[1]
                assert set(errors) <= {"training.views"}, (entry.name, dataset, errors)


def test_batches_and_rates_are_offered_and_taken_as_one_step(draft):
    draft.set("dataset.name", "sop")
    draft.set("loss.name", "ice")
    assert draft.value("training.batch_size") == presets()[0].config.training.batch_size, (
        "only parameters by themselves"
    )
    assert set(draft.offered()) == {"published"}
    before = draft.values
    draft.take("published")
    assert (draft.value("training.batch_size"), draft.value("sampler.images_per_class")) == (180, 2)
    assert draft.offered() == {}
    draft.undo()
    assert draft.values == before


def test_what_was_measured_here_is_told_apart_from_what_is_published(draft):
    draft.set("dataset.name", "omniglot")
    draft.set("loss.name", "proxy_anchor")
    nothing, measured = defaults_told(draft.catalog, "proxy_anchor", "omniglot")
    assert nothing == "No values are published for omniglot; there are some for cub, cars, inshop, sop."
    assert measured == "Measured here on omniglot: loss.proxy_lr = 20.0, loss.alpha = 8.0 (docs/results.md)."
    assert draft.defaults_told(str.upper)[1].startswith("Measured here on DATASET/OMNIGLOT: LOSS.PROXY_LR = 20.0, ")
    assert draft.value("loss.alpha") == 32.0, "a measured value waits to be taken"
    draft.take("measured")
    assert draft.value("loss.alpha") == 8.0
    draft.set("loss.name", "lifted")
    assert draft.defaults_told(str) == [f"{UNNAMED}."]


@pytest.mark.parametrize(
    ("batch", "each", "said"),
    [
        (60, 8, "60 images are not a multiple of 8 images of each class."),
        (8, 8, "A batch of one class has no negatives"),
        (64, 8, ""),
    ],
)
def test_a_batch_that_cannot_be_dealt_is_refused(draft, batch, each, said):
    draft.set("loss.name", "triplet")
    draft.set("sampler.name", "classes_images")
    draft.set("sampler.images_per_class", each)
    draft.set("training.batch_size", batch)
    assert draft.check()[1].get("training.batch_size", "").startswith(said)
    assert bool(draft.check()[1]) == bool(said)


def test_a_recipe_and_what_its_loss_declares_say_the_same(draft):
    recipes = [
        preset for preset in presets() if preset.sources and "-lt-" not in preset.key and "-512" not in preset.key
    ]
    assert len(recipes) > 50
    for recipe in recipes:
        draft.load(recipe.config)
        loss = recipe.config.loss
        named = published_fields(draft.catalog, loss.name, recipe.config.dataset.name, loss.params)
        other = {path for path, value in named.items() if draft.value(path) != value}
        assert other == set(), recipe.key


@pytest.mark.parametrize(("key", "images", "longest"), [("sop-ccp", 59_551, 124_000), ("inshop-ccp", 25_882, 131_000)])
def test_a_recipe_that_stops_by_itself_may_train_as_long_as_the_paper_did(key, images, longest):
    training = next(preset for preset in presets() if preset.key == key).config.training
    assert training.epochs * (images * 3 // 4 // training.batch_size) > longest, "supplement, Table 5"


def test_a_recipe_names_paper_and_section_of_each_field(draft):
    recipe = next(preset for preset in presets() if preset.key == "cub-ce")
    draft.load(recipe.config, sources=recipe.sources_told)
    field = draft.fields("Training")["training.lr"]
    assert field["source"] == "Boudiaf et al. 2020, Section 6.3 (the preset's value)"
    draft.set("training.lr", 0.5)
    assert draft.fields("Training")["training.lr"] == field, "a row keeps its editor while one types"
    draft.load(presets()[0].config)
    assert "Section 6.3" not in draft.fields("Training")["training.lr"].get("source", "")


def test_a_field_of_which_the_paper_says_nothing_says_so_in_its_tooltip(draft):
    recipe = next(preset for preset in presets() if preset.key == "cub-rankmi")
    draft.load(recipe.config, sources=recipe.sources_told)
    said = "Source: The paper's supplement does not say; its main text and its authors' code were not at hand on "
    assert said in tooltip(draft.fields("Training")["training.lr"]).replace("&#x27;", "'")
    assert "Kemertas et al. 2020 (RankMI), supplement Section 6" in tooltip(
        draft.fields("Training")["training.batch_size"]
    )


def test_a_parameter_of_another_choice_has_not_the_recipe_s_source(draft):
    recipe = next(preset for preset in presets() if preset.key == "cars-ice")
    draft.load(recipe.config, sources=recipe.sources_told)
    assert "Wang et al. 2019 (ICE)" in draft.fields("Loss")["loss.scale"]["source"]
    draft.set("loss.name", "soft_triple")
    assert "Wang et al. 2019 (ICE)" not in draft.fields("Loss")["loss.scale"].get("source", "")


@pytest.mark.parametrize("key", ["cifar10-lt-psce", "cifar100-lt-psce"])
def test_the_ratio_of_a_long_tail_names_those_of_the_paper_s_table(draft, key):
    recipe = next(preset for preset in presets() if preset.key == key)
    draft.load(recipe.config, sources=recipe.sources_told)
    notes = {each.note.removeprefix("long-tailed ") for each in tables() if each.dataset == recipe.config.dataset.name}
    ratios = {note for note in notes if note.isdigit()}
    assert ratios == {"100", "50", "10"}
    said = draft.fields("Training")["sampler.ratio"]["description"]
    assert all(re.search(rf"\b{ratio}\b", said) for ratio in ratios), said


def test_what_one_may_regret_has_a_repair_and_does_not_keep_from_starting(draft):
    draft.set("loss.name", "psce")
    config, _ = draft.check()
    draft.note_classes(config, 10)
    assert list(draft.warnings()) == ["embedding.dim"]
    assert draft.check() == (config, {})
    words, path, value = repairs(draft, draft.warnings())["embedding.dim"]
    assert (words, path, value) == ("Use 10", "embedding.dim", 10)
    draft.set(path, value)
    assert draft.warnings() == {}


def test_a_loss_that_compares_images_of_a_class_is_not_given_one_of_each(draft):
    draft.set("loss.name", "triplet")
    draft.set("sampler.name", "classes_images")
    draft.set("sampler.images_per_class", 1)
    assert "set 2 or more" in draft.check()[1]["sampler.images_per_class"]
    draft.set("loss.name", "proxy_anchor")
    assert draft.check()[1] == {}
