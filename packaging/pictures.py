"""Takes the pictures of docs/ again, from real runs: `python packaging/pictures.py DATA [--workspace FOLDER]`.

DATA is the folder of real data: `mnist` (the four files), `caltech101` (a folder of photographs for each class) and
`weights/squeezenet1_0.pth`. Seven runs are trained by the command line, unless the workspace has them already. Then the
window is opened on them, without a display, and each picture is written as PNG into docs/, under 300 KB; the best and
worst queries of the photographs come from their report. On two busy cores the whole command took 25 minutes.
"""

import argparse
import contextlib
import io
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PySide6.QtWidgets import QWidget

    from tests.pictures import Photographer
    from workbench.ui.window.main_window import MainWindow
    from workbench.workspace import Workspace

DOCS = ROOT / "docs"
SIZE, LARGE = (1280, 800), (1600, 1100)  # pixels of the window; of that whose charts are shown without it
LOW = 720  # pixels: height of the window whose tables are shown without it
PRINTED = 1100, 1600  # the largest width and height of a figure of the report, in pixels
MOST_BYTES = 250_000  # of one picture; all documents have a limit, too
PATIENCE = 900.0  # seconds that a map and its neighbours get
DIGITS, NO_BATCH_NORM, PHOTOGRAPHS, MNIST = 1, 5, 6, 7  # numbers of runs in the workspace: the order of `trainings`


def trainings(data: Path) -> list[list[str]]:
    """The arguments of `workbench run` for each training, in order."""
    pairwise = ["--set", "loss.name=multi_similarity", "--set", "sampler.name=classes_images"]
    return [
        ["sample-digits", "--set", "seeds=2"],  # runs 1 and 2
        ["sample-digits", "--set", "seeds=2", *pairwise, "--set", "name=Digits, Multi-similarity"],  # 3 and 4
        ["sample-digits", "--set", "embedding.batch_norm=false", "--set", "name=Digits, no batch-norm"],
        [
            *("photographs-unseen", "--set", f"dataset.folder={data / 'caltech101'}"),
            *("--set", f"backbone.weights_file={data / 'weights' / 'squeezenet1_0.pth'}"),
        ],
        ["mnist-ce-spce", "--set", f"dataset.folder={data / 'mnist'}"],
    ]


def train(workspace: Path, data: Path) -> None:
    """Train all runs, one after the other."""
    for arguments in trainings(data):
        command = [sys.executable, "-m", "workbench", "run", *arguments, "--quiet", "--workspace", str(workspace)]
        subprocess.run(command, check=True, cwd=ROOT)


@contextlib.contextmanager
def opened(workspace: "Workspace", size: tuple[int, int], out: Path) -> "Iterator[tuple[MainWindow, Photographer]]":
    """The window on the workspace, light and of `size` pixels, and the camera that waits for it; closed at the end."""
    from PySide6.QtCore import Qt
    from PySide6.QtWidgets import QApplication

    from tests.pictures import Photographer
    from workbench.entries import catalog
    from workbench.ui.state.session import Session
    from workbench.ui.window.main_window import MainWindow

    QApplication.setAttribute(Qt.ApplicationAttribute.AA_DontUseNativeDialogs)
    app = QApplication(sys.argv[:1])
    app.setStyle("Fusion")
    session = Session(workspace)
    session.set_catalog(catalog.current())
    session.theme.choose("light")
    window = MainWindow(session)
    window.resize(*size)
    window.show()
    window.make_ready()
    window.status.show_device("cpu")
    camera = Photographer(window, out, [])
    camera.wait()
    try:
        yield window, camera
    finally:
        session.close()
        window.close()


def take_pictures(folder: Path) -> None:
    """Open the window on the workspace in this folder and write every picture."""
    from workbench.workspace import Workspace

    with opened(Workspace(folder), SIZE, DOCS) as (window, camera):
        for photograph in (_digits, _ce_and_spce, _photographs, _attributes, _pair, _near_duplicates):
            photograph(window, camera)


