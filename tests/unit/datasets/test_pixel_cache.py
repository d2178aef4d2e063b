"""Images are decoded once, wholly or not at all."""

import errno
import json
import os
import shutil
import threading
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from listeners import give_up, silent

from tests.waits import HANG
from workbench import files
from workbench.control import Cancelled
from workbench.datasets.cache import kept_images as module
from workbench.datasets.cache import unfinished
from workbench.datasets.cache.pixels import Squares, decoded
from workbench.datasets.images.loader import BadImage
from workbench.datasets.pictures import Pictures
from workbench.files import parts
from workbench.problem import Problem


def counting(in_memory, labels, bad=(), **fields):
    """A set that counts how often it is read; some rows cannot be."""
    reads = []

    def read(row):
        reads.append(row)
        if row in bad:
            raise BadImage(f"is bad number {row}")
        return np.full((6, 6), row, np.uint8)

    return in_memory(labels, read=read, **fields), reads


def test_images_are_decoded_once_and_shared(tmp_path, in_memory):
    whole, reads = counting(in_memory, [0, 0, 1])
    first, pixels, place = decoded(whole, tmp_path / "cache", silent)
    again, same, where = decoded(whole, tmp_path / "cache", silent)
    assert sorted(reads) == [0, 1, 2]
    assert where == place
    assert first.paths == again.paths == whole.paths
    assert (pixels.shape, pixels.dtype) == ((3, 6, 6, 1), np.uint8)
    assert isinstance(pixels, np.memmap)
    assert pixels[:, 0, 0, 0].tolist() == same[:, 0, 0, 0].tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="read-only"):
        pixels[0] = 1
    assert np.array_equal(np.load(place, allow_pickle=False), pixels)


def test_bad_images_are_left_out_by_name_the_second_time_too(tmp_path, in_memory):
    whole, reads = counting(in_memory, [0] * 12, bad=(0, 7, 11))
    for _ in range(2):
        kept, pixels, _ = decoded(whole, tmp_path, silent)
        assert kept.problems == [(whole.paths[row], f"is bad number {row}") for row in (0, 7, 11)]
        assert pixels[:, 3, 3, 0].tolist() == [1, 2, 3, 4, 5, 6, 8, 9, 10]
        assert len(kept.paths) == len(kept.labels) == len(pixels)
    assert len(reads) == 12


def test_no_readable_image_is_a_problem_and_leaves_no_cache(tmp_path, in_memory):
    whole, _ = counting(in_memory, [0, 0], bad=(0, 1))
    with pytest.raises(Problem, match=r"None of the 2 images can be read; 0/000\.png is bad number 0"):
        decoded(whole, tmp_path, silent)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("harm", ["cut", "empty", "other shape", "no list", "bad list", "list of another set", "text"])
def test_a_damaged_cache_is_made_again(tmp_path, in_memory, harm):
    whole, reads = counting(in_memory, [0, 0, 1, 1], bad=(2,))
    _, _, place = decoded(whole, tmp_path, silent)
    beside = place.with_suffix(".json")
    data = place.read_bytes()
    if harm == "cut":
        place.write_bytes(data[:-10])
    elif harm == "empty":
        place.write_bytes(b"")
    elif harm == "other shape":
        np.save(place, np.zeros((3, 5, 6, 1), np.uint8))
    elif harm == "text":
        place.write_bytes(b"not a cache")
    elif harm == "no list":
        beside.unlink()
    elif harm == "bad list":
        beside.write_text("[1, 2]")
    else:
        beside.write_text(json.dumps({"99": "is bad"}))
    kept, pixels, _ = decoded(whole, tmp_path, silent)
    assert len(reads) == 8
    assert pixels[:, 0, 0, 0].tolist() == [0, 1, 3]
    assert kept.problems[0] == (whole.paths[2], "is bad number 2")


def test_size_channels_and_content_have_caches_of_their_own(tmp_path, in_memory):
    sets = [in_memory([0]), in_memory([0], size=8), in_memory([0], channels=3), in_memory([0], content="new")]
    places = [decoded(each, tmp_path, silent)[2] for each in sets]
    assert len(set(places)) == 4
    shapes = [np.load(place, mmap_mode="r", allow_pickle=False).shape for place in places]
    assert shapes == [(1, 6, 6, 1), (1, 8, 8, 1), (1, 6, 6, 3), (1, 6, 6, 1)]


