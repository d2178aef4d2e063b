"""What groups the tests on other images: the settings of the runs that trained the networks, and the tested images."""

from workbench.comparing.grouping.settings import TRAINED_ON, Settings, fold_of, settings_of
from workbench.config import IMPORTED
from workbench.entries.catalog import Catalog
from workbench.problem import Problem
from workbench.workspace.rows import Run
from workbench.workspace.run_names import data_title

DATA = "dataset.name"  # of a test what its images are called: the same may lie at two places
NETWORK = "test.network"  # which of the run: the best, the last or that of an epoch
DISTANCE = "evaluation.distance"


def settings_of_run(run: Run, known: Catalog) -> Settings:
    """The settings of a run's config; of a test those of its trainer, on the images of the test.

    The data set that the trainer saw is in the fields of TRAINED_ON then. A test without a trainer has those of its own
    config, in which every part is imported.

    Args:
        known: the catalog, as in `settings_of`.

    Raises:
        Problem: a config that cannot be read.
    """
    own = settings_of(run.config, known)
    if run.trainer is None:
        return own
    trained = settings_of(run.trainer.config, known)
    settings = {DATA: data_title(known, run), NETWORK: run.tested_network}
    for field, value in trained.items():
        part, _, name = field.partition(".")
        settings[f"{TRAINED_ON}.{name}" if part == "dataset" else field] = value
    return settings | {DISTANCE: own.get(DISTANCE)}


def is_readable(run: Run, known: Catalog) -> bool:
    """Whether a run's settings can be read, by which it is grouped."""
    try:
        settings_of_run(run, known)
    except Problem:
        return False
    return True


def key_of(settings: Settings) -> Settings:
    """The settings that runs of one group have in common: all but what a person called the images of a test."""
    return {field: value for field, value in settings.items() if field != DATA} if NETWORK in settings else settings


def is_trained(settings: Settings) -> bool:
    """Whether settings are those of runs that Workbench or a user's own loop trained, or of tests of such runs."""
    return settings.get(DATA) != IMPORTED or NETWORK in settings


def is_chosen_here(settings: Settings) -> bool:
    """Whether the best epoch was chosen on the images that are measured: of a test it was chosen on others."""
    return settings.get(DATA) != IMPORTED and NETWORK not in settings


def fold_of_run(run: Run) -> int:
    """The fold that a run, or the trainer of a test, asks for, from 1; 0 if its split has none."""
    return fold_of((run.trainer or run).config)


def title_of_test(name: str, run: Run, known: Catalog) -> str:
    """ "Digits on photos" for tests of the group `name`; "Digits on photos, last epoch" of networks not the best."""
    network = "" if run.tested_network == "best epoch" else f", {run.tested_network}"
    return f"{name} on {data_title(known, run)}{network}"
