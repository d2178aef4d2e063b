"""Damaged and senseless inputs for everything that Workbench reads: each is used, or refused in one sentence."""

import contextlib
import os
import random
import shutil
import signal
import traceback
import warnings
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from types import FrameType
from typing import Any
from unittest.mock import patch

import numpy as np

from tests.campaign.corpus import corpus, readable
from tests.campaign.mutations import NAMES, WORDS, Files, mutated
from tests.campaign.outcome import Outcome
from tests.ui.small_run import store_run
from workbench import registry
from workbench.config import RunConfig
from workbench.control import Cancelled
from workbench.datasets.cache.pixels import decoded
from workbench.datasets.image_set import ImageSet
from workbench.datasets.inspection import inspect
from workbench.datasets.split import Split
from workbench.entries import catalog as catalogs
from workbench.exchange.formats import export_run
from workbench.exchange.imported.curve_import import import_curves
from workbench.exchange.imported.importing import import_embeddings
from workbench.files import archives
from workbench.problem import Problem
from workbench.reports.templates import offered
from workbench.reports.writing.markdown import blocks_of
from workbench.results.by_attribute import all_attributes
from workbench.results.slices import slices
from workbench.results.tag_table import export_tags, import_tags
from workbench.running import folds_and_seeds
from workbench.settings.changed import read_config
from workbench.sweeps import space
from workbench.sweeps.plan import planned
from workbench.workspace import Workspace
from workbench.workspace.choices.report_templates import arrangements
from workbench.workspace.choices.sample_tags import all_tags
from workbench.workspace.repairs.repair import repair

TITLE = "fuzzed inputs"
PROMISE = "What cannot be read is refused in one sentence; nothing ends in a traceback or hangs."
ROUNDS = 150  # seven of each importer: over 1,000 inputs each in a long run
SLICE = 1
EACH = 7
PATIENCE = 60  # seconds for one input: a guard against hangs
Importer = Callable[[Path], object]  # reads a folder that holds one seed's files


class HungError(BaseException):
    """No answer in time. Not an Exception, so that no reader takes it for damage."""


