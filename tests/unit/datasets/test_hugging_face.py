"""Data sets of Hugging Face's library on this disk, written here as it writes them, read back as they are."""

import io
import json
import tracemalloc
from dataclasses import replace

import numpy as np
import pyarrow
import pytest
from listeners import give_up, silent
from PIL import Image
from pyarrow import parquet

from workbench import registry
from workbench.control import Cancelled
from workbench.datasets.cache.pixels import decoded
from workbench.datasets.images.loader import BadImage
from workbench.datasets.split import notes
from workbench.files import packages
from workbench.problem import Problem

CLASSES = ["wren", "finch", "tit"]  # in the order of the data set, which is not that of the alphabet
FEATURES = {"image": {"_type": "Image"}, "label": {"names": CLASSES, "_type": "ClassLabel"}}


def picture(value, size=(12, 9)):
    file = io.BytesIO()
    Image.new("RGB", size, (value,) * 3).save(file, "PNG")
    return file.getvalue()


def table(labels, names=None, images=None, features=FEATURES, first=0):
    stored = images or [picture(first + row) for row in range(len(labels))]
    names = names or [None] * len(labels)
    rows = [{"bytes": image, "path": name} for image, name in zip(stored, names, strict=True)]
    kind = pyarrow.struct([("bytes", pyarrow.binary()), ("path", pyarrow.string())])
    return pyarrow.table({"image": pyarrow.array(rows, kind), "label": pyarrow.array(labels)}).replace_schema_metadata(
        {"huggingface": json.dumps({"info": {"features": features}})}
    )


def save_split(folder, made, split="train", files=2):
    """What `Dataset.save_to_disk` writes: some Arrow streams, and a list of them."""
    folder.mkdir(parents=True, exist_ok=True)
    names = [f"data-{number:05d}-of-{files:05d}.arrow" for number in range(files)]
    rows = np.array_split(np.arange(made.num_rows), files)
    for name, part in zip(names, rows, strict=True):
        with pyarrow.OSFile(str(folder / name), "wb") as sink, pyarrow.ipc.new_stream(sink, made.schema) as writer:
            writer.write_table(made.take(part), max_chunksize=2)
    state = {"_data_files": [{"filename": name} for name in names], "_split": split, "_indices_data_files": None}
    (folder / "state.json").write_text(json.dumps(state))
    (folder / "dataset_info.json").write_text("{}")


@pytest.fixture
def saved(tmp_path):
    """Two splits: six images train, three are in the test split; two of each class train."""
    root = tmp_path / "birds"
    save_split(root / "train", table([0, 1, 2, 0, 1, 2]))
    save_split(root / "test", table([2, 1, 0], first=100), "test", files=1)
    (root / "dataset_dict.json").write_text(json.dumps({"splits": ["train", "test"]}))
    return root


def test_a_saved_data_set_is_read_back(build, saved):
    birds = build("huggingface", folder=str(saved))
    assert birds.class_names == CLASSES
    assert birds.paths[0] == "test/000000000"
    assert birds.official == ["test"] * 3 + ["train"] * 6
    assert birds.labels.tolist() == [2, 1, 0, 0, 1, 2, 0, 1, 2]
    assert [int(birds.read(row)[0, 0, 0]) for row in range(9)] == [100, 101, 102, 0, 1, 2, 3, 4, 5]
    assert birds.read(0).shape == (9, 12, 3)
    assert not birds.problems


def test_it_is_decoded_once_and_again_when_it_is_written_anew(build, saved, tmp_path):
    first, pixels, cache = decoded(build("huggingface", folder=str(saved), image_size=8), tmp_path / "cache", silent)
    assert pixels[:, 0, 0, 0].tolist() == [100, 101, 102, 0, 1, 2, 3, 4, 5]
    same = decoded(build("huggingface", folder=str(saved), image_size=8), tmp_path / "cache", silent)[2]
    save_split(saved / "test", table([2, 1, 0], first=50), "test", files=1)
    again, others, other_cache = decoded(
        build("huggingface", folder=str(saved), image_size=8), tmp_path / "cache", silent
    )
    assert (same, other_cache != cache) == (cache, True)
    assert others[0, 0, 0, 0] == 50
    assert again.sample_ids.tolist() == first.sample_ids.tolist()


