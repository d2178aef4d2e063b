"""Configs as TOML files: saved, opened, and written to the workspace for a command line."""

from hashlib import sha256
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from workbench.config import RunConfig
from workbench.files.disk_names import RESERVED
from workbench.jobs import command_line
from workbench.problem import Problem
from workbench.settings.presets import Preset
from workbench.ui.state.session import Session
from workbench.ui.style.words import CONFIGS
from workbench.ui.widgets.dialogs.save_file import ask_and_save, copy_text

LONGEST = 50  # letters of a file's name without its ending: of four bytes each, a disk takes them while it is written


class ConfigFiles:
    """Asks for files in dialogs over `parent`; the message bar shows what goes wrong."""

    def __init__(self, session: Session, parent: QWidget) -> None:
        self._session, self._parent = session, parent

    def save(self, config: RunConfig) -> None:
        """Ask for a file and write the config to it."""
        name, make = f"{slug(config.name)}.workbench.toml", lambda: config.to_toml
        ask_and_save(self._session, self._parent, "the config", name, {".toml": ("Config", make)})

    def open(self) -> RunConfig | None:
        """Ask for a file and read it; None if there is no config in the end."""
        file_name, _ = QFileDialog.getOpenFileName(self._parent, "Open config", "", CONFIGS)
        if not file_name:
            return None
        try:
            config = RunConfig.from_toml(file_name)
        except Problem as problem:
            self._session.notify(problem)
            return None
        self._session.settled.emit(self._session.here())  # what another file could not do
        return config

    def copy_command(self, config: RunConfig, preset: Preset | None) -> None:
        """Copy the command for a terminal; without a preset the config is written to the workspace."""
        workspace = self._session.workspace.path
        if preset is not None:
            name = preset.key
        else:
            path = workspace / "configs" / f"{slug(config.name)}.toml"
            if not self._write(config, path):
                return
            name = str(path)
        command = command_line("workbench", "run", name, "--workspace", str(workspace))
        copy_text(command, "The command", self._session.fulfil)

    def _write(self, config: RunConfig, path: Path) -> bool:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            config.to_toml(path)
        except (OSError, Problem) as error:
            problem = error if isinstance(error, Problem) else Problem(f"{path} cannot be written ({error.strerror}).")
            self._session.notify(problem)
            return False
        self._session.settled.emit(self._session.here())
        return True


def slug(name: str) -> str:
    """A run's name as a file name: letters, digits and hyphens; two long names have two, however late they differ."""
    words = "-".join("".join(letter if letter.isalnum() else " " for letter in name.lower()).split())
    if len(words) > LONGEST:
        digest = sha256(words.encode()).hexdigest()[:8]
        return f"{words[: LONGEST - len(digest) - 1].strip('-')}-{digest}"
    return f"config-{words}" if RESERVED.fullmatch(words) else words or "config"
