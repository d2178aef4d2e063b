"""Whether the files from which a lost database is rebuilt are those of their run: they may be another run's."""

from collections.abc import Sequence
from pathlib import Path

from workbench import files
from workbench.workspace.dataset_copy import read_copy, same_as_stored
from workbench.workspace.folders.replaying import UNREADABLE, reason
from workbench.workspace.paths import opened
from workbench.workspace.repairs.rebuild import LARGEST_CONFIG
from workbench.workspace.rows import Run
from workbench.workspace.workspace import Workspace

CONFIG, DATASET = "config.toml", "dataset.json"
RIGHT = "The database has the run's own; a repair that has to do without the database would take this one."
CONFIG_AGAIN = "`workbench export {run} --format config` writes the run's own."
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
        for name, check, todo in ((CONFIG, self._config, CONFIG_AGAIN), (DATASET, self._dataset, DATASET_AGAIN)):
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

    def _dataset(self, run: Run, path: Path) -> str:
        if run.dataset_id is None:
            return ""
        key = (run.dataset_id, files.digest(path))
        if key not in self._read:
            with self._workspace.reading() as db:
                same = same_as_stored(db, run.dataset_id, read_copy(path))
            self._read[key] = "" if same else "has another data set than this run."
        return self._read[key]
