"""Reports as they are offered (resources/templates/reports.toml), and as a person arranged and named them."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

from workbench.files.resources import resources
from workbench.problem import Problem
from workbench.reports.sections import SECTIONS
from workbench.workspace.report_templates import UNREAD

MOST_LETTERS = 80  # of a template's own name


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
    base: str = ""  # key of the shipped template that one of a person's own was made from

    @property
    def sections(self) -> tuple[str, ...]:
        """The ticked sections in their order."""
        return tuple(key for key in self.order if key in self.ticked)

    def arranged(self, stored: Mapping[str, Any]) -> "Template":
        """As it was stored by `arrangement`; sections that were unknown then stand at the end, as they are offered."""
        order = [str(key) for key in _listed(stored, "order") if key in self.order]
        rest = [key for key in self.order if key not in order]
        ticked = {str(key) for key in _listed(stored, "ticked")} & set(order) | self.ticked & set(rest)
        whole = dict.fromkeys((*order, *rest))
        return replace(self, order=tuple(whole), ticked=frozenset(ticked), text=str(stored.get("text", "")))

    def arrangement(self) -> dict[str, Any]:
        """What `arranged` takes, as JSON knows it."""
        told = {"order": list(self.order), "ticked": sorted(self.ticked), "text": self.text}
        return {**told, "title": self.title, "base": self.base} if self.base else told

    def copied(self, title: str, others: Iterable["Template"]) -> "Template":
        """A new one of a person's own under that name, arranged as this one. Raises Problem as `free_title`."""
        base = templates()[self.base or self.key]
        return replace(
            self, key=f"own-{uuid4().hex[:12]}", title=free_title(title, others), base=base.key, help=_own_help(base)
        )

    def renamed(self, title: str, others: Iterable["Template"]) -> "Template":
        """One of a person's own under another name. Raises Problem as `free_title`."""
        return replace(self, title=free_title(title, [each for each in others if each.key != self.key]))


def free_title(title: str, taken: Iterable[Template]) -> str:
    """The name for a template, without double spaces.

    Raises:
        Problem: no name, one that is too long, or one that a template has already.
    """
    title = " ".join(title.split())
    if not title:
        raise Problem("A template needs a name.")
    if len(title) > MOST_LETTERS:
        raise Problem(f"The name of a template has at most {MOST_LETTERS} letters.")
    if title.casefold() in {name.casefold() for each in taken for name in (each.key, each.title)}:
        raise Problem(f"There is a template named “{title}” already.", todo="Choose another name.")
    return title


def _listed(stored: Mapping[str, Any], key: str) -> list[Any]:
    """What is stored under the key; nothing where a hand has put something else there."""
    found = stored.get(key)
    return found if isinstance(found, list) else []


def _own_help(base: Template) -> str:
    return f"Your own, made from “{base.title}”."


def _unread(stored: Mapping[str, Any]) -> str:
    return f"How you arranged it could not be read ({stored[UNREAD]})."


def templates() -> dict[str, Template]:
    """All that Workbench brings, by key."""
    given = tomllib.loads((resources() / "templates" / "reports.toml").read_text("utf-8"))
    return {
        key: Template(
            key, each["title"], each["help"], each["runs"] == "many", (*each["sections"], *each["off"]),
            frozenset(each["sections"]),
        )
        for key, each in given.items()
    }  # fmt: skip


def offered(stored: Mapping[str, Mapping[str, Any]]) -> dict[str, Template]:
    """Those that Workbench brings as they were arranged, and a person's own by name.

    Args:
        stored: arrangements by key, as `workspace.report_templates.arrangements` reads them.
    """
    shipped, own = templates(), []
    stored = {key: each for key, each in stored.items() if isinstance(each, Mapping)}
    for key, each in stored.items():
        base = shipped.get(str(each.get("base", "")))
        if UNREAD in each and key not in shipped:
            first = next(iter(shipped.values()))
            title = f"{key} (could not be read)"
            own.append(replace(first, key=key, title=title, base=first.key, help=_unread(each)))
            continue
        if key not in shipped and base is not None:
            title = str(each.get("title", key))
            own.append(replace(base.arranged(each), key=key, title=title, base=base.key, help=_own_help(base)))
    found = {key: each.arranged(stored[key]) if key in stored else each for key, each in shipped.items()}
    for key in found.keys() & {key for key, each in stored.items() if UNREAD in each}:
        found[key] = replace(shipped[key], help=f"{shipped[key].help} {_unread(stored[key])}")
    return found | {each.key: each for each in sorted(own, key=lambda one: one.title.casefold())}


def template(name: str, stored: Mapping[str, Mapping[str, Any]] | None = None) -> Template:
    """A shipped one by key as Workbench brings it, or a person's own by its name.

    Args:
        stored: as in `offered`; without it only those that Workbench brings are known.

    Raises:
        Problem: there is none of that name.
    """
    known = templates()
    if name in known:
        return known[name]
    own = [each for each in offered(stored or {}).values() if each.base]
    for each in own:
        if each.title.casefold() == name.casefold():
            return each
    every = ", ".join((*known, *(each.title for each in own)))
    raise Problem(f"There is no report template {name!r}.", todo=f"Known: {every}.")


def check_sections(sections: tuple[str, ...]) -> None:
    """Raises Problem when a section is not known."""
    unknown = [each for each in sections if each not in SECTIONS]
    if unknown:
        raise Problem(f"There is no section {unknown[0]!r} of a report.", todo=f"Known: {', '.join(SECTIONS)}.")
