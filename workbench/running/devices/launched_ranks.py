"""One run on several machines: srun or torchrun starts its ranks, each as `workbench run ... --devices env`.

Light to import; torch is loaded inside the functions.
"""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.config import RunConfig
from workbench.problem import Problem

if TYPE_CHECKING:
    import torch

    from workbench.training.rank_network import Lost
    from workbench.training.ranks import OneRank

LAUNCHED = "env"
FIRST_PORT, PORTS = 20_000, 40_000  # from which a Slurm job takes one by its number


@dataclass(frozen=True, slots=True)
class Launched:
    """This process's place among the ranks that a launcher started.

    Attributes:
        rank: of all, from 0.
        count: of all ranks.
        local: of those on this machine, from 0.
        meeting: address where they meet, as torch.distributed takes it.
    """

    rank: int
    count: int
    local: int
    meeting: str


def launched() -> Launched:
    """Read the environment of torchrun, else of srun. Raises Problem if neither started this process."""
    values = os.environ
    try:
        if "WORLD_SIZE" in values and "MASTER_ADDR" in values:
            return Launched(int(values["RANK"]), int(values["WORLD_SIZE"]), int(values["LOCAL_RANK"]), "env://")
        if "SLURM_STEP_ID" in values:
            job, step = int(values["SLURM_JOB_ID"]), int(values["SLURM_STEP_ID"])
            port = FIRST_PORT + (7 * job + step) % PORTS
            meeting = f"tcp://{values['SLURM_LAUNCH_NODE_IPADDR']}:{port}"
            count = int(values["SLURM_STEP_NUM_TASKS"])
            return Launched(int(values["SLURM_PROCID"]), count, int(values["SLURM_LOCALID"]), meeting)
        why = "there is no RANK, WORLD_SIZE, MASTER_ADDR and no SLURM_STEP_ID"
    except (KeyError, ValueError) as error:
        why = f"{error} is missing or not a number"
    raise Problem(
        f"Neither srun nor torchrun started this process: {why}.", kept="Nothing was started.",
        todo="Start it as: srun workbench run CONFIG --folder DIR --devices env",
    )  # fmt: skip


@contextlib.contextmanager
def meet_launched(place: Launched, config: RunConfig) -> Iterator["OneRank"]:
    """This rank, once all ranks have met; it leaves at the end of the block. Raises Lost."""
    from workbench.training.ranks import OneRank

    if place.count < 2:
        yield OneRank()
        return
    with met(place.meeting, place.rank, place.count, own_device(place, config), config) as ranks:
        yield ranks


@contextlib.contextmanager
def met(meeting: str | Path, rank: int, count: int, device: "torch.device", config: RunConfig) -> Iterator["OneRank"]:
    """A rank of `count`, once all have met at an address or, on one machine, at a file; as `meet_launched`."""
    from workbench.training.ranks import Ranks

    ranks = Ranks(meeting, rank, count, device, shared_norm=not config.training.local_batch_norm)
    try:
        yield ranks
    except BaseException:
        ranks.abort()
        raise
    finally:
        ranks.leave()


@contextlib.contextmanager
def first_launched(place: Launched, config: RunConfig) -> Iterator["OneRank"]:
    """Rank 0, once all ranks have met. Raises Problem for a rank that ended or did not answer."""
    from workbench.training.rank_network import Lost

    try:
        with meet_launched(place, config) as ranks:
            yield ranks
    except Lost as lost:
        raise ended_by(lost) from None


def ended_by(lost: "Lost", why: str = "") -> Problem:
    """What ended a run of several ranks: `why`, if it is known, else what the first rank noticed."""
    from workbench.training.rank_network import patience

    late = f"A rank of this run has not answered for {patience():,.0f} seconds."
    todo = "Resume from the last checkpoint, on as many devices as you like."
    return Problem(why or (late if lost.late else lost.what), kept="The run and its checkpoints are kept.", todo=todo)


def own_device(place: Launched, config: RunConfig) -> "torch.device":
    """The rank's device: the GPUs of this machine in turn, or the CPU if the config says so or there is no GPU."""
    import torch

    from workbench.training import device

    chosen = device.choose(config.device.partition(",")[0])
    if chosen.type != "cuda":
        return torch.device("cpu")
    own = torch.device("cuda", place.local % torch.cuda.device_count())
    torch.cuda.set_device(own)  # otherwise what names no GPU takes memory of the first one, which has rank 0
    return own
