"""What every launcher does with its host alone: write and read run folders, and run commands."""

from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar

from workbench.places.contract import Has, Host, Order, Part, all_of
from workbench.places.host import host_files
from workbench.places.kinds import has
from workbench.places.place import Place

OfKind = TypeVar("OfKind", bound=Place)


class ThroughHost(Generic[OfKind]):
    """The part of a launcher that is the same for all of them.

    Args:
        host: a machine that sees the folder of the runs.
        place: its record.
    """

    _trains = False  # whether runs train on the host itself

    def __init__(self, host: Host, place: OfKind) -> None:
        self._host, self._place = host, place

    def _write(self, orders: Sequence[Order], more: dict[str, bytes] | None = None) -> None:
        """Write the files of all orders, and `more` by their paths below the place's folder, in one request."""
        contents = {f"{order.name}/{name}": content for order in orders for name, content in order.files.items()}
        host_files.write_all(self._host, self._place.folder, contents | (more or {}))

    def has(self, paths: Sequence[str]) -> Has:
        """As `Launcher.has`."""
        return has.look(self._host, paths, trains=self._trains)

    def read(self, parts: Sequence[Part]) -> Iterable[bytes | None]:
        """As `Launcher.read`."""
        return host_files.read(self._host, self._place.folder, parts)

    def _read_all(self, parts: Sequence[Part]) -> list[bytes | None]:
        """As `all_of`."""
        return all_of(self.read, parts)

    def put(self, path: str, content: bytes) -> None:
        """As `Launcher.put`."""
        self._write((), {path: content})
