"""The network of a run on other images, as a run of its own."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from tests.trained_sample import sample_values, trained
from workbench.cli import cli
from workbench.control import Cancelled
from workbench.entries import catalog
from workbench.exchange.formats import export_run
from workbench.exchange.imported.other_images import WHOLE_TESTED, evaluate_images
from workbench.problem import Problem, UnknownName
from workbench.progress import quiet
from workbench.reports import wish_of
from workbench.reports.content.gathering import gather
from workbench.reports.document import make
from workbench.reports.formats.tables import csv_tables
from workbench.reports.writing.run_sections import section_blocks
from workbench.running.search.image_search import OwnImage, check_network, kept_network, nearest, search
from workbench.running.search.saliency import pair_saliency
from workbench.running.search.saliency_picture import GAP, SIDE
from workbench.workspace import Workspace
from workbench.workspace.run_names import names_of

EACH, CLASSES = 8, ("oak", "pine", "yew", "fir")


@pytest.fixture(scope="module")
def photographs(tmp_path_factory):
    """Four classes of eight coloured images, each class of one hue; one file is no image."""
    place, rng = tmp_path_factory.mktemp("photographs"), np.random.default_rng(0)
    for number, name in enumerate(CLASSES):
        (place / name).mkdir()
        for row in range(EACH):
            pixels = rng.integers(0, 60, (24, 30, 3), np.uint8)
            pixels[..., number % 3] += np.uint8(90 + 60 * (number // 3))
            Image.fromarray(pixels).save(place / name / f"{row}.png")
    (place / "oak" / "broken.png").write_bytes(b"no image")
    return place


@pytest.fixture(scope="module")
def space(tmp_path_factory, photographs):
    """A workspace whose run 1 was trained on two of the classes, and whose other two are its test set."""
    place = tmp_path_factory.mktemp("tested") / "space"
    values = sample_values(1)
    values["name"] = "Trees"
    values["dataset"] = {"name": "folder", "folder": str(photographs), "image_size": 16}
    values["split"] = {"name": "classes"}
    values["training"] |= {"batch_size": 8}
    values["evaluation"] |= {"recall_at": "1 3", "probe_size": 0, "untrained": False}
    with Workspace(place, create=True) as workspace:
        trained(workspace, values)
    return place


@pytest.fixture
def workspace(space, tmp_path):
    with Workspace(space) as opened:
        yield opened


def test_an_image_has_the_embedding_and_the_score_that_the_run_stored(workspace, photographs):
    """All images are searched, the run's test set among them: their embeddings are those of the run."""
    made = evaluate_images(workspace, 1, photographs)
    run, evaluation = workspace.run(made.run_id), workspace.evaluations(made.run_id)[-1]
    assert (run.name, run.status) == ("Trees on " + photographs.name, "done")
    assert evaluation.metrics["queries"] == EACH * len(CLASSES)
    assert "recall@3" in evaluation.metrics
    assert "recall@2" not in evaluation.metrics
    ids, _, vectors = workspace.embeddings(evaluation.id)
    stored_ids, _, stored = workspace.embeddings(workspace.evaluations(1)[-1].id)
    rows = {sample_id: row for row, sample_id in enumerate(ids.tolist())}
    assert set(stored_ids.tolist()) < rows.keys()
    np.testing.assert_allclose(vectors[[rows[one] for one in stored_ids.tolist()]], stored, rtol=1e-4, atol=1e-5)
    assert run.environment["data"]["note"].startswith("embedded by run 1, epoch ")
    assert run.tested == 1
    assert workspace.run(1).tested is None
    assert names_of(catalog.current(), run) == (
        photographs.name,
        "",
        f"test of run 1, epoch {kept_network(workspace, 1)[1].epoch}",
    )


