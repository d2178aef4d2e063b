"""Files of an export. Their folder is made with the first of them: one that is cancelled before leaves no empty one."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from workbench import files
from workbench.exchange.source import Source


@contextmanager
def written_file(source: Source, path: Path) -> Iterator[BinaryIO]:
    """As files.chosen_file, in a folder that is made where it is missing; raises Problem as `Store.make_folder`."""
    source.new.add(path)
    source.workspace.make_folder(path.parent)
    with files.chosen_file(path) as file:
        yield file
