"""The records of places: a small TOML file for each, without a password or a key."""

import os
import re
import tomllib
from collections.abc import Collection
from pathlib import Path
from typing import Any

import tomli_w
from platformdirs import user_config_path
from pydantic import ValidationError

from workbench import files
from workbench.entries.catalog import NO_FIELD, sentences
from workbench.files.disk_names import RESERVED, ignores_case
from workbench.files.unreadable import refusing
from workbench.names import nearest_first
from workbench.places.place import NAME, Place, RayPlace, SlurmPlace, SshPlace
from workbench.problem import Problem, UnknownName

LARGEST = 1 << 16  # bytes of a record
KINDS: dict[str, type[Place]] = {kind.kind: kind for kind in (SshPlace, SlurmPlace, RayPlace)}


class Removed(Problem):
    """A place of runs has no record any more. Two of the same place are equal: both are answered by a new record."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"The place {name} was removed: its runs are not followed any more.",
            kept="They may still train there, and what was fetched of them is kept.",
            todo=f"Add a place named {name} again under File > Places…, and they are followed.",
        )
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Removed) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)


def folder() -> Path:
    """The folder of the records: WORKBENCH_PLACES, else in the user's settings folder."""
    named = os.environ.get("WORKBENCH_PLACES")
    return Path(named) if named else user_config_path("workbench", appauthor=False) / "places"


def mark() -> tuple[tuple[str, int, int], ...]:
    """What differs once a record is added, changed or removed: names, times in ns and sizes; empty if unreadable."""
    try:
        facts = [(entry.name, entry.stat()) for entry in os.scandir(folder()) if entry.name.endswith(".toml")]
    except OSError:  # also of a record that goes meanwhile: the next mark is another one
        return ()
    return tuple(sorted((name, fact.st_mtime_ns, fact.st_size) for name, fact in facts))


def known() -> list[Place]:
    """All places by name. Raises a Problem that names a record that cannot be read."""
    places, problems = readable()
    if problems:
        raise problems[0]
    return places


def readable() -> tuple[list[Place], list[Problem]]:
    """The places by name whose records can be read, and a Problem for each other record, or for their folder."""
    try:
        names = _names()
    except OSError as error:
        return [], [Problem(f"The places in {folder()} cannot be read ({error.strerror}).")]
    places, problems = list[Place](), list[Problem]()
    for name in names:
        try:
            places.append(named(name))
        except Problem as problem:
            if os.path.lexists(folder() / f"{name}.toml"):  # else it was removed or renamed meanwhile
                problems.append(problem)
    return places, problems


def _names() -> list[str]:
    """The names of all records, sorted. Raises OSError."""
    try:
        return sorted(name.removesuffix(".toml") for name in os.listdir(folder()) if name.endswith(".toml"))
    except FileNotFoundError:
        return []


def named(name: str) -> Place:
    """One place. Raises Problem if there is none of that name or its record cannot be read."""
    path = _path(name)
    todo, kept = "Correct or delete the file.", "Nothing was changed."
    with refusing(lambda why: Problem(f"The place in {path} cannot be read ({why}).", kept=kept, todo=todo)):
        try:
            text = files.small_content(path, LARGEST)
        except FileNotFoundError:
            if path.is_symlink():
                raise Problem(f"The place in {path} is a link to a file that is gone.", kept=kept, todo=todo) from None
            raise _none(name) from None
        values = tomllib.loads(text.decode("utf-8"))
    return _made({**values, "name": name}, f"The place in {path}", todo)


def existing(name: str) -> Place | None:
    """The place of that name, None without a record. Raises Problem if its record cannot be read."""
    return named(name) if os.path.lexists(_path(name)) else None


def made(values: dict[str, Any]) -> Place:
    """A place from these values, one of which is its kind. Raises Problem with a sentence per wrong field."""
    return _made(values, "The place", "")


def with_data(place: Place, here: str, there: str) -> Place:
    """The place with the folder or file `here`, of this machine, at `there`. Raises Problem for a relative path."""
    return made({"kind": place.kind, **place.model_dump(), "data": {**place.data, here: there}})


def without_data(place: Place, here: str) -> Place:
    """The place without the folder or file `here`, of this machine. Raises Problem if it has none of that name."""
    if here not in place.data:
        known = ", ".join(sorted(place.data)) or "none"
        raise Problem(
            f"{place.name} has no folder for {here}.", kept="Nothing was changed.", todo=f"It has these: {known}."
        )
    left = {name: there for name, there in place.data.items() if name != here}
    return made({"kind": place.kind, **place.model_dump(), "data": left})