def test_ids_are_of_the_split_and_the_stored_name(build, tmp_path):
    save_split(tmp_path / "a", table([0, 1, 2], ["x/1.png", "2.png", "../3.png"]))
    save_split(tmp_path / "b", table([2, 1, 0], ["../3.png", "2.png", "x/1.png"]))
    one, other = (build("huggingface", folder=str(tmp_path / name)) for name in "ab")
    assert one.paths == other.paths == ["train/2.png", "train/3.png", "train/x/1.png"]
    assert one.sample_ids.tolist() == other.sample_ids.tolist()
    save_split(tmp_path / "c", table([0, 1, 2], ["1.png", "1.png", "2.png"]))
    assert build("huggingface", folder=str(tmp_path / "c")).paths == [f"train/{row:09d}" for row in range(3)]


def test_a_split_of_another_name_is_in_neither_half(build, saved):
    save_split(saved / "extra", table([0, 0]), "extra", files=1)
    save_split(saved / "test", table([2, 1, 2]), "test", files=1)
    (saved / "dataset_dict.json").write_text(json.dumps({"splits": ["train", "test", "extra"]}))
    birds = build("huggingface", folder=str(saved))
    assert birds.official == [""] * 2 + ["test"] * 3 + ["train"] * 6
    entry = registry.entry("split", "official")
    assert ("2 images", "are in neither set") in notes(birds, entry.build(entry.params(), birds, 0))
    (saved / "dataset_dict.json").write_text(json.dumps({"splits": ["train", "extra"]}))
    assert build("huggingface", folder=str(saved)).official is None


@pytest.mark.parametrize("ending", ["arrow", "parquet"])
def test_the_cache_and_published_folders_tell_the_split_by_file_names(build, tmp_path, ending):
    root = tmp_path / "data"
    root.mkdir()
    for split, labels in (("train", [0, 1, 2] * 2), ("validation", [0, 0])):
        made = table(labels, first=len(labels))
        place = root / f"birds-{split}-00000-of-00001.{ending}"
        if ending == "parquet":
            parquet.write_table(made, place, row_group_size=2)
        else:
            with pyarrow.OSFile(str(place), "wb") as sink, pyarrow.ipc.new_stream(sink, made.schema) as writer:
                writer.write_table(made)
    (root / "cache-1234.arrow").write_bytes(b"of another program")
    (root / "birds.py").write_text("raise SystemExit('a script is never executed')")
    birds = build("huggingface", folder=str(root))
    assert (birds.official.count("train"), birds.official.count("test")) == (6, 2)
    assert [int(birds.read(row)[0, 0, 0]) for row in range(8)] == [6, 7, 8, 9, 10, 11, 2, 3]
    assert build("huggingface", folder=str(root), split="train").class_names == CLASSES


@pytest.mark.parametrize("name", ["{}-00000-of-00001", "{}/0000"])
def test_dev_is_the_validation_half_and_eval_the_test_half(build, tmp_path, name):
    """The library knows these words, too."""
    for split in ("train", "dev", "eval"):
        place = tmp_path / "birds" / f"{name.format(split)}.parquet"
        place.parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(table([0, 1]), place)
    birds = build("huggingface", folder=str(tmp_path / "birds"))
    assert birds.official == ["validation"] * 2 + ["test"] * 2 + ["train"] * 2
    assert len(build("huggingface", folder=str(tmp_path / "birds"), split="dev").paths) == 2


def test_rows_without_label_or_image_are_left_out_and_told(build, tmp_path):
    images = [picture(1), None, b"", b"no image", picture(5), picture(6)]
    save_split(
        tmp_path / "birds", table([0, 1, 1, 2, -1, None], images=images, names=[f"{row}.png" for row in range(6)])
    )
    birds = build("huggingface", folder=str(tmp_path / "birds"), image_size=8)
    assert birds.problems == [("split train", "has 2 rows without a label")]
    kept, _, _ = decoded(birds, tmp_path / "cache", silent)
    assert kept.paths == ["train/0.png"]
    assert dict(kept.problems[1:]) == {
        "train/1.png": "is not stored in the file, only its path is", "train/2.png": "is empty (0 bytes)",
        "train/3.png": "is not an image of a known format",
    }  # fmt: skip


