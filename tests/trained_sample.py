"""Runs that are really trained, for tests: the sample project with few epochs, or any other config."""

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from workbench.config import RunConfig
from workbench.control import Control
from workbench.running import launch
from workbench.settings.presets import presets
from workbench.workspace import Workspace


def sample_values(epochs: int) -> dict[str, Any]:
    """The nested values of the sample project's config, with so many epochs and a narrow network: it trains faster."""
    values = next(preset.config for preset in presets() if preset.key == "sample-digits").model_dump()
    values["backbone"]["width"] = 8
    values["training"]["epochs"] = epochs
    return values


def trained(workspace: Workspace, values: dict[str, Any]) -> int:
    """Train a config to its end; returns the run."""
    run_id = launch.prepare_run(RunConfig.model_validate(values), workspace)
    launch.make_job(workspace, run_id, Control()).start().join()
    assert workspace.run(run_id).status == "done"
    return run_id


def sample_space(folder: Path, epochs: int) -> Path:
    """A new workspace in the folder whose run 1 is the sample project after so many epochs."""
    return Path(shutil.copytree(_whole(epochs), folder / "space"))


@cache
def _whole(epochs: int) -> Path:
    """The workspace that `sample_space` copies, trained once in a process."""
    folder = Path(tempfile.mkdtemp(prefix="trained-sample-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with Workspace(folder / "space", create=True) as workspace:
        trained(workspace, sample_values(epochs))
    return folder / "space"
