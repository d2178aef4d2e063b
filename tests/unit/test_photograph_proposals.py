"""What is proposed for a person's own photographs, on folders of every kind."""

import pytest

from workbench.config import RunConfig
from workbench.entries import catalog
from workbench.settings import proposals


@pytest.fixture(autouse=True)
def _no_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "torch"))


def folder_of(tmp_path, classes):
    for number in range(classes):
        (tmp_path / "birds" / f"bird {number}").mkdir(parents=True)
    return tmp_path / "birds"


def proposed(chosen, near=()):
    dataset = {"name": "folder", "folder": str(chosen)}
    return proposals.for_photographs("birds", dataset, chosen, list(near), catalog.current())


def value(config: RunConfig, kind: str, field: str):
    return config.value(catalog.current(), kind, field)


def test_without_weights_a_small_network_is_proposed_and_says_why(tmp_path):
    made = proposed(folder_of(tmp_path, 8))
    assert (made.config.backbone.name, made.config.split.name) == ("conv4", "classes")
    assert made.config.augmentation.name == "crop_flip"
    reason = made.reasons["backbone.weights"]
    assert reason.startswith("No ImageNet weights were found on this machine. ")
    assert reason.index("choose SqueezeNet 1.0") < reason.index(str(proposals.torch_cache())), "the advice comes first"
    assert set(made.reasons) == {"augmentation.name", "backbone.name", "backbone.weights", "split.name"}
    assert made.config.check(catalog.current()) == {}


@pytest.mark.parametrize("place", ["torch/hub/checkpoints", "weights", "given"])
def test_weights_of_this_machine_are_taken(tmp_path, place):
    folder = folder_of(tmp_path, 40)
    (tmp_path / place).mkdir(parents=True)
    file = tmp_path / place / "resnet18-f37072fd.pth"
    file.touch()
    made = proposed(folder, [tmp_path / "given"])
    assert made.config.backbone.name == "resnet18"
    assert (value(made.config, "backbone", "weights"), value(made.config, "backbone", "weights_file")) == (
        "file",
        str(file),
    )
    assert str(file) in made.reasons["backbone.name"]
    assert made.config.dataset.params == {"folder": str(folder)}
    assert made.config.check(catalog.current()) == {}


@pytest.mark.parametrize(("classes", "images", "batch"), [(40, 2, 32), (8, 8, 32), (4, 16, 32), (101, 2, 32)])
def test_a_batch_fits_the_training_classes(tmp_path, classes, images, batch):
    (tmp_path / "squeezenet1_0.pth").touch()
    config = proposed(folder_of(tmp_path, classes)).config
    assert (value(config, "sampler", "images_per_class"), config.training.batch_size) == (images, batch)
    assert config.check(catalog.current()) == {}


@pytest.mark.parametrize(("classes", "batch"), [(2, 32), (3, 32)])
def test_all_classes_of_a_random_split_train_and_are_in_the_batch(tmp_path, classes, batch):
    """Half of two classes was one, for which no batch has negatives."""
    (tmp_path / "squeezenet1_0.pth").touch()
    config = proposed(folder_of(tmp_path, classes)).config
    assert (config.split.name, config.training.batch_size) == ("random", batch)
    assert config.check(catalog.current()) == {}


def test_a_batch_fits_the_classes_of_the_folder_train(tmp_path):
    (tmp_path / "squeezenet1_0.pth").touch()
    for half, classes in (("train", 20), ("test", 3)):
        for number in range(classes):
            (tmp_path / "birds" / half / f"bird {number}").mkdir(parents=True)
    config = proposed(tmp_path / "birds").config
    assert (config.split.name, config.training.batch_size) == ("official", 32)
    assert value(config, "sampler", "images_per_class") == 2


@pytest.mark.parametrize(("classes", "images", "batch"), [(4, 8, 16), (3, 20, 16), (3, 1, 2), (6, 33, 64), (4, 0, 64)])
def test_the_batch_of_a_small_network_is_no_larger_than_the_training_half(tmp_path, classes, images, batch):
    folder = folder_of(tmp_path, classes)
    for number in range(classes):
        for image in range(images):
            (folder / f"bird {number}" / f"{image}.jpg").touch()
    made = proposed(folder)
    assert made.config.training.batch_size == batch
    assert ("training.batch_size" in made.reasons) == (batch < 64)


@pytest.mark.parametrize(("names", "split"), [(("train", "test"), "official"), (("cat", "dog", "owl"), "random")])
def test_the_split_goes_with_the_folder(tmp_path, names, split):
    for name in names:
        (tmp_path / "birds" / name).mkdir(parents=True)
    made = proposed(tmp_path / "birds")
    assert made.config.split.name == split
    assert made.config.check(catalog.current()) == {}


def test_an_archive_is_not_opened_for_a_proposal(tmp_path):
    (tmp_path / "birds.zip").write_bytes(b"no archive")
    assert proposed(tmp_path / "birds.zip").config.split.name == "classes"
