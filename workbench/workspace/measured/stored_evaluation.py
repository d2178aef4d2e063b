"""Stores one evaluation: arrays in the run's folder, and a row for each query with its checksums."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

import numpy as np

from workbench import files, jobs
from workbench.events import Evaluated, score_of
from workbench.workspace.database import checksums
from workbench.workspace.database.connection import Connection, new_id
from workbench.workspace.database.packed import packed
from workbench.workspace.measured.artefacts import add_artefact
from workbench.workspace.measured.numbers import metrics_json
from workbench.workspace.rows import FARTHEST, Queries
from workbench.workspace.times import now

SIMILARITY_UNIT = 10_000  # similarities are stored as whole numbers of 1e-4
COLUMNS = {"sample_ids": "iu", "labels": "iu", "ap": "f", "first_hit": "iu", "r": "iu"}  # of a ranking: [n] and kinds
TABLES = {"neighbours": "iu", "similarities": "iu"}  # [n, k]
BUCKET_BITS = 22  # of the table that finds the row of a sample id


@dataclass(frozen=True, slots=True, eq=False)
class Arrays:
    """The parts of an evaluation besides its event: its files, and its neighbours as they are stored."""

    embeddings: Path
    proxies: Path | None
    neighbours: np.ndarray  # [n, k] rows of the data set, best first
    similarities: np.ndarray  # [n, k] in units of 1 / SIMILARITY_UNIT
    training: Path | None = None  # ids and embeddings of the training set
    probe: Path | None = None  # ids, labels and embeddings of the probe
    digests: Mapping[str, str] = field(default_factory=dict)  # hashes of files by name, as far as they are known


def write_arrays(folder: Path, event: Evaluated, rows: Mapping[int, int]) -> Arrays:
    """Write the embeddings, proxies and ranking of an evaluation to a run's folder, and training images if any.

    Args:
        rows: row of the data set by sample id.

    Raises:
        Problem: the disk is full, or the folder cannot be written.
    """
    embeddings = folder / f"embeddings-{event.epoch}.npy"
    with files.atomic_write(embeddings) as file:
        np.save(file, np.ascontiguousarray(event.embeddings, np.float32), allow_pickle=False)
    proxies = _write_proxies(folder, event)
    neighbours = _rows_of(event.neighbours, rows)
    similarities = np.rint(np.clip(event.similarities, -FARTHEST, FARTHEST) * SIMILARITY_UNIT).astype(np.int32)
    with files.atomic_write(ranking_path(folder, event.epoch)) as file:
        np.savez(
            file, sample_ids=event.sample_ids, labels=event.labels, ap=event.ap, first_hit=event.first_hit,
            r=event.r, neighbours=neighbours, similarities=similarities,
        )  # fmt: skip
    training, probe = _write_training(folder, event), _write_probe(folder, event)
    return Arrays(embeddings, proxies, neighbours, similarities, training, probe)


def store(db: Connection, folder: Path, run_id: int, event: Evaluated, arrays: Arrays) -> int:
    """Write the rows of one evaluation in the current transaction; an earlier one of the same epoch is replaced.

    Returns its number.
    """
    same = "run_id = ? and epoch = ? and distance = ?"
    db.execute(
        f"delete from projections where evaluation_id in (select id from evaluations where {same})",
        (run_id, event.epoch, event.distance),
    )
    db.execute(f"delete from evaluations where {same}", (run_id, event.epoch, event.distance))
    embeddings_id = add_artefact(db, folder, run_id, "embeddings", arrays.embeddings, event.step, digest="")
    proxies_id, digests = None, arrays.digests
    if arrays.proxies is not None:
        digest = digests.get(arrays.proxies.name)
        proxies_id = add_artefact(db, folder, run_id, "proxies", arrays.proxies, event.step, digest)
    for path in (arrays.training, arrays.probe):
        if path is not None:
            add_artefact(db, folder, run_id, "embeddings", path, event.step, digests.get(path.name))
    evaluation_id = new_id(db.execute(
        "insert into evaluations (run_id, epoch, step, embeddings_id, proxies_id, distance, score, metrics, created) "
        "values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            run_id, event.epoch, event.step, embeddings_id, proxies_id, event.distance,
            score_of(event.metrics), metrics_json(event.metrics), now(),
        ),
    ))  # fmt: skip
    written = (arrays.embeddings, ranking_path(folder, event.epoch))
    if all(path.name in digests for path in written):
        _store_queries(db, evaluation_id, event, arrays)
        of_embeddings, of_ranking = (digests[path.name] for path in written)
    else:
        with jobs.meanwhile(lambda: [files.digest(path) for path in written]) as hashed:
            _store_queries(db, evaluation_id, event, arrays)
        of_embeddings, of_ranking = hashed()
    db.execute("update artefacts set blake2b = ? where id = ?", (of_embeddings, embeddings_id))
    db.execute("update evaluations set ranking = ? where id = ?", (of_ranking, evaluation_id))
    return evaluation_id


def ranking_path(folder: Path, epoch: int) -> Path:
    """The file with the ranking of an evaluation."""
    return folder / f"ranking-{epoch}.npz"


def training_path(folder: Path, epoch: int) -> Path:
    """The file with the training set's embeddings at an evaluation, if the config asks for them."""
    return folder / f"training-{epoch}.npz"


