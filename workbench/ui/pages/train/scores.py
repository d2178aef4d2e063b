"""The tab of a run that trained nothing: where its embeddings come from, and its metrics in place of curves."""

from math import isfinite
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QTableWidget, QTableWidgetItem, QWidget

from workbench.jobs.newest import Newest
from workbench.metric_names import metric_name
from workbench.numerals import percentage
from workbench.progress import Progress
from workbench.results.network_scores import UNLIKE_IMAGES, NetworkScores, newest_scores
from workbench.ui.pages.train.curves.epoch_table import BEHIND, MEANING
from workbench.ui.state.session import Session
from workbench.ui.style.words import NO_VALUE, from_home
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.evaluation.network_table import MOST_READ, NetworkTable
from workbench.ui.widgets.labels import label, plain_tip
from workbench.ui.widgets.scrolled import Scrolled
from workbench.ui.widgets.tables.row_table import select_rows
from workbench.ui.widgets.tables.table_actions import TableActions
from workbench.workspace.rows import Evaluation, Run, recalls, wider_labels
from workbench.workspace.run_names import data_title

TITLE = "Retrieval metrics"
ALL_TESTS = "Tests of the same run's networks, the newest first"
WIDEST = 240  # px at 100% text of a column: a folder may have a long name
MOST_ROWS = 8  # of the tests, after which their table scrolls
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class ScoresPanel(Scrolled):
    """Says what a run without training is of; the scores of a test stand beside those on its run's own test set."""

    def __init__(self, session: Session) -> None:
        super().__init__(QWidget())
        self._session, self._reading = session, Newest(session)
        self._run: Run | None = None
        self._evaluation: Evaluation | None = None
        self._scores = NetworkScores([], [], [])
        self._asked: tuple[object, ...] = ()
        self.origin, self.missing = label("", wrap=True), label("", "muted", wrap=True)
        self.open = button("", "chart-line", parent=self)
        self.metrics = QTableWidget(0, 0)
        self.tests = NetworkTable(ALL_TESTS, MOST_ROWS)
        self._build()
        self.open.clicked.connect(self._open_trainer)
        session.theme.changed.connect(self._show)  # the tables are as high as their rows
        self.tests.run_chosen.connect(session.show_run)

    def _build(self) -> None:
        select_rows(self.metrics, TITLE)
        TableActions(self._session.fulfil, self.metrics, "scores.csv")
        TableActions(self._session.fulfil, self.tests.table, "tests.csv")
        self.metrics.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
        self.metrics.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)  # as high as its rows
        head = in_row((self.origin, 1), (self.open, Qt.AlignmentFlag.AlignTop), spacing=12)
        parts = (head, label(TITLE, "strong"), self.metrics, self.missing, self.tests, 1)
        in_column(*parts, on=self.widget(), margins=(0, 8, 8, 8), spacing=8)
        for part in (self.open, self.metrics, self.missing):
            part.hide()

    def show_run(self, run: Run | None, evaluation: Evaluation | None) -> None:
        """Show a run that trained nothing, at its evaluation; None, or any other run, empties the tab."""
        self._run = run if run is not None and run.trained_nothing else None
        self._evaluation = None if self._run is None else evaluation
        of_test = self._run if self._run is not None and self._run.tested is not None else None
        asked = () if of_test is None else (of_test.id, of_test.trainer, self._evaluation)
        if asked != self._asked:
            self._asked, self._scores = asked, NetworkScores([], [], [])
            self._reading.cancel()
            if of_test is not None:
                self._read(of_test.id)
        self._show()

    def _read(self, run_id: int) -> None:
        workspace = self._session.workspace

        def work(_progress: Progress) -> NetworkScores:
            return newest_scores(workspace, [run_id], MOST_READ)

        self._reading.ask("Reading the tests of the run", work, self._take, quiet=True)

    def _take(self, scores: NetworkScores) -> None:
        self._scores = scores
        self._show()

    def _show(self) -> None:
        run, evaluation = self._run, self._evaluation
        self.tests.show_scores(self._scores)
        if run is None:
            return
        trainer = run.trainer
        self.origin.setText(_origin(run))
        self.open.setVisible(trainer is not None)
        if trainer is not None:
            self.open.setText(f"Open run {trainer.id}")
            self.open.setToolTip(plain_tip(f"Show the curves of “{trainer.name}”, which trained the network"))
        own = next((score.evaluation for score in self._scores.own if score.epoch == run.tested_epoch), None)
        columns = [] if evaluation is None else [(_tested(self._session, run), evaluation)]
        if columns and own is not None:
            columns.append((f"Run {run.tested}, own test set", own))
        self._fill(columns)
        self.missing.setText(UNLIKE_IMAGES if len(columns) > 1 else self._why_alone(run))
        self.missing.setVisible(bool(self.missing.text()))

    def _why_alone(self, run: Run) -> str:
        """Why no scores of another evaluation stand beside those of the run; empty where there could be none."""
        if self._evaluation is None:
            return "" if run.best else run.has_no("evaluation")  # it may still be read
        if run.tested is None or self._reading.busy:
            return ""
        if run.trainer is None:
            return (
                f"Run {run.tested}, which trained the network, is deleted, in the trash or in another workspace: "
                "its own test set cannot be shown beside these scores."
            )
        if run.tested_epoch is None:
            return "This test does not record the network's epoch: test it again to show the run's own test set here."
        return f"Run {run.tested} has no evaluation of epoch {run.tested_epoch} on its own test set."

    def _fill(self, columns: list[tuple[str, Evaluation]]) -> None:
        """A row for each metric, two columns for each evaluation: the value, and its interval over queries."""
        evaluations = [evaluation for _, evaluation in columns]
        there = {name for evaluation in evaluations for name in evaluation.metrics}
        names = [*recalls(evaluations), *(name for name in BEHIND if name in there), *wider_labels(evaluations)]
        table = self.metrics
        table.setRowCount(len(names) + 1 if evaluations else 0)
        table.setColumnCount(1 + 2 * len(columns))
        heads = [part for title, _ in columns for part in ((title, title), ("95%", "95% interval over queries"))]
        for column, (title, tip) in enumerate([("Metric", ""), *heads]):
            head = QTableWidgetItem(title)
            head.setToolTip(plain_tip(tip))
            head.setTextAlignment(RIGHT if column else LEFT)
            table.setHorizontalHeaderItem(column, head)
        for row, name in enumerate(names):
            cells = (_value_and_interval(evaluation, name) for evaluation in evaluations)
            self._set_row(row, metric_name(name), [cell for pair in cells for cell in pair], MEANING.get(name, ""))
        if evaluations:
            counted = [evaluation.metrics.get("queries", 0) for evaluation in evaluations]
            counts = [f"{count:,.0f}" if isfinite(count) else NO_VALUE for count in counted]
            self._set_row(len(names), "Queries", [cell for count in counts for cell in (count, "")], "")
        header = table.horizontalHeader()
        header.setMaximumSectionSize(self._session.theme.px(WIDEST))
        table.resizeColumnsToContents()
        rows, frame = table.rowCount(), 2 * table.frameWidth()
        table.setFixedHeight(header.sizeHint().height() + sum(map(table.rowHeight, range(rows))) + frame)
        table.setMaximumWidth(header.length() + frame)
        table.setVisible(bool(rows))

    def _set_row(self, row: int, title: str, cells: list[str], tip: str) -> None:
        for column, words in enumerate([title, *cells]):
            cell = QTableWidgetItem(words)
            cell.setToolTip(tip)
            cell.setTextAlignment(RIGHT if column else LEFT)
            self.metrics.setItem(row, column, cell)

    def _open_trainer(self) -> None:
        if self._run is not None and self._run.trainer is not None:
            self._session.show_run(self._run.trainer.id)


