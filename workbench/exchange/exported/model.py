"""The best network of a run for other programs: torch.export or ONNX, with a note and an example that loads it."""

import warnings
from collections.abc import Callable
from importlib.metadata import version
from io import BytesIO
from pathlib import Path

import numpy as np
import torch  # noqa: TID253 - only formats.py imports this file, inside functions
from torch import Tensor, nn  # noqa: TID253

from workbench import __version__
from workbench.exchange.exported.written import written_file
from workbench.exchange.source import Source
from workbench.files.packages import load
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.running import trained_network

ALLOWED = 1e-4  # largest difference of an embedding's number between the network and what was exported
# torch and the libraries of ONNX say of each other what will change one day; other warnings of theirs are shown.
EXPORTERS = r"(torch|onnx|onnxscript|onnx_ir|copyreg)\b"
PIXELS = """\
pixels = np.asarray(image, np.float32).reshape(1, {size}, {size}, {channels}).transpose(0, 3, 1, 2) / 255
"""
EXAMPLE_TORCH = f"""\
# Embeds image.png with the exported network.
{{library}}import numpy as np
import torch
from PIL import Image, ImageOps

model = torch.export.load("model.pt2").module()
{{prepare}}{PIXELS}print(model(torch.from_numpy(np.ascontiguousarray(pixels))))
"""
EXAMPLE_ONNX = f"""\
# Embeds image.png with the exported network.
{{library}}import numpy as np
import onnxruntime
from PIL import Image, ImageOps

model = onnxruntime.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
{{prepare}}{PIXELS}print(model.run(["embeddings"], {{{{"images": np.ascontiguousarray(pixels)}}}})[0])
"""
NOTE = """\
{file}: run {run}, "{name}"
Made by Workbench {version} with torch {torch} from the checkpoint after epoch {epoch} (step {step}).{unfinished}

Input "images": float32 [n, {channels}, {size}, {size}] in 0..1, n from 1 on.
Output "embeddings": float32 [n, {width}]; compared by {distance}.

{stored}

How an image becomes an input, step by step as in the run. An image of the run then gets the embedding that the run
stored, to the last digits of float32; a run on a GPU may have stored other last digits, for a GPU rounds otherwise.
{steps}

{example} does this, for an image without transparency and with 8 bits.
"""


COMPARED_BY = {
    "cosine": "the angle (cosine)", "l2": "their distance (L2)",
    "hyperbolic": "their hyperbolic distance arcosh(1 + 2 |x - y|^2 / ((1 - |x|^2) (1 - |y|^2))), as points in the\n"
    "Poincaré ball of radius 1",
}  # fmt: skip


class Deployed(nn.Module):
    """The network with the crop of its evaluation: images [n, C, S, S] in 0..1 -> embeddings [n, d] as compared."""

    def __init__(
        self, model: nn.Module, crop: Callable[[Tensor], Tensor], compared: Callable[[Tensor], Tensor]
    ) -> None:
        super().__init__()
        self.model, self._crop, self._compared = model, crop, compared

    def forward(self, images: Tensor) -> Tensor:
        return self._compared(self.model(self._crop(images)))


