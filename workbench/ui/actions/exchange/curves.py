"""Curves of other programs, imported in a process of its own as `workbench import` does; the message bar says all."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from workbench.problem import Problem
from workbench.ui.state.concern import EVERYWHERE
from workbench.ui.state.process_work import ProcessWork, process_of
from workbench.ui.state.session import Session
from workbench.ui.style.words import counted

MOST_SAID = 3  # sentences on what was left out; the command line says all
CANCELLED = Problem(
    "The import of curves was cancelled.",
    kept="Runs that were imported completely are kept.",
    todo="Import the same folder or file again for the rest.",
)


def import_curves(
    session: Session,
    source: Path,
    name: str = "",
    done: Callable[[], None] = lambda: None,
    failed: Callable[[Problem], None] | None = None,
    ended: Callable[[], None] = lambda: None,
) -> ProcessWork:
    """Import curves with a line in the Activity panel; the newest new run is shown.

    Args:
        source, name: as in `exchange.imported.curve_import.import_curves`.
        done: called after an import. failed: called with the Problem; by default the message bar has it.
        ended: called after a cancel.
    """
    workspace = session.workspace

    def imported(answer: dict[str, Any]) -> None:
        new = [run["run_id"] for run in answer["runs"] if run["new"]]
        if new and session.workspace is workspace:  # of another one, the number is another run's
            session.show_run(max(new))
            session.show_page("train")
        session.notify(" ".join(sentences(source, answer["runs"], answer["remarks"])), EVERYWHERE)
        done()

    def cancelled() -> None:
        session.notify(CANCELLED, EVERYWHERE)
        ended()

    return ProcessWork(
        session, process_of(session, "workbench.exchange.server"), "Import curves", "import_curves",
        {"source": str(source), "name": name}, imported, failed or partial(session.notify, concern=EVERYWHERE),
        cancelled, ends_process=True, takes_back=True,
    )  # fmt: skip


def sentences(source: Path, runs: Sequence[dict[str, Any]], remarks: Sequence[str]) -> list[str]:
    """What was imported, what was there before, and what was left out."""
    new = [run["run_id"] for run in runs if run["new"]]
    more = [run["run_id"] for run in runs if run["points"] and not run["new"]]
    trashed = [run["run_id"] for run in runs if run["trashed"]]
    said = [f"Imported the curves of {counted(len(new), 'run')}: {_numbers(new)}."] if new else []
    said += [f"New points were added to {_numbers(more)}."] if more else []
    said = said or [f"Nothing new was found in {source}."]
    waiting = [run["run_id"] for run in runs if run["left"]]
    said += [f"In the trash: {_numbers(trashed)}."] if trashed else []
    if waiting:
        said.append(f"New points of {_numbers(waiting)} were not added there: restore and import again for them.")
    rest = len(remarks) - MOST_SAID
    return [*said, *remarks[:MOST_SAID], *([f"{counted(rest, 'more remark')} not shown."] if rest > 0 else [])]


def _numbers(runs: Sequence[int]) -> str:
    """#1, #2, #3; of many the first and the last."""
    numbers = sorted(runs)
    shown = [f"#{run_id}" for run_id in numbers]
    return ", ".join(shown) if len(shown) <= 8 else f"{shown[0]} to {shown[-1]}"
