"""The runs of a fair comparison as sweeps of the workspace: created once, resumed after a kill."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from workbench.config import RunConfig
from workbench.entries.catalog import Catalog
from workbench.fair.plan import Plan, search_space, seeds_and_folds, test_config, tuning_config
from workbench.problem import Problem
from workbench.running.listed import Listed
from workbench.sweeps import starting
from workbench.sweeps.objective import HELD_OUT
from workbench.sweeps.progress import Standing, standings
from workbench.sweeps.proposals import How, combinations
from workbench.sweeps.space import Parameter, Setting, written
from workbench.sweeps.worker import Worker
from workbench.workspace import Workspace
from workbench.workspace.experiments import sweeps as stored
from workbench.workspace.rows import Run

CLOSED = ("done", "failed")
SOURCE = "workbench benchmark fair"  # of its sweeps


class Interrupted(Exception):  # noqa: N818 - a request, not an error
    """The user asked to stop; everything is kept, and the same call resumes."""


@dataclass(frozen=True, slots=True)
class Tried:
    """The settings that were tried for a loss, and their results on held-out training classes."""

    method: str
    parameters: tuple[Parameter, ...]
    standings: tuple[Standing, ...]  # settings, best first
    first: float | None  # of the first setting: the loss's defaults
    failed: int  # settings of which a run failed

    @property
    def best(self) -> Standing:
        """The setting with the highest mean over the folds."""
        return self.standings[0]


class Runs:
    """Trains the runs of one comparison, in one process. `interrupt` may be called in a signal's handler."""

    def __init__(self, workspace: Workspace, known: Catalog, say: Callable[[str], None]) -> None:
        self._workspace, self._known, self._say = workspace, known, say
        self._worker: Worker | None = None
        self._listed = Listed()  # one for all methods: they share their data
        self._interrupted = False

    def interrupt(self) -> None:
        """End soon; the current run keeps a checkpoint."""
        self._interrupted = True
        if self._worker is not None:
            self._worker.interrupt()

    def tune(self, plan: Plan, method: str) -> tuple[RunConfig, Tried]:
        """Search the settings of a loss by TPE after its defaults, each over all folds of the training classes.

        Raises:
            Problem: no setting has a result on every fold.
            Interrupted: somebody asked to end.
        """
        config = tuning_config(plan, method, self._known)
        parameters, first = search_space(config, self._known)
        count = min(plan.trials, combinations(parameters) or plan.trials)
        number = self._sweep(config, "bayes", parameters, count, starting.point_of(config, first))
        self._work_through(number)
        return config, tried_in(self._workspace, number, method, parameters)

    def tested(self, plan: Plan, tuned: RunConfig, setting: Setting) -> list[Run]:
        """The runs of a setting over new seeds, by seed.

        Raises:
            Problem: a run failed.
            Interrupted: somebody asked to end.
        """
        config = test_config(plan, tuned, setting, self._known)
        rate = {"training.lr": config.training.lr}
        point = stored.Point(dict(rate), seeds_and_folds(plan))
        number = self._sweep(config, "grid", [Parameter(name, (value,)) for name, value in rate.items()], 1, point)
        trials = sorted(self._work_through(number), key=lambda trial: trial.seed)
        for trial in trials:
            if trial.state != "done" or trial.run_id is None:
                raise Problem(f"{config.name}, seed {trial.seed}: {trial.problem}", kept="The other runs are kept.")
        return [self._workspace.run(trial.run_id) for trial in trials if trial.run_id is not None]

    def _sweep(
        self, config: RunConfig, how: How, parameters: Sequence[Parameter], points: int, first: stored.Point
    ) -> int:
        """The number of the sweep with exactly this plan: an earlier one, or a new one."""
        varied = [f"{parameter.field}={written(parameter)}" for parameter in parameters]
        for sweep in stored.every(self._workspace):
            same = (sweep.how, list(sweep.parameters), sweep.points, sweep.metric) == (how, varied, points, HELD_OUT)
            if same and sweep.state != "cancelled" and config.is_recorded_as(sweep.config):
                return sweep.id
        return stored.create(
            self._workspace, config, how=how, parameters=varied, points=points, metric=HELD_OUT, reported=False,
            source=SOURCE, first=[first],
        )  # fmt: skip

    def _work_through(self, number: int) -> list[stored.Trial]:
        """Finish a sweep and return its trials; continues if it paused because of settings that diverge."""
        closed = -1
        while (sweep := stored.one(self._workspace, number)).state != "done":
            if self._interrupted:
                raise Interrupted
            trials = stored.trials(self._workspace, number)
            before, closed = closed, sum(trial.state in CLOSED for trial in trials)
            if sweep.state == "paused":
                if closed == before or not any(trial.state == "done" for trial in trials):
                    raise Problem(f"{sweep.name}: {sweep.problem}", kept="Its runs are kept.")
                starting.resume(self._workspace, number)
            self._worker = Worker(self._workspace, number, self._say, listed=self._listed)
            if self._interrupted:  # between the look above and the new worker
                raise Interrupted
            self._worker.run()
        self._worker = None
        return stored.trials(self._workspace, number)


def tried_in(workspace: Workspace, number: int, method: str, parameters: tuple[Parameter, ...]) -> Tried:
    """What the sweep of that number has tried for a loss. Raises Problem: no setting has a result on every fold."""
    trials = [trial for trial in stored.trials(workspace, number) if not trial.refused]
    ordered = standings(stored.one(workspace, number), trials)
    whole = tuple(standing for standing in ordered if all(trial.objective is not None for trial in standing.trials))
    if not whole:
        raise Problem(f"No setting of {method} has a result on every fold.", kept="Its runs are kept.")
    defaults = next((standing.mean for standing in whole if standing.point == 1), None)
    return Tried(method, parameters, whole, defaults, len(ordered) - len(whole))
