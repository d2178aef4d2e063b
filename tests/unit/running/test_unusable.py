"""What is refused before a run is made: images of a size that its network does not take."""

import pytest
import torch
from PIL import Image

from workbench import cli
from workbench.entries import catalog
from workbench.places import records
from workbench.places.place import SshPlace
from workbench.problem import UNSTARTED, Problem
from workbench.progress import quiet
from workbench.running.place_at_fault import naming_the_place
from workbench.running.preflight import preflight
from workbench.running.unusable import refuse_size_unseen, refuse_unusable
from workbench.settings.changed import read_config
from workbench.sweeps import starting
from workbench.sweeps.plan import planned
from workbench.sweeps.space import read
from workbench.workspace.paths import DATABASE

TRANSFORMER = ("backbone.name=timm", "backbone.model=test_vit")  # timm's own for tests: patches of 16 px
CROP = ("augmentation.name=crop_flip", "augmentation.crop=0.875")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ((*TRANSFORMER, "dataset.image_size=40"), "Images of 40 px do not fit test_vit: its patches of 16 px"),
        ((*TRANSFORMER, "dataset.image_size=64", *CROP), "Images of 56 px do not fit test_vit"),
        (("backbone.name=squeezenet1_0",), "Images of 16 px are too small for this backbone"),
    ],
)
def test_images_that_the_network_does_not_take_are_said_before_a_run_is_made(tmp_path, capsys, changes, said):
    words = [word for change in changes for word in ("--set", change)]
    assert cli.main(["run", "sample-digits", *words, "--workspace", str(tmp_path)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(said)
    assert "Nothing was started." in line
    assert not (tmp_path / DATABASE).exists(), "no empty workspace is left"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        (("dataset.name=folder",), "dataset.folder"),
        (("dataset.name=folder", "dataset.folder=none"), "dataset.folder"),
        (("dataset.name=omniglot",), "dataset.place"),
        (("split.name=official",), "split.name"),
        (("backbone.name=squeezenet1_0", "backbone.weights=file"), "backbone.weights_file"),
        (("training.label_decisions=none.csv",), "training.label_decisions"),
        (("evaluation.label_decisions=none.csv",), "evaluation.label_decisions"),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, tuple) else words,
)
def test_the_command_line_names_the_field_of_what_refuses_a_run(tmp_path, capsys, changes, field):
    words = [word for change in changes for word in ("--set", change)]
    assert cli.main(["run", "sample-digits", *words, "--workspace", str(tmp_path)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(f" Field of the config: {field}.")
    assert not (tmp_path / DATABASE).exists(), "no empty workspace is left"


def test_images_that_no_network_takes_are_said_before_they_are_sent_to_a_place(tmp_path, capsys, monkeypatch):
    box = SshPlace(name="box", host="box", data={"/mine": "/there"})
    monkeypatch.setattr(records, "named", lambda name: box)
    data = ("--set", "dataset.name=folder", "--set", "dataset.folder=/mine", "--place", "box")
    words = ("--set", TRANSFORMER[0], "--set", TRANSFORMER[1], "--set", "backbone.weights=cache", *data)
    starts = (["run", "sample-digits"], ["sweep", "start", "sample-digits", "-p", "training.lr=0.1,0.2", "--detach"])
    for start in starts:
        space = ["--workspace", str(tmp_path / "space")]
        assert cli.main([*start, *words, "--set", "dataset.image_size=40", *space]) == 1
        assert "Images of 40 px do not fit test_vit" in capsys.readouterr().err
        assert not (tmp_path / "space").exists(), "nothing was made"
    for size in (32, 48):
        refuse_size_unseen(read_config("sample-digits", (*TRANSFORMER, f"dataset.image_size={size}")))


def test_a_folder_or_file_that_cannot_be_used_is_named_by_its_field(tmp_path):
    weights, empty = tmp_path / "weights.pth", tmp_path / "images"
    empty.mkdir()
    torch.save({"other": torch.zeros(1)}, weights)
    folder = ("dataset.name=folder", f"dataset.folder={empty}")
    others = ("backbone.name=squeezenet1_0", "backbone.weights=file", f"backbone.weights_file={weights}")
    for changes, field in ((folder, "dataset.folder"), (others, "backbone.weights_file")):
        refused = read_config("sample-digits", changes)
        for check in (refuse_unusable, preflight):
            with pytest.raises(Problem) as problem:
                check(refused, quiet)
            assert problem.value.field == field


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ("/data/birds-2 is not a folder.", "dataset.folder"),
        ("/data/birds/list.csv has no column path.", "dataset.file"),
        ("/data/birds/list.csv.bak is not a table.", ""),
        ("There is nothing in /data/birds-2/1.png.", "dataset.folder"),
        ("Look in “/data/birds-2”.", "dataset.folder"),
        ("/more/data/birds-2 is not a folder, nor is /data/birds-22.", ""),
    ],
)
def test_only_the_field_whose_whole_path_is_named_is_marked(said, field):
    changes = ("dataset.name=csv", "dataset.file=/data/birds/list.csv", "dataset.folder=/data/birds-2")
    with pytest.raises(Problem) as problem, naming_the_place(read_config("sample-digits", changes), "dataset"):
        raise Problem(said, kept=UNSTARTED)
    assert problem.value.field == field


