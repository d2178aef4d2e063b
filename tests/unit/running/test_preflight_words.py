"""What Preflight says of a run is whole sentences."""

import re

import pytest

from workbench.config import Choice, EvaluationParams, RunConfig
from workbench.running.preflight import preflight


@pytest.mark.parametrize("split", ["random", "classes", "mlrc"])
def test_every_sentence_begins_with_a_capital_or_a_number_and_ends_with_a_full_stop(split):
    params = {"folds": 2, "fold": 0} if split == "mlrc" else {}
    found = preflight(
        RunConfig(
            device="cpu", split=Choice(name=split, params=params), backbone=Choice(name="conv4", params={"width": 4}),
            evaluation=EvaluationParams(probe_size=0),
        )
    )  # fmt: skip
    sentences = re.split(r"(?<=\.) ", found.note)
    assert len(sentences) == 2
    assert all(re.fullmatch(r"[A-Z0-9].*[^.]\.", sentence) for sentence in sentences), found.note
