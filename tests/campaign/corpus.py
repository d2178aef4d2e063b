"""Small true inputs of every kind that Workbench reads, as bytes by file name: what the fuzz drill damages."""

import gzip
import io
import json
import pickle
import struct
import tarfile
import zipfile
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

import numpy as np
from PIL import Image

from tests.campaign.mutations import Files
from workbench.exchange.event_records import record
from workbench.exchange.exported.tensorboard import scalar_event

FORMATS = {"png": "PNG", "jpg": "JPEG", "bmp": "BMP", "gif": "GIF", "tif": "TIFF", "webp": "WEBP", "ppm": "PPM"}
ROWS = 12
CARS = ("relative_im_path", "class", "test")


@lru_cache(maxsize=1)
def corpus() -> dict[str, list[Files]]:
    """True inputs by importer. A seed is a folder's files."""
    rng = np.random.default_rng(0)
    return {
        "images": _images(rng),
        "archives": _archives(),
        "CSV lists": _csv_lists(),
        "tables": [*_arrays(rng), *_text_tables(rng), *_parquets(rng)],
        "configs": _configs(),
        "sweep texts": [{"text": text.encode()} for text in SWEEPS],
        "weights": _weights(),
        "prototypes": [
            {"p.npy": _npy(np.eye(3, 4, dtype=np.float32))},
            {"p.csv": _lines("1,0,0,0", "0,1,0,0", *["0,0,1,0"])},
        ],
        "CIFAR": _cifar(rng),
        "idx": _idx(),
        "Omniglot": _omniglot(),
        "published lists": _published(),
        "templates": _templates(),
        "own texts": [{"text": text.encode()} for text in TEXTS],
        "tables of tags": _tables_of_tags(),
        "boxes": _boxes(),
        "Hugging Face": _hugging_face(),
        "WebDataset": _shards(),
        "curves": _curves(),
    }  # fmt: skip


SWEEPS = (
    "loss.scale=16,32", "training.lr=1e-4..1e-2:log", "training.lr=1e-4..1e-2:log:5", "training.epochs=1..9",
    "training.batch_size=16..64:3", 'training.optimiser="sgd","adam"', "embedding.normalise=true,false",
    "loss.name=ce,normalised_ce", "split.fold=1,2", "evaluation.recall_at=1 2",
)  # fmt: skip
TEXTS = (
    "# One\n\ntext *of* `mine` [to](https://x.y)\n\n* a\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n```\ncode\n```\n> 3. x\n",
)


def picture(value: int = 100, form: str = "PNG", size: tuple[int, int] = (12, 9), mode: str = "RGB") -> bytes:
    """A picture of one grey value."""
    out = io.BytesIO()
    Image.new("RGB", size, (value, value, value)).convert(mode).save(out, form)
    return out.getvalue()


def _lines(*lines: str) -> bytes:
    return ("\n".join(lines) + "\n").encode()


def _images(rng: np.random.Generator) -> list[Files]:
    noise = Image.fromarray(rng.integers(0, 256, (14, 17, 3), dtype=np.uint8))
    found = []
    for ending, form in FORMATS.items():
        out = io.BytesIO()
        noise.save(out, form)
        found.append({f"a/1.{ending}": out.getvalue(), "b/2.png": picture(3)})
    for mode in ("1", "L", "P", "RGBA", "LA", "I;16"):
        found.append({"a/1.png": picture(9, mode=mode), "b/2.png": picture(3)})
    for mode in ("CMYK", "I;16", "F", "RGBA"):
        found.append({"a/1.tif": picture(9, "TIFF", mode=mode), "b/2.png": picture(3)})
    turned = io.BytesIO()
    facts = Image.Exif()
    facts[0x0112] = 6
    noise.save(turned, "JPEG", exif=facts)
    found.append({"train/a/1.jpg": turned.getvalue(), "test/a/2.png": picture(3), "test/b/2.png": picture(4)})
    moving = io.BytesIO()
    noise.save(moving, "GIF", save_all=True, append_images=[noise.rotate(90)])
    return [*found, {"a/1.gif": moving.getvalue(), "b/2.png": picture(3)}]


