"""Runs as processes of a host that nobody waits for: a workstation behind SSH, without a scheduler.

The orders of one call work one after another. Beside each run's folder's own files stand `pid` (the process that works
through the call's orders), `log` (what the run printed) and `exit` (its exit status, when it has ended).
"""

import re
from collections.abc import Sequence

from workbench.places import host_files
from workbench.places.contract import Ending, Finding, Host, Order, Part, Standing
from workbench.places.place import SshPlace

JOB = re.compile(r"^[A-Za-z0-9_-]{1,64}$")
MOST_JOBS = 200  # in one request: the words of a command have a limit


class Processes:
    """Launcher of plain processes. A job's number is the name of its run folder.

    Args:
        host: where they work.
        place: its record.
    """

    def __init__(self, host: Host, place: SshPlace) -> None:
        self._host, self._place = host, place

    def submit(self, orders: Sequence[Order]) -> list[str]:
        """As `Launcher.submit`: one after another."""
        raise NotImplementedError

    def states(self, jobs: Sequence[str]) -> list[Standing]:
        """As `Launcher.states`."""
        raise NotImplementedError

    def stop(self, job: str, how: Ending) -> None:
        """As `Launcher.stop`."""
        raise NotImplementedError

    def read(self, parts: Sequence[Part]) -> list[bytes | None]:
        """As `Launcher.read`."""
        return host_files.read(self._host, self._place.folder, parts)

    def put(self, path: str, content: bytes) -> None:
        """As `Launcher.put`."""
        host_files.write(self._host, self._place.folder, path, content)

    def check(self) -> list[Finding]:
        """As `Launcher.check`."""
        raise NotImplementedError
