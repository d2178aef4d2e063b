"""Plug-ins: only from added folders and installed packages, marked with their origin; a broken one is a sentence."""

import os

import pytest
import torch
from click.testing import CliRunner
from pytorch_metric_learning import losses, miners

from tests.waits import HANG
from workbench import plugins, registry
from workbench.cli import cli
from workbench.commands.machine import checks
from workbench.commands.machine.plugins import write_loss
from workbench.control import Control
from workbench.entries import catalog as catalogs
from workbench.jobs import Job
from workbench.losses import build_loss, list_losses
from workbench.problem import Problem
from workbench.running.launch import make_job, prepare_run
from workbench.settings.changed import read_config
from workbench.workspace import Workspace

GOOD = '''
from torch import nn
from workbench.losses.contract import Loss
from workbench.params import NoParams
from workbench.registry import register

@register("loss", "{name}", title="Planted", params=NoParams, source="This test")
class Planted(Loss):
    """Only there to be found."""

    def __init__(self, params, *, num_classes, embedding_dim):
        super().__init__()
'''


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder that was added; what is loaded from it is forgotten afterwards."""
    with monkeypatch.context() as patch:
        patch.setenv("WORKBENCH_PLUGINS", str(tmp_path / "settings" / "folders.txt"))
        place = tmp_path / "own"
        place.mkdir()
        plugins.add(place)
        yield place
        plugins.remove(place)
        registry.load_plugins()


def test_a_misspelt_fact_is_named_beside_those_that_there_are(folder):
    wrong = GOOD.format(name="planted").replace("params=NoParams", 'familly="Pairs", params=NoParams')
    (folder / "planted.py").write_text(wrong)
    assert "planted" not in list_losses()
    (sentence,) = registry.broken().values()
    assert "TypeError in line 7: 'familly' is not a fact of a loss: those are family, formula, needs_pairs" in sentence
    assert sentence.endswith(", dimensions, spans.")


def test_a_file_is_found_marked_and_forgotten(folder):
    (folder / "planted.py").write_text(GOOD.format(name="planted"))
    (folder / "test_planted.py").write_text("raise RuntimeError")
    assert "planted" in list_losses()
    assert registry.entry("loss", "planted").origin == str(folder / "planted.py")
    assert catalogs.write_now()["loss/planted"]["origin"] == str(folder / "planted.py")
    assert registry.entry("loss", "ce").origin == ""
    (folder / "planted.py").write_text(GOOD.format(name="renamed"))
    os.utime(folder / "planted.py", (1, 1))
    assert {"planted", "renamed"} & set(list_losses()) == {"renamed"}, "a changed file is read again"
    (folder / "planted.py").unlink()
    assert "renamed" not in list_losses()


def test_a_package_in_a_folder_is_one_plug_in(folder):
    (folder / "large").mkdir()
    (folder / "large" / "__init__.py").write_text("from . import inside")
    (folder / "large" / "inside.py").write_text(GOOD.format(name="planted"))
    build_loss("planted", num_classes=2, embedding_dim=2)
    assert registry.entry("loss", "planted").origin == str(folder / "large" / "__init__.py")


def test_nothing_is_loaded_from_a_folder_that_was_not_added(folder):
    other = folder.parent / "other"
    other.mkdir()
    (other / "planted.py").write_text("raise SystemExit('it ran')")
    registry.load_plugins()
    assert registry.broken() == {}
    with pytest.raises(Problem, match="is not a folder"):
        plugins.add(other / "planted.py")
    added = CliRunner().invoke(cli, ["plugins", "add", str(other)]).output
    assert plugins.WARNING in added
    plugins.remove(other)
    with pytest.raises(Problem, match="is not a plug-in folder"):
        plugins.remove(other)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("def f(:", "SyntaxError in line 1"),
        ("\nimport not_to_be_found", "ModuleNotFoundError in line 2: No module named 'not_to_be_found'."),
        ("raise SystemExit(3)", "SystemExit in line 1: 3."),
        ("raise SystemExit", "SystemExit in line 1."),
        ("x = 1", "It registers nothing."),
        (GOOD.format(name="ce"), "two files register the loss 'ce'"),
        (GOOD.format(name="planted").replace("title=", "need_pairs=True, title="), "need_pairs"),
        (GOOD.format(name="planted").replace("to be found.", "to be found"), "help is not a sentence"),
        (GOOD.format(name="planted") + "\n1 / 0", "ZeroDivisionError in line"),
    ],
)
def test_a_broken_one_is_one_sentence_everywhere_and_stops_nothing(folder, text, says):
    (folder / "broken.py").write_text(text)
    (folder / "good.py").write_text(GOOD.format(name="sound"))
    known = catalogs.current()
    assert "loss/sound" in known
    assert "loss/planted" not in known, "half a plug-in is none"
    assert known["loss/ce"]["origin"] == ""
    (sentence,) = catalogs.broken().values()
    assert sentence.startswith(f"The plug-in {folder / 'broken.py'} cannot be used. ")
    assert says in sentence
    assert "\n" not in sentence
    assert [each.said for each in checks.plugin_findings() if not each.good] == [sentence]
    assert sentence in CliRunner().invoke(cli, ["plugins", "list"]).output


def test_a_folder_that_is_gone_is_one_sentence(folder):
    folder.rmdir()
    assert list(catalogs.write_now())
    assert list(catalogs.broken().values()) == [
        f"The plug-in {folder} cannot be used. The plug-in folder {folder} is gone."
    ]
    folder.mkdir()


def test_a_loss_that_is_none_is_a_sentence(folder):
    (folder / "bare.py").write_text(GOOD.format(name="bare").replace("(Loss)", "(nn.Module)"))
    with pytest.raises(Problem, match="'bare' is not a Loss"):
        build_loss("bare", num_classes=2, embedding_dim=2)


OTHERS = '''
from torch import nn
from workbench.params import NoParams
from workbench.registry import register

@register("dataset", "listed", title="Listed", params=NoParams, source="This test")
def listed(params, progress):
    """A list."""
    return [1, 2]

@register("split", "halves", title="Halves", params=NoParams, source="This test")
def halves(params, image_set, seed):
    """A pair."""
    return (1, 2)

@register("backbone", "bare", title="Bare", params=NoParams, source="This test")
def bare(params, channels):
    """A module that says nothing of itself."""
    return nn.Flatten()

class Wide(nn.Flatten):
    feature_dim, mean, std = 5, (0.0,), (1.0,)

@register("backbone", "wide", title="Wide", params=NoParams, source="This test")
def wide(params, channels):
    """A module with more features than it says."""
    return Wide()
'''


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ("dataset.name=listed", "The dataset 'listed' cannot be used: its factory returned list, not ImageSet."),
        ("split.name=halves", "The split 'halves' cannot be used: its factory returned tuple, not Split."),
        ("backbone.name=bare", "The backbone 'bare' cannot be used: its module has no feature_dim, mean, std."),
        ("backbone.name=wide", "The backbone returned features of the shape"),
    ],
)
def test_a_plug_in_that_returns_something_else_is_no_defect_of_workbench(folder, chosen, said, tmp_path):
    (folder / "others.py").write_text(OTHERS)
    config = read_config("sample-digits", (chosen, "training.epochs=1"))
    with Workspace(tmp_path / "workspace", create=True) as workspace:
        job = make_job(workspace, prepare_run(config, workspace), Control()).start()
        assert job.join(HANG)
    assert job.ended.status == "failed"
    assert job.ended.problem.startswith(said)


RAISES = """
    def forward(self, embeddings, labels):
        return embeddings @ missing