def _digits(window: "MainWindow", camera: "Photographer") -> None:
    """The pictures of a first run."""
    window.session.show_run(DIGITS)
    for name in ("setup", "train", "map", "retrieval", "compare", "report"):
        _show(window, camera, name)
        save(window, f"digits-{name}")


def _ce_and_spce(window: "MainWindow", camera: "Photographer") -> None:
    """The Train page of Figure 1 of CE against pairwise losses, its charts alone, and where the curves do not meet."""
    window.session.show_run(MNIST)
    page = _show(window, camera, "train")
    save(window, "train")
    save(_at_full_size(page.curves.probe, camera), "ce-spce")
    page.curves.grid.show_all()
    page.views.setCurrentWidget(page.anatomy)
    window.resize(*LARGE)
    camera.wait(lambda: camera.settled("train"))
    save(page.anatomy, "anatomy")
    window.resize(*SIZE)
    page.views.setCurrentWidget(page.curves)
    _show(window, camera, "map")
    save(window, "map")
    window.session.show_run(NO_BATCH_NORM)
    _show(window, camera, "train")
    save(_at_full_size(page.curves.probe, camera), "ce-spce-norms")
    page.curves.grid.show_all()


def _photographs(window: "MainWindow", camera: "Photographer") -> None:
    """The pictures of photographs of classes that training has not seen."""
    window.session.show_run(PHOTOGRAPHS)
    for name in ("train", "map", "retrieval"):
        _show(window, camera, name)
        save(window, f"photographs-{name}")


def _attributes(window: "MainWindow", camera: "Photographer") -> None:
    """Scores from photographs of one shape to those of another, by tags that are read from their files."""
    from workbench.ui.pages.retrieval.attributes.panel import AttributesPanel
    from workbench.workspace.choices.sample_tags import change_tags

    workspace = window.session.workspace
    dataset_id = workspace.run(PHOTOGRAPHS).dataset_id
    assert dataset_id is not None  # its images are there
    dataset = workspace.dataset(dataset_id)
    samples, tags = workspace.samples(dataset.id), []
    for number, path in zip(samples.ids.tolist(), samples.paths, strict=True):
        with Image.open(Path(dataset.root) / path) as photograph:
            width, height = photograph.size
        tags.append((number, f"shape={'landscape' if width > height else 'portrait' if height > width else 'square'}"))
    change_tags(workspace, dataset.id, tags)
    window.session.show_run(PHOTOGRAPHS)
    page = _show(window, camera, "retrieval")
    titles = [page.views.tabText(at) for at in range(page.views.count())]
    page.views.setCurrentIndex(titles.index("Attributes"))
    panel = page.findChild(AttributesPanel)
    camera.wait(lambda: panel.measured is not None, most=PATIENCE)
    panel.metrics.buttons["MAP@R"].click()
    window.resize(SIZE[0], LOW)
    camera.wait()
    save(panel, "photographs-attributes", colours=64)
    window.resize(*SIZE)
    page.views.setCurrentIndex(0)


def _pair(window: "MainWindow", camera: "Photographer") -> None:
    """A query and its nearest neighbour, with their saliency."""
    window.session.show_run(PHOTOGRAPHS)
    pairs = _show(window, camera, "retrieval").pairs
    pairs.ask()
    pairs.model.want(True)
    camera.wait(lambda: pairs.model.saliency is not None, most=PATIENCE)
    camera.wait()
    save(pairs.dialog, "photographs-pair")
    pairs.dialog.close()


