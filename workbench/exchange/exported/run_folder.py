"""A run as a folder that `workbench ingest` imports into another workspace: what its journal describes, with arrays."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from workbench.events import CHECKPOINTS
from workbench.exchange.exported.written import written_file
from workbench.exchange.source import Source
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.workspace.folders import annotations, deleted_checkpoints, journal, travelling
from workbench.workspace.paths import opened, regular
from workbench.workspace.rows import Run

BESIDE = ("dataset.json", travelling.EXPERIMENT, deleted_checkpoints.NAME)
BLOCK = 1 << 20  # bytes
Sums = Mapping[str, tuple[int, str]]  # bytes and hash of files by name


def refusal(run: Run, home: Path) -> str:
    """Why the run cannot be given to another workspace, as a sentence; empty if it can."""
    if run.live:
        return f"Run {run.id} has not ended: its files still change."
    if run.only_searched:
        return f"Run {run.id} was imported to be searched only: its embeddings can be imported again as they were."
    if not run.config or not regular(home / journal.NAME).exists():
        return f"Run {run.id} has no config or no journal from which another workspace could read it."
    return ""


def write(source: Source, out: Path, progress: Progress) -> list[Path]:
    """A folder `run-N` in `out`: journal, config, data set, arrays, checkpoints, name, note and tags of the run.

    The journal names the bytes and the hash of each array, as that of a run folder does, so that whoever imports it
    sees what did not come whole. The same state of a run has the same unique number each time, whatever a person says
    of it: name, note, tags and colour are beside the journal.

    Raises:
        Problem: the folder is there already, or a file of the run is a link.
    """
    run, home, folder = source.run, source.workspace.folder(source.run.id), out / f"run-{source.run.id}"
    if os.path.lexists(folder):
        raise Problem(f"{folder} already exists.", kept="Nothing was written.", todo="Choose another folder.")
    epochs = {entry.evaluation.epoch for entry in journal.entries(home, b'"evaluation"') if entry and entry.evaluation}
    names = [name for epoch in sorted(epochs) for name in _arrays_of(epoch)] + list(CHECKPOINTS.values())
    names = [name for name in (*names, *BESIDE) if regular(home / name).exists()]
    sums: dict[str, tuple[int, str]] = {}
    for number, name in enumerate(names):
        progress("Copying the files of the run", number, len(names))
        sums[name] = _copy(source, home / name, folder / name)
    uid = blake2b(run.config.encode(), digest_size=16)
    with written_file(source, folder / journal.NAME) as file:
        for line in _lines(home, sums):
            uid.update(line)
            file.write(line)
    origin = annotations.origin_of(source.workspace.path, run.id)
    with written_file(source, folder / annotations.NAME) as file:
        said = annotations.annotations_of(run.name, run.tags, run.colour, origin, run.note)
        file.write(said.model_dump_json().encode())
    for name in (travelling.CONFIG, travelling.CARD):
        source.new.add(folder / name)
    travelling.write_first(folder, run.config, uid.hexdigest(), run.created)
    source.remarks.extend(_left_behind(run, sorted(epochs), sums))
    return [folder / name for name in (*names, journal.NAME, annotations.NAME, travelling.CONFIG, travelling.CARD)]


def _arrays_of(epoch: int) -> list[str]:
    """The files of an evaluation; the first two are those that each has."""
    beside = [f"{part}-{epoch}.npz" for part in ("ranking", "proxies", "training", "probe")]
    return [f"embeddings-{epoch}.npy", *beside]


def _copy(source: Source, path: Path, target: Path) -> tuple[int, str]:
    """Copy a file; returns the bytes and the hash of what was written."""
    checksum, size = blake2b(digest_size=16), 0
    with opened(path) as whole, written_file(source, target) as file:
        while block := whole.read(BLOCK):
            checksum.update(block)
            size += len(block)
            file.write(block)
    return size, checksum.hexdigest()


def _lines(home: Path, sums: Sums) -> Iterator[bytes]:
    """The journal with the sums of the files that it names, without notes: a changed note makes no other journal."""
    with opened(home / journal.NAME) as file:
        while line := file.readline(journal.LONGEST_LINE):
            if not line.endswith(b"\n"):
                continue  # cut off, or longer than any that Workbench writes
            entry = _line(line) if any(part in line for part in (b'"evaluation"', b'"checkpoint"', b'"note"')) else {}
            if isinstance(entry.get("note"), str):
                continue
            if isinstance(facts := entry.get("evaluation"), dict):
                kept = {name: sums[name] for name in _arrays_of(facts.get("epoch", 0)) if name in sums}
                line = _bytes(entry | {"evaluation": facts | {"files": kept}})
            elif isinstance(facts := entry.get("checkpoint"), dict):
                size, digest = sums.get(CHECKPOINTS.get(str(facts.get("kind")), ""), (0, ""))
                line = _bytes(entry | {"checkpoint": facts | {"bytes": size, "blake2b": digest}})
            yield line


def _line(line: bytes) -> dict[str, Any]:
    """The content of a line as it stands; empty for one that cannot be read."""
    return json.loads(line) if journal.parsed(line) is not None else {}


def _bytes(entry: dict[str, Any]) -> bytes:
    return f"{json.dumps(entry)}\n".encode()


def _left_behind(run: Run, epochs: Iterable[int], sums: Sums) -> Iterator[str]:
    """Sentences on what of the run has no place in a run folder, and on arrays that are missing."""
    if len(run.tags) > annotations.MOST_TAGS:
        yield f"Only the first {annotations.MOST_TAGS} of {len(run.tags):,} tags of run {run.id} are in the folder."
    if len(run.note) > annotations.LONGEST_NOTE:
        yield f"Only the first {annotations.LONGEST_NOTE:,} characters of the note of run {run.id} are in the folder."
    lacking = [str(epoch) for epoch in epochs if any(name not in sums for name in _arrays_of(epoch)[:2])]
    if lacking:
        yield f"Arrays of run {run.id} are missing, and with them its evaluations after epoch {', '.join(lacking)}."
