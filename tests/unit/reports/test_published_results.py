"""The papers' tables: read whole, set beside the runs they belong to and no others, and honest about what differs."""

from math import isnan

import numpy as np
import pytest

from tests.unit.comparing.compared_runs import evaluated, images, store
from workbench import registry
from workbench.comparing.overview import overview
from workbench.comparing.published import published_tables
from workbench.comparing.published.published_tables import beside, own_values, tables
from workbench.config import Choice, EmbeddingParams, EvaluationParams, RunConfig
from workbench.entries import catalog
from workbench.events import Ended
from workbench.reports.content.gathering import gather
from workbench.settings.presets import presets
from workbench.workspace import Workspace
from workbench.workspace.recorder import Recorder


def run_of(dataset, split, **changes):
    return RunConfig(dataset=Choice(name=dataset), split=split, **changes)


def test_every_table_is_whole_and_names_what_exists():
    registry.discover_all()
    known = {kind: {each.name for each in registry.entries(kind)} for kind in ("dataset", "split", "loss")}
    assert len(tables()) >= 20
    for table in tables():
        assert table.dataset in known["dataset"]
        assert table.split in known["split"]
        assert table.rows
        for row in table.rows:
            assert len(row.values) == len(table.metrics)
            assert not row.loss or row.loss in known["loss"]
            assert row.loss != "proxy_nca" or row.method.startswith("ProxyNCA++"), "the loss here is not ProxyNCA"
            assert all(isnan(value) or 5 < value <= 100 for value in row.values)
            recalls = [value for value, name in zip(row.values, table.metrics, strict=True) if "recall" in name]
            known_ones = [value for value in recalls if not isnan(value)]
            assert known_ones == sorted(known_ones), (table.title, row.method)


@pytest.mark.parametrize(
    ("source", "dataset", "method", "metric", "value"),
    [
        ("Table 4", "cub", "Cross-Entropy", "recall@1", 69.2),
        ("Table 4", "inshop", "Cross-Entropy", "recall@50", 99.2),
        ("Table 3", "sop", "ICE", "recall@1", 77.3), ("Section 5.3", "mnist", "CCP, samples", "MAP@R", 98.06),
        ("Supplement, Table 4", "cars", "MS-CCP-L", "MAP@R", 19.85), ("Table 1", "cifar10", "PSCE simplex (batch 32)",
        "linear/top-1", 96.2), ("Supplement, Table 1", "cub", "RankMI", "NMI", 72.8),
        ("Table 3", "folder", "PSCE simplex (120 epochs)", "linear/top-1", 76.7),
        ("Table of 384 dimensions", "cars", "Hyp-DINO, before the head", "recall@1", 89.2),
        ("Table of 128 dimensions", "sop", "Hyp-ViT", "recall@10", 94.9),
        ("Table 4", "sop", "ICE, 45 × 4", "recall@100", 95.3), ("Table 5", "sop", "ICE, N = 100", "recall@10", 88.2),
        ("Table 6", "sop", "ICE, 64", "recall@1", 72.6), ("Table 5", "cifar100", "SCE, two views", "classifier/top-1",
        77.6), ("Table 5", "cifar10", "SCE, two stages", "linear/top-1", 95.3),
        ("Table 6", "cifar10", "PSCE simplex, unit length, without own class", "linear/top-1", 95.0),
        ("Table 7", "cifar100", "PSCE random", "linear/top-1", 78.1),
        ("Table 8", "cifar100", "PSCE, D = 2", "linear/top-1", 58.1),
        ("Supplement, Table 3", "cub", "RankMI, depth 5, width 32", "recall@4", 85.4),
        ("Supplement, Table 4", "cub", "RankMI, ratio 2", "recall@16", 95.1),
        ("Supplement, Table 5", "cub", "RankMI, batch 240", "recall@1", 62.1),
        ("Supplement, Table 6", "cub", "RankMI, 512", "recall@8", 91.8),
        ("Table 1", "inshop", "MS-CCP-L", "recall@1", 91.84), ("Table 2", "sop", "C1-CCP-L", "recall@1", 81.74),
        ("Table 2", "inshop", "ProxyAnchor (from LIBC)", "recall@1", 92.1),
    ],
)  # fmt: skip
def test_headline_figures_are_those_of_the_papers(source, dataset, method, metric, value):
    found = [
        row.values[table.metrics.index(metric)]
        for table in tables() if (table.source, table.dataset) == (source, dataset) and metric in table.metrics
        for row in table.rows if row.method == method
    ]  # fmt: skip
    assert value in found


