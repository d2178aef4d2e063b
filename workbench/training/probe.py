"""CE and SPCE on one fixed set of training images, in evaluation mode: curves that can be compared."""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from workbench.events import Charted, Emit, Scalar
from workbench.losses.contract import Loss
from workbench.training.device import free_cached, is_out_of_memory
from workbench.training.feed import Feed
from workbench.training.feed_contract import Augmentation
from workbench.training.ranks import OneRank

BATCH = 512  # images
BATCH_ON_CPU = 64  # their activations fit the processor's cache: 0.6 to 0.7 of the time
POINTS = 20  # that a short run has, of the probe where its epochs allow it, and of the anatomy
ALONE = OneRank()


def batch_on(device: torch.device) -> int:
    """Images that are embedded at a time, fewer where memory is short; the result does not depend on it."""
    return BATCH_ON_CPU if device.type == "cpu" else BATCH


@torch.no_grad()
def embed(
    model: nn.Module,
    feed: Feed,
    augmentation: Augmentation,
    index: np.ndarray | None = None,
    by: Callable[[Tensor], Tensor] | None = None,
    before: Callable[[int, int], object] = lambda done, total: None,
    ranks: OneRank = ALONE,
) -> Tensor:
    """Embeddings [n, d] float32 on the device, in evaluation mode; the model's mode is restored.

    With `by`, the images are passed through that function instead, and its results, such as features, are returned.
    `before` is called before each batch, with how many images of how many have been embedded here, and may raise
    Cancelled. Each of `ranks` embeds some of the batches, and all ranks get all embeddings.
    """
    rows, size = np.arange(len(feed)) if index is None else index, batch_on(feed.labels.device)
    shares = [rows[size * part.start : size * part.stop] for part in ranks.shares(-(-len(rows) // size))]
    spread = ranks.count > 1 and all(len(share) for share in shares)
    training, parts, done = model.training, [], 0
    ranks.same_statistics(model)
    model.eval()
    at_once = size
    here = shares[ranks.rank] if spread else rows
    for images in feed.in_order(size, here):
        before(done, len(here))
        done += len(images)
        embedded, at_once = _in_parts(by or model, augmentation.evaluate(images), at_once)
        parts += embedded
    model.train(training)
    own = torch.cat(parts)
    return ranks.whole(own, [len(share) for share in shares]) if spread else own


def _in_parts(by: Callable[[Tensor], Tensor], images: Tensor, at_once: int) -> tuple[list[Tensor], int]:
    """Results float32 of parts of a batch, and how many images a part has: as many as the device has memory for."""
    while True:
        try:
            return [by(part).float() for part in images.split(at_once)], at_once
        except (RuntimeError, MemoryError) as error:
            if at_once == 1 or not is_out_of_memory(error):
                raise
            at_once = min(at_once, len(images)) // 2 or 1
        free_cached()  # here the error has let go of what it held


def probe_rows(count: int, size: int, seed: int) -> np.ndarray:
    """Positions [at most size] int64, rising, of the probe's images among the `count` of the training set."""
    return np.sort(np.random.default_rng(seed).permutation(count)[:size])


def spacing(every: int, steps_per_epoch: int, total: int) -> int:
    """Steps between two points of the probe curves: `every`, or fewer in a short run, which else had two points.

    A short run has a point for each epoch, but no more than POINTS for that reason: a point takes a forward pass over
    images of the training set at most, and so a third of what an epoch takes, or all of it with a frozen backbone.

    Args:
        every: steps, as the config has it, 1 or more.
        steps_per_epoch: 1 or more.
        total: steps of the run.
    """
    return min(every, max(steps_per_epoch, total // POINTS))


class Probe:
    """Measures probe/ce, probe/spce and train/accuracy every few steps on the same images, and the loss's anatomy.

    CE and accuracy need a loss that classifies (`logits`); SPCE needs only embeddings and labels.

    Args:
        feed: the training set.
        size: images in the probe, spread evenly over a seeded shuffle; 0 turns the probe off.
        every: steps between two points.
        spce: (embeddings, labels, num_classes) -> scalar, in nats.
        anatomy: (embeddings, labels) -> numbers by name, measured at points that are `anatomy_every` steps apart; 0 is
            never. The loss's `charts(embeddings, labels)` are then emitted, too.
        ranks: that embed the images together; the first measures.
    """

    def __init__(
        self,
        model: nn.Module,
        loss: Loss,
        feed: Feed,
        augmentation: Augmentation,
        *,
        size: int,
        every: int,
        num_classes: int,
        seed: int,
        spce: Callable[[Tensor, Tensor, int], Tensor],
        emit: Emit,
        anatomy: Callable[[Tensor, Tensor], dict[str, float]] = lambda embeddings, labels: {},
        anatomy_every: int = 0,
        ranks: OneRank = ALONE,
    ) -> None:
        self._ranks = ranks
        self._model, self._loss, self._feed, self._augmentation = model, loss, feed, augmentation
        self.every, self._num_classes, self._spce, self._emit = every, num_classes, spce, emit
        self.index = probe_rows(len(feed), size, seed)
        self._labels = feed.labels[torch.from_numpy(self.index).to(feed.labels.device)]
        self._measured = -1
        self._anatomy, self._anatomy_every = anatomy, anatomy_every

    def after_step(self, step: int) -> None:
        """Measure the probe if it is due at this step, counted from 1."""
        if len(self.index) and step % self.every == 0:
            self.measure(step)

    @torch.no_grad()
    def measure(self, step: int, before: Callable[[int, int], object] = lambda done, total: None) -> None:
        """Emit one point of each curve at `step`, once; `before` is called as `embed` does."""
        if step == self._measured or not len(self.index):
            return
        self._measured = step
        embeddings = embed(
            self._model, self._feed, self._augmentation, self.index, before=before, ranks=self._ranks
        )  # fmt: skip
        if not self._ranks.first:
            return
        self._emit(Scalar("probe/spce", step, self._spce(embeddings, self._labels, self._num_classes).item()))
        if self._anatomy_every and step // self._anatomy_every * self._anatomy_every > step - self.every:
            for name, value in self._anatomy(embeddings, self._labels).items():
                self._emit(Scalar(name, step, value))
            if charts := tuple(self._loss.charts(embeddings, self._labels)):
                self._emit(Charted(step, charts))
        training = self._loss.training
        self._loss.eval()
        logits = self._loss.logits(embeddings)
        self._loss.train(training)
        if logits is None:
            return
        logits = logits.float()
        self._emit(Scalar("probe/ce", step, F.cross_entropy(logits, self._labels).item()))
        accuracy = (logits.argmax(1) == self._labels).float().mean().item()
        self._emit(Scalar("train/accuracy", step, accuracy))