def attempt(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    """Some inputs for every importer, mutated from true ones."""
    kinds = {**corpus(), "run folders": _run_folders(), "paths": [{"path": b""}]}
    with (
        patch("workbench.datasets.reading.data_folder.cache_folder", lambda: folder / "cache"),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")  # a library's warning is no traceback
        for kind, seeds in kinds.items():
            for number in range(EACH):
                place = folder / f"{number}"
                place.mkdir()
                files = mutated(rng, rng.choice(seeds)) if kind != "paths" else {"path": _path(rng)}
                write(place, files)
                yield tried(kind, IMPORTERS[kind], place)
                remove(place)


def tried(kind: str, read: Importer, place: Path) -> Outcome:
    """What reading one input ends in."""
    try:
        with _in_time(), contextlib.redirect_stdout(None), contextlib.redirect_stderr(None):
            read(place)
    except (Problem, Cancelled):
        pass
    except HungError:
        return Outcome("lost", f"{kind}: no answer in {PATIENCE} s")
    except Exception as error:  # noqa: BLE001 - what the drill looks for
        frames = traceback.extract_tb(error.__traceback__)
        own = next(
            (each for each in reversed(frames) if "workbench" in each.filename and ".venv" not in each.filename),
            frames[-1],
        )
        said = f"{type(error).__name__}: {str(error)[:150]}"
        return Outcome("traceback", f"{kind}: {said} ({Path(own.filename).name}:{own.lineno})")
    return Outcome("survived")


@contextlib.contextmanager
def _in_time() -> Iterator[None]:
    """Give up after PATIENCE, where the system has such an alarm."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise HungError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def write(place: Path, files: Files) -> None:
    """The files as far as the disk can have them; depth beyond its limits is made by going down step by step."""
    for name, data in files.items():
        with contextlib.suppress(OSError, ValueError, RecursionError):
            into = (place / name.lstrip("/").replace("..", "__")).with_name(Path(name).name or "x")
            into.parent.mkdir(parents=True, exist_ok=True)
            into.write_bytes(data)


def remove(place: Path) -> None:
    """Take the folder away, as far as it can be."""
    with contextlib.suppress(RecursionError):
        shutil.rmtree(place, ignore_errors=True)


def _silent(text: str, done: int, total: int) -> None:
    """Nobody is told."""


def _built(name: str, **fields: object) -> ImageSet:
    registry.discover("workbench.datasets")
    entry = registry.entry("dataset", name)
    found: ImageSet = entry.build(entry.params(**fields), progress=_silent)
    return found


def _decoded(images: ImageSet, place: Path) -> None:
    """All that Set up does with a data set: decode, look."""
    kept, pixels, _ = decoded(images, place.parent / "pixels", _silent)
    rows = np.arange(len(kept.paths))
    inspect(kept, pixels, Split(rows[1:], rows[:1], False, ""), 0, _silent)


def _images(place: Path) -> None:
    _decoded(_built("folder", folder=str(place), image_size=8), place)


def _archive(place: Path) -> None:
    for name in sorted(os.listdir(place)):
        archives.unpack(place / name, place.parent / "out", _silent)
        shutil.rmtree(place.parent / "out")
        _decoded(_built("folder", folder=str(place / name), image_size=8), place)


def _csv_list(place: Path) -> None:
    for name in ("l.csv", "l.zip"):
        if (place / name).exists():
            _decoded(_built("csv", file=str(place / name), image_size=8), place)


def _boxes(place: Path) -> None:
    for numbers in ("sizes", "corners", "fractions"):
        box = "left top third fourth"
        with contextlib.suppress(Problem):
            _decoded(_built("csv", file=str(place / "l.csv"), box=box, box_numbers=numbers, image_size=8), place)


def _shards(place: Path) -> None:
    for label in ("cls", "json"):
        with contextlib.suppress(Problem):
            _decoded(_built("webdataset", folder=str(place), label=label, image_size=8), place)


def _curves(place: Path) -> None:
    with Workspace(place.parent / "curves", create=True) as workspace:
        for _ in range(2):  # again: nothing is added
            import_curves(workspace, place)


def _table(place: Path) -> None:
    names = os.listdir(place)
    given = [readable(names, lambda name, letter=letter: name.startswith(letter)) for letter in "eli"]
    embeddings, labels, images = (place / name if name else None for name in given)
    with Workspace(place.parent / "space", create=True) as workspace:
        import_embeddings(workspace, embeddings or place / "e.npy", labels, images, image_size=8)


def _config(place: Path) -> None:
    changes = [(place / "set").read_bytes().decode("utf-8", "surrogateescape")] if (place / "set").is_file() else []
    config = read_config(str(place / "c.toml"), tuple(changes))
    folds_and_seeds.children(config)
    config.to_toml()
    RunConfig.recorded((place / "c.toml").read_text("utf-8"))


def _sweep(place: Path) -> None:
    parameter = space.read(_text(place))
    how = "bayes" if parameter.ranged and parameter.points is None else "grid"
    planned(_sample(), [parameter], how, catalogs.current())
    space.written(parameter)


@lru_cache(maxsize=1)
def _sample() -> RunConfig:
    return read_config("sample-digits")


def _weights(path: Path) -> None:
    from workbench.backbones.pretrained import read_state
    from workbench.training import checkpoint

    with contextlib.suppress(Problem):
        checkpoint.load(path)
    read_state(path)


def _prototypes(path: Path) -> None:
    from workbench.losses.psce import from_file

    from_file(str(path), 3, 4)


def _published(place: Path) -> None:
    for name, lists in (("cub", "image"), ("cars", "cars_annos"), ("sop", "Ebay"), ("inshop", "list_")):
        if any(each.startswith(lists) for each in os.listdir(place)):
            _decoded(_built(name, folder=str(place), image_size=8), place)


def _omniglot(place: Path) -> None:
    zipped = place / "images_background.zip"
    _decoded(_built("omniglot", place=str(zipped if zipped.exists() else place), image_size=8), place)


def _template(place: Path) -> None:
    with Workspace(place.parent / "space", create=True) as workspace:
        with workspace.writing() as db:
            db.execute("delete from report_templates")
            db.execute(
                "insert into report_templates (template, arrangement, changed) values ('one-run', ?, '')",
                (_text(place),),
            )
        for each in offered(arrangements(workspace)).values():
            assert all(isinstance(key, str) for key in each.sections)
            blocks_of(each.text)


def _table_of_tags(place: Path) -> None:
    with Workspace(place.parent / "tagged", create=True) as workspace:
        if not workspace.runs():
            store_run(workspace, np.arange(6) % 2)
        (run,) = workspace.runs()
        import_tags(workspace, run.dataset_id or 0, place / readable(os.listdir(place), lambda name: "t" in name))
        if all_tags(workspace, run.dataset_id or 0):
            export_tags(workspace, run.dataset_id or 0, place.parent / "out.csv")
            import_tags(workspace, run.dataset_id or 0, place.parent / "out.csv")
        slices(workspace, workspace.evaluations(run.id)[0].id)
        all_attributes(workspace, workspace.evaluations(run.id)[0].id)


def _text(place: Path) -> str:
    """What a person would have typed."""
    name = readable(os.listdir(place), lambda name: (place / name).is_file())
    return (place / name).read_bytes().decode("utf-8", "replace") if name else ""


@lru_cache(maxsize=1)
def _run_folders() -> list[Files]:
    """A workspace's files after an import; the database is what is lost."""
    import tempfile

    with tempfile.TemporaryDirectory() as made:
        given, space_folder = Path(made) / "given", Path(made) / "space"
        given.mkdir()
        for name, data in corpus()["tables"][0].items():
            (given / name).write_bytes(data)
        _table(given)
        return [
            {each.relative_to(space_folder).as_posix(): each.read_bytes() for each in space_folder.rglob("runs/*/*")}
        ]


def _run_folder(place: Path) -> None:
    repair(place)
    with Workspace(place) as workspace:
        for run in workspace.runs():
            for evaluation in workspace.evaluations(run.id):
                workspace.queries(evaluation.id)


def _path(rng: random.Random) -> bytes:
    """A path that a person, a script or a file manager may hand over."""
    odd = (*(name.encode("utf-8", "surrogateescape") for name in NAMES), *(word for word in WORDS if len(word) < 400))
    long = ((b"d" * 200 + b"/") * 19, b"d/" * 1900, b"d" * 4000)
    return rng.choice(
        (rng.choice(odd), rng.choice(odd) + b"/" + rng.choice(odd), rng.choice(long), b"file", b"file/in")
    )


def _paths(place: Path) -> None:
    """One odd path at every door: to read from, and to write into."""
    odd = (place / "path").read_bytes()
    (place / "file").write_bytes(b"x")
    path = Path(os.fsdecode(bytes(place) + b"/" + odd.lstrip(b"/").replace(b"..", b"__")))
    for door in DOORS:
        with contextlib.suppress(Problem):
            door(path, place)


def _exported(path: Path, place: Path) -> None:
    files = place.parent / "for paths"
    if not files.exists():
        files.mkdir()
        for name, data in corpus()["tables"][0].items():
            (files / name).write_bytes(data)
        with Workspace(files / "space", create=True) as workspace:
            import_embeddings(workspace, files / "e.npy", files / "l.npy")
    with Workspace(files / "space") as workspace:
        export_run(workspace, 1, ("config", "csv"), path)


def _opened(path: Path, place: Path) -> None:
    with Workspace(path, create=True) as workspace:
        workspace.create_run(_sample())


def _imported(path: Path, place: Path) -> None:
    with Workspace(place.parent / "space", create=True) as workspace:
        import_embeddings(workspace, path, path, path)


DOORS: tuple[Callable[[Path, Path], Any], ...] = (
    lambda path, place: _built("folder", folder=str(path)),
    lambda path, place: _built("csv", file=str(path), folder=str(path)),
    lambda path, place: _built("cub", folder=str(path)),
    lambda path, place: _built("omniglot", place=str(path)),
    lambda path, place: archives.unpack(path, place / "out", _silent),
    lambda path, place: RunConfig.from_toml(path),
    lambda path, place: _prototypes(path),
    lambda path, place: _weights(path),
    _imported,
    _exported,
    _opened,
)  # fmt: skip
IMPORTERS: dict[str, Importer] = {
    "images": _images, "archives": _archive, "CSV lists": _csv_list, "tables": _table, "configs": _config,
    "sweep texts": _sweep, "Omniglot": _omniglot,
    "weights": lambda place: _weights(place / readable(os.listdir(place), lambda name: name.startswith("w"))),
    "prototypes": lambda place: _prototypes(place / readable(os.listdir(place), lambda name: name.startswith("p"))),
    "CIFAR": lambda place: _decoded(_built("cifar10", folder=str(place), image_size=8), place),
    "idx": lambda place: _decoded(_built("mnist", folder=str(place), image_size=8), place),
    "published lists": _published, "templates": _template, "own texts": lambda place: blocks_of(_text(place)),
    "run folders": _run_folder, "paths": _paths, "tables of tags": _table_of_tags,
    "boxes": _boxes, "WebDataset": _shards, "curves": _curves,
    "Hugging Face": lambda place: _decoded(_built("huggingface", folder=str(place), image_size=8), place),
}  # fmt: skip
