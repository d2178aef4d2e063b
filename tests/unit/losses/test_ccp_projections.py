"""CCP's driver: when a projection ends, what comes back, how the next proxies are chosen, and that it resumes."""

import itertools
import math

import numpy as np
import pytest
import torch
from torch import nn

from workbench.evaluation.geometry import class_shape
from workbench.events import Scalar, Status
from workbench.losses import build_loss
from workbench.losses.ccp import bounded
from workbench.losses.ccp.k_center import k_center
from workbench.losses.ccp.projections import Projected, Projections, projection_charts
from workbench.losses.contract import Surroundings
from workbench.problem import Problem
from workbench.training import checkpoint

K, M, B, D = 3, 2, 5, 4
LABELS = np.arange(31) % K
IMAGES = torch.randn(31, 6, generator=torch.Generator().manual_seed(0)) + torch.from_numpy(LABELS)[:, None]


class Run:
    """Model, loss, optimiser and driver; `values` are what validation says, one after the other."""

    def __init__(self, values, *, seed=7, labels=LABELS, **params):
        torch.manual_seed(1)
        self.model = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, D))
        params = {"proxies": M, "pool": B, "check_every": 2, "inner": "contrastive", "penalty": 0.1, **params}
        self.loss = build_loss("ccp", num_classes=K, embedding_dim=D, **params)
        trained = [weight for weight in [*self.model.parameters(), *self.loss.parameters()] if weight.requires_grad]
        self.optimiser = torch.optim.Adam(trained, lr=0.01)
        self.values, self.events, self.seen, self.pools, self.step = iter(values), [], [], [], 0
        around = Surroundings(
            self.model, labels, seed, self.embed_rows, lambda *how: next(self.values), class_shape, print,
            self.embed_augmented,
        )  # fmt: skip
        self.projections = Projections(self.loss, around, self.loss.params, self.events.append)

    def embed_rows(self, rows):
        self.seen.append(rows)
        return self.model(IMAGES[torch.from_numpy(rows)])

    def embed_augmented(self, rows, number):
        self.pools.append(number)
        return self.model(-IMAGES[torch.from_numpy(rows)])

    def train(self, steps):
        for _ in range(steps):
            chosen = np.random.default_rng(self.step).permutation(31)[:12]
            self.model.train()
            value = self.loss(self.embed_rows(chosen), torch.from_numpy(LABELS[chosen]))
            penalty = self.projections.penalty()
            self.optimiser.zero_grad()
            (value if penalty is None else value + penalty).backward()
            self.optimiser.step()
            self.step += 1
            self.projections.after_step(self.step)

    @property
    def ended(self):
        return [event for event in self.events if isinstance(event, Projected)]

    def curve(self, name):
        return [(event.step, event.value) for event in self.events if isinstance(event, Scalar) and event.name == name]

    def embedded(self):
        """[31, D] of all, bounded, in evaluation mode."""
        with torch.no_grad():
            return bounded(self.model.eval()(IMAGES)).double().numpy()


def begun(values, **changes):
    run = Run(values, **changes)
    run.projections.begin()
    return run


def test_training_before_the_first_proxies_is_an_error():
    run = Run([0.1])
    with pytest.raises(RuntimeError, match="begin"):
        run.projections.after_step(2)


def test_a_class_without_a_sample_is_a_sentence():
    with pytest.raises(Problem, match="every class"):
        Run([0.1], labels=np.zeros(31, int))


def test_the_first_proxies_are_samples_of_their_class_once():
    run = begun([])
    first = run.loss.proxies.detach().clone()
    everything = run.embedded()
    for label, vectors in enumerate(first):
        rows = [np.abs(everything - vector.numpy()).sum(1).argmin() for vector in vectors]
        assert len(set(rows)) == M
        assert (LABELS[rows] == label).all()
        np.testing.assert_allclose(everything[rows], vectors.numpy(), atol=1e-6)
    run.projections.begin()
    assert torch.equal(run.loss.proxies, first), "a second time nothing is chosen"
    assert not torch.equal(begun([], seed=8).loss.proxies, first)
    assert torch.equal(begun([]).loss.proxies, first)
    assert run.loss.proxies.requires_grad


