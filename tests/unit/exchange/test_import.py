"""Embeddings of another program as a run: the right numbers, and one plain sentence for each thing that is wrong."""

import errno
import os
import shlex

import numpy as np
import pyarrow
import pyarrow.parquet as parquet
import pytest
from click.testing import CliRunner
from PIL import Image

from workbench.cli import cli
from workbench.config import BadConfig, RunConfig
from workbench.control import Cancelled
from workbench.evaluation.neighbours import nearest
from workbench.exchange.formats import export_run
from workbench.exchange.imported import labelled_embeddings
from workbench.exchange.imported.gallery_import import import_gallery
from workbench.exchange.imported.importing import import_embeddings
from workbench.exchange.imported.tables import read_embeddings
from workbench.files import packages
from workbench.problem import Problem
from workbench.progress import quiet
from workbench.reports import write_report
from workbench.reports.content.gathering import gather
from workbench.reports.content.provenance import command_of
from workbench.reports.document import Wish, make
from workbench.reports.writing.blocks import Table
from workbench.results.geometry_watch import watch
from workbench.workspace import Workspace, recorder


@pytest.fixture
def given(tmp_path):
    """Files of 24 embeddings in four classes, with images in a folder and as an array."""
    rng = np.random.default_rng(3)
    labels = np.arange(24) % 4
    vectors = np.eye(4, 6)[labels] + 0.6 * rng.normal(size=(24, 6))
    np.save(tmp_path / "vectors.npy", vectors)
    np.save(tmp_path / "labels.npy", labels + 9)  # 9, 10, 11, 12: as text they would be sorted otherwise
    np.save(tmp_path / "pixels.npy", rng.integers(0, 256, (24, 20, 12, 3), dtype=np.uint8))
    (tmp_path / "images").mkdir()
    lines = ["path,label"]
    for row, label in enumerate(labels):
        Image.fromarray(rng.integers(0, 256, (10, 14, 3), dtype=np.uint8)).save(tmp_path / "images" / f"{row:02}.png")
        lines.append(f"{row:02}.png,class {label}")
    (tmp_path / "labels.csv").write_text("\n".join(lines), "utf-8")
    return tmp_path


def reference(vectors, labels):
    """Recall@1 and MAP@R from their formulas, in float64."""
    unit = vectors.astype(np.float64) / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosine = unit @ unit.T
    recall, average = [], []
    for query in range(len(unit)):
        others = [row for row in np.argsort(-cosine[query], kind="stable") if row != query]
        right = np.array([labels[row] == labels[query] for row in others])
        r = int(right.sum())
        precision = np.cumsum(right[:r]) / np.arange(1, r + 1)
        average.append((precision * right[:r]).sum() / r)
        recall.append(right[0])
    return float(np.mean(recall)), float(np.mean(average))


def test_the_search_for_neighbours_says_how_far_it_is_and_can_be_cancelled(workspace, given):
    told = []

    def cancel(text, done, total):
        told.append((text, done, total))
        if done:
            raise Cancelled

    with pytest.raises(Cancelled):
        import_embeddings(workspace, given / "vectors.npy", given / "labels.npy", progress=cancel)
    assert told[-1] == ("Finding the neighbours", 24, 24)
    assert not workspace.runs()


def test_the_metrics_are_those_of_the_formulas(workspace, given):
    run_id = import_embeddings(workspace, given / "vectors.npy", given / "labels.npy", name="=theirs")
    run = workspace.run(run_id)
    assert (run.status, run.name, run.dataset, run.loss, run.epoch) == ("done", "=theirs", "imported", "imported", 1)
    vectors = np.load(given / "vectors.npy", allow_pickle=False)
    recall, average = reference(vectors.astype(np.float32), np.load(given / "labels.npy", allow_pickle=False))
    assert run.best["recall@1"] == pytest.approx(recall, abs=1e-12)
    assert run.best["MAP@R"] == pytest.approx(average, abs=1e-6)
    assert run.best["queries"] == 24
    assert workspace.dataset(run.dataset_id).class_names == ("9", "10", "11", "12")
    [evaluation] = workspace.evaluations(run_id)
    ids, labels, stored = workspace.embeddings(evaluation.id)
    np.testing.assert_array_equal(stored, vectors.astype(np.float32))
    near = workspace.neighbours(run_id, int(ids[0]))
    assert len(near) == 23
    assert near[0].right == (near[0].label == labels[0])


