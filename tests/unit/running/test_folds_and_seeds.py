"""Folds and seeds as one experiment: what is run, what is told, and going on after an end in the middle."""

from dataclasses import replace
from math import nan
from types import SimpleNamespace

import numpy as np
import pytest

from workbench import files
from workbench.config import Choice, EvaluationParams, RunConfig, TrainingParams
from workbench.control import Cancelled, Control
from workbench.datasets.image_set import ImageSet
from workbench.datasets.split import ClassesParams, MLRCParams, classes, mlrc
from workbench.entries import catalog
from workbench.evaluation import retrieval_metrics, retrieve
from workbench.problem import Problem
from workbench.running import folds_and_seeds
from workbench.running.launch import make_job
from workbench.workspace import Workspace
from workbench.workspace.experiments import experiments
from workbench.workspace.repairs.repair import repair
from workbench.workspace.rows import Experiment

LABELS = np.repeat(np.arange(20), 3)


def made(labels=LABELS):
    names = [str(label) for label in range(int(labels.max()) + 1)]
    paths = [f"{label}/{row:03}.png" for row, label in enumerate(labels)]
    return ImageSet("made", None, paths, labels, names, 1, 8, lambda row: np.zeros((8, 8), np.uint8))


def config(**changes):
    values = {
        "name": "mlrc", "device": "cpu", "split": Choice(name="mlrc", params={"folds": 2}),
        "dataset": Choice(name="digits", params={"image_size": 8}),
        "backbone": Choice(name="conv4", params={"width": 8}),
        "training": TrainingParams(epochs=2, batch_size=32),
        "evaluation": EvaluationParams(probe_size=0, untrained=False),
    }  # fmt: skip
    return RunConfig(**{**values, **changes})


def test_the_folds_share_no_class_and_cover_the_training_half():
    held = []
    for fold in range(1, 5):
        split = mlrc(MLRCParams(fold=fold), made(), 0)
        halves = [set(LABELS[rows]) for rows in (split.train, split.validation, split.test)]
        assert halves[2] == set(range(10, 20))
        assert not halves[0] & halves[1]
        assert halves[0] | halves[1] == set(range(10))
        held.append(halves[1])
        assert split.classes_disjoint
    assert sorted(label for each in held for label in each) == list(range(10))


OFFICIAL = {
    "SOP": (["train"] * 36 + ["test"] * 24, None),
    "In-shop": (["train"] * 36 + ["query", "gallery", "gallery"] * 8, [True, False, False] * 8),
}


@pytest.mark.parametrize(("words", "asks"), OFFICIAL.values(), ids=OFFICIAL)
def test_folds_lie_inside_published_training_classes_and_queries_search_the_gallery(words, asks):
    images = replace(made(), official=words)
    for fold in range(1, 5):
        split = mlrc(MLRCParams(fold=fold), images, 0)
        assert set(LABELS[np.concatenate([split.train, split.validation])]) == set(range(12))
        assert not set(LABELS[split.train]) & set(LABELS[split.validation])
        assert split.test.tolist() == list(range(36, 60)), "every published query and gallery image, and no other"
        assert (split.is_query if asks is None else split.is_query.tolist()) == asks
        assert split.classes_disjoint


def test_published_halves_that_share_classes_do_not_make_folds():
    words = ["train", "test", "test"] * 20  # CUB's list of images
    split = mlrc(MLRCParams(fold=1), replace(made(), official=words), 0)
    assert set(LABELS[split.test]) == set(range(10, 20))


@pytest.mark.parametrize(
    ("params", "labels", "said"),
    [
        ({"fold": 0}, LABELS, "There is no fold 0: there are 4"),
        ({"fold": 5}, LABELS, "There is no fold 5: there are 4"),
        ({"fold": 1, "folds": 20}, LABELS, "10 training classes, too few for 20 folds"),
        ({"fold": 1, "folds": 5}, np.concatenate([np.arange(10), np.repeat(np.arange(10, 20), 3)]), "held out"),
    ],
)
def test_folds_that_cannot_be_made_are_a_sentence(params, labels, said):
    with pytest.raises(Problem, match=said):
        mlrc(MLRCParams(**params), made(labels), 0)


