"""One run on several devices of this machine: its ranks start, meet, and end together.

Light to import; torch is loaded inside the functions. `python -m workbench.running.devices.rank` is the other side.
"""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench import jobs
from workbench.config import RunConfig
from workbench.files.temporary import temporary_folder
from workbench.problem import Problem
from workbench.running.devices.launched_ranks import LAUNCHED, ended_by, first_launched, launched, met
from workbench.settings import checks

if TYPE_CHECKING:
    import torch

    from workbench.training.ranks import OneRank

MODULE = "workbench.running.devices.rank"


def parse_devices(text: str) -> tuple[str, ...]:
    """The devices that a user named: "0,1" is cuda:0 and cuda:1, "cpu,cpu" two processes on the CPU.

    "env" stands for this process and others that srun or torchrun started.

    Raises:
        Problem: an unknown word, a GPU that is named twice, or CPU and GPUs together.
    """
    if text.strip().lower() == LAUNCHED:
        return (LAUNCHED,)
    try:
        return checks.devices(text)
    except ValueError as why:
        raise Problem(
            f"The devices {text!r} cannot be used: {why}.", kept="Nothing was started.",
            todo="Name GPUs by number, such as 0,1, or the CPU several times, such as cpu,cpu.",
        ) from None  # fmt: skip


@dataclass(frozen=True, slots=True)
class Order:
    """What a rank gets at its start."""

    meeting: str  # file
    rank: int
    devices: tuple[str, ...]
    config: str  # TOML
    folder: str  # of the run


@contextlib.contextmanager
def together(devices: Sequence[str], config: RunConfig, folder: Path) -> Iterator["OneRank"]:
    """Rank 0 of a run on these devices, for the block; with one device or none, the only rank.

    Raises:
        Problem: a device that this machine does not have; a rank that ended or did not answer.
    """
    from workbench.training.rank_network import Lost
    from workbench.training.ranks import OneRank

    if tuple(devices) == (LAUNCHED,):
        with first_launched(launched(), config) as ranks:
            yield ranks
        return
    if len(devices) < 2:
        yield OneRank()
        return
    refuse_unfit(config, len(devices))
    refuse_missing(devices)
    with temporary_folder("workbench-ranks") as meeting:
        orders = [
            Order(f"{meeting}/meeting", rank, tuple(devices), config.to_toml(), str(folder))
            for rank in range(len(devices))
        ]
        with device_of_rank(orders[0]) as device:
            processes = jobs.RankProcesses(MODULE, [order_as_json(order) for order in orders[1:]])
            try:
                processes.wait_until_ready()
                with meet(orders[0], device, config) as ranks:
                    yield ranks
            except Lost as lost:
                raise ended_by(lost, "" if lost.late else processes.why_lost()) from None
            finally:
                processes.close()


def refuse_unfit(config: RunConfig, count: int) -> None:
    """Raise Problem for a config that `count` ranks cannot train together."""
    if config.training.batch_size < count:
        sentence = checks.few_for_devices(config.training.batch_size, count)
        raise Problem(sentence, kept="Nothing was started.", field="training.batch_size")
    if config.training.compile_backbone and not config.training.local_batch_norm:
        raise Problem(
            "A compiled backbone cannot have batch-norm by the whole batch on several devices.",
            kept="Nothing was started.", todo='Turn "Compile backbone" off or "Local batch-norm" on.',
            field="training.compile_backbone",
        )  # fmt: skip


def refuse_missing(devices: Sequence[str]) -> None:
    """Raise Problem for a GPU that is not there."""
    import torch

    count = torch.cuda.device_count()
    missing = [name for name in devices if torch.device(name).type == "cuda" and torch.device(name).index >= count]
    if missing:
        usable = ", ".join(map(str, range(count))) or "none"
        raise Problem(
            f"This machine has no {missing[0]} that torch {torch.__version__} can use.",
            kept="Nothing was started.", todo=f"GPUs that it can use: {usable}.",
        )  # fmt: skip


def order_as_json(order: Order) -> dict[str, Any]:
    """Plain values of an order, as its fields are named."""
    return {name: getattr(order, name) for name in Order.__slots__}


@contextlib.contextmanager
def device_of_rank(order: Order) -> Iterator["torch.device"]:
    """The rank's device; several ranks of the CPU share its cores for the block."""
    import torch

    device, threads = torch.device(order.devices[order.rank]), torch.get_num_threads()
    if device.type == "cpu":
        torch.set_num_threads(max(1, threads // len(order.devices)))
    elif device.type == "cuda":
        torch.cuda.set_device(device)  # otherwise what names no GPU takes memory of the first one, which has rank 0
    try:
        yield device
    finally:
        torch.set_num_threads(threads)


def meet(order: Order, device: "torch.device", config: RunConfig) -> contextlib.AbstractContextManager["OneRank"]:
    """This rank, when all ranks have met; it leaves at the end of the block. Raises Lost."""
    return met(Path(order.meeting), order.rank, len(order.devices), device, config)