@pytest.mark.parametrize("distance", ["cosine", "l2"])
def test_the_largest_hub_is_that_of_the_runs_own_lists_of_neighbours(workspace, given, distance):
    vectors = np.load(given / "vectors.npy") * np.linspace(0.1, 3, 24)[:, None]  # the short ones are near all by L2
    np.save(given / "vectors.npy", vectors)
    run_id = import_embeddings(workspace, given / "vectors.npy", given / "labels.npy", distance=distance)
    (evaluation,) = workspace.evaluations(run_id)
    ids = workspace.queries(evaluation.id).sample_ids.tolist()
    near = [near.sample_id for number in ids for near in workspace.neighbours(run_id, number, evaluation.id)[:10]]
    largest = max(map(near.count, ids))
    assert evaluation.metrics["geometry/largest_hub"] == largest
    assert watch(workspace, run_id).looks[0].numbers["largest_hub"] == largest


def test_the_geometry_has_the_numbers_of_the_evaluation_also_where_both_look_at_a_part(workspace, tmp_path):
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(40), 55)
    vectors = rng.normal(size=(40, 12))[labels] + rng.normal(size=(len(labels), 12))
    np.savez(tmp_path / "many.npz", embeddings=vectors.astype(np.float32), labels=labels)
    run_id = import_embeddings(workspace, tmp_path / "many.npz")
    (evaluation,) = workspace.evaluations(run_id)
    numbers = watch(workspace, run_id).looks[0].numbers
    stored = {name: evaluation.metrics[f"geometry/{name}"] for name in ("overlap", "largest_hub", "foreign_margin")}
    assert {name: numbers[name] for name in stored} == stored
    assert numbers["spectral_rank"] == evaluation.metrics["geometry/effective_rank"]
    near = nearest(vectors.astype(np.float32), vectors.astype(np.float32), 10, own=np.arange(len(labels)))[0]
    assert stored["largest_hub"] == np.bincount(near.ravel()).max(), "of all images, not of a part"


def test_a_report_calls_no_epoch_of_imported_embeddings_the_best(workspace, given):
    run_id = import_embeddings(workspace, given / "vectors.npy", given / "labels.npy")
    document = make(workspace, Wish((run_id,), sections=("summary", "metrics")), quiet).document
    (table,) = (block for section in document.sections for block in section.blocks if isinstance(block, Table))
    assert table.head == ("Metric ↑", "Imported", "95% interval over queries")
    assert {len(row) for row in table.rows} == {3}
    assert table.caption.endswith("retrieval among what was imported.")
    assert document.tiles[0].title == "MAP@R"


def test_config_and_environment_say_that_it_was_imported(workspace, given):
    run = workspace.run(import_embeddings(workspace, given / "vectors.npy", given / "labels.npy", distance="l2"))
    config = RunConfig.recorded(run.config)
    assert config.imported
    assert config.dataset.params["embeddings"] == str(given / "vectors.npy")
    assert config.evaluation.distance == "l2"
    assert run.environment["imported"]["dimensions"] == 6
    with pytest.raises(BadConfig, match="The embeddings were imported: there is nothing to train"):
        RunConfig.from_toml_text(run.config)


def test_images_of_a_folder_and_of_an_array_are_shown(workspace, given):
    of_folder = import_embeddings(workspace, given / "vectors.npy", given / "labels.csv", given / "images")
    pictures = workspace.pictures(workspace.run(of_folder).dataset_id)
    samples = workspace.samples(workspace.run(of_folder).dataset_id)
    assert samples.paths[3] == "03.png"
    assert pictures.thumbnail(int(samples.ids[3])).shape == (128, 128, 3)
    original = np.asarray(Image.open(given / "images" / "03.png"))
    np.testing.assert_array_equal(pictures.full(int(samples.ids[3])), original)
    of_array = import_embeddings(workspace, given / "vectors.npy", given / "labels.npy", given / "pixels.npy")
    data = workspace.dataset(workspace.run(of_array).dataset_id)
    assert (data.image_size, data.channels) == (12, 3)
    assert data.pixels is not None
    assert data.pixels.is_relative_to(workspace.path), "the images of an array lie nowhere else"


