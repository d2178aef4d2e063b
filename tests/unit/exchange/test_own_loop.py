"""A run of a training loop of the user's own: its numbers, its states, and what the rest of the program says of it."""

import json
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from time import monotonic, sleep
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from PIL import Image

from tests.waits import HANG
from workbench.charts import Chart, Marks
from workbench.cli import main
from workbench.comparing.grouping.groups import grouped
from workbench.comparing.grouping.more_seeds import why_none
from workbench.comparing.grouping.settings import settings_of
from workbench.config import KINDS, OWN_LOOP, BadConfig, RunConfig
from workbench.entries import catalog
from workbench.evaluation.quality import quality
from workbench.evaluation.retrieval import retrieve
from workbench.events import Progress
from workbench.exchange.formats import export_run
from workbench.exchange.own_loop import record_run, recorded_run
from workbench.problem import Problem
from workbench.reports.content.gathering import gather
from workbench.reports.content.provenance import command_of
from workbench.running.search.image_search import OwnImage, search
from workbench.workspace import Workspace
from workbench.workspace.arriving.ingest import ingest
from workbench.workspace.folders import travelling
from workbench.workspace.folders.travelling import AFTER_EPOCH
from workbench.workspace.owners import ownership
from workbench.workspace.paths import DATABASE
from workbench.workspace.recorder import Recorder
from workbench.workspace.repairs.repair import repair
from workbench.workspace.run_names import names_of

LABELS = ["dog", "cat", "owl", "cat", "dog", "owl", "cat", "dog", "owl", "owl"]
SETTINGS = {
    "seed": 3,
    "loss": {"name": "ce", "own field": np.float64(0.5)},
    "backbone": "ResNet of mine",
    "training": {"lr": 0.01, "batch_size": 16},
}


def vectors(seed=0, spread=0.7):
    """[10, 4] float32, nearer to those of their class."""
    classes = np.array([sorted(set(LABELS)).index(label) for label in LABELS])
    noise = np.random.default_rng(seed).normal(size=(len(LABELS), 4))
    return (np.eye(3, 4)[classes] + spread * noise).astype(np.float32)


def recorded(workspace, *, spreads=(0.9, 0.5, 0.7), **more):
    """A run of two epochs; returns its number."""
    with record_run(workspace, "Mine", LABELS, epochs=2, **more) as run:
        for epoch, spread in enumerate(spreads):
            for step in (4 * epoch + 1, 4 * epoch + 4):
                run.scalars(step, {"batch/loss": 2.0 / step, "own/norm": torch.tensor([1.5], requires_grad=True)})
            run.evaluate(epoch, vectors(epoch, spread))
    return run.id


def broken_off(run, error):
    """Record an epoch of four steps and half of the next; then the loop ends with that error."""
    with run:
        run.scalars(4, {"batch/loss": 1.0})
        run.evaluate(1, vectors())
        run.scalars(6, {"batch/loss": 9.0})
        raise error


def test_metrics_and_neighbours_are_those_of_a_trained_run(workspace):
    run_id = recorded(workspace)
    last = workspace.evaluations(run_id)[-1]
    ids, labels, stored = workspace.embeddings(last.id)
    np.testing.assert_array_equal(stored, vectors(2, 0.7))
    assert [workspace.dataset(workspace.run(run_id).dataset_id).class_name(label) for label in labels] == LABELS
    reference = retrieve(stored, labels, ids, ks=(1, 2, 4, 8))
    assert reference.metrics.items() <= last.metrics.items()
    for name, value in quality(stored, labels, ids, reference).items():
        assert last.metrics[name] == pytest.approx(value, nan_ok=True), name
    assert (last.epoch, last.step) == (2, 12)
    steps, values = workspace.scalars(run_id, "test/MAP@R")
    assert (steps.tolist(), values[-1]) == ([4, 8, 12], last.metrics["MAP@R"])


def test_the_run_is_done_with_its_curves_and_its_best_epoch(workspace):
    run = workspace.run(recorded(workspace, steps=8))
    assert (run.status, run.name, run.epoch, run.epochs) == ("done", "Mine", 2, 2)
    assert run.memory_bytes > 0
    steps, values = workspace.scalars(run.id, "own/norm")
    assert (steps.tolist(), set(values)) == ([1, 4, 5, 8, 9, 12], {1.5})
    every = [evaluation.metrics["MAP@R"] for evaluation in workspace.evaluations(run.id)]
    assert run.best["MAP@R"] == max(every)


def test_an_evaluation_may_say_its_step_and_epoch_0_is_before_training(workspace):
    with record_run(workspace, "Mine", LABELS, epochs=2) as run:
        run.scalars(4, {"batch/loss": 1.0})
        run.evaluate(1, vectors(1), step=7)
        run.evaluate(2, vectors(2))
        run.evaluate(0, vectors(3))
    assert [(one.epoch, one.step) for one in workspace.evaluations(run.id)] == [(0, 7), (1, 7), (2, 7)]
    assert workspace.run(run.id).epoch == 2
    with record_run(workspace, "Untrained", torch.tensor([4, 4, 7]), epochs=2) as run:
        run.evaluate(0, vectors()[:3])
    (only,) = workspace.evaluations(run.id)
    assert (workspace.run(run.id).epoch, only.epoch, only.step) == (0, 0, 0)
    assert workspace.dataset(workspace.run(run.id).dataset_id).class_names == ("4", "7")


def test_speed_and_time_left_are_those_of_the_last_seconds(workspace, monkeypatch):
    clock, seen = [100.0], []
    monkeypatch.setattr("workbench.exchange.own_loop.recorded_run.perf_counter", lambda: clock[0])
    monkeypatch.setattr(recorded_run, "Progress", lambda *facts: seen.append(facts) or Progress(*facts))
    with record_run(workspace, "Mine", LABELS, epochs=1, steps=40, settings=SETTINGS) as run:
        for clock[0], step in ((101.0, 2), (104.0, 8), (105.0, 9), (108.0, 24), (109.0, 50)):
            run.scalars(step, {"batch/loss": 1.0})
    assert [(step, total, speed, left) for step, total, speed, _, left in seen] == [
        (2, 40, 0.0, 0.0), (8, 40, 32.0, 16.0), (9, 40, 32.0, 15.5), (24, 40, 64.0, 4.0), (50, 50, 64.0, 0.0),
    ]  # fmt: skip
    steps, seconds = workspace.scalars(run.id, "system/seconds")
    assert (steps.tolist(), seconds.tolist()) == ([2, 8, 9, 24, 50], [1.0, 4.0, 5.0, 8.0, 9.0])


