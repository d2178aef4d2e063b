"""`workbench search` on a really trained Digits run, and what it says where there is nothing to search."""

import csv
import json

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from tests.trained_sample import sample_space
from tests.ui.small_run import store_run
from workbench.cli import cli
from workbench.exchange.imported.importing import import_embeddings
from workbench.problem import Problem
from workbench.running.search.image_search import OwnImage, search, similarities
from workbench.workspace import Workspace

ROWS = (3, 500)  # of the test set, searched with


@pytest.fixture(scope="module")
def space(tmp_path_factory):
    """A workspace whose run 1 is the sample project after two epochs."""
    return sample_space(tmp_path_factory.mktemp("searched"), 2)


@pytest.fixture
def workspace(space):
    with Workspace(space) as opened:
        yield opened


@pytest.fixture
def images(workspace, tmp_path):
    """Two images of the test set as files, and their sample ids."""
    run, best = workspace.run(1), workspace.evaluations(1)[-1]
    ids = workspace.embeddings(best.id)[0][list(ROWS)].tolist()
    pictures = workspace.pictures(run.dataset_id)
    paths = []
    for number, sample_id in enumerate(ids):
        paths.append(tmp_path / f"image {number}.png")
        Image.fromarray(np.squeeze(pictures.thumbnail(sample_id))).save(paths[-1])
    return paths, ids


def invoke(space, *words):
    return CliRunner().invoke(cli, ["search", *map(str, words), "-w", str(space)])


def test_an_image_of_the_test_half_finds_itself_and_then_its_stored_neighbours(workspace, images):
    paths, ids = images
    answers = search(workspace, 1, [OwnImage(path.name, path) for path in paths], k=6)
    assert [answer.name for answer in answers] == ["image 0.png", "image 1.png"]
    for answer, sample_id in zip(answers, ids, strict=True):
        first = answer.neighbours[0]
        assert (first.rank, first.sample_id) == (1, sample_id)
        assert first.similarity == pytest.approx(1, abs=1e-4)
        stored = workspace.neighbours(1, sample_id, answer.evaluation.id)[:5]
        assert [near.sample_id for near in answer.neighbours[1:]] == [near.sample_id for near in stored]
        assert [near.class_name for near in answer.neighbours[1:]] == [near.class_name for near in stored]
        assert [near.similarity for near in answer.neighbours[1:]] == pytest.approx(
            [near.similarity for near in stored], abs=1e-3
        )


def test_the_table_names_rank_similarity_class_and_path(space, images):
    said = invoke(space, 1, *images[0], "--k", 3)
    assert said.exit_code == 0, said.output
    first, second = said.output.strip().split("\n\n")
    head, columns, *rows = first.splitlines()
    assert head.startswith(f"{images[0][0]}: nearest by cosine similarity, epoch ")
    assert head.endswith("of run 1")
    assert columns.split() == ["rank", "similarity", "class", "path"]
    assert [row.split()[0] for row in rows] == ["1", "2", "3"]
    assert str(images[0][1]) in second


def test_json_and_csv_hold_every_neighbour(space, images, tmp_path):
    table = tmp_path / "made" / "found.csv"
    said = invoke(space, 1, *images[0], "--k", 4, "--json", "--csv", table)
    assert said.exit_code == 0, said.output
    answer = json.loads(said.stdout)
    assert answer["run"] == 1
    assert [found["image"] for found in answer["results"]] == [str(path) for path in images[0]]
    assert [found["neighbours"][0]["sample_id"] for found in answer["results"]] == images[1]
    with table.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["image"], int(row["rank"]), int(row["sample_id"])) for row in rows] == [
        (found["image"], near["rank"], near["sample_id"]) for found in answer["results"] for near in found["neighbours"]
    ]
    only = invoke(space, 1, images[0][0], "--csv", table)
    assert only.stdout == f"{table}\n"