"""


@pytest.mark.parametrize(("registering", "raising"), [("own.py", "own.py"), ("large/__init__.py", "large/inside.py")])
def test_a_job_that_fails_in_a_plug_in_says_whose_defect_it_is(folder, registering, raising):
    for name in (registering, raising):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("from . import inside")
    (folder / raising).write_text(GOOD.format(name="planted") + RAISES)
    loss = build_loss("planted", num_classes=2, embedding_dim=2)
    job = Job("run 1", lambda control, emit: loss(torch.ones(2, 2), torch.arange(2)), lambda event: None).start()
    assert job.join(HANG)
    line = (folder / raising).read_text().splitlines().index("        return embeddings @ missing") + 1
    said = f"The plug-in {folder / registering} failed. NameError in line {line} of {(folder / raising).name}: "
    assert job.ended.problem.startswith(said)
    assert "defect in Workbench" not in job.ended.problem


@pytest.mark.parametrize("error", ["SystemExit(3)", "KeyboardInterrupt", "MemoryError('8 TiB')"])
def test_whatever_a_plug_in_raises_while_it_trains_is_told_as_its_own(folder, error, tmp_path):
    raises = f"\n    def forward(self, embeddings, labels):\n        raise {error}\n"
    (folder / "own.py").write_text(GOOD.format(name="planted") + raises)
    small = ("backbone.width=8", "evaluation.untrained=false", "training.epochs=1")
    config = read_config("sample-digits", ("loss.name=planted", *small))
    with Workspace(tmp_path / "workspace", create=True) as workspace:
        job = make_job(workspace, prepare_run(config, workspace), Control()).start()
        assert job.join(HANG)
    assert job.ended.status == "failed"
    line = (folder / "own.py").read_text().splitlines().index(f"        raise {error}") + 1
    kind = error.partition("(")[0]
    assert job.ended.problem.startswith(f"The plug-in {folder / 'own.py'} failed. {kind} in line {line} of own.py")


def test_entry_points_of_an_installed_package_are_found(folder, monkeypatch):
    installed = folder.parent / "site-packages"
    (installed / "planted_pack-1.2.dist-info").mkdir(parents=True)
    (installed / "planted_pack-1.2.dist-info" / "METADATA").write_text("Name: planted-pack\nVersion: 1.2\n")
    (installed / "planted_pack-1.2.dist-info" / "entry_points.txt").write_text(
        "[workbench.losses]\nplanted = planted_pack\n[workbench.samplers]\nbad = planted_absent\n"
    )
    (installed / "planted_pack.py").write_text(GOOD.format(name="packed"))
    before = catalogs.path(folder)
    with monkeypatch.context() as patch:
        patch.syspath_prepend(str(installed))
        assert catalogs.path(folder) != before, "the catalog is made anew"
        assert "packed" in list_losses()
        assert registry.entry("loss", "packed").origin == "package planted-pack 1.2 (planted_pack)"
        assert "planted_absent" in registry.broken()["package planted-pack 1.2 (planted_absent)"]
    assert "packed" not in list_losses()


def forget(loss):
    """Take back what the template's own test registered."""
    registry._ENTRIES.pop(("loss", loss))


