"""One bit of one file of a true workspace is flipped, or the file is cut: is anything else shown, without a word?"""

import atexit
import dataclasses
import hashlib
import random
import shutil
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from tests.campaign.outcome import Outcome
from tests.ui.trained import image_set, trained_run
from workbench.charts import Chart, Marks
from workbench.datasets.cache.pixels import decoded
from workbench.datasets.pictures import Pictures
from workbench.events import Charted, Ended, Saved
from workbench.exchange.formats import export_run
from workbench.problem import Problem
from workbench.progress import quiet
from workbench.reports import write_report
from workbench.reports.content.gathering import gather
from workbench.reports.sections import SECTIONS
from workbench.results.class_geometry import measure_classes
from workbench.results.explanations import explain_failures
from workbench.training import checkpoint
from workbench.workspace import Workspace
from workbench.workspace.measured.ranking import read_ranking, read_similarities
from workbench.workspace.measured.stored_maps import Measured, kept_neighbours, store_map
from workbench.workspace.recorder import Recorder
from workbench.workspace.repairs.verification import verify

TITLE = "Flipped bits and cut files"
PROMISE = "What is shown is what was measured, or a sentence names what is damaged."
ROUNDS, SLICE = 200, 4
CUT = 0.15  # share of rounds in which the file is cut instead
COUNT = 24  # images