def test_lists_and_reports_name_the_network_that_was_tested(workspace, space, photographs):
    of_best = kept_network(workspace, 1)[1].epoch
    network = f"run 1, epoch {of_best}"
    run = workspace.run(evaluate_images(workspace, 1, photographs, "Shown").run_id)
    assert (run.tested_epoch, workspace.run(1).tested_epoch) == (of_best, None)
    assert (run.epoch, run.epochs, run.best_epoch) == (run.tested_epoch,) * 3
    assert [evaluation.epoch for evaluation in workspace.evaluations(run.id)] == [run.tested_epoch]
    lines = CliRunner().invoke(cli, ["list", "runs", "Shown", "-w", str(space)]).output.splitlines()
    assert f"test of {network}" in lines[1]
    assert photographs.name in lines[1]
    listed = json.loads(CliRunner().invoke(cli, ["list", "runs", "Shown", "--json", "-w", str(space)]).output)[0]
    names = {"backbone": workspace.run(1).backbone, "loss": workspace.run(1).loss}
    assert listed["tested"] == {"run": 1, "epoch": run.best_epoch, **names}
    assert lines[1].split()[3:8] == [names["backbone"], f"{names['loss']},", "test", "of", "run"]
    content = gather(workspace, run.id, ("summary", "metrics", "settings"), "")
    own, trained = section_blocks("settings", content)
    assert ("Data set", "Images", str(photographs)) in own.rows
    assert trained.caption == "Settings of run 1, which trained the network, that differ from their default."
    assert ("Embedding", "Embedding size", "64") in trained.rows
    assert "trained-with.csv" in csv_tables(make(workspace, wish_of(run.id), quiet), workspace)
    assert content.summary[0] == f"The network of {network}, was tested on {photographs.name}; nothing was trained."
    assert content.summary[2].startswith("Tested: MAP@R ")
    assert content.command == f"workbench test 1 {photographs} --epoch best --name=Shown"


@pytest.mark.parametrize("epoch", [7, "last"])
def test_a_test_has_no_network_but_the_one_that_it_is_of(workspace, photographs, epoch):
    made = evaluate_images(workspace, 1, photographs)
    of_best = workspace.run(made.run_id).tested_epoch
    refused = "it has none of epoch 7" if epoch == 7 else "it has no last one"
    with pytest.raises(UnknownName, match=f"is a test of .* of run 1.*{refused}.*Nothing was tested"):
        evaluate_images(workspace, made.run_id, photographs, epoch=epoch)
    again = evaluate_images(workspace, made.run_id, photographs, epoch=of_best)
    assert workspace.run(again.run_id).tested_epoch == of_best
    with pytest.raises(UnknownName, match=f"has no evaluation 999. It has {workspace.evaluations(made.run_id)[0].id}"):
        kept_network(workspace, made.run_id, evaluation_id=999)
    with pytest.raises(Problem, match=rf"Run {made.run_id} is a test of run 1, which has the network"):
        export_run(workspace, made.run_id, ["torch"], photographs / "none")


def test_what_limits_the_result_is_said(workspace, photographs):
    before = evaluate_images(workspace, 1, photographs).run_id
    made = evaluate_images(workspace, 1, photographs, "Again")
    assert workspace.run(made.run_id).name == "Again"
    repeated, left_out, known = made.remarks
    assert repeated.startswith(f"Run {made.run_id} repeats an earlier one: ")
    assert repeated.endswith("of the same network on the same images.")
    assert str(before) in repeated.partition(": ")[2] or " to " in repeated, "tests of other tests of this file, too"
    assert "1 was left out: oak/broken.png" in left_out
    assert "4 of the 4 classes have the name of a class of run 1's data (fir, oak, pine, ...)" in known


def test_halves_that_are_searched_as_one_and_classes_of_one_image_are_said(workspace, photographs, tmp_path):
    for half, name, row in (("train", "oak", 0), ("train", "fir", 1), ("test", "oak", 2), ("test", "yew", 3)):
        (tmp_path / half / name).mkdir(parents=True)
        shutil.copy(photographs / name / f"{row}.png", tmp_path / half / name)
    alone, halves, _ = evaluate_images(workspace, 1, tmp_path).remarks
    assert alone == "2 classes have one image each: nothing can match it (fir, yew)."
    assert halves == "These images come in a split (test 2, train 2), which is ignored: each image queries all others."