def test_a_loop_that_does_not_say_its_steps_or_batches_has_no_total_and_no_speed(workspace, monkeypatch):
    clock, seen = [100.0], []
    monkeypatch.setattr("workbench.exchange.own_loop.recorded_run.perf_counter", lambda: clock[0])
    monkeypatch.setattr(recorded_run, "Progress", lambda *facts: seen.append(facts) or Progress(*facts))
    with record_run(workspace, "Mine", LABELS, epochs=1) as run:
        for clock[0], step in ((104.0, 8), (108.0, 4)):  # the second is a step back
            run.scalars(step, {f"mine/{step}": 1.0})
        for refused in (lambda: run.scalars(-1, {}), lambda: run.evaluate(-1, vectors()), lambda: run.charts(-1, [])):
            with pytest.raises(ValueError, match=r"from 0 to [0-9,]+, not -1"):
                refused()
    assert [(step, total, speed, left) for step, total, speed, _, left in seen] == [(8, 0, 0.0, 0.0), (4, 0, 0.0, 0.0)]


def test_the_config_has_the_settings_that_were_given_and_no_others(workspace):
    run = workspace.run(recorded(workspace, settings=SETTINGS, data="Pets"))
    settings = settings_of(run.config, catalog.current())
    given = {name: value for name, value in settings.items() if value != "own loop"}
    assert given == {
        "dataset.title": "Pets", "backbone.name": "ResNet of mine", "loss.name": "ce", "loss.own field": 0.5,
        "training.lr": 0.01, "training.batch_size": 16, "training.epochs": 2,
    }  # fmt: skip
    assert (run.seed, run.backbone) == (3, "ResNet of mine")
    assert names_of(catalog.current(), run) == ("Pets", "ResNet of mine", "Cross-entropy (CE)")


def test_parts_that_no_setting_names_are_of_the_loop(workspace):
    config = RunConfig.recorded(workspace.run(recorded(workspace, settings={"loss": "ce"})).config)
    assert {kind: getattr(config, kind).name for kind in KINDS} == {**dict.fromkeys(KINDS, OWN_LOOP), "loss": "ce"}


def test_settings_may_be_numbers_of_numpy_and_stay_whole(workspace):
    settings = {"seed": np.int64(3), "loss": {"name": "mine", "sizes": (np.int32(2), 4), "margin": np.float32(0.5)}}
    run = workspace.run(recorded(workspace, settings=settings))
    assert (run.seed, RunConfig.recorded(run.config).loss.params) == (3, {"sizes": [2, 4], "margin": 0.5})


def test_runs_that_differ_in_the_seed_are_one_group(workspace):
    for seed in (0, 1):
        recorded(workspace, settings={"seed": seed, "loss": "mine"})
    recorded(workspace, settings={"seed": 0, "loss": "another"})
    groups = grouped(workspace.runs(), catalog.current())
    assert sorted(sorted(group.seeds) for group in groups) == [[0], [0, 1]]


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"training": {"lr": -1.0}}, "training.lr"),
        ({"training": {"learning_rate": 0.1}}, "training.learning_rate"),
        ({"device": "cpu"}, "device"),
        ({"loss": {"name": "mine", "margin": None}}, "loss.margin"),
    ],
)
def test_a_setting_that_no_config_has_is_refused_before_there_is_a_run(workspace, settings, field):
    with pytest.raises(BadConfig) as refused:
        recorded(workspace, settings=settings)
    assert list(refused.value.errors) == [field]
    assert not workspace.runs()


def test_labels_that_leave_nothing_to_find_are_refused_before_there_is_a_run(workspace):
    with pytest.raises(Problem, match=r"No class of labels has two samples\."):
        record_run(workspace, "Mine", ["a", "b"], epochs=1)
    with pytest.raises(Problem, match=r"There are no labels\."):
        record_run(workspace, "Mine", [], epochs=1)
    with pytest.raises(Problem, match="There are 3 labels, but 2 paths"):
        record_run(workspace, "Mine", [0, 0, 1], epochs=1, paths=["1.png", "2.png"])
    assert not workspace.runs()


def test_an_error_of_the_loop_is_told_and_what_came_before_is_kept(workspace):
    with pytest.raises(RuntimeError, match="CUDA"):
        broken_off(record_run(workspace, "Mine", LABELS, epochs=3), RuntimeError("CUDA out of memory"))
    (stored,) = workspace.runs()
    assert (stored.status, stored.problem, stored.epoch) == ("failed", "RuntimeError: CUDA out of memory", 1)
    assert len(workspace.evaluations(stored.id)) == 1


def test_ctrl_c_stops_the_run(workspace):
    with pytest.raises(KeyboardInterrupt):
        broken_off(record_run(workspace, "Mine", LABELS, epochs=3), KeyboardInterrupt())
    (stored,) = workspace.runs()
    assert (stored.status, stored.problem) == ("stopped", "")


def test_a_program_that_was_killed_leaves_an_interrupted_run(workspace):
    run = record_run(workspace, "Mine", LABELS, epochs=3)
    run.evaluate(1, vectors())
    with workspace.writing() as db:
        db.execute("update runs set pid = 999999999 where id = ?", (run.id,))
    assert workspace.sweep_dead_runs() == [run.id]
    assert (workspace.run(run.id).status, workspace.run(run.id).problem) == ("interrupted", ownership.GONE)
    run.end()


@pytest.mark.parametrize(
    ("embeddings", "error", "words"),
    [
        (np.ones((9, 4)), ValueError, r"shape \[9, 4\], not \[10, d\]"),
        (np.ones(10), ValueError, r"shape \[10\], not \[10, d\]"),
        (np.full((10, 4), 1e39), Problem, "not finite: training has diverged"),
        (np.full((10, 4), np.nan), Problem, "not finite: training has diverged"),
    ],
)
def test_embeddings_that_cannot_be_measured_are_refused(workspace, embeddings, error, words):
    with record_run(workspace, "Mine", LABELS, epochs=1) as run:
        with pytest.raises(error, match=words):
            run.evaluate(1, embeddings)
        run.evaluate(1, vectors())
    assert workspace.run(run.id).status == "done"