@pytest.mark.parametrize("images", ["evaluation", "augmented"])
def test_choosing_says_how_many_images_are_embedded(images):
    said = [event for event in begun([], pool_images=images).events if isinstance(event, Status)]
    assert {event.text for event in said} == {"Embedding images for the proxies"}
    assert said[-1] == Status("Embedding images for the proxies", 0, K * B)


def test_choosing_touches_no_global_random_state_and_no_mode():
    run = Run([])
    run.model.train()
    before, old = torch.get_rng_state(), np.random.get_state()[1].copy()
    run.projections.begin()
    assert torch.equal(before, torch.get_rng_state())
    assert (old == np.random.get_state()[1]).all()
    assert run.model.training


def test_a_projection_ends_after_exactly_three_checks_without_improvement():
    values = [0.1, 0.3, 0.2, 0.3, 0.31, 0.2, 0.2, 0.31, 0.05, 0.04, 0.03, 0.02]
    run = begun(values)
    run.train(2 * len(values))
    first, second = run.ended
    assert (first.index, first.step, first.map_at_r) == (0, 16, 0.31)
    assert (second.index, second.step, second.map_at_r) == (1, 24, 0.05), "the next one starts with a best of its own"
    assert run.curve("projection/MAP@R") == [(2 * (place + 1), value) for place, value in enumerate(values)]
    assert run.curve("projection/steps") == [(16, 16), (24, 8)]
    assert run.curve("projection/covering_radius") == [(16, first.radius), (24, second.radius)]
    assert run.curve("projection/class_distance") == [(16, first.distance), (24, second.distance)]
    assert run.curve("projection/k_center_radius") == [(16, first.k_center), (24, second.k_center)]
    assert run.curve("projection/relative_radius") == [(16, first.relative), (24, second.relative)]
    assert first.relative == first.radius / first.distance


def test_patience_is_a_parameter():
    run = begun([0.2, 0.1, 0.3], patience=1)
    run.train(6)
    assert [event.step for event in run.ended] == [4]


def test_the_last_projection_does_not_end():
    falling = [0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.04, 0.03]
    once = begun(falling, patience=1, projections=1)
    once.train(16)
    assert not once.ended
    assert once.projections.penalty() is None
    twice = begun(falling, patience=1, projections=2)
    twice.train(16)
    assert [event.step for event in twice.ended] == [4]


def test_nothing_is_checked_between():
    run = begun([0.5], check_every=5)
    run.train(9)
    assert run.curve("projection/MAP@R") == [(5, 0.5)]


def test_the_best_weights_and_proxies_come_back_with_the_running_statistics():
    run = begun([0.1, 0.9, 0.2, 0.2, 0.2])
    run.train(4)
    best = {name: value.clone() for name, value in run.model.state_dict().items()}
    proxies = run.loss.class_proxies()[0].detach().clone()
    run.train(5)
    assert any(not torch.equal(value, best[name]) for name, value in run.model.state_dict().items())
    run.train(1)
    assert all(torch.equal(value, best[name]) for name, value in run.model.state_dict().items())
    (event,) = run.ended
    np.testing.assert_array_equal(event.converged, proxies.numpy())
    np.testing.assert_array_equal(event.next, run.loss.class_proxies()[0].detach().numpy())
    assert event.converged.dtype == event.next.dtype == np.float32
    assert event.classes.tolist() == [0, 0, 1, 1, 2, 2]
    kept = event.next.copy()
    run.values = iter([0.0])
    run.train(2)
    np.testing.assert_array_equal(event.next, kept)


def test_the_next_proxies_are_those_of_a_fresh_pool():
    run = begun([0.9, 0.2, 0.2, 0.2])
    run.train(8)
    (event,) = run.ended
    everything, rng = run.embedded(), np.random.default_rng([7, 1])
    pools = [everything[rng.permutation(np.flatnonzero(label == LABELS))[:B]] for label in range(K)]
    for label, pool in enumerate(pools):
        own = event.classes == label
        chosen, _ = k_center(pool, M, event.converged[own])
        np.testing.assert_allclose(event.next[own], pool[chosen], atol=1e-6)


def test_a_pool_can_be_of_augmented_images():
    """Here these are the images with another sign, so that other proxies are chosen, at their embeddings."""
    plain, run = begun([]), begun([], pool_images="augmented")
    assert (plain.pools, run.pools) == ([], [0])
    with torch.no_grad():
        vectors = bounded(run.model.eval()(-IMAGES))
    nearest, of_plain = (
        torch.cdist(loss.proxies.detach().flatten(0, -2), vectors).amin(1) for loss in (run.loss, plain.loss)
    )
    assert nearest.max() < 1e-3
    assert of_plain.max() > 0.05
    run.values = iter([0.5, 0.4, 0.3, 0.2])
    run.train(8)
    assert len(run.ended) == 1
    assert run.pools == [0, 1], "another number, other draws"