def _near_duplicates(window: "MainWindow", camera: "Photographer") -> None:
    """The pairs of photographs that look nearly the same, where images are split at random."""
    from workbench.config import Choice, RunConfig

    config = RunConfig.recorded(window.session.workspace.run(PHOTOGRAPHS).config)
    page = _show(window, camera, "setup")
    page.take_config(config.model_copy(update={"split": Choice(name="random")}))
    page.look_at_data()
    camera.wait(lambda: page.data_look.dialog is not None, most=PATIENCE)
    dialog = page.data_look.dialog
    shown: list[int] = []
    tab = dialog.near_duplicates
    dialog.tabs.setCurrentWidget(tab)
    tab.shown.connect(shown.append)
    tab.look.click()
    camera.wait(lambda: bool(shown), most=PATIENCE)
    save(dialog, "near-duplicates")
    dialog.close()


def draw_queries(workspace: Path, scratch: Path) -> None:
    """The best and the worst queries of the photographs, as a report prints them."""
    wanted = [str(PHOTOGRAPHS), "--format", "figures", "--out", str(scratch), "--workspace", str(workspace)]
    subprocess.run([sys.executable, "-m", "workbench", "report", *wanted], check=True, cwd=ROOT)
    for name in ("best", "worst"):
        with Image.open(scratch / "figures" / f"{name}.png") as figure:
            picture = figure.convert("RGB")
        picture.thumbnail(PRINTED)
        picture.save(DOCS / f"photographs-{name}.jpg", quality=80, optimize=True)


def _show(window: "MainWindow", camera: "Photographer", name: str) -> Any:
    """The page of that name when it has what it shows."""
    window.session.show_page(name)
    if name == "compare":
        window.session.ticks.choose([run.id for run in window.session.runs() if run.id < NO_BATCH_NORM])
    for _ in range(2):  # a map that is ready may request more: its neighbours
        camera.wait(lambda: camera.settled(name), most=PATIENCE)
    return window.pages.page(name)


def _at_full_size(plot: Any, camera: "Photographer") -> Any:
    plot.full_size_asked.emit()
    camera.wait()
    return plot


def save(widget: "QWidget", name: str, colours: int = 256) -> None:
    """Write what the widget shows as docs/NAME.png, with fewer colours where it would be too large.

    With `colours` below 256, it has no more of them at once: a table loses nothing by that.
    """
    from PySide6.QtCore import QBuffer, QIODevice, QPoint, QRect
    from PySide6.QtWidgets import QApplication

    if (focused := QApplication.focusWidget()) is not None:
        focused.clearFocus()  # its frame is for who works with the keyboard
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    window = widget.window()  # has the background
    window.grab(QRect(widget.mapTo(window, QPoint(0, 0)), widget.size())).save(buffer, "PNG")
    picture = Image.open(io.BytesIO(bytes(buffer.data().data()))).convert("RGB")
    fewer = [picture.quantize(count) for count in (256, 128, 64) if count <= colours]
    for candidate in ([picture] if colours == 256 else []) + fewer:
        candidate.save(DOCS / f"{name}.png", optimize=True)
        if (DOCS / f"{name}.png").stat().st_size < MOST_BYTES:
            return
    raise SystemExit(f"{name}.png is larger than {MOST_BYTES:,} bytes with 64 colours.")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--workspace", type=Path, help="keeps its runs for the next time")
    parser.add_argument("--take", action="store_true", help=argparse.SUPPRESS)  # of a process that this one started
    options = parser.parse_args()
    if options.take:
        take_pictures(options.workspace)
        return
    with tempfile.TemporaryDirectory() as scratch:
        workspace = (options.workspace or Path(scratch) / "Workbench").resolve()
        if not (workspace / "workspace.db").exists():
            train(workspace, options.data.resolve())
        # The status bar names the workspace from the home folder: no picture shows where it was taken.
        env = os.environ | {
            "QT_QPA_PLATFORM": "offscreen",
            "WORKBENCH_SETTINGS": str(Path(scratch) / "settings.ini"),
            "HOME": str(workspace.parent),
            "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache")),
        }
        command = [sys.executable, __file__, str(options.data), "--workspace", str(workspace), "--take"]
        subprocess.run(command, check=True, env=env)
        draw_queries(workspace, Path(scratch))


if __name__ == "__main__":
    main()