def test_tensors_and_class_vectors_are_stored_as_they_are(workspace):
    weight = torch.nn.Parameter(torch.arange(8.0).reshape(2, 4))
    with record_run(workspace, "Mine", LABELS, epochs=1) as run:
        run.evaluate(1, torch.tensor(vectors(), requires_grad=True), class_vectors=weight, class_labels=["owl", "cat"])
        with pytest.raises(ValueError, match="No test image has the class 'fox'"):
            run.evaluate(1, vectors(), class_vectors=weight, class_labels=["owl", "fox"])
        with pytest.raises(ValueError, match="Class vectors of 3 dimensions beside embeddings of 4"):
            run.evaluate(1, vectors(), class_vectors=weight[:, :3], class_labels=["owl", "cat"])
    (evaluation,) = workspace.evaluations(run.id)
    stored, classes = workspace.proxies(evaluation.id)
    np.testing.assert_array_equal(stored, weight.detach().numpy())
    assert classes.tolist() == [2, 0]


def test_embeddings_on_a_gpu_are_searched_there(workspace, monkeypatch):
    asked = []

    def heard(*arguments, device, **more):
        asked.append(device)
        return retrieve(*arguments, **more)

    class OnGpu:
        device = torch.device("cuda:1")

        def detach(self):
            return torch.tensor(vectors())

    monkeypatch.setattr("workbench.evaluation.retrieval.retrieve", heard)
    with record_run(workspace, "Mine", LABELS, epochs=1) as run:
        run.evaluate(1, OnGpu())
        run.evaluate(1, torch.tensor(vectors()))
        run.evaluate(1, vectors())
    assert asked == ["cuda:1", "cpu", "cpu"]


def test_by_hyperbolic_distance_embeddings_are_points_in_the_ball(workspace):
    settings = {"evaluation": {"distance": "hyperbolic"}}
    points = 0.9 * vectors() / np.linalg.norm(vectors(), axis=1, keepdims=True).max()
    with record_run(workspace, "Mine", LABELS, epochs=1, settings=settings) as run:
        with pytest.raises(ValueError, match="shorter than 1"):
            run.evaluate(1, vectors() / 0.001)
        metrics = run.evaluate(1, points)
    (evaluation,) = workspace.evaluations(run.id)
    ids, labels, stored = workspace.embeddings(evaluation.id)
    assert evaluation.distance == "hyperbolic"
    assert metrics["MAP@R"] == retrieve(stored, labels, ids, distance="hyperbolic").metrics["MAP@R"]


def test_images_that_are_no_queries_are_only_searched(workspace):
    queries = [row < 4 for row in range(10)]
    with record_run(workspace, "Mine", LABELS, epochs=1, queries=queries) as run:
        metrics = run.evaluate(1, vectors())
    assert metrics["queries"] == 4


def test_an_image_that_cannot_be_read_is_left_out_with_its_embedding(workspace, tmp_path):
    folder = tmp_path / "images"
    folder.mkdir()
    for row in range(10):
        Image.fromarray(np.full((9, 7, 3), row, np.uint8)).save(folder / f"{row}.png")
    (folder / "2.png").write_bytes(b"no image")
    paths = [folder / f"{row}.png" for row in range(10)]
    with record_run(workspace, "Mine", LABELS, epochs=1, paths=paths, images=str(folder), image_size=16) as run:
        run.evaluate(1, vectors())
    (evaluation,) = workspace.evaluations(run.id)
    _, labels, stored = workspace.embeddings(evaluation.id)
    order = [row for row in range(10) if row != 2]
    np.testing.assert_array_equal(stored, vectors()[order])
    assert len(labels) == 9
    assert workspace.run(run.id).environment["data"]["left_out"][0][0] == "2.png"
    dataset_id = workspace.run(run.id).dataset_id
    last = int(workspace.samples(dataset_id).ids[-1])
    assert workspace.pictures(dataset_id).thumbnail(last).mean() == pytest.approx(9, abs=1)


def test_pixels_in_memory_are_shown(workspace):
    pixels = np.arange(10, dtype=np.uint8)[:, None, None] * np.ones((10, 8, 8), np.uint8)
    run_id = recorded(workspace, images=pixels)
    data = workspace.dataset(workspace.run(run_id).dataset_id)
    assert (data.image_size, data.channels) == (8, 1)
    other = recorded(workspace, images=pixels + 1)
    assert workspace.run(other).dataset_id != workspace.run(run_id).dataset_id


def test_only_the_best_and_the_last_evaluation_stay_if_that_is_asked(workspace):
    settings = {"evaluation": {"keep": "best and last"}}
    run_id = recorded(workspace, settings=settings, spreads=(0.9, 0.1, 0.5, 0.7))
    assert [evaluation.epoch for evaluation in workspace.evaluations(run_id)] == [0, 1, 3]
    assert len(workspace.scalars(run_id, "test/MAP@R")[0]) == 4


def test_a_run_is_resumed_from_its_step(workspace):
    recorded(workspace)  # the same loop, done
    run = record_run(workspace, "Mine", LABELS, epochs=2)
    with pytest.raises(KeyboardInterrupt):
        broken_off(run, KeyboardInterrupt())
    with record_run(workspace, "Mine", LABELS, epochs=2, resume=True, step=4) as again:
        assert again.id == run.id
        again.scalars(6, {"batch/loss": 0.5})
        again.evaluate(2, vectors(1))
    steps, values = workspace.scalars(run.id, "batch/loss")
    assert (steps.tolist(), values.tolist()) == ([4, 6], [1.0, 0.5])
    assert [evaluation.epoch for evaluation in workspace.evaluations(run.id)] == [1, 2]
    assert workspace.run(run.id).status == "done"