@pytest.mark.parametrize("variant", ["proxies", "samples"])
def test_radii_and_distance_are_those_of_the_network_and_the_proxies_that_came_back(variant):
    run = begun([0.9, 0.2, 0.2, 0.2], variant=variant)
    run.train(8)
    (event,) = run.ended
    everything = run.embedded()  # of the weights that came back; 31 images are fewer than are measured
    assert event.measured == len(LABELS)
    own = [everything[label == LABELS] for label in range(K)]
    proxies = [event.converged[event.classes == label] for label in range(K)]
    reach = [max(min(math.dist(a, p) for p in ps) for a in of) for of, ps in zip(own, proxies, strict=True)]
    assert event.radius == pytest.approx(np.mean(reach), rel=1e-6)
    assert event.k_center == pytest.approx(np.mean([np.mean(naive_radii(of)) for of in own]))
    means = [np.mean([math.dist(a, b) for a in one for b in two]) for one, two in itertools.combinations(own, 2)]
    assert event.distance == pytest.approx(np.mean(means))


def test_the_same_part_of_many_images_is_measured_in_every_projection(monkeypatch):
    monkeypatch.setattr("workbench.losses.ccp.projections.COVERED", 18)
    run = begun([0.9, 0.2, 0.2, 0.2, 0.9, 0.2, 0.2, 0.2])
    run.train(16)
    first, second = run.ended
    assert first.measured == second.measured == 18
    measured = [rows for rows in run.seen if len(rows) == 18]
    assert len(measured) == 2
    np.testing.assert_array_equal(*measured)
    assert np.bincount(LABELS[measured[0]]).tolist() == [6, 6, 6]
    assert len(set(measured[0].tolist())) == 18


def test_no_class_is_measured_on_fewer_images_than_the_pool_has(monkeypatch):
    monkeypatch.setattr("workbench.losses.ccp.projections.COVERED", 3)
    run = begun([0.9, 0.2, 0.2, 0.2])
    run.train(8)
    assert run.ended[0].measured == K * B


def test_the_chart_of_the_radii_says_on_how_many_images_and_has_a_gap_where_nothing_was_measured():
    run = begun([0.9, 0.2, 0.2, 0.2, 0.9, 0.2, 0.2, 0.2])
    run.train(16)
    del run.projections.history[0]["covering_radius"]  # a checkpoint of before it was measured
    event = run.ended[-1]
    chart = projection_charts(event, run.projections.history)[1]
    assert "same 31 training images" in chart.note
    curves = {marks.title: marks.y for marks in chart.marks}
    assert math.isnan(curves["covering radius"][0])
    assert curves["covering radius"][1] == event.radius
    assert curves["relative radius"][1] == event.relative
    assert curves["spread"][1] == event.k_center
    assert curves["class distance"][1] == event.distance


def naive_radii(pool):
    """Covering radii with 1..n centres: the best single one first, then always the farthest sample."""
    apart = np.array([[math.dist(a, b) for b in pool] for a in pool])
    centres, radii = [int(apart.max(1).argmin())], []
    for _ in pool:
        nearest = apart[centres].min(0)
        radii.append(nearest.max())
        centres.append(int(nearest.argmax()))
    return radii


def test_a_class_with_fewer_samples_than_proxies_repeats_them():
    labels = np.array([0] * 29 + [1, 2])
    run = begun([], labels=labels, proxies=3, pool=1)
    vectors = run.loss.proxies.detach()
    torch.testing.assert_close(vectors[1], vectors[1][:1].expand(3, -1), msg="its only sample three times")
    assert torch.pdist(vectors[0]).min() > 1e-3


