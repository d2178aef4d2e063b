"""What the palette finds beside commands: runs, classes of the shown run, fields of Set up."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtWidgets import QWidget

from workbench.numerals import percentage
from workbench.ui.state.session import Session
from workbench.ui.style.words import state_word
from workbench.workspace.rows import Dataset

if TYPE_CHECKING:
    from workbench.ui.pages.setup.page import SetupPage


@dataclass(frozen=True, slots=True)
class Finding:
    """One entry of the palette's list."""

    words: str  # "Run: #10 ICE, seed 0"
    note: str  # at the right: state, score, keys
    go: Callable[[], object]  # called when it is chosen


def things(session: Session, setup: QWidget) -> Iterator[Finding]:
    """Runs, newest first, then fields, then classes.

    Args:
        session: what is shown.
        setup: the page Set up; its fields are found where it has some.
    """
    from workbench.settings.field_words import title_of
    from workbench.ui.pages.setup.model.fields import GROUPS  # the window is shown before its pages are loaded
    from workbench.ui.pages.setup.page import SetupPage

    for run in session.runs():
        score = run.best.get("MAP@R")
        note = state_word(run.status) + (f", MAP@R {percentage(score)}" if score is not None else "")
        yield Finding(f"Run: #{run.id} {' '.join(run.name.split())}", note, partial(_show_run, session, run.id))
    if isinstance(setup, SetupPage) and setup.draft is not None:
        for heading in GROUPS:
            for path, field in setup.draft.fields(heading).items():
                words = f"Field: {title_of(path, field)} ({heading})"
                yield Finding(words, "Set up", partial(_show_field, session, setup, path))
    dataset = session.dataset()
    if dataset is not None:
        for label, name in enumerate(dataset.class_names):
            yield Finding(f"Class: {name}", "Map", partial(_show_class, session, dataset, label))


def _show_run(session: Session, run_id: int) -> None:
    """The shown page may be about the run; Set up is about none, and would leave the choice unseen."""
    session.show_run(run_id)
    if session.page == "setup":
        session.show_page("train")


def _show_field(session: Session, setup: "SetupPage", path: str) -> None:
    session.show_page("setup")
    setup.groups.show_field(path)


def _show_class(session: Session, dataset: Dataset, label: int) -> None:
    """Select a class and show it on the map, unless something else is selected or shown until it is read."""
    workspace, before, run_id = session.workspace, session.selection, session.run_id

    def ids() -> np.ndarray:
        samples = workspace.samples(dataset.id)
        chosen: np.ndarray = samples.ids[samples.labels == label]
        return chosen

    def select(chosen: np.ndarray) -> None:
        if session.selection is before and session.run_id == run_id:
            session.select(chosen)

    session.show_page("map")
    session.read(ids, select)