def zipped(entries: Files, packing: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip of these files."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", packing) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return out.getvalue()


def tarred(entries: Files, mode: str = "w:gz", form: int = tarfile.PAX_FORMAT) -> bytes:
    """A tar of these files."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode, format=form) as archive:  # type: ignore[call-overload]
        for name, data in entries.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


def _archives() -> list[Files]:
    entries = {f"{name}/{number}.png": picture(number) for name in ("a", "b\u00e4") for number in range(2)}
    long = {**entries, "c/" + "x" * 120 + ".txt": b"1"}
    packings = (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2)
    found: list[Files] = [{"a.zip": zipped(entries, packing)} for packing in packings]
    for ending, mode in (
        ("tar", "w"),
        ("tar", "w:"),
        ("tar.gz", "w:gz"),
        ("tgz", "w:gz"),
        ("tar.bz2", "w:bz2"),
        ("tar.xz", "w:xz"),
    ):
        for form in (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT):
            found.append({f"a.{ending}": tarred(long, mode, form)})
    return found


def _csv_lists() -> list[Files]:
    images = {f"{row}.png": picture(row) for row in range(4)}
    rows = [f"{row}.png,{'ab'[row % 2]}" for row in range(4)]
    split = [f"{line},{half}" for line, half in zip(rows, ("train", "train", "test", "test"), strict=True)]
    plain = {"l.csv": _lines("path,label", *rows)}
    return [
        {**plain, **images},
        {"l.csv": _lines("path,label,split", *split), **images},
        {"l.zip": zipped(plain | images)},
    ]


def _boxes() -> list[Files]:
    """Lists with a box on each line; the importer reads them in all three ways."""
    images = {f"{row}.png": picture(row, size=(40, 30)) for row in range(2)}
    rows = [f"{row % 2}.png,{'ab'[row // 2]},{row},{2 * row},{20 + row},{15 + row}" for row in range(4)]
    shares = [f"{row % 2}.png,{'ab'[row % 2]},0.{row},.1,0.5,{row}e-1" for row in range(1, 5)]
    titles = "path,label,left,top,third,fourth"
    return [{"l.csv": _lines(titles, *lines), **images} for lines in (rows, shares)]


def _hugging_face() -> list[Files]:
    """A folder of Parquet, streams and files of Arrow, and what `save_to_disk` writes."""
    import pyarrow
    from pyarrow import parquet

    stored = [{"bytes": picture(row), "path": f"{row}.png"} for row in range(4)]
    features = {"image": {"_type": "Image"}, "label": {"_type": "ClassLabel", "names": ["a", "b"]}}
    metadata = {"huggingface": json.dumps({"info": {"features": features}})}
    plain = pyarrow.table({"image": stored, "label": [0, 1, 0, -1]}).replace_schema_metadata(metadata)
    words = pyarrow.array(["a", "b", None, "a"]).dictionary_encode()
    inside = pyarrow.table({"image": plain["image"], "meta": [{"label": word} for word in "abab"]})
    stream, whole, packed, other = (io.BytesIO() for _ in range(4))
    with pyarrow.ipc.new_stream(stream, plain.schema) as writer:
        writer.write_table(plain, max_chunksize=2)
    named = pyarrow.table({"image": plain["image"], "label": words})
    with pyarrow.ipc.new_file(whole, named.schema) as writer:
        writer.write_table(named)
    parquet.write_table(plain, packed, row_group_size=2)
    parquet.write_table(inside, other)
    state = json.dumps({"_data_files": [{"filename": "data.arrow"}], "_split": "train", "_indices_data_files": None})
    saved = {"train/state.json": state.encode(), "train/data.arrow": stream.getvalue()}
    return [
        {"train.arrow": stream.getvalue()}, {"train.arrow": whole.getvalue()}, {"train.parquet": packed.getvalue()},
        {"train.parquet": other.getvalue()}, {"dataset_dict.json": b'{"splits": ["train"]}', **saved},
    ]  # fmt: skip


def _shards() -> list[Files]:
    """Shards with the class in a text file, and in JSON."""
    texts = {f"{row}.{ending}": data for row in range(3) for ending, data in (("png", picture(row)), ("cls", b"a"))}
    pairs = {f"x/{row}.{ending}": data for row in range(3) for ending, data in (("jpg", picture(row, "JPEG")),
             ("json", json.dumps({"label": row, "more": [1]}).encode()))}  # fmt: skip
    return [
        {"train-000.tar": tarred(texts, "w"), "val-000.tar": tarred(texts, "w", tarfile.GNU_FORMAT)},
        {"s.tar": tarred(pairs, "w")},
    ]


def _curves() -> list[Files]:
    """Event files of TensorBoard, and tables of W&B, of Lightning and of TensorBoard."""
    events = b"".join(record(scalar_event("loss", step, 1 / (1 + step), 1.7e9 + step)) for step in range(5))
    of_runs = '"Step","a - loss","a - loss__MIN","b - loss"'
    return [
        {"events.out.tfevents.1.host": events}, {"a/events.out.tfevents.1.host": events, "b/events.tfevents": events},
        {"x.csv": _lines(of_runs, *(f"{step},{step}.5,0,1e-{step}" for step in range(4)))},
        {"v/metrics.csv": _lines("epoch,step,loss", "0,0,2.5", "0,1,", "1,2,nan"), "v/hparams.yaml": b"a: 1"},
        {"run-r-tag-loss.csv": _lines("Wall time,Step,Value", "1700000000.5,1,0.5", "1700000001,2,0.25")},
    ]  # fmt: skip


def _npy(array: Any, pickled: bool = False) -> bytes:
    out = io.BytesIO()
    np.save(out, array, allow_pickle=pickled)
    return out.getvalue()


def _arrays(rng: np.random.Generator) -> list[Files]:
    """Embeddings, labels and images as arrays; the importer takes e.*, l.* and i.* of what is there."""
    vectors, labels = rng.normal(size=(ROWS, 5)), np.arange(ROWS) % 3
    pixels = rng.integers(0, 256, (ROWS, 9, 8, 3), dtype=np.uint8)
    words = np.array([f"class {label}" for label in labels])
    every_vector = (
        vectors,
        vectors.astype(">f4"),
        (9 * vectors).astype(np.int8),
        vectors.astype(np.float16),
        vectors.T.copy().T,
    )
    every_label = (
        labels, words, labels.astype(float), labels[:, None].astype(np.uint8), labels > 1, np.full(ROWS, np.inf),
        labels.astype("datetime64[s]"), labels + 0j, words.astype("S"), np.full(ROWS, np.nan),
        labels.astype([("a", "i4")]), np.full(ROWS, 1e300), np.array(words, object),
    )  # fmt: skip
    found: list[Files] = [{"e.npy": _npy(each), "l.npy": _npy(labels), "i.npy": _npy(pixels)} for each in every_vector]
    return [*found, *({"e.npy": _npy(vectors), "l.npy": _npy(each, pickled=True)} for each in every_label)]


def _text_tables(rng: np.random.Generator) -> list[Files]:
    numbers = [",".join(f"{value:.4f}" for value in row) for row in rng.normal(size=(ROWS, 4))]
    titled = _lines("label,path,a,b,c,d", *(f"{row % 3},{row}.png,{line}" for row, line in enumerate(numbers)))
    images = {f"i/{row}.png": picture(row) for row in range(ROWS)}
    named = [f"{row}.png,{row % 3}" for row in range(ROWS)]
    signed = _lines("label", *(f"{'-' * (row % 3)}{row % 3}" for row in range(ROWS)))
    return [
        {"e.csv": titled}, {"e.tsv": titled.replace(b",", b"\t")}, {"e.csv": titled, **images},
        {"e.csv": _lines(*numbers), "l.csv": signed}, {"e.csv": _lines(*numbers), "l.tsv": signed},
        {"e.csv": _lines(*numbers), "l.csv": _lines("path,label", *named), **images},
    ]  # fmt: skip


def _tables_of_tags() -> list[Files]:
    """Of the images that `small_run.store_run` stores."""
    lines = [f"class {row % 2:02}/{row:05}.png,{'=' * row}front,{row / 7:.3f},night;{row}" for row in range(6)]
    plain = _lines("path,view,sharpness,tags", *lines)
    return [{"t.csv": plain}, {"t.tsv": plain.replace(b",", b"\t")}, {"t.csv": b"\xef\xbb\xbfsep=,\n" + plain}]


def _parquets(rng: np.random.Generator) -> list[Files]:
    import pyarrow
    from pyarrow import parquet

    vectors, labels = rng.normal(size=(ROWS, 3)), [f"c{row % 3}" for row in range(ROWS)]
    flat = {"label": labels, **{f"x{column}": vectors[:, column] for column in range(3)}}
    not_text = pyarrow.array([b"\xff\xfe%d" % (row % 3) for row in range(ROWS)], pyarrow.binary())
    columns: tuple[dict[str, Any], ...] = (
        flat, {"label": labels, "vector": list(vectors)}, {**flat, "label": not_text.view(pyarrow.string())},
        {**flat, "label": not_text}, {**flat, "x0": [None, *vectors[1:, 0]]}, {**flat, "x1": labels},
        {**flat, "label": np.arange(ROWS).astype("datetime64[s]")}, {**flat, "x2": [{"a": 1}] * ROWS},
        {"label": labels, "vector": [None, *vectors[1:]]}, {**flat, "label": pyarrow.array(labels).dictionary_encode()},
        {"label": labels, "vector": pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(vectors.ravel()), 3)},
    )  # fmt: skip
    found: list[Files] = []
    for each in columns:
        out = io.BytesIO()
        parquet.write_table(pyarrow.table(each), out)
        found.append({"e.parquet": out.getvalue()})
    return [*found, {**found[0], "l.parquet": found[0]["e.parquet"]}]


def _configs() -> list[Files]:
    from workbench.settings.presets import presets

    found: list[Files] = [{"c.toml": preset.config.to_toml().encode()} for preset in presets()[:6]]
    folds = 'seeds = 2\n[split]\nname = "mlrc"\nfold = 0\nfolds = 4\n[loss]\nname = "triplet"\nmargin = 0.5\n'
    sets = ("training.epochs=3", "loss.name=ce", 'split.name="mlrc"', "split.fold=2", "seed=1", "loss.scale=[1]")
    return [*found, {"c.toml": folds.encode()}, *({"c.toml": folds.encode(), "set": each.encode()} for each in sets)]


def _weights() -> list[Files]:
    import torch
    from safetensors.torch import save

    state = {"module.conv.weight": torch.arange(6.0).view(2, 3), "conv.bias": torch.zeros(2), "n": torch.tensor(3)}
    whole = {"state_dict": state, "epoch": 3, "rng": torch.get_rng_state(), "words": ["a", None, 2.5, {"b": (1, 2)}]}
    found: list[Files] = []
    for each in (state, whole):
        for modern in (True, False):
            out = io.BytesIO()
            torch.save(each, out, _use_new_zipfile_serialization=modern)
            found.append({"w.pth": out.getvalue()})
    plain = {name.removeprefix("module."): tensor for name, tensor in state.items()}
    return [*found, {"w.safetensors": save(plain)}]


def _cifar(rng: np.random.Generator) -> list[Files]:
    pixels, names = rng.integers(0, 256, (12, 3072), dtype=np.uint8), [f"thing {n}" for n in range(10)]
    found: list[Files] = []
    for protocol in (2, 4):
        files: Files = {"batches.meta": pickle.dumps({"num_cases_per_batch": 2, "label_names": names}, protocol)}
        for number, name in enumerate([*(f"data_batch_{n}" for n in range(1, 6)), "test_batch"]):
            rows = slice(2 * number, 2 * number + 2)
            files[name] = pickle.dumps({"labels": [number, 1], "data": pixels[rows], "filenames": ["a", "b"]}, protocol)
        found.append(files)
    binary: Files = {"batches.meta.txt": _lines(*names)}
    for name in [*(f"data_batch_{n}.bin" for n in range(1, 6)), "test_batch.bin"]:
        binary[name] = (bytes([3]) + bytes(3072)) * 2
    return [*found, binary]


def idx(array: Any) -> bytes:
    """An idx file of unsigned bytes."""
    return struct.pack(f">{1 + array.ndim}I", 0x0800 + array.ndim, *array.shape) + array.astype(np.uint8).tobytes()


def _idx() -> list[Files]:
    plain: Files = {}
    for half, count in (("train", 6), ("t10k", 4)):
        plain[f"{half}-images-idx3-ubyte"] = idx(np.broadcast_to(np.arange(count)[:, None, None], (count, 8, 8)))
        plain[f"{half}-labels-idx1-ubyte"] = idx(np.arange(count) % 10)
    return [plain, {f"{name}.gz": gzip.compress(data) for name, data in plain.items()}]


def _omniglot() -> list[Files]:
    drawn = {
        f"{alphabet}/character0{n}/{k}.png": picture(k, mode="1") for alphabet in "AB" for n in (1, 2) for k in range(2)
    }
    return [
        {"images_background.zip": zipped(drawn)},
        {f"images_background/{name}": data for name, data in drawn.items()},
    ]


def _published() -> list[Files]:
    """CUB, Cars, SOP and In-shop; the importer knows each by its list."""
    from scipy.io import savemat

    birds = [f"{c:03d}.Bird_{c}/{n}.jpg" for c in (1, 2) for n in range(2)]
    cub = {
        "images.txt": _lines(*(f"{row + 1} {path}" for row, path in enumerate(birds))),
        "image_class_labels.txt": _lines(*(f"{row + 1} {row // 2 + 1}" for row in range(4))),
        "train_test_split.txt": _lines(*(f"{row + 1} {row % 2}" for row in range(4))),
        **{f"images/{path}": picture(1, "JPEG") for path in birds},
    }
    rows = [(f"car_ims/{n}.jpg", n // 2 + 1, n % 2) for n in range(4)]
    annotations = np.empty((1, 4), dtype=[(field, object) for field in CARS])
    annotations[0] = rows
    names = np.empty((1, 2), dtype=object)
    names[0, :] = ["A", "B"]
    cars: list[Files] = []
    for packed in (True, False):
        out = io.BytesIO()
        savemat(out, {"annotations": annotations, "class_names": names}, do_compression=packed)
        cars.append({"cars_annos.mat": out.getvalue(), **{path: picture(1, "JPEG") for path, _, _ in rows}})
    header = "image_id class_id super_class_id path"
    sop = {
        "Ebay_train.txt": _lines(header, "1 1 1 b/1.JPG", "2 1 1 b/2.JPG"),
        "Ebay_test.txt": _lines(header, "3 3 1 b/3.JPG"),
        **{f"b/{n}.JPG": picture(n, "JPEG") for n in (1, 2, 3)},
    }  # fmt: skip
    shop = [f"img/{n}.jpg   id_{n // 2}  {('train', 'query', 'gallery')[n % 3]}" for n in range(6)]
    inshop = {
        "list_eval_partition.txt": _lines("6", "image_name item_id evaluation_status", *shop),
        **{f"img/{n}.jpg": picture(n, "JPEG") for n in range(6)},
    }
    return [cub, *cars, sop, inshop]


def _templates() -> list[Files]:
    from workbench.reports.templates import templates

    one = next(iter(templates().values()))
    own = {"own-1": {**one.arrangement(), "title": "Mine", "base": one.key}, one.key: one.arrangement()}
    return [{"t.json": json.dumps(own).encode()}]


def readable(names: Iterable[str], choose: Callable[[str], bool]) -> str:
    """The first of the names that is chosen; empty when none is."""
    return next((name for name in sorted(names) if choose(name)), "")
