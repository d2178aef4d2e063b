"""New run folders at a host: all of an order's in one command, each whole or not at all."""

import io
import tarfile
from collections.abc import Mapping, Sequence

from workbench.places.contract import Host, Order
from workbench.places.host_files import checked, last_line
from workbench.problem import Problem

# A folder that has its card is left as it is; one that a lost connection left without is replaced.
UNPACK = (
    'mkdir -p -- "$1" && cd -- "$1" && rm -rf -- "$2" && mkdir -- "$2" && tar -x -f - -C "$2" || exit 1; '
    'for d in "$2"/*/; do n=${d%/}; n=${n##*/}; '
    'if [ ! -e "$n/run.json" ]; then rm -rf -- "$n" && mv -- "$2/$n" "$n" || exit 1; fi; done; rm -rf -- "$2"'
)
SLOWEST = 50_000  # bytes a second


def write_folders(host: Host, folder: str, orders: Sequence[Order]) -> None:
    """Make the run folders of the orders below `folder`, unless they are there.

    Raises:
        Unreachable: no answer; some may be there.
        Problem: the disk there refuses them.
    """
    content = packed({f"{checked(order.name)}/{checked(name)}": text for order in orders
                      for name, text in order.files.items()})  # fmt: skip
    words = ["sh", "-c", UNPACK, "sh", folder, f".coming-{orders[0].name}"]
    answer = host.call(words, content, seconds=60 + len(content) / SLOWEST + len(orders) / 10)
    if answer.status:
        raise Problem(
            f"Run folders cannot be made in {folder} there: {last_line(answer.errors)}.", kept="Nothing was started."
        )


def packed(contents: Mapping[str, bytes]) -> bytes:
    """A tar archive of small files by their paths."""
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w") as archive:
        for path, text in contents.items():
            facts = tarfile.TarInfo(path)
            facts.size, facts.mode = len(text), 0o644
            archive.addfile(facts, io.BytesIO(text))
    return whole.getvalue()
