"""Measures Workbench on a GPU, in under nine minutes: `python tests/benchmarks/gpu.py [--parts trainer feed ...]`.

Needs nothing but the repository, which makes its own photographs, and pytorch-metric-learning for the losses' peers.
Prints rows for docs/benchmarks.md as they come, also into a file with --out. Each part has a process of its own, the
most important first: one that fails or takes too long says so in its row, and the others still run. Parts for which
--seconds leave no time are named at the end. With --tiny everything is small, so that a CPU does it in minutes.
"""

import argparse
import contextlib
import os
import re
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from itertools import product
from pathlib import Path
from statistics import median
from time import perf_counter

sys.path.insert(0, str(Path(__file__).parents[2]))  # a bare machine has only the repository
sys.path.insert(0, str(Path(__file__).parent))

import decode_speed
import numpy as np
import torch
from PIL import Image
from timed_parts import Part, run_parts
from torch import Tensor

from workbench import jobs
from workbench.backbones.model import build_model
from workbench.config import Choice, EmbeddingParams, EvaluationParams, RunConfig, TrainingParams
from workbench.control import Control
from workbench.datasets.batches.augment import CropFlip, CropFlipParams
from workbench.datasets.cache.crop_processes import CropProcesses
from workbench.datasets.cache.encoded_images import EncodedImages
from workbench.datasets.cache.keeping import keep
from workbench.datasets.image_set import ImageSet
from workbench.datasets.images.image_files import ImageFiles
from workbench.evaluation.retrieval import retrieve
from workbench.events import Scalar
from workbench.losses import build_loss, list_losses
from workbench.losses.batch import labels_in_range
from workbench.problem import Problem
from workbench.progress import quiet
from workbench.running.building import MOST_PROCESSES, Data, crop_processes, load_data
from workbench.running.engine import Engine
from workbench.training import checkpoint
from workbench.training import device as devices
from workbench.training.feed import Feed
from workbench.training.meter import FEED_WAIT
from workbench.training.optimisers import build_optimiser, build_schedule
from workbench.training.trainer import Parts, train, train_step

MODELS = {  # name: (backbone, parameters, side of the crops, steps of an epoch)
    "ResNet-50 at 224 px": ("resnet50", {}, 224, 40),
    "ViT-S/16 at 224 px": ("timm", {"model": "vit_small_patch16_224"}, 224, 40),
    "conv4 at 28 px": ("conv4", {}, 28, 100),
}
TINY_MODELS = {
    "ResNet-18 at 32 px": ("resnet18", {}, 32, 2),
    "ViT of timm's tests at 32 px": ("timm", {"model": "test_vit"}, 32, 2),
    "conv4 at 28 px": ("conv4", {}, 28, 2),
}
CROP = 0.875
CLASSES = 100
SECONDS = 540.0
COMMAND = "python tests/benchmarks/gpu.py"
ROOT = Path(__file__).parents[2]


