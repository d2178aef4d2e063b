"""One run on several ranks is the run of one: losses, gradients, weights, statistics and memories."""

import contextlib

import pytest
import torch

from tests.unit.training.spread import BATCH, CPU, Trained, Wanted, spread, trained
from workbench.losses import list_losses
from workbench.problem import Problem
from workbench.training.ranks import OneRank, Ranks

QUICK = ("ccp", "ce", "margin", "proxy_anchor", "supcon", "xbm")
"""With projections, dropout, draws, proxies, pairs and a memory."""
STEEP = {"smooth_ap": 1e-11, "recall_at_k": 1e-11}
"""Steps of width 0.01 instead of ranks: twenty steps with them make rounding a hundred times larger."""


@contextlib.contextmanager
def meeting(count, folder):
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("WORKBENCH_RANK_PATIENCE", "240")
            with spread(count, folder):
                ranks = Ranks(folder / "meeting", 0, count, CPU)
                try:
                    yield ranks
                finally:
                    ranks.leave()
    finally:
        torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def ranks(request, tmp_path_factory):
    """Rank 0 of as many as the parameter says; a process has a place among one set of ranks at a time."""
    with meeting(request.param, tmp_path_factory.mktemp("ranks")) as ranks:
        yield ranks


two_ranks = pytest.mark.parametrize("ranks", [2], indirect=True, scope="module")
four_ranks = pytest.mark.parametrize("ranks", [4], indirect=True, scope="module")


def together(wanted, ranks) -> Trained:
    ranks.shared_norm = wanted.shared_norm
    spread = trained(ranks.same(wanted), ranks)
    ranks.check_alike(spread.weights)
    return spread


def farthest(alone: Trained, spread: Trained) -> float:
    """The largest difference, as a share of its size: of a loss, all gradients, all weights, or a buffer."""
    pairs = [(torch.tensor(alone.losses), torch.tensor(spread.losses))]
    pairs += [(flat(alone.gradients), flat(spread.gradients)), (flat(alone.weights), flat(spread.weights))]
    for name, value in alone.kept.items():
        if torch.is_tensor(value):
            pairs.append((value.double(), spread.kept[name].double()))
        else:
            assert value == spread.kept[name]
    return max(float((one - other).norm() / one.norm().clamp_min(1e-12)) for one, other in pairs)


def flat(tensors):
    return torch.cat([tensor.double().reshape(-1) for tensor in tensors])


@two_ranks
@pytest.mark.parametrize("name", QUICK)
def test_two_ranks_train_as_one(name, ranks):
    wanted = Wanted(name)
    assert farthest(trained(wanted, OneRank()), together(wanted, ranks)) < 1e-12


@two_ranks
@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(list_losses()) - set(QUICK)))
def test_two_ranks_train_as_one_with_every_other_loss(name, ranks):
    wanted = Wanted(name)
    assert farthest(trained(wanted, OneRank()), together(wanted, ranks)) < STEEP.get(name, 1e-12)


@two_ranks
def test_a_head_without_two_parts_is_computed_on_the_whole_batch(ranks):
    wanted = Wanted("supcon", parted_head=False)
    assert farthest(trained(wanted, OneRank()), together(wanted, ranks)) < 1e-12


@two_ranks
def test_in_float32_they_differ_by_its_rounding(ranks):
    wanted = Wanted("ce", precision="float32", optimiser="sgd")
    assert farthest(trained(wanted, OneRank()), together(wanted, ranks)) < 1e-6


@two_ranks
def test_with_local_batch_norm_ranks_stay_alike_and_are_not_one(ranks):
    wanted = Wanted("supcon", shared_norm=False)
    assert farthest(trained(wanted, OneRank()), together(wanted, ranks)) > 1e-3


@two_ranks
def test_each_rank_trains_its_share_in_chunks(ranks):
    whole, chunks = Wanted("supcon", chunk=BATCH), Wanted("supcon", chunk=4)
    assert farthest(trained(whole, OneRank()), together(chunks, ranks)) < 1e-12


@two_ranks
def test_ranks_that_came_apart_end_the_run(ranks):
    with pytest.raises(Problem, match="no longer hold the same weights"):
        together(Wanted("ce", apart=1e-6), ranks)


@four_ranks
@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_four_ranks_train_as_one(name, ranks):
    wanted = Wanted(name)
    assert farthest(trained(wanted, OneRank()), together(wanted, ranks)) < 1e-12