def test_without_images_the_pictures_say_so(workspace, given):
    run = workspace.run(import_embeddings(workspace, given / "vectors.npy", given / "labels.npy"))
    pictures = workspace.pictures(run.dataset_id)
    with pytest.raises(Problem, match="Imported without images"):
        pictures.thumbnail(int(workspace.samples(run.dataset_id).ids[0]))


def test_two_models_of_one_data_set_share_it(workspace, given):
    first = import_embeddings(workspace, given / "vectors.npy", given / "labels.npy", given / "pixels.npy")
    np.save(given / "other.npy", np.load(given / "vectors.npy", allow_pickle=False)[:, :3])
    second = import_embeddings(workspace, given / "other.npy", given / "labels.npy", given / "pixels.npy")
    assert workspace.run(first).dataset_id == workspace.run(second).dataset_id


def test_what_was_exported_comes_back_the_same(workspace, stored_run, tmp_path):
    export_run(workspace, stored_run, ["npy", "projector"], tmp_path)
    before = workspace.run(stored_run).best
    for embeddings, labels in (("embeddings.npy", "samples.csv"), ("vectors.tsv", "metadata.tsv")):
        run = workspace.run(import_embeddings(workspace, tmp_path / embeddings, tmp_path / labels))
        assert run.best["MAP@R"] == pytest.approx(before["MAP@R"])
        assert set(workspace.dataset(run.dataset_id).class_names) == {"=1+1", "<b>cat</b>", "@dog"}


def test_one_table_may_hold_everything(workspace, given):
    vectors = np.load(given / "vectors.npy", allow_pickle=False)
    lines = [
        "label,path,x,y",
        *(f"{row % 4},{row:02}.png,{a!r},{b!r}" for row, (a, b) in enumerate(vectors[:, :2].tolist())),
    ]
    (given / "all.csv").write_text("\n".join(lines), "utf-8")
    run = workspace.run(import_embeddings(workspace, given / "all.csv", images=given / "images"))
    _, _, stored = workspace.embeddings(workspace.evaluations(run.id)[0].id)
    np.testing.assert_array_equal(stored, vectors[:, :2].astype(np.float32))


def test_parquet_is_read(workspace, given):
    vectors = np.load(given / "vectors.npy", allow_pickle=False)
    labels = np.arange(24) % 4
    parquet.write_table(pyarrow.table({"embedding": vectors.tolist(), "label": labels}), given / "list.parquet")
    columns = {f"e{column}": vectors[:, column] for column in range(6)}
    parquet.write_table(pyarrow.table({**columns, "label": labels}), given / "columns.parquet")
    wanted = workspace.run(import_embeddings(workspace, given / "vectors.npy", given / "labels.npy")).best
    for name in ("list.parquet", "columns.parquet"):
        assert workspace.run(import_embeddings(workspace, given / name)).best["MAP@R"] == wanted["MAP@R"]
    ragged = pyarrow.table({"embedding": [[1.0], [1.0, 2.0]], "label": [0, 1]})
    parquet.write_table(ragged, given / "ragged.parquet")
    with pytest.raises(Problem, match="rows of different lengths"):
        import_embeddings(workspace, given / "ragged.parquet")


def test_parquet_without_pyarrow_is_a_sentence(workspace, given, monkeypatch):
    (given / "some.parquet").write_bytes(b"PAR1")
    monkeypatch.setattr(packages, "find_spec", lambda name: None)
    with pytest.raises(Problem, match=r"Parquet needs pyarrow: install the extra parquet with pip"):
        import_embeddings(workspace, given / "some.parquet")


