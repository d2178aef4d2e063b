"""Small files that ask for much memory: each is refused in one sentence by a process that stays small.

`python -m tests.campaign.bombs FOLDER SEED` plays them: the libraries are imported once, then every bomb is read in a
process forked for it, whose address space is limited and whose peak is measured.
"""

import contextlib
import gzip
import io
import json
import lzma
import os
import random
import struct
import subprocess
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from tests.campaign.corpus import corpus, picture, tarred, zipped
from tests.campaign.outcome import Outcome

TITLE = "memory bombs"
PROMISE = (
    "A file that asks for more memory than it is worth is refused, with less than 500 MB more than before it was read."
)
ROUNDS = 30
EACH = 5  # bombs of a round
SLICE = 1 if hasattr(os, "fork") else 0  # Windows can neither fork nor limit the address space
MOST = 500 << 20  # bytes that the peak of resident memory may lie above that before the file was read
SPACE = 6 << 30  # bytes of address space beyond what the libraries have taken
PATIENCE = 120  # seconds for one bomb
ZEROS = 16 << 20  # bytes of one gzip member
Maker = Callable[[Path], None]


def attempt(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    """Some of the bombs."""
    if not SLICE:
        return
    told = subprocess.run(
        [sys.executable, "-m", "tests.campaign.bombs", str(folder), str(rng.randrange(1 << 30))],
        cwd=Path(__file__).resolve().parents[2], capture_output=True, text=True, timeout=20 * PATIENCE,
        env={**os.environ, "OMP_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"},
    )  # fmt: skip
    lines = [json.loads(line) for line in told.stdout.splitlines() if line.startswith("{")]
    if told.returncode or not lines:
        yield Outcome("lost", f"the process ended with {told.returncode}: {told.stderr[-300:]}")
    for line in lines:
        yield Outcome(line["kind"], line["words"])


def main(folder: Path, seed: int) -> None:
    """Play some bombs, each in a separate process, and print one line of JSON for each."""
    from tests.campaign import fuzz

    names = random.Random(seed).sample(sorted(BOMBS), min(EACH, len(BOMBS)))
    with contextlib.redirect_stdout(None), contextlib.suppress(Exception):
        for kind in {BOMBS[name][0] for name in names}:  # what is imported on first use belongs to the baseline
            place = folder / "warm"
            place.mkdir()
            fuzz.write(place, corpus()[kind][0])
            with contextlib.suppress(Exception):
                fuzz.IMPORTERS[kind](place)
            fuzz.remove(place)
    with fuzz.patch("workbench.datasets.reading.data_folder.cache_folder", lambda: folder / "cache"):
        for name in names:
            place = folder / "bomb"
            place.mkdir()
            kind, make = BOMBS[name]
            make(place)
            print(json.dumps({"name": name, **_played(name, fuzz.IMPORTERS[kind], place)}), flush=True)
            fuzz.remove(place)


def _played(name: str, read: Callable[[Path], object], place: Path) -> dict[str, str]:
    """The outcome of one bomb, read in a child of this process."""
    out, into = os.pipe()
    child = os.fork()
    if not child:
        os.close(out)
        with os.fdopen(into, "w") as told:
            told.write(json.dumps(_read(name, read, place)))
            told.flush()
        os._exit(0)
    os.close(into)
    with os.fdopen(out) as answer:
        said = answer.read()
    _, status = os.waitpid(child, 0)
    return json.loads(said) if said else {"kind": "lost", "words": f"{name}: the process ended with {status}"}


def _read(name: str, read: Callable[[Path], object], place: Path) -> dict[str, str]:
    import resource

    from tests.campaign.fuzz import tried
    from workbench.problem import Problem

    before, size = _memory("VmRSS"), _memory("VmSize")
    resource.setrlimit(resource.RLIMIT_AS, (size + SPACE, size + SPACE))
    refused = []

    def reading(place: Path) -> None:
        try:
            read(place)
        except Problem as problem:
            refused.append(str(problem))
            raise

    outcome = tried(name, reading, place)
    peak = (_memory("VmHWM") - before) >> 20
    if outcome.kind != "survived":
        return {"kind": outcome.kind, "words": f"{outcome.words}; {peak} MiB"}
    if peak >= MOST >> 20:
        return {"kind": "lost", "words": f"{name}: {peak} MiB; {'; '.join(refused)[:120] or 'not refused'}"}
    if not refused and name not in USED:
        return {"kind": "lost", "words": f"{name}: not refused; {peak} MiB"}
    return {"kind": "survived", "words": f"{name}: {peak} MiB; {'; '.join(refused)[:120] or 'used'}"}


def _memory(what: str) -> int:
    """Bytes of this process, as the system says: VmRSS, VmHWM (its highest), VmSize."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith(f"{what}:"))


def _zeros(count: int) -> bytes:
    """`count` zero bytes as gzip: small members one after another."""
    whole, rest = divmod(count, ZEROS)
    return gzip.compress(bytes(ZEROS), 1) * whole + gzip.compress(bytes(rest))


def _one(name: str, data: Callable[[], bytes]) -> Maker:
    def make(place: Path) -> None:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(data())

    return make


def _sparse(name: str, begin: bytes, size: int = 1 << 30) -> Maker:
    """A file of that many bytes of which the disk holds the first."""

    def make(place: Path) -> None:
        with (place / name).open("wb") as file:
            file.write(begin)
            file.truncate(size)

    return make


def _cifar(name: str, data: Callable[[], bytes]) -> Maker:
    def make(place: Path) -> None:
        for each, content in corpus()["CIFAR"][0].items():
            (place / each).write_bytes(content)
        (place / name).write_bytes(data())

    return make


def _doubled() -> bytes:
    """Tuples of tuples: eight times as many values at each of twelve levels."""
    made = b"(K\x01K\x02tq\x00"
    for level in range(12):
        made = b"(" + made + b"h%c" % level * 7 + b"tq%c" % (level + 1)
    return b"\x80\x02}X\x0b\x00\x00\x00label_names" + made + b"s."


def _filled(content: bytes) -> bytes:
    """An array that is built of that pickled content."""
    start = b"\x80\x02}(U\x04datacnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\nK\x00\x85U\x01btR"
    return start + b"(K\x01K\x01K\x01\x86cnumpy\ndtype\n(U\x02u1K\x00K\x01tR\x89" + content + b"tbU\x06labels]u."


def _encoded() -> bytes:
    """One text, encoded over and over."""
    again = b"c_codecs\nencode\nh\x00U\x06latin1\x86R"
    return b"\x80\x02X" + struct.pack("<I", 1 << 20) + b"a" * (1 << 20) + b"q\x00" + again * 3000 + b"."


def _pax(kind: bytes, size: int) -> bytes:
    """A tar.gz whose first header says that a longer one of that kind follows."""
    member = tarfile.TarInfo("header")
    member.type, member.size = kind, size
    return gzip.compress(member.tobuf(tarfile.PAX_FORMAT)) + _zeros(size)


def _sparse_map() -> bytes:
    """A tar.gz with a sparse file of version 1.0, whose map is long."""
    facts = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "x", "GNU.sparse.realsize": "1"}
    member = tarfile.TarInfo("x")
    member.size, member.pax_headers = 1 << 30, facts
    lines = gzip.compress(b"0\n" * (4 << 20), 1)
    return gzip.compress(member.tobuf(tarfile.PAX_FORMAT) + b"999999999\n") + lines * 32


def _many_entries() -> bytes:
    """A zip that lists 2.1 million files."""
    entry = (
        struct.pack("<4s4B4HL2L5H2L", b"PK\1\2", 20, 3, 20, 0, 0, 0, 0, 33, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0) + b"a/01.png"
    )
    listed = entry * 2_100_000
    return listed + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 65535, 65535, len(listed), 0, 0)


def _overlapping() -> bytes:
    """A zip whose many entries are the same compressed megabytes, so that each looks honest."""
    packed = zlib.compressobj(9, zlib.DEFLATED, -15)
    noise = np.random.default_rng(0).integers(0, 256, 1 << 18, np.uint8).tobytes()
    data = packed.compress(noise + bytes(40 << 20)) + packed.flush()
    size = len(noise) + (40 << 20)
    crc = zlib.crc32(noise + bytes(40 << 20))
    local = struct.pack("<4s5H3L2H", b"PK\3\4", 20, 0, 8, 0, 33, crc, len(data), size, 1, 0) + b"a" + data
    entry = (
        struct.pack("<4s4B4HL2L5H2L", b"PK\1\2", 20, 3, 20, 0, 0, 8, 0, 33, crc, len(data), size, 1, 0, 0, 0, 0, 0, 0)
        + b"a"
    )
    listed = entry * 1500
    return local + listed + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1500, 1500, len(listed), len(local), 0)


def _dictionary(size: int) -> bytes:
    """A tar.xz that asks for a dictionary of that size."""
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": size, "mode": lzma.MODE_FAST, "mf": lzma.MF_HC3, "nice_len": 8}]
    small = lzma.compress(tarred({"a": b"1"}, "w"), filters=[{**filters[0], "dict_size": 1 << 16}])
    header = bytearray(small[12:24])
    header[header.index(0x21) + 2] = 39  # 3 GiB
    header[8:12] = struct.pack("<I", zlib.crc32(bytes(header[:8])))
    return small[:12] + bytes(header) + small[24:]


def _npy(kind: str, shape: tuple[int, ...]) -> Callable[[], bytes]:
    """An array of 4 KiB whose header tells of more."""
    text = repr({"descr": kind, "fortran_order": False, "shape": shape}).encode().ljust(117) + b"\n"
    return lambda: b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + bytes(4096)


def _rows(name: str, kind: str, count: int) -> Maker:
    """A Parquet file of so many equal rows, which take a few kilobytes."""

    def make(place: Path) -> None:
        import pyarrow
        from pyarrow import parquet

        block = min(count, 4_000_000)
        made = {
            "null": lambda: pyarrow.nulls(block), "label": lambda: pyarrow.array(np.zeros(block, np.int8)),
            "words": lambda: pyarrow.DictionaryArray.from_arrays(np.zeros(block, np.int8), ["x" * 1000]),
            "lists": lambda: pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(np.zeros(block, np.float32)), 4000),
        }[kind]()  # fmt: skip
        one = pyarrow.table({"label" if kind in ("label", "words") else "x": made})
        with parquet.ParquetWriter(place / name, one.schema, compression="zstd", use_dictionary=True) as writer:
            for _ in range(max(1, count // block)):
                writer.write_table(one)

    return make


def _with(seed: str, at: int, maker: Maker) -> Maker:
    """A bomb beside the other files of a true input."""

    def make(place: Path) -> None:
        for name, content in corpus()[seed][at].items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_bytes(content)
        maker(place)

    return make


def _png(width: int, height: int, colour: int) -> bytes:
    """A picture of zeros: 0 grey, 2 colour, 4 grey with alpha, 6 colour with alpha; eight bits."""
    channels = {0: 1, 2: 3, 4: 2, 6: 4}[colour]
    packer = zlib.compressobj(1)
    rows = (
        b"".join(packer.compress(bytes(1 + channels * width) * 100) for _ in range(min(height, 9000) // 100))
        + packer.flush()
    )
    chunks = ((b"IHDR", struct.pack(">2I5B", width, height, 8, colour, 0, 0, 0)), (b"IDAT", rows), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )


def _webp() -> bytes:
    """The largest canvas that the format knows, in its extended header."""
    frame = picture(3, "WEBP", (16, 16))[12:]
    canvas = b"VP8X" + struct.pack("<I", 10) + bytes([0x10, 0, 0, 0]) + (16382).to_bytes(3, "little") * 2
    return b"RIFF" + struct.pack("<I", 4 + len(canvas) + len(frame)) + b"WEBP" + canvas + frame


def _mat() -> bytes:
    """MATLAB's list with one packed variable of zeros."""
    packer, count = zlib.compressobj(1), 37
    head = (
        struct.pack("<2I", 14, 48 + (count << 24))
        + struct.pack("<4I", 6, 8, 6, 0)
        + struct.pack("<4I", 5, 8, count << 21, 1)
    )
    head += struct.pack("<2I", 1, 11) + b"annotations".ljust(16, b"\0") + struct.pack("<2I", 9, count << 24)
    packed = packer.compress(head) + b"".join(packer.compress(bytes(1 << 24)) for _ in range(count)) + packer.flush()
    return b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM" + struct.pack("<2I", 15, len(packed)) + packed


def _saved(made: Callable[[], object], modern: bool = True) -> Callable[[], bytes]:
    def data() -> bytes:
        import torch

        out = io.BytesIO()
        torch.save(made(), out, _use_new_zipfile_serialization=modern)
        return out.getvalue()

    return data


def _expanded() -> object:
    import torch

    return {"w": torch.zeros(1).expand(200_000, 200_000)}


def _repacked(change: Callable[[str, bytes], bytes]) -> bytes:
    """A weights file whose parts are changed and compressed."""
    with zipfile.ZipFile(io.BytesIO(corpus()["weights"][0]["w.pth"])) as archive:
        return zipped({name: change(name, archive.read(name)) for name in archive.namelist()})


def _idx_of_zeros() -> bytes:
    return gzip.compress(struct.pack(">4I", 2051, 3 << 20, 32, 32)) + _zeros(3 << 30)


def _apart() -> bytes:
    return b"image_id class_id super_class_id path\n1 99999999999999999 1 b/1.JPG\n"


def _large_part() -> bytes:
    return _repacked(lambda name, data: bytes(700 << 20) if name.endswith("data/0") else data)


def _by_number() -> bytes:
    return _repacked(lambda name, data: BYTEARRAY if name.endswith("data.pkl") else data)


USED = {"PNG of 49 million pixels with alpha", "SOP: class numbers far apart"}  # they are small enough, and may be used
BYTEARRAY = b"\x80\x02cbuiltins\nbytearray\nJ\x00\x00\x00\x7f\x85R."
BOMBS: dict[str, tuple[str, Maker]] = {
    "CIFAR: tuples of tuples": ("CIFAR", _cifar("batches.meta", _doubled)),
    "CIFAR: two billion bytes by number": ("CIFAR", _cifar("data_batch_1", lambda: _filled(b"J\x00\x00\x00\x7f"))),
    "CIFAR: one text over and over": ("CIFAR", _cifar("data_batch_1", _encoded)),
    "CIFAR: a list for each byte": ("CIFAR", _cifar("data_batch_1", lambda: b"\x80\x02" + b"]" * (60 << 20) + b".")),
    "tar.gz with a PAX header of 2.2 GiB": ("archives", _one("a.tar.gz", lambda: _pax(b"x", 2252 << 20))),
    "tar.gz with a global PAX header": ("archives", _one("a.tar.gz", lambda: _pax(b"g", 1 << 30))),
    "tar.gz with a long name": ("archives", _one("a.tgz", lambda: _pax(b"L", 1 << 30))),
    "tar.gz with a long sparse map": ("archives", _one("a.tar.gz", _sparse_map)),
    "tar.xz with a dictionary of 3 GiB": ("archives", _one("a.tar.xz", lambda: _dictionary(1 << 16))),
    "zip of 2.1 million entries": ("archives", _one("a.zip", _many_entries)),
    "Omniglot: zip of 2.1 million entries": ("Omniglot", _one("images_background.zip", _many_entries)),
    "zip of overlapping entries": ("archives", _one("a.zip", _overlapping)),
    "idx.gz of zeros": ("idx", _with("idx", 1, _one("train-images-idx3-ubyte.gz", _idx_of_zeros))),
    "Parquet of 200 million rows": ("tables", _rows("e.parquet", "null", 200_000_000)),
    "Parquet of 200 million labels": ("tables", _with("tables", 0, _rows("l.0.parquet", "label", 200_000_000))),
    "Parquet of long words by number": ("tables", _rows("e.parquet", "words", 1_900_000)),
    "Parquet of zeros in lists": ("tables", _rows("e.parquet", "lists", 400_000_000)),
    "npy of empty words": ("tables", _with("tables", 0, _one("l.npy", _npy("<U0", (900_000_000,))))),
    "npy that tells of terabytes": ("tables", _one("e.npy", _npy("<f8", (1_000_000, 100_000)))),
    "prototypes that tell of gigabytes": ("prototypes", _one("p.npy", _npy("<f8", (20_000, 20_000)))),
    "prototypes: one line of 1 GiB": ("prototypes", _sparse("p.csv", b"1,")),
    "table: one line of 1 GiB": ("tables", _sparse("e.csv", b"1,2\n")),
    "table: one line of commas": ("tables", _one("e.tsv", lambda: b"\t1" * (100 << 20))),
    "CSV list: one line of 1 GiB": ("CSV lists", _sparse("l.csv", b"path,label\n")),
    "CUB: one line of 1 GiB": ("published lists", _with("published lists", 0, _sparse("images.txt", b"1 a.jpg\n"))),
    "SOP: class numbers far apart": ("published lists", _with("published lists", 3, _one("Ebay_train.txt", _apart))),
    "Cars: a packed variable of 600 MB": ("published lists", _one("cars_annos.mat", _mat)),
    "CIFAR: class names of 1 GiB": ("CIFAR", _with("CIFAR", 2, _sparse("batches.meta.txt", b"a\nb\n"))),
    "config of 1 GiB": ("configs", _sparse("c.toml", b"seed = 1\n# ")),
    "sweep of a billion points": ("sweep texts", _one("text", lambda: b"training.lr=1e-4..1e-2:log:1000000000")),
    "PNG of 1,600 million pixels": ("images", _one("a/1.png", lambda: _png(40_000, 40_000, 0))),
    "PNG of 49 million pixels with alpha": ("images", _with("images", 0, _one("a/0.png", lambda: _png(7000, 7000, 6)))),
    "WebP of 268 million pixels": ("images", _one("a/1.webp", _webp)),
    "weights: a tensor expanded to 160 GB": ("weights", _one("w.pth", _saved(_expanded))),
    "weights: expanded, in the old format": ("weights", _one("w.pth", _saved(_expanded, modern=False))),
    "weights: zeros, packed": ("weights", _one("w.pth", _large_part)),
    "weights: two billion bytes by number": ("weights", _one("w.pth", _by_number)),
    "weights: by number, in the old format": ("weights", _one("w.pth", lambda: BYTEARRAY)),
}  # fmt: skip

if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
