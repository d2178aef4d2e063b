"""The command line of a run in a folder at a place; every kind of place starts runs with it."""

from workbench.places.contract import Order
from workbench.places.host.host_files import checked
from workbench.places.place import Place

BEGINS = "--- The run begins."  # a line in its log, before what it prints each time that it is started

AGAIN = "again"  # an empty file in its folder: it has saved itself before a time limit, and is started again


def run_words(place: Place, order: Order) -> list[str]:
    """The words of one run, begun or resumed in its folder; relative paths count from the home folder there.

    The file `after-epoch` in its folder asks that process to end after its epoch, SIGINT and SIGTERM to end before its
    next step with a checkpoint.
    """
    folder = run_folder(place, order.name)
    words = [place.python, "-m", "workbench", "run", f"{folder}/config.toml", "--folder", folder, "--resume", "--quiet"]
    return [*words, "--devices", order.devices] if order.devices else words


def run_folder(place: Place, name: str) -> str:
    """The folder of a run there."""
    return f"{place.folder}/{checked(name)}"
