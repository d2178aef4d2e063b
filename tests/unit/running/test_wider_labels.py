"""Labels above the classes are scored beside them, in the evaluation, the terminal, the window's table and a report."""

from dataclasses import replace

import numpy as np

from tests.ui.trained import trained_run
from workbench.commands.terminal import ProgressLine
from workbench.comparing.measures import is_share
from workbench.config import Choice, EmbeddingParams, EvaluationParams, RunConfig, TrainingParams
from workbench.control import Control
from workbench.datasets.image_set import Level
from workbench.evaluation.retrieval import retrieve
from workbench.events import Evaluated
from workbench.reports.content.gathering import gather
from workbench.running.building import load_data
from workbench.running.engine import Engine
from workbench.ui.pages.train.curves.epoch_table import EpochTable
from workbench.workspace import Workspace


def test_each_level_has_its_own_recall_and_map_at_r(tmp_path):
    config = RunConfig(
        device="cpu", backbone=Choice(name="conv4", params={"width": 8}), split=Choice(name="random"),
        embedding=EmbeddingParams(dim=8),
        training=TrainingParams(epochs=1, batch_size=256),
        evaluation=EvaluationParams(every=1, probe_size=0, untrained=False),
    )  # fmt: skip
    data = load_data(config, lambda *words: None)
    wider = Level("parity", data.images.labels % 2, ["even", "odd"])
    data.images = replace(data.images, levels=[wider])
    heard = []
    Engine(config, data, tmp_path, Control(), heard.append).run()
    (event,) = [event for event in heard if isinstance(event, Evaluated)]
    expected = retrieve(event.embeddings, wider.labels[data.split.test], event.sample_ids, k=1).metrics
    for metric in ("recall@1", "MAP@R"):
        assert event.metrics[f"level/parity/{metric}"] == expected[metric]
    plain = retrieve(event.embeddings, data.images.labels[data.split.test], event.sample_ids, k=1).metrics
    assert event.metrics["MAP@R"] == plain["MAP@R"]
    assert event.metrics["level/parity/recall@1"] >= event.metrics["recall@1"]
    assert is_share("level/parity/MAP@R")


def test_a_level_is_shown_where_the_classes_are(tmp_path, capsys, qapp):
    with Workspace(tmp_path / "space", create=True) as workspace:
        run_id = trained_run(workspace, tmp_path / "cache")
        stored = workspace.evaluations(run_id)
        content = gather(workspace, run_id, ("metrics",), "")
        assert not any(row.name.startswith("level/") for row in content.metrics)
    leveled = [
        replace(one, metrics=one.metrics | {"level/genus/recall@1": 0.9, "level/genus/MAP@R": 0.75}) for one in stored
    ]
    table = EpochTable(lambda step: None)
    table.show(leveled)
    titles = [table.headerData(column, table_orientation()) for column in range(table.columnCount())]
    assert {"genus MAP@R % ↑", "genus R@1 % ↑"} <= set(titles)
    column = titles.index("genus MAP@R % ↑")
    assert table.data(table.index(0, column)).startswith("75")
    line = ProgressLine(2)
    metrics = leveled[-1].metrics
    empty = np.zeros(0)
    line(Evaluated(1, 1, "cosine", metrics, empty, empty, empty, empty, empty, empty, empty, empty))
    assert "genus MAP@R 75.00%" in capsys.readouterr().err


def table_orientation():
    from PySide6.QtCore import Qt

    return Qt.Orientation.Horizontal
