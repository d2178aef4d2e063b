"""WebDataset shards, written here as tar writes them, read back by the places of their images."""

import io
import json
import tarfile

import pytest
from listeners import give_up, silent
from PIL import Image

from workbench.control import Cancelled
from workbench.datasets.cache.pixels import decoded
from workbench.datasets.reading import tar_index
from workbench.datasets.reading.tar_index import split_name
from workbench.problem import Problem


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.datasets.own.webdataset.cache_folder", lambda: tmp_path / "cache")
    return tmp_path / "cache" / "shards"


def picture(value, form="JPEG"):
    file = io.BytesIO()
    Image.new("RGB", (12, 9), (value,) * 3).save(file, form)
    return file.getvalue()


def shard(place, *files, kind="w"):
    """A tar of (name, content), in that order."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(place, kind) as tar:
        for name, content in files:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return place


def sample(key, value, label):
    return (f"{key}.cls", str(label).encode()), (f"{key}.jpg", picture(value))


@pytest.fixture
def shards(tmp_path):
    """Two shards train, with classes 2 and 10; one of them is searched."""
    root = tmp_path / "shards"
    shard(root / "birds-train-000000.tar", *sample("000", 10, 10), *sample("001", 20, 2))
    shard(root / "birds-train-000001.tar", *sample("002", 30, 2), *sample("003", 40, 10))
    shard(root / "birds-val-000000.tar", *sample("000", 50, 10), *sample("001", 60, 10))
    return root


def test_shards_are_read_back(build, shards):
    birds = build("webdataset", folder=str(shards))
    assert birds.paths == [
        "train/000.jpg", "train/001.jpg", "train/002.jpg", "train/003.jpg", "val/000.jpg", "val/001.jpg"
    ]  # fmt: skip
    assert birds.class_names == ["2", "10"]  # by number
    assert birds.labels.tolist() == [1, 0, 0, 1, 1, 1]
    assert birds.official == ["train"] * 4 + ["test"] * 2
    assert [int(birds.read(row)[0, 0, 0]) for row in range(6)] == [10, 20, 30, 40, 50, 60]
    assert not birds.problems


def test_folders_tell_the_half_and_one_shard_is_enough(build, tmp_path):
    shard(tmp_path / "train" / "0.tar", *sample("a", 1, "wren"))
    one = shard(tmp_path / "test" / "0.tar", *sample("a", 2, "tit"))
    birds = build("webdataset", folder=str(tmp_path))
    assert (birds.paths, birds.official, birds.class_names) == (
        ["test/a.jpg", "train/a.jpg"], ["test", "train"], ["tit", "wren"]
    )  # fmt: skip
    assert build("webdataset", folder=str(one)).paths == ["test/a.jpg"]


def test_the_index_is_made_once_and_anew_for_a_changed_shard(build, shards, cache, monkeypatch):
    first = build("webdataset", folder=str(shards))
    with monkeypatch.context() as patched:
        patched.setattr(tar_index.archives, "tar_files", lambda tar: pytest.fail("the index was not used"))
        assert build("webdataset", folder=str(shards)).sample_ids.tolist() == first.sample_ids.tolist()
    shard(shards / "birds-train-000000.tar", *sample("000", 10, 10), *sample("009", 99, 2), *sample("010", 3, 2))
    assert build("webdataset", folder=str(shards)).paths[1:3] == ["train/002.jpg", "train/003.jpg"]
    for index in cache.iterdir():
        index.write_bytes(index.read_bytes()[:-9])  # damaged: made anew
    assert len(build("webdataset", folder=str(shards)).paths) == 7


def test_labels_are_read_from_text_and_json(build, tmp_path):
    files = [
        ("a/0.json", json.dumps({"of": {"species": "wren"}}).encode()), ("a/0.txt", b" tit \n"),
        ("a/0.png", picture(1, "PNG")),
        ("b/0.json", b"{}"), ("b/0.txt", b"tit"), ("b/0.png", picture(2, "PNG")),
    ]  # fmt: skip
    shard(tmp_path / "0.tar", *files)
    birds = build("webdataset", folder=str(tmp_path), label="json", field="of.species")
    assert (birds.paths, birds.class_names) == (["all/a/0.png"], ["wren"])
    assert birds.problems == [("0/b/0", "has a .json without of.species")]
    words = build("webdataset", folder=str(tmp_path), label="txt")
    assert (words.class_names, words.official) == (["tit"], None)


def test_the_image_is_chosen_by_its_ending(build, tmp_path):
    shard(tmp_path / "0.tar", ("k.seg.png", picture(9, "PNG")), *sample("k", 7, 1), ("k.png", picture(8, "PNG")))
    assert int(build("webdataset", folder=str(tmp_path)).read(0)[0, 0, 0]) == 7
    assert int(build("webdataset", folder=str(tmp_path), image="png").read(0)[0, 0, 0]) == 8
    assert int(build("webdataset", folder=str(tmp_path), image=".SEG.png").read(0)[0, 0, 0]) == 9
    with pytest.raises(Problem, match=r"1 was left out: 0/k has no image with the ending webp"):
        build("webdataset", folder=str(tmp_path), image="webp")


def test_what_cannot_be_used_is_left_out_and_told(build, tmp_path):
    files = [
        *sample("good", 1, 1), ("no-class.jpg", picture(2)), ("no-image.cls", b"1"), ("empty.cls", b" "),
        ("empty.jpg", picture(3)), *sample("twice", 4, 1), ("twice.jpg", picture(4)), ("bad.cls", b"1"),
        ("bad.jpg", b"no image"), ("long.cls", b"1" * (1 << 20) + b"1"), ("long.jpg", picture(5)),
        ("classes.txt", b"x"),
    ]  # fmt: skip
    shard(tmp_path / "0.tar", *files)
    birds = build("webdataset", folder=str(tmp_path), image_size=8)
    assert dict(birds.problems) == {
        "0/no-class": "has no .cls beside it", "0/no-image": "has no image",
        "0/empty": "has a .cls without a class", "0/twice": "is in the shard twice as .jpg",
        "0/long": "has a .cls of over 1 MiB",
    }  # fmt: skip
    kept, _, _ = decoded(birds, tmp_path / "pixels", silent)
    assert kept.paths == ["all/good.jpg"]
    assert kept.problems[-1] == ("all/bad.jpg", "is not an image of a known format")


def test_keys_that_repeat_are_told_apart_by_their_shard(build, tmp_path):
    for number in range(2):
        shard(tmp_path / f"{number}.tar", *sample("0", number, number))
    assert build("webdataset", folder=str(tmp_path)).paths == ["all/0/0.jpg", "all/1/0.jpg"]


def test_shards_of_one_name_in_two_folders_are_told_apart_by_their_folders(build, tmp_path):
    for number, folder in enumerate(["a", "b", "train"]):
        shard(tmp_path / folder / "0.tar", *sample("0", number, number), *sample("1", number, number))
    paths = build("webdataset", folder=str(tmp_path)).paths
    assert paths == ["all/a/0/0.jpg", "all/a/0/1.jpg", "all/b/0/0.jpg", "all/b/0/1.jpg", "train/0.jpg", "train/1.jpg"]


def test_an_entry_of_a_size_below_zero_is_refused(build, tmp_path):
    member = tarfile.TarInfo("1.jpg")
    member.size = -512  # behind it comes its own header again
    (tmp_path / "0.tar").write_bytes(member.tobuf(tarfile.GNU_FORMAT) + bytes(4096))
    refused = r"'1\.jpg' has a size below 0|is damaged at byte 0"  # since Python 3.14 tarfile says so itself
    with pytest.raises(Problem, match=refused):
        build("webdataset", folder=str(tmp_path))


@pytest.mark.parametrize(
    ("name", "key", "ending"),
    [
        ("000.jpg", "000", "jpg"), ("./a.b/000.seg.PNG", "./a.b/000", "seg.png"), ("a/.hidden", "", ""),
        ("README", "", ""), ("a.b/c", "", ""),
    ],
)  # fmt: skip
def test_a_key_ends_at_the_first_dot_of_the_last_part(name, key, ending):
    assert split_name(name) == (key, ending)


def test_shards_that_cannot_be_read_are_refused_in_a_sentence(build, tmp_path):
    with pytest.raises(Problem, match=r"holds no shards \(\*\.tar\)"):
        build("webdataset", folder=str(tmp_path))
    shard(tmp_path / "0.tar.gz", *sample("0", 1, 1), kind="w:gz")
    with pytest.raises(Problem, match=r"holds no shards \(\*\.tar\).*must not be compressed: unpack each"):
        build("webdataset", folder=str(tmp_path))
    with pytest.raises(Problem, match=r"0\.tar\.gz holds no shards \(\*\.tar\).*must not be compressed: unpack each"):
        build("webdataset", folder=str(tmp_path / "0.tar.gz"))
    with pytest.raises(Problem, match=r"b-\{000\.\.004\}\.tar is a pattern for several shards.*Choose their folder"):
        build("webdataset", folder=str(tmp_path / "b-{000..004}.tar"))
    tar = shard(tmp_path / "0.tar", *sample("0", 1, 1), kind="w:gz")
    with pytest.raises(Problem, match="it is compressed"):
        build("webdataset", folder=str(tmp_path))
    shard(tar, *sample("0", 1, 1))
    tar.write_bytes(tar.read_bytes()[:1800])
    with pytest.raises(Problem, match=r"truncated in '0\.jpg'|unexpected end of data"):
        build("webdataset", folder=str(tmp_path))
    tar.write_bytes(b"no tar " * 999)
    with pytest.raises(Problem, match="is refused"):
        build("webdataset", folder=str(tmp_path))


@pytest.mark.parametrize(
    ("harm", "said"),
    [(b"\xff" * 512, "it is damaged at byte"), (bytes(512), "there are data after its end at byte")],
)
def test_a_damaged_header_hides_no_samples(build, tmp_path, harm, said):
    tar = shard(tmp_path / "0.tar", *(file for number in range(6) for file in sample(str(number), number, number)))
    with tarfile.open(tar) as whole:
        start = whole.getmembers()[6].offset
    content = tar.read_bytes()
    tar.write_bytes(content[:start] + harm + content[start + 512 :])
    with pytest.raises(Problem, match=said):
        build("webdataset", folder=str(tmp_path))


def test_looking_through_a_shard_can_be_given_up(build, shards, cache):
    with pytest.raises(Cancelled):
        build("webdataset", give_up, folder=str(shards))
    assert not list(cache.glob("*"))


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({}, r"can be used\. 1 was left out: .*has no \.cls beside it\. Its first sample has \.json, \.png\."),
        (
            {"label": "json"},
            r"without a class\. .* fields of its \.json are label\.id, label\.name, width\. ",
        ),
        ({"label": "json", "field": "genus"}, r"a \.json without genus\."),
    ],
)
def test_shards_with_other_endings_or_fields_say_which_there_are(build, tmp_path, chosen, said):
    words = json.dumps({"label": {"name": "tit", "id": 3}, "width": 12}).encode()
    shard(tmp_path / "shards" / "birds.tar", ("000.json", words), ("000.png", picture(3, "PNG")))
    with pytest.raises(Problem, match=said):
        build("webdataset", folder=str(tmp_path / "shards"), **chosen)


def test_what_a_hostile_first_sample_is_called_stays_out_of_the_message(build, tmp_path):
    label = {"x" * 900_000: 1, "\ud800": 2, "\x1b[31mred": 3, "": 4, "kind": "bird"}
    files = [("0.json", json.dumps(label).encode()), ("0.jpg", picture(1)), (f"0.{'y' * 5000}", b"")]
    shard(tmp_path / "shards" / "a.tar", *files)
    with pytest.raises(Problem) as caught:
        build("webdataset", folder=str(tmp_path / "shards"), label="json", field="none")
    said = str(caught.value)
    assert "The fields of its .json are kind." in said
    assert "Its first sample has .jpg, .json." in said
    assert len(said) < 1000
    assert said.isprintable()


def test_whole_numbers_in_json_are_classes_however_they_are_written(build, tmp_path):
    labels = [2.0, 2, 10.0, 2.5, float("nan")]
    files = [(f"{at}.json", json.dumps({"kind": label}).encode()) for at, label in enumerate(labels)]
    pictures = [(f"{at}.png", picture(at, "PNG")) for at in range(len(labels))]
    shard(tmp_path / "birds.tar", *(entry for pair in zip(files, pictures, strict=True) for entry in pair))
    birds = build("webdataset", folder=str(tmp_path), label="json", field="kind")
    assert (birds.class_names, birds.labels.tolist()) == (["2", "10"], [0, 0, 1])
    assert [reason for _, reason in birds.problems] == [
        "has 2.5 in its .json, which is not a class: classes are whole numbers or text",
        "has a .json without a class",
    ]
