"""The exported network, loaded without Workbench, gives the embeddings that Workbench gives."""

import importlib
import subprocess
import sys
import warnings

import numpy as np
import onnxruntime
import pytest
import torch
from PIL import Image
from torch import nn

from workbench.backbones.model import build_model
from workbench.config import EmbeddingParams
from workbench.exchange.exported.model import Cells, Deployed, with_cells
from workbench.exchange.formats import export_run
from workbench.problem import Problem
from workbench.running import trained_network
from workbench.workspace import Workspace

ONE_BY_ONE = """
import os, runpy, sys
for folder in sys.argv[1:]:
    os.chdir(folder)
    runpy.run_path("model-example.py")
"""


def export(trained_space, formats, out):
    """Export the network into a folder, with an image beside it."""
    with Workspace(trained_space) as workspace:
        export_run(workspace, 1, formats, out)
    picture = np.random.default_rng(0).integers(0, 256, (30, 20), dtype=np.uint8)
    Image.fromarray(picture).save(out / "image.png")
    return out


@pytest.fixture(scope="module")
def exported(trained_space, tmp_path_factory):
    """A folder with model.pt2, its note and example, and an image beside them."""
    return export(trained_space, ["torch"], tmp_path_factory.mktemp("network"))


@pytest.fixture(scope="module")
def onnx_there():
    """Skips where an optional package of ONNX is not installed."""
    for name in ("onnx", "onnxscript"):
        pytest.importorskip(name, reason=f"{name} is not installed (extra onnx)")


@pytest.fixture(scope="module")
def exported_as_onnx(onnx_there, trained_space, tmp_path_factory):
    """As `exported`, of model.onnx."""
    return export(trained_space, ["onnx"], tmp_path_factory.mktemp("network-as-onnx"))


def expected(trained_space, out, count=1):
    """The embeddings [count, d] that the window gives for the image."""
    with Workspace(trained_space) as workspace:
        return trained_network.trained(workspace, 1).embed([np.asarray(Image.open(out / "image.png"))] * count)


