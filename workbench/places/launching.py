"""From a place's record to its launcher; and the words that start a run in a folder there."""

from pathlib import Path

from workbench.places.contract import Host, Launcher
from workbench.places.hosts import LocalHost, OpenSshHost
from workbench.places.place import Place, SlurmPlace, SshPlace
from workbench.places.processes import Processes
from workbench.places.slurm import Slurm


def launcher_of(place: Place) -> Launcher:
    """What starts and follows runs at a place; nothing is asked of the place yet."""
    match place:
        case SshPlace():
            return Processes(_host(place), place)
        case SlurmPlace():
            return Slurm(_host(place), place)
    raise ValueError(place.kind)


def _host(place: SshPlace | SlurmPlace) -> Host:
    if not place.host:
        return LocalHost()
    return OpenSshHost(place.host, Path(place.ssh_config).expanduser() if place.ssh_config else None)
