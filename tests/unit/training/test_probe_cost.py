"""What the probe costs is told before a run: how often it looks, how long a look takes, its share of the time."""

from pathlib import Path

import pytest
import torch

from workbench.config import Choice, EvaluationParams, RunConfig, TrainingParams
from workbench.control import Control
from workbench.events import Scalar
from workbench.running.building import load_data
from workbench.running.engine import Engine
from workbench.running.facts import timing
from workbench.running.facts.timing import StepTimes
from workbench.running.preflight import looks, preflight
from workbench.training import probe


def config(epochs=1, size=100, every=7):
    return RunConfig(
        device="cpu", backbone=Choice(name="conv4", params={"width": 4}),
        training=TrainingParams(epochs=epochs, batch_size=128),
        evaluation=EvaluationParams(probe_size=size, probe_every=every, anatomy_every=0, untrained=False, every=100),
    )  # fmt: skip


@pytest.mark.parametrize(("epochs", "every"), [(1, 7), (2, 7), (2, 11), (3, 1000), (1, 1)])
def test_a_run_looks_at_its_probe_as_often_as_is_told(tmp_path, epochs, every):
    events = []
    wanted = config(epochs, every=every)
    engine = Engine(wanted, load_data(wanted, lambda *_: None), tmp_path, Control(), events.append)
    engine.run()
    steps = [each.step for each in events if isinstance(each, Scalar) and each.name == "probe/spce"]
    spaced = min(every, engine.sampler.steps_per_epoch)  # three epochs have a point each
    assert len(steps) == looks(engine.total, spaced)
    assert (steps[0], steps[-1]) == (0, engine.total)
    assert all(step % spaced == 0 for step in steps[:-1])


def test_preflight_tells_the_probe_s_share_and_counts_it_in_the_time(monkeypatch):
    """A step of 10 ms, a look of 40 ms."""
    monkeypatch.setattr("workbench.running.facts.timing.time_steps", lambda *_: StepTimes(0.0, 0.01, 0.0, True))
    monkeypatch.setattr("workbench.running.facts.timing.time_probe", lambda *_: 0.04)
    found = preflight(config(epochs=2, every=5))
    total = 2 * found.steps_per_epoch
    looking = 0.04 * looks(total, 5)
    assert (found.probe_images, found.probe_every) == (100, 5)
    assert found.probe_share == pytest.approx(looking / (0.01 * total + looking))
    assert found.seconds == pytest.approx(0.01 * total + looking)
    assert found.seconds_per_epoch == pytest.approx(found.seconds / 2)


def test_a_look_is_timed_on_a_part_of_the_probe(monkeypatch):
    seen = []
    monkeypatch.setattr(timing, "perf_counter", iter([0.0, 9.0, 10.0, 10.5]).__next__)
    real = timing.embed
    monkeypatch.setattr(timing, "embed", lambda *given: seen.append(len(given[3])) or real(*given))
    wanted = config(size=1000)
    made = Engine(wanted, load_data(wanted, lambda *_: None), Path(), Control(), lambda event: None)
    assert timing.time_probe(made, lambda: False) == pytest.approx(0.5 * len(made.probe.index) / timing.TIMED)
    assert seen == [timing.TIMED, timing.TIMED], "the first warms up"


def test_without_images_there_is_no_probe_to_pay_for():
    found = preflight(config(size=0))
    assert (found.probe_images, found.probe_share) == (0, 0)


def test_embeddings_do_not_depend_on_how_many_are_made_at_a_time(monkeypatch):
    wanted = config(size=300)
    engine = Engine(wanted, load_data(wanted, lambda *_: None), Path(), Control(), lambda event: None)
    found = []
    for batch in (64, 512):
        monkeypatch.setattr(probe, "BATCH_ON_CPU", batch)
        found.append(probe.embed(engine.parts.model, engine.feed, engine.augmentation, engine.probe.index))
    assert torch.allclose(*found, atol=1e-6)
    assert probe.batch_on(torch.device("cuda")) == 512


@pytest.mark.parametrize(
    ("every", "steps_per_epoch", "total", "spaced"),
    [(50, 1, 10, 1), (50, 5, 200, 10), (50, 100, 100, 50), (50, 14, 168, 14), (5, 14, 168, 5), (50, 1000, 40_000, 50)],
)
def test_a_short_run_has_a_point_for_each_epoch_but_not_more_than_twenty(every, steps_per_epoch, total, spaced):
    assert probe.spacing(every, steps_per_epoch, total) == spaced


def test_preflight_counts_the_looks_of_a_short_run(monkeypatch):
    monkeypatch.setattr("workbench.running.facts.timing.time_steps", lambda *_: StepTimes(0.0, 0.01, 0.0, True))
    monkeypatch.setattr("workbench.running.facts.timing.time_probe", lambda *_: 0.04)
    found = preflight(config(epochs=2, every=1000))
    assert found.probe_every == found.steps_per_epoch
    assert found.seconds == pytest.approx(0.01 * 2 * found.steps_per_epoch + 0.04 * 3)


def test_the_number_of_looks():
    assert [looks(steps, 50) for steps in (1, 50, 51, 100, 101)] == [2, 2, 3, 3, 4]
