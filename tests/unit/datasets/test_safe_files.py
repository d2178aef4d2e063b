"""Files are whole or as they were before; archives stay inside their folder."""

import errno
import io
import os
import stat
import tarfile
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from threading import Lock

import numpy as np
import pytest
from listeners import silent

from workbench import files
from workbench.files import archives
from workbench.files.archive_names import stem
from workbench.problem import Problem


def zipped(path, name="a.txt", data=b"x", mode=0, level=zipfile.ZIP_DEFLATED):
    entry = zipfile.ZipInfo(name)
    entry.compress_type = level
    if mode:
        entry.create_system, entry.external_attr = 3, mode << 16
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("good.txt", b"good")
        archive.writestr(entry, data)
    return path


def test_a_written_file_replaces_the_old_one_and_leaves_nothing_else(tmp_path):
    place = tmp_path / "a.bin"
    for text in (b"old", b"new"):
        with files.atomic_write(place) as file:
            file.write(text)
        assert place.read_bytes() == text
    assert os.listdir(tmp_path) == ["a.bin"]


def test_the_old_file_stays_until_the_new_one_is_whole(tmp_path):
    place = tmp_path / "a.bin"
    place.write_bytes(b"old")
    with files.atomic_write(place) as file:
        file.write(b"new")
        file.flush()
        assert place.read_bytes() == b"old"


@pytest.mark.parametrize("error", [ValueError("mine"), KeyboardInterrupt()])
def test_what_goes_wrong_while_writing_is_raised_and_the_old_file_stays(tmp_path, error):
    place = tmp_path / "a.bin"
    place.write_bytes(b"old")

    def write():
        with files.atomic_write(place) as file:
            file.write(b"half")
            raise error

    with pytest.raises(type(error)):
        write()
    assert place.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.bin"]


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "no space left"),
        (errno.EROFS, "may not be written"),
        (errno.EACCES, "may not be written"),
        (errno.EIO, "could not be written"),
    ],
)
def test_a_failing_disk_is_a_problem_that_names_the_file(tmp_path, number, words):
    place = tmp_path / "a.bin"
    place.write_bytes(b"old")
    with pytest.raises(Problem) as told, files.atomic_write(place):
        raise OSError(number, os.strerror(number))
    assert words in told.value.what
    assert str(place) in told.value.what
    assert told.value.kept
    assert told.value.todo
    assert place.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.bin"]


def test_a_full_disk_met_by_the_real_system(tmp_path):
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full on this system")
    with pytest.raises(OSError, match="space") as met, open("/dev/full", "wb", buffering=0) as full:
        full.write(b"x")
    assert "no space left" in files.explain(met.value, tmp_path).what


def test_two_writers_of_one_file_do_not_share_their_halves(tmp_path):
    place = tmp_path / "a.bin"
    with files.atomic_write(place) as first, files.atomic_write(place) as second:
        first.write(b"1" * 10)
        second.write(b"2" * 20)
    assert place.read_bytes() == b"1" * 10  # the outer one is closed last
    assert os.listdir(tmp_path) == ["a.bin"]


def test_a_folder_that_is_not_there_is_a_problem(tmp_path):
    with pytest.raises(Problem, match="could not be written"), files.atomic_write(tmp_path / "no" / "a.bin"):
        pass


def test_the_digest_is_of_the_content(tmp_path):
    for name, data in (("a", b"one" * 10**6), ("b", b"one" * 10**6), ("c", b"two")):
        (tmp_path / name).write_bytes(data)
    found = [files.digest(tmp_path / name) for name in "abc"]
    assert found[0] == found[1] != found[2]
    assert len(found[0]) == 32


def test_threads_read_one_zip_in_turn(tmp_path, monkeypatch):
    """Python 3.12.1 gives one thread the bytes of another: 17 of 2,720 drawings of Omniglot were called damaged."""
    contents = {f"{number}.txt": os.urandom(200 + number) for number in range(64)}
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in contents.items():
            archive.writestr(name, data)
    inside, together, really_open = Lock(), [], zipfile.ZipFile.open

    def slow_open(self, *arguments):
        together.append(not inside.acquire(blocking=False))
        time.sleep(0.001)  # another thread would come in now
        if not together[-1]:
            inside.release()
        return really_open(self, *arguments)

    with archives.CheckedZip(tmp_path / "a.zip") as archive, ThreadPoolExecutor(8) as pool:
        monkeypatch.setattr(zipfile.ZipFile, "open", slow_open)
        assert list(pool.map(archive.read, contents)) == list(contents.values())
    assert len(together) == 64
    assert not any(together)


