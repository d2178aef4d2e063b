"""Pairs, draws and class means that no GPU is waited for: they are those of the plain formulation."""

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from workbench.losses import build_loss
from workbench.losses.batch import positive_pairs
from workbench.losses.prototypes import follow_class_means
from workbench.losses.shared import pair_lists, pair_parts
from workbench.losses.shared.distance_weighted import drawn_without_reading
from workbench.losses.shared.pair_lists import class_tables, classes_in_rows, keep_on_cpu, on_cpu, positive_pair_list

LABELS = ([0, 1, 0, 2, 1, 0], [3, 3, 3], [4, 2, 7], [5], [9, 0, 9, 9, 0, 1, 1, 9], [4, 1, 4, 1, 4, 1, 4, 0, 0])


@pytest.mark.parametrize("labels", LABELS)
def test_listed_pairs_are_the_true_places_of_the_mask_in_their_order(labels):
    y = torch.tensor(labels)
    anchors, partners = positive_pair_list(y)
    assert torch.equal(torch.stack([anchors, partners], 1), positive_pairs(y).nonzero())


@pytest.mark.parametrize("filled", [1.0, 0.5])
@pytest.mark.parametrize("labels", LABELS)
def test_class_tables_list_every_image_of_a_class_of_two_or_more_once(labels, filled, monkeypatch):
    monkeypatch.setattr(pair_lists, "FILLED", filled)
    y = torch.tensor(labels)
    tables = class_tables(y)
    classes = []
    for table in tables:
        members, counts = table.members.tolist(), of_rows(table.counts, table.members)
        classes += [row[:count] for row, count in zip(members, counts, strict=True)]
        assert all(set(row[count:]) <= {row[count - 1]} for row, count in zip(members, counts, strict=True))
        assert table.pairs == sum(count * (count - 1) // 2 for count in counts)
    listed = sorted(place for members in classes for place in members)
    assert listed == positive_pairs(y).any(1).nonzero()[:, 0].tolist()
    assert all(len({labels[place] for place in members}) == 1 for members in classes)
    assert len(classes) == sum(labels.count(label) > 1 for label in set(labels))


@pytest.mark.parametrize(
    ("filled", "sizes", "expected"),
    [
        (1.0, [6, 5, 6, 5, 1], [6, 5]),
        (0.75, [6, 5, 6, 5, 1], [6]),
        (0.75, [16, 12, 11, 9, 8, 7, 2], [16, 11, 8, 2]),
        (0.5, [4, 8, 3, 8, 2, 1], [8, 3]),
        (0.5, [1, 1], []),
    ],
)
def test_classes_share_a_table_that_every_one_fills_enough(filled, sizes, expected, monkeypatch):
    monkeypatch.setattr(pair_lists, "FILLED", filled)
    labels = torch.arange(len(sizes)).repeat_interleave(torch.tensor(sizes))
    assert [table.members.shape[1] for table in class_tables(labels)] == expected
    assert [rows.members.shape[1] for rows in classes_in_rows(labels)] == expected


@pytest.mark.parametrize("filled", [1.0, 0.5])
@pytest.mark.parametrize("labels", LABELS)
def test_classes_in_rows_list_every_anchor_with_its_class_and_its_positives(labels, filled, monkeypatch):
    monkeypatch.setattr(pair_lists, "FILLED", filled)
    y, listed = torch.tensor(labels), dict[int, tuple[set[int], list[int]]]()
    for rows in classes_in_rows(y):
        columns = rows.anchors, rows.members, rows.positives
        for anchor, members, positives, count in zip(
            *(column.tolist() for column in columns), of_rows(rows.counts, rows.positives), strict=True
        ):
            assert set(positives[count:]) <= {anchor}
            listed[anchor] = set(members), positives[:count]
    positive = positive_pairs(y)
    assert sorted(listed) == positive.any(1).nonzero()[:, 0].tolist()
    for anchor, (members, positives) in listed.items():
        assert members == set((y == y[anchor]).nonzero()[:, 0].tolist())
        assert sorted(positives) == positive[anchor].nonzero()[:, 0].tolist()


def of_rows(counts, table):
    """How many of each row count."""
    return [table.shape[1]] * len(table) if counts is None else counts.tolist()


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


@pytest.mark.parametrize("at_once", [2**22, 20], ids=["whole", "in parts"])
@pytest.mark.parametrize("name", ["angular", "smooth_ap", "recall_at_k", "threshold_consistent"])
def test_rows_that_are_filled_up_change_neither_value_nor_gradient(name, at_once, monkeypatch):
    monkeypatch.setattr(pair_parts, "AT_ONCE", at_once)
    y = torch.tensor([0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 0, 1, 0, 4, 5, 5])
    z = torch.randn(len(y), 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    results = list[Tensor]()
    for filled in (1.0, 0.5, 0.1):  # as many tables as sizes; two; one
        monkeypatch.setattr(pair_lists, "FILLED", filled)
        leaf = z.clone().requires_grad_()
        loss = build_loss(name, num_classes=6, embedding_dim=8).double()
        value = loss(leaf, y)
        value.backward()
        results.append(torch.cat([value.detach()[None], leaf.grad.flatten()]))
    assert results[0][1:].abs().max() > 1e-4
    torch.testing.assert_close(results[1], results[0], rtol=1e-12, atol=1e-14)
    torch.testing.assert_close(results[2], results[0], rtol=1e-12, atol=1e-14)
