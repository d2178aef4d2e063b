"""A place as it is edited: values of its record's fields, and what is wrong with them. No Qt."""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from workbench.places import records
from workbench.places.place import Place
from workbench.ui.widgets.fields.editors import Field

KIND_WORDS = {"ssh": "over SSH", "slurm": "Slurm", "ray": "Ray"}
ADD_WORDS = {"ssh": "over SSH", "slurm": "with Slurm", "ray": "with Ray"}
BY_HAND = ("data",)  # shown in another way than as a field
LAST = ("folder", "python")  # those that most people leave as they are


class PlaceDraft:
    """One place in the dialog.

    Args:
        kind: of records.KINDS.
        place: as it is stored; None for a new one.

    Attributes:
        values: of its fields, by name.
        first: the place as it was stored when it was read; None for a new one.
        stored: the name of its record; empty for a new one.
        data: folders there by the folder here, as they are stored.
        forgotten: those here that are not stored again.
    """

    def __init__(self, kind: str, place: Place | None = None) -> None:
        self.kind, self.first, self.stored = kind, place, "" if place is None else place.name
        self.values: dict[str, Any] = {name: field["default"] for name, field in self.fields().items()}
        self.data: dict[str, str] = {} if place is None else dict(place.data)
        self.forgotten: set[str] = set()
        if place is not None:
            self.values |= {name: value for name, value in place.model_dump().items() if name in self.values}

    @property
    def title(self) -> str:
        """Its name, as it is typed."""
        return str(self.values["name"]) or "New place"

    @property
    def about(self) -> str:
        """How it is reached."""
        return KIND_WORDS.get(self.kind, self.kind)

    def fields(self) -> Mapping[str, Field]:
        """Its fields as a form draws them: the name of a new place first, then what its kind asks for."""
        return _fields(self.kind)

    def forget_data(self, here: str, forgotten: bool) -> None:
        """Whether the record is to be without the folder or file `here`, which is one of `data`."""
        (self.forgotten.add if forgotten else self.forgotten.discard)(here)

    def made(self) -> tuple[Place | None, dict[str, str]]:
        """The place, or None and a sentence per wrong field."""
        data = {here: there for here, there in self.data.items() if here not in self.forgotten}
        return records.checked({"kind": self.kind, **self.values, "data": data})


@cache
def _fields(kind: str) -> Mapping[str, Field]:
    described = records.KINDS[kind].model_json_schema()["properties"]
    own = [name for name in described if name not in (*LAST, *BY_HAND, "name")]
    return MappingProxyType({name: _field(described[name]) for name in ("name", *own, *LAST)})


def _field(described: dict[str, Any]) -> Field:
    words = {"description": described.get("description", ""), "label": described.get("title", "")}
    return {**described, "type": described.get("type", "string"), "default": described.get("default", ""), **words}
