"""How a run of this window starts: its job, in this process or one of its own, and the devices of the queue."""

import logging
from collections.abc import Callable
from typing import Protocol

from workbench.config import BadConfig, RunConfig
from workbench.control import Control
from workbench.events import Emit, Ended
from workbench.problem import Problem
from workbench.running.devices.together import parse_devices
from workbench.running.processes.spare import Spare
from workbench.ui.preferences import Preferences
from workbench.workspace import Workspace

log = logging.getLogger(__name__)
DEVICES = "runs/devices"  # preference: devices of the queue, "0,1"; empty for one run at a time on its own device
OWN_PROCESS = "runs/own_process"  # preference: whether runs train in a process of their own


class Startable(Protocol):
    """What the queue needs of jobs.Job."""

    ended: Ended | None
    untold: Problem | None

    def start(self) -> object:
        """Start the job on its thread."""

    def join(self, timeout: float | None = None) -> bool:
        """Wait for the end of the thread, at most `timeout` seconds; False when it has not ended."""


MakeJob = Callable[..., Startable]
"""Of a workspace, a run, its Control, who listens, and whether it resumes; `device` in place of the config's."""


def job_in_this_process(workspace: Workspace, run_id: int, control: Control, listen: Emit, resume: bool) -> Startable:
    """A job that trains the run on a thread of this process; torch is loaded on that thread only."""
    from workbench.running import launch

    return launch.make_job(workspace, run_id, control, listen, resume=resume)


def chosen_job(
    preferences: Preferences, spare: Spare, workspace: Workspace, run_id: int, control: Control, listen: Emit,
    resume: bool, device: str = "",
) -> Startable:  # fmt: skip
    """As `job_in_this_process`, in a process of its own where the user chose that or gave the queue its devices."""
    if not device and not preferences.flag(OWN_PROCESS):
        return job_in_this_process(workspace, run_id, control, listen, resume)
    from workbench.running.processes import own_process

    return own_process.make_job(workspace, run_id, control, listen, resume=resume, device=device, spare=spare)


def wants_spare(preferences: Preferences) -> bool:
    """Whether runs of this window train in processes of their own, the next of which may wait with torch loaded."""
    return preferences.flag(OWN_PROCESS) or bool(preferences.text(DEVICES))


def chosen_devices(preferences: Preferences) -> tuple[str, ...]:
    """The devices that the user gave the queue; none if one run trains at a time, on its own device."""
    text = preferences.text(DEVICES)
    try:
        return parse_devices(text) if text else ()
    except Problem as problem:
        log.warning("%s", problem)
        return ()


def needs_several(config: str) -> bool:
    """Whether a run of this config, TOML, trains on several devices together."""
    try:
        return "," in RunConfig.recorded(config).device
    except BadConfig:
        return False
