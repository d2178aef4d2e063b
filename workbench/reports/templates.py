"""Report templates: the shipped ones (resources/templates/reports.toml), and the user's arrangements and own ones."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

from workbench.files.resources import resources
from workbench.names import nearest_first, short_name
from workbench.problem import Problem, UnknownName
from workbench.reports.sections import SECTIONS
from workbench.workspace.choices.report_templates import UNREAD

MOST_LETTERS = 80  # of a template's own name


@dataclass(frozen=True, slots=True)
class Template:
    """Sections in their order, those that are ticked, and the user's own text (Markdown)."""

    key: str
    title: str
    help: str
    many: bool  # whether it is of several runs
    order: tuple[str, ...]
    ticked: frozenset[str]
    text: str = ""
    base: str = ""  # key of the shipped template that one of a user's own was made from

    @property
    def sections(self) -> tuple[str, ...]:
        """The ticked sections in their order."""
        return tuple(key for key in self.order if key in self.ticked)

    @property
    def folder(self) -> str:
        """The folder for the files in that of a run: its own report is not replaced by one that compares others."""
        return "comparison" if self.many else "report"

    def arranged(self, stored: Mapping[str, Any]) -> "Template":
        """As it was stored by `arrangement`; sections that were unknown then come last, as shipped."""
        order = [str(key) for key in _listed(stored, "order") if key in self.order]
        rest = [key for key in self.order if key not in order]
        ticked = {str(key) for key in _listed(stored, "ticked")} & set(order) | self.ticked & set(rest)
        whole = dict.fromkeys((*order, *rest))
        return replace(self, order=tuple(whole), ticked=frozenset(ticked), text=str(stored.get("text", "")))

    def arrangement(self) -> dict[str, Any]:
        """The arguments of `arranged`, as JSON values."""
        arrangement = {"order": list(self.order), "ticked": sorted(self.ticked), "text": self.text}
        return {**arrangement, "title": self.title, "base": self.base} if self.base else arrangement

    def copied(self, title: str, others: Iterable["Template"]) -> "Template":
        """A new one of a user's own under that name, arranged as this one. Raises Problem as `free_title`."""
        base = templates()[self.base or self.key]
        return replace(
            self, key=f"own-{uuid4().hex[:12]}", title=free_title(title, others), base=base.key, help=_own_help(base)
        )

    def renamed(self, title: str, others: Iterable["Template"]) -> "Template":
        """One of a user's own under another name. Raises Problem as `free_title`."""
        return replace(self, title=free_title(title, [other for other in others if other.key != self.key]))


def merged(before: Template, mine: Template, theirs: Template) -> Template:
    """A template that two windows have changed: the changes of both; where both wrote text, one below the other.

    Where both gave it a name it has mine.
    """
    title = theirs.title if mine.title == before.title else mine.title
    ticked = (theirs.ticked | (mine.ticked - before.ticked)) - (before.ticked - mine.ticked)
    order = theirs.order if mine.order == before.order else mine.order
    if mine.text in (before.text, theirs.text) or theirs.text == before.text:
        text = theirs.text if mine.text == before.text else mine.text
    else:
        added = theirs.text.removeprefix(f"{before.text}\n\n") if before.text else theirs.text
        text = "\n\n".join(part for part in (mine.text, added) if part)
    return replace(theirs, title=title, order=order, ticked=ticked, text=text)


def free_title(title: str, taken: Iterable[Template]) -> str:
    """The name for a template, without double spaces.

    Raises:
        Problem: no name, one that is too long, or one that a template has already.
    """
    title = " ".join(title.split())
    if not title:
        raise Problem("A template needs a name.")
    if len(title) > MOST_LETTERS:
        raise Problem(f"The name of a template has at most {MOST_LETTERS} characters.")
    if title.casefold() in {name.casefold() for other in taken for name in (other.key, other.title)}:
        raise Problem(f"There is a template named “{title}” already.", todo="Choose another name.")
    return title


def _listed(stored: Mapping[str, Any], key: str) -> list[Any]:
    """What is stored under the key; nothing if a hand has put something else there."""
    value = stored.get(key)
    return value if isinstance(value, list) else []


def _own_help(base: Template) -> str:
    return f"Your own, made from “{base.title}”."


def _unread(stored: Mapping[str, Any]) -> str:
    return f"Your arrangement could not be read ({stored[UNREAD]})."


def templates() -> dict[str, Template]:
    """The shipped templates, by key."""
    shipped = tomllib.loads((resources() / "templates" / "reports.toml").read_text("utf-8"))
    return {
        key: Template(
            key, facts["title"], facts["help"], facts["runs"] == "many", (*facts["sections"], *facts["off"]),
            frozenset(facts["sections"]),
        )
        for key, facts in shipped.items()
    }  # fmt: skip


def offered(stored: Mapping[str, Mapping[str, Any]]) -> dict[str, Template]:
    """Those that Workbench brings as they were arranged, and a user's own by name.

    Args:
        stored: arrangements by key, as `workspace.report_templates.arrangements` reads them.
    """
    shipped, own = templates(), []
    stored = {key: arrangement for key, arrangement in stored.items() if isinstance(arrangement, Mapping)}
    for key, arrangement in stored.items():
        base = shipped.get(str(arrangement.get("base", "")))
        if UNREAD in arrangement and key not in shipped:
            first = next(iter(shipped.values()))
            title = f"{short_name(key, MOST_LETTERS)} (could not be read)"
            own.append(replace(first, key=key, title=title, base=first.key, help=_unread(arrangement)))
            continue
        if key not in shipped and base is not None:
            title = short_name(str(arrangement.get("title", key)), MOST_LETTERS)
            own.append(replace(base.arranged(arrangement), key=key, title=title, base=base.key, help=_own_help(base)))
    arranged = {key: brought.arranged(stored[key]) if key in stored else brought for key, brought in shipped.items()}
    for key in arranged.keys() & {key for key, arrangement in stored.items() if UNREAD in arrangement}:
        arranged[key] = replace(shipped[key], help=f"{shipped[key].help} {_unread(stored[key])}")
    own.sort(key=lambda named: named.title.casefold())
    return arranged | {named.key: named for named in own}


def template(name: str, stored: Mapping[str, Mapping[str, Any]] | None = None) -> Template:
    """A shipped one by key as Workbench brings it, or a user's own by its name.

    Args:
        stored: as in `offered`; without it only those that Workbench brings are known.

    Raises:
        Problem: there is none of that name, or several, as two windows can make at the same moment.
    """
    known = templates()
    if name in known:
        return known[name]
    own = [own_template for own_template in offered(stored or {}).values() if own_template.base]
    fitting = [own_template for own_template in own if own_template.title.casefold() == name.casefold()]
    if len(fitting) > 1:
        raise Problem(f"{len(fitting)} report templates are named “{name}”.", todo="Rename all but one in the window.")
    if fitting:
        return fitting[0]
    every = ", ".join(nearest_first(name, (*known, *(own_template.title for own_template in own))))
    raise UnknownName(f"There is no report template {name!r}.", todo=f"Known: {every}.")


def check_sections(sections: tuple[str, ...]) -> None:
    """Raises Problem when a section is not known."""
    unknown = [section for section in sections if section not in SECTIONS]
    if unknown:
        raise Problem(f"There is no section {unknown[0]!r} of a report.", todo=f"Known: {', '.join(SECTIONS)}.")
