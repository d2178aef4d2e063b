"""Seeded damage to true inputs: bits, cuts, splices, words of the kind that breaks readers, lines, keys and names."""

import bz2
import gzip
import io
import lzma
import random
import re
import zipfile
from collections.abc import Callable

Files = dict[str, bytes]  # by path relative to a folder, posix
Mutation = Callable[[random.Random, bytes], bytes]

EXTREMES = (
    b"0", b"-1", b"1", b"255", b"256", b"65536", b"2147483648", b"-2147483649", b"9223372036854775808", b"1e999",
    b"-1e-999", b"inf", b"-inf", b"nan", b"0x1F", b"1_0", b"--5", b"+-3", b"9" * 5000, b"0" * 400, b"1.5", b"", b" ",
    "\u0665".encode(), "\u00b2".encode(),
)  # fmt: skip
WORDS = (
    *EXTREMES, b"..", b".", b"/", b"\\", b"../../x", b"C:\\x", b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\xef\xbb\xbf",
    b"'", b'"', b'"""', b",", b",,,,", b"\t", b";", b"=", b"#", b"[", b"]", b"{", b"}", b"[" * 3000, b"{a=" * 1500,
    b'{"a":' * 1500, b"a." * 3000, b"true", b"null", b"None", b"[]", b"{}", b'"2"', b"1979-05-27", b"label", b"path",
    b"name", b"\r", b"\n\n", b"x" * 300, b"x" * 140_000, "\u2028".encode(), "\u202e".encode(), b"%s%n", b"=1+1", b"<b>",
    b"| |\n|-|\n", b"> " * 200,
)  # fmt: skip
NAMES = (
    "..", "../x", "a/../b", "x" * 250, "x" * 255, "x" * 300, "\udcff\udcfe", "CON", "a b", " ", "a\nb", "-rf", "~",
    "a.", ".hidden", "__MACOSX/x", "d/" * 60 + "f.png", "d/" * 1100 + "f.png", "A/B/C/D.png", "=1.png", "\\xff",
    "train/a/b.png",
)  # fmt: skip
PACKERS: dict[bytes, tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]] = {
    b"\x1f\x8b": (gzip.decompress, lambda data: gzip.compress(data, 1)),
    b"BZh": (bz2.decompress, bz2.compress),
    b"\xfd7zXZ": (lzma.decompress, lzma.compress),
}


def mutated(rng: random.Random, files: Files) -> Files:
    """The files with one to three things changed: contents mostly, sometimes names, or which files there are."""
    found = dict(files)
    for _ in range(rng.choice((1, 1, 2, 3))):
        name = rng.choice(sorted(found) or ["empty"])
        match rng.randrange(12):
            case 0:
                found.pop(name, None)
            case 1:
                found[f"{name}/inside"] = found.pop(name, b"")  # a folder where a file is expected
            case 2 if len(found) > 1:
                found[name] = found[rng.choice(sorted(found))]
            case 3 if len(found) > 1:
                at = rng.randrange(name.count("/") + 1)
                parts = name.split("/")
                found["/".join([*parts[:at], rng.choice(NAMES), *parts[at + 1 :]])] = found.pop(name, b"")
            case _:
                found[name] = changed(rng, found.get(name, b""))
    return found


def changed(rng: random.Random, data: bytes) -> bytes:
    """The content with one thing changed; inside its packing as often as outside."""
    for magic, (unpack, pack) in PACKERS.items():
        if data.startswith(magic) and rng.random() < 0.7:
            return pack(changed(rng, unpack(data))) if _whole(unpack, data) else data[: rng.randrange(len(data))]
    if data.startswith(b"PK\x03\x04") and rng.random() < 0.5:
        return _in_zip(rng, data)
    return rng.choice(TEXT + BINARY if _is_text(data) else BINARY)(rng, data)


def _whole(unpack: Callable[[bytes], bytes], data: bytes) -> bool:
    try:
        unpack(data)
    except Exception:  # noqa: BLE001 - damaged before: any library's error says so
        return False
    return True


