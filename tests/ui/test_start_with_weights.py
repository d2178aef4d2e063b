"""A run that starts with what another one trained, from the menu of the list of runs."""

import pytest
import torch

from tests.waits import HANG
from workbench.config import Choice, EmbeddingParams, RunConfig, TrainingParams
from workbench.control import Control
from workbench.entries import catalog
from workbench.files import digest
from workbench.problem import Problem
from workbench.running import launch, trained_network

pytestmark = [
    pytest.mark.usefixtures("in_a_thread"),
    pytest.mark.qt_log_ignore("propagateSizeHints"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning:numba"),
]


@pytest.fixture
def said(session):
    heard = []
    session.noticed.connect(heard.append)
    return heard


def offered(qtbot, session, run_id, window, said):
    """The config that Set up is offered once the trained weights are exported."""
    configs = []
    session.config_offered.connect(configs.append)
    session.show_run(run_id)
    assert window.run_actions.train_on in window.runs.list.actions()
    window.run_actions.train_on.trigger()
    qtbot.waitUntil(lambda: bool(configs or said))
    assert not said
    return configs[0]


def trained(workspace, config):
    """The number of a run of that config, which has trained to its end."""
    run_id = launch.prepare_run(config, workspace)
    launch.make_job(workspace, run_id, Control()).start().join(HANG)
    assert workspace.run(run_id).status == "done", workspace.run(run_id).problem
    return run_id


def test_a_run_starts_with_the_weights_of_another(qtbot, session, workspace, window, said):
    first = RunConfig(
        name="First", backbone=Choice(name="conv4", params={"width": 4, "positions": 2}),
        embedding=EmbeddingParams(dim=8), training=TrainingParams(epochs=1, batch_size=64),
    )  # fmt: skip
    run_id = trained(workspace, first)
    session.follower.look()
    config = offered(qtbot, session, run_id, window, said)
    assert session.page == "setup"
    assert config.name == "First, trained on"
    file = workspace.folder(run_id) / "export" / "trained.safetensors"
    assert config.backbone.params["trained_file"] == str(file)
    started = trained_network.trained(workspace, run_id).model.backbone.state_dict()
    frozen = config.model_copy(update={"training": config.training.model_copy(update={"backbone_lr": 0.0})})
    again = trained(workspace, frozen)
    kept = dict(trained_network.trained(workspace, again).model.backbone.named_parameters())
    assert all(torch.equal(weight, started[name]) for name, weight in kept.items())
    assert workspace.run(again).environment["weights"] == digest(file)


def test_a_run_without_a_checkpoint_says_so(qtbot, session, workspace, config, window, said):
    session.show_run(workspace.create_run(config))
    session.follower.look()
    window.run_actions.train_on.trigger()
    qtbot.waitUntil(lambda: bool(said))
    assert isinstance(said[0], Problem)


def test_a_read_only_workspace_says_that_nothing_can_be_exported(qtbot, session, workspace, config, window, said):
    run_id = workspace.create_run(config)
    session.follower.look()
    session.show_run(run_id)
    workspace.read_only = True
    window.run_actions.train_on.trigger()
    qtbot.waitUntil(lambda: bool(said))
    assert "read-only" in str(said[0])


def test_a_backbone_without_the_field_cannot_start_so(session, workspace, config, window, said):
    run_id = workspace.create_run(config)
    session.follower.look()
    session.show_run(run_id)
    session.set_catalog({**catalog.current(), "backbone/conv4": {**catalog.current()["backbone/conv4"], "params": {}}})
    window.run_actions.train_on.trigger()
    assert str(said[0]).startswith("The backbone conv4 cannot start with the weights of another run.")