def test_a_share_of_the_training_classes_can_be_held_out():
    split = classes(ClassesParams(validation=0.2), made(), 0)
    assert sorted(set(LABELS[split.validation])) == [8, 9]
    assert "the best epoch is chosen on 2 others" in split.note
    assert classes(ClassesParams(), made(), 0).validation is None
    with pytest.raises(Problem, match="leaves none to train"):
        classes(ClassesParams(train_fraction=0.25, validation=0.5), made(np.repeat(np.arange(4), 2)), 0)


def test_every_seed_runs_every_fold():
    every = folds_and_seeds.children(config(seed=3, seeds=2))
    assert [(each.seed, each.fold) for each in every] == [(3, 1), (3, 2), (4, 1), (4, 2)]
    assert [each.config.name for each in every][1] == "mlrc, seed 3, fold 2"
    assert all(each.config.seeds == 1 for each in every)
    alone = config(name="n" * 200, split=Choice(name="mlrc", params={"fold": 2}))
    assert [each.config for each in folds_and_seeds.children(alone)] == [alone], "--resume finds it by its config"
    seeds = folds_and_seeds.children(config(split=Choice(name="random"), seeds=3))
    assert [each.config.seed for each in seeds] == [0, 1, 2]


def train(workspace, run_id, *, resume=False, stop_after=None):
    control = Control()

    def listen(event):
        if stop_after is not None and getattr(event, "done", 0) >= stop_after:
            control.interrupt()

    make_job(workspace, run_id, control, listen, resume=resume).start().join()
    return workspace.run(run_id)


def results(workspace):
    (experiment,) = experiments.every(workspace)
    return folds_and_seeds.conclude(workspace, experiment.id)


def test_an_experiment_that_ended_in_a_fold_goes_on_to_the_same_result(tmp_path):
    with Workspace(tmp_path / "whole", create=True) as whole:
        for run_id in folds_and_seeds.prepare(config(), whole):
            assert results(whole) is None
            assert train(whole, run_id).status == "done"
        (experiment,) = experiments.every(whole)
        for at in ("Reading the runs", "Finding the neighbours", "Storing the result"):
            with pytest.raises(Cancelled):
                folds_and_seeds.conclude(whole, experiment.id, cancelled_at(at))
            assert [stored.result for stored in experiments.every(whole)] == [{}]
        wanted = results(whole)
    with Workspace(tmp_path / "cut", create=True) as cut:
        first, second = folds_and_seeds.prepare(config(), cut)
        assert train(cut, first).status == "done"
        assert train(cut, second, stop_after=8).status == "stopped"
        assert results(cut) is None
        assert folds_and_seeds.unfinished(cut, config()) == (1, [second])
        cut.take_over(second)
        assert train(cut, second, resume=True).status == "done"
        assert results(cut) == wanted
        with pytest.raises(Problem, match="no unfinished experiment"):
            folds_and_seeds.unfinished(cut, config())
        (experiment,) = experiments.every(cut)
        assert experiment.result == wanted
        assert "| concatenated | 1 |" in folds_and_seeds.markdown(experiment)
        runs = experiments.runs_of(cut, experiment.id)
        best = [folds_and_seeds.best_evaluation(cut, run) for run in runs]
        assert wanted["separated"]["MAP@R"] == [each.metrics["MAP@R"] for each in best]
        parts = [cut.embeddings(each.id) for each in best]
        unit = [vectors / np.linalg.norm(vectors, axis=1, keepdims=True) for _, _, vectors in parts]
        both = retrieval_metrics(np.concatenate(unit, axis=1), parts[0][1])
        assert wanted["concatenated"][0]["MAP@R"] == pytest.approx(both["MAP@R"], abs=1e-4)


@pytest.mark.parametrize("folds", [False, True])
def test_only_the_table_of_folds_has_the_words_of_the_papers(folds):
    values = {"recall@1": [0.5, 0.7], "P@R": [0.4, 0.4], "MAP@R": [0.25, 0.35]}
    together = {"concatenated": [dict.fromkeys(values, 0.5)]} if folds else {}
    experiment = Experiment(1, "Birds", "", "", {"runs": 2, "separated": values, **together})
    head, _, first, *rest = folds_and_seeds.markdown(experiment).splitlines()
    assert ("over n runs, of concatenated folds over n seeds" in head) == folds
    assert head.endswith(" | n | R@1 % | P@R % | MAP@R % |")
    assert "mean ± SD" in head + first
    word = "separated" if folds else "mean ± SD over seeds"
    assert first == f"| {word} | 2 | 60.00 ± 14.14 | 40.00 ± 0.00 | 30.00 ± 7.07 |"
    assert len(rest) == folds