def test_an_image_that_was_edited_is_decoded_anew_and_old_runs_keep_their_pictures(tmp_path, build, draw):
    picture = draw(tmp_path / "data" / "a" / "1.bmp", 10)
    draw(tmp_path / "data" / "a" / "2.bmp", 20)
    _, old, _ = decoded(build("folder", folder=str(tmp_path / "data"), image_size=8), tmp_path / "cache", silent)
    draw(picture, 99)  # of the same size in bytes
    os.utime(picture, (1, 1))
    _, new, _ = decoded(build("folder", folder=str(tmp_path / "data"), image_size=8), tmp_path / "cache", silent)
    assert (old[0, 0, 0, 0], new[0, 0, 0, 0]) == (10, 99)


def test_giving_up_leaves_nothing_behind(tmp_path, in_memory):
    with pytest.raises(Cancelled):
        decoded(in_memory([0, 0]), tmp_path, give_up)
    assert os.listdir(tmp_path) == []


def test_progress_goes_from_nothing_to_all_and_not_for_every_image(tmp_path, in_memory):
    told = []
    decoded(in_memory([0] * 500), tmp_path, lambda text, done, total: told.append((text, done, total)))
    assert told[0] == ("Decoding images", 0, 500)
    assert told[-1] == ("Decoding images", 500, 500)
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)
    assert len(told) < 100


def test_a_slow_set_can_be_given_up_within_an_image(tmp_path, in_memory, monkeypatch):
    """Ten times a second by the clock, not after so many images."""
    clock = iter(range(10_000))
    monkeypatch.setattr(module, "monotonic", lambda: float(next(clock)))
    monkeypatch.setattr(module, "AT_ONCE", 1)
    told = []
    decoded(in_memory([0] * 20), tmp_path, lambda text, done, total: told.append(done))
    assert told == [*range(20), 20]


def test_two_programs_may_decode_one_set_at_once(tmp_path, in_memory, monkeypatch):
    """The second starts and ends in the middle of the first, which it does not wait for: it stands still."""
    monkeypatch.setattr(unfinished, "STILL", 0.0)
    second = []

    def interrupted(text, done, total):
        if not second:
            second.append(decoded(in_memory([0, 0, 1]), tmp_path, silent))

    _, pixels, place = decoded(in_memory([0, 0, 1]), tmp_path, interrupted)
    assert pixels[:, 0, 0, 0].tolist() == second[0][1][:, 0, 0, 0].tolist() == [0, 1, 2]
    assert sorted(os.listdir(tmp_path)) == sorted([place.name, place.with_suffix(".json").name])


def test_a_full_disk_is_told_before_anything_is_written(tmp_path, in_memory, monkeypatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(100, 95, 5))
    with pytest.raises(Problem, match=r"where under 0.01 MB are free") as told:
        decoded(in_memory([0, 0]), tmp_path, silent)
    assert str(tmp_path) in told.value.what
    assert os.listdir(tmp_path) == []


def test_a_disk_that_fills_up_meanwhile_is_a_problem_and_leaves_nothing(tmp_path, in_memory):
    resource = pytest.importorskip("resource", reason="no resource limits on this system")
    import signal

    whole = in_memory([0] * 40, size=64)
    old, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, old[1]))
    try:
        with pytest.raises(Problem, match="could not be written"):
            decoded(whole, tmp_path, silent)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
        signal.signal(signal.SIGXFSZ, handler)
    assert os.listdir(tmp_path) == []
    assert len(decoded(whole, tmp_path, silent)[1]) == 40


def test_a_disk_that_fails_while_the_cache_is_made_is_a_problem_though_it_says_so_once(
    tmp_path, in_memory, monkeypatch
):
    failed = threading.Event()

    def sync(descriptor):
        if not failed.is_set():
            failed.set()
            raise OSError(errno.EIO, "Input/output error")

    def read(row):
        assert failed.wait(HANG)
        return np.full((6, 6), row, np.uint8)

    monkeypatch.setattr(os, "fsync", sync)
    with pytest.raises(Problem, match="Input/output error"):
        decoded(in_memory([0] * 3, read=read), tmp_path, silent)
    assert os.listdir(tmp_path) == []


