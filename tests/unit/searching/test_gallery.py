"""Embeddings that are only searched: copied as they are, with a true recall, and nothing hostile is believed."""

import json
import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from workbench.cli import cli
from workbench.control import Cancelled
from workbench.exchange.imported.gallery_import import import_gallery
from workbench.problem import Problem
from workbench.progress import quiet
from workbench.searching import building
from workbench.searching.building import build_index, lists_for
from workbench.searching.exact import exact_nearest
from workbench.searching.facts import described
from workbench.searching.index import Index, open_index
from workbench.searching.request import Searcher
from workbench.workspace import Workspace
from workbench.workspace.measured import galleries
from workbench.workspace.measured.galleries import INDEX, open_gallery
from workbench.workspace.repairs.repair import repair
from workbench.workspace.repairs.verification import verify

COUNT, DIM = 3_000, 16


@pytest.fixture(autouse=True)
def _few_queries(monkeypatch):
    monkeypatch.setattr(building, "QUERIES", 300)
    monkeypatch.setattr(building, "TRIED", 50)


@pytest.fixture(scope="module")
def drawn():
    """Embeddings [n, d] float16 of 60 classes, some of which overlap, and labels."""
    random = np.random.default_rng(0)
    labels = random.integers(0, 60, COUNT)
    vectors = random.normal(size=(60, DIM))[labels] + 0.6 * random.normal(size=(COUNT, DIM))
    return vectors.astype(np.float16), labels


@pytest.fixture
def files(drawn, tmp_path):
    for name, array in zip(("vectors", "labels"), drawn, strict=True):
        np.save(tmp_path / f"{name}.npy", array)
    return tmp_path


@pytest.fixture(params=["cosine", "l2"])
def folder(request, files):
    """The run folder of a gallery."""
    with Workspace(files / "space", create=True) as workspace:
        run = import_gallery(
            workspace, files / "vectors.npy", files / "labels.npy", "photographs", distance=request.param
        )
        assert workspace.run(run).status == "done"
        assert workspace.run(run).only_searched
        assert not workspace.evaluations(run)
        return workspace.folder(run)


def truth(vectors, row, k, distance):
    """The k nearest of a row by the formula, in float64."""
    numbers = vectors.astype(np.float64)
    if distance == "l2":
        similar = -np.linalg.norm(numbers - numbers[row], axis=1)
    else:
        unit = numbers / np.linalg.norm(numbers, axis=1, keepdims=True)
        similar = unit @ unit[row]
    similar[row] = -np.inf
    best = np.argsort(-similar, kind="stable")[:k]
    return best, similar[best]


def test_the_exact_nearest_are_those_of_the_formula(drawn, folder, monkeypatch):
    monkeypatch.setattr(galleries, "BLOCK_BYTES", 4 * DIM * 700)  # five blocks
    gallery, told = open_gallery(folder), []
    assert gallery.vectors.dtype == np.float16
    rows = np.array([5, 2_999])
    near = exact_nearest(gallery, gallery.vectors[rows], 48, rows, lambda *facts: told.append(facts[1]))
    for row, (found, similar) in zip(rows, near, strict=True):
        best, expected = truth(drawn[0], row, 48, gallery.note.distance)
        assert found.tolist() == best.tolist()
        np.testing.assert_allclose(similar, expected, atol=1e-12)
    assert told == [0, 700, 1400, 2100, 2800]