@pytest.mark.parametrize(
    ("values", "words"),
    [([nan, nan], "–"), ([nan], "–"), ([0.5, nan], "50.00 (1 of 2)"), ([0.5, 0.7, nan], "60.00 ± 14.14 (2 of 3)")],
)
def test_a_metric_that_is_no_number_in_some_runs_has_a_place_in_the_table(values, words):
    result = {"runs": len(values), "separated": {"recall@1": [0.5], "P@R": values, "MAP@R": [0.25]}}
    row = folds_and_seeds.markdown(Experiment(1, "Birds", "", "", result)).splitlines()[2]
    assert row.split(" | ")[3] == words


@pytest.mark.parametrize("distance", ["cosine", "l2"])
def test_concatenated_embeddings_of_queries_search_the_gallery_alone(monkeypatch, distance):
    labels, ids = np.repeat(np.arange(6), 4), np.arange(24)
    vectors = np.random.default_rng(0).normal(size=(24, 3)).astype(np.float32)
    asks = np.tile([True, False, False, False], 6)
    wanted = retrieve(vectors, labels, ids, is_query=asks, distance=distance)
    monkeypatch.setattr(folds_and_seeds, "read_r", lambda workspace, evaluation_id: wanted.r)
    workspace = SimpleNamespace(embeddings=lambda evaluation_id: (ids, labels, vectors))
    folds = [SimpleNamespace(id=1, distance=distance), SimpleNamespace(id=2)]
    found = folds_and_seeds.concatenated(workspace, folds)
    assert found == pytest.approx({name: wanted.metrics[name] for name in folds_and_seeds.REPORTED}, abs=1e-6)

    for at in ("Reading the embeddings", "Finding the neighbours"):
        with pytest.raises(Cancelled):
            folds_and_seeds.concatenated(workspace, folds, cancelled_at(at))


def cancelled_at(at):
    def progress(text, done, total):
        if text == at:
            raise Cancelled

    return progress


def test_the_best_epoch_is_chosen_on_the_classes_held_out(tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        run = train(workspace, folds_and_seeds.prepare(config(), workspace)[0])
        scores = {each.epoch: each.metrics["validation/MAP@R"] for each in workspace.evaluations(run.id)}
        assert run.best_epoch == max(scores, key=scores.get)
        assert workspace.scalars(run.id, "validation/MAP@R")[1].tolist() == pytest.approx(list(scores.values()))


def test_a_rebuilt_database_ties_the_runs_together_again(tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        folds_and_seeds.prepare(config(), workspace)
    for name in ("workspace.db", "workspace.db-wal", "workspace.db-shm"):
        (tmp_path / "space" / name).unlink(missing_ok=True)
    repair(tmp_path / "space")
    with Workspace(tmp_path / "space") as workspace:
        (experiment,) = experiments.every(workspace)
        assert (experiment.name, len(experiments.runs_of(workspace, experiment.id))) == ("mlrc", 2)


def test_seeds_beyond_the_largest_are_refused_before_a_run_is_made():
    known = catalog.at_first()
    last = config(split=Choice(name="random"), seed=2**31 - 2, seeds=2)
    assert last.check(known) == {}
    errors = last.model_copy(update={"seeds": 3}).check(known)
    assert errors == {"seeds": "3 seeds from 2147483646 on go beyond the largest, 2147483647: use 2 at most."}


def test_where_not_all_runs_can_be_made_there_is_none_and_no_experiment(tmp_path, monkeypatch):
    written, write = [], files.atomic_write

    def full(path):
        if path.name == "config.toml":
            written.append(path)
        if len(written) == 3:
            raise Problem("The disk is full.")
        return write(path)

    monkeypatch.setattr(files, "atomic_write", full)
    with Workspace(tmp_path / "space", create=True) as workspace:
        with pytest.raises(Problem, match="disk is full"):
            folds_and_seeds.prepare(RunConfig(seeds=4), workspace)
        assert workspace.runs() == []
        assert experiments.every(workspace) == []
        assert list((workspace.path / "runs").iterdir()) == []
        monkeypatch.undo()
        assert folds_and_seeds.prepare(RunConfig(seeds=2), workspace) == [1, 2], "the same again"
