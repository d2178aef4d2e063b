"""From a place's record to its launcher, and to the machine that takes its commands."""

from pathlib import Path

from workbench.places.contract import Host, Launcher
from workbench.places.hosts import Asked, LocalHost, OpenSshHost
from workbench.places.place import Place, RayPlace, SlurmPlace, SshPlace
from workbench.places.processes import Processes
from workbench.places.ray import Ray
from workbench.places.slurm import Slurm
from workbench.problem import Problem


def launcher_of(place: Place, cancelled: Asked = lambda: False) -> Launcher:
    """What starts and follows runs at a place; nothing is asked of the place yet.

    `cancelled` is asked while the place is waited for; what waits ends with Cancelled then.
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
    """The machine at which a place takes commands. Raises Problem for a place that takes none."""
    match place:
        case SshPlace() | SlurmPlace() | RayPlace():
            if not place.host:
                return LocalHost(cancelled=cancelled)
            config = Path(place.ssh_config).expanduser() if place.ssh_config else None
            return OpenSshHost(place.host, config, cancelled)
    raise Problem(f"{place.name} takes no commands.")