def test_recall_is_what_the_index_finds_and_its_interval_holds_it(drawn, folder, monkeypatch):
    monkeypatch.setattr(building, "MOST_SCANNED", COUNT // 4)  # so that it misses some
    gallery = open_gallery(folder)
    note = build_index(gallery, quiet)
    index, again = open_index(gallery)
    assert again == note
    assert (note.lists, note.queries) == (lists_for(COUNT), 300)
    assert note.probed == note.lists // 4
    rows = range(0, COUNT, 5)
    shares = []
    for row in rows:
        found, similar = index.nearest(gallery.vectors[row], 48, row)
        best, _ = truth(drawn[0], row, 48, gallery.note.distance)
        shares.append(np.isin(best, found).mean())
        assert row not in found
        assert all(first >= second for first, second in pairwise(similar))
    recall = next(recall for recall in note.recalls if recall.k == 48)
    assert recall.low <= recall.mean <= recall.high
    assert 0.5 < recall.mean < 1
    assert recall.low - 0.03 <= np.mean(shares) <= recall.high + 0.03


def test_all_lists_together_are_exact(drawn, folder):
    gallery = open_gallery(folder)
    build_index(gallery, quiet)
    index, note = open_index(gallery)
    for row in (0, 17, 2_999):
        found, _ = index.nearest(gallery.vectors[row], 10, row, probed=note.lists)
        assert found.tolist() == truth(drawn[0], row, 10, gallery.note.distance)[0].tolist()


def test_no_miss_among_few_queries_is_no_proof_of_none(folder, monkeypatch):
    monkeypatch.setattr(building, "QUERIES", 60)
    monkeypatch.setattr(building, "TRIED", 20)
    monkeypatch.setattr(building, "WANTED", 2.0)  # look into all lists
    recall = build_index(open_gallery(folder), quiet).recalls[0]
    assert (recall.mean, recall.high) == (1, 1)
    assert recall.low == pytest.approx(0.025 ** (1 / 60))


def test_a_cancelled_index_leaves_the_one_before_and_progress_only_rises(folder):
    gallery, told = open_gallery(folder), []
    build_index(gallery, lambda text, done, total: told.append((text, done, total)))
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)
    assert {total for *_, total in told} == {1000}
    before = (folder / INDEX / "note.json").read_bytes()

    def cancel(text, done, total):
        if text == "Exact neighbours of the queries":
            raise Cancelled

    with pytest.raises(Cancelled):
        build_index(gallery, cancel)
    assert (folder / INDEX / "note.json").read_bytes() == before
    assert sorted(path.name for path in folder.iterdir() if "index" in path.name) == [INDEX]


def test_a_search_says_what_it_found_and_what_the_index_missed(drawn, folder):
    searcher = Searcher()
    with pytest.raises(Problem, match="no index to search through"):
        searcher.search(folder, 3, 10, exact=False)
    first = searcher.search(folder, 3, 10, exact=True)
    assert first["missed"] is None
    assert first["rows"] == truth(drawn[0], 3, 10, described(folder)["distance"])[0].tolist()
    assert first["class_name"] == str(drawn[1][3])
    assert first["right"] == (drawn[1][first["rows"]] == drawn[1][3]).tolist()
    assert searcher.build(folder, quiet)["index"]["queries"] == 300
    found = searcher.search(folder, 3, 10, exact=False)
    assert searcher.search(folder, 3, 10, exact=True)["missed"] == len(set(first["rows"]) - set(found["rows"]))
    with pytest.raises(Problem, match=r"no row 3,001: there are 3,000"):
        searcher.search(folder, COUNT, 10, exact=False)


def spoil(folder, name, change):
    path = folder / INDEX / name
    array = np.load(path)
    np.save(path, change(array))


@pytest.mark.parametrize(
    "harm",
    [
        lambda folder: (folder / INDEX / "codes.npy").write_bytes(b"no array"),
        lambda folder: (folder / INDEX / "codes.npy").unlink(),
        lambda folder: spoil(folder, "codes.npy", lambda codes: codes[:-1]),
        lambda folder: spoil(folder, "starts.npy", lambda starts: starts[::-1]),
        lambda folder: spoil(folder, "rows.npy", lambda rows: rows.astype(np.int64)),
        lambda folder: spoil(folder, "steps.npy", lambda steps: steps * np.float32(np.nan)),
        lambda folder: (folder / INDEX / "note.json").write_text('{"form": 2}'),
        lambda folder: (folder / INDEX / "note.json").write_text("[" * 100_000),
    ],
)
@pytest.mark.parametrize("folder", ["cosine"], indirect=True)
def test_a_damaged_index_is_a_sentence_and_the_gallery_still_opens(folder, harm):
    build_index(open_gallery(folder), quiet)
    harm(folder)
    facts = described(folder)
    assert facts["index"] is None
    assert "damaged" in facts["why"] or "missing" in facts["why"]
    assert Searcher().search(folder, 1, 10, exact=True)["rows"]


