"""The user's description of a place: fields with help, a class for each kind; the window's dialog shows them."""

import re
import shlex
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from workbench.problem import Problem

NAME = r"^[A-Za-z0-9]([A-Za-z0-9 _-]{0,38}[A-Za-z0-9])?$"
OPTION = r"^[A-Za-z0-9_.,:=*@/+-]*$"  # what one value of an option of sbatch is made of
RUN = r"[A-Za-z0-9_-]{1,128}"  # the name of a run's folder there
FOLDER = "workbench-runs"
PYTHON = "workbench-place/bin/python"  # where `workbench place install` puts it


def checked_host(host: str) -> str:
    """The host, as `ssh HOST` takes it. Raises ValueError for an option or for several words."""
    if host.startswith("-") or any(not letter.isprintable() or letter.isspace() for letter in host):
        raise ValueError("Name a host as `ssh HOST` takes it.")
    return host


def checked_config(path: str) -> str:
    """The path of a config of SSH. Raises ValueError for several lines, and for the home folder of nobody."""
    _check_line(path)
    try:
        Path(path).expanduser()
    except RuntimeError:
        raise ValueError(f"There is no home folder {Path(path).parts[0]} on this machine.") from None
    return path


def _check_line(text: str) -> None:
    if any(not letter.isprintable() for letter in text):
        raise ValueError("Must be one line, without control characters.")


def _check_path(path: object) -> None:
    """Raises ValueError for anything but text that a file system and a record can hold on one line."""
    if not isinstance(path, str):
        raise ValueError(f"{str(path)[:80]!r} is not the name of a folder.")
    if any(ord(letter) < 32 or ord(letter) == 127 or "\ud800" <= letter <= "\udfff" for letter in path):
        raise ValueError(f"{path[:80]!r} has a character that no folder here may have.")


SshHost = Annotated[str, AfterValidator(checked_host)]
SshConfig = Annotated[
    str,
    Field(title="SSH config", max_length=1000, description="Another file than your own SSH config."),
    AfterValidator(checked_config),
]
Devices = Annotated[
    str,
    Field(max_length=100, pattern=r"^[A-Za-z0-9:, ]*$", description="GPUs that train each run together, such as 0,1."),
]


class OtherKind(Problem):
    """A run was sent to a place of that name when it was of another kind, so that its job means nothing there now."""


