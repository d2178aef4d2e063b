"""What all folds of an experiment say together stands beside the papers' rows, and says how they are put together."""

from dataclasses import replace

import numpy as np
import pytest

from tests.unit.comparing.compared_runs import evaluated, images
from workbench.comparing.overview import overview
from workbench.comparing.published.published_tables import EXPERIMENT_ROWS, experiment_rows, tables
from workbench.config import Choice, EmbeddingParams, RunConfig
from workbench.entries import catalog
from workbench.evaluation import retrieval_metrics
from workbench.events import Ended
from workbench.reports.content.gathering import gather
from workbench.reports.content.group_content import gather_groups
from workbench.reports.writing.blocks import Table
from workbench.reports.writing.group_sections import group_blocks
from workbench.reports.writing.run_sections import section_blocks
from workbench.running import folds_and_seeds
from workbench.workspace.recorder import Recorder

N = 12
FOLDS = {1: 0.40, 2: 0.50}  # fold -> recall@1, P@R and MAP@R of its best epoch
MLRC = Choice(name="mlrc", params={"folds": 2})
CONFIG = RunConfig(name="Birds", dataset=Choice(name="cub"), split=MLRC, embedding=EmbeddingParams(dim=5))


@pytest.fixture
def vectors():
    return {fold: np.random.default_rng(fold).normal(size=(N, 5)).astype(np.float32) for fold in FOLDS}


def train(workspace, vectors):
    """Both folds, done, with these embeddings; their numbers."""
    run_ids = folds_and_seeds.prepare(CONFIG, workspace)
    shown = images(N)
    for run_id, (fold, value) in zip(run_ids, FOLDS.items(), strict=True):
        recorder = Recorder(workspace, run_id)
        recorder.dataset(workspace.register_dataset(shown, workspace.path / "pixels.npy"))
        metrics = dict.fromkeys(("recall@1", "P@1", "P@R", "MAP@R"), value)
        recorder(replace(evaluated(shown, 1, np.full(N, value), np.arange(N), metrics), embeddings=vectors[fold]))
        recorder(Ended("done"))
    return run_ids


def expected(vectors):
    parts = [each / np.linalg.norm(each, axis=1, keepdims=True) for each in vectors.values()]
    return retrieval_metrics(np.concatenate(parts, axis=1), images(N).labels, distance="cosine")


def test_a_finished_experiment_has_a_row_for_each_way_of_putting_its_folds_together(workspace, vectors):
    run_ids = train(workspace, vectors)
    runs = [workspace.run(run_id) for run_id in run_ids]
    before = overview(workspace, runs, catalog.current(), "MAP@R", "best").papers
    assert before
    assert not any(each.experiments or EXPERIMENT_ROWS in each.differences for each in before)
    folds_and_seeds.conclude(workspace, 1)
    after = overview(workspace, runs, catalog.current(), "MAP@R", "best").papers
    assert {each.table.note for each in after} == {"concatenated", "separated"}
    whole = expected(vectors)
    for each in after:
        assert each.table.metrics == ("P@1", "P@R", "MAP@R")
        together, apart = each.experiments
        assert (together.title, together.dim, together.n) == ("Birds, experiment 1: folds concatenated", 10, 1)
        assert together.values == pytest.approx([100 * whole[name] for name in ("recall@1", "P@R", "MAP@R")], abs=1e-4)
        assert (apart.title, apart.dim, apart.n) == ("Birds, experiment 1: folds separated", 5, 2)
        assert apart.values == pytest.approx([45.0] * 3)
        assert each.differences[-1] == EXPERIMENT_ROWS


def test_the_reports_of_one_fold_and_of_all_have_the_rows(workspace, vectors):
    run_ids = train(workspace, vectors)
    folds_and_seeds.conclude(workspace, 1)
    one = section_blocks("published", gather(workspace, run_ids[0], ("published",), ""))
    runs = [workspace.run(run_id) for run_id in run_ids]
    asked = ("group-published",)
    several = group_blocks(
        "group-published", gather_groups(workspace, runs, asked, "MAP@R", "best", lambda *_: None), {}
    )
    for blocks in (one, several):
        found = [each for each in blocks if isinstance(each, Table)]
        assert found
        for table in found:
            together, apart = table.rows[-2:]
            assert together[0] == "Birds, experiment 1: folds concatenated (here, n = 1)"
            assert apart[0] == "Birds, experiment 1: folds separated (here, n = 2)"
            assert apart[2:] == ("5", "45.0", "45.0", "45.0")
            assert {len(table.rows) - 2, len(table.rows) - 1} <= set(table.strong)


def test_seeds_without_folds_have_no_such_rows():
    table = next(each for each in tables() if each.note == "concatenated")
    assert experiment_rows(table, "Seeds", CONFIG, {"runs": 3, "separated": {"MAP@R": [0.1, 0.2, 0.3]}}) == []


def test_the_size_of_joined_embeddings_is_left_open_where_seeds_have_unlike_numbers_of_folds():
    table = next(table for table in tables() if table.note == "concatenated")
    result = {"runs": 5, "separated": {"MAP@R": [0.5, 0.25]}, "concatenated": [{"MAP@R": 0.5}, {"MAP@R": 0.25}]}
    together, apart = experiment_rows(table, "Birds", CONFIG, result)
    assert (together.dim, together.n, apart.dim, apart.n) == (0, 2, 5, 5)
    assert (together.values[-1], apart.values[-1]) == (37.5, 37.5)


def test_a_metric_that_one_seed_lacks_has_no_mean_over_seeds():
    table = next(table for table in tables() if table.note == "concatenated")
    both = {"MAP@R": 0.5, "recall@1": 0.75}
    result = {"runs": 4, "separated": {"MAP@R": [0.5]}, "concatenated": [both, {"MAP@R": 0.25}]}
    together, _ = experiment_rows(table, "Birds", CONFIG, result)
    assert together.values[-1] == 37.5
    assert np.isnan(together.values[0])