@pytest.mark.filterwarnings("ignore:The given buffer is not writable:UserWarning")  # torch 2.11 about its own reader
def test_any_number_of_images_gives_the_networks_embeddings(exported, trained_space):
    loaded = torch.export.load(exported / "model.pt2").module()
    with Workspace(trained_space) as workspace:
        found = trained_network.trained(workspace, 1)
    for count in (1, 2, 5):
        images = torch.rand(count, 1, 16, 16, generator=torch.Generator().manual_seed(count))
        with torch.no_grad():
            wanted = found.model(found.crop(images))
        torch.testing.assert_close(loaded(images), wanted, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(
    ("folder", "example", "told"),
    [
        pytest.param("exported", "model-example.py", "print(model(", marks=pytest.mark.slow),
        ("exported_as_onnx", "onnx-example.py", "print(model.run("),
    ],
)
def test_the_example_has_ten_lines_and_runs(request, trained_space, folder, example, told):
    exported = request.getfixturevalue(folder)
    script = exported / example
    lines = [line for line in script.read_text("utf-8").splitlines() if line.strip() and not line.startswith("#")]
    assert len(lines) <= 10
    saved = script.read_text("utf-8").replace(told, told.replace("print(", "np.save('found.npy', "))
    script.write_text(saved, "utf-8")
    done = subprocess.run([sys.executable, script.name], cwd=exported, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = np.load(exported / "found.npy", allow_pickle=False)
    np.testing.assert_allclose(found, expected(trained_space, exported), atol=1e-4)


@pytest.mark.parametrize("folder", ["exported", "exported_as_onnx"])
def test_the_note_says_how_an_image_becomes_an_input(request, folder):
    [note] = (path.read_text("utf-8") for path in request.getfixturevalue(folder).glob("*-note.txt"))
    assert "float32 [n, 1, 16, 16] in 0..1" in note
    assert "float32 [n, 64]; compared by the angle" in note
    assert "Divide by 255" in note


def test_warnings_of_an_export_are_shown_but_for_what_libraries_say_of_each_other(
    onnx_there, trained_space, tmp_path, monkeypatch, recwarn
):
    said = (
        ("left out", FutureWarning, "onnxscript.converter"),
        ("left out", DeprecationWarning, "torch.onnx.utils"),
        ("shown 1", UserWarning, "torch.onnx.utils"),
        ("shown 2", RuntimeWarning, "onnxscript.converter"),
        ("shown 3", FutureWarning, "workbench.backbones.model"),
    )

    def warning(*asked, **named):
        for words, category, module in said:
            warnings.warn_explicit(words, category, "some.py", 1, module=module, registry={})
        raise torch.onnx.OnnxExporterError("enough")

    warnings.simplefilter("always")
    monkeypatch.setattr(torch.onnx, "export", warning)
    with Workspace(trained_space) as workspace, pytest.raises(Problem, match="enough"):
        export_run(workspace, 1, ["onnx"], tmp_path)
    words = [str(one.message) for one in recwarn]
    assert [said for said in words if said.startswith(("left", "shown"))] == ["shown 1", "shown 2", "shown 3"]


def test_an_onnxscript_that_is_too_old_for_torch_is_a_sentence(onnx_there, trained_space, tmp_path, monkeypatch):
    def lacking(*asked, **named):
        importlib.import_module("onnxscript.no_such_release")

    monkeypatch.setattr(torch.onnx, "export", lacking)
    said = r"onnxscript \d[\d.]+ does not work with PyTorch \d.* \(No module named 'onnxscript\.no_such_release'\)\."
    with Workspace(trained_space) as workspace, pytest.raises(Problem, match=said) as caught:
        export_run(workspace, 1, ["onnx"], tmp_path)
    assert "pip install --upgrade onnx onnxscript" in caught.value.todo
    assert not (tmp_path / "model.onnx").exists()


@pytest.mark.parametrize(("height", "width", "side"), [(8, 8, 7), (26, 13, 7), (4, 5, 7), (7, 7, 7), (9, 9, 1)])
def test_cells_are_the_adaptive_maximum(height, width, side):
    images = torch.randn(2, 3, height, width, generator=torch.Generator().manual_seed(0))
    network = nn.Sequential(nn.AdaptiveMaxPool2d(side))
    wanted = network(images)
    with_cells(network)
    assert isinstance(network[0], Cells)
    assert torch.equal(network(images), wanted)


def test_the_crop_of_the_evaluation_and_what_is_compared_are_inside():
    network = Deployed(nn.Flatten(), lambda images: images[..., 1:3, 1:3], lambda embeddings: 2 * embeddings)
    assert torch.equal(network(torch.arange(16.0).view(1, 1, 4, 4)), torch.tensor([[10.0, 12, 18, 20]]))


def test_onnx_gives_the_same_embeddings(trained_space, exported_as_onnx):
    with Workspace(trained_space) as workspace:
        found = trained_network.trained(workspace, 1)
    session = onnxruntime.InferenceSession(str(exported_as_onnx / "model.onnx"), providers=["CPUExecutionProvider"])
    for count in (1, 3):
        images = torch.rand(count, 1, 16, 16, generator=torch.Generator().manual_seed(count))
        with torch.no_grad():
            wanted = found.model(found.crop(images)).numpy()
        [given] = session.run(["embeddings"], {"images": images.numpy()})
        np.testing.assert_allclose(given, wanted, atol=1e-4)


@pytest.mark.slow
def test_the_example_gives_an_image_of_the_run_the_embedding_that_the_run_stored(photograph_run, tmp_path):
    """Three runs, whose examples are run one after the other by a process that knows nothing of Workbench."""
    stored = {}
    for keep, evaluated in (("pixels", "centre"), ("encoded", "centre"), ("encoded", "whole")):
        folder = tmp_path / f"{keep}-{evaluated}"
        with Workspace(folder / "space", create=True) as workspace:
            run_id, photograph, stored[folder] = photograph_run(workspace, keep, evaluated)
            embedded = trained_network.trained(workspace, run_id).embed([photograph])[0]
            np.testing.assert_allclose(embedded, stored[folder], atol=1e-6)
            export_run(workspace, run_id, ["torch"], folder)
        (folder / "image.png").write_bytes(photograph.read_bytes())
        script = folder / "model-example.py"
        saved = script.read_text("utf-8").replace("print(model(", "np.save('found.npy', model(")
        script.write_text(saved, "utf-8")
    done = subprocess.run([sys.executable, "-c", ONE_BY_ONE, *stored], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for folder, embedding in stored.items():
        np.testing.assert_allclose(np.load(folder / "found.npy")[0], embedding, atol=1e-6)


def test_the_note_names_the_embeddings_that_are_in_the_networks_space(trained_space, tmp_path, exported):
    assert "Its embeddings of the test set: `workbench export 1 --format npy --epoch 1`." in (
        note := (exported / "model-note.txt").read_text("utf-8")
    )
    assert "another space" not in note
    with Workspace(trained_space) as workspace:
        export_run(workspace, 1, ["torch"], tmp_path, epoch=0)
    assert "Those of epoch 0 are in another space" in (tmp_path / "model-note.txt").read_text("utf-8")


def test_a_damaged_checkpoint_is_a_sentence(trained_space, tmp_path):
    with Workspace(trained_space) as workspace:
        place = workspace.folder(1) / "best.pt"
        whole = place.read_bytes()
        place.write_bytes(whole[:1000])
        try:
            with pytest.raises(Problem, match="is not a complete checkpoint"):
                export_run(workspace, 1, ["torch"], tmp_path)
        finally:
            place.write_bytes(whole)
    assert not list(tmp_path.iterdir())


SHALLOW = pytest.param({"prompts": 2, "prompt_depth": "shallow"}, marks=pytest.mark.slow)


@pytest.mark.parametrize("adapted", [{"prompts": 2}, SHALLOW, {"lora_rank": 2}])
def test_a_transformer_with_prompts_or_adapters_is_followed_for_any_number_of_images(adapted):
    network = build_model("timm", {"model": "test_vit", **adapted}, EmbeddingParams(dim=8), 3).eval()
    network.requires_grad_(False)
    any_number = {"images": {0: torch.export.Dim("n", min=1)}}
    loaded = torch.export.export(network, (torch.rand(2, 3, 32, 32),), dynamic_shapes=any_number).module()
    for count in (1, 5):
        images = torch.rand(count, 3, 32, 32, generator=torch.Generator().manual_seed(count))
        torch.testing.assert_close(loaded(images), network(images), atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize(
    ("images", "said"),
    [
        ([], "a list of one image or more"),
        ("image.png", "a list of one image or more"),
        (["none.png"], r"none\.png cannot be opened .* No image was embedded"),
        ([np.zeros((8, 8, 3))], r"uint8 \[h, w, 3\] or \[h, w\], not float64 \[8, 8, 3\]"),
        ([np.zeros((3, 8, 8), np.uint8)], r"not uint8 \[3, 8, 8\]"),
        ([np.zeros(8, np.uint8)], r"not uint8 \[8\]"),
        ([np.zeros((8, 8), np.uint16)], r"not uint16 \[8, 8\]"),
        ([torch.zeros(8, 8, dtype=torch.uint8)], r"not torch.uint8 \[8, 8\]"),
        (np.zeros((8, 8, 3), np.uint8), r"put the one of shape \[8, 8, 3\] in a list"),
        ([None], "not NoneType"),
        ([np.zeros((0, 8), np.uint8)], "at least one pixel"),
    ],
)
def test_what_is_no_image_is_named(trained_space, images, said):
    with Workspace(trained_space) as workspace:
        network = trained_network.trained(workspace, 1)
    with pytest.raises((Problem, TypeError, ValueError), match=said):
        network.embed(images)


def test_a_file_may_be_named_by_text(trained_space, tmp_path):
    Image.fromarray(np.full((8, 8), 200, np.uint8)).save(tmp_path / "a.png")
    with Workspace(trained_space) as workspace:
        network = trained_network.trained(workspace, 1)
    by_text, by_path = network.embed([str(tmp_path / "a.png"), tmp_path / "a.png"])
    np.testing.assert_array_equal(by_text, by_path)
