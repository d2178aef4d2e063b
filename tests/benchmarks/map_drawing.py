"""Frames of the map: pan, zoom, pictures, recolour, hide, select and hover, offscreen in a 1200 x 800 canvas.

    python tests/benchmarks/map_drawing.py [--points 60502 120053 1000000] [--classes 50] [--frames 40] [--plain]

Every figure is the median over the frames, then the slowest in brackets, in ms of wall time, then the median of
processor time of the process. The window draws on the processor alone; as in the window, SciPy is loaded before.
--plain also shows the same points as one pyqtgraph ScatterPlotItem of the same size.
"""

import argparse
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from time import perf_counter, process_time

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QObject, QPointF, Qt, Signal
from PySide6.QtGui import QColor, QPixmap
from PySide6.QtWidgets import QApplication

from workbench.colours import class_colours
from workbench.projection import islands
from workbench.ui.pages.map.colours.colouring import grouped
from workbench.ui.pages.map.drawing.canvas import MapCanvas
from workbench.ui.pages.map.drawing.thumbnails import SIDE
from workbench.ui.pages.map.model.map_data import MapData
from workbench.ui.pages.map.model.map_model import Look
from workbench.ui.pages.map.model.spatial import PointIndex
from workbench.ui.state.selection.sample_rows import SampleRows
from workbench.ui.style import theme

WIDTH, HEIGHT = 1200, 800


class Pictures(QObject):
    """Has a picture of every sample at once: only placing and drawing them is timed."""

    ready = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.grey = QPixmap(SIDE, SIDE)
        self.grey.fill(QColor("#808080"))

    def pixmap(self, sample_id: int, size: int) -> QPixmap:
        return self.grey

    def request(self, place: str, sample_ids: list[int], size: int) -> None: ...


