"""The user's tags on samples of a data set; they do not change any measurement."""

import json

from workbench.names import short_name
from workbench.problem import Problem
from workbench.workspace.times import now
from workbench.workspace.workspace import Workspace

LONGEST = 80  # characters of a tag


def all_tags(workspace: Workspace, dataset_id: int) -> dict[str, list[int]]:
    """Sample ids by tag, both in order."""
    # One row of one text: every row is a wait for the interpreter beside a training thread.
    sql = (
        "select json_group_array(json_array(tag, sample_id)) from "
        "(select tag, sample_id from sample_tags where dataset_id = ? order by tag, sample_id)"
    )
    ids_by_tag: dict[str, list[int]] = {}
    with workspace.reading() as db:
        ((text,),) = db.execute(sql, (dataset_id,)).fetchall()
    for tag, sample_id in json.loads(text):
        ids_by_tag.setdefault(short_name(tag, LONGEST), []).append(sample_id)
    return ids_by_tag


def tag_sample(workspace: Workspace, dataset_id: int, sample_id: int, tag: str, *, on: bool = True) -> None:
    """Put a tag on a sample, or take it away; its white space is made single.

    Raises:
        Problem: an empty tag, one of over 80 characters, or the workspace cannot be written.
    """
    words = " ".join(tag.split())
    if not words or len(words) > LONGEST:
        raise Problem(f"A tag has 1 to {LONGEST} characters.", kept="No tag was changed.")
    with workspace.writing() as db:
        if on:
            db.execute(
                "insert or ignore into sample_tags (dataset_id, sample_id, tag, created) values (?, ?, ?, ?)",
                (dataset_id, sample_id, words, now()),
            )
        else:
            db.execute(
                "delete from sample_tags where dataset_id = ? and sample_id = ? and tag = ?",
                (dataset_id, sample_id, words),
            )
