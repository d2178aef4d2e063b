"""The public interface of a workspace: a folder with one database and one folder per run."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.charts import Chart
from workbench.jobs import command_line
from workbench.problem import Problem, UnknownName
from workbench.progress import Progress, quiet
from workbench.workspace.folders import deleted_checkpoints
from workbench.workspace.measured import artefacts, curves, evaluations, projections
from workbench.workspace.owners import ownership
from workbench.workspace.rows import Dataset, Evaluation, Neighbour, Projection, Queries, Query, Run, Samples
from workbench.workspace.store import Store
from workbench.workspace.tables import freed_space, runs, samples, several_runs
from workbench.workspace.tables.deletion import NotInTrash, delete_run
from workbench.workspace.tables.freed_space import Space

if TYPE_CHECKING:
    from workbench.config import RunConfig
    from workbench.datasets.image_set import ImageSet
    from workbench.datasets.pictures import Pictures


class Workspace(Store):
    """Runs, curves, evaluations, neighbours and maps in one folder; see docs/workspace.md for the schema.

    Safe to call from any thread. Reading and writing are short; nothing is cached.

    Args:
        path: the folder.
        create: make the folder and the database when they are missing.
        progress: asked while it is opened; it may raise Cancelled: the database is then unchanged or fully upgraded.

    Raises:
        Problem: not a workspace, damaged, made by a newer Workbench, or a folder that cannot be read.
    """

    # Runs

    def runs(self, trashed: bool = False) -> list[Run]:
        """All runs, newest first; with `trashed` those in the trash instead."""
        with self.reading() as db:
            return runs.read_runs(db, "trashed is not null" if trashed else "trashed is null", ())

    def run(self, run_id: int) -> Run:
        """One run, in the trash or not. Raises UnknownName when there is none of that number."""
        with self.reading() as db:
            rows = runs.read_runs(db, "id = ?", (run_id,))
        if not rows:
            shown = command_line("workbench", "list", "runs", "--workspace", str(self.path))
            raise UnknownName(f"There is no run {run_id} in {self.path}.", todo=f"`{shown}` shows them.")
        return rows[0]

    def check_there(self, run_id: int) -> None:
        """Raise runs.Deleted, a Problem, if the run was deleted: what was read of it just before may be truncated."""
        with self.reading() as db:
            runs.check_there(db, run_id)

    def create_run(
        self, config: "RunConfig", experiment: int | None = None, created: str = "",
        facts: Mapping[str, Any] | None = None,
    ) -> int:  # fmt: skip
        """A new queued run with its folder and config file, perhaps one of an experiment's; returns its number.

        `created` is when another program began it, as `times.moment` writes it; by default it is begun now. `facts` are
        its environment from the first moment on, so that a kill leaves no run of which they are not known.
        """
        return runs.create_run(self, config, experiment, created, facts or {})

    def take_over(self, run_id: int) -> None:
        """Take over a run without an owner, queued to be resumed, out of the trash if it is there.

        Raises:
            CannotGoOn: its last checkpoint was deleted, or those that it saved are missing.
            Problem: it has an owner, which is named; there is no such run.
        """
        if self.run(run_id).resumable:  # one that its dead process left as working is only to be ended
            with self.reading() as db:
                saved = bool(artefacts.stored_paths(db, run_id, "checkpoint"))
            deleted_checkpoints.refuse_to_go_on(str(run_id), self.folder(run_id), saved=saved)
        with self.writing() as db:
            ownership.take_run(db, run_id)

    def hand_over(self, run_id: int) -> None:
        """Let another process take over this process's run. Raises RunTaken if this process does not own it."""
        with self.writing() as db:
            ownership.give_up(db, run_id)

    def beat(self) -> None:
        """Renew the heartbeat of every run of this process, for other machines."""
        with self.writing() as db:
            ownership.beat(db)

    def sweep_dead_runs(self) -> list[int]:
        """Mark runs whose owner is gone (see ownership.py) as interrupted; returns their numbers."""
        return runs.sweep_dead_runs(self)

    def rename(self, run_id: int, name: str, before: str | None = None) -> str:
        """Give a run another name; returns the one that it had.

        Args:
            before: the only name that is replaced. Raises Problem if it has another one, by another program.
        """
        with self.writing() as db:
            return runs.rename(db, run_id, name, before)

    def set_note(self, run_id: int, note: str, before: str | None = None) -> bool:
        """Replace the note on a run.

        Args:
            before: the note that a person changed to this one.

        Returns:
            Whether the run has another note meanwhile by another program or by itself; it is then kept below.
        """
        with self.writing() as db:
            if before is not None:
                return runs.set_note(db, run_id, note, before)
            runs.set_column(db, run_id, "note", note)
        return False

    def set_colour(self, run_id: int, colour: int) -> None:
        """Give a run another colour: an index into the palette of runs. Raises Problem if it no longer exists."""
        self._set(run_id, "colour", colour)

    def set_colours(self, colours: Mapping[int, int]) -> None:
        """Give runs, by their numbers, other colours: indices into the palette. Runs that are gone are left out."""
        with self.writing() as db:
            several_runs.set_colours(db, colours)

    def set_tags(self, run_id: int, tags: Sequence[str], before: Sequence[str] | None = None) -> None:
        """Give a run these tags and no others; spaces around them and empty ones are dropped.

        Args:
            before: the tags that a person changed to these: others, which the run got meanwhile, stay.
        """
        with self.writing() as db:
            runs.set_tags(db, run_id, tags, before)

    def change_tags(self, added: Mapping[int, Collection[str]], removed: Mapping[int, Collection[str]]) -> None:
        """Give several runs tags and take tags from them, in one step; their other tags stay.

        Args:
            added: the tags for each run, by its number. removed: those that are taken, in the same form.
        """
        with self.writing() as db:
            several_runs.change_tags(db, added, removed)

    def set_status(self, run_id: int, status: str, problem: str = "") -> None:
        """Set a run's state from outside the run, as when a queued run is cancelled.

        Raises:
            Problem: there is no such run.
        """
        with self.writing() as db:
            runs.set_status(db, run_id, status, problem)

    def ask_to_stop(self, run_id: int) -> None:
        """Ask the training loop of the user's own that records a run to stop, wherever it looks for that next.

        Raises:
            Problem: the run has ended, or its loop does not look (`RecordedRun.stop_asked`).
        """
        with self.writing() as db:
            runs.ask_to_stop(db, run_id)

    def trash(self, run_id: int) -> None:
        """Put a run into the trash; nothing is deleted.

        Raises:
            Problem: it is running, or waits in the queue of another process; there is no such run.
        """
        with self.writing() as db:
            runs.trash(db, run_id)

    def trash_several(self, run_ids: Iterable[int]) -> list[int]:
        """Put runs into the trash in one step; returns the numbers of those that were put there.

        Those that are running, wait in the queue of another process or are gone are left out.
        """
        with self.writing() as db:
            return several_runs.trash(db, run_ids)

    def restore(self, run_id: int) -> None:
        """Take a run out of the trash."""
        self._set(run_id, "trashed", None)

    def restore_several(self, run_ids: Iterable[int]) -> list[int]:
        """Take runs out of the trash in one step; returns the numbers of those that there still are."""
        with self.writing() as db:
            return several_runs.restore(db, run_ids)

    def delete_checkpoints(
        self, run_ids: Sequence[int], *, keep_best: bool = False, progress: Progress = quiet
    ) -> Space:
        """Delete the checkpoints of runs that have ended, to free space; all that was measured of them stays.

        Such a run cannot be resumed, and without its best checkpoint its network is gone. A run that works, is queued
        or paused, is in the trash, is still written at a place, or belongs to a sweep that goes on is left out.

        Args:
            keep_best: delete only the last checkpoint, needed to resume; the best one stays.
            progress: called before each run; may raise Cancelled, after which the runs before it are done.

        Returns:
            The bytes that were freed by run, and a sentence for each run that was left out.
        """
        return freed_space.delete_checkpoints(self, run_ids, keep_best=keep_best, progress=progress)

    def delete(self, run_id: int, *, at_once: bool = False) -> None:
        """Delete a run in the trash permanently, with its folder and images that were imported for it alone.

        Args:
            at_once: it need not be in the trash: on a full disk there is no room to put it there.

        Raises:
            Problem: it is not in the trash, or a process works on it.
        """
        run = self.run(run_id)
        if run.trashed is None and not at_once:
            raise Problem("Only a run in the trash can be deleted.", kept="It was not changed.")
        delete_run(self, run)

    def empty_trash(self, only: Collection[int] | None = None) -> int:
        """Delete every run in the trash, or those of these numbers that are still there; returns how many.

        One that another program restores or deletes meanwhile is left out.
        """
        deleted = 0
        for run in self.runs(trashed=True):
            if only is None or run.id in only:
                with suppress(NotInTrash):
                    delete_run(self, run)
                    deleted += 1
        return deleted

    # Curves and charts

    def scalar_names(self, run_id: int) -> list[str]:
        """The names of a run's curves, sorted. Raises UnknownName when there is no such run."""
        with self.reading() as db:
            names = curves.scalar_names(db, run_id)
        if not names:
            self.run(run_id)  # refuses one that is not there
        return names

    def scalars(self, run_id: int, name: str) -> tuple[np.ndarray, np.ndarray]:
        """One curve: steps [n] int64 and values [n] float64, which may be NaN or infinite.

        Empty if it has none of that name, such as a misspelt one: `scalar_names` has the names of its curves.

        Raises:
            UnknownName: there is no such run.
        """
        with self.reading() as db:
            curve = curves.scalars(db, run_id, name)
        if not len(curve[0]):
            self.run(run_id)
        return curve

    def chart_steps(self, run_id: int) -> list[int]:
        """The steps at which the run's method emitted charts, ascending. Raises UnknownName without such a run."""
        with self.reading() as db:
            steps = curves.chart_steps(db, run_id)
        if not steps:
            self.run(run_id)
        return steps

    def charts(self, run_id: int, step: int) -> list[Chart]:
        """The charts of the run's method at that step. Raises Problem if there are none."""
        with self.reading() as db:
            return curves.charts(db, run_id, step)

    # Evaluations

    def evaluations(self, run_id: int) -> list[Evaluation]:
        """The evaluations of a run by epoch. Raises UnknownName when there is no such run."""
        with self.reading() as db:
            stored = evaluations.read_evaluations(db, "run_id", run_id)
        if not stored:
            self.run(run_id)
        return stored

    def evaluation(self, evaluation_id: int) -> Evaluation:
        """One evaluation. Raises Problem: its row cannot be read; NoEvaluation when there is none of that number."""
        with self.reading() as db:
            rows = evaluations.read_evaluations(db, "id", evaluation_id)
            stored = bool(rows) or evaluations.is_stored(db, evaluation_id)
        if not stored:
            raise evaluations.NoEvaluation(evaluation_id, self.path)
        if not rows:
            raise evaluations.unreadable(evaluation_id)
        return rows[0]

    def has_evaluation(self, evaluation_id: int) -> bool:
        """Whether there is one of that number: a run that works may delete those that it does not keep."""
        with self.reading() as db:
            return evaluations.is_stored(db, evaluation_id)

    def embeddings(self, evaluation_id: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Sample ids [n] int64, labels [n] int64 and embeddings [n, d] float32 (a read-only memory map)."""
        return evaluations.read_embeddings(self, evaluation_id)

    def vectors(self, evaluation_id: int) -> np.ndarray:
        """The embeddings alone, [n, d] float32 (a read-only memory map)."""
        return evaluations.read_vectors(self, evaluation_id)

    def proxies(self, evaluation_id: int) -> tuple[np.ndarray, np.ndarray] | None:
        """Class vectors at that evaluation: vectors [p, d] float32 and labels [p] int64; None for losses without.

        Raises:
            Problem: the file is missing or damaged; NoEvaluation is one.
        """
        proxies = evaluations.read_proxies(self, evaluation_id)
        if proxies is None:
            self.evaluation(evaluation_id)
        return proxies

    def queries(self, evaluation_id: int) -> Queries:
        """All queries of an evaluation as columns, in the order of its embeddings. Raises Problem, as NoEvaluation."""
        with self.reading() as db:
            queries = evaluations.read_queries(db, evaluation_id)
        if not len(queries.sample_ids):
            self.evaluation(evaluation_id)
        return queries

    def query(self, evaluation_id: int, sample_id: int) -> Query:
        """One query of an evaluation. Raises Problem if the sample is not a query."""
        with evaluations.unless_deleted(self, evaluation_id), self.reading() as db:
            return evaluations.read_query(db, evaluation_id, sample_id)

    def neighbours(self, run_id: int, query: int, evaluation_id: int | None = None) -> list[Neighbour]:
        """The stored neighbours of a query, a sample id, best first; of the run's last evaluation unless one is named.

        Raises:
            UnknownName: there is no run of that number.
            Problem: it has no evaluation, or the sample is no query of it.
        """
        if evaluation_id is None:
            run = self.run(run_id)
            with self.reading() as db:
                evaluation_id = evaluations.last_evaluation(db, run.id)
        with evaluations.unless_deleted(self, evaluation_id), self.reading() as db:
            return evaluations.read_neighbours(db, evaluation_id, query)

    # Data sets

    def dataset(self, dataset_id: int) -> Dataset:
        """One data set. Raises Problem when there is none of that number or it cannot be read."""
        with self.reading() as db:
            return samples.read_dataset(db, dataset_id, self.path)

    def samples(self, dataset_id: int | None) -> Samples:
        """All samples of a data set as columns, by row of its pixel cache; of None, as a run without data has, none.

        Raises:
            Problem: there is no data set of that number, or it cannot be read.
        """
        if dataset_id is None:
            return samples.no_samples()
        with self.reading() as db:
            return samples.read_samples(db, dataset_id)

    def pictures(self, dataset_id: int) -> "Pictures":
        """Images of a data set by sample id: from the pixel cache, in full from the original file."""
        data = self.dataset(dataset_id)
        with self.reading() as db:
            kind, params = samples.params_of(db, dataset_id)
        return samples.pictures(data, self.samples(dataset_id) if data.image_size else None, kind, params)

    def register_dataset(self, image_set: "ImageSet", pixels: Path | None) -> int:
        """The number of a data set, which is stored with its samples the first time; `pixels` is its cache, or None."""
        with self.writing() as db:
            return samples.store_dataset(db, image_set, pixels)

    # Maps

    def projections(self, evaluation_id: int) -> list[Projection]:
        """The maps of an evaluation, in the order in which they were made. Raises NoEvaluation."""
        with self.reading() as db:
            maps = projections.read_projections(db, "evaluation_id = ?", (evaluation_id,))
        if not maps:
            self.evaluation(evaluation_id)
        return maps

    def coordinates(self, projection_id: int) -> tuple[np.ndarray, np.ndarray | None]:
        """Points [n, k] float32 in the order of the embeddings, and proxies [p, k] or None."""
        return projections.read_coordinates(self, projection_id)

    # Files of a run

    def artefacts(self, run_id: int, kind: str) -> list[Path]:
        """Files of one kind ('checkpoint', 'report', ...) of a run, oldest first. Reports may be stored elsewhere.

        Raises:
            UnknownName: there is no such run.
        """
        with self.reading() as db:
            paths = artefacts.stored_paths(db, run_id, kind)
        if not paths:
            self.run(run_id)
        if kind == "report":
            return [self.folder(run_id) / path for path in paths]
        return [self.file(run_id, path) for path in paths]

    def add_artefact(self, run_id: int, kind: str, path: Path, step: int | None = None) -> int:
        """Record a file, with its size and hash; inside the run's folder it is stored by its relative path.

        Raises:
            Problem: the file cannot be read, or there is no such run.
        """
        with self.writing() as db:
            runs.check_there(db, run_id)
            return artefacts.add_artefact(db, self.folder(run_id), run_id, kind, path, step)

    def _set(self, run_id: int, column: str, value: object) -> None:
        with self.writing() as db:
            runs.set_column(db, run_id, column, value)