def test_a_best_epoch_whose_network_is_not_kept_is_said(workspace, photographs, monkeypatch):
    best_of = {0: replace(workspace.run(1), best_epoch=0), 1: replace(workspace.run(1), best_epoch=1)}

    def remarks(best, epoch):
        monkeypatch.setattr(Workspace, "run", lambda self, number: best_of[best])
        return evaluate_images(workspace, 1, photographs, epoch=epoch).remarks

    assert not any("best evaluation" in remark for remark in [*remarks(1, "best"), *remarks(0, "last")])
    assert remarks(0, "best")[-1] == (
        "The best evaluation of run 1 is that of epoch 0, before training, whose network is not kept: the network of "
        "epoch 1 was tested."
    )


@pytest.fixture(scope="module")
def levelled(tmp_path_factory, photographs):
    """A workspace with a run of genus/species: folders inside folders; and such a folder."""
    place = tmp_path_factory.mktemp("levelled")
    for number, name in enumerate(CLASSES):
        shutil.copytree(photographs / name, place / "plants" / ("broad", "needle")[number % 2] / name)
    values = sample_values(1)
    values["dataset"] = {"name": "folder", "folder": str(place / "plants"), "levels": 2, "image_size": 16}
    values["split"] = {"name": "classes"}
    values["training"] |= {"batch_size": 8}
    values["evaluation"] |= {"probe_size": 0}
    with Workspace(place / "space", create=True) as workspace:
        trained(workspace, values)
        yield workspace, place / "plants"


def test_as_many_folders_name_a_class_as_in_the_runs_data(levelled):
    workspace, plants = levelled
    run = workspace.run(evaluate_images(workspace, 1, plants).run_id)
    assert run.environment["data"]["classes"] == len(CLASSES)
    metrics = workspace.evaluations(run.id)[-1].metrics
    assert metrics["level/folder 1/recall@1"] >= metrics["recall@1"]
    assert "level/folder 1/MAP@R" in metrics


def test_one_folder_names_a_class_where_images_lie_in_no_more(levelled, photographs):
    workspace, _ = levelled
    run = workspace.run(evaluate_images(workspace, 1, photographs).run_id)
    assert run.environment["data"]["classes"] == len(CLASSES)


def test_deeper_folders_name_what_a_test_can_be_given_and_no_field_that_it_lacks(workspace, photographs, tmp_path):
    for number, name in enumerate(CLASSES):
        shutil.copytree(photographs / name, tmp_path / ("broad", "needle")[number % 2] / name)
    (remark,) = (one for one in evaluate_images(workspace, 1, tmp_path).remarks if "folders inside" in one)
    assert "dataset.levels" not in remark
    assert remark.endswith("if those are the classes, test a CSV list that names the class of each image instead.")


@pytest.fixture(scope="module")
def of_a_list(tmp_path_factory, photographs):
    """A workspace with a run of a list whose columns have names of their own, and whose images lie elsewhere."""
    place = tmp_path_factory.mktemp("list")
    rows = [f"{name}/{row}.png;{name};{row}" for name in CLASSES for row in range(EACH)]
    (place / "all.csv").write_text("\n".join(["photo;tree;label", *rows]), encoding="utf-8")
    values = sample_values(1)
    columns = {"path": "photo", "label": "tree", "folder": str(photographs)}
    values["dataset"] = {"name": "csv", "file": str(place / "all.csv"), **columns, "image_size": 16}
    values["split"] = {"name": "classes"}
    values["training"] |= {"batch_size": 8}
    values["evaluation"] |= {"probe_size": 0}
    with Workspace(place / "space", create=True) as workspace:
        trained(workspace, values)
        yield workspace, place


@pytest.mark.parametrize(
    ("columns", "classes"), [("photo;tree;label", 4), ("path;label;other", 4), ("file;kind;label", EACH)]
)
def test_a_list_is_read_by_the_columns_and_from_the_folder_of_the_runs_list(of_a_list, columns, classes):
    workspace, place = of_a_list
    rows = [f"{name}/{row}.png;{name};{row}" for name in CLASSES for row in range(EACH)]
    (place / "again.csv").write_text("\n".join([columns, *rows]), encoding="utf-8")
    run = workspace.run(evaluate_images(workspace, 1, place / "again.csv").run_id)
    assert run.environment["data"]["classes"] == classes


