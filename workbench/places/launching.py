"""From a place's record to its launcher, and to the machine that takes its commands."""

from pathlib import Path

from workbench.places.contract import Host, Launcher
from workbench.places.host.hosts import Asked, LocalHost, OpenSshHost
from workbench.places.kinds.processes import Processes
from workbench.places.kinds.ray import Ray
from workbench.places.kinds.slurm import Slurm
from workbench.places.place import Place, RayPlace, SlurmPlace, SshPlace
from workbench.problem import Problem


def launcher_of(place: Place, cancelled: Asked = lambda: False) -> Launcher:
    """The launcher of a place; it does not contact the place yet.

    `cancelled` is called during a wait for the place, which then ends with Cancelled.
    """
    match place:
        case SshPlace():
            return Processes(host_of(place, cancelled), place)
        case SlurmPlace():
            return Slurm(host_of(place, cancelled), place)
        case RayPlace():
            return Ray(host_of(place, cancelled), place)
    raise ValueError(place.kind)


def host_of(place: Place, cancelled: Asked = lambda: False) -> Host:
    """The machine that runs a place's commands. Raises Problem for a place without one."""
    match place:
        case SshPlace() | SlurmPlace() | RayPlace():
            if not place.host:
                return LocalHost(cancelled=cancelled)
            config = Path(place.ssh_config).expanduser() if place.ssh_config else None
            return OpenSshHost(place.host, config, cancelled)
    raise Problem(f"{place.name} takes no commands.")
