"""Pairs, draws and class means that no GPU is waited for: they are those of the plain formulation."""

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from workbench.losses.batch import positive_pairs
from workbench.losses.distance_weighted import drawn_without_reading
from workbench.losses.pair_lists import classes_by_size, classes_in_rows, keep_on_cpu, on_cpu, positive_pair_list
from workbench.losses.prototypes import follow_class_means

LABELS = ([0, 1, 0, 2, 1, 0], [3, 3, 3], [4, 2, 7], [5], [9, 0, 9, 9, 0, 1, 1, 9])


@pytest.mark.parametrize("labels", LABELS)
def test_listed_pairs_are_the_true_places_of_the_mask_in_their_order(labels):
    y = torch.tensor(labels)
    anchors, partners = positive_pair_list(y)
    assert torch.equal(torch.stack([anchors, partners], 1), positive_pairs(y).nonzero())


@pytest.mark.parametrize("labels", LABELS)
def test_classes_by_size_list_every_image_of_a_class_of_two_or_more_once(labels):
    y = torch.tensor(labels)
    tables = classes_by_size(y)
    classes = [members for table in tables for members in table.tolist()]
    assert all((y[table] == y[table[:, :1]]).all() for table in tables)
    listed = sorted(place for members in classes for place in members)
    assert listed == positive_pairs(y).any(1).nonzero()[:, 0].tolist()
    assert len(classes) == sum(labels.count(label) > 1 for label in set(labels))


@pytest.mark.parametrize("labels", LABELS)
def test_classes_in_rows_list_every_anchor_with_its_class_and_its_positives(labels):
    y = torch.tensor(labels)
    listed = {
        anchor: (members, positives)
        for rows in classes_in_rows(y)
        for anchor, members, positives in zip(
            rows.anchors.tolist(), rows.members.tolist(), rows.positives.tolist(), strict=True
        )
    }
    positive = positive_pairs(y)
    assert sorted(listed) == positive.any(1).nonzero()[:, 0].tolist()
    for anchor, (members, positives) in listed.items():
        assert sorted(members) == (y == y[anchor]).nonzero()[:, 0].tolist()
        assert sorted(positives) == positive[anchor].nonzero()[:, 0].tolist()


def test_labels_that_are_kept_are_not_copied():
    array = np.array([1, 0, 1])
    assert on_cpu(keep_on_cpu(torch.tensor([1, 0, 1]), array)) is array


def test_draws_follow_the_shares_and_add_up():
    torch.manual_seed(0)
    shares = torch.tensor([[0.0, 0.25, 0.75, 0.0], [0.0] * 4, [0.5, 0.0, 0.0, 0.5], [0.0, 0.0, 0.0, 1.0]])
    wanted = torch.tensor([3, 4, 2, 0])
    times = torch.stack([drawn_without_reading(shares, wanted) for _ in range(4000)])
    assert times.sum(2).unique(dim=0).tolist() == [[3, 0, 2, 0]]
    torch.testing.assert_close(times.mean(0), shares * wanted[:, None], rtol=0, atol=0.05)
    assert not times[:, shares == 0].any()


@pytest.mark.parametrize("labels", LABELS)
def test_class_means_follow_the_mean_direction_of_their_class(labels):
    y, generator = torch.tensor(labels), torch.Generator().manual_seed(0)
    z = F.normalize(torch.randn(len(y), 4, generator=generator, dtype=torch.float64))
    before = torch.randn(10, 4, generator=generator, dtype=torch.float64)
    means, expected = before.clone(), before.clone()
    for label in set(labels):
        expected[label] = 0.9 * before[label] + 0.1 * F.normalize(z[y == label].sum(0), dim=0)
    follow_class_means(means, z, y, 0.9)
    torch.testing.assert_close(means, expected, rtol=1e-12, atol=1e-12)