def test_boxes_of_the_runs_list_are_read_of_a_list_that_has_them_and_their_absence_is_said(photographs, tmp_path):
    rows = [f"{name}/{row}.png,{name},2,3,20,16" for name in CLASSES for row in range(EACH)]
    whole = [row.removesuffix(",2,3,20,16") for row in rows]
    lists = {"boxes": ["path,label,x,y,w,h", *rows], "whole": ["path,label", *whole]}
    for name, lines in lists.items():
        (tmp_path / f"{name}.csv").write_text("\n".join(lines), encoding="utf-8")
    values = sample_values(1)
    fields = {"file": str(tmp_path / "boxes.csv"), "folder": str(photographs), "box": "x y w h"}
    values["dataset"] = {"name": "csv", **fields, "image_size": 16}
    values["split"] = {"name": "classes"}
    values["training"] |= {"batch_size": 8}
    values["evaluation"] |= {"probe_size": 0, "untrained": False}
    with Workspace(tmp_path / "space", create=True) as workspace:
        trained(workspace, values)
        own = evaluate_images(workspace, 1, tmp_path / "boxes.csv")
        assert WHOLE_TESTED not in own.remarks
        ids, _, vectors = workspace.embeddings(workspace.evaluations(own.run_id)[-1].id)
        stored_ids, _, stored = workspace.embeddings(workspace.evaluations(1)[-1].id)
        rows_of = {number: row for row, number in enumerate(ids.tolist())}
        chosen = vectors[[rows_of[number] for number in stored_ids.tolist()]]
        np.testing.assert_allclose(chosen, stored, rtol=1e-4, atol=1e-5)
        assert WHOLE_TESTED in evaluate_images(workspace, 1, tmp_path / "whole.csv").remarks


def test_a_wrong_line_does_not_make_another_column_that_of_the_classes(of_a_list):
    workspace, place = of_a_list
    rows = [f"{name}/{row}.png;{name if row else ''};{row}" for name in CLASSES for row in range(EACH)]
    (place / "again.csv").write_text("\n".join(["photo;tree;label", *rows]), encoding="utf-8")
    with pytest.raises(Problem, match="line 2"):
        evaluate_images(workspace, 1, place / "again.csv")


def test_of_a_list_without_an_image_in_either_folder_a_line_is_named(of_a_list):
    workspace, place = of_a_list
    (place / "again.csv").write_text("photo;tree\noak/none.png;oak\n", encoding="utf-8")
    with pytest.raises(Problem, match=r"1 was left out: oak/none\.png is in line 2 of again\.csv, but not on disk"):
        evaluate_images(workspace, 1, place / "again.csv")


def test_classes_that_the_run_does_not_know_are_tested_without_a_remark(workspace, photographs, tmp_path):
    for name in ("rose", "iris"):
        (tmp_path / "flowers" / name).mkdir(parents=True)
        for row in range(3):
            Image.new("RGB", (20, 20), (row * 40, 10, 200 if name == "iris" else 20)).save(
                tmp_path / "flowers" / name / f"{row}.png"
            )
    assert evaluate_images(workspace, 1, tmp_path / "flowers").remarks == []


def test_the_run_is_searched_with_the_network_that_it_tests(workspace, photographs, tmp_path):
    made = evaluate_images(workspace, 1, photographs)
    evaluation = workspace.evaluations(made.run_id)[-1]
    image = photographs / "yew" / "3.png"
    near = search(workspace, made.run_id, [OwnImage("mine", image)], k=1)[0].neighbours[0]
    assert near.class_name == "yew"
    assert near.similarity == pytest.approx(1, abs=1e-4)
    network, shown = kept_network(workspace, made.run_id)
    assert (shown.id, network.dataset.id) == (evaluation.id, workspace.run(made.run_id).dataset_id)
    pair = pair_saliency(workspace, made.run_id, evaluation.id, near.sample_id, near.sample_id)
    assert pair.similarity == pytest.approx(1, abs=1e-5)