def _in_zip(rng: random.Random, data: bytes) -> bytes:
    """One entry's name or content changed, with sums that are right."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = [(entry.filename, archive.read(entry)) for entry in archive.infolist()]
    except Exception:  # noqa: BLE001 - damaged before
        return data[: rng.randrange(len(data) + 1)]
    if not entries:
        return data
    at = rng.randrange(len(entries))
    name, content = entries[at]
    entries[at] = (rng.choice(NAMES), content) if rng.random() < 0.3 else (name, changed(rng, content))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
        for each, content in entries:
            archive.writestr(each.encode("utf-8", "replace").decode().replace("\0", "") or "x", content)
    return out.getvalue()


def _is_text(data: bytes) -> bool:
    return b"\0" not in data[:400]


def _flip(rng: random.Random, data: bytes) -> bytes:
    found = bytearray(data)
    for _ in range(rng.choice((1, 1, 4, 30)) if data else 0):
        found[_place(rng, data)] ^= 1 << rng.randrange(8)
    return bytes(found)


def _cut(rng: random.Random, data: bytes) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _splice(rng: random.Random, data: bytes) -> bytes:
    """A piece of it somewhere else."""
    start, into = rng.randrange(len(data) + 1), _place(rng, data)
    return data[:into] + data[start : start + rng.choice((1, 4, 64, 4096))] + data[into:]


def _without(rng: random.Random, data: bytes) -> bytes:
    at = _place(rng, data)
    return data[:at] + data[at + rng.choice((1, 2, 4, 64)) :]


def _insert(rng: random.Random, data: bytes) -> bytes:
    at = _place(rng, data)
    return data[:at] + rng.choice(WORDS) + data[at:]


def _number_field(rng: random.Random, data: bytes) -> bytes:
    """Four or eight bytes as the least, the greatest or an odd number: lengths, offsets, shapes."""
    width, at = rng.choice((1, 2, 4, 8)), _place(rng, data)
    value = rng.choice((0, 1, 0x7F << 8 * (width - 1), (1 << 8 * width) - 1, (1 << 8 * width - 1)))
    return data[:at] + value.to_bytes(width, rng.choice(("little", "big"))) + data[at + width :]


def _digits(rng: random.Random, data: bytes) -> bytes:
    return _replaced(rng, data, rb"-?\d+(?:\.\d+)?", EXTREMES)


def _values(rng: random.Random, data: bytes) -> bytes:
    """The value behind a = or : or comma, of another type."""
    return _replaced(rng, data, rb"(?<=[=:,] )[^\n,]+|(?<=[=:,])[^\n,]+", WORDS)


def _words(rng: random.Random, data: bytes) -> bytes:
    return _replaced(rng, data, rb"[A-Za-z_|<>.]+", WORDS)


def _replaced(rng: random.Random, data: bytes, pattern: bytes, by: tuple[bytes, ...]) -> bytes:
    there = list(re.finditer(pattern, data[:20_000]))
    if not there:
        return _insert(rng, data)
    one = rng.choice(there)
    return data[: one.start()] + rng.choice(by) + data[one.end() :]


def _lines(rng: random.Random, data: bytes) -> bytes:
    """One line removed, doubled, joined to the next or moved."""
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    match rng.randrange(4):
        case 0:
            del lines[at]
        case 1:
            lines.insert(at, lines[at])
        case 2:
            lines[at : at + 2] = [b" ".join(lines[at : at + 2])]
        case _:
            lines.insert(rng.randrange(len(lines)), lines.pop(at))
    return b"\n".join(lines)


def _encoding(rng: random.Random, data: bytes) -> bytes:
    text = data.decode("utf-8", "replace")
    return rng.choice((text.encode("utf-16"), b"\xef\xbb\xbf" + data, text.encode("utf-32"), b"\xff" + data))


def _place(rng: random.Random, data: bytes) -> int:
    """Where to change: headers and what stands at the end decide more than the rest."""
    near = rng.choice((32, 200, len(data), len(data)))
    at = rng.randrange(max(1, min(near, len(data))))
    return at if rng.random() < 0.8 else max(0, len(data) - 1 - at)


BINARY: tuple[Mutation, ...] = (_flip, _flip, _cut, _splice, _without, _insert, _number_field, _number_field, _digits)
TEXT: tuple[Mutation, ...] = (_digits, _digits, _values, _values, _words, _lines, _lines, _encoding)
