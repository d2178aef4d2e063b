"""The comparison of methods: every loss has a run on every bench, done runs are kept, the table is Markdown."""

from time import monotonic, sleep

import pytest
import torch

from tests.waits import HANG
from workbench import cli
from workbench.backbones.head import EmbeddingHead
from workbench.commands.training import method_table
from workbench.commands.training.method_table import BENCHES, Row, compare, config_for, table
from workbench.entries import catalog
from workbench.fair.benches import Bench
from workbench.jobs import Job
from workbench.problem import Problem
from workbench.progress import quiet
from workbench.workspace import Workspace

METHODS = sorted(key.partition("/")[2] for key in catalog.current() if key.startswith("loss/"))


@pytest.mark.parametrize("bench", BENCHES)
@pytest.mark.parametrize("method", METHODS)
def test_every_method_has_a_run_that_can_start(bench, method, tmp_path):
    config = config_for(bench, method, 1, tmp_path)
    assert (config.loss.name, config.seed) == (method, 1)
    assert config.check(catalog.current()) == {}


def test_a_method_runs_with_what_was_measured_on_the_bench_or_else_on_omniglot(tmp_path):
    anchors = config_for("caltech", "proxy_anchor", 0, tmp_path).loss.params
    assert anchors == {"proxy_lr": 20.0, "alpha": 8.0}
    on_photographs = config_for("caltech", "ce", 0, tmp_path)
    assert on_photographs.loss.params == {"dropout": 0.0, "proxy_lr": 10.0}
    assert on_photographs.training.backbone_lr == 0
    assert config_for("mnist", "ce", 0, tmp_path).loss.params["dropout"] == 0
    assert {
        bench for each in METHODS for bench in catalog.current()[f"loss/{each}"]["facts"].get("measured", {})
    } == set(BENCHES)


def own_product(config):
    """|z|^2 / n, mean over a batch: what SPCE's logit of the own class holds of the image itself.

    The features stand in for SqueezeNet's pooled ones: never negative, much in common, 590 long.
    """
    draw, n = torch.Generator().manual_seed(0), config.training.batch_size
    common, own = (torch.randn(m, 512, generator=draw).abs() for m in (1, n))
    features = 590 * torch.nn.functional.normalize(common + own)
    return EmbeddingHead(512, config.embedding).train()(features).square().sum(1).mean().item() / n


def test_spce_on_photographs_is_neither_saturated_nor_flat(tmp_path, monkeypatch):
    mended = config_for("caltech", "spce", 0, tmp_path)
    assert 1 < own_product(mended) < 8, "4 learned, 16 hardly did"
    assert mended.sampler.params["images_per_class"] == 8
    known = catalog.current()
    del known["loss/spce"]["facts"]["measured"]
    monkeypatch.setattr(method_table.catalogs, "current", lambda: known)
    assert own_product(config_for("caltech", "spce", 0, tmp_path)) > 1000, "as it came: a saturated softmax"


@pytest.mark.parametrize(("kind", "options"), [("fair", ("--methods", "ce,spce")), ("methods", ("--method", "ce"))])
def test_data_that_are_not_in_the_folder_are_said_once_and_no_run_is_made(tmp_path, capsys, kind, options):
    space = tmp_path / "space"
    (tmp_path / "data").mkdir()
    asked = ["benchmark", kind, "--data", str(tmp_path / "data"), *options, "--workspace", str(space)]
    assert cli.main(asked) == 1
    (said,) = capsys.readouterr().err.splitlines()
    assert "images_background_small1.zip" in said
    assert "Nothing was started." in said
    with Workspace(space, create=True) as workspace:
        assert workspace.runs() == []


def test_a_comparison_runs_each_method_once(tmp_path, monkeypatch):
    short = {"training": {"epochs": 1, "batch_size": 40}, "backbone": {"width": 4}, "evaluation": {"probe_size": 0}}
    monkeypatch.setitem(method_table.BENCHES, "digits", Bench("sample-digits", {}, short))
    told = []
    with Workspace(tmp_path, create=True) as workspace:
        rows = compare(workspace, "digits", ["ce", "spce"], [0], tmp_path, lambda *words: told.append(words))
        assert [(done, total) for _, done, total in told] == [(1, 2), (2, 2)]
        again = compare(workspace, "digits", ["ce", "spce"], [0], tmp_path, lambda *words: told.append(words))
        assert len(told) == 2, "nothing is run twice"
        with workspace.writing() as db:
            columns = "name, root, class_names, pixels, image_size, channels"
            db.execute(f"insert into datasets ({columns}, fingerprint) select {columns}, 'before' from datasets")
            db.execute("update runs set dataset_id = 2 where id = 1")
        with pytest.raises(Problem, match="The images have changed since run 1, so these numbers cannot be compared"):
            compare(workspace, "digits", ["ce", "spce"], [0], tmp_path, lambda *words: told.append(words))
    assert again == rows
    assert rows[0].method == "untrained"
    assert {row.method for row in rows[1:]} == {"ce", "spce"}
    assert all(len(row.map_at_r) == len(row.nmi) == 1 and 0 < row.nmi[0] <= 1 for row in rows)


def test_the_table_has_mean_and_spread():
    rows = [
        Row("untrained", [0.5, 0.5], [0.1, 0.1], [0.3, 0.3], [0.0], 0),
        Row("ce", [0.9, 0.8], [0.6, 0.5], [0.7, 0.6], [2.0, 4.0], 2**30),
    ]
    assert table(rows).startswith("| method, mean ± SD over seeds |")
    assert table(rows).splitlines()[2:] == [
        "| untrained | 50.00 ± 0.00 | 10.00 ± 0.00 | 0.300 ± 0.000 |  |  |",
        "| ce | 85.00 ± 7.07 | 55.00 ± 7.07 | 0.650 ± 0.071 | 3.0 | 1,074 MB |",
    ]


def test_ctrl_c_waits_for_the_thread_that_trains(tmp_path, monkeypatch):
    """A process that ends beside it is aborted by the libraries, without a word and with another status."""
    ended = []

    def job(workspace, run_id, control, *, listed):
        def train(control, emit):
            end = monotonic() + HANG
            while not control.interrupted and monotonic() < end:
                sleep(0.01)
            ended.append(control.interrupted)

        made = Job("run", train, lambda event: None, control)
        joined = made.join

        def join(timeout=None):
            if not control.interrupted:
                raise KeyboardInterrupt
            return joined(timeout)

        monkeypatch.setattr(made, "join", join)
        return made

    monkeypatch.setitem(method_table.BENCHES, "digits", Bench("sample-digits", {}, {}))
    monkeypatch.setattr(method_table, "make_job", job)
    with Workspace(tmp_path, create=True) as workspace, pytest.raises(KeyboardInterrupt):
        compare(workspace, "digits", ["ce"], [0], tmp_path, quiet)
    assert ended == [True]
