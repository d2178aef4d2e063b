"""A disk that is full when some files are written."""

import errno
import os
from contextlib import contextmanager

from workbench.files import parts


def full_for(monkeypatch, *names):
    """From now on there is no room for files of these names."""
    whole_file = parts.whole_file

    @contextmanager
    def written(path, *options):
        if path.name in names:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        with whole_file(path, *options) as file:
            yield file

    monkeypatch.setattr(parts, "whole_file", written)