def test_a_good_archive_is_unpacked_with_progress(tmp_path):
    told = []
    archives.unpack(
        zipped(tmp_path / "a.zip", "in/b.txt", b"b"), tmp_path / "out", lambda *words: told.append(words[1:])
    )
    assert (tmp_path / "out" / "in" / "b.txt").read_bytes() == b"b"
    assert told == [(1, 2), (2, 2)]
    assert sorted(os.listdir(tmp_path)) == ["a.zip", "out"]


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ({"name": "../out.txt"}, "leaves the folder"),
        ({"name": "a/../../out.txt"}, "leaves the folder"),
        ({"name": "..\\out.txt"}, "leaves the folder"),
        ({"name": "/out.txt"}, "leaves the folder"),
        ({"name": "C:/out.txt"}, "leaves the folder"),
        ({"name": "link", "data": b"/etc", "mode": stat.S_IFLNK | 0o777}, "is a link"),
        ({"name": "bomb", "data": bytes(40 << 20)}, "unpacks to"),
        ({"name": "good.txt/inside.txt"}, "is a file and a folder"),
    ],
)
def test_a_hostile_archive_writes_nothing(tmp_path, fault, words):
    with pytest.raises(Problem, match=words):
        archives.unpack(zipped(tmp_path / "a.zip", **fault), tmp_path / "out", silent)
    assert os.listdir(tmp_path) == ["a.zip"]


def test_a_damaged_archive_leaves_no_half_folder(tmp_path):
    place = zipped(tmp_path / "a.zip", "b.txt", b"payload" * 100, level=zipfile.ZIP_STORED)
    data = bytearray(place.read_bytes())
    data[data.index(b"payload")] ^= 255
    place.write_bytes(data)
    with pytest.raises(Problem, match="refused"):
        archives.unpack(place, tmp_path / "out", silent)
    place.write_bytes(data[:-30])
    with pytest.raises(Problem, match="refused"):
        archives.unpack(place, tmp_path / "out", silent)
    assert os.listdir(tmp_path) == ["a.zip"]


def test_unpacking_can_be_given_up_and_never_mixes_with_what_is_there(tmp_path):
    place = zipped(tmp_path / "a.zip")

    def stop(text, done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        archives.unpack(place, tmp_path / "out", stop)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "kept.txt").write_bytes(b"kept")
    with pytest.raises(Problem, match="mine"):
        archives.unpack(place, tmp_path / "mine", silent)
    assert sorted(os.listdir(tmp_path)) == ["a.zip", "mine"]
    assert os.listdir(tmp_path / "mine") == ["kept.txt"]


def tarred(path, *members, mode="w:gz"):
    """A tar of a good file and (TarInfo, bytes)."""
    with tarfile.open(path, mode) as archive:
        for member, data in ((tarfile.TarInfo("good.txt"), b"good"), *members):
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


def entry(name, kind=tarfile.REGTYPE, target=""):
    made = tarfile.TarInfo(name)
    made.type, made.linkname = kind, target
    return made


@pytest.mark.parametrize("ending", ["tar", "tar.gz", "tgz", "tar.bz2", "tar.xz"])
def test_a_good_tar_is_unpacked_with_progress(tmp_path, ending):
    kind = {"tgz": "gz", "tar": ""}.get(ending, ending.removeprefix("tar."))
    place = tarred(tmp_path / f"a.{ending}", (entry("in/b.txt"), b"b"), mode=f"w:{kind}")
    told = []
    archives.unpack(place, tmp_path / "out", lambda *words: told.append(words))
    assert (tmp_path / "out" / "in" / "b.txt").read_bytes() == b"b"
    assert [words[0] for words in told] == [f"Unpacking a.{ending}"] * 2
    assert told[-1][2] == place.stat().st_size


@pytest.mark.parametrize(
    ("member", "data", "words"),
    [
        (entry("../out.txt"), b"x", "leaves the folder"),
        (entry("/out.txt"), b"x", "leaves the folder"),
        (entry("out", tarfile.SYMTYPE, "/etc"), b"", "is a link or no regular file"),
        (entry("out", tarfile.LNKTYPE, "../../out"), b"", "is a link or no regular file"),
        (entry("out", tarfile.FIFOTYPE), b"", "is a link or no regular file"),
        (entry("good.txt/inside.txt"), b"x", "is a file and a folder"),
        (entry("bomb"), bytes(80 << 20), "unpacks to .* bytes or more"),
    ],
)
def test_a_hostile_tar_writes_nothing(tmp_path, member, data, words):
    place = tarred(tmp_path / "a.tar.gz", (member, data))
    with pytest.raises(Problem, match=words):
        archives.unpack(place, tmp_path / "out", silent)
    assert os.listdir(tmp_path) == ["a.tar.gz"]