def test_a_cache_folder_that_cannot_be_made_is_a_problem(tmp_path, in_memory):
    (tmp_path / "file").write_bytes(b"in the way")
    with pytest.raises(Problem, match="file"):
        decoded(in_memory([0, 0]), tmp_path / "file" / "cache", silent)


def test_what_a_killed_program_left_is_swept_and_what_another_writes_is_not(tmp_path, in_memory):
    (tmp_path / ".old.npy.1-01234567.part").write_bytes(b"half")
    with parts.whole_file(tmp_path / "new.npy"):
        [new] = set(os.listdir(tmp_path)) - {".old.npy.1-01234567.part"}
        decoded(in_memory([0, 0]), tmp_path, silent)
        assert [name for name in os.listdir(tmp_path) if name.endswith(".part")] == [new]


def test_a_cache_lost_while_it_is_used_is_a_problem(tmp_path, in_memory, monkeypatch):
    real = files.atomic_write
    monkeypatch.setattr(files, "atomic_write", lambda path: real(path.with_name("elsewhere")))
    with pytest.raises(Problem, match="was changed while it was written"):
        decoded(in_memory([0, 0]), tmp_path, silent)


def test_a_flipped_bit_in_the_cache_is_found_decoded_again_and_told(tmp_path, in_memory):
    whole, reads = counting(in_memory, [0, 0, 1])
    _, pixels, place = decoded(whole, tmp_path, silent)
    wanted = np.array(pixels)
    data = bytearray(place.read_bytes())
    data[-20] ^= 1
    place.write_bytes(data)
    pictures = Pictures({7: 2}, place, {})
    with pytest.raises(Problem, match="gone or damaged"):
        pictures.thumbnail(7)
    kept, pixels, _ = decoded(whole, tmp_path, silent)
    assert np.array_equal(pixels, wanted)
    assert len(reads) == 6
    assert any("nothing is lost" in said for _, said in kept.remarks)
    assert decoded(whole, tmp_path, silent)[0].remarks == whole.remarks


def test_a_cache_of_an_older_workbench_gets_its_hashes(tmp_path, in_memory):
    whole, reads = counting(in_memory, [0, 0, 1], bad=(1,))
    _, _, place = decoded(whole, tmp_path, silent)
    place.with_suffix(".json").write_text('{"1": "is bad number 1"}')
    kept, _, _ = decoded(whole, tmp_path, silent)
    assert (len(reads), len(kept.paths)) == (3, 2)
    assert len(json.loads(place.with_suffix(".json").read_text())["hashes"]) == 1


@pytest.mark.parametrize(
    "text", ['{"bad": {}, "hashes": []}', '{"bad": {}, "blocj": 1, "hashes": ["x"]}', '{"hashes": 5}']
)
def test_a_damaged_list_beside_the_cache_is_made_again(tmp_path, in_memory, text):
    whole, reads = counting(in_memory, [0, 0, 1])
    _, _, place = decoded(whole, tmp_path, silent)
    place.with_suffix(".json").write_text(text)
    assert len(decoded(whole, tmp_path, silent)[1]) == 3
    assert len(reads) == 6


@pytest.fixture
def held(in_memory):
    """A set whose first image stands still until `go`, its reads, `begun`, and `go`."""
    begun, go, reads = threading.Event(), threading.Event(), []

    def read(row):
        reads.append(row)
        begun.set()
        assert go.wait(HANG)
        return np.full((6, 6), row, np.uint8)

    yield in_memory([0, 0, 1], read=read), reads, begun, go
    go.set()


