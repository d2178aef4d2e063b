"""Zip and tar archives: checked before anything is used, and unpacked inside one folder completely or not at all."""

import bz2
import gzip
import lzma
import os
import re
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import IO, Any, Self

from workbench import files
from workbench.files import parts
from workbench.files.archive_names import stem
from workbench.files.disk_names import Spellings, ignores_case, is_unsafe
from workbench.files.unreadable import refusing
from workbench.problem import Problem
from workbench.progress import Progress

LARGEST = 64 << 30  # bytes, unpacked
MOST_FILES = 500_000  # for this many, zipfile takes 300 MB of memory
MOST_READ = 5_000_000  # files of a tar that is read without unpacking
MOST_LISTED = 48 << 20  # bytes of a zip's list of files
MOST_HEADER = 4 << 20  # bytes of a tar's header of one file
DEEPEST = 100  # nested folders
BOMB = 200  # compression ratio above which an archive is no archive of images
BLOCK = 1 << 20  # bytes between two checks for cancelling
PACKINGS: dict[bytes, Callable[..., Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}
DAMAGED = (tarfile.InvalidHeaderError, tarfile.TruncatedHeaderError)  # type: ignore[attr-defined]
WINDOWS = os.name == "nt"
RENAME = "Unpack it on another system, rename those files, and choose the folder."
FROM_MACOS = "__MACOSX"  # a folder that its archiver adds, without data of the user


def unpacked(path: Path, cache: Path, progress: Progress) -> Path:
    """The folder below `cache` with the archive's files: unpacked now, or by an earlier call if it has not changed.

    Raises:
        Problem: as `unpack`.
    """
    with refusing(lambda why: Problem(f"{path} cannot be opened ({why}).", todo="Choose it again.")):
        facts = path.stat()
    stamp = f"{path.resolve()} {facts.st_size} {facts.st_mtime_ns}"
    folder = cache / f"{stem(path)}-{blake2b(stamp.encode(), digest_size=8).hexdigest()}"
    parts.remove_dead(cache)
    if not folder.is_dir():
        unpack(path, folder, progress)
    return folder


def unpack(path: Path, folder: Path, progress: Progress) -> None:
    """Unpack an archive into a new or empty folder: all of it, or nothing. `progress` may raise to cancel.

    What macOS adds to an archive is skipped.

    Raises:
        Problem: an entry outside the folder, a link, a password, a bomb, a name that is both file and folder or that
            this disk cannot have or keep apart from another, damage, a folder that is not empty, or a full disk.
    """
    parts.remove_dead(folder.parent, folder.name)
    try:
        with refusing(partial(_refused, path), OSError), parts.part_folder(folder) as part:
            (_unzip if path.name.lower().endswith(".zip") else _untar)(path, part, progress)
            if folder.exists():
                folder.rmdir()
            part.rename(folder)
    except OSError as error:
        if error.errno is None:  # how gzip and bz2 report damaged content
            raise _refused(path, str(error)) from None
        raise files.explain(error, folder) from error


class _Sparing:
    """A file from which at most `left` bytes may be read; its owner sets `left` again for each entry.

    zipfile and tarfile read lists and headers at once, however long the archive claims that they are.
    """

    def __init__(self, file: IO[bytes], left: int, refused: Callable[[], Problem]) -> None:
        self._file, self.left, self._refused = file, left, refused

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def read(self, size: int = -1) -> bytes:
        if size < 0:
            here = self._file.tell()
            size = self._file.seek(0, os.SEEK_END) - here
            self._file.seek(here)
        if size > self.left:
            raise self._refused()
        self.left -= size
        return self._file.read(size)


class _Header(tarfile.TarInfo):
    """A header of a tar; a damaged one is an error, where tarfile takes it for the end of the archive."""

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> Self:
        try:
            return super().fromtarfile(archive)
        except DAMAGED:
            raise tarfile.ReadError(f"it is damaged at byte {archive.offset:,}") from None


class CheckedZip(zipfile.ZipFile):
    """A zip whose list of files is checked before any file is used. Raises Problem as `unpack`.

    Damage inside a file is noticed when that file is read. Threads may share it if they take whole files, by `read`.
    """

    _source: IO[bytes] | None = None

    def __init__(self, path: Path) -> None:
        self._reading = Lock()
        with refusing(partial(_refused, path)):
            source = self._source = path.open("rb")
            try:
                sparing: Any = _Sparing(source, MOST_LISTED, partial(_refused, path, "its list of files is too long"))
                super().__init__(sparing)
                sparing.left = LARGEST**2  # contents are read in blocks
                check_zip(self, path)
            except BaseException:
                source.close()
                raise

    def read(self, name: str | zipfile.ZipInfo, pwd: bytes | None = None) -> bytes:
        """The content of one file, as `zipfile` reads it; threads wait for each other."""
        with self._reading:  # zipfile mixes up the positions of two threads (CPython issue 128258: 3.12, 3.13)
            return super().read(name, pwd)

    def close(self) -> None:
        """Close the archive, and the file that it was opened on."""
        super().close()
        if self._source is not None:
            self._source.close()


def check_zip(archive: zipfile.ZipFile, path: Path) -> None:
    """Check a zip before any of its files is used. Raises Problem as `unpack`."""
    total = 0
    entries = archive.infolist()
    if len(entries) > MOST_FILES:
        raise _refused(path, f"it holds more than {MOST_FILES:,} files")
    for entry in entries:
        _check_name(path, entry.filename)
        if (entry.external_attr >> 16) & 0o170000 == 0o120000:
            raise _refused(path, f"its entry {entry.filename!r} is a link")
        if entry.flag_bits & 1:
            raise _refused(path, "it has a password", "Unpack it with its password and choose the folder.")
        if entry.file_size > 1 << 20 and entry.file_size > BOMB * max(1, entry.compress_size):
            raise _refused(path, f"its entry {entry.filename!r} unpacks to {entry.file_size:,} bytes")
        total += entry.file_size
    if _too_large(total, path.stat().st_size):  # compared with the file itself, because entries may share their bytes
        raise _refused(path, f"it unpacks to {total:,} bytes")


def _unzip(archive_path: Path, part: Path, progress: Progress) -> None:
    with CheckedZip(archive_path) as archive:
        entries = [info for info in archive.infolist() if not info.is_dir() and not _is_from_macos(info.filename)]
        spellings = Spellings() if ignores_case(part) else None
        for done, entry in enumerate(entries, start=1):
            tell = partial(progress, f"Unpacking {archive_path.name}", done, len(entries))
            with archive.open(entry) as content:
                _write(archive_path, entry.filename, content, part, tell, spellings)


def _untar(archive_path: Path, part: Path, progress: Progress) -> None:
    """Write members one after another under checked names: a compressed tar cannot be checked as a whole first."""
    size, total = archive_path.stat().st_size, 0
    if size > LARGEST:
        raise _refused(archive_path, f"it has {size:,} bytes")
    with archive_path.open("rb") as file, PACKINGS.get(_magic(file), _unpacked_file)(file) as content_of_all:
        sparing: Any = _Sparing(
            content_of_all, MOST_HEADER, partial(_refused, archive_path, "a header in it is too long")
        )
        archive = tarfile.TarFile(fileobj=sparing, tarinfo=_Header)
        spellings = Spellings() if ignores_case(part) else None
        for member, content in _members(archive, sparing, archive_path):
            total += member.size + tarfile.BLOCKSIZE
            if _too_large(total, size):
                raise _refused(archive_path, f"it unpacks to {total:,} bytes or more")
            if not _is_from_macos(member.name):
                tell = partial(progress, f"Unpacking {archive_path.name}", min(file.tell(), size), size)
                _write(archive_path, member.name, content, part, tell, spellings)
        while rest := content_of_all.read(BLOCK):  # to the checksum after the last member
            total += len(rest)
            if _too_large(total, size):
                raise _refused(archive_path, f"it unpacks to {total:,} bytes or more")


def tar_files(archive_path: Path) -> Iterator[tuple[tarfile.TarInfo, IO[bytes]]]:
    """Every file of a tar by its position (`offset_data`, `size`), with its content to read; nothing is unpacked.

    Raises:
        Problem: as `unpack`, for a compressed tar, in which nothing can be found without unpacking it, and for zeros in
            the middle of a tar, which hide what is behind them.
    """
    with refusing(partial(_refused, archive_path)), archive_path.open("rb") as file:
        if _magic(file):
            raise _refused(archive_path, "it is compressed", "Unpack it to a plain .tar, for example with gunzip.")
        sparing: Any = _Sparing(file, MOST_HEADER, partial(_refused, archive_path, "a header in it is too long"))
        archive = tarfile.TarFile(fileobj=sparing, tarinfo=_Header)
        yield from _members(archive, sparing, archive_path, MOST_READ)
        _check_end(file, archive_path)


def _check_end(file: IO[bytes], archive_path: Path) -> None:
    """Raise Problem if anything but zeros is behind the zeros that end a tar: they hide files."""
    end = file.tell()
    while rest := file.read(BLOCK):
        if rest.count(0) != len(rest):
            raise _refused(archive_path, f"there are data after its end at byte {end:,}")


def _write(
    archive_path: Path, name: str, content: IO[bytes], part: Path, tell: Callable[[], None],
    spellings: Spellings | None,
) -> None:  # fmt: skip
    """Write one entry's content below `part`; `tell` is called after every block, and may raise to cancel.

    `spellings` of all entries, on a disk that ignores capitals: two classes named "a" and "A" would become one.
    """
    path = name.replace("\\", "/")
    if WINDOWS and any(map(is_unsafe, path.split("/"))):
        raise _refused(archive_path, f"its entry {name[:99]!r} has a name that Windows does not allow", RENAME)
    if spellings is not None and (other := spellings.other(path)):
        raise _refused(
            archive_path, f"its entries {other[:99]!r} and {name[:99]!r} have one name on a disk that ignores capitals",
            RENAME,
        )  # fmt: skip
    into = part / path
    try:
        into.parent.mkdir(parents=True, exist_ok=True)
        copy = into.open("wb")  # of two entries of one name the last counts, as in tar
    except (FileExistsError, NotADirectoryError, IsADirectoryError):
        raise _refused(archive_path, f"its entry {name!r} is a file and a folder") from None
    with copy:
        while block := content.read(BLOCK):
            copy.write(block)
            tell()


def _too_large(unpacked: int, packed: int) -> bool:
    """Whether this is too large, or compressed too strongly, for an archive of images."""
    return unpacked > LARGEST or (unpacked > 64 << 20 and unpacked > BOMB * packed)


def _is_from_macos(name: str) -> bool:
    return FROM_MACOS in name.replace("\\", "/").split("/")


def _magic(file: IO[bytes]) -> bytes:
    """The signature at the start of the file, if it is that of a known compression."""
    begin = file.read(6)
    file.seek(0)
    return next((magic for magic in PACKINGS if begin.startswith(magic)), b"")


def _unpacked_file(file: IO[bytes]) -> IO[bytes]:
    return file


def _members(
    archive: tarfile.TarFile, sparing: _Sparing, archive_path: Path, most: int = MOST_FILES
) -> Iterator[tuple[tarfile.TarInfo, IO[bytes]]]:
    number = 0
    while (member := archive.next()) is not None:
        number += 1
        archive.members.clear()  # type: ignore[attr-defined]  # tarfile would keep all of them
        if number > most:
            raise _refused(archive_path, f"it holds more than {most:,} files")
        _check_name(archive_path, member.name)
        if member.size < 0:  # what follows is sought before it: the same entries again and again
            raise _refused(archive_path, f"its entry {member.name[:99]!r} has a size below 0")
        sparing.left = LARGEST  # contents are read in blocks
        if not member.isdir():
            if not member.isreg() or member.issparse():
                raise _refused(archive_path, f"its entry {member.name!r} is a link or no regular file")
            yield member, _content(archive, member)
        sparing.left = MOST_HEADER


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    content = archive.extractfile(member)
    assert content is not None  # a regular file has content
    return content


def _check_name(archive_path: Path, name: str) -> None:
    parts = name.replace("\\", "/").split("/")
    if name.startswith(("/", "\\")) or ".." in parts or "\0" in name or re.match("[A-Za-z]:", name):
        raise _refused(archive_path, f"its entry {name[:99]!r} leaves the folder")
    if len(parts) > DEEPEST:
        raise _refused(archive_path, f"its entry {name[:99]!r} lies in more than {DEEPEST} folders")


def _refused(archive_path: Path, why: str, todo: str = "Use another file.") -> Problem:
    return Problem(f"The archive {archive_path} is refused: {why}.", kept="Nothing was unpacked.", todo=todo)