class Place(BaseModel):
    """The fields of every place. Paths there are relative to the home folder there, or absolute.

    Attributes:
        kind: as records and the command line call it.
        job: what the number of a job there is like, as its launcher writes it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    kind: ClassVar[str] = ""
    job: ClassVar[re.Pattern[str]] = re.compile(RUN)

    name: Annotated[str, Field(pattern=NAME, description="What you call it: letters, digits, spaces, - and _.")]
    folder: str = Field(
        FOLDER,
        title="Folder there",
        min_length=1,
        max_length=1000,
        description="Folder there for the run folders.",
    )
    python: str = Field(
        PYTHON, title="Python there", min_length=1, max_length=1000, description="The Python there that has Workbench."
    )
    data: dict[str, str] = Field(default_factory=dict, description="Folders of data there, by the folder here.")

    @field_validator("folder", "python")
    @classmethod
    def _in_home(cls, path: str) -> str:
        """The path without "~/", because commands start in the home folder. Raises ValueError for an invalid path."""
        path = path.removeprefix("~/").rstrip("/") or "/"
        if path.startswith(("-", "~")) or any(not letter.isprintable() for letter in path):
            raise ValueError("Name a path in the home folder there, or an absolute one.")
        return path

    @field_validator("data", mode="before")
    @classmethod
    def _are_whole_paths(cls, data: Any) -> Any:
        """The folders, each by a whole path, because commands of many folders read them. Raises ValueError."""
        for here, there in data.items() if isinstance(data, dict) else ():
            _check_path(here)
            _check_path(there)
            if not Path(here).is_absolute():
                raise ValueError(f"{here!r} is not an absolute path of this machine.")
            if not PurePosixPath(there).is_absolute():
                raise ValueError(f"{there!r} is not an absolute path there: it must begin with /.")
        return data

    @property
    def whereabouts(self) -> str:
        """What it points to, as a run that is sent there remembers it."""
        return f"{self._machine}, folder {self.folder}"

    def is_at(self, whereabouts: str) -> bool:
        """Whether it points there still; an older workspace remembers the machine alone, or nothing."""
        return whereabouts in ("", self._machine, self.whereabouts)

    @property
    def _machine(self) -> str:
        return str(getattr(self, "url", "") or getattr(self, "host", "")) or "this machine"

    def check_job(self, run_id: int, job: str) -> None:
        """Raises OtherKind for the number of a job of another kind of place; it is empty of a run that was not sent."""
        if job and self.job.fullmatch(job) is None:
            raise OtherKind(
                f"Run {run_id} was sent to {self.name} when that was a place of another kind than {self.kind}.",
                kept="The run was not changed, and may still train there.",
                todo=f"Give the new machine another name, and {self.name} its former kind: then it is followed again.",
            )


class SshPlace(Place):
    """A machine that `ssh HOST` reaches."""

    kind = "ssh"
    host: SshHost = Field(min_length=1, max_length=255, description="As in `ssh HOST`: an alias, or user@machine.")
    ssh_config: SshConfig = ""
    devices: Devices = ""


class SlurmPlace(Place):
    """A cluster with Slurm, by its login node."""

    kind = "slurm"
    job = re.compile(rf"([0-9]{{1,12}})_([0-9]{{1,7}}):({RUN})")
    host: SshHost = Field(
        "",
        max_length=255,
        title="Host",
        description="Login node as in `ssh HOST`; empty where this machine has sbatch itself.",
    )
    ssh_config: SshConfig = ""
    partition: str = Field("", max_length=200, pattern=OPTION, description="Of sbatch --partition; several by commas.")
    account: str = Field("", max_length=200, pattern=OPTION, description="Of sbatch --account.")
    gres: str = Field("", max_length=200, pattern=OPTION, title="GRES", description="Of sbatch --gres, such as gpu:1.")
    time: str = Field(
        "", pattern=r"^([0-9]+(:[0-9]{1,2}){0,2}|[0-9]+-[0-9]{1,2}(:[0-9]{1,2}){0,2})?$",
        description="Time limit: minutes, H:MM:SS or D-HH. A run saves itself before it ends and queues again.",
    )  # fmt: skip
    notice: int = Field(
        120,
        ge=30,
        le=3600,
        title="Notice",
        description="Seconds before the time limit at which a run saves itself.",
        json_schema_extra={"unit": "s"},
    )
    cpus: int = Field(0, ge=0, le=1024, title="Cores", description="Cores of each run or rank; 0 leaves it to Slurm.")
    memory: str = Field("", pattern=r"^([0-9]+[KMGT]?)?$", description="Memory of each node, such as 16G.")
    nodes: int = Field(1, ge=1, le=1024, description="Machines that train each run together.")
    ranks: int = Field(
        1,
        ge=1,
        le=64,
        title="Ranks on each",
        description="Processes of each run on a machine, one for each of its GPUs.",
    )
    at_once: int = Field(
        0, ge=0, le=10_000, title="Runs at once", description="Runs of an experiment or sweep at once; 0 for no limit."
    )
    lines: str = Field(
        "", max_length=1000, title="More options", description="More options of sbatch, such as --qos=long --exclusive."
    )
    before: str = Field(
        "",
        max_length=1000,
        title="Before a run",
        description="What a shell does before each run, such as: module load cuda",
    )
    commands: str = Field(
        "",
        max_length=1000,
        title="Folder of sbatch",
        description="Folder of sbatch there, where it is not on the path.",
    )

    @field_validator("folder")
    @classmethod
    def _can_be_quoted(cls, path: str) -> str:
        if '"' in path or "\\" in path:
            raise ValueError('Slurm cannot write below a folder with " or \\ in its name.')
        return path

    @field_validator("lines", "before", "commands")
    @classmethod
    def _is_one_line(cls, line: str, asked: ValidationInfo) -> str:
        _check_line(line)
        if asked.field_name == "lines":
            words = shlex.split(line)  # a quotation mark without its other is a ValueError, too
            if any(not word.startswith("--") for word in words):
                raise ValueError("Options of sbatch begin with --, and have their value after =.")
        return line


class RayPlace(Place):
    """A running Ray cluster, by its Jobs API; its nodes share a disk for the run folders."""

    model_config = ConfigDict(validate_default=True)  # what other places have by default is no whole path
    kind = "ray"
    job = re.compile(rf"(workbench-[0-9a-f]{{32}}):({RUN})")
    url: str = Field(
        title="URL", max_length=1000, pattern=r"^https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[A-Za-z0-9./_-]*)?$",
        description="Address of its dashboard, such as http://127.0.0.1:8265.",
    )  # fmt: skip
    host: SshHost = Field(
        "",
        max_length=255,
        title="Host",
        description="Machine, as in `ssh HOST`, that sees the folder; empty where this one does.",
    )
    ssh_config: SshConfig = ""
    devices: Devices = ""
    at_once: int = Field(
        4,
        ge=1,
        le=1000,
        title="Runs at once",
        description="Ray jobs of an experiment or sweep: each does its runs in turn.",
    )
    cpus: float = Field(1, ge=0, le=1024, title="Cores", description="Cores that a run asks for.")
    gpus: float = Field(0, ge=0, le=64, title="GPUs", description="GPUs that a run asks for.")

    @field_validator("folder", "python")
    @classmethod
    def _is_absolute(cls, path: str) -> str:
        """Check that the path is absolute, because jobs of Ray do not start in the home folder."""
        if not path.startswith("/"):
            raise ValueError("Name an absolute path that every node of the cluster has.")
        return path