def test_a_run_is_not_resumed_with_other_settings_or_data_or_while_it_works(workspace):
    with record_run(workspace, "Mine", LABELS, epochs=2) as run, pytest.raises(Problem, match="is still working"):
        record_run(workspace, "Mine", LABELS, epochs=2, resume=True)
    with pytest.raises(Problem, match="There is no unfinished run of this loop with these settings"):
        record_run(workspace, "Mine", LABELS, epochs=2, resume=True)
    stopped = record_run(workspace, "Mine", LABELS, epochs=3)
    stopped.end("stopped")
    with pytest.raises(Problem, match="The data set has changed"):
        record_run(workspace, "Mine", LABELS[::-1], epochs=3, resume=True)
    assert [workspace.run(number).status for number in (run.id, stopped.id)] == ["done", "stopped"]


def test_a_run_folder_is_brought_into_a_workspace(workspace, tmp_path):
    folder = tmp_path / "folder"
    with pytest.raises(KeyboardInterrupt):
        broken_off(record_run(str(folder), "Mine", LABELS, epochs=2, settings=SETTINGS), KeyboardInterrupt())
    with pytest.raises(Problem, match=r"The folder .* is not empty\."):
        record_run(folder, "Mine", LABELS, epochs=2, settings=SETTINGS)
    with pytest.raises(ValueError, match="A run folder has no other run"):
        record_run(tmp_path / "another", "Mine", LABELS, epochs=2, same_data_as=1)
    assert not (tmp_path / "another").exists()
    with pytest.raises(Problem, match=r"was not begun by this loop with these settings\."):
        record_run(folder, "Mine", LABELS, epochs=2, resume=True)
    with pytest.raises(Problem, match="The data set has changed"):
        record_run(folder, "Mine", LABELS[::-1], epochs=2, settings=SETTINGS, resume=True)
    with record_run(folder, "Mine", LABELS, epochs=2, settings=SETTINGS, resume=True, step=4) as run:
        with pytest.raises(Problem, match="Another process is working on the run"):
            record_run(folder, "Mine", LABELS, epochs=2, settings=SETTINGS, resume=True)
        run.scalars(8, {"batch/loss": 0.5})
        last = run.evaluate(2, vectors(1))
    ingest(workspace, folder)
    (brought,) = workspace.runs()
    assert (brought.status, brought.epoch, brought.seed, brought.backbone) == ("done", 2, 3, "ResNet of mine")
    assert workspace.scalars(brought.id, "batch/loss")[0].tolist() == [4, 8]
    assert workspace.evaluations(brought.id)[-1].metrics == last
    assert brought.environment["own_loop"]["program"]


def test_queries_are_compared_with_those_of_a_run_on_the_same_data(workspace, stored_run):
    (first, *_), samples = workspace.evaluations(stored_run), workspace.samples(workspace.run(stored_run).dataset_id)
    data, rows = workspace.dataset(workspace.run(stored_run).dataset_id), [7, 2, 5, 0, 3, 9]
    paths = [samples.paths[row] for row in rows]
    labels = [data.class_name(int(samples.labels[row])) for row in rows]
    with record_run(workspace, "Mine", labels, epochs=1, paths=paths, same_data_as=stored_run) as run:
        run.evaluate(1, vectors()[:6])
    mine = workspace.run(run.id)
    assert (mine.dataset_id, mine.images) == (data.id, workspace.run(stored_run).images)
    ids, _, stored = workspace.embeddings(workspace.evaluations(run.id)[0].id)
    assert ids.tolist() == [int(samples.ids[row]) for row in rows]
    np.testing.assert_array_equal(stored, vectors()[:6])
    assert set(ids) <= set(workspace.queries(first.id).sample_ids)
    one_of_each = [labels.index(name) for name in sorted(set(labels))]
    for rows, words in ((one_of_each, "No class of labels has two samples"), ([0, 0], "All 2 labels .* are the same")):
        some, their_paths = [labels[row] for row in rows], [paths[row] for row in rows]
        with pytest.raises(Problem, match=words):
            record_run(workspace, "Mine", some, epochs=1, paths=their_paths, same_data_as=stored_run)
    with pytest.raises(Problem, match="There are 6 labels, but 5 paths"):
        record_run(workspace, "Mine", labels, epochs=1, paths=paths[:5], same_data_as=stored_run)
    with pytest.raises(Problem, match="has no image nowhere/at all"):
        record_run(workspace, "Mine", labels, epochs=1, paths=["nowhere/at all", *paths[1:]], same_data_as=stored_run)
    with pytest.raises(Problem, match=f"but {labels[0]} in run {stored_run}"):
        record_run(workspace, "Mine", ["other", *labels[1:]], epochs=1, paths=paths, same_data_as=stored_run)
    with workspace.writing() as db:
        db.execute("delete from samples")
    with pytest.raises(Problem, match=f"The data set of run {stored_run} has no images"):
        record_run(workspace, "Mine", labels, epochs=1, paths=paths, same_data_as=stored_run)


def nested(depth):
    """A section in a section, and so on."""
    return {"a": nested(depth - 1)} if depth else 1


@pytest.mark.parametrize(
    ("field", "words"),
    [
        (float("nan"), r"loss\.own: Must be a number, .* not nan"),
        ([1.0, np.float32("nan")], r"loss\.own: Must be a number, .* not nan"),
        (nested(150), "Must be nested at most 100 times"),
        ("\ud800", "is not Unicode text"),
        ({"\ud800": 1}, "is not Unicode text"),
    ],
)
def test_settings_that_could_not_be_read_again_are_refused(workspace, field, words):
    with pytest.raises((BadConfig, ValueError), match=words):
        record_run(workspace, "Mine", LABELS, epochs=1, settings={"loss": {"name": "mine", "own": field}})
    assert workspace.runs() == []


def test_charts_and_notes_are_stored(workspace):
    chart = Chart("Lengths", "class", (Marks("length", "bars", (0.0, 1.0), (2.0, 3.0)),))
    with record_run(workspace, "Mine", LABELS, epochs=1) as run:
        run.scalars(1, {"batch/loss": 1.0})
        run.charts(1, [chart])
        run.note("The warm-up was longer.")
    assert workspace.charts(run.id, 1) == [chart]
    assert "The warm-up was longer." in workspace.run(run.id).note


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "x" * 201, 3])
def test_a_curve_needs_a_name_that_can_be_shown(workspace, name):
    with record_run(workspace, "Mine", LABELS, epochs=1) as run, pytest.raises(ValueError, match="cannot be called"):
        run.scalars(1, {name: 1.0})


