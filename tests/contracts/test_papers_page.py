"""docs/papers.md says of every preset and sweep of a paper what it reproduces."""

from pathlib import Path

import pytest

from workbench.settings.presets import presets
from workbench.sweeps.plan import sweep_presets

PAGE = (Path(__file__).parents[2] / "docs" / "papers.md").read_text("utf-8")
OF_NO_PAPER = {"sample-digits", "omniglot-unseen", "photographs-unseen"}


@pytest.mark.parametrize("key", [preset.key for preset in presets() if preset.key not in OF_NO_PAPER])
def test_every_preset_of_a_paper_is_on_the_page(key):
    named = f"`{key}`" in PAGE
    sibling = key.endswith("-vit-s") and "`cub-vit-s` and its three siblings" in PAGE
    assert named or sibling


@pytest.mark.parametrize("key", [preset.key for preset in sweep_presets()])
def test_every_sweep_of_a_paper_is_on_the_page(key):
    assert [line for line in PAGE.splitlines() if f"`{key}`" in line and line.startswith("|")]
