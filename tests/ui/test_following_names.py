"""The name of a run follows its settings until somebody gives one."""

from workbench.entries import catalog
from workbench.settings.changed import read_config
from workbench.ui.pages.setup.model.draft import Draft


def draft(**changes: object) -> Draft:
    config = read_config("sample-digits")
    return Draft(catalog.current(), config.model_copy(update=changes))


def test_a_name_that_nobody_gave_says_what_differs():
    made = draft()
    assert (made.value("name"), made.changed()) == ("Sample: Digits", [])
    made.set("training.epochs", 40)
    assert made.value("name") == "Sample: Digits, epochs 40"
    assert made.changed() == ["training.epochs"], "a name that follows is no change"
    made.set("loss.name", "ice")
    assert made.value("name") == "ICE, epochs 40"
    made.set("split.name", "classes")
    assert made.value("name") == "ICE, Unseen classes, epochs 40"
    for path, value in (("embedding.dim", 32), ("training.lr", 0.5)):
        made.set(path, value)
    assert made.value("name").endswith(", 1 more changed")
    while made.can_undo:
        made.undo()
    assert made.value("name") == "Sample: Digits"


def test_a_switch_is_named_with_yes_or_no():
    made = draft()
    made.set("embedding.batch_norm", False)
    assert made.value("name") == "Sample: Digits, batch-norm on top: no"
    config, _ = made.check()
    again = Draft(catalog.current(), config)
    again.set("embedding.batch_norm", True)
    assert again.value("name") == "Sample: Digits, batch-norm on top: yes"


def test_a_given_name_stays_until_it_is_reset():
    made = draft()
    made.set("name", "Mine")
    made.set("loss.name", "ice")
    assert made.value("name") == "Mine"
    assert "name" in made.changed()
    made.reset("name")
    assert made.value("name") == "ICE"
    made.set("dataset.name", "mnist")
    assert made.value("name") == "ICE"


def test_of_a_run_s_name_only_what_is_still_true_stays():
    made = draft(name="ICE, epochs 40, seed 2")
    made.set("seed", 5)
    assert made.value("name") == "ICE, epochs 40"
    made.set("training.epochs", 30)
    assert made.value("name") == "ICE, epochs 30"
    made.set("loss.label_smoothing", 0.2)
    assert made.value("name") == "ICE, label smoothing 0.2, epochs 30"


def test_a_network_of_timm_is_called_by_its_name_alone():
    made = draft()
    made.set("backbone.name", "timm")
    made.set("backbone.model", "convnext_atto")
    assert made.value("name") == "Sample: Digits, convnext_atto"
    config, wrong = made.check()
    assert config is not None, wrong
    made = Draft(catalog.current(), config)
    made.set("backbone.model", "mobilenetv4_conv_small")
    assert made.value("name") == "Sample: Digits, mobilenetv4_conv_small"
    made.set("backbone.name", "conv4")
    assert "mobilenetv4" not in made.value("name")


def test_weights_of_a_file_are_called_by_the_name_of_the_file():
    made = draft()
    made.set("backbone.name", "squeezenet1_0")
    made.set("backbone.weights", "file")
    made.set("backbone.weights_file", "folder/squeezenet1_0.pth")
    assert made.value("name") == "Sample: Digits, SqueezeNet 1.0, weights file squeezenet1_0.pth"
    made.set("backbone.weights_file", "folder/squeezenet1_0_trained_on_many_photographs-11ad3fa6.pth")
    assert made.value("name") == "Sample: Digits, SqueezeNet 1.0, weights file squeezenet1_0_…-11ad3fa6.pth"
