"""How a program uses the public interface, for mypy alone: `mypy --strict` finds no fault, and no result is Any.

Nothing runs this file; `test_lint.py` checks its types with those of the package.
"""

from pathlib import Path
from typing import assert_type

import numpy as np
from torch import Tensor

from workbench.config import RunConfig
from workbench.control import Control
from workbench.evaluation import Retrieval, retrieval_metrics, retrieve
from workbench.evaluation.clusters import nmi
from workbench.evaluation.geometry import covering_radius
from workbench.exchange.own_loop import record_run
from workbench.losses import build_loss, list_losses
from workbench.losses.anatomy import pce, spce, tightness_contrastive
from workbench.losses.batch_loss import BatchLoss
from workbench.losses.prototypes import simplex
from workbench.params import Params, param
from workbench.registry import register
from workbench.running.launch import make_job, prepare_run
from workbench.running.trained_network import trained
from workbench.workspace import Workspace


class MineParams(Params):
    """Parameters of a plug-in."""

    margin: float = param(0.5, ge=0, help="Margin.")


@register("loss", "mine", title="Mine", params=MineParams, source="an example")
class Mine(BatchLoss[MineParams]):
    """A loss of a plug-in."""

    def forward_checked(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        """The sum of squares, times the margin."""
        return embeddings.square().sum() * self.params.margin


def losses(z: Tensor, y: Tensor) -> None:
    """A loss, and what it says, of tensors."""
    loss = build_loss(list_losses()[0], num_classes=3, embedding_dim=4)
    assert_type(loss(z, y), Tensor)
    assert_type(loss.logits(z), Tensor | None)
    assert_type(spce(z, y, num_classes=3), Tensor)
    assert_type(pce(z, y, simplex(3, 4)).value, float)
    assert_type(tightness_contrastive("contrastive", z, y).tightness, float)


def metrics(z: Tensor, y: Tensor) -> None:
    """Embeddings and labels as arrays, tensors and lists."""
    assert_type(retrieval_metrics(z.numpy(), y.numpy()), dict[str, float])
    retrieval_metrics([[1.0, 2.0], [1.0, 2.0]], ["a", "a"])
    retrieval_metrics(z, y, gallery=(z, y))
    assert_type(nmi(z, y), float)
    assert_type(covering_radius(z, y), float)
    assert_type(retrieve(z.numpy(), y.numpy(), np.arange(3)), Retrieval)


def recorded(folder: Path, z: Tensor, y: Tensor) -> None:
    """An own loop, in a workspace and in a run folder."""
    with (
        Workspace(folder, create=True) as workspace,
        record_run(workspace, "mine", y, epochs=2, queries=y > 0, settings={"seed": 1}) as run,
    ):
        run.scalars(1, {"batch/loss": z.sum(), "batch/lr": 1e-3})
        assert_type(run.evaluate(1, z, class_vectors=z, class_labels=range(10)), dict[str, float])
        assert_type(run.stop_asked, bool)
    record_run(folder, "mine", ["a", "b"], epochs=2).end()


def read(folder: Path) -> None:
    """A workspace, a new run in it, and a trained network."""
    with Workspace(folder) as workspace:
        config = RunConfig.from_toml_text("")
        make_job(workspace, prepare_run(config, workspace), Control()).start()
        for run in workspace.runs():
            assert_type(run.name, str)
            steps, values = workspace.scalars(run.id, "probe/ce")
            assert_type(len(steps) + len(values), int)
            for evaluation in workspace.evaluations(run.id):
                assert_type(evaluation.metrics, dict[str, float])
                workspace.embeddings(evaluation.id)
            trained(workspace, run.id).embed([folder / "a.png", np.zeros((4, 4, 3), np.uint8)])
