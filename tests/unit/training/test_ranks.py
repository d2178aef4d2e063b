"""One run on several ranks is the run of one: losses, gradients, weights, statistics and memories."""

import contextlib

import pytest
import torch

from tests.unit.training.spread import CPU, Trained, Wanted, spread, trained
from workbench.losses import list_losses
from workbench.training.ranks import OneRank, Ranks


@contextlib.contextmanager
def meeting(count, folder):
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_RANK_PATIENCE", "240")
        with spread(count, folder):
            ranks = Ranks(folder / "meeting", 0, count, CPU)
            try:
                yield ranks
            finally:
                ranks.leave()
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def two_ranks(tmp_path_factory):
    with meeting(2, tmp_path_factory.mktemp("two")) as ranks:
        yield ranks


def together(wanted, ranks) -> Trained:
    ranks.shared_norm = wanted.shared_norm
    return trained(ranks.same(wanted), ranks)


def farthest(alone: Trained, spread: Trained) -> float:
    """The largest difference of a loss, gradient, weight or buffer, as a share of its size."""
    pairs = [(torch.tensor(alone.losses), torch.tensor(spread.losses))]
    pairs += [*zip(alone.gradients, spread.gradients, strict=True), *zip(alone.weights, spread.weights, strict=True)]
    for name, value in alone.kept.items():
        if torch.is_tensor(value):
            pairs.append((value, spread.kept[name]))
        else:
            assert value == spread.kept[name]
    return max(
        float((one.double() - other.double()).norm() / one.double().norm().clamp_min(1e-12)) for one, other in pairs
    )


@pytest.mark.parametrize("name", list_losses())
def test_two_ranks_train_as_one(name, two_ranks):
    wanted = Wanted(name)
    assert farthest(trained(wanted, OneRank()), together(wanted, two_ranks)) < 1e-12