def test_new_loss_writes_a_working_loss_with_its_test(folder):
    made = CliRunner().invoke(cli, ["new", "loss", "my_margin", "--into", str(folder)])
    assert made.exit_code == 0, made.output
    test = plugins.load_file(folder / "test_my_margin.py")
    test.test_the_entry_describes_itself()
    test.test_a_few_steps_make_it_smaller()
    assert type(build_loss("my_margin", num_classes=2, embedding_dim=2)).__name__ == "MyMargin"
    with pytest.raises(Problem, match="already exists"):
        write_loss("my_margin", folder)
    for wrong in ("My", "a-b", "test_it", "2nd"):
        with pytest.raises(Problem, match="cannot be the name"):
            write_loss(wrong, folder)
    forget("my_margin")


def test_new_loss_can_wrap_a_loss_of_pytorch_metric_learning(folder, tmp_path):
    words = ["new", "loss", "their_triplet", "--into", str(folder), "--wraps", "pytorch-metric-learning"]
    made = CliRunner().invoke(cli, words)
    assert made.exit_code == 0, made.output
    test = plugins.load_file(folder / "test_their_triplet.py")
    test.test_the_entry_describes_itself()
    test.test_a_few_steps_make_it_smaller()
    embeddings, labels = torch.randn(12, 8, generator=torch.Generator().manual_seed(0)), torch.arange(12) % 3
    here = build_loss("their_triplet", num_classes=3, embedding_dim=8, margin=0.2)(embeddings, labels)
    theirs = losses.TripletMarginLoss(margin=0.2)
    mined = miners.TripletMarginMiner(margin=0.2, type_of_triplets="all")(embeddings, labels)
    torch.testing.assert_close(here, theirs(embeddings, labels, mined))
    forget("their_triplet")