def test_rows_without_a_class_are_counted_one_by_one(build, tmp_path):
    root = tmp_path / "birds"
    save_split(root / "train", table([0, 1, None, -1, -1, 2, 7]))
    save_split(root / "test", table([-1, -1, None]), "test", files=1)
    (root / "dataset_dict.json").write_text(json.dumps({"splits": ["train", "test"]}))
    birds = build("huggingface", folder=str(root))
    assert birds.problems == [
        ("split train", "has 3 rows without a label"),
        ("split train", "has 1 row with a number outside the named classes"),
        ("split test", "has 3 rows without a label"),
    ]
    assert (birds.left_out, birds.unit, birds.paths[-1]) == (7, "row", "train/000000005")
    kept, _, _ = decoded(replace(birds, read=bad_first(birds.read)), tmp_path / "cache", silent)
    assert (kept.left_out, len(kept.problems)) == (8, 4)
    with pytest.raises(Problem, match="3 were left out: split test has 3 rows without a label"):
        build("huggingface", folder=str(root), split="test")


@pytest.mark.parametrize("kind", [pyarrow.int8(), pyarrow.int64()])
def test_minus_one_is_no_class_where_classes_have_no_names_either(build, tmp_path, kind):
    features = {"image": {"_type": "Image"}, "label": {"dtype": str(kind), "_type": "Value"}}
    save_split(tmp_path / "birds", table(pyarrow.array([10, 2, -1, 10, None], kind), features=features))
    birds = build("huggingface", folder=str(tmp_path / "birds"))
    assert (birds.class_names, birds.problems) == (["2", "10"], [("split train", "has 2 rows without a label")])
    words = table(["-1", "a", "-1", "a"], features=features | {"label": {"dtype": "string", "_type": "Value"}})
    save_split(tmp_path / "words", words)
    assert build("huggingface", folder=str(tmp_path / "words")).class_names == ["-1", "a"], "a class of that name"


def bad_first(read):
    def image(row):
        if row == 0:
            raise BadImage("is empty (0 bytes)")
        return read(row)

    return image


def test_a_class_without_letters_is_no_label(build, tmp_path):
    save_split(tmp_path / "birds", table(["wren", " ", "", None, "tit"], features={}), split=None)
    birds = build("huggingface", folder=str(tmp_path / "birds"))
    assert birds.class_names == ["tit", "wren"]
    assert birds.problems == [("the data set", "has 3 rows without a label")]


def test_an_image_that_is_missing_is_told_from_one_that_is_elsewhere(build, tmp_path):
    rows = [{"bytes": picture(1), "path": "1.png"}, None, {"bytes": None, "path": "/elsewhere/3.png"}]
    kind = pyarrow.struct([("bytes", pyarrow.binary()), ("path", pyarrow.string())])
    save_split(tmp_path / "birds", pyarrow.table({"image": pyarrow.array(rows, kind), "label": ["a", "b", "c"]}))
    kept, _, _ = decoded(build("huggingface", folder=str(tmp_path / "birds")), tmp_path / "cache", silent)
    assert [reason for _, reason in kept.problems] == [
        "has no image in its row", "is not stored in the file, only its path is"
    ]  # fmt: skip


def test_columns_are_found_or_named(build, tmp_path):
    made = table([0, 1, 2], features={}).rename_columns(["img", "fine"]).append_column("coarse", [["a", "b", "b"]])
    save_split(tmp_path / "birds", made)
    with pytest.raises(Problem, match=r"no column that is surely the label; there are fine, coarse\. "):
        build("huggingface", folder=str(tmp_path / "birds"))
    named = build("huggingface", folder=str(tmp_path / "birds"), label="coarse")
    assert (named.class_names, named.labels.tolist()) == (["a", "b"], [0, 1, 1])
    assert build("huggingface", folder=str(tmp_path / "birds"), label="fine").class_names == ["0", "1", "2"]
    with pytest.raises(Problem, match="no column 'bild'; there are img"):
        build("huggingface", folder=str(tmp_path / "birds"), image="bild", label="fine")
    with pytest.raises(Problem, match=r"The column fine of .* holds no images"):
        build("huggingface", folder=str(tmp_path / "birds"), image="fine", label="coarse")
    with pytest.raises(Problem, match="no split 'dev'; there are train"):
        build("huggingface", folder=str(tmp_path / "birds"), label="fine", split="dev")