def test_of_two_runs_that_need_the_same_images_one_decodes_them_and_the_other_waits(tmp_path, held):
    whole, reads, begun, go = held
    said = []

    def waits(text, done, total):
        said.append(text)
        if text == module.WAITS:
            go.set()

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(decoded, whole, tmp_path, silent)
        assert begun.wait(HANG)
        _, pixels, place = decoded(whole, tmp_path, waits)
        assert first.result(HANG)[2] == place
    assert module.WAITS in said
    assert "Decoding images" not in said
    assert pixels[:, 0, 0, 0].tolist() == [0, 1, 2]
    assert sorted(reads) == [0, 1, 2]
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".json", ".npy"]


class HeldBeforeItsFirstByte(Squares):
    """The first run to decode stands still with all that it has read and waited for behind it."""

    begun, go = threading.Event(), threading.Event()

    def head(self, count):
        if not self.begun.is_set():
            self.begun.set()
            assert self.go.wait(HANG)
        return super().head(count)


def test_of_two_runs_that_begin_at_once_one_decodes(tmp_path, in_memory):
    reads, said = [], []

    def read(row):
        reads.append(row)
        return np.full((6, 6), row, np.uint8)

    def waits(text, done, total):
        said.append(text)
        if text == module.WAITS:
            form.go.set()

    whole = in_memory([0, 0, 1], read=read)
    form = HeldBeforeItsFirstByte(whole.image_size, whole.channels)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(module.kept_images, whole, tmp_path, form, silent)
        try:
            assert form.begun.wait(HANG)
            assert len(module.kept_images(whole, tmp_path, form, waits)[1]) == 3
        finally:
            form.go.set()
        assert len(first.result(HANG)[1]) == 3
    assert sorted(reads) == [0, 1, 2]
    assert set(said) == {module.WAITS}


def test_a_cache_whose_list_of_images_left_out_is_not_written_yet_is_not_damaged(tmp_path, in_memory, monkeypatch):
    said, reached, write_side = [], threading.Event(), module.write_side

    def tell(text, done, total):
        said.append(text)
        reached.set()

    with ThreadPoolExecutor(1) as pool:
        second = []

        def slow(path, bad):
            if not second:
                second.append(pool.submit(decoded, in_memory([0, 0, 1]), tmp_path, tell))
                assert reached.wait(HANG)
            write_side(path, bad)

        monkeypatch.setattr(module, "write_side", slow)
        decoded(in_memory([0, 0, 1]), tmp_path, silent)
        images, pixels, _ = second[0].result(HANG)
    assert set(said) == {module.WAITS}
    assert images.remarks == []
    assert len(pixels) == 3


def test_a_full_disk_is_no_matter_where_another_run_decodes(tmp_path, held, monkeypatch):
    whole, reads, begun, go = held
    usage = namedtuple("usage", "total used free")

    def waits(text, done, total):
        assert text == module.WAITS
        go.set()

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(decoded, whole, tmp_path, silent)
        assert begun.wait(HANG)
        monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(100, 95, 5))
        assert len(decoded(whole, tmp_path, waits)[1]) == 3
        assert len(first.result(HANG)[1]) == 3
    assert sorted(reads) == [0, 1, 2]


def test_the_wait_for_another_run_hears_a_cancel(tmp_path, held):
    whole, reads, begun, go = held

    def cancel(text, done, total):
        if text == module.WAITS:
            raise Cancelled

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(decoded, whole, tmp_path, silent)
        assert begun.wait(HANG)
        with pytest.raises(Cancelled):
            decoded(whole, tmp_path, cancel)
        go.set()
        assert len(first.result(HANG)[1]) == 3
    assert sorted(reads) == [0, 1, 2]


def test_another_run_that_stands_still_is_not_waited_for_any_longer(tmp_path, held, monkeypatch):
    monkeypatch.setattr(unfinished, "STILL", 0.0)
    whole, reads, begun, go = held
    said = []
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(decoded, whole, tmp_path, silent)
        assert begun.wait(HANG)
        begun.clear()
        second = pool.submit(decoded, whole, tmp_path, lambda text, done, total: said.append(text))
        assert begun.wait(HANG), "it decodes the images itself"
        go.set()
        assert len(first.result(HANG)[1]) == len(second.result(HANG)[1]) == 3
    assert module.WAITS in said
    assert sorted(reads) == [0, 0, 1, 1, 2, 2]
