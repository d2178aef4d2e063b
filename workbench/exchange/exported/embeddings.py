"""Embeddings of one evaluation: as arrays, and as the two tables that the Embedding Projector loads."""

from pathlib import Path

import numpy as np

from workbench.exchange.exported.written import written_file
from workbench.exchange.source import Source
from workbench.files.spreadsheet import csv_cell, csv_text
from workbench.problem import Problem
from workbench.progress import Progress

BLOCK = 1000  # rows of text at once


def write_npy(source: Source, out: Path, progress: Progress) -> list[Path]:
    """`embeddings.npy` float32 [n, d], `labels.npy` int64 [n] and `samples.csv` (sample_id, path, label) in `out`.

    `workbench import embeddings.npy --labels samples.csv` reads them back.

    Raises:
        Problem: numbers that no float32 holds, of a run folder that another program wrote.
    """
    progress("Writing the embeddings", 0, 0)
    ids, labels, stored = source.workspace.embeddings(source.evaluated.id)
    with np.errstate(over="ignore"):  # it is said below
        vectors = np.asarray(stored, np.float32)
    if stored.dtype != np.float32 and (np.isinf(vectors) & np.isfinite(stored)).any():
        what = f"Run {source.run.id} has embeddings with numbers beyond the range of float32."
        raise Problem(what, kept="Nothing was written.", todo="Export them for the Embedding Projector, as text.")
    embeddings, numbers, samples = out / "embeddings.npy", out / "labels.npy", out / "samples.csv"
    for path, array in ((embeddings, vectors), (numbers, labels)):
        with written_file(source, path) as file:
            np.save(file, array, allow_pickle=False)
    rows = [[sample, path, name] for sample, path, name in _samples(source, ids)]
    with written_file(source, samples) as file:
        file.write(csv_text(["sample_id", "path", "label"], rows).encode())
    return [embeddings, numbers, samples]


def write_projector(source: Source, out: Path, progress: Progress) -> list[Path]:
    """`vectors.tsv` (n lines of d numbers, no header) and `metadata.tsv` (label, path, sample_id) in `out`."""
    ids, _, vectors = source.workspace.embeddings(source.evaluated.id)
    points, metadata = out / "vectors.tsv", out / "metadata.tsv"
    with written_file(source, metadata) as about, written_file(source, points) as file:  # a cancel leaves neither
        about.write(b"label\tpath\tsample_id\n")
        for sample, path, name in _samples(source, ids):
            about.write(f"{_tsv_cell(name)}\t{_tsv_cell(path)}\t{sample}\n".encode())
        for start in range(0, len(vectors), BLOCK):
            progress("Writing the vectors", start, len(vectors))
            lines = ("\t".join(f"{value:.9g}" for value in row) for row in vectors[start : start + BLOCK].tolist())
            file.write(("\n".join(lines) + "\n").encode())
    return [points, metadata]


def _samples(source: Source, ids: np.ndarray) -> list[tuple[int, str, str]]:
    """Sample id, path and class name in the order of the embeddings."""
    if source.run.dataset_id is None:
        return [(sample, "", "") for sample in ids.tolist()]
    data = source.workspace.dataset(source.run.dataset_id)
    samples = source.workspace.samples(source.run.dataset_id)
    known = zip(samples.ids.tolist(), samples.paths, samples.labels.tolist(), strict=True)
    by_id = {sample: (path, data.class_name(label)) for sample, path, label in known}
    if not by_id.keys() >= set(ids.tolist()):
        raise Problem(f"Run {source.run.id} has queries that its data set has not.", kept="It was not changed.")
    return [(sample, *by_id[sample]) for sample in ids.tolist()]


def _tsv_cell(text: str) -> str:
    """Text in one cell of a table without quotes."""
    return str(csv_cell(" ".join(text.replace("\0", " ").splitlines()).replace("\t", " ")))