def in_structs(saved_as, folder, columns, features):
    """A data set with these columns in its train split, as Arrow or as Parquet with a row group of two rows."""
    made = pyarrow.table(columns).replace_schema_metadata({"huggingface": json.dumps({"info": {"features": features}})})
    if saved_as == "arrow":
        save_split(folder, made)
    else:
        (folder / "data").mkdir(parents=True)
        parquet.write_table(made, folder / "data/train-00000-of-00001.parquet", row_group_size=2)
    return str(folder)


@pytest.mark.parametrize("saved_as", ["arrow", "parquet"])
def test_columns_inside_structs_are_found_and_named_with_dots(build, tmp_path, saved_as):
    rows = [{"image": {"bytes": picture(row), "path": f"{row}.png"}, "label": row % 3, "id": row} for row in range(5)]
    features = {"sample": {**FEATURES, "id": {"dtype": "int64", "_type": "Value"}}}
    folder = in_structs(saved_as, tmp_path / "birds", {"sample": pyarrow.array([*rows, None])}, features)
    birds = build("huggingface", folder=folder)
    assert birds.paths == [f"train/{row}.png" for row in range(5)]
    assert (birds.class_names, birds.labels.tolist()) == (CLASSES, [0, 1, 2, 0, 1])
    assert [int(birds.read(row)[0, 0, 0]) for row in range(5)] == list(range(5))
    assert birds.problems == [("split train", "has 1 row without a label")]
    named = build("huggingface", folder=folder, image="sample.image", label="sample.id")
    assert named.labels.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("saved_as", ["arrow", "parquet"])
def test_a_column_outside_of_structs_is_taken_first(build, tmp_path, saved_as):
    plain = table([0, 1, 2])
    meta = pyarrow.array([{"label": 9}] * 3)
    columns = {"meta": meta, "image": plain["image"], "label": plain["label"], "meta.label": plain["label"]}
    folder = in_structs(saved_as, tmp_path / "birds", columns, {})
    assert build("huggingface", folder=folder, label="label").class_names == ["0", "1", "2"]
    assert build("huggingface", folder=folder, label="meta.label").class_names == ["0", "1", "2"]


def test_a_struct_or_a_list_instead_of_a_column_is_a_sentence_that_says_what_to_do(build, tmp_path):
    made = table([0, 1, 2], features={})
    nested = pyarrow.array([{"label": "a", "boxes": [1, 2]}, {"label": "b", "boxes": []}, {"label": "b", "boxes": []}])
    save_split(tmp_path / "birds", made.drop_columns("label").append_column("meta", nested))
    with pytest.raises(Problem, match=r"column meta of .* holds no classes .*Name one inside it: meta\.label\."):
        build("huggingface", folder=str(tmp_path / "birds"), label="meta")
    with pytest.raises(Problem, match=r"column meta\.boxes of .* holds no classes .*A row has one image and one class"):
        build("huggingface", folder=str(tmp_path / "birds"), label="meta.boxes")


@pytest.mark.parametrize("saved_as", ["arrow", "parquet"])
def test_classes_may_be_in_a_dictionary_as_pandas_writes_them(build, tmp_path, saved_as):
    columns = {"image": table([0, 1, 0])["image"], "kind": pyarrow.array(["b", "a", "b"]).dictionary_encode()}
    birds = build("huggingface", folder=in_structs(saved_as, tmp_path / "birds", columns, {}))
    assert (birds.class_names, birds.labels.tolist()) == (["a", "b"], [1, 0, 1])