def test_images_that_fit_are_not_refused():
    config = read_config("sample-digits", (*TRANSFORMER, "dataset.image_size=32"))
    assert refuse_unusable(config, quiet) is not None
    config = read_config("sample-digits", (*TRANSFORMER, "dataset.image_size=64", *CROP[:1], "augmentation.crop=0.75"))
    assert refuse_unusable(config, quiet) is not None


@pytest.mark.parametrize(
    ("model", "size", "fits"),
    [
        ("test_vit", 48, 55),  # 42 px: 48 are the nearest multiple of 16, and 0.875 of 55
        ("vit_tiny_patch16_224", 224, 256),  # 196 px: 192 would be nearer, but its weights are of 224
    ],
)
def test_the_image_size_is_named_whose_crop_the_network_takes(tmp_path, model, size, fits):
    for name in range(8):
        path = tmp_path / f"class {name % 2}" / f"{name}.png"
        path.parent.mkdir(exist_ok=True)
        Image.new("RGB", (size, size), (30 * name, 0, 0)).save(path)
    data = ("dataset.name=folder", f"dataset.folder={tmp_path}", "training.batch_size=2")
    changes = (*data, "backbone.name=timm", f"backbone.model={model}", *CROP)
    refused = read_config("sample-digits", (*changes, f"dataset.image_size={size}"))
    for check in (refuse_unusable, preflight):
        with pytest.raises(Problem, match=rf"Set Image size to {fits}: the crop") as said:
            check(refused, quiet)
        assert (said.value.field, said.value.fits) == ("dataset.image_size", fits)
    assert refuse_unusable(read_config("sample-digits", (*changes, f"dataset.image_size={fits}")), quiet) is not None


@pytest.mark.parametrize("error", [Problem("open_clip's model cannot be made"), NotImplementedError("no numbers")])
def test_a_network_that_cannot_be_made_without_numbers_is_left_to_the_run(monkeypatch, error):
    asked = []

    def refusing(*_):
        asked.append(torch.empty(1).device.type)
        raise error

    monkeypatch.setattr("workbench.backbones.model.build_model", refusing)
    assert refuse_unusable(read_config("sample-digits"), quiet) is not None
    assert asked == ["meta"]


def test_a_sweep_over_sizes_is_left_to_its_runs():
    known = catalog.current()
    for field, values, refused in (("dataset.image_size", "40,48", False), ("training.lr", "0.1,0.2", True)):
        config = read_config("sample-digits", (*TRANSFORMER, "dataset.image_size=40"))
        plan = planned(config, [read(f"{field}={values}")], "grid", known, trials=None, seeds=None, metric="")
        if refused:
            with pytest.raises(Problem, match="do not fit test_vit"):
                starting.refuse_unusable(plan, known, quiet)
        else:
            assert starting.refuse_unusable(plan, known, quiet) is not None
