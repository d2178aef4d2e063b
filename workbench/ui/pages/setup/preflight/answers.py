"""What Preflight answers on the form: shown in its card, kept for a sweep, and said at the field that it refuses."""

from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, Signal

from workbench.config import RunConfig
from workbench.problem import Problem
from workbench.ui.pages.setup.model.draft import Draft
from workbench.ui.pages.setup.model.verdict import Refused, Verdict
from workbench.ui.pages.setup.preflight.card import PreflightCard
from workbench.ui.pages.setup.preflight.runner import PreflightRunner
from workbench.ui.state.session import Session

if TYPE_CHECKING:
    from workbench.running.preflight import Preflight


class CheckedForm(Protocol):
    """A page whose form is checked.

    Attributes:
        draft: what the form shows; None until the catalog is known.
        verdict: on the draft.
    """

    session: Session
    draft: Draft | None
    verdict: Verdict

    @property
    def config(self) -> RunConfig | None:
        """The draft as it can start; None while something is wrong."""


class PreflightAnswers(QObject):
    """Follows the check of a form.

    Attributes:
        looked_at: the config that was checked last, and what the check found.
        refused: the config that the last check refused, and why.
    """

    changed = Signal()  # the form is to be judged again

    def __init__(self, form: CheckedForm, runner: PreflightRunner, card: PreflightCard, parent: QObject) -> None:
        super().__init__(parent)
        self._form, self._runner, self._card = form, runner, card
        self.looked_at: tuple[RunConfig, Preflight] | None = None
        self.refused: Refused | None = None
        card.check_asked.connect(self._check_now)
        runner.waits.connect(self._wait)
        runner.began.connect(card.show_working)
        runner.doing.connect(card.show_working)
        runner.done.connect(self._take)
        runner.failed.connect(self._refuse)
        runner.cancelled.connect(self._cancelled)
        runner.counted.connect(self._keep_classes)
        runner.held.connect(self._held)

    def _check_now(self) -> None:
        self.refused = None
        self.changed.emit()
        self._runner.look(even_if_busy=True)

    def _wait(self) -> None:
        """The numbers of the last check stay until the next is done, unless they are of other data."""
        last, now = self.looked_at, self._form.config
        if last is not None and now is not None and last[0].dataset != now.dataset:
            self.looked_at = None
            self._card.show_idle("")
        self._card.show_working("Starts when you stop editing")

    def _take(self, result: "Preflight") -> None:
        catalog = self._form.session.catalog
        sets = {key: entry for key, entry in catalog.items() if key.startswith("dataset/")}
        self._card.show_result(result, {key.removeprefix("dataset/"): entry["title"] for key, entry in sets.items()})
        if self._form.config is not None:
            self.looked_at = (self._form.config, result)

    def _refuse(self, problem: Problem) -> None:
        if self._form.config is not None:
            self.refused = (self._form.config, problem)
            self.changed.emit()
        verdict = self._form.verdict
        titles = dict(zip(verdict.bad_paths, verdict.titles, strict=True))
        self._card.show_problem(problem, titles.get(problem.field, ""))

    def _keep_classes(self, config: RunConfig, classes: int) -> None:
        """Refuse a choice that the number of classes makes impossible, at its field."""
        draft = self._form.draft
        if draft is not None and draft.classes != classes:
            draft.note_classes(config, classes)
            if draft.check()[0] is None:
                self.changed.emit()

    def _cancelled(self) -> None:
        self._card.show_idle("Preflight was cancelled. There are no measurements for this run.", offer_check=True)

    def _held(self) -> None:
        self._card.show_idle("A run is training. Preflight would slow it down.", offer_check=True)
