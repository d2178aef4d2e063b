"""The files for `ssh`: a private folder of the user, the socket of a shared connection, a config.

The config forbids questions, and includes the user's own. OpenSSH passes the file on to its processes for jump hosts,
but no options of the command line: without it they would ask at the terminal.
"""

import os
import shlex
import stat
import sys
from hashlib import blake2b
from pathlib import Path

from workbench import files
from workbench.problem import Problem

LONGEST = 86  # bytes of a socket's path: 104 on macOS, less the 17 that ssh adds while it makes one, and a NUL
SHORT = Path("/tmp")  # what is made there is looked at before it is used
SYSTEM = Path("/etc/ssh/ssh_config")


def options(host: str, config: Path | None) -> list[str]:
    """The options of a command line that share a connection and keep every `ssh` on the way from asking.

    Args:
        host: as in `ssh HOST`.
        config: another file than the user's own config.
    """
    own = ["-F", str(config)] if config else []
    if sys.platform == "win32":  # its OpenSSH shares no connection
        return own
    user = os.geteuid()
    folder = _folder(user)
    if folder is None:
        return own
    at = folder / _name(host, config)
    shared = ["-o", "ControlMaster=auto", "-o", f"ControlPath={at}", "-o", "ControlPersist=60"]
    return [*shared, *(["-F", str(_config(at.with_suffix(".config"), config))] if _taken(config, user) else own)]


def _name(host: str, config: Path | None) -> str:
    named = f"{host}\0{config}".encode()
    return f"wb-{blake2b(named, digest_size=8).hexdigest()}"


def _folder(user: int) -> Path | None:
    """The first private folder of the user whose name ssh can use for a socket; None if there is none."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")  # platformdirs' other choices can be read by others, or are long
    folders = [Path(runtime) / "workbench"] if runtime else []
    for folder in (*folders, Path.home() / ".ssh", SHORT / f"workbench-{user}"):
        if len(os.fsencode(folder / _name("", None))) <= LONGEST and _plain(folder) and _is_own(folder, user):
            return folder
    return None


def _plain(path: Path) -> bool:
    """Whether ssh and its shell read the path as it is: they know no quotes in it, and "%" begins a word of theirs."""
    return shlex.quote(str(path)) == str(path) and "%" not in str(path)


def _is_own(folder: Path, user: int) -> bool:
    """Whether the folder, created if missing, belongs to the user, who alone can enter it from now on."""
    try:
        files.make_folder(folder)
        facts = folder.lstat()
        if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != user:
            return False
        folder.chmod(0o700)
    except (OSError, Problem):
        return False
    return True


def _taken(config: Path | None, user: int) -> bool:
    """Whether ssh would accept the config itself: if it refuses a file, its own message is better than ours."""
    if config is not None:
        return config.is_file() and '"' not in str(config)
    try:
        facts = (Path.home() / ".ssh" / "config").stat()
    except OSError:
        return True
    return facts.st_uid in (0, user) and not facts.st_mode & 0o022


def _config(path: Path, config: Path | None) -> Path:
    """Our config, written if it is missing or differs."""
    included = [config.absolute()] if config else ["~/.ssh/config", SYSTEM]
    lines = ["# Written by Workbench: no ssh on the way to a place asks a question.", "BatchMode yes"]
    text = "\n".join([*lines, *(f'Include "{name}"' for name in included), ""]).encode()
    if not path.is_file() or path.read_bytes() != text:
        with files.atomic_write(path) as file:
            file.write(text)
    return path
