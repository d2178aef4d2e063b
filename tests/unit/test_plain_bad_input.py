"""Bad input of every kind is one sentence, never a traceback; tests/campaign/fuzz.py looks for more of its kind."""

import io
import os
import sys
import tarfile
import zipfile

import numpy as np
import pytest

from workbench.config import BadConfig, RunConfig
from workbench.datasets.reading.pickled_arrays import NotPlain, read_pickled
from workbench.datasets.reading.published import skipped_numbers
from workbench.entries import catalog
from workbench.exchange.imported.importing import import_embeddings
from workbench.files import archives, atomic_write, make_folder
from workbench.problem import Problem
from workbench.reports.templates import offered, templates
from workbench.running import folds_and_seeds
from workbench.settings.changed import read_config
from workbench.sweeps import space
from workbench.workspace import Workspace
from workbench.workspace.measured.artefacts import add_artefact

FOLDS = "[split]\nname = 'mlrc'\nfold = {}\n"
DEEP = "d/" * 1900


@pytest.mark.parametrize(
    "text", ["seed = " + "9" * 5000, "a = " + "[" * 3000, FOLDS.format("'5'"), FOLDS.format("[1]")]
)
def test_a_config_that_cannot_be_used_is_one_sentence(text):
    with pytest.raises(BadConfig):
        RunConfig.from_toml_text(text)


def test_a_fold_in_quotes_is_that_fold():
    [child] = folds_and_seeds.children(RunConfig.from_toml_text(FOLDS.format("'2'")))
    assert child.fold == 2


@pytest.mark.parametrize("change", ["seed=" + "9" * 5000, "loss.name=" + "[" * 3000])
def test_a_change_that_cannot_be_read_is_one_sentence(change):
    with pytest.raises(BadConfig):
        read_config("sample-digits", (change,))


def test_a_range_of_a_billion_points_is_refused():
    parameter = space.read("training.lr=1e-4..1e-2:log:1000000000")
    with pytest.raises(BadConfig, match="10,000 points or fewer"):
        space.checked([parameter], read_config("sample-digits"), catalog.current())


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (np.array(["--5", "5"] * 6), None),
        (np.full(12, np.inf), "not labels"),
        (b"\x93NUMPY\x01\x00\x08\x00{'descr'", "cannot be read as a NumPy array"),
        (b"path,label\n" + b".,1\n.,2\n" * 6, "does not lie in a folder"),
    ],
)
def test_labels_are_used_or_refused(tmp_path, labels, words):
    np.save(tmp_path / "e.npy", np.random.default_rng(0).normal(size=(12, 3)))
    place = tmp_path / ("l.csv" if isinstance(labels, bytes) and b"label" in labels else "l.npy")
    place.write_bytes(labels) if isinstance(labels, bytes) else np.save(place, labels)
    with Workspace(tmp_path / "space", create=True) as workspace:
        if words is None:
            assert import_embeddings(workspace, tmp_path / "e.npy", place) == 1
        else:
            with pytest.raises(Problem, match=words):
                import_embeddings(workspace, tmp_path / "e.npy", place)


def silent(text, done, total):
    """Nobody is told."""


def test_a_zip_whose_names_are_no_text_or_too_deep_is_refused(tmp_path):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr("\u00e4.txt", b"1")
    (tmp_path / "a.zip").write_bytes(out.getvalue().replace("\u00e4".encode(), b"\xff\xfe"))
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as made:
        made.writestr("d/" * 2000 + "f", b"1")
    for name in ("a.zip", "b.zip"):
        with pytest.raises(Problem, match="is refused"):
            archives.unpack(tmp_path / name, tmp_path / "out", silent)
    assert sorted(os.listdir(tmp_path)) == ["a.zip", "b.zip"]


def test_a_tar_with_a_long_header_or_a_sparse_file_is_refused(tmp_path):
    for name, kind, facts in (
        ("long", tarfile.XHDTYPE, {}),
        ("sparse", tarfile.REGTYPE, {"GNU.sparse.size": "9", "GNU.sparse.numblocks": "0"}),
    ):
        member = tarfile.TarInfo("x")
        member.type, member.pax_headers, member.size = kind, facts, (5 << 20) if name == "long" else 0
        (tmp_path / f"{name}.tar").write_bytes(member.tobuf(tarfile.PAX_FORMAT) + bytes(member.size + 1024))
        with pytest.raises(Problem, match=r"is refused: (a header in it is too long|its entry 'x' is a link)"):
            archives.unpack(tmp_path / f"{name}.tar", tmp_path / "out", silent)


def test_a_pickle_that_repeats_itself_is_refused():
    made = b"(K\x01K\x02tq\x00"
    for level in range(30):
        made = b"(" + made + b"h%c" % level * 7 + b"tq%c" % (level + 1)
    for content in (b"\x80\x02" + made + b".", b"\x80\x02]" + b"q\x00h\x00a."):
        with pytest.raises(NotPlain, match="repeats itself"):
            read_pickled(content)


def test_class_numbers_far_apart_are_told_at_once():
    [(_, said)] = skipped_numbers("list", [1, 3, 10**17])
    assert said.startswith("skips 99,999,999,999,999,997 numbers between 1 and")


@pytest.mark.parametrize("path", [DEEP, "d" * 4000, "a\0b", "file/in"])
def test_a_place_that_cannot_be_is_a_problem(tmp_path, path):
    (tmp_path / "file").write_bytes(b"x")
    for door in (lambda place: Workspace(place, create=True), make_folder, RunConfig.from_toml):
        with pytest.raises(Problem):
            door(tmp_path / path)


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are text elsewhere")
def test_a_file_whose_name_is_no_text_is_recorded(tmp_path):
    place = tmp_path / os.fsdecode(b"report\xff.html")
    with atomic_write(place) as file:
        file.write(b"1")
    with Workspace(tmp_path / "space", create=True) as workspace:
        run_id = workspace.create_run(read_config("sample-digits"))
        with workspace.writing() as db:
            number = add_artefact(db, tmp_path / "space", run_id, "report", place, None)
            ((stored,),) = db.execute("select path from artefacts where id = ?", (number,)).fetchall()
    assert stored.endswith("report\\xff.html")


def test_arrangements_that_a_hand_has_changed_are_passed_over():
    for odd in (None, 3.5, [], {"order": 3, "ticked": "ab", "text": None, "base": []}):
        assert offered({"one-run": odd, "own-1": odd}).keys() == templates().keys()