def test_new_loss_takes_no_name_and_no_folder_that_cannot_be_used(folder):
    with pytest.raises(Problem, match="A loss named ce already exists"):
        write_loss("ce", folder)
    (folder / "file").write_text("no folder")
    with pytest.raises(Problem, match="could not be written"):
        write_loss("my_margin", folder / "file" / "inside")
    assert [path.name for path in folder.iterdir()] == ["file"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"own\n", "'own' is not the full path"), (b"/a\n../own\n", "'../own' is not the full path"),
        (b"/a\0b\n", "is not the full path"), (b"\x1b]0;title\x07", r"'\\x1b\]0;title\\x07' is not the full path"),
        (b"x" * (1 << 21), "larger than 1,048,576 bytes"), (b"\xff\xfe/\0a\0", "utf-8"),
    ],
)  # fmt: skip
def test_a_list_with_odd_lines_loads_nothing_and_says_so(folder, tmp_path, monkeypatch, content, words):
    (tmp_path / "odd.txt").write_bytes(content)
    monkeypatch.chdir(tmp_path)
    (folder / "planted.py").write_text(GOOD.format(name="planted"))
    with monkeypatch.context() as patch:
        patch.setenv("WORKBENCH_PLUGINS", str(tmp_path / "odd.txt"))
        with pytest.raises(Problem, match=words) as raised:
            plugins.folders()
        assert raised.value.kept == "No folder of it is loaded."
        (unreadable,) = [plugin for plugin in plugins.all_plugins() if "odd.txt" in plugin.origin]
        with pytest.raises(Problem, match="cannot be read"):
            unreadable.load()
        assert not [plugin for plugin in plugins.all_plugins() if "planted" in plugin.origin]


def test_a_folder_in_the_place_of_the_list_is_named(folder, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setenv("WORKBENCH_PLUGINS", str(folder))
        with pytest.raises(Problem, match="it is no file"):
            plugins.folders()


def test_a_list_of_notepad_is_read_and_a_folder_that_stands_twice_is_loaded_once(folder, tmp_path, monkeypatch):
    (tmp_path / "odd.txt").write_bytes(b"\xef\xbb\xbf" + f"{folder}\r\n\r\n{folder}\r\n".encode())
    with monkeypatch.context() as patch:
        patch.setenv("WORKBENCH_PLUGINS", str(tmp_path / "odd.txt"))
        assert plugins.folders() == [folder]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such names")
def test_a_folder_with_a_line_in_its_name_is_refused_and_one_with_another_separator_is_kept(folder, tmp_path):
    (tmp_path / "two\nlines").mkdir()
    with pytest.raises(Problem, match="has a line break in its name"):
        plugins.add(tmp_path / "two\nlines")
    assert plugins.folders() == [folder]
    other = tmp_path / "a\u2028b"
    other.mkdir()
    plugins.add(other)
    assert plugins.folders() == [folder, other]
    plugins.remove(other)