def _tested(session: Session, run: Run) -> str:
    """What the scores of a run are of: the title of its column."""
    return f"On {data_title(session.catalog, run)}" if run.tested is not None else "Imported"


def _origin(run: Run) -> str:
    """Sentences on where the embeddings come from."""
    imported = run.environment.get("imported", {})
    if run.tested is None:
        source = f" from {_shown(imported['embeddings'])}" if imported.get("embeddings") else ""
        return f"Embeddings of a model trained elsewhere, imported{source}: there are no training curves."
    trainer, epoch = run.trainer, run.tested_epoch
    named = f"run {run.tested}" if trainer is None else f"run {trainer.id} (“{trainer.name}”)"
    after = "" if epoch is None else " before training" if epoch == 0 else f" after epoch {epoch}"
    which = (
        {"best epoch": " (then its best)", "last epoch": " (then its last)"}.get(run.tested_network, "")
        if after
        else ""
    )
    images = f" {_shown(imported['images'])}" if imported.get("images") else " other images"
    return (
        f"A test of the network of {named}{after}{which}, on{images}. Nothing was trained: there are no training "
        "curves. Each image queries all others."
    )


def _shown(path: object) -> str:
    return from_home(Path(str(path)))


def _value_and_interval(evaluation: Evaluation, name: str) -> tuple[str, str]:
    """A metric, and its interval: a dash too where all queries are alike, for what is drawn then never varies."""
    metrics = evaluation.metrics
    low, high = metrics.get(f"{name}/low"), metrics.get(f"{name}/high")
    interval = f"{percentage(low)} to {percentage(high)}" if low is not None and high is not None and low < high else ""
    return percentage(metrics.get(name)), interval or NO_VALUE