def test_a_report_is_written_of_it(workspace, given, tmp_path):
    run_id = import_embeddings(
        workspace, given / "vectors.npy", given / "labels.csv", given / "images", name="<b>x</b>"
    )
    written = write_report(workspace, run_id, tmp_path / "report", formats=("html", "pdf", "csv", "latex"))
    html = next(path for path in written if path.suffix == ".html").read_text("utf-8")
    assert "Embeddings of a model trained elsewhere" in html
    assert "&lt;b&gt;x&lt;/b&gt;" in html
    assert "<b>x</b>" not in html
    assert "workbench import" in html
    assert "--image-size=128" in html, "it repeats the run with the same images"
    assert "weight_decay" not in html, "what was not done is not told"


@pytest.mark.parametrize(("images", "size"), [("images", 24), (None, None), ("pixels.npy", None)])
def test_the_image_size_is_a_setting_of_images_in_a_folder_alone(workspace, given, images, size):
    """An array has a size of its own, and embeddings without images have none."""
    np.save(given / "pixels.npy", np.zeros((24, 9, 9), np.uint8))
    place = None if images is None else given / images
    run_id = import_embeddings(workspace, given / "vectors.npy", given / "labels.csv", place, image_size=24)
    content = gather(workspace, run_id, ("settings",), "")
    assert [row.value for row in content.settings if row.name == "image_size"] == ([] if size is None else [str(size)])
    assert (f"--image-size={size}" in content.command) == (size is not None)


WRONG = {
    "lengths": ("vectors.npy", "short.npy", None, "holds 24 embeddings, but short.npy 23 labels"),
    "nan": ("nan.npy", "labels.npy", None, "2 of 24 embeddings hold NaN or infinite numbers, the first in row 5"),
    "overflow": ("large.npy", "labels.npy", None, "hold NaN or infinite numbers, the first in row 1"),
    "no file": ("gone.npy", "labels.npy", None, "There is no file .*gone.npy"),
    "no labels": ("vectors.npy", "gone.csv", None, "There is no file .*gone.csv"),
    "labels not said": ("vectors.npy", None, None, "has no labels.*second file.*`--labels FILE`"),
    "words": ("words.npy", "labels.npy", None, r"holds <U5 \[3\], not embeddings"),
    "one axis": ("labels.npy", "labels.npy", None, r"holds int64 \[24\], not embeddings"),
    "objects": ("objects.npy", "labels.npy", None, "it holds Python objects"),
    "truncated": ("cut.npy", "labels.npy", None, "cannot be read as a NumPy array"),
    "several": ("several.npy", "labels.npy", None, "holds several arrays"),
    "kind": ("labels.txt", "labels.npy", None, "is not one of .npy, .npz, .csv"),
    "empty": ("empty.csv", "labels.npy", None, "is empty"),
    "no number": ("typo.csv", "labels.npy", None, "row 2 holds something that is not a number"),
    "ragged": ("ragged.csv", "labels.npy", None, "row 2 has 1 columns instead of 2"),
    "one class": ("vectors.npy", "same.npy", None, "All 24 labels of same.npy are the same, 7"),
    "all different": ("vectors.npy", "different.npy", None, "No class of different.npy has two samples"),
    "fractions": ("vectors.npy", "fractions.npy", None, r"holds float64 \[24\], not labels"),
    "no label": ("vectors.npy", "unlabelled.csv", None, "row 3 has no label"),
    "open quote": ("vectors.npy", "quote.csv", None, r"a quotation mark in line 3 is not closed\).*Close it;"),
    "columns": ("vectors.npy", "columns.csv", None, "has no column of labels"),
    "no folder": ("vectors.npy", "labels.csv", "gone", "There is no file or folder"),
    "images gone": ("vectors.npy", "labels.csv", "elsewhere", "24 of 24 images are not in .*, the first is 00.png"),
    "which image": ("vectors.npy", "labels.npy", "images", "belongs to which embedding is not known"),
    "no images": ("vectors.npy", "labels.npy", "vectors.npy", r"holds float64 \[24, 6\], not images"),
    "few images": ("vectors.npy", "labels.npy", "few.npy", "24 embeddings, but few.npy 3 images"),
    "outside": ("vectors.npy", "outside.csv", "images", r"The path '\.\./0\.png' does not lie in a folder"),
}


