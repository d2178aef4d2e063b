"""The loop: it learns, pauses, stops, is cancelled, names a loss that breaks, and goes on bit for bit."""

import copy
import math
import threading

import numpy as np
import pytest
import torch
from torch import nn

from workbench.config import TrainingParams
from workbench.control import Cancelled, Control
from workbench.events import Progress, Resumed, Scalar, Waiting
from workbench.losses.contract import Loss
from workbench.problem import Problem
from workbench.training import checkpoint, meter
from workbench.training.feed import Feed
from workbench.training.optimisers import build_optimiser, build_schedule, clip_with_decay
from workbench.training.trainer import Parts, train

EPOCHS, STEPS = 4, 8


class Squares(Loss):
    """A loss with a parameter of its own, and dropout so that the random state matters."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))
        self.dropout = nn.Dropout(0.3)

    def forward(self, embeddings, labels):
        return (self.dropout(embeddings) * self.weight - labels[:, None]).square().mean()


class InOrder:
    steps_per_epoch, places = STEPS, np.arange(64)

    def batches(self, epoch):
        return np.array_split(np.random.default_rng(epoch).permutation(64), STEPS)


class Noise:
    def __call__(self, images, generator):
        return images + torch.rand(images.shape, generator=generator) / 10

    def evaluate(self, images):
        return images


@pytest.fixture
def feed():
    pixels = np.random.default_rng(0).integers(0, 255, (64, 2, 2, 1), np.uint8)
    return Feed(pixels, np.arange(64), np.arange(64) % 3, torch.device("cpu"))


def make_parts(**changes) -> Parts:
    torch.manual_seed(1)
    model, loss = nn.Sequential(nn.Flatten(), nn.Linear(4, 3), nn.BatchNorm1d(3)), Squares()
    params = TrainingParams(**{"optimiser": "adam", "lr": 0.01, "warmup_steps": 3, **changes})
    optimiser = build_optimiser(params, model, loss)
    return Parts(model, loss, optimiser, build_schedule(params, optimiser, EPOCHS * STEPS), torch.device("cpu"))


def run(parts, feed, control=None, emit=None, **hooks):
    train(
        parts, feed.training(InOrder(), Noise(), seed=5), epochs=EPOCHS, steps_per_epoch=STEPS,
        control=control or Control(), emit=emit or (lambda event: None), **hooks,
    )  # fmt: skip


def test_every_layer_trains_in_every_step(feed):
    parts, evaluated, modes = make_parts(), [], set()
    layers = [*parts.model.modules(), *parts.loss.modules()]
    parts.model.register_forward_hook(lambda *_: modes.add(tuple(layer.training for layer in layers)))

    def evaluate(step):
        parts.model.eval()
        parts.loss.eval()
        evaluated.append(step)

    run(parts, feed, after_step=evaluate)
    assert len(evaluated) == EPOCHS * STEPS
    assert modes == {(True,) * len(layers)}


def test_a_layer_that_its_builder_left_in_evaluation_mode_trains():
    made = make_parts()
    made.model[2].eval()
    again = Parts(made.model, made.loss, made.optimiser, made.schedule, made.device)
    assert all(layer.training for layer in again.model.modules())


def test_every_step_is_told_once_and_the_loss_falls(feed):
    events = []
    run(make_parts(), feed, emit=events.append)
    losses = [(event.step, event.value) for event in events if isinstance(event, Scalar) and event.name == "batch/loss"]
    assert [step for step, _ in losses] == list(range(1, EPOCHS * STEPS + 1))
    assert np.mean([value for _, value in losses[-5:]]) < np.mean([value for _, value in losses[:5]])
    assert [event for event in events if isinstance(event, Progress)][-1].done == EPOCHS * STEPS


@pytest.mark.parametrize(("wait", "expected"), [(-1.0, [*range(1, 12)]), (3600.0, [0, 2, 2, 2, 5, 5, 5, 5, 8, 10, 10])])
def test_losses_are_told_early_and_of_slow_steps_at_each(feed, monkeypatch, wait, expected):
    monkeypatch.setattr(meter, "READ_AFTER", wait)
    events, known = [], []

    def count(step):
        known.append(sum(isinstance(event, Scalar) and event.name == "batch/loss" for event in events))

    run(make_parts(), feed, emit=events.append, after_step=count)
    assert known[:11] == expected, "the end of an epoch, at step 8, tells the rest"


def test_the_learning_rate_is_told_at_the_same_steps_however_slow_they_are(feed, monkeypatch):
    steps = []
    for wait in (-1.0, 3600.0):
        monkeypatch.setattr(meter, "READ_AFTER", wait)
        events = []
        run(make_parts(), feed, emit=events.append)
        steps.append([event.step for event in events if isinstance(event, Scalar) and event.name == "batch/lr"])
    assert steps[0] == steps[1]
    assert STEPS in steps[0]


@pytest.mark.parametrize("clip", [0.0, 0.05])
def test_the_norm_of_the_gradient_is_told_as_it_was_before_clipping(feed, clip):
    """Float64 reference: the root of the sum of squares of what backward left in every weight."""
    parts, events, squares = make_parts(), [], []
    parts.clip_norm = clip
    parts.weights[0].requires_grad_(False)
    for weight in parts.weights[1:]:
        weight.register_post_accumulate_grad_hook(
            lambda w: squares.append((parts.step + 1, w.grad.double().square().sum()))
        )
    run(parts, feed, emit=events.append)
    norms = {
        event.step: event.value for event in events if isinstance(event, Scalar) and event.name == meter.GRADIENT_NORM
    }
    assert list(norms) == [2, 5, 10, 20, 30]
    for step, norm in norms.items():
        assert norm == pytest.approx(math.sqrt(sum(square for at, square in squares if at == step)), rel=1e-5)
    assert min(norms.values()) > 0.05


@pytest.mark.filterwarnings("ignore:Detected call of `lr_scheduler.step")  # the first steps are skipped
def test_a_step_that_float16_skips_has_no_norm(feed):
    parts, events = make_parts(), []
    parts.scaler = torch.amp.GradScaler("cpu", init_scale=2.0**127, growth_interval=10_000)
    run(parts, feed, emit=events.append)
    norms = {
        event.step: event.value for event in events if isinstance(event, Scalar) and event.name == meter.GRADIENT_NORM
    }
    assert 2 not in norms, "the scale is too large then"
    assert list(norms)[-2:] == [20, 30], "it has been halved"
    assert all(map(math.isfinite, norms.values()))


def test_an_infinite_gradient_is_told_where_no_step_is_skipped(feed):
    parts, events = make_parts(), []
    parts.weights[1].register_hook(lambda grad: torch.full_like(grad, math.inf) if parts.step == 1 else grad)
    with pytest.raises(Problem, match="The loss is nan at step 3"):
        run(parts, feed, emit=events.append)
    assert Scalar(meter.GRADIENT_NORM, 2, math.inf) in events


def test_what_is_not_yet_told_is_told_before_a_pause(feed):
    control, events, parts = Control(), [], make_parts()

    def stand_back():  # a pause is asked for while the run leaves the processor to the window
        if parts.step == 4 and not any(isinstance(event, Resumed) for event in events):
            control.pause()

    def listen(event):
        events.append(event)
        if isinstance(event, Waiting):
            threading.Timer(0.05, control.resume).start()

    control.stand_back = stand_back
    run(parts, feed, control, listen)
    before = events[: events.index(Waiting(""))]
    losses = [event.step for event in before if isinstance(event, Scalar) and event.name == "batch/loss"]
    assert losses == [1, 2, 3, 4]


def test_what_follows_an_epoch_may_end_training(feed):
    parts, ended = make_parts(), []
    run(parts, feed, after_epoch=lambda epoch: ended.append(epoch) or epoch == 2)
    assert parts.step == 2 * STEPS
    assert ended == [1, 2]


def test_enough_is_asked_before_each_epoch(feed):
    parts, ended = make_parts(), []
    run(parts, feed, after_epoch=ended.append, enough=lambda: len(ended) == 2)
    assert (ended, parts.step) == ([1, 2], 2 * STEPS)
    run(parts, feed, enough=lambda: True)
    assert parts.step == 2 * STEPS


@pytest.mark.parametrize("optimiser", ["sgd", "adam", "adamw"])
def test_the_backbone_stays_as_it_is_while_the_head_learns_alone(feed, optimiser):
    parts, seen = make_parts(optimiser=optimiser, weight_decay=0.1, momentum=0.9), []
    head, parts.backbone, parts.head_steps = parts.loss.weight, list(parts.model.parameters()), STEPS
    first = [weight.detach().clone() for weight in parts.backbone]

    def look(epoch):
        same = [torch.equal(*pair) for pair in zip(first, parts.backbone, strict=True)]
        seen.append((all(same), any(same), torch.equal(head, torch.ones(3))))

    run(parts, feed, after_epoch=look)
    assert seen == [(True, True, False)] + [(False, False, False)] * (EPOCHS - 1)


@pytest.mark.parametrize("optimiser", ["adam", "adamw"])
def test_the_second_moment_is_the_optimisers(optimiser):
    assert make_parts(optimiser=optimiser, beta2=0.99).optimiser.defaults["betas"] == (0.9, 0.99)
    assert make_parts(optimiser=optimiser).optimiser.defaults["betas"] == (0.9, 0.999)


@pytest.mark.parametrize("optimiser", ["adam", "adamw"])
def test_what_is_added_to_the_second_moment_s_root_is_the_config_s(optimiser):
    assert make_parts(optimiser=optimiser, epsilon=1e-7).optimiser.defaults["eps"] == 1e-7
    assert make_parts(optimiser=optimiser).optimiser.defaults["eps"] == 1e-8


@pytest.mark.parametrize(("most", "cut"), [(0.5, True), (100.0, False)])
def test_a_gradient_is_limited_together_with_its_weight_decay(most, cut):
    """The norm of what SGD takes a step along is the limit, also where the decay is longer than the gradient."""
    parts = make_parts(optimiser="sgd", momentum=0.0, lr=1.0, warmup_steps=0, weight_decay=0.3, schedule="constant")
    generator = torch.Generator().manual_seed(0)
    for weight in parts.weights:
        weight.grad = torch.randn(weight.shape, generator=generator)
    given = [weight.grad.clone() for weight in parts.weights]
    before = [weight.detach().clone() for weight in parts.weights]
    decays = {id(weight): group["weight_decay"] for group in parts.optimiser.param_groups for weight in group["params"]}
    wanted = [
        gradient + decays[id(weight)] * weight.detach() for gradient, weight in zip(given, parts.weights, strict=True)
    ]
    norm = torch.cat([part.flatten() for part in wanted]).norm()
    clip_with_decay(parts.optimiser, most)
    assert cut != all(torch.equal(weight.grad, was) for weight, was in zip(parts.weights, given, strict=True))
    parts.optimiser.step()
    for was, weight, step in zip(before, parts.weights, wanted, strict=True):
        torch.testing.assert_close(was - weight.detach(), step * min(1.0, most / norm.item()), rtol=1e-4, atol=1e-5)


def test_cancel_is_heard_while_paused(feed):
    control, events = Control(), []
    control.pause()
    timer = threading.Timer(0.2, control.cancel)
    timer.start()
    with pytest.raises(Cancelled):
        run(make_parts(), feed, control, events.append)
    timer.join()
    assert events == [Waiting("")]


def test_resume_after_a_pause_is_told(feed):
    control, events = Control(), []
    control.pause()
    timer = threading.Timer(0.1, control.resume)
    timer.start()
    run(make_parts(), feed, control, events.append)
    timer.join()
    assert events[:2] == [Waiting(""), Resumed()]


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_loss_that_is_not_finite_ends_an_unattended_run_and_is_in_the_curve(feed, bad):
    events, parts = [], make_parts()
    with pytest.raises(Problem, match="at step 12"):
        run(parts, feed, emit=events.append, after_step=lambda step: step == 11 and spoil(parts, bad))
    values = {event.step: event.value for event in events if isinstance(event, Scalar) and event.name == "batch/loss"}
    assert math.isfinite(values[11])
    assert not math.isfinite(values[12])


def test_an_attended_run_waits_for_the_choice_and_names_the_trouble_once(feed):
    control, events, parts = Control(attended=True), [], make_parts()

    def listen(event):
        events.append(event)
        if isinstance(event, Waiting):
            threading.Timer(0.05, control.resume).start()

    run(parts, feed, control, listen, after_step=lambda step: step == 11 and spoil(parts, math.nan))
    reasons = [event.reason for event in events if isinstance(event, Waiting)]
    assert len(reasons) == 1
    assert "nan at step 12" in reasons[0]
    assert parts.step == EPOCHS * STEPS


def test_an_exploding_loss_is_named(feed):
    parts = make_parts()
    with pytest.raises(Problem, match="exploded"):
        run(parts, feed, after_step=lambda step: step == 25 and spoil(parts, 1e6))


def spoil(parts, value):
    with torch.no_grad():
        parts.loss.weight.fill_(value)


@pytest.mark.parametrize("at", [5, STEPS, 2 * STEPS + 3])
def test_interrupted_and_resumed_is_bit_for_bit_the_uninterrupted_run(feed, tmp_path, at):
    torch.manual_seed(7)
    straight = make_parts()
    torch.manual_seed(7)
    run(straight, feed)

    control, first = Control(), make_parts()
    torch.manual_seed(7)
    run(first, feed, control, after_step=lambda step: step == at and control.interrupt())
    assert first.step == at
    state = {
        "model": first.model.state_dict(), "loss": first.loss.state_dict(), "optimiser": first.optimiser.state_dict(),
        "random": checkpoint.rng_state(torch.device("cpu")),
    }  # fmt: skip
    checkpoint.save(tmp_path / "last.pt", copy.deepcopy(state))

    torch.manual_seed(99)
    second, state = make_parts(), checkpoint.load(tmp_path / "last.pt")
    second.model.load_state_dict(state["model"])
    second.loss.load_state_dict(state["loss"])
    second.optimiser.load_state_dict(state["optimiser"])
    second.go_to(at)
    checkpoint.set_rng_state(state["random"], torch.device("cpu"))
    run(second, feed)
    for name, weight in straight.model.state_dict().items():
        assert torch.equal(weight, second.model.state_dict()[name]), name
    assert torch.equal(straight.loss.weight, second.loss.weight)


def test_proxies_learn_at_their_own_rate_and_flat_weights_do_not_decay():
    loss = Squares()
    loss.proxy_lr_multiplier = 100.0
    optimiser = build_optimiser(TrainingParams(lr=0.5, weight_decay=0.1), nn.Linear(4, 3), loss)
    found = {(tuple(group["params"][0].shape), group["lr"], group["weight_decay"]) for group in optimiser.param_groups}
    assert found == {((3, 4), 0.5, 0.1), ((3,), 0.5, 0.0), ((3,), 50.0, 0.0)}


class Pretrained(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone, self.head = nn.Linear(4, 3, bias=False), nn.Linear(3, 2, bias=False)


def test_the_backbone_learns_at_its_own_rate():
    optimiser = build_optimiser(TrainingParams(lr=0.5, backbone_lr=0.1), Pretrained(), Loss())
    found = {(tuple(group["params"][0].shape), group["lr"]) for group in optimiser.param_groups}
    assert found == {((3, 4), 0.05), ((2, 3), 0.5)}


def test_a_frozen_backbone_is_not_given_to_the_optimiser():
    model = Pretrained()
    optimiser = build_optimiser(TrainingParams(lr=0.5, backbone_lr=0), model, Loss())
    assert [tuple(weight.shape) for group in optimiser.param_groups for weight in group["params"]] == [(2, 3)]
    assert not model.backbone.weight.requires_grad


def rates_of(params, steps):
    """The learning rate of each step, and after the last."""
    optimiser = build_optimiser(params, nn.Linear(1, 1), Loss())
    schedule = build_schedule(params, optimiser, steps)
    rates = [optimiser.param_groups[0]["lr"]]
    for _ in range(steps):
        optimiser.step()
        schedule.step()
        rates.append(optimiser.param_groups[0]["lr"])
    return rates


def test_warm_up_then_cosine_to_zero():
    rates = rates_of(TrainingParams(optimiser="sgd", lr=1.0, warmup_steps=4), 20)
    assert rates[:4] == pytest.approx([0.25, 0.5, 0.75, 1.0])
    assert rates[12] == pytest.approx(0.5)
    assert rates[20] == pytest.approx(0.0)


def test_a_cosine_can_end_above_zero_as_in_supcon_s_code():
    """HobbitLong/SupContrast util.py: lowest + (lr - lowest) (1 + cos(pi epoch / epochs)) / 2, lowest = lr / 1000."""
    wanted = [5e-5 + (0.05 - 5e-5) * (1 + math.cos(math.pi * i / 300)) / 2 for i in range(301)]
    assert rates_of(TrainingParams(optimiser="sgd", lr=0.05, final_lr=1e-3), 300) == pytest.approx(wanted)


@pytest.mark.parametrize("schedule", ["cosine", "cosine_throughout"])
def test_a_cosine_that_ends_above_zero_still_warms_up(schedule):
    rates = rates_of(TrainingParams(optimiser="sgd", lr=1.0, warmup_steps=4, final_lr=0.5, schedule=schedule), 20)
    assert rates[:2] == pytest.approx([0.25, 0.5])
    assert rates[20] == pytest.approx(0.5)


def test_a_cosine_throughout_is_that_of_the_cross_entropy_paper_s_code():
    """jeromerony/dml_cross_entropy experiment.py: min((i + 1) / 100, (1 + cos(pi i / steps)) / 2)."""
    wanted = [min((i + 1) / 100, (1 + math.cos(math.pi * i / 1350)) / 2) for i in range(1350)]
    params = TrainingParams(optimiser="sgd", lr=0.02, warmup_steps=100, schedule="cosine_throughout")
    assert rates_of(params, 1350)[:-1] == pytest.approx([0.02 * factor for factor in wanted])


def test_nothing_to_train_is_a_problem():
    model = nn.Sequential()
    model.backbone = nn.Linear(4, 3)
    with pytest.raises(Problem, match="There is nothing to train"):
        build_optimiser(TrainingParams(backbone_lr=0), model, Loss())


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (lambda z: z.sum().detach(), r"a tensor float32 \[\] without a gradient"),
        (lambda z: z.sum(1), r"a tensor float32 \[\d+\] with a gradient"),
        (lambda z: 3.0, "a float instead"),
        (lambda z: None, "a NoneType instead"),
    ],
)
def test_a_loss_that_returns_no_number_with_a_gradient_is_named(feed, monkeypatch, returned, said):
    monkeypatch.setattr(Squares, "forward", lambda self, embeddings, labels: returned(embeddings))
    with pytest.raises(Problem, match=f"The loss Squares returned {said}"):
        run(make_parts(), feed)
