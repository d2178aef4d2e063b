"""Pictures of every page, tab and dialog of the window, for a person to look at.

    python tests/pictures.py OUT [--data FOLDER] [--workspace FOLDER] [--only WORD ...] [--looks NAME ...]

Trains two losses on Digits and, with `--data` (a folder of photographs, one folder per class), a run of those, unless
the workspace holds runs already. Then it opens the window once for each look (size, theme, text size, scale) in a
process of its own and writes OUT/LOOK/NAME.png. Works without a display (Qt's offscreen platform) and on any other.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PySide6.QtWidgets import QDialog, QWidget

    from workbench.ui.window.main_window import MainWindow

PATIENCE = 60.0  # seconds that maps and previews get
SETTLES = 1.0  # seconds after the last activity, for plots that are painted in turns


@dataclass(frozen=True, slots=True)
class Look:
    """How the window is shown."""

    name: str
    size: tuple[int, int] = (1440, 900)
    theme: str = "light"
    text: int = 100  # %
    scale: str = "1"


LOOKS = (
    Look("light-1440"),
    Look("dark-1440", theme="dark"),
    Look("light-1280", (1280, 720)),
    Look("dark-1280", (1280, 720), "dark"),
    Look("text150-1440", text=150),
    Look("text150-1280", (1280, 720), text=150),
    Look("scale15-1440", scale="1.5"),
)


def train(workspace: Path, data: Path | None) -> None:
    """Two losses on Digits with two seeds each, and one run of photographs, by the command line."""
    run = [sys.executable, "-m", "workbench", "run", "--quiet", "--workspace", str(workspace)]
    subprocess.run([*run, "sample-digits", "--set", "seeds=2"], check=True)
    normalised = [part for field in ("seeds=2", "loss.name=norm_ce") for part in ("--set", field)]
    subprocess.run([*run, "sample-digits", *normalised], check=True)
    if data is not None:
        photographs = [f"dataset.{name}" for name in ("name=folder", f"folder={data}", "image_size=48")]
        others = ["split.name=classes", "training.epochs=3", "name=Photographs", "seeds=1"]
        sets = [part for field in (*photographs, *others) for part in ("--set", field)]
        subprocess.run([*run, "sample-digits", *sets], check=True)


class Photographer:
    """Goes through one window."""

    def __init__(self, window: "MainWindow", out: Path, only: list[str]) -> None:
        from workbench.ui.window.process.garbage import Garbage

        self.window, self.out, self.only = window, out, only
        self.names: list[str] = []  # of all pictures of this window, also of those that were not asked for
        self._garbage = Garbage(window)  # as in the program: Python would free widgets on any thread, and Qt crash
        self._garbage.settle()
        out.mkdir(parents=True, exist_ok=True)

    def wait(self, until: Callable[[], bool] = lambda: True, least: float = SETTLES, most: float = PATIENCE) -> None:
        """Run the event loop for `least` seconds, and on until the condition holds or `most` seconds have passed."""
        from PySide6.QtCore import QEventLoop, QTimer

        begun = monotonic()
        while (spent := monotonic() - begun) < least or (spent < most and not until()):
            loop = QEventLoop()
            QTimer.singleShot(50, loop.quit)
            loop.exec()

    def take(self, name: str, widget: "QWidget | None" = None) -> None:
        self.names.append(name)
        if not self.only or any(word in name for word in self.only):
            (widget or self.window).grab().save(str(self.out / f"{name}.png"))

    def refuse_unknown(self) -> None:
        """End the process where a word of --only is in no name. Names follow the tabs, so it is known at the end."""
        if unknown := [word for word in self.only if not any(word in name for name in self.names)]:
            sys.stderr.write(f"No picture's name holds {', '.join(unknown)}. Names: {', '.join(self.names)}.\n")
            sys.exit(2)

    def page(self, name: str) -> None:
        """The page, then each of its tabs."""
        from PySide6.QtWidgets import QTabWidget

        self.window.session.show_page(name)
        if name == "compare":
            runs = self.window.session.runs()
            first = min(run.dataset_id or 0 for run in runs)  # what is compared must have its data in common
            self.window.session.ticks.choose(run.id for run in runs if run.dataset_id == first)
        self.wait(lambda: self.settled(name))
        self.wait()
        self.take(name)
        for tabs in self.window.pages.page(name).findChildren(QTabWidget):
            for index in range(tabs.count()):
                if tabs.isVisible() and tabs.isTabEnabled(index) and tabs.isTabVisible(index):
                    tabs.setCurrentIndex(index)
                    self.wait(lambda: self.settled(name))
                    shown = tabs.widget(index)
                    assert shown is not None
                    self.measure(shown)
                    self.choose_query(shown)
                    self.wait(lambda: self.settled(name))
                    self.take(f"{name}-{file_name(tabs.tabText(index))}")
                    self.geometry_of_the_probe(shown)
            if tabs.count():
                tabs.setCurrentIndex(0)

    def geometry_of_the_probe(self, tab: "QWidget") -> None:
        """The Geometry tab once more, with the training images of the probe."""
        from workbench.ui.pages.train.geometry.panel import GeometryPanel

        if isinstance(tab, GeometryPanel):
            tab.images.buttons["probe"].click()
            self.wait(lambda: tab.hint.isHidden() and self.settled("train"))
            self.take("train-geometry-probe")
            tab.images.buttons["test"].click()

    @staticmethod
    def measure(tab: "QWidget") -> None:
        """Press the Measure of a tab that shows nothing before."""
        from PySide6.QtWidgets import QPushButton

        for button in tab.findChildren(QPushButton):
            if button.text() == "Measure" and button.isVisible():
                button.click()

    @staticmethod
    def choose_query(tab: "QWidget") -> None:
        """Choose the first of the compared queries: its neighbours in both groups are shown then."""
        from workbench.ui.pages.compare.queries.panel import QueryDifferences

        if isinstance(tab, QueryDifferences):
            tab.table.setCurrentIndex(tab.model.index(0, 0))

    def similarities(self) -> None:
        """The Retrieval page with its histograms and a range of them."""
        page: Any = self.window.pages.page("retrieval")
        self.window.session.show_page("retrieval")
        page.queries.similarity.unfold.setChecked(True)
        self.wait(lambda: page.browsing.filters.similarities is not None)
        low, high = page.browsing.filters.similarities.ends
        page.browsing.choose_filters(similarity=((2 * low + high) / 3, high))
        self.wait(lambda: self.settled("retrieval"))
        self.take("retrieval-similarities")
        page.browsing.choose_filters(similarity=None)
        page.queries.similarity.unfold.setChecked(False)

    def settled(self, name: str) -> bool:
        """Whether a page has what it shows: maps, cards, the pages of a report."""
        page: Any = self.window.pages.page(name)
        known: dict[str, Callable[[], bool]] = {
            "map": lambda: page.canvas.data is not None,
            "retrieval": lambda: bool(page.result.cards),
            "report": lambda: page.preview.count > 0,
            "train": lambda: self._watched(page),
        }
        there = known.get(name, lambda: True)
        turned = self.window.pages.updatesEnabled()
        return turned and there() and self._drawn(page) and self.window.session.activity.newest_working is None

    @staticmethod
    def _watched(page: Any) -> bool:
        """Whether the Geometry tab, where it is in sight, has read the evaluations."""
        return page.views.currentWidget() is not page.geometry_panel or page.geometry_panel.watched is not None

    @staticmethod
    def _drawn(page: "QWidget") -> bool:
        """Whether every curve plot in sight has drawn its points: they take turns."""
        from workbench.ui.plots.curve_plot import CurvePlot

        return all(
            plot.empty.isHidden() == any(len(curve) for curve in plot.curves.values())
            for plot in page.findChildren(CurvePlot)
            if plot.isVisible()
        )

    def dialogs(self, page: str) -> None:
        """Every command of the frame or this page that opens a dialog."""
        self.window.session.show_page(page)
        self.wait()
        keys = [
            key
            for key in self.window.commands
            if self._opens(key) and key.partition(".")[0] in ("edit", "run", "file", "help", page)
        ]
        for key in keys:
            if key.partition(".")[0] == page or page == "train":
                self._dialog(key)

    def _opens(self, key: str) -> bool:
        action = self.window.commands[key]
        return action.isEnabled() and (action.text().endswith("…") or key == "help.about")

    def _dialog(self, key: str) -> None:
        from PySide6.QtCore import QTimer

        closer = QTimer(interval=700)
        closer.timeout.connect(lambda: self._close_dialogs(key))
        closer.start()
        self.window.commands[key].trigger()
        self.wait(least=1.6)
        closer.stop()
        self._close_dialogs(key)

    def _close_dialogs(self, key: str) -> None:
        for dialog in shown_dialogs():
            from PySide6.QtWidgets import QFileDialog

            if not isinstance(dialog, QFileDialog):
                self.take(f"dialog-{file_name(key)}", dialog)
            dialog.reject()


def file_name(words: str) -> str:
    """The words of a tab or a command as part of a file's name."""
    return words.lower().removesuffix("…").replace(" ", "-").replace(".", "-")


