"""The check of a batch, and the loop that has made it once for all of its labels."""

import pytest
import torch

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
