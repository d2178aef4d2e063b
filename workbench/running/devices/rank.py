"""A rank of a run other than the first: it trains and embeds together with the first, and writes nothing.

`together` starts it as `python -m workbench.running.devices.rank`; srun or torchrun as `workbench run`.
"""

import signal
import sys
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.config import RunConfig
from workbench.control import Control
from workbench.events import Event
from workbench.jobs import Answer, collect_rarely, serve_rank
from workbench.problem import Problem
from workbench.running.devices.launched_ranks import Launched, meet_launched
from workbench.running.devices.together import Order, device_of_rank, meet

if TYPE_CHECKING:
    from workbench.training.ranks import OneRank


class Following(Control):
    """The control of a rank that decides nothing: the first rank sees the same numbers and handles any trouble."""

    def __init__(self) -> None:
        super().__init__(attended=True)

    def pause(self) -> None:
        """Left to the first rank: this one waits when it needs a message of the other."""


def train(answer: Answer) -> None:
    """Train by the order of rank 0, until that ends. Raises Problem."""
    order = Order(**answer)
    config = RunConfig.from_toml_text(order.config)
    with device_of_rank(order) as device, meet(order, device, config) as ranks:
        _train(ranks, config, Path(order.folder))


def train_launched(place: Launched, config: RunConfig, folder: Path) -> None:
    """Train as a rank that srun or torchrun started, until rank 0 ends; rank 0 handles signals. Raises Problem."""
    numbers = [signal.SIGINT, signal.SIGTERM]
    if sys.platform != "win32":
        numbers.append(signal.SIGUSR1)
    for number in numbers:
        signal.signal(number, signal.SIG_IGN)
    with meet_launched(place, config) as ranks:
        _train(ranks, config, folder)


def _train(ranks: "OneRank", config: RunConfig, folder: Path) -> None:
    from workbench.running.building import load_data
    from workbench.running.engine import Engine
    from workbench.training import checkpoint, device

    fingerprint = ranks.same("")  # when rank 0 has decoded the images
    with closing(load_data(config, _untold)) as data, checkpoint.settings_of_one_run():
        if data.images.fingerprint != fingerprint:
            raise Problem("Two ranks of this run read different data.", todo="Do not change the data set during a run.")
        with device.refusing_what_does_not_fit():
            engine = Engine(config, data, folder, Following(), _unheard, ranks=ranks)
        engine.run()


def _untold(text: str, done: int, total: int) -> None:
    """The progress of rank 0 is shown."""


def _unheard(event: Event) -> None:
    """The events of rank 0 are recorded."""


if __name__ == "__main__":
    collect_rarely()
    import_module("workbench.running.engine")  # what fails here fails before the others wait for this rank
    serve_rank(train)