def test_the_last_and_the_best_network_are_searched_each_in_its_own_evaluation(space, workspace, images):
    run, evaluations = workspace.run(1), workspace.evaluations(1)
    wanted = {"best": run.best_epoch, "last": 2, "2": 2, str(run.best_epoch): run.best_epoch}
    for name, epoch in wanted.items():
        answer = json.loads(invoke(space, 1, images[0][0], "--epoch", name, "--json").stdout)
        assert answer["epoch"] == epoch
    by_id = json.loads(invoke(space, 1, images[0][0], "--evaluation", evaluations[-1].id, "--json").stdout)
    assert (by_id["evaluation"], by_id["epoch"]) == (evaluations[-1].id, 2)


@pytest.mark.parametrize(
    ("words", "status", "sentence"),
    [
        (("--epoch", "7"), 2, "Run 1 has no checkpoint of epoch 7, only of epoch"),
        (("--evaluation", "999"), 2, "Run 1 has no evaluation 999."),
        (("--epoch", "best", "--evaluation", "1"), 2, "give one of them"),
        (("--epoch", "worst"), 2, "neither best nor last"),
        (("--k", "0"), 2, "0"),
    ],
)
def test_a_wrong_wish_is_a_sentence(space, images, words, status, sentence):
    said = invoke(space, 1, images[0][0], *words)
    assert said.exit_code == status
    assert sentence in said.output


def test_every_image_that_cannot_be_read_is_named(space, images, tmp_path):
    (tmp_path / "empty.png").write_bytes(b"")
    (tmp_path / "page.png").write_bytes(b"<html>")
    said = invoke(space, 1, images[0][0], tmp_path / "empty.png", tmp_path / "page.png", tmp_path / "absent.png")
    assert said.exit_code == 1
    for name, reason in (("empty", "is empty"), ("page", "is not an image"), ("absent", "cannot be opened")):
        assert f"{name}.png {reason}" in said.output
    assert "image 0.png" not in said.output


def test_no_run_of_that_number(space, images):
    said = invoke(space, 99, images[0][0])
    assert said.exit_code == 2
    assert "There is no run 99" in said.output


def test_a_run_without_a_checkpoint_is_told(tmp_path, images):
    with Workspace(tmp_path / "other", create=True) as other:
        run = store_run(other, np.repeat(np.arange(3), 4))
        for status, todo in (("done", "Resume the run for an epoch"), ("running", "Wait for its first epoch")):
            other.set_status(run.run_id, status)
            with pytest.raises(Problem, match=f"has no checkpoint, so .* {todo}, or choose another run"):
                search(other, run.run_id, [OwnImage("mine", images[0][0])])


def test_a_run_of_another_program_has_no_network(tmp_path, images):
    np.save(tmp_path / "vectors.npy", np.random.default_rng(0).normal(size=(6, 3)).astype(np.float32))
    np.save(tmp_path / "labels.npy", np.array([0, 0, 0, 1, 1, 1]))
    with Workspace(tmp_path / "other", create=True) as other:
        run_id = import_embeddings(other, tmp_path / "vectors.npy", tmp_path / "labels.npy")
        with pytest.raises(Problem, match="was imported from another program"):
            search(other, run_id, [OwnImage("mine", images[0][0])])


def test_the_command_explains_itself():
    said = CliRunner().invoke(cli, ["search", "--help"]).output
    for word in ("RUN", "IMAGE...", "--epoch", "--evaluation", "--k", "--json", "--csv"):
        assert word in said


@pytest.mark.parametrize("distance", ["cosine", "l2"])
def test_similarities_of_one_query(distance):
    rng = np.random.default_rng(0)
    query, table = rng.normal(size=5), rng.normal(size=(20, 5))
    for row, found in enumerate(similarities(query, table, distance)):
        apart = np.sqrt(((table[row] - query) ** 2).sum())
        cosine = (table[row] * query).sum() / np.sqrt((table[row] ** 2).sum() * (query**2).sum())
        assert found == pytest.approx(cosine if distance == "cosine" else -apart)


def test_a_zero_vector_is_similar_to_nothing():
    assert similarities(np.zeros(3), np.ones((2, 3)), "cosine").tolist() == [0.0, 0.0]
