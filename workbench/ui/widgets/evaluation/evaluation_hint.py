"""What a page of an evaluation shows without one: no run is selected, or the selected one has none, perhaps yet."""

from workbench.ui.state.session import Session
from workbench.ui.widgets.card import EmptyHint

NO_RUN, CHOOSE = "No run selected", "Choose one in the list of runs."
NOT_YET, TRAIN = "Nothing has been evaluated yet", "Train a run, or choose one."
NONE, ENDED = "This run has no evaluation", "It ended before its first one. Choose another run."
CURVES = "It has the curves of another program, and no embeddings. Choose another run."


class EvaluationHint(EmptyHint):
    """Follows the shown run. Its button leads to Train, and in a workspace without runs to Set up.

    Args:
        appears: a sentence on what the page shows.
    """

    def __init__(self, session: Session, appears: str) -> None:
        super().__init__(NOT_YET, f"{appears} {TRAIN}", "Go to Train")
        self._session, self._appears = session, appears
        self.pressed.connect(self._show_page)
        session.run_changed.connect(self._follow)
        session.runs_changed.connect(self._follow)
        self._follow()

    def _show_page(self) -> None:
        self._session.show_page("train" if self._session.runs() else "setup")

    def _follow(self) -> None:
        self.go.setText("Go to Train" if self._session.runs() else "Set up a run")
        title, todo = self._lack()
        self.say(f"{self._appears} {todo}", title)

    def _lack(self) -> tuple[str, str]:
        """The title, and what can be done."""
        run = self._session.run()
        if self._session.run_id is None and self._session.runs():
            return NO_RUN, CHOOSE
        if run is None or run.live:
            return NOT_YET, TRAIN
        return NONE, CURVES if run.curves_of else ENDED
