"""Processes decode the files that threads decode, to the same cache, with the same reasons for what is left out."""

import numpy as np
import pytest
from listeners import silent
from PIL import Image

from tests.processes import children_with
from workbench import jobs
from workbench.control import Cancelled
from workbench.datasets.cache import decode_processes
from workbench.datasets.cache.keeping import keep
from workbench.datasets.images.image_files import ImageFiles

COUNT = 60


@pytest.fixture
def photographs(tmp_path, build):
    """Pictures of several sizes; one is empty, one is cut off, one has a name that is not ASCII."""
    rng = np.random.default_rng(0)
    for row in range(COUNT):
        place = tmp_path / "data" / f"class {row % 2}" / f"{row:02d}é.jpg"
        place.parent.mkdir(parents=True, exist_ok=True)
        small = Image.fromarray(rng.integers(0, 255, (5, 6, 3), np.uint8))
        small.resize((40 + 3 * row, 60)).save(place)
        if row == 7:
            place.write_bytes(b"")
        if row == 20:
            place.write_bytes(place.read_bytes()[:300])
    return build("folder", folder=str(tmp_path / "data"), image_size=32)


@pytest.fixture
def by_processes(monkeypatch):
    """Small sets, too, are decoded by processes, two of them; the list has the number of every pool."""
    counts = []

    def decoders(files, cores):
        counts.append(files)
        return jobs.BytePool(decode_processes.MODULE, [], 2)

    monkeypatch.setattr("workbench.datasets.cache.kept_images.decoders", decoders)
    return counts


def children():
    return children_with("decode_server")


@pytest.mark.parametrize(("form", "larger"), [("pixels", 0), ("encoded", 0), ("encoded", 40)])
def test_they_write_the_same_cache(photographs, tmp_path, form, larger, by_processes, monkeypatch):
    apart, _, by_them = keep(photographs, tmp_path / "apart", form, False, silent, larger)
    assert by_processes == [COUNT]
    assert not children()
    monkeypatch.setattr("workbench.datasets.cache.kept_images.decoders", lambda files, cores: None)
    own, _, by_threads = keep(photographs, tmp_path / "own", form, False, silent, larger)
    assert by_them.read_bytes() == by_threads.read_bytes()
    assert apart.paths == own.paths
    assert len(own.paths) == COUNT - 2
    assert apart.problems == own.problems
    assert "is empty (0 bytes)" in {reason for _, reason in own.problems}


def test_cancelled_they_end_and_what_was_decoded_is_continued(photographs, tmp_path, by_processes, monkeypatch):
    def give_up(text, done, total):
        if text == "Decoding images" and done >= 16:
            raise Cancelled

    monkeypatch.setattr("workbench.datasets.cache.kept_images.TELL_EVERY", 0.0)
    with pytest.raises(Cancelled):
        keep(photographs, tmp_path / "cache", "pixels", False, give_up)
    assert not children()
    decoded, pixels, _ = keep(photographs, tmp_path / "cache", "pixels", False, silent)
    assert 0 < by_processes[1] < COUNT - 8
    assert len(pixels) == len(decoded.paths) == COUNT - 2


def test_few_files_or_cores_have_none():
    least, cores = decode_processes.LEAST_FILES, decode_processes.LEAST_CORES
    assert decode_processes.decoders(least - 1, cores) is None
    assert decode_processes.decoders(least, cores - 1) is None
    for there, count in ((cores, cores), (128, decode_processes.MOST_PROCESSES)):
        pool = decode_processes.decoders(least, there)
        assert pool is not None
        assert pool.count == count


@pytest.mark.parametrize("stretch", [False, True])
def test_a_set_of_files_is_read_as_before(tmp_path, stretch):
    Image.new("RGB", (60, 40), (200, 10, 10)).save(tmp_path / "one.png")
    image = np.asarray(ImageFiles(tmp_path, ["one.png"], 3, 32, stretch)(0))
    assert image.shape == ((32, 32, 3) if stretch else (40, 60, 3))
    assert (image == (200, 10, 10)).all()
