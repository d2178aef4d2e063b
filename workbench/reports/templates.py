"""Reports as they are offered (resources/templates/reports.toml), and as a person arranged them."""

import tomllib
from dataclasses import dataclass
from typing import Any

from workbench.problem import Problem
from workbench.reports.sections import SECTIONS
from workbench.resources_path import resources


@dataclass(frozen=True, slots=True)
class Template:
    """Sections in their order, those that are ticked, and the person's own text (Markdown)."""

    key: str
    title: str
    help: str
    many: bool  # whether it is of several runs
    order: tuple[str, ...]
    ticked: frozenset[str]
    text: str = ""

    @property
    def sections(self) -> tuple[str, ...]:
        """The ticked sections in their order."""
        return tuple(key for key in self.order if key in self.ticked)

    def arranged(self, stored: dict[str, Any]) -> "Template":
        """As it was stored by `arrangement`; sections that were unknown then stand at the end, as they are offered."""
        order = [str(key) for key in stored.get("order", ()) if key in self.order]
        rest = [key for key in self.order if key not in order]
        ticked = {str(key) for key in stored.get("ticked", ())} & set(order) | self.ticked & set(rest)
        whole = dict.fromkeys((*order, *rest))
        return Template(
            self.key, self.title, self.help, self.many, tuple(whole), frozenset(ticked), str(stored.get("text", ""))
        )

    def arrangement(self) -> dict[str, Any]:
        """What `arranged` takes, as JSON knows it."""
        return {"order": list(self.order), "ticked": sorted(self.ticked), "text": self.text}


def templates() -> dict[str, Template]:
    """All that are offered, by key."""
    given = tomllib.loads((resources() / "templates" / "reports.toml").read_text("utf-8"))
    return {
        key: Template(
            key, each["title"], each["help"], each["runs"] == "many", (*each["sections"], *each["off"]),
            frozenset(each["sections"]),
        )
        for key, each in given.items()
    }  # fmt: skip


def template(key: str) -> Template:
    """One by key. Raises Problem when there is none of that name."""
    known = templates()
    if key not in known:
        raise Problem(f"There is no report template {key!r}.", todo=f"Known: {', '.join(known)}.")
    return known[key]


def check_sections(sections: tuple[str, ...]) -> None:
    """Raises Problem when a section is not known."""
    unknown = [each for each in sections if each not in SECTIONS]
    if unknown:
        raise Problem(f"There is no section {unknown[0]!r} of a report.", todo=f"Known: {', '.join(SECTIONS)}.")