def test_a_table_stands_beside_runs_of_its_protocol_only():
    metrics = {"recall@1": 0.5, "MAP@R": 0.2, "linear/top-1": 0.9}
    halves = Choice(name="classes")
    assert {each.source for each in beside(run_of("cub", halves), metrics)} == {
        "Table 4", "Table 3", "Supplement, Table 1", "Table 1", "Table 2", "Table of 128 dimensions",
        "Table of 384 dimensions",
    }  # fmt: skip
    assert not beside(run_of("cub", Choice(name="classes", params={"train_fraction": 0.3})), metrics)
    assert not beside(run_of("cub", Choice(name="official")), metrics)
    assert not beside(run_of("digits", Choice(name="random")), metrics)
    assert not beside(run_of("cub", halves), {"kNN": 0.5})
    tail = Choice(name="long_tailed", params={"ratio": 50.0})
    assert [each.note for each in beside(run_of("cifar10", Choice(name="official"), sampler=tail), metrics)] == [
        "long-tailed 50"
    ]


def test_an_ablation_stands_beside_runs_of_its_loss_only():
    halves, metrics = Choice(name="classes"), {"recall@1": 0.5}
    titles = {table.title for table in beside(run_of("cub", halves, loss=Choice(name="rankmi")), metrics)}
    assert titles > {"RankMI: batch size", "RankMI: embedding size", "RankMI: depth and width"}
    assert not any(":" in table.title for table in beside(run_of("cub", halves), metrics))
    assert all(row.loss in table.losses for table in tables() if table.losses for row in table.rows)


def test_imagenets_table_stands_beside_folders_of_a_thousand_classes_only():
    config, metrics = run_of("folder", Choice(name="official")), {"linear/top-1": 0.7}
    (table,) = beside(config, metrics, 1000)
    assert (table.title, table.source) == ("PSCE on ImageNet-1K", "Table 3")
    printed = [row.method for row in table.rows if isnan(row.values[0])]
    assert printed == ["SCE (700 epochs): < 75.0", "SCL (700 epochs): < 76.0"], "a bound is no value"
    assert not beside(config, metrics, 10)
    assert not beside(config, metrics), "nothing is known of the data"
    assert published_tables.classes_of({"data": {"classes": 7}}) == 7
    assert published_tables.classes_of({}) == 0


def test_other_images_of_a_thousand_classes_are_said_beside_imagenets_table():
    config, metrics = run_of("folder", Choice(name="official")), {"linear/top-1": 0.7}
    (table,) = beside(config, metrics, 1000)
    data = {"classes": 1000, "images": 2200, "unlike_published": []}
    assert table.differences(config, {"data": data}, metrics) == [
        "This run's backbone is conv4, the table's ResNet-50.",
        "This run's data are not the table's: 2,200 images, not 1,331,167.",
    ]
    published = {"data": {**data, "images": 1_281_167 + 50_000}}
    assert not any("data" in sentence for sentence in table.differences(config, published, metrics))


