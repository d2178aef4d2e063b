"""From a place's record to its launcher; and the words that start a run in a folder there."""

from pathlib import Path

from workbench.places.contract import Launcher
from workbench.places.hosts import OpenSshHost
from workbench.places.place import Place, SshPlace
from workbench.places.processes import Processes


def launcher_of(place: Place) -> Launcher:
    """What starts and follows runs at a place; nothing is asked of the place yet."""
    match place:
        case SshPlace():
            config = Path(place.ssh_config).expanduser() if place.ssh_config else None
            return Processes(OpenSshHost(place.host, config), place)
    raise ValueError(place.kind)
