"""More seeds for compared runs: their configs again, with seeds that no run of the same config has."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from statistics import fmean

from workbench.comparing.grouping.groups import TAIL, Group, grouped
from workbench.comparing.grouping.tested import is_readable
from workbench.config import SEEDS, Choice, RunConfig
from workbench.entries.catalog import Catalog
from workbench.workspace.rows import Run

LONGEST = 190  # letters of a name before its seed and fold


@dataclass(frozen=True, slots=True)
class Added:
    """What one group gets."""

    title: str
    seeds: tuple[int, ...]
    configs: tuple[RunConfig, ...]  # each makes one run or more: see folds_and_seeds.children
    runs: int
    seconds: float | None  # of their training, as the runs of the group took; None if none of them is done


@dataclass(frozen=True, slots=True)
class MoreSeeds:
    """What all groups get, and a sentence for each that gets nothing."""

    groups: tuple[Added, ...]
    left_out: tuple[str, ...]

    @property
    def runs(self) -> int:
        """How many runs are to be made."""
        return sum(group.runs for group in self.groups)

    @property
    def seconds(self) -> float | None:
        """Of training, one run after the other; None if it is not known of one group."""
        parts = [group.seconds for group in self.groups]
        return None if None in parts else sum(part for part in parts if part is not None)


def more_seeds(ticked: Collection[int], runs: Sequence[Run], known: Catalog, number: int) -> MoreSeeds:
    """The next `number` unused seeds for each group that has a ticked run.

    Args:
        ticked: numbers of runs among `runs`.
        runs: all of the workspace but its trash, so that no seed is used twice.
        known: the catalog.

    Raises:
        Problem: the config of a ticked run cannot be read.
    """
    groups = grouped([run for run in runs if run.id in ticked or is_readable(run, known)], known)
    added, left_out = [], []
    for group in groups:
        if any(run.id in ticked for run in group.runs):
            reason = why_none(group.runs[-1], known)
            if reason:
                left_out.append(f"“{group.title}” gets none: {reason}.")
            else:
                added.append(_added(group, known, number))
    return MoreSeeds(tuple(added), tuple(left_out))


def why_none(run: Run, known: Catalog) -> str:
    """Why this run cannot be repeated here with another seed, without a full stop; empty if it can."""
    if run.placement is not None:
        return f"it trained at {run.placement.place}, which Set up can start again"
    config = RunConfig.recorded(run.config)
    if run.tested is not None:
        return "it is a test on other images: add seeds to the run that trained its network"
    if config.imported:
        return "its embeddings were imported"
    if config.own_loop:
        return "your own training loop recorded it"
    errors = config.check(known)
    return next((f"{field}: {sentence}".rstrip(".") for field, sentence in errors.items()), "")


def _added(group: Group, known: Catalog, number: int) -> Added:
    used = set(group.seeds)
    rising = chain(range(group.seeds[0], SEEDS), range(group.seeds[0]))
    seeds = tuple(islice((seed for seed in rising if seed not in used), number))
    newest = group.runs[-1]
    config = RunConfig.recorded(newest.config)
    base = config.model_copy(update={"name": TAIL.sub("", newest.name)[:LONGEST], "seeds": 1})
    several = seeds == tuple(range(seeds[0], seeds[0] + number))
    configs, runs = [], 0
    for split, folds in _splits(group, known):
        runs += folds * number
        if several and number > 1:
            configs.append(base.model_copy(update={"split": split, "seed": seeds[0], "seeds": number}))
            continue
        for seed in seeds:
            name = f"{base.name}, seed {seed}"
            configs.append(base.model_copy(update={"split": split, "seed": seed, "name": name}))
    done = [run.seconds for run in group.runs if run.status == "done" and run.seconds > 0]
    return Added(group.title, seeds, tuple(configs), runs, runs * fmean(done) if done else None)


def _splits(group: Group, known: Catalog) -> list[tuple[Choice, int]]:
    """The split for each fold of the group with the folds that it makes: all of them at once where it has all."""
    split = RunConfig.recorded(group.runs[-1].config).split
    asked = [RunConfig.recorded(run.config).folds(known) for run in group.runs]
    folds, most = sorted({fold for fold, _ in asked}), asked[-1][1]
    if not most:
        return [(split, 1)]
    if folds == list(range(1, most + 1)) or 0 in folds:
        folds = [0]
    makes = {0: most}
    return [(Choice(name=split.name, params={**split.params, "fold": fold}), makes.get(fold, 1)) for fold in folds]
