"""A database made again from the runs' folders: journal, embeddings and rankings are all there."""

import json
import tomllib
from math import nan
from pathlib import Path
from typing import Any

import numpy as np

from workbench.config import RunConfig
from workbench.events import Evaluated
from workbench.workspace.connection import Connection
from workbench.workspace.dataset_copy import restore_dataset, restore_experiment
from workbench.workspace.recorder import store_evaluation
from workbench.workspace.workspace import Workspace, add_artefact, now


def rebuild(workspace: Workspace) -> str:
    """Fill an empty database from `runs/`; returns a sentence with what came back and what did not.

    Notes, tags and colours live in the database alone and are lost with it; data sets are tied again at the next run.
    """
    back, without = 0, []
    for folder in sorted((workspace.path / "runs").iterdir(), key=lambda each: each.name):
        if not (folder / "config.toml").exists() or not folder.name.isdigit():
            without.append(folder.name)
            continue
        with workspace.writing() as db:
            _run(db, folder)
        back += 1
    lost = f" Folders without a config, left alone: {', '.join(without)}." if without else ""
    return f"{back} runs came back with their curves and evaluations; notes and tags are lost.{lost}"


def _run(db: Connection, folder: Path) -> None:
    text = (folder / "config.toml").read_text("utf-8")
    config, run_id = RunConfig.model_validate(tomllib.loads(text)), int(folder.name)
    values = (config.name, text, config.seed, config.dataset.name, config.loss.name, config.backbone.name, now())
    db.execute(
        "insert into runs (id, name, config, seed, dataset, loss, backbone, created, status, epochs, experiment_id) "
        "values (?, ?, ?, ?, ?, ?, ?, ?, 'interrupted', ?, ?)",
        (run_id, *values, config.training.epochs, restore_experiment(db, folder)),
    )
    dataset = restore_dataset(db, folder)
    if dataset is not None:
        db.execute("update runs set dataset_id = ? where id = ?", (dataset, run_id))
    for entry in _journal(folder):
        _entry(db, folder, run_id, entry)
    for name in ("best.pt", "last.pt"):
        if (folder / name).exists():
            add_artefact(db, folder, run_id, "checkpoint", folder / name, None)


def _journal(folder: Path) -> list[dict[str, Any]]:
    """Every whole line of the journal; a line cut short by a kill is the last one and is left out."""
    found = []
    path = folder / "journal.jsonl"
    for line in path.read_text("utf-8").splitlines() if path.exists() else []:
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError:
            break
    return found


def _entry(db: Connection, folder: Path, run_id: int, entry: dict[str, Any]) -> None:
    if "scalars" in entry:
        for name, step, value in entry["scalars"]:
            db.execute("insert or ignore into metrics (name) values (?)", (name,))
            db.execute(
                "insert into scalar_points (run_id, metric_id, step, value) "
                "values (?, (select id from metrics where name = ?), ?, ?)",
                (run_id, name, step, value),
            )
    if "charts" in entry:
        db.execute(
            "insert or replace into charts (run_id, step, charts) values (?, ?, ?)",
            (run_id, entry["step"], entry["charts"]),
        )
    if "forget" in entry:
        db.execute("delete from charts where run_id = ? and step > ?", (run_id, entry["forget"]))
        db.execute("delete from scalar_points where run_id = ? and step > ?", (run_id, entry["forget"]))
        db.execute("delete from evaluations where run_id = ? and step > ?", (run_id, entry["forget"]))
    if "run" in entry:
        known = {key: value for key, value in entry["run"].items() if key not in ("seconds_left",)}
        columns = ", ".join(f'"{column}" = ?' for column in known)
        db.execute(f"update runs set {columns} where id = ?", (*known.values(), run_id))
    if "environment" in entry:
        db.execute("update runs set environment = ? where id = ?", (json.dumps(entry["environment"]), run_id))
    if "evaluation" in entry:
        _evaluation(db, folder, run_id, entry["evaluation"])


def _evaluation(db: Connection, folder: Path, run_id: int, facts: dict[str, Any]) -> None:
    epoch = facts["epoch"]
    embeddings, ranking = folder / f"embeddings-{epoch}.npy", folder / f"ranking-{epoch}.npz"
    if not (embeddings.exists() and ranking.exists()):
        return
    with np.load(ranking, allow_pickle=False) as stored:
        columns = {name: stored[name] for name in stored.files}
    metrics = {name: nan if value is None else value for name, value in facts["metrics"].items()}
    event = Evaluated(
        epoch, facts["step"], facts["distance"], metrics, columns["sample_ids"], columns["labels"],
        np.load(embeddings, mmap_mode="r", allow_pickle=False), columns["ap"], columns["first_hit"], columns["r"],
        columns["neighbours"], columns["similarities"],
    )  # fmt: skip
    proxies = folder / f"proxies-{epoch}.npz"
    store_evaluation(
        db, folder, run_id, event, columns["neighbours"], columns["similarities"], embeddings,
        proxies if proxies.exists() else None,
    )  # fmt: skip
