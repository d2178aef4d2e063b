"""What the Anatomy panel's measurement of the probe adds to a training step, as often as a preset measures it.

    OMP_NUM_THREADS=1 XDG_CACHE_HOME=FOLDER python tests/benchmarks/anatomy_cost.py mnist-ce-spce dataset.folder=PLACE

Trains some steps as a run does, and then looks at the probe a few times:
medians of processor time with one thread, by the clock with more. The share is the anatomy and the method's charts over
`anatomy_every` steps; beside it stands the whole of the probe's curves over `probe_every`.
"""

import argparse
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

import torch

from workbench.config import RunConfig
from workbench.control import Control
from workbench.losses.anatomy import mutual_information, pce, tightness_contrastive
from workbench.losses.anatomy_view import OF_PAIRS, PAIRS, anatomy
from workbench.running.building import load_data
from workbench.running.engine import Engine
from workbench.settings.changed import read_config
from workbench.training.probe import embed
from workbench.training.trainer import train


def milliseconds(work: Callable[[], object], rounds: int = 5) -> float:
    clock = process_time if torch.get_num_threads() == 1 else perf_counter
    taken = []
    for _ in range(rounds):
        since = clock()
        work()
        taken.append(1000 * (clock() - since))
    return median(taken)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("preset")
    parser.add_argument("changes", nargs="*", help="such as dataset.folder=FOLDER or dataset.place=ARCHIVE")
    parser.add_argument("--steps", type=int, default=60, help="of an epoch, all of it at most")
    args = parser.parse_args()
    config = read_config(args.preset, tuple(args.changes))
    data = load_data(config, lambda *_: None)
    with TemporaryDirectory() as folder:
        engine = Engine(config, data, Path(folder), Control(), lambda event: None)
        measure(engine, config, args.steps)


def measure(engine: Engine, config: RunConfig, steps: int) -> None:
    parts, settings, classes = engine.parts, config.evaluation, len(engine.classes)
    batches = engine.feed.training(engine.sampler, engine.augmentation, config.seed, config.training.views)
    steps = min(steps, engine.sampler.steps_per_epoch)

    def some(epoch: int) -> None:
        train(
            parts, lambda _, skip: islice(batches(epoch, 0), steps), epochs=parts.step // steps + 1,
            steps_per_epoch=steps, control=Control(), emit=lambda event: None,
        )  # fmt: skip

    some(1)  # warms up
    epochs = iter(range(2, 9))
    step = milliseconds(lambda: some(next(epochs)), 3) / steps
    probe = engine.probe
    embeddings = embed(parts.model, engine.feed, engine.augmentation, probe.index)
    labels = engine.feed.labels[torch.from_numpy(probe.index)]
    charts = getattr(parts.loss, "charts", lambda *_: None)
    of_anatomy = milliseconds(lambda: anatomy(parts.loss, embeddings, labels))
    of_charts = milliseconds(lambda: charts(embeddings, labels))
    curves = milliseconds(lambda: embed(parts.model, engine.feed, engine.augmentation, probe.index), 3)
    share = (of_anatomy + of_charts) / (settings.anatomy_every * step)
    print(f"{config.name}: {len(labels)} images of {classes} classes, {embeddings.shape[1]} numbers")
    print(f"step {step:.1f} ms; anatomy {of_anatomy:.1f} ms, charts {of_charts:.1f} ms every {settings.anatomy_every}")
    print(f"anatomy's share of a step, amortised: {share:.2%}")
    whole = curves / (settings.probe_every * step)
    print(f"embedding the probe: {curves:.0f} ms every {settings.probe_every}, {whole:.1%} of a step, amortised")
    chosen = torch.linspace(0, len(embeddings) - 1, min(PAIRS, len(embeddings))).long()
    few, few_labels = embeddings[chosen], labels[chosen]
    for method in OF_PAIRS:
        print(f"  {method}: {milliseconds(lambda m=method: tightness_contrastive(m, few, few_labels)):.1f} ms")
    print(f"  information: {milliseconds(lambda: mutual_information(few, few_labels)):.1f} ms")
    if (seen := parts.loss.linear_logits()) is not None:
        z, classifier = seen.embeddings(embeddings), seen.classifier()
        print(f"  PCE: {milliseconds(lambda: pce(z, labels, *classifier)):.1f} ms")


if __name__ == "__main__":
    main()
