"""Very many small files: what is kept of each in memory."""

import tracemalloc

import numpy as np
import pytest
from listeners import silent

from workbench.datasets.inspection import copies, shared_images
from workbench.datasets.split import Split

FILES = 4000
MOST = 75  # bytes of each file: 0.75 GB for ten million, beside the window's own 1.0
SEARCH = 30  # of these, what the search for copies takes beside what is kept of a file


@pytest.fixture
def birds(tmp_path):
    for name in ("finch", "wren"):
        (tmp_path / name).mkdir()
    for number in range(FILES):
        (tmp_path / ("finch", "wren")[number % 2] / f"{number:07d}.jpg").touch()
    return tmp_path


def peak_of(work):
    """(what it gives, bytes at its peak)."""
    tracemalloc.start()
    try:
        given = work()
        return given, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_file_that_is_found_takes_little_memory(build, birds):
    build("folder", folder=str(birds))  # what is imported and compiled at the first time
    images, peak = peak_of(lambda: build("folder", folder=str(birds)))
    assert len(images.paths) == FILES
    assert peak / FILES < MOST


def test_the_search_for_images_of_both_halves_takes_little_memory():
    squares = np.arange(FILES, dtype=np.uint64).byteswap().view(np.uint8).reshape(FILES, 2, 4, 1)
    squares[FILES - 1] = squares[5]
    rows = np.arange(FILES)
    queries = np.arange(FILES // 2) % 2 == 0
    split = Split(rows[: FILES // 2], rows[FILES // 2 :], "", is_query=queries)
    shared, peak = peak_of(lambda: shared_images(squares, split, silent))
    assert shared == (1, 0)
    assert peak / FILES < SEARCH


def test_the_search_for_copies_takes_little_memory():
    squares = np.arange(FILES, dtype=np.uint64).byteswap().view(np.uint8).reshape(FILES, 2, 4, 1)
    squares[7] = squares[5]
    groups, peak = peak_of(lambda: copies(squares, silent))
    assert groups == [[5, 7]]
    assert peak / FILES < SEARCH