def test_the_penalty_pulls_to_the_end_of_the_last_projection():
    run = begun([0.9, 0.2, 0.2, 0.2, 0.1])
    run.train(7)
    assert run.projections.penalty() is None
    run.train(1)
    last = [weight.detach().clone() for weight in run.model.parameters()]
    assert run.projections.penalty().item() == 0
    run.train(2)
    value = run.projections.penalty()
    moved = [weight.detach() - before for weight, before in zip(run.model.parameters(), last, strict=True)]
    expected = 0.05 * sum(part.double().square().sum().item() for part in moved)
    assert value.item() == pytest.approx(expected, rel=1e-5)
    assert expected > 0
    slopes = torch.autograd.grad(value, list(run.model.parameters()))
    for slope, part in zip(slopes, moved, strict=True):
        torch.testing.assert_close(slope, 0.1 * part)


def test_without_a_weight_there_is_no_penalty():
    run = begun([0.9, 0.2, 0.2, 0.2], penalty=0.0)
    run.train(8)
    assert run.ended
    assert run.projections.penalty() is None


def test_a_projection_without_any_number_keeps_its_weights():
    run = begun([math.nan] * 3)
    run.train(6)
    (event,) = run.ended
    assert math.isnan(event.map_at_r)
    other = begun([0.4, 0.5, 0.6])
    other.train(6)
    assert all(torch.equal(a, b) for a, b in zip(run.model.parameters(), other.model.parameters(), strict=True))


VALUES = [0.1, 0.3, 0.2, 0.25, 0.2, 0.4, 0.1, 0.5, 0.2, 0.2, 0.2, 0.3, 0.1, 0.1, 0.1, 0.6]


@pytest.mark.parametrize("variant", ["proxies", "samples"])
@pytest.mark.parametrize(
    "stop", [3, 9, 10, 17, 22], ids=["first", "before an end", "at an end", "second", "at its end"]
)
def test_a_resumed_run_goes_on_bit_for_bit(tmp_path, variant, stop):
    whole = begun(VALUES, variant=variant)
    whole.train(32)

    before = begun(VALUES, variant=variant)
    before.train(stop)
    state = {
        "model": before.model.state_dict(), "loss": before.loss.state_dict(),
        "random": checkpoint.rng_state(torch.device("cpu")),
        "optimiser": before.optimiser.state_dict(), "projections": before.projections.state_dict(),
    }  # fmt: skip
    checkpoint.save(tmp_path / "last.pt", state)
    state = checkpoint.load(tmp_path / "last.pt")
    after = Run(VALUES[stop // 2 :], variant=variant)
    after.model.load_state_dict(state["model"])
    after.loss.load_state_dict(state["loss"])
    after.optimiser.load_state_dict(state["optimiser"])
    after.projections.load_state_dict(state["projections"])
    after.projections.begin()
    checkpoint.set_rng_state(state["random"], torch.device("cpu"))
    after.step = stop
    after.train(32 - stop)

    assert len(whole.ended) == 3
    measured = [[event for event in events if not isinstance(event, Status)] for events in (
        before.events + after.events, whole.events
    )]  # fmt: skip
    for now, once in zip(*measured, strict=True):
        if isinstance(once, Scalar):
            assert now == once
        else:
            assert (now.index, now.step, now.radius, now.map_at_r) == (
                once.index,
                once.step,
                once.radius,
                once.map_at_r,
            )
            np.testing.assert_array_equal(now.converged, once.converged)
            np.testing.assert_array_equal(now.next, once.next)
    for now, once in zip(after.model.state_dict().values(), whole.model.state_dict().values(), strict=True):
        assert torch.equal(now, once)
    assert torch.equal(after.loss.proxies, whole.loss.proxies)


def test_the_state_of_another_model_is_refused():
    run = begun([0.9, 0.2, 0.2, 0.2])
    run.train(8)
    state = run.projections.state_dict()
    state["previous"] = state["previous"][:-1]
    with pytest.raises(ValueError, match="another model"):
        Run([]).projections.load_state_dict(state)


def test_samples_are_embedded_by_the_network_that_learns():
    run = begun([0.9, 0.2, 0.2, 0.2], variant="samples")
    shown = run.loss.class_proxies()[0].clone()
    run.train(1)
    assert torch.equal(run.loss.class_proxies()[0], shown)
    run.train(1)
    assert not torch.equal(run.loss.class_proxies()[0], shown), "a check shows them as they are embedded now"
    run.train(6)
    (event,) = run.ended
    everything = run.embedded()
    for label, vector in zip(event.classes, event.converged, strict=True):
        own = everything[label == LABELS]
        assert np.abs(own - vector).sum(1).min() < 1e-5