def test_the_report_names_the_program_and_the_settings_that_are_known(workspace):
    run_id = recorded(workspace, settings=SETTINGS)
    content = gather(workspace, run_id, ("summary", "settings"), "")
    assert any("The user's own training loop recorded it" in sentence for sentence in content.summary)
    assert {f"{setting.section}.{setting.name}" for setting in content.settings} == {
        "run.name", "run.seed", "dataset.name", "backbone.name", "loss.name", "loss.own field", "training.epochs",
        "training.lr", "training.batch_size",
    }  # fmt: skip
    assert command_of(workspace.run(run_id)).startswith("python ")
    with workspace.writing() as db:
        db.execute("update runs set environment = ?", (json.dumps({"own_loop": {"program": "-cimport this"}}),))
    assert command_of(workspace.run(run_id)) == "python './-cimport this'", "nobody pastes code of a stranger"


def test_its_curves_embeddings_and_settings_are_exported_and_its_network_is_not_here(workspace, tmp_path):
    run_id = recorded(workspace, settings=SETTINGS)
    assert {path.name for path in export_run(workspace, run_id, ["config", "csv", "npy"], tmp_path)} >= {
        "config.toml", "scalars.csv", "embeddings.npy",
    }  # fmt: skip
    for name in ("trained", "torch"):
        with pytest.raises(Problem, match=rf"^The network of run {run_id} is only in the program that recorded it, .*"):
            export_run(workspace, run_id, [name], tmp_path)


def test_it_can_neither_be_trained_here_nor_embed_an_image(workspace):
    run = workspace.run(recorded(workspace))
    config = RunConfig.recorded(run.config)
    assert config.check(catalog.current()) == {
        "dataset.name": "The run was recorded by your own training loop: start it there."
    }
    assert why_none(run, catalog.current()) == "your own training loop recorded it"
    with pytest.raises(Problem, match="recorded by your own training loop: its network is not here"):
        search(workspace, run.id, [OwnImage("query", np.zeros((8, 8, 3), np.uint8))])


def test_nothing_is_begun_in_a_workspace_that_is_open_for_reading_only(workspace, monkeypatch):
    monkeypatch.setattr(workspace, "read_only", True)
    with pytest.raises(Problem, match="open for reading only"):
        record_run(workspace, "Mine", LABELS, epochs=1)


@pytest.mark.parametrize("whole", [np.int64, torch.tensor])
def test_steps_and_epochs_may_be_numbers_of_numpy_or_tensors(workspace, whole):
    with record_run(workspace, "Mine", LABELS, epochs=1) as run:
        run.scalars(whole(3), {"batch/loss": 1.0})
        run.evaluate(whole(1), vectors(), step=whole(4))
    assert workspace.scalars(run.id, "batch/loss")[0].tolist() == [3]
    assert [(evaluation.epoch, evaluation.step) for evaluation in workspace.evaluations(run.id)] == [(1, 4)]
    assert workspace.run(run.id).status == "done"


@pytest.mark.parametrize("step", [1.5, "3", None, float("nan"), -1, 2**70])
def test_a_step_that_is_no_number_of_steps_is_refused_and_the_run_goes_on(workspace, step):
    with record_run(workspace, "Mine", LABELS, epochs=1) as run:
        run.scalars(1, {"batch/loss": 1.0})
        with pytest.raises((TypeError, ValueError), match="A step is a"):
            run.scalars(step, {"batch/loss": 2.0})
        with pytest.raises((TypeError, ValueError), match="An epoch is a"):
            run.evaluate(step, vectors())
    assert workspace.run(run.id).status == "done"
    assert workspace.scalars(run.id, "batch/loss")[0].tolist() == [1]


@pytest.mark.parametrize("value", [None, "1.5", [1.0], np.ones(2), torch.ones(2), 1j, torch.tensor(1j), 10**400])
def test_a_value_that_is_no_number_is_refused_with_all_of_its_step(workspace, value):
    with record_run(workspace, "Mine", LABELS, epochs=1) as run:
        with pytest.raises(TypeError, match="The point of mine is"):
            run.scalars(1, {"batch/loss": 1.0, "mine": value})
        run.scalars(2, {"batch/loss": np.ones(1), "mine": torch.tensor(16777217)})
    assert workspace.scalars(run.id, "batch/loss")[0].tolist() == [2]
    assert workspace.scalars(run.id, "mine")[1].tolist() == [16777217.0]


@pytest.mark.parametrize("name", ["system/seconds", "test/MAP@R", "test/recall@8"])
def test_a_curve_that_workbench_records_is_not_mixed_with_one_of_the_loop(workspace, name):
    with record_run(workspace, "Mine", LABELS, epochs=1) as run:
        with pytest.raises(ValueError, match=f"Workbench records the curve {name} itself"):
            run.scalars(1, {name: 1.0})
        run.evaluate(1, vectors(), step=1)
        run.scalars(2, {"test/recall@3": 0.5})
    assert workspace.scalars(run.id, "test/MAP@R")[0].tolist() == [1]