@pytest.mark.parametrize("kind", [pyarrow.float64(), pyarrow.float32()])
@pytest.mark.parametrize("named", [{"label": "label"}, {}], ids=["named", "called label"])
def test_whole_numbers_with_gaps_are_classes_and_the_gaps_are_left_out(build, tmp_path, kind, named):
    """As pandas stores them; a column of measurements beside them is not taken for classes."""
    made = table([0] * 6, features={}).drop_columns("label")
    made = made.append_column("label", pyarrow.array([2.0, None, 10.0, float("nan"), -1.0, 2.0], kind))
    made = made.append_column("width", pyarrow.array([0.5, 1.5, 2.5, 3.5, 4.5, 5.5]))
    save_split(tmp_path / "birds", made)
    birds = build("huggingface", folder=str(tmp_path / "birds"), **named)
    assert (birds.class_names, birds.labels.tolist()) == (["2", "10"], [0, 1, 0])
    assert birds.problems == [("split train", "has 3 rows without a label")]


def test_numbers_that_are_no_classes_are_refused_with_what_to_do(build, tmp_path):
    made = table([0, 1, 2], features={}).append_column("width", pyarrow.array([1.0, 2.5, 3.0]))
    save_split(tmp_path / "birds", made)
    assert build("huggingface", folder=str(tmp_path / "birds")).class_names == ["0", "1", "2"]
    with pytest.raises(Problem, match=r"column width of .* has 2\.5, which is not a class.* as text or in groups"):
        build("huggingface", folder=str(tmp_path / "birds"), label="width")


def cut(root):
    place = root / "train" / "data-00000-of-00002.arrow"
    place.write_bytes(place.read_bytes()[:-300])


def garbage(root):
    (root / "train" / "data-00000-of-00002.arrow").write_bytes(b"\xff" * 4000)


def gone(root):
    (root / "train" / "data-00001-of-00002.arrow").unlink()


def elsewhere(root):
    (root / "dataset_dict.json").write_text(json.dumps({"splits": ["../other"]}))


def not_json(root):
    (root / "dataset_dict.json").write_text("[[" * 99)


def picked(root):
    state = {"_data_files": [], "_indices_data_files": [{"filename": "indices.arrow"}]}
    (root / "train" / "state.json").write_text(json.dumps(state))


def other_columns(root):
    save_split(root / "test", table([0, 1]).rename_columns(["image", "species"]), "test", files=1)


def packed(root):
    made = table([0, 1], images=[picture(0) + bytes(1 << 20)] * 2)
    options = pyarrow.ipc.IpcWriteOptions(compression="zstd")
    place = root / "train" / "data-00000-of-00002.arrow"
    with pyarrow.OSFile(str(place), "wb") as sink, pyarrow.ipc.new_stream(sink, made.schema, options=options) as writer:
        writer.write_table(made)


def packed_besides(root):
    """A column that nobody reads, as a file with a list of batches."""
    made = table([0, 1]).append_column("more", pyarrow.array([bytes(1 << 20)] * 2))
    options = pyarrow.ipc.IpcWriteOptions(compression="lz4")
    place = root / "train" / "data-00000-of-00002.arrow"
    with pyarrow.OSFile(str(place), "wb") as sink, pyarrow.ipc.new_file(sink, made.schema, options=options) as writer:
        writer.write_table(made)


def rows_of_nothing(root):
    made = pyarrow.table({"image": pyarrow.nulls(900_000, pyarrow.binary()), "label": np.zeros(900_000, np.int8)})
    for place in root.glob("*/*.arrow"):
        with pyarrow.OSFile(str(place), "wb") as sink, pyarrow.ipc.new_stream(sink, made.schema) as writer:
            writer.write_table(made)


def very_many_columns(root):
    kind = pyarrow.int8()
    for _ in range(4):
        kind = pyarrow.struct([(f"part {number}", kind) for number in range(10)])
    schema = table([0, 1]).schema.append(pyarrow.field("more", kind))
    with pyarrow.OSFile(str(root / "train" / "data-00000-of-00002.arrow"), "wb") as sink:
        pyarrow.ipc.new_stream(sink, schema).close()


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (cut, "cannot be read as Arrow"), (garbage, "cannot be read as Arrow"), (gone, "is missing"),
        (elsewhere, "lists '../other', which is not a file name"), (not_json, "cannot be read"),
        (picked, "holds a selection of rows as a list of indices"),
        (other_columns, "The column label of .* has another type"),
        (packed, "it is compressed"), (packed_besides, "it is compressed"),
        (very_many_columns, "it has more than 10,000 columns"),
        (rows_of_nothing, "it announces 900,000 rows, more than its .* bytes hold images"),
    ],
)  # fmt: skip
def test_a_damaged_data_set_is_refused_in_a_sentence(build, saved, harm, said):
    harm(saved)
    with pytest.raises(Problem, match=said):
        build("huggingface", folder=str(saved))


