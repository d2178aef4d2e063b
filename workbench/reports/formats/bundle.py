"""Everything about a report in one ZIP file: the report in every form, configs, tables, and a manifest."""

import json
import shlex
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, replace
from hashlib import sha256
from math import isfinite
from pathlib import Path
from typing import Any

from workbench import __version__, files
from workbench.reports.content.provenance import command_of, config_name
from workbench.reports.document import Made, Wish
from workbench.reports.sections import GROUP_SECTIONS, PAPER
from workbench.workspace.rows import Run

FORMAT = "workbench report bundle 1"
STAMP = (1980, 1, 1, 0, 0, 0)  # the same report is the same file
MANIFEST, TEXT = "manifest.json", "text.md"


def write(path: Path, report: Made, wish: Wish, contents: Mapping[str, bytes]) -> None:
    """Write the bundle; it is whole or unchanged.

    Args:
        path: the ZIP file.
        report: what the report says. wish: what was asked for.
        contents: files of the report by their place in the bundle.

    Raises:
        Problem: the disk is full, or the place cannot be written.
    """
    wish = replace(wish, notes=report.notes)
    every = {**contents, **{config_name(run): run.config.encode() for run in report.runs}}
    if wish.notes:
        every[TEXT] = wish.notes.encode()
    said = _without_nan(manifest(report, wish, every))
    every[MANIFEST] = json.dumps(said, indent=2, ensure_ascii=False, allow_nan=False, default=str).encode()
    with files.chosen_file(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in sorted(every, key=lambda file_name: (file_name != MANIFEST, file_name)):
            packed.writestr(zipfile.ZipInfo(name, STAMP), every[name], zipfile.ZIP_DEFLATED)


def manifest(report: Made, wish: Wish, contents: Mapping[str, bytes]) -> dict[str, Any]:
    """The contents of the bundle and how to repeat each run, as JSON values; the user's text is named, not repeated."""
    wished = asdict(wish)
    del wished["notes"]
    wished["text"] = TEXT if wish.notes else None
    return {
        "format": FORMAT,
        "workbench": __version__,
        "title": report.document.title,
        "report": {**wished, "command": report_command(wish)},
        "runs": [_run(run, report) for run in report.runs],
        "files": [
            {"name": name, "bytes": len(data), "sha256": sha256(data).hexdigest()}
            for name, data in sorted(contents.items())
        ],
    }


def report_command(wish: Wish) -> str:
    """The command line, given in the unpacked bundle, that makes it again from the workspace of its runs."""
    parts = [*map(str, wish.runs), *(f"--section={key}" for key in wish.sections)]
    parts += [f"--title={wish.title}"] if wish.title else []
    parts += [f"--text={TEXT}"] if wish.notes else []
    parts += [f"--metric={wish.metric}"] if GROUP_SECTIONS.keys() & set(wish.sections) else []
    parts += [f"--at={wish.at}"]
    parts += [f"--paper={wish.paper}"] if wish.paper != PAPER else []
    return f"workbench report {shlex.join(parts)} --bundle FILE --workspace DIR"


def _without_nan(value: Any) -> Any:
    """JSON has neither NaN nor infinity: null stands for them."""
    if isinstance(value, dict):
        return {name: _without_nan(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(item) for item in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def _run(run: Run, report: Made) -> dict[str, Any]:
    facts = run.environment
    data = facts.get("data", {})
    at = report.content.shown if run.id == report.content.run.id else None
    if report.groups is not None:
        at = report.groups.overview.measured[run.id].at(report.groups.overview.at)
    hardware = ("device", "cuda", "cores", "threads", "memory_gib")
    return {
        "run": run.id,
        "name": run.name,
        "note": run.note,
        "seed": run.seed,
        "status": run.status,
        "epochs_done": run.epoch,
        "epochs": run.epochs,
        "created": run.created,
        "ended": run.ended,
        "tested": None if run.tested is None else {"run": run.tested, "epoch": run.tested_epoch},
        "config": config_name(run),
        "command": command_of(run),
        "data": {"name": run.dataset, **{key: value for key, value in data.items() if key != "left_out"}},
        "weights_fingerprint": facts.get("weights", ""),
        "plugins": facts.get("plugins", {}),
        "versions": {
            "workbench": facts.get("workbench", ""), "python": facts.get("python", ""), **facts.get("versions", {})
        },
        "hardware": {"system": facts.get("system", ""), **{key: facts[key] for key in hardware if key in facts}},
        "seconds": run.seconds,
        "memory_bytes": run.memory_bytes,
        "evaluated": None if at is None else {"epoch": at.epoch, "distance": at.distance, "metrics": at.metrics},
        "best": {"epoch": run.best_epoch, "metrics": run.best},
    }  # fmt: skip
