"""What is said of a file for which a disk has no room, where the library or the path does not say it well."""

import errno
from types import SimpleNamespace

import pytest

from workbench import files
from workbench.files import room
from workbench.problem import Problem

NUMPYS = "5760 requested and 992 written"  # of ndarray.tofile on a full disk: no error number


@pytest.mark.parametrize(("free", "said"), [(0, "There is no space left to write"), (1 << 30, NUMPYS)])
def test_an_array_that_does_not_fit_on_the_disk_is_said_so(tmp_path, monkeypatch, free, said):
    monkeypatch.setattr(room.shutil, "disk_usage", lambda folder: SimpleNamespace(free=free))
    path = tmp_path / "embeddings.npy"
    with pytest.raises(Problem, match=said) as caught, files.atomic_write(path):
        raise OSError(NUMPYS)
    assert str(path) in caught.value.what
    assert not list(tmp_path.iterdir())


def test_the_folder_that_was_asked_for_is_named_not_an_unfinished_one(tmp_path):
    with files.parts.part_folder(tmp_path / "gallery-index") as unfinished:
        problem = files.explain(OSError(errno.ENOSPC, "No space left"), unfinished / "centroids.npy")
    assert f"write {tmp_path / 'gallery-index'}." in problem.what