def test_what_differs_is_said():
    config = run_of("cub", Choice(name="classes"), backbone=Choice(name="resnet50"))
    ce = next(each for each in beside(config, {"recall@1": 0.5}) if each.source == "Table 4")
    assert ce.differences(config, {}, ()) == ["This run's embeddings have 100 dimensions, the table's 2048."]
    other = config.model_copy(
        update={"embedding": EmbeddingParams(dim=2048), "backbone": Choice(name="conv4"),
                "evaluation": EvaluationParams(distance="l2")}
    )  # fmt: skip
    assert ce.differences(other, {}, ()) == [
        "This run's backbone is conv4, the table's BN-Inception, GoogLeNet, ResNet-18 or ResNet-50."
    ]
    assert own_values(ce, {"recall@1": 0.5, "recall@2": float("nan")})[0] == 50
    assert isnan(own_values(ce, {"recall@1": 0.5})[1])
    assert published_tables.NAMES["resnet50"] == "ResNet-50"


def test_a_table_by_another_distance_takes_the_run_s_numbers_by_that_distance():
    preset = {preset.key: preset.config for preset in presets()}["cub-hyp-vit"]
    config = preset.model_copy(update={"evaluation": EvaluationParams()})
    by_cosine = {"recall@1": 0.5, "recall@2": 0.6, "recall@4": 0.7}
    (table,) = (table for table in beside(config, by_cosine) if table.title.endswith("128 dimensions"))
    assert own_values(table, by_cosine) == [50, 60, 70]
    assert "This run compares by cosine, the table by hyperbolic." in table.differences(config, {}, by_cosine)
    both = by_cosine | {"hyperbolic/recall@1": 0.75, "hyperbolic/recall@2": 0.875, "hyperbolic/recall@4": 1.0}
    assert own_values(table, both) == [75, 87.5, 100]
    assert table.differences(config, {}, both) == []
    assert own_values(table, by_cosine) == [50, 60, 70]
    assert table.differences(preset, {}, by_cosine) == [], "the preset's own distance is the paper's"


def test_a_group_has_its_means_over_seeds_in_percent(tmp_path):
    halves = {"dataset": Choice(name="cub"), "split": Choice(name="classes")}
    scores = [{"recall@1": 0.5, "recall@2": 0.75}, {"recall@1": 0.25, "recall@2": 0.5}, {"recall@1": 0.375}]
    with Workspace(tmp_path / "space", create=True) as workspace:
        for seed, metrics in enumerate(scores):
            store(workspace, {1: np.full(6, 0.9)}, seed=seed, metrics=metrics, **halves)
        store(workspace, {}, seed=9, **halves)
        store(workspace, {}, name="Without", loss="triplet", **halves)
        runs = [workspace.run(number) for number in range(1, 6)]
        papers = overview(workspace, runs, catalog.current(), "recall@1", "best").papers
    shown = next(beside_it for beside_it in papers if beside_it.table.source == "Table 4")
    (row,) = shown.rows
    assert (row.group.title, row.seeds) == ("Small", 3)
    by_metric = dict(zip(shown.table.metrics, row.values, strict=True))
    assert (by_metric["recall@1"], by_metric["recall@2"]) == (37.5, 62.5)
    assert isnan(by_metric["recall@4"])
    assert all(said.startswith("“Small”: This run") for said in shown.differences)


def test_data_that_are_not_whole_and_other_folds_are_said():
    some = {"data": {"unlike_published": [["cub", "was published with 200 classes and has 20 here: 180 are missing"]]}}
    split = Choice(name="mlrc", params={"folds": 10})
    separated = next(each for each in beside(run_of("cub", split), {"MAP@R": 0.2}) if each.note == "separated")
    said = separated.differences(run_of("cub", split), some, ())
    assert "This run's data are not the table's: cub was published with 200 classes and has 20 here" in " ".join(said)
    assert "This run's training classes are in 10 folds, the table's in 4." in said
    whole = separated.differences(run_of("cub", Choice(name="mlrc")), {"data": {"unlike_published": []}}, ())
    assert not any("folds" in each or "data" in each for each in whole)
    held_out = run_of("cub", Choice(name="classes", params={"validation": 0.25}))
    halves = next(each for each in beside(held_out, {"recall@1": 0.5}) if each.source == "Table 4")
    assert "This run holds out a share of 0.25 of the training classes." in halves.differences(held_out, {}, ())