def test_a_published_file_of_very_many_rows_without_images_is_refused(build, tmp_path):
    rows = pyarrow.table({"image": pyarrow.nulls(900_000, pyarrow.binary()), "label": np.zeros(900_000, np.int8)})
    parquet.write_table(rows, tmp_path / "train.parquet")
    with pytest.raises(Problem, match=r"it announces 900,000 rows, more than its .* bytes hold images"):
        build("huggingface", folder=str(tmp_path), image="image", label="label")


@pytest.mark.parametrize("ending", ["arrow", "parquet"])
def test_a_long_class_of_many_rows_takes_its_memory_once(build, tmp_path, ending):
    words = pyarrow.array(["w" * 60_000, "f" * 60_000])
    rows = 4_000  # 240 MB as texts of their own
    label = pyarrow.DictionaryArray.from_arrays(np.arange(rows) % 2, words)
    image = pyarrow.array([picture(3)] * rows)
    made = pyarrow.table({"image": image, "label": label if ending == "arrow" else label.cast(pyarrow.string())})
    if ending == "arrow":
        place = str(tmp_path / "train.arrow")
        with pyarrow.OSFile(place, "wb") as sink, pyarrow.ipc.new_file(sink, made.schema) as writer:
            writer.write_table(made)
    else:
        parquet.write_table(made, tmp_path / "train.parquet")
    tracemalloc.start()
    try:
        images = build("huggingface", folder=str(tmp_path), image="image", label="label")
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(images.paths) == rows
    assert len(images.class_names) == 2
    assert most < 60 << 20


def test_an_image_that_is_stored_once_for_many_rows_is_not_unpacked_for_each(build, tmp_path):
    large = picture(3) + bytes(4 << 20)
    image = pyarrow.DictionaryArray.from_arrays(np.zeros(100, np.int32), pyarrow.array([large], pyarrow.binary()))
    rows = pyarrow.table({"image": image, "label": np.arange(100) % 2})
    parquet.write_table(
        rows, tmp_path / "train.parquet", store_schema=False, dictionary_pagesize_limit=16 << 20, compression="zstd"
    )
    assert (tmp_path / "train.parquet").stat().st_size < 4_000
    images = build("huggingface", folder=str(tmp_path), image="image", label="label")
    with pytest.raises(BadImage, match="its images unpack to more than 256 MiB"):
        images.read(0)


def test_two_data_sets_in_one_folder_are_refused(build, tmp_path):
    for name in ("cats", "dogs"):
        (tmp_path / name).mkdir()
        parquet.write_table(table([0, 1]), tmp_path / name / "part.parquet")
    with pytest.raises(Problem, match=r"more than one data set \(cats, dogs\)"):
        build("huggingface", folder=str(tmp_path))
    (tmp_path / "empty").mkdir()
    with pytest.raises(Problem, match="no Arrow or Parquet files"):
        build("huggingface", folder=str(tmp_path / "empty"))


def test_reading_can_be_given_up(build, saved):
    with pytest.raises(Cancelled):
        build("huggingface", give_up, folder=str(saved))


def test_without_pyarrow_it_is_said_what_to_install(build, saved, monkeypatch):
    monkeypatch.setattr(packages, "find_spec", lambda name: None)
    with pytest.raises(Problem, match=r"install the extra hf with pip"):
        build("huggingface", folder=str(saved))


def test_a_data_set_of_which_files_are_missing_says_so(build, tmp_path):
    made = table([0, 1, 2])
    (tmp_path / "data").mkdir()
    for name in ("train-00000-of-00003", "train-00002-of-00003", "test-00000-of-00001-ab12", "test-extra"):
        parquet.write_table(made, tmp_path / "data" / f"{name}.parquet")
    birds = build("huggingface", folder=str(tmp_path))
    assert birds.notes == [("train-*-of-00003", "are 3 files, of which 2 are here")]