class Cells(nn.Module):
    """nn.AdaptiveMaxPool2d by operations that ONNX has: [n, C, H, W] -> [n, C, side, side]."""

    def __init__(self, side: int) -> None:
        super().__init__()
        self._side = side

    def forward(self, images: Tensor) -> Tensor:
        for axis in (2, 3):
            length = images.shape[axis]
            cells = [(at * length // self._side, -(-(at + 1) * length // self._side)) for at in range(self._side)]
            parts = [images.narrow(axis, low, high - low).amax(axis, keepdim=True) for low, high in cells]
            images = torch.cat(parts, axis)
        return images


def with_cells(network: nn.Module) -> None:
    """Replace every adaptive maximum with a fixed square of positions by Cells."""
    for parent in list(network.modules()):
        for name, part in parent.named_children():
            if isinstance(part, nn.AdaptiveMaxPool2d) and isinstance(part.output_size, int):
                setattr(parent, name, Cells(part.output_size))


def write_torch(source: Source, out: Path, progress: Progress) -> list[Path]:
    """`model.pt2`, `model-note.txt` and `model-example.py` in `out`; loaded by `torch.export.load` without Workbench.

    Raises:
        Problem: no checkpoint, a network that torch.export cannot follow, or a result that differs from the network's.
    """
    trained, network, images = _network(source, progress)
    wanted = network(images)
    progress("Following the network", 0, 0)
    exported = _followed(network, images)
    _compare(wanted, exported.module()(images), "model.pt2")
    whole = BytesIO()
    torch.export.save(exported, whole)
    return _stored(source, trained, out, "model.pt2", whole.getvalue(), EXAMPLE_TORCH, wanted.shape[1])


def write_onnx(source: Source, out: Path, progress: Progress) -> list[Path]:
    """`model.onnx`, `onnx-note.txt` and `onnx-example.py` in `out`; read by any ONNX runtime.

    Raises:
        Problem: as `write_torch`, an operation that ONNX does not have, or onnx is not installed or too old for torch.
    """
    load("onnx", "ONNX", "onnx")
    load("onnxscript", "ONNX", "onnx")
    trained, network, images = _network(source, progress)
    wanted = network(images)
    with_cells(network)
    progress("Following the network", 0, 0)
    exported = _followed(network, images)
    _compare(wanted, exported.module()(images), "model.onnx")
    try:
        with warnings.catch_warnings():
            for outdated in (DeprecationWarning, FutureWarning):
                warnings.filterwarnings("ignore", category=outdated, module=EXPORTERS)
            program = torch.onnx.export(
                exported, input_names=["images"], output_names=["embeddings"], dynamo=True, verbose=False
            )
    except torch.onnx.OnnxExporterError as error:
        reason = str(error.__cause__ or error).partition("\n")[0]
        raise Problem(f"This network cannot be written as ONNX ({reason}).", kept="The run is kept.") from None
    except ImportError as error:  # each release of torch asks onnxscript for a module that older ones lack
        raise Problem(
            f"onnxscript {version('onnxscript')} does not work with PyTorch {torch.__version__} ({error}).",
            kept="The run is kept; the file was not written.",
            todo="Install the newest: `python -m pip install --upgrade onnx onnxscript`.",
        ) from None
    assert program is not None
    whole = program.model_proto.SerializeToString()
    return _stored(source, trained, out, "model.onnx", whole, EXAMPLE_ONNX, wanted.shape[1])


def _network(source: Source, progress: Progress) -> tuple[trained_network.Trained, Deployed, Tensor]:
    """The trained network with two grey and noisy images of its size."""
    progress("Loading the checkpoint", 0, 0)
    trained = trained_network.trained(source.workspace, source.run.id)
    network = Deployed(trained.model, trained.crop, trained.compared).eval().requires_grad_(False)
    shape = (2, trained.dataset.channels, trained.prepared.side, trained.prepared.side)
    return trained, network, torch.from_numpy(np.random.default_rng(0).random(shape, np.float32))


def _followed(network: Deployed, images: Tensor) -> torch.export.ExportedProgram:
    """The network as a graph for any number of images."""
    count = torch.export.Dim("n", min=1)
    try:
        return torch.export.export(network, (images,), dynamic_shapes={"images": {0: count}})
    except (RuntimeError, torch._dynamo.exc.TorchDynamoException) as error:
        reason = str(error).partition("\n")[0]
        raise Problem(f"torch.export cannot follow this network ({reason}).", kept="The run is kept.") from None


def _compare(wanted: Tensor, output: Tensor, name: str) -> None:
    """Raise Problem for a file whose embeddings differ from the network's."""
    difference = float((wanted - output).abs().max())
    if not difference <= ALLOWED:
        raise Problem(
            f"{name} would give other embeddings than the network (they differ by {difference:.2g}).",
            kept="The run is kept; the file was not written.",
        )


def _stored(
    source: Source, trained: trained_network.Trained, out: Path, name: str, whole: bytes, example: str, width: int
) -> list[Path]:
    """The network's file with its note and example beside it."""
    stem = "model" if name.endswith(".pt2") else "onnx"
    network, note, script = out / name, out / f"{stem}-note.txt", out / f"{stem}-example.py"
    run, data = source.run, trained.dataset
    prepared, crop = trained.prepared, "Divide by 255. Mean, standard deviation and crop, if any, are in the network."
    steps = "\n".join(f"{number}. {step}" for number, step in enumerate([*prepared.words, crop], start=1))
    said = NOTE.format(
        file=name, run=run.id, name=" ".join(run.name.split()), version=__version__, torch=torch.__version__,
        epoch=trained.epoch, step=trained.step, channels=data.channels, size=prepared.side, width=width,
        unfinished=f" The run had not ended: it was {run.status}." if run.live else "",
        distance=COMPARED_BY[_distance(source)],
        steps=steps, example=script.name, stored=_embeddings_of(source, trained),
    )  # fmt: skip
    filled = example.format(
        library="import io\n\n" if prepared.encoded else "", prepare=prepared.code, size=prepared.side,
        channels=data.channels,
    )  # fmt: skip
    for path, content in ((network, whole), (note, said.encode()), (script, filled.encode())):
        with written_file(source, path) as file:
            file.write(content)
    return [network, note, script]


def _embeddings_of(source: Source, trained: trained_network.Trained) -> str:
    """Which of the embeddings that the run stored are this network's, and a warning where others were chosen."""
    run = source.run.id
    stored = f"Its embeddings of the test set: `workbench export {run} --format npy --epoch {trained.epoch}`."
    if source.evaluation is None or source.evaluation.step == trained.step:
        return stored
    return f"{stored} Those of epoch {source.evaluation.epoch} are in another space: never search one with the other."


def _distance(source: Source) -> str:
    return source.evaluation.distance if source.evaluation else "cosine"