def drawn(count: int, classes: int) -> MapData:
    """Points around as many centres as there are classes, in the order of their classes, as data sets list them."""
    rng = np.random.default_rng(0)
    labels = np.sort(rng.integers(0, classes, count))
    points = (rng.normal(scale=4, size=(classes, 2))[labels] + rng.normal(size=(count, 2))).astype(np.float32)
    names = tuple(f"class {each}" for each in range(classes))
    ap = rng.random(count).astype(np.float32)
    ids = rng.permutation(2**52 // count * np.arange(count))
    return MapData(points, None, np.empty(0, np.int64), ids, labels, ap, ap > 0.3, names, "drawn")


def timed(name: str, steps: Iterator[Callable[[], object]]) -> None:
    walls, works = [], []
    for step in steps:
        wall, work = perf_counter(), process_time()
        step()
        walls.append(1e3 * (perf_counter() - wall))
        works.append(1e3 * (process_time() - work))
    print(f"  {name:28} {np.median(walls):7.1f}  ({max(walls):7.1f})   {np.median(works):7.1f}", flush=True)


def shown(view: pg.GraphicsView) -> None:
    """Show the canvas: nothing is painted before."""
    view.show()
    while not view.windowHandle().isExposed():
        QApplication.processEvents()


def moves(view: pg.GraphicsView, box: pg.ViewBox, frames: int) -> None:
    """Pan to and fro, zoom in and out, one frame painted after each step."""

    def then_paint(move: Callable[[], object]) -> Callable[[], object]:
        def step() -> None:
            move()
            view.viewport().repaint()

        return step

    def pan(step: int) -> None:
        wide, tall = box.viewRect().width() / WIDTH, box.viewRect().height() / HEIGHT
        way = 1 if step < frames / 2 else -1
        box.translateBy(x=12 * wide * way, y=5 * tall * way)

    view.viewport().repaint()
    timed("pan, all in view", (then_paint(lambda s=s: pan(s)) for s in range(frames)))
    timed(
        "zoom in 8 times and out",
        (then_paint(lambda s=s: box.scaleBy([8 ** ((1, -1)[s < frames / 2] * 2 / frames)] * 2)) for s in range(frames)),
    )
    for near in (4, 30):
        box.scaleBy([1 / near] * 2)
        view.viewport().repaint()
        timed(f"pan, {near} times nearer", (then_paint(lambda s=s: pan(s)) for s in range(frames)))
        box.scaleBy([near] * 2)


def ours(data: MapData, frames: int) -> None:
    islands.load()
    canvas = MapCanvas()
    canvas.resize(WIDTH, HEIGHT)
    began, work = perf_counter(), process_time()
    data = replace(data, index=PointIndex(data.points))
    print(f"  {'index, on a thread':28} {1e3 * (perf_counter() - began):7.1f}  {1e3 * (process_time() - work):20.1f}")
    began, work = perf_counter(), process_time()
    canvas.show_data(data, grouped(data, "class", theme.LIGHT))
    canvas.fit()
    shown(canvas)
    canvas.fit()
    canvas.viewport().repaint()
    print(f"  {'first picture':28} {1e3 * (perf_counter() - began):7.1f}  {1e3 * (process_time() - work):20.1f}")

    def settle() -> None:
        canvas.cloud.set_look(canvas.cloud.size, canvas.cloud.opacity)
        canvas.viewport().repaint()

    timed("at rest, drawn anew", (settle for _ in range(frames)))
    moves(canvas, canvas.box, frames)

    with_pictures(canvas, frames)

    def recolour(step: int) -> None:
        canvas.show_data(data, grouped(data, ("class", "verdict", "ap")[step % 3], theme.LIGHT))
        canvas.viewport().repaint()

    timed("recolour", (lambda s=s: recolour(s) for s in range(1, 10)))
    groups = grouped(data, "class", theme.LIGHT)
    canvas.show_data(data, groups)

    def hide(step: int) -> None:
        canvas.set_hidden(frozenset(range(step % len(groups.names))))
        canvas.viewport().repaint()

    timed("hide classes", (lambda s=s: hide(s) for s in range(1, 10)))
    canvas.set_hidden(frozenset())
    found: list[np.ndarray] = []
    by_id = SampleRows(data.ids)
    canvas.selected.connect(lambda rows, _: found.append(rows))
    angles = np.linspace(0, 2 * np.pi, 200)
    lasso = np.stack([np.cos(angles), np.sin(angles)], 1)

    def select(step: int) -> None:
        canvas.box.outlined((1 + step) * lasso, Qt.KeyboardModifier.NoModifier)
        ids = by_id.changed(data.ids[:0], found[-1], "replace")
        canvas.set_selected(by_id.among(ids))
        canvas.viewport().repaint()

    timed("lasso, select and show", (lambda s=s: select(s) for s in range(9)))
    print(f"    the last lasso held {len(found[-1]):,}")
    rng = np.random.default_rng(1)
    places = [QPointF(*at) for at in (rng.random((50, 2)) * (WIDTH, HEIGHT)).tolist()]
    timed("hover", (lambda at=at: canvas.row_at(at) for at in places))
    canvas.close()


def with_pictures(canvas: MapCanvas, frames: int) -> None:
    """Pan where the view is so near that pictures replace their points."""
    pictures = Pictures()
    canvas.show_pictures(pictures)
    wide, near = canvas.box.viewRect(), 1.0
    while not len(canvas.thumbnails.rows) and near < 1e4:
        near *= 1.5
        canvas.box.scaleBy([1 / 1.5] * 2)
        canvas.viewport().repaint()
    seen: list[int] = []

    def pan(step: int) -> None:
        pixel = canvas.box.viewRect().width() / WIDTH
        canvas.box.translateBy(x=12 * pixel * (1 if step < frames / 2 else -1), y=0)
        canvas.viewport().repaint()
        seen.append(len(canvas.thumbnails.rows))

    timed(f"pan with pictures, {near:.0f} times", (lambda s=s: pan(s) for s in range(frames)))
    print(f"    {int(np.median(seen)):,} pictures in view")
    canvas.show_look(Look(pictures=False))
    canvas.box.setRange(wide, padding=0)
    canvas.viewport().repaint()


def plain(data: MapData, classes: int, frames: int) -> None:
    view, box = pg.GraphicsView(), pg.ViewBox(lockAspect=True)
    view.setCentralItem(box)
    view.resize(WIDTH, HEIGHT)
    began = perf_counter()
    brushes = [pg.mkBrush(QColor.fromRgba(int(ink))) for ink in class_colours(classes, False)]
    inks = [brushes[label] for label in data.labels.tolist()]
    scatter = pg.ScatterPlotItem(data.points[:, 0], data.points[:, 1], size=3, pen=None, brush=inks)
    box.addItem(scatter)
    shown(view)
    view.viewport().repaint()
    print(f"  {'first picture':28} {1e3 * (perf_counter() - began):7.1f}")
    moves(view, box, frames)
    view.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, nargs="+", default=[60_502, 120_053, 1_000_000])
    for name, default in (("classes", 50), ("frames", 40), ("plain-frames", 6)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--plain", action="store_true")
    args = parser.parse_args()
    application = QApplication([])
    for count in args.points:
        data = drawn(count, args.classes)
        print(f"Workbench, {count:,} points")
        ours(data, args.frames)
        if args.plain:
            print(f"pyqtgraph, {count:,} points")
            plain(data, args.classes, args.plain_frames)
    application.quit()


if __name__ == "__main__":
    main()
