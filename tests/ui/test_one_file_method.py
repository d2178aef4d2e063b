"""A loss with a companion, charts and proxies is one file: form, command line, trainer, Method panel and report."""

import numpy as np
import pytest
from click.testing import CliRunner

from workbench import plugins, registry
from workbench.cli import cli
from workbench.config import Choice, EvaluationParams, RunConfig, TrainingParams
from workbench.entries import catalog as catalogs
from workbench.training import checkpoint
from workbench.ui.pages.setup import SetupPage
from workbench.ui.pages.setup.model.draft import Draft
from workbench.ui.pages.train.method import MethodPanel
from workbench.workspace import Workspace

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")

METHOD = '''
"""One file."""

import torch
from torch import nn
from torch.nn import functional as F

from workbench.charts import Chart, Marks
from workbench.events import Charted, Scalar
from workbench.losses.contract import Companion, Loss
from workbench.losses.shared.linear_logits import LinearLogits
from workbench.params import Params, param
from workbench.registry import register


class OwnParams(Params):
    pull: float = param(0.25, ge=0, le=1, help="Added to every step.")


class Counting(Companion):
    def __init__(self, around, pull):
        self.around, self.pull, self.steps = around, pull, 0

    def begin(self):
        assert self.around.embed(self.around.labels.argsort()[:4]).shape[0] == 4

    def penalty(self):
        return torch.tensor(self.pull)

    def after_step(self, step):
        self.steps += 1
        self.around.emit(Scalar("own/steps", step, float(self.steps)))
        self.around.emit(Scalar("own/MAP@R", step, self.around.validate(F.normalize, "l2")))

    def state_dict(self):
        return {"steps": self.steps}

    def load_state_dict(self, state):
        self.steps = state["steps"]


@register("loss", "own_method", title="Own method", params=OwnParams, source="This test", batch="any")
class OwnMethod(Loss):
    """Cross-entropy with a constant added by its companion."""

    def __init__(self, params, *, num_classes, embedding_dim):
        super().__init__()
        self.params, self.weight = params, nn.Parameter(torch.zeros(num_classes, embedding_dim))

    def forward(self, embeddings, labels):
        return F.cross_entropy(self.logits(embeddings), labels)

    def logits(self, embeddings):
        return embeddings @ self.weight.T

    def linear_logits(self):
        return LinearLogits(self.weight)

    def class_proxies(self):
        return self.weight, torch.arange(len(self.weight))

    def charts(self, embeddings, labels):
        lengths = tuple(embeddings.norm(dim=1)[:5].tolist())
        return [Chart("Own lengths", "image", (Marks("length", "line", tuple(range(5)), lengths),))]

    def companion(self, surroundings):
        return Counting(surroundings, self.params.pull)
'''


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An added folder with the method; afterwards it is removed."""
    monkeypatch.setenv("WORKBENCH_PLUGINS", str(tmp_path / "settings" / "folders.txt"))
    place = tmp_path / "package"
    place.mkdir()
    (place / "own_method.py").write_text(METHOD)
    assert CliRunner().invoke(cli, ["plugins", "add", str(place)]).exit_code == 0
    yield place
    assert CliRunner().invoke(cli, ["plugins", "remove", str(place)]).exit_code == 0
    registry.load_plugins()
    assert "own_method" not in [each.name for each in registry.entries("loss")]


def test_a_method_with_everything_is_one_file(folder, tmp_path, qtbot):
    file = str(folder / "own_method.py")
    listed = CliRunner().invoke(cli, ["list", "losses"]).output
    assert "own_method" in listed
    assert f"plug-in: {file}" in listed

    config = RunConfig(
        device="cpu", backbone=Choice(name="conv4", params={"width": 4}), loss=Choice(name="own_method"),
        training=TrainingParams(epochs=1, batch_size=200),
        evaluation=EvaluationParams(probe_size=50, probe_every=2, anatomy_every=2),
    )  # fmt: skip
    fields = Draft(catalogs.current(), config).fields("Loss")
    at = fields["loss.name"]["enum"].index("own_method")
    assert fields["loss.name"]["titles"][at] == "Own method · plug-in"
    assert f"A plug-in: {file}." in fields["loss.name"]["description"]
    assert fields["loss.pull"]["default"] == 0.25

    config.to_toml(tmp_path / "own.toml")
    space = str(tmp_path / "space")
    done = CliRunner().invoke(cli, ["run", str(tmp_path / "own.toml"), "--workspace", space, "--quiet"])
    assert done.exit_code == 0, done.output
    with Workspace(space) as workspace:
        run = workspace.runs()[0]
        steps, counted = workspace.scalars(run.id, "own/steps")
        assert counted.tolist() == steps.tolist() == [1, 2, 3, 4]
        assert 0 < workspace.scalars(run.id, "own/MAP@R")[1].min() <= 1
        assert workspace.scalars(run.id, "batch/loss")[1][0] == pytest.approx(np.log(10) + 0.25)
        assert {"probe/ce", "train/accuracy", "anatomy/pce"} <= set(workspace.scalar_names(run.id))
        vectors, labels = workspace.proxies(workspace.evaluations(run.id)[-1].id)
        assert (len(vectors), labels.tolist()) == (10, list(range(10)))
        assert checkpoint.load(workspace.folder(run.id) / "last.pt")["projections"] == {"steps": 4}
        charts = workspace.charts(run.id, workspace.chart_steps(run.id)[-1])
    panel = qtbot.addWidget(MethodPanel())
    panel.show_charts(charts)
    assert [chart.title for chart in charts] == ["Own lengths"]
    assert len(panel.charts) == 1

    out = tmp_path / "report"
    written = CliRunner().invoke(cli, ["report", "1", "--workspace", space, "--format", "html", "--out", str(out)])
    assert written.exit_code == 0, written.output
    told = "".join(page.read_text("utf-8") for page in out.rglob("*.html")).replace("<wbr>", "")
    assert "own_method" in told
    assert "Plug-in: loss own_method" in told
    assert file in told


def test_the_form_takes_a_folder_and_says_what_is_broken(folder, session, qtbot, monkeypatch):
    (folder / "broken.py").write_text("1 / 0")
    session.set_catalog(catalogs.current())
    page = qtbot.addWidget(SetupPage(session))
    page.show()
    qtbot.waitUntil(page.plugins.label.isVisible)
    broken = folder / "broken.py"
    assert page.plugins.label.text() == (
        f"The plug-in {broken} cannot be used. ZeroDivisionError in line 1: division by zero."
    )
    other = folder.parent / "other"
    other.mkdir()
    (other / "second.py").write_text(METHOD.replace("own_method", "second_method"))
    broken.unlink()
    asked = []

    def answer(box):
        asked.append(box.text())
        box.buttons()[0].click()

    monkeypatch.setattr("workbench.ui.pages.setup.plugins.QFileDialog.getExistingDirectory", lambda *_: str(other))
    monkeypatch.setattr("workbench.ui.pages.setup.plugins.QMessageBox.exec", answer)
    page.plugins.ask()
    qtbot.waitUntil(lambda: "loss/second_method" in session.catalog)
    qtbot.waitUntil(lambda: not page.plugins.label.isVisible())
    assert asked == [f"{other}\n\n{plugins.WARNING}"]
    assert "second_method" in page.draft.fields("Loss")["loss.name"]["enum"]
    plugins.remove(other)
