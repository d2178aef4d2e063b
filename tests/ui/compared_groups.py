"""Runs that the Compare page compares by their queries, and the page that shows two groups of them."""

import numpy as np

from tests.ui.small_run import Images, blobs, evaluated
from tests.ui.ticking import compare_page, tick
from workbench.config import RunConfig, TrainingParams
from workbench.events import Ended, Status
from workbench.files import atomic_write
from workbench.workspace.recorder import Recorder

FIRST_ID = 2**40  # of the samples, which are 7 apart


def ids_of(labels):
    return np.arange(len(labels), dtype=np.int64) * 7 + FIRST_ID


def store_compared(workspace, labels, names, name, spread, lr, seed=0):
    """A run of the data set “compared”, whose classes are less apart the larger the spread; its number."""
    images = Images([f"{row:03}.png" for row in range(len(labels))], labels, names, ids_of(labels), "compared")
    pixels = workspace.path / "pixels.npy"
    if not pixels.exists():
        with atomic_write(pixels) as file:
            np.save(file, np.random.default_rng(0).integers(0, 256, (len(labels), 8, 8, 1), dtype=np.uint8))
    run_id = workspace.create_run(RunConfig(name=name, seed=seed, training=TrainingParams(lr=lr)))
    recorder = Recorder(workspace, run_id)
    recorder(Status("Loading"))
    recorder.dataset(workspace.register_dataset(images, pixels))
    recorder(evaluated(images, 1, blobs(labels, spread, 3, width=8), 20, None))
    recorder(Ended("done"))
    return run_id


def two_compared(qtbot, session, labels, names):
    """The page with two groups of one run each, of which the second is far worse."""
    for name, spread, lr in (("A", 0.2, 0.1), ("B", 3.0, 0.2)):
        store_compared(session.workspace, labels, names, name, spread, lr)
    page = compare_page(qtbot, session, 1100, 700)
    tick(qtbot, page, 1, 2)
    qtbot.waitUntil(lambda: page.model.comparison is not None)
    return page
