"""The check of a batch, and the loop that has made it once for all of its labels."""

import numpy as np
import pytest
import torch

from workbench.losses import build_loss, list_losses
from workbench.losses.anatomy import mutual_information, pce, spce, tightness_contrastive
from workbench.losses.batch import checked, labels_in_range


def test_labels_are_read_unless_the_loop_knows_them():
    z, y = torch.zeros(2, 3), torch.tensor([0, 7])
    with pytest.raises(ValueError, match=r"labels must lie in 0\.\.6: got 0\.\.7"):
        checked(z, y, 7)
    with labels_in_range():
        assert checked(z, y, 7) is z
        with pytest.raises(ValueError, match="one label per embedding"):
            checked(z, y[:1], 7)
    with pytest.raises(ValueError, match="labels must lie in"):
        checked(z, y, 7)


@pytest.mark.parametrize(("z", "y"), [(np.eye(2), torch.tensor([0, 1])), (torch.eye(2), [0, 1])])
def test_what_is_no_tensor_is_named(z, y):
    with pytest.raises(TypeError, match=r"as torch.as_tensor makes them: got (ndarray and Tensor|Tensor and list)"):
        checked(z, y)


def test_the_number_of_classes_is_a_whole_one():
    z, y = torch.eye(2), torch.tensor([0, 1])
    assert spce(z, y, np.int64(2)) == spce(z, y, y.max() + 1) == spce(z, y, 2)
    for count in (0, 2.0, "2", None):
        with pytest.raises(ValueError, match="num_classes must be a whole number of at least 1"):
            spce(z, y, count)


@pytest.mark.parametrize("kind", [torch.uint8, torch.int16, torch.int32])
def test_the_anatomy_takes_labels_of_any_whole_number(kind):
    z, y = torch.randn(12, 3, generator=torch.Generator().manual_seed(0)), torch.arange(12) % 3
    assert spce(z, y.to(kind), 3) == spce(z, y, 3)
    assert pce(z, y.to(kind), torch.eye(3)) == pce(z, y, torch.eye(3))
    logits = 2 * z
    assert mutual_information(z, y.to(kind), logits) == mutual_information(z, y, logits)
    for method in ("spce", "ce", "center", "contrastive", "snca", "ms"):
        parts = tightness_contrastive(method, z, y.to(kind), weight=torch.eye(3))
        assert parts == tightness_contrastive(method, z, y, weight=torch.eye(3))


@pytest.mark.parametrize("weight", [torch.zeros(3, 4), torch.zeros(3), np.zeros((3, 3))])
def test_a_weight_of_another_shape_is_named(weight):
    z, y = torch.eye(3), torch.tensor([0, 1, 2])
    for measure in (lambda: pce(z, y, weight), lambda: tightness_contrastive("ce", z, y, weight=weight)):
        with pytest.raises(ValueError, match=r"weight must be a tensor \[K, 3\]: got (Tensor|ndarray) \["):
            measure()


@pytest.mark.parametrize("kind", [torch.uint8, torch.int8, torch.int16, torch.int32])
@pytest.mark.parametrize("name", list_losses())
def test_every_loss_takes_labels_of_any_whole_number(name, kind):
    z, y = torch.randn(12, 4, generator=torch.Generator().manual_seed(0)), torch.arange(12) % 3
    values = []
    for labels in (y, y.to(kind)):
        torch.manual_seed(1)
        values.append(build_loss(name, num_classes=3, embedding_dim=4)(z, labels))
    assert values[0] == values[1]


@pytest.mark.parametrize("of_loss", [torch.float64, torch.float32, torch.bfloat16])
@pytest.mark.parametrize("of_embeddings", [torch.float64, torch.float32, torch.bfloat16])
@pytest.mark.parametrize("name", list_losses())
def test_every_loss_takes_embeddings_of_another_precision_than_its_own(name, of_loss, of_embeddings):
    torch.manual_seed(0)
    loss = build_loss(name, num_classes=3, embedding_dim=4).to(of_loss)
    z, y = torch.randn(12, 4, dtype=of_embeddings).requires_grad_(), torch.arange(12) % 3
    value = loss(z, y) + loss(z, y)  # RankMI trains its network and the embeddings in turn
    value.backward()
    assert value.isfinite()
    assert z.grad.isfinite().all()
