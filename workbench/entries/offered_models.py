"""What the form says of the models of a library while a name is typed: tables of the resources, read when needed."""

import csv
from dataclasses import dataclass
from functools import cache

from workbench.files.resources import resources


@dataclass(frozen=True, slots=True)
class OfferedModel:
    """One model, with or without pretrained weights."""

    name: str  # as the library takes it
    parameters: int  # without a classifier
    image: str  # side in px, "224", or height x width, "1024x768"
    features: int
    licence: str  # of the weights; empty without weights

    def has(self, words: list[str]) -> bool:
        """Whether the name or the licence contains each of the words, which are in lower case."""
        said = f"{self.name} {self.licence}".lower()
        return all(word in said for word in words)


@cache
def offered_models(table: str) -> tuple[OfferedModel, ...]:
    """The models of resources/offered/`table`.csv: first a short list, then by name.

    Raises:
        FileNotFoundError: no such table.
    """
    with (resources() / "offered" / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        return tuple(
            OfferedModel(row["model"], int(row["parameters"]), row["image_px"], int(row["features"]), row["licence"])
            for row in csv.DictReader(file)
        )