def test_a_test_of_a_test_is_a_test_of_the_run_that_trained_the_network(workspace, photographs):
    again = evaluate_images(workspace, evaluate_images(workspace, 1, photographs).run_id, photographs)
    assert workspace.run(again.run_id).name == "Trees on " + photographs.name
    assert "class of run 1's data" in again.remarks[-1]
    check_network(workspace, again.run_id)
    assert search(workspace, again.run_id, [OwnImage("mine", photographs / "yew" / "3.png")], k=1)[0].neighbours


def test_a_run_that_trains_on_meanwhile_does_not_change_which_network_was_tested(workspace, photographs):
    best = workspace.folder(1) / "best.pt"
    kept = best.read_bytes()

    def train_on(text, done, total):
        if text == "Embedding the images":
            best.write_bytes(b"the network of a later epoch")

    made = evaluate_images(workspace, 1, photographs, progress=train_on)
    best.write_bytes(kept)
    check_network(workspace, made.run_id)


def test_a_device_that_is_not_here_is_refused_before_an_image_is_read(workspace, photographs):
    said: list[str] = []
    with pytest.raises(Problem, match=r"This machine has no CUDA GPU|There is no cuda:99 here"):
        evaluate_images(workspace, 1, photographs, device="cuda:99", progress=lambda text, *_: said.append(text))
    assert said == ["Loading the network"]


@pytest.mark.parametrize(
    ("images", "reason"), [((4,), "Only images of one class can be read"), ((1, 1, 1), "No class has two images")]
)
def test_images_in_which_nothing_could_be_found_are_refused_with_the_reason(workspace, tmp_path, images, reason):
    for number, count in enumerate(images):
        (tmp_path / "few" / str(number)).mkdir(parents=True)
        for row in range(count):
            Image.new("RGB", (20, 20), (row * 40, number, 9)).save(tmp_path / "few" / str(number) / f"{row}.png")
    with pytest.raises(Problem, match=f"{reason}.*Nothing was tested"):
        evaluate_images(workspace, 1, tmp_path / "few")


def test_every_refusal_says_that_nothing_was_tested(workspace, photographs, tmp_path, monkeypatch):
    (tmp_path / "list.csv").write_text("path,label\nnowhere/1.png,yew\n", encoding="utf-8")
    with pytest.raises(Problem, match="Nothing was tested") as refused:
        evaluate_images(workspace, 1, tmp_path / "list.csv")
    assert "imported" not in str(refused.value)
    assert "started" not in str(refused.value)
    monkeypatch.setattr(workspace, "read_only", True)
    with pytest.raises(Problem, match=r"open for reading only\. Nothing was tested"):
        evaluate_images(workspace, 1, photographs)


def test_a_test_without_its_evaluation_says_so(workspace, photographs):
    made = evaluate_images(workspace, 1, photographs)
    with workspace.writing() as db:
        db.execute("delete from evaluations where run_id = ?", (made.run_id,))
    with pytest.raises(Problem, match=f"Run {made.run_id} has no evaluation. Test the run that trained its network"):
        search(workspace, made.run_id, [OwnImage("mine", photographs / "yew" / "3.png")])


def test_embeddings_of_another_network_are_not_compared(workspace, photographs):
    """A workspace from elsewhere may name another network of its own as the one that was tested."""
    made = evaluate_images(workspace, 1, photographs)
    stored = [np.load(path) for path in sorted(workspace.folder(made.run_id).glob("embeddings-*.npy"))][-1]
    with pytest.raises(Problem, match=f"have {stored.shape[1] + 1:,} dimensions, the stored ones {stored.shape[1]:,}"):
        nearest(
            np.ones(stored.shape[1] + 1), (np.arange(len(stored)), np.zeros(len(stored)), stored), "cosine", None, 1
        )


