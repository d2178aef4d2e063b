"""Weights and checkpoints as torch saves them, where they cannot be read."""

import pytest
import torch

from workbench.files.tensor_files import read_tensors
from workbench.problem import Problem


def test_a_file_of_torch_without_its_end_is_said_to_be_cut_off(tmp_path):
    path = tmp_path / "weights.pth"
    torch.save({"weight": torch.zeros(1000)}, path)
    assert read_tensors(path, Problem)["weight"].shape == (1000,)
    path.write_bytes(path.read_bytes()[:3000])
    with pytest.raises(Problem, match="its end is missing"):
        read_tensors(path, Problem)
