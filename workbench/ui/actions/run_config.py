"""The settings of a run, given to the Set up page; perhaps to begin with its trained weights."""

from functools import partial
from pathlib import Path

from workbench.problem import Problem
from workbench.ui.actions.offering import check_known
from workbench.ui.state.process_work import ProcessWork, process_of
from workbench.ui.state.session import Session
from workbench.workspace import Workspace
from workbench.workspace.rows import Run

TRAINED_FILE = "trained_file"  # field of a backbone


def offer_settings(session: Session, run: Run, ending: str = "") -> None:
    """Show the settings of a run on Set up; `ending` is appended to its name.

    Raises:
        Problem: the catalog is not there yet, or the config of the run cannot be read.
    """
    from workbench.config import RunConfig

    check_known(session.catalog)
    config = RunConfig.from_toml_text(run.config, f"The config of “{run.name}”", session.catalog)
    session.config_offered.emit(config.model_copy(update={"name": f"{config.name}{ending}"[:200]}))
    session.show_page("setup")


def offer_with_decisions(session: Session, run: Run, file: Path) -> None:
    """Show the settings of a run on Set up, with a file of label decisions to train and to be scored with.

    Raises:
        Problem: the catalog is not there yet, the config of the run cannot be read, or it was trained elsewhere.
    """
    from workbench.config import RunConfig

    check_known(session.catalog)
    config = RunConfig.from_toml_text(run.config, f"The config of “{run.name}”", session.catalog)
    if config.imported or config.own_loop:
        raise Problem(
            f"“{run.name}” was not trained by Workbench.",
            kept=f"The decisions are in {file}.",
            todo="Train with them in the program that trained it.",
        )
    changed = {"label_decisions": str(file)}
    session.config_offered.emit(
        config.model_copy(
            update={
                "name": f"{config.name}, corrected labels"[:200],
                "training": config.training.model_copy(update=changed),
                "evaluation": config.evaluation.model_copy(update=changed),
            }
        )
    )
    session.show_page("setup")


def offer_start(session: Session, run: Run) -> None:
    """Export what the run trained, and show its settings on Set up with that as the start of a new run.

    Raises:
        Problem: the catalog is not there yet, or the backbone of the run cannot start with another run's weights.
    """
    check_known(session.catalog)
    described = session.catalog.get(f"backbone/{run.backbone}", {"params": {}})["params"]
    if TRAINED_FILE not in described:
        raise Problem(
            f"The backbone {run.backbone} cannot start with the weights of another run.",
            todo="Export its trained weights, and load them in the code of the backbone.",
        )
    session.find_place(run.id, "export", partial(_export, session, run))


def _export(session: Session, run: Run, out: str) -> None:
    if not out:
        session.notify(Problem("The workspace is read-only: the trained weights of a run cannot be written beside it."))
        return
    fields = {"run": run.id, "formats": ["trained"], "out": out, "epoch": "best"}
    process, title = process_of(session, "workbench.exchange.server"), f"Trained weights of run {run.id}"
    then = partial(_offer_trained, session, session.workspace, run)
    ProcessWork(session, process, title, "export", fields, then, session.notify, ends_process=True)


def _offer_trained(session: Session, workspace: Workspace, run: Run, answer: dict[str, list[str]]) -> None:
    from workbench.config import RunConfig

    if session.workspace is not workspace:  # another was opened meanwhile
        return
    try:
        config = RunConfig.from_toml_text(run.config, f"The config of “{run.name}”", session.catalog)
    except Problem as problem:
        session.notify(problem)
        return
    params = {**config.backbone.params, TRAINED_FILE: answer["files"][0]}
    backbone = config.backbone.model_copy(update={"params": params})
    name = f"{config.name}, trained on"[:200]
    session.config_offered.emit(config.model_copy(update={"name": name, "backbone": backbone}))
    session.show_page("setup")