def test_a_test_of_a_network_whose_checkpoints_were_deleted_says_when(workspace, photographs):
    made = evaluate_images(workspace, 1, photographs)
    home = workspace.folder(1)
    kept = {path: path.read_bytes() for path in home.glob("*.pt")}
    workspace.delete_checkpoints([1])
    try:
        with pytest.raises(Problem, match=r"network of run 1, whose checkpoints were deleted on 20.*Bring them back"):
            check_network(workspace, made.run_id)
    finally:
        for path, content in kept.items():
            path.write_bytes(content)


def test_without_the_networks_checkpoint_the_run_says_what_is_missing(workspace, photographs, monkeypatch):
    made = evaluate_images(workspace, 1, photographs)
    monkeypatch.setattr("workbench.running.search.image_search.files.digest", lambda path: "another")
    with pytest.raises(Problem, match="is a test of the network of run 1, which is no longer in this workspace"):
        kept_network(workspace, made.run_id)


@pytest.mark.parametrize("moment", [("Embedding the images", 0), ("Storing the run", 0), ("Storing the run", 1)])
def test_a_cancelled_test_leaves_no_run(workspace, photographs, moment):
    before = [run.id for run in workspace.runs()]

    def stop(text, done, total):
        if (text, done) == moment:
            raise Cancelled

    with pytest.raises(Cancelled):
        evaluate_images(workspace, 1, photographs, progress=stop)
    assert [run.id for run in workspace.runs()] == before


def test_two_images_of_a_test_are_compared_and_drawn_by_a_command(workspace, space, photographs, tmp_path):
    made = evaluate_images(workspace, 1, photographs)
    first, second = workspace.samples(workspace.run(made.run_id).dataset_id).ids[[0, 9]].tolist()
    words = ["-w", str(space), "--json", "--png", str(tmp_path / "new" / "pair.png")]
    compared = CliRunner().invoke(cli, ["pair", str(made.run_id), str(first), str(second), *words])
    assert compared.exit_code == 0, compared.output
    shown = json.loads(compared.stdout)
    ids, _, vectors = workspace.embeddings(workspace.evaluations(made.run_id)[-1].id)
    unit = {one: vector / np.linalg.norm(vector) for one, vector in zip(ids.tolist(), vectors, strict=True)}
    assert shown["similarity"] == pytest.approx(float(unit[first] @ unit[second]), abs=1e-4)
    assert shown["epoch"] == workspace.run(made.run_id).tested_epoch
    with Image.open(tmp_path / "new" / "pair.png") as picture:
        assert picture.size == (2 * SIDE + GAP, SIDE)
    of_file = CliRunner().invoke(
        cli, ["pair", "1", str(photographs / "yew" / "3.png"), str(second), "-w", str(space), "--epoch", "1"]
    )
    assert of_file.output.splitlines()[0].startswith("cosine similarity "), of_file.output
    paths = workspace.samples(workspace.run(made.run_id).dataset_id).paths
    by_path = CliRunner().invoke(cli, ["pair", str(made.run_id), paths[0], paths[9], "-w", str(space), "--json"])
    assert json.loads(by_path.stdout)["similarity"] == shown["similarity"]
    for wrong in (["5", str(second)], [str(first), "yew/none.png"]):
        missing = CliRunner().invoke(cli, ["pair", str(made.run_id), *wrong, "-w", str(space)])
        assert (missing.exit_code, "has no image " in missing.output) == (2, True)


def test_a_csv_list_is_tested_and_a_folder_without_classes_is_not(space, photographs, tmp_path):
    rows = ["path,label", *(f"{name}/{row}.png,{name}" for name in CLASSES[:2] for row in range(EACH))]
    (photographs / "list.csv").write_text("\n".join(rows), encoding="utf-8")
    said = CliRunner().invoke(cli, ["test", "1", str(photographs / "list.csv"), "-w", str(space), "--name", "Listed"])
    assert said.exit_code == 0, said.output
    assert "over 16 queries." in said.output
    (tmp_path / "empty").mkdir()
    said = CliRunner().invoke(cli, ["test", "1", str(tmp_path / "empty"), "-w", str(space)])
    assert said.exit_code == 1
    assert "There are no images in" in said.output
    assert "Nothing was tested." in said.output