def test_labels_of_one_class_are_the_same_however_they_are_written(workspace):
    numbers = [0, 1, 2, 0, 1, 2, 0, 1, 2, 0]
    for labels in (np.array(numbers, float), torch.tensor(numbers), [torch.tensor(number) for number in numbers]):
        with record_run(workspace, "Mine", labels, epochs=1) as run:
            run.evaluate(1, vectors(), class_vectors=np.eye(3, 4), class_labels=range(3))
        data = workspace.dataset(workspace.run(run.id).dataset_id)
        assert data.class_names == ("0", "1", "2")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"labels": [b"a", b"b"] * 5}, "A label is a number or a name, not b'a'"),
        ({"labels": [None, "b"] * 5}, "A label is a number or a name, not None"),
        ({"labels": [[0], [1]] * 5}, r"A label is a number or a name, not \[0\]"),
        ({"labels": [float("nan"), 1] * 5}, "A label is a number or a name, not nan"),
        ({"labels": ["\udce9", "b"] * 5}, "is not Unicode text"),
        ({"labels": None}, "with one for each image, not None"),
        ({"labels": "abcabcabca"}, "with one for each image, not 'abcabcabca'"),
        ({"settings": [("seed", 1)]}, "`settings` is a dictionary of sections"),
        ({"data": 5}, "`name` and `data` are text"),
        ({"labels": []}, r"There are no labels\. Nothing was started"),
        ({"labels": ["a"] * 10}, r"are the same, a\. Nothing was started"),
        ({"paths": ["a/1.jpg", "./a/1.jpg", *map(str, range(8))]}, r"The path a/1\.jpg is there more than once"),
        ({"paths": ["/a.jpg", *map(str, range(9))]}, r"does not lie in a folder of images\. Nothing was started"),
        ({"paths": ["\udce9.jpg", *map(str, range(9))]}, "is not Unicode text"),
        ({"images": np.zeros((9, 8, 8), np.uint8)}, "There are 10 labels, but 9 images"),
        ({"images": np.zeros((10, 8, 8))}, r"`images` is float64 \[10, 8, 8\]: write uint8"),
        ({"images": torch.zeros(10, 8, 8, dtype=torch.uint8)}, "an array of NumPy, not Tensor"),
        ({"images": "."}, r"belongs to which label is not known\. Nothing was started\. Give `paths`"),
        ({"images": ".", "image_size": 0}, "The size of images is a number from 8 to 1,024, not 0"),
        ({"queries": range(10)}, "True or False for each of the 10 images"),
        ({"queries": [True]}, "True or False for each of the 10 images"),
        ({"queries": [False] * 10}, "has no query"),
        ({"steps": 1.5}, "The number of steps is a whole number"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_before_there_is_a_run(workspace, arguments, words):
    with pytest.raises((Problem, TypeError, ValueError), match=words):
        record_run(workspace, "Mine", **{"labels": LABELS, "epochs": 1, **arguments})
    assert not workspace.runs()


def test_a_run_is_recorded_into_a_workspace_or_a_folder():
    with pytest.raises(TypeError, match="into a workspace or a new folder, not None"):
        record_run(None, "Mine", LABELS, epochs=1)


def test_an_end_of_another_name_is_refused_and_the_run_goes_on(workspace):
    with record_run(workspace, "Mine", LABELS, epochs=1) as run:
        with pytest.raises(ValueError, match="ends as done, stopped, failed, not as 'finished'"):
            run.end("finished")
        run.scalars(1, {"batch/loss": 1.0})
    assert workspace.run(run.id).status == "done"


def test_a_path_to_a_workspace_is_no_new_folder(workspace):
    with pytest.raises(Problem, match=r"is a workspace, not a new folder\. Nothing was started\. Open it"):
        record_run(workspace.path, "Mine", LABELS, epochs=1)


@pytest.mark.parametrize(
    "embeddings", [vectors() + 1j, torch.tensor(vectors() + 1j), [["a", "b"]] * 10, [[object()]] * 10]
)
def test_embeddings_that_are_no_real_numbers_are_refused(workspace, embeddings):
    with record_run(workspace, "Mine", LABELS, epochs=1) as run, pytest.raises(TypeError, match="are not real numbers"):
        run.evaluate(1, embeddings)


def test_embeddings_may_be_a_list_of_tensors_that_have_gradients(workspace):
    with record_run(workspace, "Mine", LABELS, epochs=1) as run:
        run.evaluate(1, list(torch.tensor(vectors(), requires_grad=True)))
        with pytest.raises(ValueError, match="The rows of the embeddings differ in length"):
            run.evaluate(1, [[1.0, 2.0], [3.0]] * 5)
    np.testing.assert_array_equal(workspace.embeddings(workspace.evaluations(run.id)[0].id)[2], vectors())


def test_nothing_is_recorded_once_the_run_has_ended(workspace):
    with record_run(workspace, "Mine", LABELS, epochs=1) as run:
        run.scalars(1, {"batch/loss": 1.0})
    for record in (
        lambda: run.scalars(2, {"batch/loss": 1.0}),
        lambda: run.evaluate(1, vectors()),
        lambda: run.note(""),
    ):
        with pytest.raises(Problem, match="The run “Mine” has ended"):
            record()
    assert workspace.scalars(run.id, "batch/loss")[0].tolist() == [1]


@pytest.mark.parametrize("at_once", [True, False])
def test_the_last_of_two_points_at_a_step_stays_also_in_a_repaired_workspace(workspace, monkeypatch, at_once):
    monkeypatch.setattr("workbench.workspace.recorders.recording.COMMIT_EVERY", 1e9 if at_once else -1.0)
    with record_run(workspace, "Mine", LABELS, epochs=1) as run:
        for value in (1.0, 2.0, 1.0, 3.0):
            run.scalars(4, {"batch/loss": value, "mine": 5.0})
        run.scalars(5, {"batch/loss": 0.5})
    path, expected = workspace.path, ([4, 5], [3.0, 0.5])
    assert [numbers.tolist() for numbers in workspace.scalars(run.id, "batch/loss")] == list(expected)
    workspace.close()
    (path / DATABASE).write_bytes(b"no database" * 500)
    repair(path)
    with Workspace(path) as repaired:
        assert [numbers.tolist() for numbers in repaired.scalars(run.id, "batch/loss")] == list(expected)
        assert repaired.scalars(run.id, "mine")[0].tolist() == [4]


def test_a_resumed_curve_has_one_point_at_a_step_whatever_step_the_loop_says_it_goes_on_from(workspace, monkeypatch):
    monkeypatch.setattr("workbench.workspace.recorders.recording.COMMIT_EVERY", -1.0)
    with record_run(workspace, "Mine", LABELS, epochs=2) as run:
        for step in range(1, 5):
            run.scalars(step, {"batch/loss": 1.0})
        run.end("stopped")
    with record_run(workspace, "Mine", LABELS, epochs=2, resume=True, step=4) as again:
        for step in (2, 3, 4, 5):
            again.scalars(step, {"batch/loss": 2.0})
    steps, values = workspace.scalars(run.id, "batch/loss")
    assert (steps.tolist(), values.tolist()) == ([1, 2, 3, 4, 5], [1.0, 2.0, 2.0, 2.0, 2.0])


def test_a_step_that_goes_back_is_refused_and_the_run_goes_on(workspace):
    with record_run(workspace, "Mine", LABELS, epochs=1) as run:
        run.scalars(1_200, {"batch/loss": 1.0})
        with pytest.raises(ValueError, match=r"Step 0 of batch/loss comes after step 1,200: count steps on over all"):
            run.scalars(0, {"mine": 1.0, "batch/loss": 2.0})
        run.scalars(1_100, {"another": 1.0})
    assert workspace.scalars(run.id, "batch/loss")[0].tolist() == [1_200]
    assert workspace.scalar_names(run.id) == ["another", "batch/loss", "system/seconds"]
    assert workspace.scalars(run.id, "system/seconds")[0].tolist() == [1_200]


def test_a_loop_that_looks_is_asked_to_stop(workspace, monkeypatch):
    monkeypatch.setattr(recorded_run, "LOOK_EVERY", -1.0)
    with record_run(workspace, "Mine", LABELS, epochs=3) as run:
        run.scalars(1, {"batch/loss": 1.0})
        with pytest.raises(Problem, match=r"cannot be asked to stop.*Stop it in the program that records it\."):
            workspace.ask_to_stop(run.id)
        assert not run.stop_asked
        assert workspace.run(run.id).looks_for_stop
        assert not workspace.run(run.id).loop_asked_to_stop
        workspace.ask_to_stop(run.id)
        assert workspace.run(run.id).loop_asked_to_stop
        assert run.stop_asked
    assert workspace.run(run.id).status == "stopped"
    with pytest.raises(Problem, match="cannot be asked to stop"):
        workspace.ask_to_stop(run.id)
    with record_run(workspace, "Mine", LABELS, epochs=3, resume=True, step=1) as again:
        assert not workspace.run(run.id).looks_for_stop
        assert not again.stop_asked
    assert workspace.run(run.id).status == "done"


def test_a_look_that_the_workspace_refuses_ends_no_training(workspace, monkeypatch):
    def refused(*_):
        raise Problem("The disk is full.")

    with record_run(workspace, "Mine", LABELS, epochs=1) as run, monkeypatch.context() as disk:
        disk.setattr(Recorder, "stop_asked", refused)
        assert not run.stop_asked
    assert workspace.runs()[0].status == "done"


def test_the_loop_of_a_run_folder_can_be_asked_to_stop_from_a_workspace(workspace, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(recorded_run, "LOOK_EVERY", 0.0)
    folder = tmp_path / "folder"
    bring = ["ingest", str(folder), "--workspace", str(workspace.path)]
    with record_run(folder, "Mine", LABELS, epochs=3) as run:
        run.evaluate(0, vectors())
        assert main(bring) == 0
        with pytest.raises(Problem, match="cannot be asked to stop"):
            workspace.ask_to_stop(1)
        assert not run.stop_asked
        assert main(bring) == 0
        assert not run.stop_asked, "nobody has asked"
        workspace.ask_to_stop(1)
        capsys.readouterr()
        assert main(bring) == 0
        assert f"Run 1 was asked to stop, by the file {folder / AFTER_EPOCH}." in capsys.readouterr().out
        assert run.stop_asked
        assert main(bring) == 0
        assert "asked to stop" not in capsys.readouterr().out, "it is said once"
    assert main(bring) == 0
    assert workspace.run(1).status == "stopped"
    assert not workspace.run(1).loop_asked_to_stop
    with record_run(folder, "Mine", LABELS, epochs=3, resume=True) as again:
        assert not again.stop_asked
    assert main(bring) == 0
    assert workspace.run(1).status == "done"


def test_a_request_that_cannot_be_written_to_the_folder_is_said(workspace, tmp_path, capsys, monkeypatch):
    folder, ask = tmp_path / "folder", travelling.ask_to_stop
    monkeypatch.setattr(travelling, "ask_to_stop", lambda there: ask(there / "gone"))
    bring = ["ingest", str(folder), "--workspace", str(workspace.path)]
    with record_run(folder, "Mine", LABELS, epochs=3) as run:
        assert not run.stop_asked
        assert main(bring) == 0
        workspace.ask_to_stop(1)
        assert main(bring) == 1
    assert "could not be written" in capsys.readouterr().err


def test_a_request_that_cannot_be_removed_from_the_folder_is_said_before_the_loop_goes_on(tmp_path):
    with record_run(tmp_path / "folder", "Mine", LABELS, epochs=3) as run:
        run.end("stopped")
    request = tmp_path / "folder" / AFTER_EPOCH
    request.mkdir()
    with pytest.raises(Problem, match=r"cannot be removed .* Remove it yourself"):
        record_run(tmp_path / "folder", "Mine", LABELS, epochs=3, resume=True)
    request.rmdir()
    record_run(tmp_path / "folder", "Mine", LABELS, epochs=3, resume=True).end()


class Cells:
    """As much of IPython as a notebook's cells need."""

    def __init__(self):
        self.events, self._heard = self, {}

    def register(self, event, function):
        self._heard.setdefault(event, []).append(function)

    def unregister(self, event, function):
        self._heard[event].remove(function)

    def end_cell(self, *, running=None, before=None):
        """A cell ends; the number of those who hear of it."""
        heard = list(self._heard.get("post_run_cell", ()))
        for function in heard:
            function(SimpleNamespace(error_in_exec=running, error_before_exec=before))
        return len(heard)


def test_a_run_is_paused_by_a_failed_cell_of_its_notebook_until_it_records_again(workspace, tmp_path, monkeypatch):
    cells = Cells()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: cells))
    run = record_run(workspace, "Mine", LABELS, epochs=3)
    run.scalars(1, {"batch/loss": 1.0})
    cells.end_cell()
    assert workspace.run(run.id).status != "waiting", "nothing failed"
    for error in ({"running": ValueError("no such\x07 file")}, {"before": SyntaxError("invalid syntax")}):
        cells.end_cell(**error)
        assert workspace.run(run.id).status == "waiting"
        run.scalars(2, {"batch/loss": 1.0})
        run.note("It goes on.")
        assert (workspace.run(run.id).status, workspace.run(run.id).problem) == ("running", "")
    cells.end_cell(running=ValueError("no such\x07 file"))
    paused = workspace.run(run.id)
    assert paused.problem.startswith("A cell of its notebook failed (ValueError: no such\\x07 file). ")
    run.end("failed", "It was given up.")
    assert cells.end_cell(running=ValueError()) == 0, "nobody listens any more"
    assert (workspace.run(run.id).status, workspace.run(run.id).problem) == ("failed", "It was given up.")
    with pytest.raises(ValueError, match="own"), record_run(tmp_path / "folder", "Mine", LABELS, epochs=3):
        raise ValueError("own")
    assert cells.end_cell(running=ValueError("own")) == 0


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("Error(s) in loading:\n\tMissing key: a\n\tMissing key: b", "(ValueError: Error(s) in loading: …). "),
        ("x" * 5000, f"(ValueError: {'x' * 187}…). "),
        ("", "(ValueError). "),
    ],
)
def test_of_the_error_of_a_cell_lists_show_the_beginning(workspace, monkeypatch, said, shown):
    cells = Cells()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: cells))
    run = record_run(workspace, "Mine", LABELS, epochs=1)
    cells.end_cell(running=ValueError(said) if said else ValueError())
    assert workspace.run(run.id).problem.startswith(f"A cell of its notebook failed {shown}")
    run.end()