@pytest.mark.parametrize("ending", ["tar", "tar.gz", "tar.bz2", "tar.xz"])
@pytest.mark.parametrize("harm", ["cut", "flip"])
def test_a_damaged_tar_is_refused_and_leaves_nothing(tmp_path, ending, harm):
    noise = np.random.default_rng(0).integers(0, 256, 200_000, dtype=np.uint8).tobytes()
    place = tarred(tmp_path / f"a.{ending}", (entry("b.bin"), noise), mode=f"w:{ending.removeprefix('tar').strip('.')}")
    data = bytearray(place.read_bytes())
    if harm == "flip":
        data[: 600 if ending == "tar" else 0] = b"?" * (600 if ending == "tar" else 0)
        data[len(data) // 2 : len(data) // 2 + 99] = b"?" * 99
    place.write_bytes(data[: len(data) // 2] if harm == "cut" else data)
    with pytest.raises(Problem, match="is refused"):
        archives.unpack(place, tmp_path / "out", silent)
    assert os.listdir(tmp_path) == [f"a.{ending}"]


def test_a_damaged_header_is_not_the_end_of_a_tar(tmp_path):
    place = tarred(tmp_path / "a.tar", (entry("b.txt"), b"b"), mode="w")
    data = bytearray(place.read_bytes())
    data[1024:1536] = b"?" * 512  # the header of b.txt, behind that of good.txt and its block
    place.write_bytes(data)
    with pytest.raises(Problem, match="it is damaged at byte 1,024"):
        archives.unpack(place, tmp_path / "out", silent)
    assert os.listdir(tmp_path) == ["a.tar"]


def test_one_large_file_can_be_given_up_in_its_middle(tmp_path):
    place = tarred(tmp_path / "a.tar", (entry("b.bin"), bytes(5 * archives.BLOCK)), mode="w")
    told = []

    def stop(text, done, total):
        told.append(done)
        if len(told) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        archives.unpack(place, tmp_path / "out", stop)
    assert os.listdir(tmp_path) == ["a.tar"]


def test_what_macos_adds_is_passed_over(tmp_path):
    archives.unpack(zipped(tmp_path / "a.zip", "__MACOSX/in/._b.txt"), tmp_path / "out", silent)
    assert os.listdir(tmp_path / "out") == ["good.txt"]


def test_an_archive_loses_its_whole_ending(tmp_path):
    for name, whole in (("a.b.tar.gz", "a.b"), ("A.TGZ", "A"), ("x.tar", "x"), ("folder", "folder")):
        assert stem(tmp_path / name) == whole


def test_an_archive_with_a_password_is_refused(tmp_path):
    place = zipped(tmp_path / "a.zip")
    with zipfile.ZipFile(place) as archive:
        archive.infolist()[1].flag_bits |= 1
        with pytest.raises(Problem, match="password"):
            archives.check_zip(archive, place)


def packed(path, names):
    """An archive with these entries; a tar, or a zip by its ending."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            for name in names:
                archive.writestr(name, name)
    else:
        with tarfile.open(path, "w") as archive:
            for name in names:
                member = tarfile.TarInfo(name)
                member.size = len(name.encode())
                archive.addfile(member, io.BytesIO(name.encode()))
    return path


@pytest.mark.parametrize("ending", [".zip", ".tar"])
@pytest.mark.parametrize(
    "names",
    [
        ("a/1.png", "A/2.png"), ("Train/x.png", "train/y.png"), ("a/1.png", "a/1.PNG"),
        *([] if os.name == "nt" else [("e\u0301/1.png", "é/2.png"), ("Straße/1.png", "STRASSE/2.png")]),
    ],
)  # fmt: skip
def test_classes_that_are_one_name_on_a_disk_without_capitals_do_not_become_one(tmp_path, monkeypatch, ending, names):
    """As letters of a script, "a" and "A": macOS and Windows would put the images of both into one folder."""
    archive = packed(tmp_path / f"letters{ending}", names)
    archives.unpack(archive, tmp_path / "here", silent)
    monkeypatch.setattr(archives, "ignores_case", lambda folder: True)
    with pytest.raises(Problem, match="have one name on a disk that ignores capitals"):
        archives.unpack(archive, tmp_path / "there", silent)
    assert sorted(os.listdir(tmp_path)) == ["here", archive.name]
    archives.unpack(packed(tmp_path / f"apart{ending}", ("a/1.png", "a/2.png", "b/1.png")), tmp_path / "there", silent)


@pytest.mark.parametrize("ending", [".zip", ".tar"])
@pytest.mark.parametrize("name", ["a/b:1.png", "con/1.png", "a/NUL.png", "a./1.png", "a /1.png", "a/what?.png"])
def test_a_name_that_windows_gives_another_meaning_is_refused_there(tmp_path, monkeypatch, ending, name):
    """A colon would write a hidden part of the file "b", and NUL would keep nothing."""
    archive = packed(tmp_path / f"photos{ending}", ["a/fine.png", name])
    archives.unpack(archive, tmp_path / "here", silent)
    monkeypatch.setattr(archives, "WINDOWS", True)
    with pytest.raises(Problem, match="has a name that Windows does not allow"):
        archives.unpack(archive, tmp_path / "there", silent)
    assert sorted(os.listdir(tmp_path)) == ["here", archive.name]
    archives.unpack(packed(tmp_path / f"fine{ending}", ("a/.x.png", "b c/./1.png")), tmp_path / "there", silent)
