"""Whether the files from which a lost database is rebuilt are those of their run: they may be another run's."""

from collections.abc import Sequence
from pathlib import Path

from workbench import files
from workbench.workspace.folders import journal
from workbench.workspace.folders.dataset_copy import read_copy, read_experiment, same_as_stored
from workbench.workspace.folders.own_journal import is_foreign, started
from workbench.workspace.folders.replaying import UNREADABLE, reason
from workbench.workspace.paths import opened
from workbench.workspace.repairs.rebuild import LARGEST_CONFIG
from workbench.workspace.rows import Run
from workbench.workspace.workspace import Workspace

CONFIG, DATASET, EXPERIMENT = "config.toml", "dataset.json", "experiment.json"
RIGHT = "The database has the run's own; a repair that has to do without the database would take this one."
CONFIG_AGAIN = "`workbench export {run} --format config` writes the run's own."
EXPERIMENT_AGAIN = "A copy of it is in the folder of every run of the experiment."
JOURNAL_AGAIN = "Put the run's own back; exchange the two if they were exchanged."
DATASET_AGAIN = "A copy of it is in the folder of every run on the same data."


class OwnFiles:
    """Compares files in the folders of runs with the database. A missing one is no difference.

    Args:
        runs: all of the workspace, so that a config of another run can be named.
    """

    def __init__(self, workspace: Workspace, runs: Sequence[Run]) -> None:
        self._workspace = workspace
        self._by_config: dict[str, list[int]] = {}
        for run in runs:
            self._by_config.setdefault(run.config, []).append(run.id)
        self._read: dict[tuple[int, str], str] = {}  # of a data set and a digest: many runs have the same file

    def foreign(self, run: Run) -> list[tuple[str, str]]:
        """Names of files that are not the run's, each with a sentence on it."""
        wrong = []
        checks = (
            (CONFIG, self._config, CONFIG_AGAIN), (DATASET, self._dataset, DATASET_AGAIN),
            (EXPERIMENT, self._experiment, EXPERIMENT_AGAIN), (journal.NAME, self._journal, JOURNAL_AGAIN),
        )  # fmt: skip
        for name, check, todo in checks:
            try:
                path = self._workspace.file(run.id, name)
                why = check(run, path) if path.exists() else ""
            except UNREADABLE as error:
                why = f"cannot be read ({reason(error)})."
            if why:
                wrong.append((name, f"This file {why} {RIGHT} {todo.format(run=run.id)}"))
        return wrong

    def _config(self, run: Run, path: Path) -> str:
        with opened(path) as file:
            text = file.read(LARGEST_CONFIG + 1)
        if not run.config or text == run.config.encode():
            return ""
        others = self._by_config.get(text.decode("utf-8", "replace"), [])
        if len(others) == 1:
            return f"is not the config of this run, but that of run {others[0]}."
        return "is not the config of this run."

    def _experiment(self, run: Run, path: Path) -> str:
        copy = read_experiment(path.parent)
        with self._workspace.reading() as db:
            sql = "select config, created from experiments where id = ?"
            stored = db.execute(sql, (run.experiment_id,)).fetchone()
        if copy is None or stored == (copy.config, copy.created):
            return ""
        return "names an experiment, but this run is in none." if stored is None else "names another experiment."

    def _journal(self, run: Run, path: Path) -> str:
        with self._workspace.reading() as db:
            if not is_foreign(db, path.parent, run.id):
                return ""
            began = (started(path.parent), run.id)
            others = db.execute("select id from runs where started = ? and id != ? limit 2", began).fetchall()
        return f"is not the journal of this run{f', but that of run {others[0][0]}' if len(others) == 1 else ''}."

    def _dataset(self, run: Run, path: Path) -> str:
        if run.dataset_id is None:
            return ""
        key = (run.dataset_id, files.digest(path))
        if key not in self._read:
            with self._workspace.reading() as db:
                same = same_as_stored(db, run.dataset_id, read_copy(path))
            self._read[key] = "" if same else "has another data set than this run."
        return self._read[key]
