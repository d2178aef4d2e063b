"""Runs by the words and conditions of a search field: the same in the list of runs and on the Compare page."""

from collections.abc import Sequence

from workbench.entries.catalog import Catalog
from workbench.ui.style.words import state_word
from workbench.workspace.rows import Run
from workbench.workspace.run_names import names_of
from workbench.workspace.run_search import meets

WORDS = "Words of name, loss, backbone, data, tags, note or state"
CONDITIONS = 'lr<0.01, MAP@R>80 (%), tag="first try", state=failed, date=today, date>=2026-11-20'
OF_SIZE = "size>1GB"  # a condition where the sizes of runs are read


def fits(run: Run, words: Sequence[str], known: Catalog, size: int | None = None) -> bool:
    """Whether a run has every word in name, loss, backbone, data, tags, note or state, or meets it as a condition.

    Args:
        run: of any state.
        words: of `run_search.words_of`; without any every run fits.
        known: how entries are called.
        size: bytes of the run's folder; without it no condition of the size is met.
    """
    if not words:
        return True
    titles, keys = names_of(known, run), (run.loss, run.backbone, run.dataset)
    of_trainer = () if run.trainer is None else (run.trainer.loss, run.trainer.backbone)
    text = " ".join((run.name, *keys, *of_trainer, *titles, *run.tags, run.note, state_word(run.status))).casefold()
    return all(word in text or meets(run, word, size) for word in words)