@pytest.mark.parametrize(
    ("paper", "keys"),
    [("Wang et al. 2019", ["cub-ice", "cars-ice", "sop-ice"]),
     ("Boudiaf", ["cub-ce", "cars-ce", "sop-ce", "inshop-ce"])],
)  # fmt: skip
def test_a_paper_s_preset_has_the_network_and_the_size_of_its_own_tables(paper, keys):
    configs = {preset.key: preset.config for preset in presets()}
    for key in keys:
        own = [table for table in beside(configs[key], {"recall@1": 0.5}) if table.paper.startswith(paper)]
        assert own
        assert [sentence for table in own for sentence in table.differences(configs[key], {}, ())] == []


def test_methods_that_train_a_classifier_in_one_stage_are_compared_by_it():
    """PSC's figures are of a hybrid network, whose classifier learns beside the prototypes (Wang et al. 2021)."""
    tailed = [table for table in tables() if table.note.startswith("long-tailed")]
    assert len(tailed) == 6
    for table in tailed:
        assert table.metrics == ("classifier/top-1", "linear/top-1")
        one_stage = {row.method for row in table.rows if not isnan(row.values[0])}
        assert one_stage == {"SCE", "BSCE-SCE", "Focal", "BSCE-Focal", "LDAM-DRW", "PSC, hybrid network"}
        assert all(isnan(row.values[0]) != isnan(row.values[1]) for row in table.rows)


def test_sce_of_one_stage_is_compared_by_its_classifier_in_every_table_of_psce():
    """Table 2 says "linear", but its 74.4 is that of Tables 1 and 5 for one stage; of two stages it is 77.6."""
    cifar = [table for table in tables() if table.dataset == "cifar100" and "Bytyqi" in table.paper]
    rows = [
        dict(zip(table.metrics, row.values, strict=True))
        for table in cifar if table.source in ("Table 1", "Table 2", "Table 5")
        for row in table.rows if row.method in ("SCE", "SCE (batch 32)")
    ]  # fmt: skip
    assert [row["classifier/top-1"] for row in rows] == [74.4, 74.4, 74.4]
    assert all(isnan(row["linear/top-1"]) for row in rows)


def test_a_linear_probe_of_the_last_epoch_stands_beside_a_paper_whichever_epoch_was_best(tmp_path):
    shown, rows = images(6), np.arange(6)
    with Workspace(tmp_path / "space", create=True) as workspace:
        run_id = workspace.create_run(run_of("cifar10", Choice(name="official"), loss=Choice(name="supcon")))
        recorder = Recorder(workspace, run_id)
        recorder.dataset(workspace.register_dataset(shown, tmp_path / "pixels.npy"))
        recorder(evaluated(shown, 1, np.full(6, 0.9), rows, {}))
        recorder(evaluated(shown, 2, np.full(6, 0.6), rows, {"linear/top-1": 0.75}))
        recorder(Ended("done"))
        found = gather(workspace, run_id, ("published",), "")
        last = gather(workspace, run_id, ("published",), "", "last")
    assert found.is_best
    assert found.shown.epoch == 1
    assert [(each.table.source, each.own[1:]) for each in found.published] == [("Table 1", [75.0])]
    assert "Of epoch 2, not of the best epoch (1): Linear probe, top-1." in found.published[0].differences
    assert not [said for said in last.published[0].differences if said.startswith("Of epoch")]


def test_a_linear_probe_of_the_last_epoch_is_among_the_metrics_whichever_epoch_was_best(tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        run_id = store(workspace, {1: np.full(6, 0.9), 2: np.full(6, 0.6)})
        with workspace.writing() as db:
            db.execute("update evaluations set metrics = json_set(metrics, '$.\"linear/top-1\"', 0.75) where epoch = 2")
        row = next(row for row in gather(workspace, run_id, ("metrics",), "").metrics if row.name == "linear/top-1")
    assert (isnan(row.shown), row.last) == (True, 0.75)