def shown_dialogs() -> "list[QDialog]":
    from PySide6.QtWidgets import QApplication, QDialog

    return [widget for widget in QApplication.topLevelWidgets() if isinstance(widget, QDialog) and widget.isVisible()]


def photograph(look: Look, workspace: Path, out: Path, only: list[str]) -> None:
    """Open the window in this look and write its pictures."""
    from PySide6.QtCore import Qt
    from PySide6.QtWidgets import QApplication

    from workbench.entries import catalog
    from workbench.training import device
    from workbench.ui.state.session import Session
    from workbench.ui.window.main_window import MainWindow
    from workbench.workspace import Workspace

    QApplication.setAttribute(Qt.ApplicationAttribute.AA_DontUseNativeDialogs)
    app = QApplication(sys.argv[:1])
    app.setStyle("Fusion")
    session = Session(Workspace(workspace, create=True))
    session.set_catalog(catalog.current())
    session.theme.choose(look.theme)
    session.theme.set_text_size(look.text)
    window = MainWindow(session)
    window.resize(*look.size)
    window.show()
    window.make_ready()
    window.status.show_device(device.describe(device.choose("auto"))["device"])
    camera = Photographer(window, out / look.name, only)
    camera.wait()
    camera.take("setup-without-run")
    session.show_page("train")
    camera.wait()
    camera.take("train-without-run")
    runs = session.runs()
    for number, run in enumerate(sorted(runs, key=lambda run: run.dataset_id or 0)):
        session.show_run(run.id)
        if number == 0:
            for name in ("setup", "train", "map", "retrieval", "compare", "report"):
                camera.page(name)
            camera.similarities()
        elif run.dataset != runs[-1].dataset:
            camera.window.session.show_page("map")
            camera.wait(lambda: camera.settled("map"))
            camera.take("map-photographs")
            session.show_page("retrieval")
            camera.wait(lambda: camera.settled("retrieval"))
            camera.wait()
            camera.take("retrieval-photographs")
            break
    for name in ("train", "setup", "map", "retrieval", "compare", "report"):
        camera.dialogs(name)
    session.close()
    window.close()
    camera.refuse_unknown()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--data", type=Path, help="folder of photographs, one folder per class")
    parser.add_argument("--workspace", type=Path, help="keeps its runs for the next time")
    parser.add_argument("--only", nargs="*", default=[], help="words, one of which a picture's name holds")
    names = [look.name for look in LOOKS]
    parser.add_argument("--looks", nargs="+", default=names, choices=names, metavar="NAME", help=", ".join(names))
    parser.add_argument("--look", help=argparse.SUPPRESS)  # of a process that this one started
    options = parser.parse_args()
    if options.look:
        look = next(look for look in LOOKS if look.name == options.look)
        photograph(look, options.workspace, options.out, options.only)
        return
    with tempfile.TemporaryDirectory() as scratch:
        workspace = options.workspace or Path(scratch) / "workspace"
        if not (workspace / "workspace.db").exists():
            train(workspace, options.data)
        for look in (look for look in LOOKS if look.name in options.looks):
            env = os.environ | {
                "QT_SCALE_FACTOR": look.scale,
                "WORKBENCH_SETTINGS": str(Path(scratch) / f"{look.name}.ini"),
                "PYTHONPATH": str(Path(__file__).parents[1]),
            }
            if not any(name in env for name in ("QT_QPA_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY")):
                env["QT_QPA_PLATFORM"] = "offscreen"
            only = ["--only", *options.only] if options.only else []
            command = [sys.executable, __file__, str(options.out), "--workspace", str(workspace), "--look", look.name]
            if status := subprocess.run([*command, *only], check=False, env=env).returncode:
                sys.exit(status)


if __name__ == "__main__":
    main()