def attempt(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    true, wanted = truth()
    space = folder / "space"
    shutil.copytree(true / rng.choice(("closed", "closed", "open")), space)
    files = sorted(path for path in space.rglob("*") if path.is_file())
    heavy = [path for path in files if path.name.startswith("workspace.db")]
    path = rng.choice(heavy if rng.random() < 0.4 else files)
    harm = damage(path, rng)
    found, wrong, refused = shown(space), [], []
    for part, value in found.items():
        if isinstance(value, Problem):
            refused.append(part)
        elif value != wanted.get(part) and part != "doctor":
            wrong.append(part)
    if wrong:
        yield Outcome("lost", f"{harm}: {', '.join(wrong)} not as measured; refused: {', '.join(refused) or 'nothing'}")
    elif found["doctor"] == wanted["doctor"] and any(not part.startswith("picture") for part in refused):
        yield Outcome("lost", f"{harm}: the doctor found nothing, but {', '.join(refused)} refused")
    else:
        yield Outcome("survived")


def damage(path: Path, rng: random.Random) -> str:
    """Flip one bit of a file, or cut it; what was done, in words."""
    data = bytearray(path.read_bytes())
    if rng.random() < CUT:
        at = rng.randrange(len(data))
        path.write_bytes(data[:at])
        return f"{path.name} cut at {at} of {len(data)}"
    at, bit = rng.randrange(len(data)), rng.randrange(8)
    data[at] ^= 1 << bit
    path.write_bytes(data)
    return f"{path.name} byte {at} of {len(data)} bit {bit}"


@cache
def truth() -> tuple[Path, dict[str, Any]]:
    """Two copies of a whole workspace, one with a write-ahead log, and what is shown of them."""
    folder = Path(tempfile.mkdtemp(prefix="campaign-truth-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    made = folder / "made"
    with Workspace(made, create=True) as workspace:
        run_id = trained_run(workspace, made / "cache", COUNT)
        evaluation = workspace.evaluations(run_id)[-1].id
        state = {"model": {"weight": torch.arange(64.0)}, "step": 20, "epoch": 2}
        recorder = Recorder(workspace, run_id)
        recorder(Charted(20, (Chart("Weights", "step", (Marks("line", "line", (1.0, 2.0), (0.5, 0.25)),)),)))
        for kind in ("best", "last"):
            checkpoint.save(workspace.folder(run_id) / f"{kind}.pt", state)
            recorder(Saved(kind, workspace.folder(run_id) / f"{kind}.pt", 2, 20))
        recorder(Ended("done"))
        rng = np.random.default_rng(0)
        points, proxies = rng.normal(size=(COUNT, 2)).astype(np.float32), np.eye(4, 2, dtype=np.float32)
        measured = Measured(0.9, 0.8, COUNT, rng.uniform(size=COUNT).astype(np.float32))
        store_map(workspace, evaluation, "umap", {"neighbours": 5}, 0, points, proxies, {"umap": "x"}, measured)
        workspace.set_tags(run_id, ["true"])
    shutil.copytree(made, folder / "closed")
    with Workspace(made) as workspace:
        workspace.set_note(run_id, "written last")
        shutil.copytree(made, folder / "open", ignore=shutil.ignore_patterns("*-shm"))
        Workspace(folder / "closed").set_note(run_id, "written last")
    wanted = shown(made)
    bad = {part: value for part, value in wanted.items() if isinstance(value, Problem)}
    assert not bad, bad
    return folder, wanted


def shown(space: Path) -> dict[str, Any]:
    """Everything that a workspace shows, by part: plain values, or the Problem that came instead."""
    found: dict[str, Any] = {}

    def look(part: str, work: Callable[[], Any]) -> Any:
        try:
            value = work()
        except Problem as problem:
            found[part] = problem
            return None
        found[part] = plain(value)
        return value

    out = space.parent / "out"
    try:
        with Workspace(space) as workspace:
            look_at(workspace, look, out)
            look("doctor", lambda: [(each.what, each.said) for each in verify(workspace, quiet)])
    except Problem as problem:
        found.update(doctor=problem, opened=problem)
    images, pixels = image_set(COUNT), next(iter(sorted((space / "cache").glob("*.npy"))))
    rows = {sample: row for row, sample in enumerate(images.sample_ids.tolist())}
    pictures = Pictures(rows, pixels, {}) if pixels.exists() else None
    for sample in rows:
        look(f"picture {sample}", lambda sample=sample: pictures and pictures.thumbnail(sample))
    look("training", lambda: np.array(decoded(images, space / "cache", quiet)[1]))
    return found


def look_at(workspace: Workspace, look: Callable[[str, Callable[[], Any]], Any], out: Path) -> None:
    runs = look("runs", workspace.runs) or []
    for run in runs:
        names = look("names", lambda run=run: workspace.scalar_names(run.id)) or []
        for name in names:
            look(f"curve {name}", lambda run=run, name=name: workspace.scalars(run.id, name))
        look("charts", lambda run=run: [workspace.charts(run.id, step) for step in workspace.chart_steps(run.id)])
        look("evaluations", lambda run=run: workspace.evaluations(run.id))
        for each in workspace.evaluations(run.id):
            look_at_evaluation(workspace, each.id, look)
        look("samples", lambda run=run: (workspace.dataset(run.dataset_id).class_names, workspace.samples(1)))
        for name in ("best", "last"):
            look(name, lambda run=run, name=name: checkpoint.load(workspace.folder(run.id) / f"{name}.pt"))
        for key in ("csv", "npy", "projector", "config"):
            look(f"export {key}", lambda run=run, key=key: contents(export_run(workspace, run.id, [key], out / key)))
        look("report", lambda run=run: without_pixels(gather(workspace, run.id, tuple(SECTIONS), "True")))
        look("tables", lambda run=run: contents(write_report(workspace, (run.id,), out / "report", ("csv",))))


def look_at_evaluation(workspace: Workspace, number: int, look: Callable[[str, Callable[[], Any]], Any]) -> None:
    run = workspace.evaluation(number).run_id
    for part, work in {
        "embeddings": lambda: workspace.embeddings(number), "proxies": lambda: workspace.proxies(number),
        "queries": lambda: workspace.queries(number), "ranking": lambda: read_ranking(workspace, number),
        "similarities": lambda: read_similarities(workspace, number),
        "maps": lambda: [(each, workspace.coordinates(each.id), kept_neighbours(workspace, each.id))
                         for each in workspace.projections(number)],
        "classes": lambda: measure_classes(workspace, number, quiet),
        "failures": lambda: explain_failures(workspace, number, quiet),
    }.items():  # fmt: skip
        look(f"{part} {number}", work)
    ids = image_set(COUNT).sample_ids.tolist()
    for sample in ids:
        look(f"query {number} {sample}", lambda sample=sample: workspace.query(number, sample))
        look(f"near {number} {sample}", lambda sample=sample: workspace.neighbours(run, sample, number))


def contents(paths: list[Path]) -> list[bytes]:
    return [path.read_bytes() for path in sorted(paths)]


def without_pixels(content: Any) -> Any:
    """A report's content without thumbnails, whose cache lies elsewhere."""
    return dataclasses.replace(content, worst=[], finest=[])


def plain(value: Any) -> str:
    """A mark of any result: equal for equal contents."""
    return hashlib.blake2b(repr(walk(value)).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def walk(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        value = value.numpy()
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, hashlib.blake2b(np.ascontiguousarray(value).tobytes()).hexdigest()
    if dataclasses.is_dataclass(value):
        return [(each.name, walk(getattr(value, each.name))) for each in dataclasses.fields(value)]
    if isinstance(value, dict):
        return [(key, walk(each)) for key, each in value.items()]
    if isinstance(value, list | tuple | set):
        return [walk(each) for each in value]
    return value if isinstance(value, int | float | str | bytes | Path | None) else type(value).__name__
