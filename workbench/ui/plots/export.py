"""A curve plot as PNG or SVG, on white with title and legend, or as CSV. A file is written as a whole or not at all."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QIODevice, QRect, QRectF, QSaveFile, QSize, Qt, SignalInstance
from PySide6.QtGui import QColor, QFont, QFontMetrics, QImage, QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QFileDialog, QWidget

from workbench.problem import Problem
from workbench.ui.style import theme

FILE_KINDS = "PNG (*.png);;SVG (*.svg);;CSV (*.csv)"

if TYPE_CHECKING:
    from workbench.ui.plots.curve_plot import CurvePlot

HEAD = 52  # px above the curves: title and legend
SCALE = 2  # pixels of the picture per pixel of the screen


def ask_place(parent: QWidget, title: str) -> Path | None:
    """Ask for the file of a plot, with the ending of the chosen format; None if the user cancels."""
    name = "".join(letter if letter.isalnum() else "-" for letter in title.lower())[:60]
    file_name, chosen = QFileDialog.getSaveFileName(parent, "Save plot", f"{name}.png", FILE_KINDS)
    if not file_name:
        return None
    path = Path(file_name)
    if path.suffix.lower() not in (".png", ".svg", ".csv"):
        path = path.with_name(path.name + "." + chosen.partition(" ")[0].lower())
    return path


def save_and_tell(save: Callable[[Path], None], path: Path, announced: SignalInstance) -> None:
    """Save a plot to a path; `announced` emits where it was written, or the Problem."""
    try:
        save(path)
    except Problem as problem:
        announced.emit(problem)
    else:
        announced.emit(f"The plot was written to {path}.")


def picture(plot: "CurvePlot") -> QImage:
    """The plot on white, at twice the size it has on the screen."""
    size = _size(plot)
    image = QImage(size * SCALE, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.white)
    painter = QPainter(image)
    painter.scale(SCALE, SCALE)
    _paint(plot, painter, size)
    painter.end()
    return image


def save_png(plot: "CurvePlot", path: Path) -> None:
    """Write the plot as PNG. Raises Problem if it cannot be written."""
    file = _opened(path)
    written = picture(plot).save(file, "PNG")  # type: ignore[call-overload]
    _close(file, path, bool(written))


def save_svg(plot: "CurvePlot", path: Path) -> None:
    """Write the plot as SVG. Raises Problem if it cannot be written."""
    file = _opened(path)
    size = _size(plot)
    generator = QSvgGenerator()
    generator.setOutputDevice(file)
    generator.setSize(size)
    generator.setViewBox(QRect(0, 0, size.width(), size.height()))
    generator.setTitle(plot.title)
    painter = QPainter(generator)
    _paint(plot, painter, size)
    _close(file, path, painter.end())


def save_csv(plot: "CurvePlot", path: Path) -> None:
    """Write the numbers as CSV, with all digits. Raises Problem if it cannot be written."""
    file = _opened(path)
    content = QByteArray(plot.table().csv().encode())
    _close(file, path, file.write(content) == content.size())


def _size(plot: "CurvePlot") -> QSize:
    return QSize(plot.canvas.width(), plot.canvas.height() + HEAD)


def _paint(plot: "CurvePlot", painter: QPainter, size: QSize) -> None:
    light = theme.LIGHT
    font = QFont(plot.font())
    font.setPixelSize(13)
    painter.setFont(font)
    painter.setPen(QColor(light.text))
    painter.drawText(QRectF(8, 4, size.width() - 16, 20), Qt.AlignmentFlag.AlignVCenter, plot.title)
    left = 8
    for series in plot.shown():
        painter.fillRect(left, 37, 14, 3, QColor(series.colour))
        painter.drawText(QRectF(left + 18, 28, 200, 20), Qt.AlignmentFlag.AlignVCenter, series.title)
        left += 34 + QFontMetrics(font).horizontalAdvance(series.title)
    plot.canvas.point_at(None)
    plot.canvas.apply(light)
    try:
        plot.canvas.render(painter, QRectF(0, HEAD, size.width(), size.height() - HEAD), plot.canvas.rect())
    finally:
        plot.canvas.apply(theme.current())


def _opened(path: Path) -> QSaveFile:
    file = QSaveFile(str(path))
    if not file.open(QIODevice.OpenModeFlag.WriteOnly):
        raise _problem(path, file)
    return file


def _close(file: QSaveFile, path: Path, written: bool) -> None:
    if not written:
        file.cancelWriting()
    if not file.commit():
        raise _problem(path, file)


def _problem(path: Path, file: QSaveFile) -> Problem:
    return Problem(f"{path} cannot be written: {file.errorString()}.", todo="Choose another folder.")
