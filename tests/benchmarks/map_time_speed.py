"""How long frames of a playing map, kept neighbours and the table of classes take, in processor time on one thread.

OMP_NUM_THREADS=1 QT_QPA_PLATFORM=offscreen python tests/benchmarks/map_time_speed.py
"""

from time import process_time

import numpy as np
from PySide6.QtWidgets import QApplication

from workbench.projection.exact import Exact
from workbench.projection.neighbourhoods import doubts, kept_share, map_neighbours
from workbench.results.class_geometry import class_shapes
from workbench.ui.pages.map.colours.colouring import grouped
from workbench.ui.pages.map.drawing.canvas import MapCanvas
from workbench.ui.pages.map.model.chain import Chain, Frame
from workbench.ui.pages.map.model.map_data import MapData

PICTURES, FRAMES, TRAILS = 20, 10, 300


def pictures(count: int) -> None:
    """Draw a chain of random maps of so many points, without and with trails."""
    rng = np.random.default_rng(0)
    labels, names = rng.integers(0, 100, count), tuple(str(each) for each in range(100))
    places = [rng.normal(size=(count, 2)).astype(np.float32) for _ in range(FRAMES)]
    ap, right = np.ones(count, np.float32), np.ones(count, bool)
    data = MapData(places[0], None, np.empty(0, np.int64), np.arange(count), labels, ap, right, names, "")
    frames = (Frame(at, at, at, points, None, ap, right, None) for at, points in enumerate(places))
    chain = Chain(data.ids, tuple(frames), FRAMES)
    canvas, groups, selected = MapCanvas(), grouped(data, "class"), np.arange(count) < TRAILS
    canvas.resize(1_100, 700)
    canvas.show()
    canvas.show_data(data, groups)
    canvas.fit()
    for trails in (0, TRAILS):
        times = []
        for step in range(PICTURES):
            place, started = step * 0.41, process_time()
            canvas.show_data(chain.moment(data, place), groups)
            if trails:
                canvas.marks.show_trails(np.arange(trails), chain.trails(np.arange(trails), place))
            canvas.grab()
            times.append(process_time() - started)
        print(f"{count:,} points, {trails} trails: {1e3 * np.median(times):.1f} ms a picture")
        canvas.set_selected(selected)


def classes(count: int, width: int, of: int) -> None:
    """Shapes of random classes with a proxy each."""
    rng = np.random.default_rng(0)
    labels, centres = np.sort(rng.integers(0, of, count)), rng.normal(size=(of, width)).astype(np.float32)
    vectors = centres[labels] + rng.normal(size=(count, width)).astype(np.float32)
    started = process_time()
    class_shapes(vectors, labels, (centres, np.arange(of)))
    print(f"classes of {count:,} x {width}, {of:,} classes: {process_time() - started:.1f} s")


def neighbourhoods(count: int, width: int) -> None:
    """Kept neighbours and doubtful groups of a random map."""
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(count, width)).astype(np.float32)
    started = process_time()
    true, (shown, farthest) = Exact(vectors).others(15)[0], map_neighbours(vectors[:, :2])
    kept_share(true, shown)
    doubts(vectors[:, :2], true, shown, farthest)
    print(f"kept neighbours and doubts of {count:,} x {width}: {process_time() - started:.1f} s")


if __name__ == "__main__":
    app = QApplication([])
    for number in (10_000, 60_502):
        pictures(number)
    classes(60_502, 512, 10)
    classes(60_502, 512, 11_316)
    neighbourhoods(10_000, 128)
    neighbourhoods(60_502, 512)
