"""Runs of the same config and data but for seed, fold and what is measured besides, as one group.

Tests on other images are one group where the runs that trained their networks would be one, the images are the same and
the networks are alike: each run's best, each run's last, or those of one epoch.
"""

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from workbench.comparing.grouping.setting_titles import telling_words
from workbench.comparing.grouping.settings import Difference, Settings, differing
from workbench.comparing.grouping.tested import key_of, settings_of_run, title_of_test
from workbench.entries.catalog import Catalog
from workbench.problem import Problem
from workbench.workspace.rows import Run

TAIL = re.compile(r"(, (seed|fold) \d+)+\Z")  # as folds_and_seeds.children names the runs of an experiment
MOST_WORDS = 3  # settings in the title of a group


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Runs that differ only in seed, fold and what is measured besides; `title` is unlike that of any other group."""

    title: str
    runs: tuple[Run, ...]  # oldest first
    settings: Settings

    @property
    def colour(self) -> int:
        """Index into the palette of runs: that of the oldest run, so that it does not change when runs are added."""
        return self.runs[0].colour

    @property
    def seeds(self) -> list[int]:
        """The different seeds, rising."""
        return sorted({run.seed for run in self.runs})

    @property
    def trained_nothing(self) -> bool:
        """Whether its runs are tests on other images or imports, which have one evaluation each and so no curve."""
        return all(run.trained_nothing for run in self.runs)


def grouped(runs: Sequence[Run], known: Catalog) -> list[Group]:
    """Groups in the order of their oldest runs. `known` is the catalog, for defaults that a config leaves out.

    A test whose `trainer` is not known is a group of its own.

    Raises:
        Problem: a config that cannot be read, with the number of its run.
    """
    by_config: dict[tuple[str, int | None], tuple[Settings, list[Run]]] = {}
    data: dict[str, int] = {}  # of a config, for its runs that have not read their data yet
    read: dict[tuple[str, str, str], Settings] = {}
    read_by_key: list[tuple[str, Settings, Run]] = []
    for run in sorted(runs, key=lambda run: run.id):
        configs = run.config, "" if run.trainer is None else run.trainer.config, run.tested_network
        if configs not in read:
            read[configs] = _settings_of(run, known)
        settings = read[configs]
        key = json.dumps(key_of(settings), sort_keys=True, default=str)
        if run.dataset_id is not None:
            data.setdefault(key, run.dataset_id)
        read_by_key.append((key, settings, run))
    for key, settings, run in read_by_key:
        seen = data.get(key) if run.dataset_id is None else run.dataset_id
        by_config.setdefault((key, seen), (settings, []))[1].append(run)
    groups = [Group(_title(members[0], known), tuple(members), settings) for settings, members in by_config.values()]
    return _told_apart(groups, known)


def _title(first: Run, known: Catalog) -> str:
    if first.trainer is None:
        return TAIL.sub("", first.name)
    return title_of_test(TAIL.sub("", first.trainer.name), first, known)


def _settings_of(run: Run, known: Catalog) -> Settings:
    try:
        return settings_of_run(run, known)
    except Problem as problem:
        raise Problem(
            f"Run {run.id} cannot be compared. {problem.what}", kept="No run was changed.",
            todo="Leave it out to compare the others.",
        ) from None  # fmt: skip


def group_of(run_id: int, runs: Sequence[Run], known: Catalog) -> tuple[Run, ...]:
    """The runs of one group with this run, oldest first; none if it is not among `runs`. `known` as above."""
    groups = (group.runs for group in grouped(runs, known))
    return next((members for members in groups if any(run.id == run_id for run in members)), ())


def _told_apart(groups: list[Group], known: Catalog) -> list[Group]:
    """Distinguish groups of one name by the settings in which they differ, or by their run numbers, in their titles."""
    named: dict[str, list[Group]] = {}
    for group in groups:
        named.setdefault(group.title, []).append(group)
    titles = {id(group): group.title for group in groups}
    for same in (members for members in named.values() if len(members) > 1):
        chosen = [group.settings for group in same]
        rows = _telling(differing(chosen), len(same))
        for index, group in enumerate(same if rows else []):
            words = ", ".join(telling_words(row.field, row.values[index], chosen, known) for row in rows)
            titles[id(group)] = f"{group.title}: {words}"
        texts = Counter(titles[id(group)] for group in same)
        for group in same:
            if texts[titles[id(group)]] > 1:
                titles[id(group)] = f"{group.title}: run {group.runs[0].id}"
    return [replace(group, title=titles[id(group)]) for group in groups]


def _telling(rows: list[Difference], count: int) -> list[Difference]:
    """The fewest settings that distinguish the groups, three at most; the loss's name comes before its parameters."""
    chosen: list[Difference] = []
    apart = 1
    for row in sorted(rows, key=lambda difference: not difference.field.endswith(".name")):
        distinct = len(
            {tuple(str(difference.values[index]) for difference in (*chosen, row)) for index in range(count)}
        )
        if distinct > apart and len(chosen) < MOST_WORDS:
            chosen.append(row)
            apart = distinct
    return chosen


def unlike_parts(titles: Sequence[str]) -> list[str]:
    """Titles without a common part before the last colon: "Normalised CE" of "Digits: Normalised CE".

    A title that is that part itself, as of the run that a sweep varies, stays whole.
    """
    parts = [title.rpartition(": ") for title in titles]
    for common in {start for start, _, _ in parts if start} if len(titles) > 1 else ():
        if all(common in (title, start) for title, (start, _, _) in zip(titles, parts, strict=True)):
            return [title if title == common else end for title, (_, _, end) in zip(titles, parts, strict=True)]
    return list(titles)