def write_wrong_files(given):
    """Files with one thing wrong in each."""
    vectors = np.load(given / "vectors.npy", allow_pickle=False)
    holes = vectors.copy()
    holes[4, 1], holes[9, 0] = np.nan, np.inf
    for name, array in {
        "short": np.arange(23) % 4, "nan": holes, "large": np.full((24, 6), 1e300),
        "words": np.array(["a", "b", "words"]), "same": np.full(24, 7),
        "different": np.arange(24), "fractions": np.arange(24) / 2, "few": np.zeros((3, 9, 9), np.uint8),
    }.items():  # fmt: skip
        np.save(given / f"{name}.npy", array)
    np.save(given / "objects.npy", np.array([{}, []], dtype=object), allow_pickle=True)
    (given / "cut.npy").write_bytes((given / "vectors.npy").read_bytes()[:300])
    np.savez(given / "several.npz", a=vectors)
    (given / "several.npz").rename(given / "several.npy")
    (given / "elsewhere").mkdir()
    listed = [f"{row % 4}" for row in range(24)]
    for name, text in {
        "labels.txt": "1", "empty.csv": "\n", "typo.csv": "1,2\n1,two\n", "ragged.csv": "1,2\n1\n",
        "unlabelled.csv": "\n".join(["path,label", *(f"{row}.png,{'' if row == 2 else row % 2}" for row in range(24))]),
        "columns.csv": "a,b\n1,2\n",
        "quote.csv": "\n".join(["label,note", *(f"{label},old" for label in listed)]).replace("1,old", '1,"old', 1),
        "outside.csv": "\n".join(["path,label", *(f"../{row}.png,{each}" for row, each in enumerate(listed))]),
    }.items():  # fmt: skip
        (given / name).write_text(text, "utf-8")


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_one_sentence_and_leaves_nothing(case, workspace, given):
    write_wrong_files(given)
    embeddings, labels, images, sentence = WRONG[case]
    with pytest.raises(Problem, match=sentence) as caught:
        import_embeddings(
            workspace, given / embeddings, labels and given / labels, images and given / images, name="wrong"
        )
    assert "Nothing was imported" in str(caught.value)
    assert workspace.runs() == []
    assert not list((workspace.path / "runs").iterdir())


def test_an_image_that_cannot_be_read_is_left_out_with_its_embedding(workspace, given):
    (given / "images" / "05.png").write_bytes(b"no image")
    run = workspace.run(import_embeddings(workspace, given / "vectors.npy", given / "labels.csv", given / "images"))
    assert run.environment["data"]["left_out"][0][0] == "05.png"
    _, _, stored = workspace.embeddings(workspace.evaluations(run.id)[0].id)
    vectors = np.load(given / "vectors.npy", allow_pickle=False).astype(np.float32)
    np.testing.assert_array_equal(stored, np.delete(vectors, 5, axis=0))


def test_a_full_disk_leaves_no_half_run(workspace, given, monkeypatch):
    real, calls = os.fsync, []

    def full_later(number: int) -> None:
        calls.append(number)
        if len(calls) > 4:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(number)

    monkeypatch.setattr(os, "fsync", full_later)
    monkeypatch.setattr(recorder, "LAST_WORD", 0.0)  # it would try again for ten seconds
    with pytest.raises(Problem, match="no space left"):
        import_embeddings(workspace, given / "vectors.npy", given / "labels.npy")
    assert len(calls) > 4
    assert workspace.runs() == workspace.runs(trashed=True) == []


def test_a_workspace_that_can_only_be_read_says_so_first(workspace, given, monkeypatch):
    monkeypatch.setattr(workspace, "read_only", True)
    with pytest.raises(Problem, match="open for reading only"):
        import_embeddings(workspace, given / "gone.npy")


def test_a_rebuilt_workspace_still_has_the_import(workspace, given, tmp_path):
    from workbench.workspace.repairs.rebuild import rebuild

    run_id = import_embeddings(workspace, given / "vectors.npy", given / "labels.npy")
    with Workspace(tmp_path / "again", create=True) as again:
        (workspace.folder(run_id)).rename(again.folder(run_id))
        rebuild(again)
        assert again.run(run_id).best["MAP@R"] == workspace.run(run_id).best["MAP@R"]
        assert again.run(run_id).status == "done"