def kept_by(place: Place, kind: str) -> dict[str, Any]:
    """The fields of a place that stay when it becomes one of that kind, by name: all if it is of that kind already.

    Of another kind stay those of every place, with the data there, and how SSH reaches it. Other fields of the same
    name, such as the cores of a run, have another meaning there.
    """
    values = place.model_dump()
    shared = {*Place.model_fields, "ssh_config"}
    return values if place.kind == kind else {name: value for name, value in values.items() if name in shared}


def checked(values: dict[str, Any]) -> tuple[Place | None, dict[str, str]]:
    """As `made`: the place, or None and a sentence per wrong field."""
    kind = KINDS.get(str(values.get("kind")))
    if kind is None:
        return None, {"kind": f"Must be one of {', '.join(KINDS)}."}
    try:
        return kind.model_validate({field: value for field, value in values.items() if field != "kind"}), {}
    except ValidationError as error:
        return None, _said(kind, error)


def store(place: Place, instead_of: Collection[str] = ()) -> None:
    """Write a place's record, replacing an earlier one.

    Args:
        instead_of: names of places that are removed afterwards, as the earlier name of this one.

    Raises:
        Problem: a name that another place has in other capitals, or that Windows cannot have; the disk refuses it.
    """
    files.make_folder(folder())
    _check_new(place.name, instead_of)
    values = {"kind": place.kind, **place.model_dump(exclude={"name"})}
    with files.atomic_write(_path(place.name)) as file:
        file.write(tomli_w.dumps(values).encode())


def _check_new(name: str, instead_of: Collection[str]) -> None:
    """Refuse a new name whose file would be that of another place, or of a device, on macOS or Windows."""
    try:
        names = _names()
    except OSError:  # writing says so
        return
    if name in names:
        return
    if not ignores_case(folder()):
        names = [other for other in names if other not in instead_of]
    if alike := next((other for other in names if other.casefold() == name.casefold()), ""):
        raise Problem(f"There is a place {alike}.", kept="It was not changed.", todo="Choose another name.")
    if RESERVED.fullmatch(name):
        raise Problem(
            f"Windows does not allow a file named {name}.", kept="Nothing was stored.", todo="Choose another name."
        )


def remove(name: str) -> None:
    """Remove a place from the list; its runs continue. Raises Problem if there is none of that name."""
    try:
        _path(name).unlink()
    except FileNotFoundError:
        raise _none(name) from None
    except OSError as error:
        raise Problem(f"The place {name} cannot be removed ({error.strerror}).", kept="It was not changed.") from None


def _said(kind: type[Place], invalid: ValidationError) -> dict[str, str]:
    """A sentence per wrong field; where the form of a text is wrong, with what the field asks for."""
    unfit = [str(error["loc"][0]) for error in invalid.errors() if error["type"] == "string_pattern_mismatch"]
    said = sentences(invalid)
    said |= {field: f"{said[field]} {kind.model_fields[field].description}" for field in unfit}
    for field in (field for field, sentence in said.items() if sentence == NO_FIELD):
        said[field] = f"{NO_FIELD} Known: {', '.join(nearest_first(field, kind.model_fields))}."
    return said


def _made(values: dict[str, Any], what: str, todo: str) -> Place:
    place, errors = checked(values)
    if place is None:
        said = " ".join(f"{field}: {sentence}" for field, sentence in errors.items())
        unknown = any(sentence.startswith(NO_FIELD) for sentence in errors.values())
        refused = UnknownName if unknown else Problem
        raise refused(f"{what} cannot be used. {said}", kept="Nothing was changed.", todo=todo)
    return place


def _none(name: str) -> Problem:
    try:
        there = nearest_first(name, _names())
    except OSError:
        there = []
    listed = f"Known: {', '.join(there)}." if there else "File > Places… and `workbench place add` add one."
    return UnknownName(f"There is no place {name}.", todo=listed)


def _path(name: str) -> Path:
    if not re.fullmatch(NAME, name):
        raise Problem(f"A place cannot be called {name!r}: letters, digits, spaces, - and _ are a name.")
    return folder() / f"{name}.toml"
