"""The user's tags on samples of a data set; they do not change any measurement.

A tag of the form NAME=VALUE, "view=front", is an attribute: a sample has one value of each name.
"""

import json
from collections.abc import Iterable

from workbench.names import short_name, visible
from workbench.problem import Problem
from workbench.workspace.database.columns import rows_as_one
from workbench.workspace.database.connection import Connection
from workbench.workspace.tables.samples import refuse_unknown
from workbench.workspace.times import now
from workbench.workspace.workspace import Workspace

LONGEST = 80  # characters of a tag
IS = "="  # between the name of an attribute and its value
Tagged = tuple[int, str]  # a sample id and a tag


def all_tags(workspace: Workspace, dataset_id: int) -> dict[str, list[int]]:
    """Sample ids by tag, both in order."""
    in_order = "(select tag, sample_id from sample_tags where dataset_id = ? order by tag, sample_id)"
    ids_by_tag: dict[str, list[int]] = {}
    with workspace.reading() as db:
        rows = rows_as_one(db, "tag, sample_id", in_order, (dataset_id,))
    for tag, sample_id in rows:
        ids_by_tag.setdefault(short_name(tag, LONGEST), []).append(sample_id)
    return ids_by_tag


def attribute_of(tag: str) -> tuple[str, str]:
    """The name and the value of an attribute; the name of a plain tag is empty."""
    name, sign, value = tag.partition(IS)
    return (name, value) if sign and name and value else ("", tag)


def attributes(tags: Iterable[str]) -> list[str]:
    """The names of the attributes among these tags, sorted."""
    return sorted({name for name, _ in map(attribute_of, tags) if name})


def attribute_names(workspace: Workspace, dataset_id: int) -> list[str]:
    """The names of the attributes of a data set, sorted; quick also where 100,000 images have some."""
    sql = (
        "select distinct substr(tag, 1, instr(tag, ?) - 1) from sample_tags "
        "where dataset_id = ? and instr(tag, ?) > 1 and instr(tag, ?) < length(tag)"
    )
    with workspace.reading() as db:
        rows = db.execute(sql, (IS, dataset_id, IS, IS)).fetchall()
    return sorted({short_name(name, LONGEST) for (name,) in rows})


def checked(tag: str) -> str:
    """The tag with single white space. Raises Problem for an empty one, or one of over 80 characters."""
    words = " ".join(tag.split())
    if not words or len(words) > LONGEST:
        raise Problem(f"A tag has 1 to {LONGEST} characters.", kept="No tag was changed.")
    return words


def change_tags(
    workspace: Workspace, dataset_id: int, added: Iterable[Tagged], removed: Iterable[Tagged] = (),
    *, only_over_removed: bool = False,
) -> list[Tagged]:  # fmt: skip
    """Add and remove many tags at once; a tag that is there already stays as it is.

    A value of an attribute replaces the other values that its samples have when it is written, whoever gave them.

    Args:
        only_over_removed: raise a Problem where one of those other values is not in `removed`, as for Undo: another
            window gave it since.

    Returns:
        Those other values.

    Raises:
        Problem: as `checked`; there is no such data set, or the workspace cannot be written; then none was changed.
    """
    created, removed = now(), list(removed)
    rows = [(dataset_id, sample_id, checked(tag), created) for sample_id, tag in added]
    with workspace.writing() as db:
        if rows:
            refuse_unknown(db, dataset_id, "No tag was changed.")
        replaced = _other_values(db, dataset_id, [(sample_id, tag) for _, sample_id, tag, _ in rows])
        if only_over_removed and (newer := set(replaced) - set(removed)):
            name = attribute_of(min(newer)[1])[0]
            raise Problem(f"An image has another value of {visible(name)} since then.", kept="No tag was changed.")
        db.executemany(
            "delete from sample_tags where dataset_id = ? and sample_id = ? and tag = ?",
            [(dataset_id, sample_id, tag) for sample_id, tag in (*removed, *replaced)],
        )
        db.executemany(
            "insert or ignore into sample_tags (dataset_id, sample_id, tag, created) values (?, ?, ?, ?)", rows
        )
    return replaced


def _other_values(db: Connection, dataset_id: int, added: Iterable[Tagged]) -> list[Tagged]:
    """The values that the attributes among these tags have now, of the same samples, where they differ."""
    new = {(sample_id, name): tag for sample_id, tag in added if (name := attribute_of(tag)[0])}
    sql = (
        "select sample_id, tag from sample_tags where dataset_id = ? and tag > ? and tag < ? "
        "and sample_id in (select value from json_each(?))"
    )
    samples, others = json.dumps(sorted({sample_id for sample_id, _ in new})), list[Tagged]()
    for name in sorted({name for _, name in new}):
        begins, ends = f"{name}{IS}", f"{name}{chr(ord(IS) + 1)}"  # its index is sorted by the tag
        rows = db.execute(sql, (dataset_id, begins, ends, samples)).fetchall()
        others += [(sample_id, tag) for sample_id, tag in rows if new.get((sample_id, name), tag) != tag]
    return others


def tag_samples(
    workspace: Workspace, dataset_id: int, samples: Iterable[int], tag: str
) -> tuple[list[Tagged], list[Tagged]]:
    """Put a tag on many samples; an attribute gets another value.

    Returns:
        What was added, and the earlier values that it replaced.

    Raises:
        Problem: as `change_tags`.
    """
    words = checked(tag)
    had = set(all_tags(workspace, dataset_id).get(words, ()))
    added = [(sample, words) for sample in sorted(set(samples) - had)]
    return added, change_tags(workspace, dataset_id, added)


def tag_sample(workspace: Workspace, dataset_id: int, sample_id: int, tag: str, *, on: bool = True) -> None:
    """Put a tag on a sample, or take it away; its white space is made single. An attribute gets another value.

    Raises:
        Problem: an empty tag, one of over 80 characters, or the workspace cannot be written.
    """
    tagged = [(sample_id, checked(tag))]
    if on:
        change_tags(workspace, dataset_id, tagged)
    else:
        change_tags(workspace, dataset_id, (), tagged)
