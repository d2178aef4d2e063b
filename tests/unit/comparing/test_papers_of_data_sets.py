"""A paper's tables of several data sets have one title: groups stand beside that of their own data set only."""

import numpy as np

from tests.unit.comparing.compared_runs import images, store
from workbench.comparing.overview import overview
from workbench.config import Choice
from workbench.entries import catalog

RECALL = {"cub": 0.25, "cars": 0.75}


def test_groups_of_two_data_sets_stand_beside_the_table_of_their_own(workspace):
    runs = {
        name: store(
            workspace, {1: np.full(6, value)}, shown=images(6, name), metrics={"recall@1": value}, name=name,
            dataset=Choice(name=name), split=Choice(name="classes"),
        )
        for name, value in RECALL.items()
    }  # fmt: skip
    every = [workspace.run(run_id) for run_id in runs.values()]
    papers = overview(workspace, every, catalog.current(), "recall@1", "best").papers
    for name, value in RECALL.items():
        (paper,) = (paper for paper in papers if paper.table.dataset == name and paper.table.source == "Table 4")
        assert [(row.group.runs[0].id, row.values[0]) for row in paper.rows] == [(runs[name], 100 * value)]
