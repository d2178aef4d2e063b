"""From a place's record to its launcher; and the words that start a run in a folder there."""

from pathlib import Path

from workbench.places.contract import Host, Launcher
from workbench.places.hosts import Asked, OpenSshHost
from workbench.places.place import Place, SshPlace
from workbench.places.processes import Processes
from workbench.problem import Problem


def launcher_of(place: Place, cancelled: Asked = lambda: False) -> Launcher:
    """What starts and follows runs at a place; nothing is asked of the place yet.

    `cancelled` is asked while the place is waited for; what waits ends with Cancelled then.
    """
    match place:
        case SshPlace():
            return Processes(host_of(place, cancelled), place)
    raise ValueError(place.kind)


def host_of(place: Place, cancelled: Asked = lambda: False) -> Host:
    """The machine at which a place takes commands. Raises Problem for a place that takes none."""
    match place:
        case SshPlace():
            config = Path(place.ssh_config).expanduser() if place.ssh_config else None
            return OpenSshHost(place.host, config, cancelled)
    raise Problem(f"{place.name} takes no commands.")