@pytest.mark.parametrize("folder", ["cosine"], indirect=True)
def test_rows_that_are_not_there_and_an_index_of_other_embeddings_are_not_believed(folder, drawn):
    gallery = open_gallery(folder)
    build_index(gallery, quiet)
    index, _ = open_index(gallery)
    lists = index.lists
    far = Index(gallery, type(lists)(lists.centroids, lists.starts, lists.rows + COUNT, lists.codes, lists.steps), 8)
    with pytest.raises(Problem, match="names rows that are not there"):
        far.nearest(gallery.vectors[0], 10)
    note = json.loads((folder / galleries.NOTE).read_text())
    note["vectors"]["blake2b"] = "0" * 32
    (folder / galleries.NOTE).write_text(json.dumps(note))
    assert "built of other embeddings" in described(folder)["why"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda vectors, labels: (vectors.ravel(), labels), "not embeddings"),
        (lambda vectors, labels: (vectors, labels[:-1]), "but labels.npy 2,999 labels"),
        (lambda vectors, labels: (vectors, labels / 2), "not labels"),
        (lambda vectors, labels: (np.where(np.arange(COUNT)[:, None] == 7, np.nan, vectors), labels), "Row 8 of the"),
    ],
)
def test_what_cannot_be_imported_is_a_sentence_and_leaves_no_run(drawn, tmp_path, change, said):
    for name, array in zip(("vectors", "labels"), change(*drawn), strict=True):
        np.save(tmp_path / f"{name}.npy", array)
    with Workspace(tmp_path / "space", create=True) as workspace:
        with pytest.raises(Problem, match=said):
            import_gallery(workspace, tmp_path / "vectors.npy", tmp_path / "labels.npy")
        assert not workspace.runs()
        assert not workspace.runs(trashed=True)


def test_words_are_classes_other_numbers_become_float32_and_the_command_line_says_the_recall(drawn, tmp_path):
    np.save(tmp_path / "vectors.npy", drawn[0].astype(np.float64))
    np.save(tmp_path / "labels.npy", np.array([f"class {label:02}" for label in drawn[1]]))
    words = ["-w", str(tmp_path / "space")]
    said = CliRunner().invoke(
        cli,
        ["import", str(tmp_path / "vectors.npy"), "--labels", str(tmp_path / "labels.npy"), "--search-only", *words],
    )
    assert "Run 1 done" in said.output, said.output
    said = CliRunner().invoke(cli, ["index", "1", *words])
    assert "Of the exact 48 nearest" in said.output, said.output
    gallery = open_gallery(tmp_path / "space" / "runs" / "1")
    assert gallery.vectors.dtype == np.float32
    assert gallery.class_name(5) == f"class {drawn[1][5]:02}"
    assert "no evaluation" in CliRunner().invoke(cli, ["geometry", "1", *words]).output


def test_the_doctor_reads_it_a_repair_keeps_it_and_deleting_the_run_removes_it(files):
    place = files / "space"
    with Workspace(place, create=True) as workspace:
        import_gallery(workspace, files / "vectors.npy", files / "labels.npy", "photographs")
        assert all(damage.good for damage in verify(workspace, quiet))
    (place / "workspace.db").write_bytes(b"")
    repair(place)
    with Workspace(place) as workspace:
        (run,) = workspace.runs()
        assert (run.name, run.only_searched) == ("photographs", True)
        assert described(workspace.folder(run.id))["count"] == COUNT
        path = workspace.file(run.id, galleries.VECTORS)
        content = bytearray(path.read_bytes())
        content[-1] ^= 1
        path.write_bytes(content)
        (damage,) = [damage for damage in verify(workspace, quiet) if not damage.good]
        assert galleries.VECTORS in damage.what
        workspace.trash(run.id)
        workspace.delete(run.id)
        assert not path.parent.exists()


@pytest.mark.parametrize("others", [1, 1000], ids=["once", "all the time"])
def test_another_program_may_put_its_index_there_at_the_same_moment(folder, monkeypatch, others):
    gallery = open_gallery(folder)
    build_index(gallery, quiet)
    target, left, rename = folder / "gallery-index", [others], Path.rename

    def late(part, place):
        if left[0]:
            left[0] -= 1
            shutil.copytree(part, target)
        return rename(part, place)

    monkeypatch.setattr(Path, "rename", late)
    if others == 1:
        assert build_index(gallery, quiet).lists
    else:
        with pytest.raises(Problem, match="at the same time"):
            build_index(gallery, quiet)
    assert (target / "note.json").is_file()
    assert not list(folder.glob(".*.part"))
