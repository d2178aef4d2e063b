"""Columns of text that a data set has for its samples: its published split."""

import json

import numpy as np

from workbench.workspace.workspace import Workspace


def published_halves(workspace: Workspace, dataset_id: int) -> tuple[np.ndarray, list[str]]:
    """Sample ids [n] int64, and for each "train", "test", "query", "gallery", or "" where no half is published."""
    # One row of one text: every row is a wait for the interpreter beside a training thread.
    sql = "select json_group_array(id), json_group_array(official) from samples where dataset_id = ?"
    with workspace.reading() as db:
        ids, words = db.execute(sql, (dataset_id,)).fetchone()
    return np.array(json.loads(ids), np.int64), json.loads(words)
