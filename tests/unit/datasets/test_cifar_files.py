"""CIFAR as published, written here in both versions and read back; and files that would run a program."""

import os
import pickle
from dataclasses import replace

import numpy as np
import pytest

from workbench.datasets.benchmarks import cifar
from workbench.datasets.reading.pickled_arrays import NotPlain, read_pickled
from workbench.datasets.reading.published import Counts
from workbench.problem import Problem

PIXELS = np.random.default_rng(0).integers(0, 256, (60, 3072), dtype=np.uint8)
NAMES = [f"thing {n}" for n in range(10)]


def labels_of(rows):
    return [int(row) % 10 for row in rows]


@pytest.fixture
def python_version(tmp_path):
    root = tmp_path / "cifar-10-batches-py"
    root.mkdir()
    for number in range(6):
        rows = range(10 * number, 10 * number + 10)
        name = f"data_batch_{number + 1}" if number < 5 else "test_batch"
        batch = {"batch_label": name, "labels": labels_of(rows), "data": PIXELS[list(rows)], "filenames": ["a.png"]}
        (root / name).write_bytes(pickle.dumps(batch, protocol=2))
    (root / "batches.meta").write_bytes(pickle.dumps({"num_cases_per_batch": 10, "label_names": NAMES}, protocol=2))
    return root


@pytest.fixture
def binary_version(tmp_path):
    root = tmp_path / "cifar-10-batches-bin"
    root.mkdir()
    for number in range(6):
        rows = list(range(10 * number, 10 * number + 10))
        records = np.concatenate([np.array(labels_of(rows), np.uint8)[:, None], PIXELS[rows]], axis=1)
        name = f"data_batch_{number + 1}.bin" if number < 5 else "test_batch.bin"
        (root / name).write_bytes(records.tobytes())
    (root / "batches.meta.txt").write_text("\n".join(NAMES) + "\n\n")
    return root


@pytest.mark.parametrize("version", ["python_version", "binary_version"])
def test_both_versions_are_read_back(build, request, version):
    found = build("cifar10", folder=str(request.getfixturevalue(version).parent))
    assert found.class_names == NAMES
    assert found.labels.tolist() == labels_of(range(60))
    assert found.official == ["train"] * 50 + ["test"] * 10
    assert found.paths[49:51] == ["train/00049.png", "test/00000.png"]
    for row in (0, 33, 59):
        assert (found.read(row) == PIXELS[row].reshape(3, 32, 32).transpose(1, 2, 0)).all()
    assert found.problems == []
    assert found.unlike_published == [
        ("cifar10", "was published with 60,000 images and has 60 here: 59,940 are missing")
    ]


def test_halves_of_other_sizes_are_not_those_published(build, python_version, monkeypatch):
    published = replace(cifar.TEN, counts=Counts(len(NAMES), 60, (("train", 40), ("test", 20))))
    monkeypatch.setattr(cifar, "TEN", published)
    assert [difference for _, difference in build("cifar10", folder=str(python_version)).unlike_published] == [
        "was published with 40 training images and has 50 here: 10 too many",
        "was published with 20 test images and has 10 here: 10 are missing",
    ]


def test_cifar_100_has_fine_labels(build, tmp_path):
    names = [f"fine {n}" for n in range(100)]
    for name, count in (("train", 100), ("test", 100)):
        values = {
            "fine_labels": list(range(count)),
            "coarse_labels": [0] * count,
            "data": PIXELS[np.arange(count) % 60],
        }
        (tmp_path / name).write_bytes(pickle.dumps(values, protocol=2))
    (tmp_path / "meta").write_bytes(pickle.dumps({"fine_label_names": names, "coarse_label_names": ["x"]}, protocol=2))
    found = build("cifar100", folder=str(tmp_path))
    assert (found.class_names, found.labels.tolist()) == (names, [*range(100), *range(100)])


class Hostile:
    def __reduce__(self):
        return os.system, ("touch hostile",)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_file_that_would_run_a_program_runs_nothing(build, python_version, tmp_path, monkeypatch, protocol):
    monkeypatch.chdir(tmp_path)
    (python_version / "data_batch_3").write_bytes(pickle.dumps({"data": Hostile()}, protocol))
    with pytest.raises(Problem, match=r"data_batch_3 is not a CIFAR file"):
        build("cifar10", folder=str(python_version))
    assert not (tmp_path / "hostile").exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is not a CIFAR file"),
        (b"junk", "is not a CIFAR file"),
        ([1, 2], "is not a CIFAR file"),
        ({"labels": [1]}, "holds no table"),
        ({"data": np.zeros((2, 3072), np.uint8)}, "holds no labels"),
        ({"data": np.zeros((2, 3072), np.uint8), "labels": [1]}, "2 images and 1 labels"),
        ({"data": np.zeros((1, 3072), np.uint8), "labels": [12]}, "holds the label 12, but there are 10"),
        ({"data": np.zeros((1, 3072), np.float32), "labels": [1]}, "is not a CIFAR file"),
    ],
)
def test_a_damaged_batch_is_named(build, python_version, content, said):
    written = content if isinstance(content, bytes) else pickle.dumps(content, protocol=2)
    (python_version / "test_batch").write_bytes(written)
    with pytest.raises(Problem, match=f"test_batch .*{said}"):
        build("cifar10", folder=str(python_version))


def test_a_binary_file_cut_short_is_named(build, binary_version):
    place = binary_version / "data_batch_2.bin"
    place.write_bytes(place.read_bytes()[:-7])
    with pytest.raises(Problem, match=r"data_batch_2.bin has .* which is not a whole number of records"):
        build("cifar10", folder=str(binary_version))


@pytest.mark.parametrize("protocol", [2, 3, 4])
def test_plain_values_come_back(protocol):
    value = {"a": [1, -2, 3_000_000_000, 2**70], "b": ("x", None, True), "c": {"d": PIXELS[:2]}, "e": [], "f": ()}
    found = read_pickled(pickle.dumps(value, protocol))
    assert (found["c"]["d"] == PIXELS[:2]).all()
    for name in "abef":
        assert found[name] == value[name]


def test_fortran_order_is_kept():
    assert (read_pickled(pickle.dumps(np.asfortranarray(PIXELS[:4]), protocol=2)) == PIXELS[:4]).all()


def test_a_file_of_python_2_is_read():
    text = b"}q\x01U\x04dataq\x02U\x03\xff\x00\x01q\x03s."
    assert read_pickled(text) == {"data": "\xff\x00\x01"}


@pytest.mark.parametrize("data", [b"cos\nsystem\n.", b"\x80\x02}q\x00(", b"\x80\x02cnumpy\ndtype\nq\x00."])
def test_what_is_not_plain_is_refused(data):
    with pytest.raises(NotPlain):
        read_pickled(data)