def test_of_a_set_without_images_no_sample_is_read_for_its_pictures(workspace, given, monkeypatch):
    run = workspace.run(import_embeddings(workspace, given / "vectors.npy", given / "labels.npy"))
    monkeypatch.setattr(type(workspace), "samples", None)  # a million of them take half a minute
    with pytest.raises(Problem, match="Imported without images"):
        workspace.pictures(run.dataset_id).thumbnail(0)


@pytest.mark.parametrize("title", ["", "Unnamed: 0", "__index_level_0__"])
def test_the_numbers_of_rows_that_pandas_writes_are_no_part_of_an_embedding(tmp_path, title):
    table = tmp_path / "table.csv"
    table.write_text(f"{title},x,y,label\n0,0.5,0.25,a\n1,0.75,1,b\n", "utf-8")
    assert read_embeddings(table, quiet).vectors.tolist() == [[0.5, 0.25], [0.75, 1]]
    table.write_text(",,label\n0,0.5,a\n1,0.75,b\n", "utf-8")
    assert read_embeddings(table, quiet).vectors.shape == (2, 2), "no column has a title"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("table.csv", "0,5;1,25;-3,5e2\n1;2,5;3\n"),  # the first line has as many commas as semicolons, and more
        ("table.csv", "0,5\t1,25\t-3,5e2\n1\t2,5\t3\n"),
        ("table.tsv", "0,5\t1,25\t-3,5e2\n1\t2,5\t3\n"),
        ("table.csv", "0.5,1.25,-3.5e2\n1,2.5,3\n"),
    ],
)
def test_decimal_commas_are_told_from_separators_without_a_line_of_titles(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    assert read_embeddings(tmp_path / name, quiet).vectors.tolist() == [[0.5, 1.25, -350.0], [1.0, 2.5, 3.0]]


def test_labels_that_are_one_number_are_always_in_one_order(tmp_path):
    """`set` orders text differently in every process."""
    words = [f"{'0' * zeros}7" for zeros in range(8)] * 2
    (tmp_path / "all.csv").write_text("x,label\n" + "".join(f"{row},{word}\n" for row, word in enumerate(words)))
    images = labelled_embeddings.read(tmp_path / "all.csv", None, None, 8, quiet).images
    assert images.class_names == sorted(words[:8])


def test_a_table_of_a_spreadsheet_with_decimal_commas_is_read(tmp_path):
    table = tmp_path / "table.csv"
    table.write_text('label;x;y\n"a, b";0,5;-1,25e-1\nc;3;,75\n', "utf-8-sig")
    read = read_embeddings(table, quiet)
    assert read.vectors.tolist() == [[0.5, -0.125], [3, 0.75]]
    assert read.words["label"] == ["a, b", "c"]


def test_the_command_of_a_report_imports_the_same_again(workspace, given, tmp_path):
    run_id = import_embeddings(
        workspace, given / "vectors.npy", given / "labels.csv", name="It's “mine” & <b>", distance="l2"
    )
    command = shlex.split(command_of(workspace.run(run_id)))
    assert command[0] == "workbench"
    again = CliRunner().invoke(cli, [*command[1:], "--workspace", str(tmp_path / "again")], catch_exceptions=False)
    assert again.exit_code == 0, again.output
    with Workspace(tmp_path / "again") as other:
        (run,) = other.runs()
        assert run.name == workspace.run(run_id).name
        assert run.last == workspace.run(run_id).last
        assert other.evaluations(run.id)[0].distance == "l2"


def test_the_command_of_a_report_imports_a_gallery_as_one(workspace, given):
    run_id = import_gallery(workspace, given / "vectors.npy")
    assert "--search-only" in shlex.split(command_of(workspace.run(run_id)))


def test_a_folder_of_images_whose_name_is_too_long_is_a_problem(workspace, given):
    with pytest.raises(Problem):
        import_embeddings(workspace, given / "vectors.npy", given / "labels.csv", given / ("d" * 300))