def test_a_point_after_a_failed_cell_is_kept_until_the_disk_has_room(workspace, monkeypatch):
    def full(recorder):
        raise Problem("The disk is full.")

    cells = Cells()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: cells))
    run = record_run(workspace, "Mine", LABELS, epochs=1)
    cells.end_cell(running=ValueError())
    with monkeypatch.context() as disk:
        disk.setattr("workbench.workspace.recorders.recording.COMMIT_EVERY", -1.0)
        disk.setattr(Recorder, "flush", full)
        with pytest.raises(Problem, match="The disk is full"):
            run.scalars(1, {"batch/loss": 1.0})
    run.end()
    assert workspace.scalars(run.id, "batch/loss")[0].tolist() == [1]


def test_several_threads_lose_no_point(workspace):
    def record(number):
        for step in range(500):
            run.scalars(step, {f"mine/{number}": step})

    with record_run(workspace, "Mine", LABELS, epochs=1) as run, ThreadPoolExecutor(4) as threads:
        list(threads.map(record, range(4)))
    assert [len(workspace.scalars(run.id, f"mine/{number}")[0]) for number in range(4)] == [500] * 4


@pytest.mark.parametrize(
    ("error", "status", "problem"),
    [
        (SystemExit(), "stopped", ""), (SystemExit(0), "stopped", ""), (SystemExit(3), "failed", "SystemExit: 3"),
        (GeneratorExit(), "stopped", ""), (AssertionError(), "failed", "AssertionError"),
    ],
)  # fmt: skip
def test_a_program_that_ends_on_purpose_stops_its_run(workspace, error, status, problem):
    with pytest.raises(type(error)):
        broken_off(record_run(workspace, "Mine", LABELS, epochs=3), error)
    (stored,) = workspace.runs()
    assert (stored.status, stored.problem) == (status, problem)


