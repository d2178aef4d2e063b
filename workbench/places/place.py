"""A place as the person describes it: fields with help, a class for each kind; the window's dialog draws them."""

from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field, field_validator

NAME = r"^[A-Za-z0-9]([A-Za-z0-9 _-]{0,38}[A-Za-z0-9])?$"
FOLDER = "workbench-runs"
PYTHON = "workbench-place/bin/python"  # where `workbench place install` puts it


class Place(BaseModel):
    """What every place has. Paths there are relative to the home folder there, or absolute."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    kind: ClassVar[str] = ""

    name: Annotated[str, Field(pattern=NAME, description="What you call it.")]
    folder: str = Field(
        FOLDER,
        title="Folder there",
        min_length=1,
        max_length=1000,
        description="Folder there that holds the run folders.",
    )
    python: str = Field(
        PYTHON, title="Python there", min_length=1, max_length=1000, description="The Python there that has Workbench."
    )
    data: dict[str, str] = Field(default_factory=dict, description="Folders of data there, by the folder here.")

    @field_validator("folder", "python")
    @classmethod
    def _in_home(cls, path: str) -> str:
        """Without "~/": commands begin in the home folder. Raises ValueError for what no path is."""
        path = path.removeprefix("~/").rstrip("/") or "/"
        if path.startswith(("-", "~")) or any(not letter.isprintable() for letter in path):
            raise ValueError("Name a path in the home folder there, or an absolute one.")
        return path


class SshPlace(Place):
    """A machine that `ssh HOST` reaches."""

    kind = "ssh"
    host: str = Field(min_length=1, max_length=255, description="As in `ssh HOST`: an alias, or user@machine.")
    ssh_config: str = Field(
        "", title="SSH config", max_length=1000, description="Another file than your own SSH config."
    )
    devices: str = Field("", max_length=100, description="GPUs that train each run together, such as 0,1.")

    @field_validator("host")
    @classmethod
    def _is_host(cls, host: str) -> str:
        if host.startswith("-") or any(not letter.isprintable() or letter.isspace() for letter in host):
            raise ValueError("Name a host as `ssh HOST` takes it.")
        return host