class Bench:
    """The device, the sizes, and the rows so far."""

    def __init__(self, args: argparse.Namespace, folder: Path) -> None:
        self.device, self.tiny, self.folder = devices.choose(args.device), args.tiny, folder
        self.precision = "bf16" if self.device.type == "cuda" else "float32"
        self.batch, self.photographs = (8, 24) if self.tiny else (128, 2048)
        self.turns, self.epochs = (1, 2) if self.tiny else (5, 3)  # epochs of a turn of the trainer
        self.models = TINY_MODELS if self.tiny else MODELS
        self.measured = f"{date.today().isoformat()}, {devices.describe(self.device)['device']}"

    def row(self, what: str, figure: str, target: str = "") -> None:
        print(f"| {what} | `{COMMAND}` | {figure} | {self.measured} | {target} | |", flush=True)

    def begin_row(self) -> None:
        """Forget the peak memory of the row before."""
        if self.device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(self.device)

    def peak(self) -> str:
        """Peak GPU memory since `begin_row`."""
        if self.device.type != "cuda":
            return ""
        return f", peak {torch.cuda.max_memory_allocated(self.device) / 2**20:,.0f} MiB"

    def wait(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

    def seconds(self, work: Callable[[], object]) -> float:
        self.wait()
        since = perf_counter()
        work()
        self.wait()
        return perf_counter() - since

    def photographs_of(self, side: int) -> ImageSet:
        """JPEGs of 500 x 375 px and the like, smooth with some noise, as large in bytes as photographs are."""
        folder = self.folder / "photographs"
        if not folder.is_dir():
            make_photographs(folder, self.photographs)
        paths = sorted(path.name for path in folder.iterdir())
        labels = np.arange(len(paths)) % CLASSES
        names = [str(label) for label in range(CLASSES)]
        return ImageSet("made", folder, paths, labels, names, 3, side, ImageFiles(folder, paths, 3, side))

    def encoded(self, side: int) -> EncodedImages:
        images = keep(self.photographs_of(side), self.folder / "cache", "encoded", True, quiet)[1]
        assert isinstance(images, EncodedImages)
        return images

    def encoded_file(self, side: int) -> Path:
        return keep(self.photographs_of(side), self.folder / "cache", "encoded", True, quiet)[2]


def make_photographs(folder: Path, count: int) -> None:
    """Make the photographs in a folder that is there once all of them are."""
    unfinished = Path(tempfile.mkdtemp(dir=folder.parent))
    noise = np.random.default_rng(0).normal(0, 8, (600, 600, 3)).astype(np.int16)

    def make(number: int) -> None:
        rng = np.random.default_rng(number)
        wide, high = (375, 500) if number % 3 == 0 else (500, 375)
        small = rng.integers(0, 255, (high // 25, wide // 25, 3), np.uint8)
        smooth = np.asarray(Image.fromarray(small).resize((wide, high), Image.Resampling.BICUBIC), np.int16)
        top, left = rng.integers(0, 100, 2)
        noisy = (smooth + noise[top : top + high, left : left + wide]).clip(0, 255).astype(np.uint8)
        Image.fromarray(noisy).save(unfinished / f"{number:05}.jpg", quality=92)

    with ThreadPoolExecutor(jobs.cores()) as threads:
        list(threads.map(make, range(count)))
    unfinished.rename(folder)


class Drawn:
    """Random batches, the same for every reader."""

    def __init__(self, images: int, batch: int, steps: int) -> None:
        self.steps_per_epoch, self.places, self._batch = steps, np.arange(images), batch

    def batches(self, epoch: int) -> list[np.ndarray]:
        rng = np.random.default_rng(epoch)
        return [rng.integers(0, len(self.places), self._batch) for _ in range(self.steps_per_epoch)]


class Unchanged:
    def __call__(self, images: Tensor, generator: torch.Generator) -> Tensor:
        return images

    def evaluate(self, images: Tensor) -> Tensor:
        return images


def parts_of(bench: Bench, backbone: str, params: dict[str, object], steps: int, precision: str) -> Parts:
    torch.manual_seed(0)
    model = build_model(backbone, params, EmbeddingParams(dim=128), 3).to(bench.device)
    # Without dropout, whose random numbers differ between devices.
    loss = build_loss("ce", num_classes=CLASSES, embedding_dim=128, dropout=0.0).to(bench.device)
    if bench.device.type in devices.CHANNELS_LAST:
        model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    settings = TrainingParams(optimiser="sgd", lr=0.01)
    optimiser = build_optimiser(settings, model, loss)
    return Parts(model, loss, optimiser, build_schedule(settings, optimiser, steps), bench.device, precision)


def bare_loop(parts: Parts, images: Tensor, labels: Tensor, steps: int) -> None:
    """A loop as one writes it by hand, on batches that are already made."""
    parts.model.train()
    for step in range(steps):
        with devices.autocast(parts.device, parts.precision):
            value = parts.loss(parts.model(images), labels)
        parts.optimiser.zero_grad(set_to_none=True)
        value.backward()
        parts.optimiser.step()
        if step % 10 == 9:
            value.item()


def through_trainer(  # type: ignore[no-untyped-def]
    parts: Parts, feed: Feed, order: Drawn, augmentation, epochs: int, waits: list[float]
) -> None:
    def emit(event: object) -> None:
        if isinstance(event, Scalar) and event.name == FEED_WAIT:
            waits.append(event.value)

    parts.go_to(0)
    steps = order.steps_per_epoch
    with contextlib.closing(feed.training(order, augmentation, seed=0, epochs=epochs)) as batches:
        train(parts, batches, epochs=epochs, steps_per_epoch=steps, control=Control(), emit=emit)


def trainer(bench: Bench) -> None:
    """The trainer on JPEG and on tensors of noise, against the bare loop on one batch that lies on the device."""
    for title in bench.models:
        speed_of(bench, title)


def speed_of(bench: Bench, title: str) -> None:
    """One row: the three loops of a model in turns."""
    backbone, params, side, steps = bench.models[title]
    epochs = bench.epochs
    bench.begin_row()
    parts = parts_of(bench, backbone, params, epochs * steps, bench.precision)
    encoded = bench.encoded(round(side / CROP))
    noise = np.random.default_rng(0).integers(0, 255, (256, side, side, 3), np.uint8)
    rows = np.arange(len(encoded))
    by = crop_processes(bench.encoded_file(round(side / CROP)))
    photographs = Feed(encoded, rows, rows % CLASSES, bench.device, crops=by)
    tensors = Feed(noise, np.arange(256), np.arange(256) % CLASSES, bench.device)
    crops, waits = CropFlip(CropFlipParams(crops_of="whole", crop=CROP)), list[float]()
    order, other = Drawn(len(encoded), bench.batch, steps), Drawn(256, bench.batch, steps)
    images, wanted = tensors.images(np.arange(bench.batch)), tensors.labels[: bench.batch]
    loops: dict[str, Callable[[], None]] = {
        "bare": lambda: bare_loop(parts, images, wanted, epochs * steps),
        "tensors": lambda: through_trainer(parts, tensors, other, Unchanged(), epochs, []),
        "JPEG": lambda: through_trainer(parts, photographs, order, crops, epochs, waits),
    }
    speeds = speeds_of(bench, loops, bench.batch * epochs * steps)
    speed = {name: median(each) for name, each in speeds.items()}
    way = f"{photographs.threads} threads" if by is None else f"{by.count} processes"
    if by is not None:
        by.close()
    bench.row(
        f"{title}, batch {bench.batch}, {bench.precision}, {epochs} epochs of {steps} steps: trainer with JPEG ({way})",
        f"{speed['JPEG']:,.0f} img/s, {share(speeds['JPEG'], speeds['tensors'])} of noise from the device's memory "
        f"({speed['tensors']:,.0f}); that is {share(speeds['tensors'], speeds['bare'])} of the bare loop "
        f"({speed['bare']:,.0f}); wait for a batch {1000 * median(waits):.2f} ms a step{bench.peak()}",
        "0.95 of noise with 12 cores",
    )


def speeds_of(bench: Bench, loops: dict[str, Callable[[], None]], images: int) -> dict[str, list[float]]:
    """Images a second of each loop in every turn; the first turn warms up, and the order changes with the turns."""
    speeds: dict[str, list[float]] = {name: [] for name in loops}
    for turn in range(bench.turns + 1):
        first = turn % len(loops)
        for name in [*loops][first:] + [*loops][:first]:
            seconds = bench.seconds(loops[name])
            if turn:
                speeds[name].append(images / seconds)
    return speeds


def share(these: list[float], others: list[float]) -> str:
    """The median of the turns' ratios, with the smallest and the largest: turns differ by a tenth."""
    ratios = [one / other for one, other in zip(these, others, strict=True)]
    return f"{median(ratios):.3f} ({min(ratios):.2f} to {max(ratios):.2f})"


def waiting(bench: Bench) -> None:
    """Operations of a step that make the CPU wait for the GPU."""
    title, (backbone, params, side, _) = next(iter(bench.models.items()))
    parts = parts_of(bench, backbone, params, 8, bench.precision)
    encoded = bench.encoded(round(side / CROP))
    rows = np.arange(len(encoded))
    feed = Feed(encoded, rows, rows % CLASSES, bench.device)
    crops = CropFlip(CropFlipParams(crops_of="whole", crop=CROP, jitter=0.2, hue=0.1))
    found: list[str] = []
    with contextlib.closing(feed.training(Drawn(len(encoded), bench.batch, 8), crops, seed=0)(1, 0)) as batches:
        for step in range(8):
            with synchronisations(bench, found if step > 2 else []):
                images, labels = next(batches)
                train_step(parts, images, labels, lambda: None)
    places = sorted(set(found))
    bench.row(f"{title}: implicit synchronisations in 5 steps", f"{len(found)} {'; '.join(places[:3])}".strip(), "0")


@contextlib.contextmanager
def synchronisations(bench: Bench, found: list[str]) -> Iterator[None]:
    """Add to `found` where the block implicitly waits for the GPU."""
    if bench.device.type != "cuda":
        yield
        return
    before = torch.cuda.get_sync_debug_mode()
    torch.cuda.set_sync_debug_mode("warn")
    try:
        with warnings.catch_warnings(record=True) as noted:
            warnings.simplefilter("always")
            yield
    finally:
        torch.cuda.set_sync_debug_mode(before)
    found += [f"{Path(wait.filename).name}:{wait.lineno}" for wait in noted if "synchroniz" in str(wait.message)]


def feed(bench: Bench) -> None:
    """Decoding by cores; crops by threads and by processes that have started before."""
    side = 256 if not bench.tiny else 36
    every, folder = sorted(os.sched_getaffinity(0)), bench.photographs_of(side).root
    assert folder is not None
    for cores, times in dict.fromkeys([(1, 1), (len(every), 1 if bench.tiny else 8)]):  # each file so many times
        images = decode_speed.image_set(folder, side, bench.photographs, times)
        seconds, _ = decode_speed.decoding(images, "encoded", set(every[:cores]))
        bench.row(
            f"Decoding {len(images.paths):,} photographs of 500 x 375 px and keeping them as JPEG at {side} px, "
            f"cores: {cores}",
            f"{len(images.paths) / seconds:,.0f} img/s",
        )
    wanted = argparse.Namespace(folder=folder, side=side, images=bench.photographs, times=1)
    with decode_speed.bare_processes(wanted, every) as bare:
        bare.decoding(len(every))  # they start
        for cores in dict.fromkeys((1, len(every))):
            bench.row(
                f"The same decoded and not kept by bare processes, cores: {cores}",
                f"{bench.photographs / bare.decoding(cores):,.0f} img/s",
            )
    encoded = bench.encoded(side)
    crops = CropFlip(CropFlipParams(crops_of="whole", crop=CROP))
    rows, steps = np.arange(len(encoded)), 2 if bench.tiny else 48
    for count in dict.fromkeys((1, min(MOST_PROCESSES, max(1, len(every) - 1)))):
        for by in (None, CropProcesses(bench.encoded_file(side), count)):
            source = Feed(encoded, rows, rows, bench.device, threads=count, crops=by)
            few, many = (
                source.training(Drawn(len(encoded), bench.batch, number), crops, seed=0) for number in (2, steps)
            )
            bench.seconds(lambda few=few: sum(1 for _ in few(1, 0)))  # processes start
            seconds = bench.seconds(lambda many=many: sum(1 for _ in many(1, 0)))
            way = f"threads: {count}" if by is None else f"processes: {count}"
            bench.row(f"Feed alone, crops of whole images, {way}", f"{bench.batch * steps / seconds:,.0f} img/s")
            if by is not None:
                by.close()


def losses(bench: Bench) -> None:
    """Every loss, forward and backward, against its peer or alone."""
    import loss_cost  # needs pytorch-metric-learning, which the program does without

    loss_cost.tsc.repelling = loss_cost.uniform
    loss_cost.LONGEST = 0.2
    sizes = [(8, 16, 10)] if bench.tiny else [(n, 512, classes) for n in (128, 512) for classes in (100, 11_318)]
    args = argparse.Namespace(device=str(bench.device), rounds=1 if bench.tiny else 7)
    failed = []
    against_itself = [
        loss_cost.measured(name, loss_cost.Comparison("itself", loss_cost.made(name)), size, args)
        for name, size in product(("ce", "smooth_ap"), sizes)
    ]
    far = max(ours / other for ours, other in against_itself)
    bench.row("A loss against the same loss (ce, smooth_ap), to be compared with the next rows", f"at most {far:.2f}")
    for name in list_losses():
        figures, worst = [], 0.0
        for n, dim, classes in sizes:
            try:
                if name in loss_cost.BARE or name in loss_cost.PML:
                    against = loss_cost.comparisons(name, less=False)[0]
                    ours, theirs = loss_cost.measured(name, against, (n, dim, classes), args)
                    worst = max(worst, ours / theirs)
                else:
                    loss = loss_cost.built(name, classes, dim, {}).to(bench.device).train()
                    batch = loss_cost.batch_of(n, dim, classes, 4, str(bench.device))
                    [ours] = loss_cost.in_turns([loss], [batch], args.rounds, 2)
                figures.append(f"{ours:.2f}")
            except Exception as error:  # noqa: BLE001 - the other losses have rows, too
                figures.append(f"{type(error).__name__}: {' '.join(str(error).split())[:100]}")
                failed.append(name)
        of = f"; at most {worst:.2f} of its peer" if worst else ""
        shown = ", ".join(f"{n} x {classes:,}" for n, _, classes in sizes)
        bench.row(f"Loss {name}, ms at n x K of {shown}", f"{', '.join(figures)}{of}", "1.1 of its peer")
    if failed:
        raise RuntimeError(f"these could not be measured: {', '.join(dict.fromkeys(failed))}")


def metrics(bench: Bench) -> None:
    """Measure all exact metrics."""
    sizes = [(600, 16, 50)] if bench.tiny else [(60_502, 512, 11_316), (1_000_000, 128, 20_000)]
    for n, dim, classes in sizes:
        rng = np.random.default_rng(0)
        labels = rng.permutation(np.arange(n) % classes)
        vectors = (0.5 * rng.normal(size=(classes, dim)).astype(np.float32))[labels]
        vectors += rng.normal(size=(n, dim)).astype(np.float32)

        def measure(count: int, vectors: np.ndarray = vectors, labels: np.ndarray = labels) -> dict[str, float]:
            return retrieve(vectors[:count], labels[:count], np.arange(count), k=10, device=str(bench.device)).metrics

        measure(min(n, 2000))
        bench.begin_row()
        found: list[dict[str, float]] = []
        seconds = bench.seconds(lambda found=found, n=n, measure=measure: found.append(measure(n)))
        target = "1.5 s" if dim == 512 else ""
        figure = f"{seconds:.2f} s, MAP@R {found[0]['MAP@R']:.4f}{bench.peak()}"
        bench.row(f"All metrics and 10 neighbours, exact, {n:,} x {dim}, {classes:,} classes", figure, target)


def agreement(bench: Bench) -> None:
    """float32 on the device against the CPU: embeddings, loss and gradients."""
    with without_tf32():
        for title in bench.models:
            agreement_of(bench, title)


@contextlib.contextmanager
def without_tf32() -> Iterator[None]:
    """Products and convolutions in float32 proper, for the block."""
    products, convolutions = torch.backends.cuda.matmul, torch.backends.cudnn
    before = products.allow_tf32, convolutions.allow_tf32
    products.allow_tf32 = convolutions.allow_tf32 = False
    try:
        yield
    finally:
        products.allow_tf32, convolutions.allow_tf32 = before


def agreement_of(bench: Bench, title: str) -> None:
    """Two rows: the device against the CPU, and how far each is from float64, which bounds what can be asked."""
    cpu = torch.device("cpu")
    exact, on_cpu, here = (
        calculated(bench, title, device, dtype)
        for device, dtype in ((cpu, torch.float64), (cpu, torch.float32), (bench.device, torch.float32))
    )
    bench.row(f"{title}, float32 against the CPU, relative", in_words(on_cpu, here), "1e-4")
    figure = f"CPU: {in_words(exact, on_cpu)}; {bench.device.type.upper()}: {in_words(exact, here)}"
    bench.row(f"{title}, float32 against float64 of the CPU, relative", figure)


def calculated(bench: Bench, title: str, device: torch.device, dtype: torch.dtype) -> list[Tensor]:
    """Embeddings, loss and all gradients of one batch, in float64 on the CPU."""
    backbone, params, side, _ = bench.models[title]
    parts = parts_of(argparse.Namespace(device=device), backbone, params, 4, "float32")  # type: ignore[arg-type]
    images = torch.from_numpy(np.random.default_rng(0).random((16, 3, side, side), np.float32)).to(device, dtype)
    labels = torch.arange(16, device=device) % 4
    parts.model.eval().to(dtype)
    parts.loss.to(dtype)
    for weights in parts.loss.parameters():  # some start at 0, which would give the network no gradient
        weights.data = torch.from_numpy(np.random.default_rng(1).normal(0, 0.1, weights.shape)).to(weights)
    embeddings = parts.model(images)
    value = parts.loss(embeddings, labels)
    value.backward()
    gradient = torch.cat([w.grad.flatten() for w in parts.model.parameters() if w.grad is not None])
    if not gradient.any():
        raise RuntimeError("the network has no gradient to compare")
    return [result.detach().cpu().double() for result in (embeddings, value, gradient)]


def in_words(one: list[Tensor], other: list[Tensor]) -> str:
    """The size of the differences, relative to the first."""
    sizes = [float((a - b).norm() / a.norm().clamp_min(1e-12)) for a, b in zip(one, other, strict=True)]
    return ", ".join(f"{name} {size:.1e}" for name, size in zip(("embeddings", "loss", "gradient"), sizes, strict=True))


def config_of(bench: Bench, **training: object) -> RunConfig:
    return RunConfig(
        device=bench.device.type, backbone=Choice(name="conv4", params={"width": 16}),
        embedding=EmbeddingParams(dim=16), augmentation=Choice(name="shift"),
        evaluation=EvaluationParams(probe_size=64, probe_every=10, untrained=False),
        training=TrainingParams(**{"epochs": 2, "precision": "float32", "deterministic": True, **training}),
    )  # fmt: skip


def resume(bench: Bench) -> None:
    """Check that an interrupted and resumed run gives the same values as an uninterrupted one."""
    data = load_data(config_of(bench), quiet)
    left_alone, again = losses_of_a_run(bench, data, 0), losses_of_a_run(bench, data, 20)
    if left_alone.keys() != again.keys():
        raise RuntimeError(f"{len(left_alone)} steps were told, and {len(again)} after the interruption")
    worst = max(abs(left_alone[step] - again[step]) for step in left_alone)
    bench.row("A run interrupted at step 20 and gone on with: largest difference of a step's loss", f"{worst:.1e}", "0")


def losses_of_a_run(bench: Bench, data: Data, interrupted: int) -> dict[int, float]:
    """The loss by step of a short run; above 0, it is interrupted at that step and resumed."""
    folder, events, control = Path(tempfile.mkdtemp(dir=bench.folder)), list[object](), Control()

    def listen(event: object) -> None:
        events.append(event)
        if isinstance(event, Scalar) and event.name == "batch/loss" and event.step == interrupted:
            control.interrupt()

    Engine(config_of(bench), data, folder, control, listen).run()
    if interrupted:
        engine = Engine(config_of(bench), data, folder, Control(), events.append)
        engine.resume(folder / "last.pt")
        engine.run()
    return {event.step: event.value for event in events if isinstance(event, Scalar) and event.name == "batch/loss"}


def memory(bench: Bench) -> None:
    """Check that a batch that is too large gives an error message, and that a smaller one runs afterwards."""
    config = config_of(bench, epochs=1)
    engine = Engine(config, load_data(config, quiet), bench.folder, Control(), lambda event: None)
    real, held = engine.parts.model.forward, list[Tensor]()
    engine.run()  # the optimiser's state is made, and what torch takes once
    before = devices.memory_in_use(bench.device)

    def short(images: Tensor) -> Tensor:
        if bench.device.type != "cuda":  # the memory of this machine is not taken from its other programs
            raise torch.OutOfMemoryError("out of memory")
        if engine.parts.model.training:
            held.extend(all_memory(lambda size: torch.empty(size, dtype=torch.uint8, device=bench.device)))
        return real(images)

    engine.parts.model.forward = short  # type: ignore[method-assign]
    engine.parts.go_to(0)
    try:
        engine.run()
        raise RuntimeError("a step without memory was not refused")
    except Problem as problem:
        what = problem.what
    taken = sum(block.nbytes for block in held)
    held.clear()
    devices.free_cached()
    engine.parts.model.forward = real  # type: ignore[method-assign]
    after, where = devices.memory_in_use(bench.device), ""
    if bench.device.type == "cuda":
        where = (
            f"{taken / 2**30:.1f} GiB were taken; {before / 2**20:.1f} MiB in use before, {after / 2**20:.1f} after. "
        )
    engine.parts.go_to(0)
    engine.run()
    bench.row("A batch that does not fit", f"{what} {where}The next run of the same engine ended.")


def all_memory(ask: Callable[[int], Tensor]) -> list[Tensor]:
    """Blocks that `ask` gives for a number of bytes, until it has not even a small one any more."""
    blocks, size = list[Tensor](), 1 << 32
    while size >= 512:  # what torch gives at least
        try:
            blocks.append(ask(size))
        except torch.OutOfMemoryError:
            size //= 2
    return blocks


def window(bench: Bench) -> None:
    """Measure stalls of the window's event loop while a run trains on the device."""
    command = [
        sys.executable,
        str(Path(__file__).with_name("window_stalls.py")),
        "--seconds",
        "2" if bench.tiny else "20",
    ]
    said = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "QT_QPA_PLATFORM": "offscreen"}, timeout=240
    )
    figures = re.findall(r"(?m)^.*(?:median|longest|p99).*$", said.stdout)
    if said.returncode or not figures:
        raise RuntimeError((said.stderr or said.stdout).strip().splitlines()[-1])
    bench.row("Stalls of the window's event loop while Digits trains", " ".join(figures[0].split()), "50 ms")


PARTS: dict[str, tuple[Callable[[Bench], None], float]] = {  # the most important first; seconds by estimate
    "trainer": (trainer, 170.0),
    "waiting": (waiting, 15.0),
    "agreement": (agreement, 20.0),
    "resume": (resume, 15.0),
    "memory": (memory, 15.0),
    "metrics": (metrics, 60.0),
    "losses": (losses, 40.0),
    "feed": (feed, 60.0),
    "window": (window, 100.0),
}


class Table:
    """Rows of a Markdown table on stdout, and in a file if there is one; each line is there at once."""

    def __init__(self, file: Path | None) -> None:
        self._file, self._said, self._begun = file, set[str](), False

    def say(self, line: str) -> None:
        """A row, or a line beside the table, which is said once."""
        if not line.startswith("| "):
            if line not in self._said:  # each part says on which device
                self._said.add(line)
                self._write(line)
            return
        if not self._begun:
            self._begun = True
            self._write("\n| what | command | figure | measured | target | met |\n|---|---|---|---|---|---|")
        self._write(line)

    def say_failed(self, name: str, reason: str) -> None:
        """The row of a part that failed."""
        today, reason = date.today().isoformat(), reason.replace("|", "/")
        self.say(f"| {name} | `{COMMAND} --parts {name}` | {reason} | {today} | | |")

    def _write(self, line: str) -> None:
        print(line, flush=True)
        if self._file is not None:
            with self._file.open("a", encoding="utf-8") as file:
                print(line, file=file)


def measure(name: str, args: argparse.Namespace, folder: Path) -> int:
    """Measure one part in this process; returns its exit status. The last line of an error names it."""
    checkpoint.seed_everything(0, deterministic=False)  # as a run sets torch
    try:
        with labels_in_range():
            bench = Bench(args, folder)
            facts = devices.describe(bench.device)
            print(f"{facts['device']}, {facts['cores']} cores, torch {facts['torch']}, {bench.precision}", flush=True)
            PARTS[name][0](bench)
    except Exception as error:  # noqa: BLE001 - one part's failure is a row, not the end of the others
        traceback.print_exc()
        print(f"{type(error).__name__}: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    return 0


def command_of(name: str, args: argparse.Namespace, folder: Path) -> list[str]:
    """The command that measures one part in a folder that all parts share."""
    tiny = ["--tiny"] if args.tiny else []
    return [sys.executable, __file__, "--device", args.device, *tiny, "--parts", name, "--inside", str(folder)]


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="auto", choices=("auto", "cpu", "cuda", "mps"))
    parser.add_argument("--parts", nargs="*", default=list(PARTS), choices=list(PARTS))
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for all parts together")
    parser.add_argument("--out", type=Path, help="a file to which every line is added, too")
    parser.add_argument("--inside", type=Path, help="measure one part in this process, with the files in this folder")
    args = parser.parse_args(words)
    if args.inside is not None:
        return measure(args.parts[0], args, args.inside)
    table = Table(args.out)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        chosen = [name for name in PARTS if name in args.parts]
        parts = [Part(name, command_of(name, args, Path(folder)), PARTS[name][1]) for name in chosen]
        course = run_parts(parts, args.seconds, table.say, table.say_failed)
    left_out = f"; no time was left for {', '.join(course.skipped)}" if course.skipped else ""
    table.say(f"\n{course.seconds:.0f} of {args.seconds:.0f} s were used{left_out}.")
    return int(bool(course.failed or course.skipped))


if __name__ == "__main__":
    sys.exit(main())
