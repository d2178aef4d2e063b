"""Embeddings and labels in one .npz file: found by their names, checked before anything is allocated, never pickled."""

import io
import tracemalloc
import zipfile

import numpy as np
import pytest

from workbench.exchange.imported.importing import import_embeddings
from workbench.exchange.imported.tables import read_embeddings, read_words
from workbench.problem import Problem
from workbench.progress import quiet

LABELS = np.arange(12) % 3
VECTORS = np.eye(3, 4)[LABELS] + 0.1 * np.random.default_rng(0).normal(size=(12, 4))


def member(shape, data=b"", kind="<f4"):
    """The bytes of an array in NumPy's format that announces this shape."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": kind, "fortran_order": False, "shape": shape})
    return file.getvalue() + data


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("names", [("embeddings", "labels"), ("Features", "y"), ("arr_0", "arr_1")])
def test_a_run_is_made_of_named_arrays(workspace, tmp_path, save, names):
    save(tmp_path / "all.npz", **dict(zip(names, (VECTORS, LABELS), strict=True)), other=np.arange(3))
    np.save(tmp_path / "vectors.npy", VECTORS)
    np.save(tmp_path / "labels.npy", LABELS)
    run = workspace.run(import_embeddings(workspace, tmp_path / "all.npz"))
    apart = workspace.run(import_embeddings(workspace, tmp_path / "vectors.npy", tmp_path / "labels.npy"))
    assert run.best == apart.best
    assert workspace.dataset(run.dataset_id).class_names == ("0", "1", "2")


def test_labels_and_paths_may_be_text_in_a_file_of_their_own(workspace, tmp_path):
    np.savez(tmp_path / "vectors.npz", theirs=VECTORS)
    words = np.array(["cat", "dog", "豹"])[LABELS]
    np.savez(tmp_path / "labels.npz", label=words, paths=np.array([f"{row}.png" for row in range(12)]))
    run = workspace.run(import_embeddings(workspace, tmp_path / "vectors.npz", tmp_path / "labels.npz"))
    assert set(workspace.dataset(run.dataset_id).class_names) == {"cat", "dog", "豹"}
    assert workspace.samples(run.dataset_id).paths[3] == "3.png"
    np.savez(tmp_path / "one.npz", whatever=words)
    assert read_words(tmp_path / "one.npz").words["label"] == words.tolist()


def test_without_labels_one_sentence_says_how_to_give_them(workspace, tmp_path):
    np.savez(tmp_path / "vectors.npz", embeddings=VECTORS)
    with pytest.raises(Problem, match=r"has no labels\. Nothing was imported\. Name a second file .*`--labels FILE`"):
        import_embeddings(workspace, tmp_path / "vectors.npz")


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"weights": VECTORS, "bias": VECTORS}, "have other names: weights, bias.*Call them embeddings, labels"),
        ({"embeddings": VECTORS, "features": VECTORS}, "holds embeddings and features, which are one kind"),
        ({"embeddings": VECTORS, "labels": np.array([{}], object)}, "Python objects.*by labels.astype"),
        ({"embeddings": VECTORS, "labels": LABELS / 2}, r"holds float64 \[12\], not labels"),
        ({"embeddings": VECTORS, "labels": LABELS, "paths": LABELS}, r"holds int64 \[12\], not paths"),
        ({"embeddings": LABELS, "labels": LABELS}, r"holds int64 \[12\], not embeddings"),
        ({"embeddings": np.zeros((3_000_000, 1), np.uint8)}, "has 3,000,000 rows, more than 2,000,000"),
        ({}, "have other names: nothing"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_a_sentence(tmp_path, arrays, sentence):
    np.savez(tmp_path / "some.npz", **arrays)
    with pytest.raises(Problem, match=sentence):
        read_embeddings(tmp_path / "some.npz", quiet)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (member((1 << 40, 1024)), "it holds fewer numbers than it announces"),
        (member((2, 2), bytes(20)), "is longer than it announces"),
        (member((1 << 28,), kind="<U0"), "it holds <U0, of no bytes"),
        (member((1 << 18, 128), bytes(1 << 27)), "unpacks to|asks for"),
        (b"no array", "cannot be read as NumPy arrays"),
    ],
)
def test_a_header_is_compared_with_the_file_before_anything_is_allocated(tmp_path, content, sentence):
    with zipfile.ZipFile(tmp_path / "some.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("embeddings.npy", content)
    del content
    tracemalloc.start()
    try:
        with pytest.raises(Problem, match=sentence):
            read_embeddings(tmp_path / "some.npz", quiet)
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()


def test_labels_of_no_bytes_are_refused_however_many(tmp_path):
    np.savez(tmp_path / "some.npz", embeddings=VECTORS)
    with zipfile.ZipFile(tmp_path / "some.npz", "a") as archive:
        archive.writestr("labels.npy", member((1 << 25,), kind="<U0"))
    tracemalloc.start()
    try:
        with pytest.raises(Problem, match="it holds <U0, of no bytes"):
            read_embeddings(tmp_path / "some.npz", quiet)
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()


def test_a_damaged_file_is_refused(tmp_path):
    np.savez(tmp_path / "some.npz", embeddings=VECTORS, labels=LABELS)
    content = bytearray((tmp_path / "some.npz").read_bytes())
    content[content.index(VECTORS.tobytes()) + 9] ^= 255
    (tmp_path / "some.npz").write_bytes(content)
    with pytest.raises(Problem, match="Bad CRC-32"):
        read_embeddings(tmp_path / "some.npz", quiet)
    (tmp_path / "some.npz").write_bytes(content[:-30])
    with pytest.raises(Problem, match=r"some\.npz"):
        read_embeddings(tmp_path / "some.npz", quiet)
