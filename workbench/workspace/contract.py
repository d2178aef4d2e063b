"""What the files below `workspace.py` ask of an open workspace. `Workspace` says what each of it does."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from workbench.workspace.database.connection import Connection
from workbench.workspace.rows import Evaluation, Queries


class OpenWorkspace(Protocol):
    """An open workspace, as a `Workspace` is one."""

    path: Path
    database: Path
    read_only: bool

    def reading(self) -> AbstractContextManager[Connection]:
        """As `Store.reading`."""

    def writing(self) -> AbstractContextManager[Connection]:
        """As `Store.writing`."""

    def reader(self) -> Connection:
        """As `Store.reader`."""

    def folder(self, run_id: int) -> Path:
        """As `Store.folder`."""

    def file(self, run_id: int, name: str) -> Path:
        """As `Store.file`."""

    def has_file(self, run_id: int, name: str) -> bool:
        """As `Store.has_file`."""

    def set_status(self, run_id: int, status: str, problem: str = "") -> None:
        """As `Workspace.set_status`."""

    def evaluation(self, evaluation_id: int) -> Evaluation:
        """As `Workspace.evaluation`."""

    def evaluations(self, run_id: int) -> list[Evaluation]:
        """As `Workspace.evaluations`."""

    def has_evaluation(self, evaluation_id: int) -> bool:
        """As `Workspace.has_evaluation`."""

    def queries(self, evaluation_id: int) -> Queries:
        """As `Workspace.queries`."""

    def add_artefact(self, run_id: int, kind: str, path: Path, step: int | None = None) -> int:
        """As `Workspace.add_artefact`."""