def test_a_forked_process_records_nothing_and_does_not_end_the_run(workspace, monkeypatch):
    with record_run(workspace, "Mine", LABELS, epochs=1) as run:
        with monkeypatch.context() as forked:
            forked.setattr("workbench.exchange.own_loop.recorded_run.getpid", lambda: 1)
            with pytest.raises(Problem, match="is recorded by another process, of which this is a copy"):
                run.scalars(1, {"batch/loss": 1.0})
            run.end("failed")
        run.scalars(2, {"batch/loss": 1.0})
    assert workspace.scalars(run.id, "batch/loss")[0].tolist() == [2]
    assert workspace.run(run.id).status == "done"


def test_a_copy_for_another_process_is_refused(workspace):
    with record_run(workspace, "Mine", LABELS, epochs=1) as run, pytest.raises(TypeError, match="in the program that"):
        pickle.dumps(run)


@pytest.mark.parametrize("in_folder", [False, True])
def test_a_resumed_run_keeps_the_best_evaluation_from_before(workspace, tmp_path, in_folder):
    place = tmp_path / "folder" if in_folder else workspace
    more = {"epochs": 4, "settings": {"evaluation": {"keep": "best and last"}}}
    run = record_run(place, "Mine", LABELS, **more)
    for epoch, spread in enumerate((0.9, 0.1, 0.8)):
        run.evaluate(epoch, vectors(epoch, spread), step=epoch)
    run.end("stopped")
    with record_run(place, "Mine", LABELS, **more, resume=True, step=2) as again:
        again.evaluate(3, vectors(3, 0.9), step=3)
    if in_folder:
        ingest(workspace, place)
    (stored,) = workspace.runs()
    assert [evaluation.epoch for evaluation in workspace.evaluations(stored.id)] == [0, 1, 3]


def test_all_points_of_a_step_are_kept_until_the_disk_has_room(workspace, monkeypatch):
    def full(recorder):
        raise Problem("The disk is full.")

    with record_run(workspace, "Mine", LABELS, epochs=1) as run:
        with monkeypatch.context() as disk:
            disk.setattr("workbench.workspace.recorders.recording.COMMIT_EVERY", -1.0)
            disk.setattr(Recorder, "flush", full)
            with pytest.raises(Problem, match="The disk is full"):
                run.scalars(1, {"batch/loss": 1.0, "mine/norm": 2.0})
        run.scalars(2, {"batch/loss": 1.0, "mine/norm": 2.0})
    for name in ("batch/loss", "mine/norm", "system/seconds"):
        assert workspace.scalars(run.id, name)[0].tolist() == [1, 2]


def seen(workspace, run_id):
    """The state of the run, and the steps of its loss, as another program reads them."""
    return workspace.run(run_id).status, workspace.scalars(run_id, "batch/loss")[0].tolist()


def test_a_point_of_a_slow_loop_is_seen_before_its_next_call(workspace):
    with record_run(workspace, "Slow", LABELS, epochs=1) as run:
        for points, record in (([], lambda: None), ([1], lambda: run.scalars(1, {"batch/loss": 2.0}))):
            record()
            limit = monotonic() + HANG
            while seen(workspace, run.id) != ("running", points) and monotonic() < limit:
                sleep(0.05)
            assert seen(workspace, run.id) == ("running", points)
        with pytest.raises(TypeError, match="A note is text, not 5"):
            run.note(5)
