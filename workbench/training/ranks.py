"""One run on several devices: one process per device, its rank, embeds its part of every batch.

Features are gathered in the order of the ranks, with their gradient; every rank computes head and loss on the whole
batch, and gradients are averaged. The result is that of one rank on the whole batch, whatever the loss compares.
"""

import contextlib
import os
import socket
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar, cast

import torch
import torch.distributed as dist
from torch import Tensor, nn

from workbench.problem import Problem
from workbench.training.device import name_of_gpu
from workbench.training.lines import LONGEST, Lines
from workbench.training.rank_network import keep_memory, losing, patience, stay_on_this_machine, talk_to
from workbench.training.shared_norm import SharedNorm
from workbench.training.shared_sums import SharedSums

FOREVER = timedelta(days=365)  # how long the others wait for rank 0, because a user may have paused the run
Value = TypeVar("Value")


class OneRank:
    """A run on one device, which processes whole batches. `Ranks` has the same methods for several devices."""

    rank, count = 0, 1
    device: torch.device | None = None  # of this rank, if it is not the config's

    @property
    def first(self) -> bool:
        """Whether this rank decides and records."""
        return self.rank == 0

    def shares(self, n: int) -> list[slice]:
        """The part of n items that each rank gets, in the order of the ranks."""
        return [slice(n * rank // self.count, n * (rank + 1) // self.count) for rank in range(self.count)]

    def share(self, n: int) -> slice:
        """The part of n items that this rank gets."""
        return self.shares(n)[self.rank]

    def embed(self, model: nn.Module, images: Tensor, n: int, step: int) -> Tensor:
        """Embeddings [n, d] of a whole batch, with gradients, of this rank's share of its images."""
        embeddings: Tensor = model(images)
        return embeddings

    def headed(self, head: nn.Module, own: Tensor, n: int) -> Tensor:
        """Embeddings [n, d] of a whole batch, with gradients, from the features of this rank's share.

        A head may have two parts: `of_each` treats each image separately and without random numbers, `of_all` may use
        all of them. The ranks then share the work of the first. A head without parts is computed on the whole batch by
        every rank.
        """
        embeddings: Tensor = head(own)
        return embeddings

    def drawing_apart(self, step: int) -> contextlib.AbstractContextManager[object]:
        """A context in which random draws differ from rank to rank; afterwards the random state is restored.

        For the parts of a network that see only this rank's images; `step` is the number of steps done.
        """
        return contextlib.nullcontext()

    def average(self, weights: Sequence[Tensor]) -> None:
        """After the backward pass: give every rank the whole batch's gradients."""

    def same(self, value: Value) -> Value:
        """Rank 0's value, on every rank: a plain value such as a number or a path, or a flag."""
        return value

    def whole(self, own: Tensor, sizes: Sequence[int]) -> Tensor:
        """The rows of all ranks in their order, without gradients; `sizes` are the ranks' numbers of rows."""
        return own

    def start_alike(self, device: torch.device) -> None:
        """Give every rank the random state of rank 0."""

    def same_statistics(self, model: nn.Module) -> None:
        """Give every rank the running statistics of rank 0, if each has its own."""

    def check_alike(self, weights: Sequence[Tensor]) -> None:
        """Compare the weights of all ranks. Raises Problem if they differ."""


class Ranks(OneRank):
    """This process as one of the ranks of a run, after all ranks have connected.

    Every method is called by all ranks in the same order. A rank that has ended, or does not answer in `patience`
    seconds, raises Lost on rank 0; the others wait as long as rank 0 lives.

    Args:
        meeting: file by which the ranks find each other, new for each run; or an address in torch's form.
        rank: of this process, from 0.
        count: of ranks.
        device: of this rank.
        shared_norm: batch-norm uses the statistics of the whole batch, as with one rank; else those of each rank.

    Raises:
        Problem: this build of torch cannot do it, another run of this process does, or two ranks have the same GPU.
        Lost: a rank has ended before all had connected, or, on rank 0, is too late.
    """

    def __init__(
        self, meeting: Path | str, rank: int, count: int, device: torch.device, *, shared_norm: bool = True
    ) -> None:  # fmt: skip
        if not dist.is_available():
            raise Problem("This build of torch cannot train on several devices.", todo="Use one device.")
        if device.type == "cuda" and not dist.is_nccl_available():
            raise Problem(
                "This build of torch has no NCCL, by which several GPUs train together.",
                kept="Nothing was started.",
                todo="Train on one GPU, or on Linux with a torch for CUDA.",
            )
        if dist.is_initialized():
            raise Problem("Another run of this program trains on several devices.", todo="Wait for its end.")
        self.rank, self.count, self.shared_norm = rank, count, shared_norm
        self.device: torch.device = device
        self._lines: Lines | None = None
        self._flat: dict[torch.dtype, Tensor] = {}  # all gradients in one vector
        self._sums: dict[torch.dtype, SharedSums] = {}  # if the ranks have shared memory
        wait = timedelta(seconds=patience()) if self.first else FOREVER
        if isinstance(meeting, str):
            where = meeting
            talk_to(meeting)
        else:
            where = meeting.as_uri() if os.name == "nt" else f"file://{meeting}"  # torch decodes it on Windows alone
            stay_on_this_machine()
        if device.type == "cpu":
            keep_memory()
        try:
            with losing():
                dist.init_process_group("gloo", init_method=where, rank=rank, world_size=count, timeout=wait)
                self._data: Any = None
                if device.type == "cuda":
                    self._refuse_shared_gpu()
                    self._data = dist.new_group(backend="nccl", timeout=wait)
                here = meeting if isinstance(meeting, Path) else None  # all ranks are on this machine
                if here is not None and device.type == "cpu" and Lines.can_meet(here, count):
                    self._lines = Lines(here, rank, count, dist.barrier, patience() if self.first else None)
        except Problem:
            self.leave()
            raise

    def _refuse_shared_gpu(self) -> None:
        """Raise Problem on every rank if two of them have one GPU, on which NCCL would fail or wait."""
        names: list[Any] = [None] * self.count
        dist.all_gather_object(names, (socket.gethostname(), str(name_of_gpu(self.device))))
        for rank, name in enumerate(names):
            if (first := names.index(name)) != rank:
                raise Problem(
                    f"Ranks {first} and {rank} of this run have the same GPU: {name[1]} of {name[0]}.",
                    kept="Nothing was trained.",
                    todo="Start no more ranks on a machine than it has GPUs.",
                )

    def embed(self, model: nn.Module, images: Tensor, n: int, step: int) -> Tensor:
        """Embeddings [n, d] of the whole batch: features of each rank's share, then `headed`."""
        halves = cast(Any, model) if hasattr(model, "features") else None
        sizes = [part.stop - part.start for part in self.shares(n)]
        norm = SharedNorm(self._of_each, sizes, self.rank) if self.shared_norm else contextlib.nullcontext()
        with self.drawing_apart(step), norm:
            own = model(images) if halves is None else halves.features(images)
        return self._gathered(own, n) if halves is None else self.headed(halves.head, own, n)

    def headed(self, head: nn.Module, own: Tensor, n: int) -> Tensor:
        """Embeddings [n, d] from the features of this rank's share."""
        if not hasattr(head, "of_each"):
            return cast(Tensor, head(self._gathered(own, n)))
        halves = cast(Any, head)
        return cast(Tensor, halves.of_all(self._gathered(halves.of_each(own), n)))

    def _gathered(self, own: Tensor, n: int) -> Tensor:
        """All n rows from this rank's share; with its gradient times the number of ranks, which `average` undoes."""
        gathered: Tensor = _Gather.apply(own, self, n)
        return gathered

    @contextlib.contextmanager
    def drawing_apart(self, step: int) -> Iterator[None]:
        """Draws by the step and the rank; afterwards the random state is as before."""
        seed = hash((torch.initial_seed(), step, self.rank)) & 0x7FFF_FFFF_FFFF_FFFF
        on_gpu = [self.device] if self.device.type == "cuda" else []
        with torch.random.fork_rng(on_gpu):
            torch.default_generator.manual_seed(seed)
            for device in on_gpu:
                with torch.cuda.device(device):
                    torch.cuda.manual_seed(seed)
            yield

    @torch.no_grad()
    def average(self, weights: Sequence[Tensor]) -> None:
        """Give every weight the mean of the ranks' gradients, in memory that the next call reuses."""
        with_gradients = [weight for weight in weights if weight.grad is not None]
        for dtype in dict.fromkeys(weight.dtype for weight in with_gradients):
            alike = [weight for weight in with_gradients if weight.dtype == dtype]
            orders = [_memory_order(weight) for weight in alike]
            own = [cast(Tensor, one.grad).permute(order).reshape(-1) for one, order in zip(alike, orders, strict=True)]
            flat = self._averaged(own)
            parts = flat.split([len(gradient) for gradient in own])
            for weight, order, part in zip(alike, orders, parts, strict=True):
                back = sorted(range(weight.ndim), key=order.__getitem__)
                weight.grad = part.view([weight.shape[dim] for dim in order]).permute(back)

    def _averaged(self, own: list[Tensor]) -> Tensor:
        """The mean over all ranks of these vectors of one type, concatenated; valid until the next call."""
        dtype, size = own[0].dtype, sum(map(len, own))
        flat = self._flat.get(dtype)
        if flat is None or len(flat) != size:
            flat = self._flat[dtype] = own[0].new_empty(size)
            self._sums.pop(dtype, None)
            if self._lines is not None:
                with losing():
                    sums = SharedSums(self._lines, flat)
                if sums.there:
                    self._sums[dtype] = sums
                    self._flat[dtype] = sums.own
                    flat = sums.own
        torch.cat(own, out=flat)
        with losing():
            if dtype in self._sums:
                return self._sums[dtype].mean()
            dist.all_reduce(flat, group=self._data)
        flat /= self.count
        return flat

    def same(self, value: Value) -> Value:
        """Rank 0's value. Raises Lost if rank 0 cannot reach the others."""
        with losing():
            if isinstance(value, bool):  # used in every step: not pickled
                if self._lines is not None:
                    return cast(Value, self._lines.flag(value))
                flag = torch.tensor([value])
                dist.broadcast(flag, src=0)
                return cast(Value, bool(flag.item()))
            values = [value]
            dist.broadcast_object_list(values, src=0)
            return values[0]

    @torch.no_grad()
    def whole(self, own: Tensor, sizes: Sequence[int]) -> Tensor:
        """The rows of all ranks, whose numbers of rows are `sizes`."""
        padded = own.new_zeros(max(sizes), *own.shape[1:])
        padded[: len(own)] = own
        parts = self._of_each(padded)
        return torch.cat([part[:size] for part, size in zip(parts, sizes, strict=True)])

    def start_alike(self, device: torch.device) -> None:
        """Give every rank the random state of rank 0, of the CPU and of its own GPU."""
        torch.set_rng_state(self.same(torch.get_rng_state()))
        if device.type == "cuda":
            torch.cuda.set_rng_state(self.same(torch.cuda.get_rng_state(device)), device)

    def same_statistics(self, model: nn.Module) -> None:
        """Give every rank the buffers of rank 0 if batch-norm is local; otherwise they are equal already."""
        if self.shared_norm:
            return
        for buffer in model.buffers():
            with losing():
                dist.broadcast(buffer, src=0, group=self._data)

    @torch.no_grad()
    def check_alike(self, weights: Sequence[Tensor]) -> None:
        """Compare sums of all weights. Raises Problem on every rank if one differs."""
        sums = [torch.stack([weight.double().sum(), weight.double().square().sum()]).cpu() for weight in weights]
        own = torch.cat(sums)
        first = self.same(own)
        apart = torch.tensor([float(not torch.equal(first, own) and not bool(first.isnan().any()))])
        with losing():
            dist.all_reduce(apart)
        if apart.item():
            raise Problem(
                "The ranks of this run no longer hold the same weights.",
                kept="The checkpoints before it are kept.",
                todo="Train on one device, and report this.",
            )

    def abort(self) -> None:
        """End what a GPU still exchanges with other ranks, before `leave`, which would wait for it after an error."""
        if self._data is not None:
            with contextlib.suppress(RuntimeError, ValueError):
                self._data.abort()

    def leave(self) -> None:
        """Leave the group, regardless of the state of the other ranks."""
        if self._lines is not None:
            self._lines.close()
        with contextlib.suppress(RuntimeError, ValueError):
            dist.destroy_process_group()

    def _of_each(self, own: Tensor) -> Tensor:
        """Tensors [k, ...] of all ranks."""
        with losing():
            if self._lines is not None and own.nbytes <= LONGEST:
                return self._lines.of_each(own)
            parts = own.new_empty((self.count, *own.shape))
            dist.all_gather(list(parts), own.contiguous(), group=self._data)
            return parts


class _Gather(torch.autograd.Function):
    """Rows of all ranks from each rank's share, with the gradient of this rank's rows.

    The gradient is multiplied by the number of ranks, because gradients are averaged later and each row has one rank.
    """

    @staticmethod
    def forward(ctx: Any, own: Tensor, ranks: Ranks, n: int) -> Tensor:
        ctx.part, ctx.times = ranks.share(n), ranks.count
        return ranks.whole(own, [part.stop - part.start for part in ranks.shares(n)])

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        return gradients[0][ctx.part] * ctx.times, None, None


def _memory_order(weight: Tensor) -> list[int]:
    """Dimensions of a weight in the order of memory, the same on every rank: its gradient is copied contiguously."""
    order = sorted(range(weight.ndim), key=weight.stride().__getitem__, reverse=True)
    return order if weight.permute(order).is_contiguous() else list(range(weight.ndim))