def probe_path(folder: Path, epoch: int) -> Path:
    """The file with the embeddings of the probe at an evaluation, of a run that has one."""
    return folder / f"probe-{epoch}.npz"


def _write_training(folder: Path, event: Evaluated) -> Path | None:
    if event.training_ids is None or event.training_embeddings is None:
        return None
    path = training_path(folder, event.epoch)
    with files.atomic_write(path) as file:
        np.savez(file, sample_ids=event.training_ids, vectors=event.training_embeddings.astype(np.float32))
    return path


def _write_probe(folder: Path, event: Evaluated) -> Path | None:
    if (probe := event.probe) is None:
        return None
    path = probe_path(folder, event.epoch)
    vectors = probe.vectors.astype(np.float32)
    with files.atomic_write(path) as file:
        np.savez(file, sample_ids=probe.sample_ids, labels=probe.labels.astype(np.int64), vectors=vectors)
    return path


def _write_proxies(folder: Path, event: Evaluated) -> Path | None:
    if event.proxies is None or event.proxy_labels is None:
        return None
    path = folder / f"proxies-{event.epoch}.npz"
    whole = BytesIO()
    np.savez(whole, vectors=event.proxies.astype(np.float32), labels=event.proxy_labels.astype(np.int64))
    with files.atomic_write(path) as file:
        file.write(whole.getvalue())
    return path


def _rows_of(sample_ids: np.ndarray, rows: Mapping[int, int]) -> np.ndarray:
    """Sample ids [n, k] as rows of the data set [n, k] int32, which take a third of the space."""
    known = np.fromiter(rows, np.int64, len(rows))
    row_of_known = np.fromiter(rows.values(), np.int64, len(rows))
    # Nearly every id has a bucket to itself: no search among sorted ids is needed for it.
    buckets = _bucket(known)
    _, first, counts = np.unique(buckets, return_index=True, return_counts=True)
    alone = first[counts == 1]
    table = np.full(1 << BUCKET_BITS, -1, np.int32)
    table[buckets[alone]] = row_of_known[alone]
    neighbours: np.ndarray = table[_bucket(sample_ids)]
    rest = neighbours < 0
    order = np.argsort(known)
    neighbours[rest] = row_of_known[order[np.searchsorted(known[order], sample_ids[rest])]]
    return neighbours


def _bucket(sample_ids: np.ndarray) -> np.ndarray:
    """A number below 2 ** BUCKET_BITS for each sample id (Fibonacci hashing)."""
    return (sample_ids.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - BUCKET_BITS)


def _store_queries(db: Connection, evaluation_id: int, event: Evaluated, arrays: Arrays) -> None:
    """A row for each query, and their checksums."""
    right, near, similar = (event.first_hit == 1).astype(int), packed(arrays.neighbours), packed(arrays.similarities)
    columns = (
        event.sample_ids.tolist(), range(len(event.labels)), event.labels.tolist(),
        [None if math.isnan(ap) else ap for ap in event.ap.tolist()],
        event.first_hit.tolist(), event.r.tolist(), right.tolist(), near, similar,
    )  # fmt: skip
    db.executemany(
        'insert into queries (evaluation_id, sample_id, place, label, ap, first_hit, r, "right", neighbours, '
        "similarities) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        ((evaluation_id, *row) for row in zip(*columns, strict=True)),
    )
    head = np.zeros(len(right), checksums.HEAD)
    head["place"], head["right"] = np.arange(len(right)), right
    for name in ("sample_id", "label", "ap", "first_hit", "r"):
        head[name] = getattr(event, {"sample_id": "sample_ids", "label": "labels"}.get(name, name))
    queries = Queries(event.sample_ids, event.labels, event.ap, event.first_hit, event.r, right)
    sums = checksums.query_sums(head, near, similar)
    checksums.store_sums(db, evaluation_id, checksums.columns_sum(queries), sums)
