"""A curve plot as PNG or SVG, on white with title and legend, or as CSV. A file is written as a whole or not at all."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QIODevice, QRect, QRectF, QSaveFile, QSize, Qt, SignalInstance
from PySide6.QtGui import QColor, QFont, QFontMetrics, QImage, QPainter, QPen
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QFileDialog, QWidget

from workbench import files
from workbench.problem import Problem
from workbench.ui.style import theme

FILE_KINDS = "PNG (*.png);;SVG (*.svg);;CSV (*.csv)"

if TYPE_CHECKING:
    from workbench.ui.plots.curve_plot import CurvePlot
    from workbench.ui.plots.items import Series

HEAD, LINE = 52, 20  # px above the curves: title and one line of the legend; each further line
SIDE, STROKE, BETWEEN = 8, 32, 16  # px: at both ends of a line, of a curve's stroke before its title, behind it
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
    return QSize(plot.canvas.width(), plot.canvas.height() + _head_px(plot))


def _head_px(plot: "CurvePlot") -> int:
    """Px above the curves: the title, and the whole legend in as many lines as the picture's width needs."""
    entries = _legend(plot)
    return HEAD + LINE * (entries[-1][2] if entries else 0)


def _legend(plot: "CurvePlot") -> list[tuple["Series", int, int]]:
    """The shown series, each with the px at which its entry begins and its line, from 0."""
    metrics, left, line = QFontMetrics(_font(plot)), SIDE, 0
    entries = []
    for series in plot.shown():
        width = STROKE + metrics.horizontalAdvance(series.title)
        if left > SIDE and left + width > plot.canvas.width() - SIDE:
            left, line = SIDE, line + 1
        entries.append((series, left, line))
        left += width + BETWEEN
    return entries


def _font(plot: "CurvePlot") -> QFont:
    font = QFont(plot.font())
    font.setPixelSize(13)
    return font


def _paint(plot: "CurvePlot", painter: QPainter, size: QSize) -> None:
    light, head = theme.LIGHT, _head_px(plot)
    painter.setFont(_font(plot))
    painter.setPen(QColor(light.text))
    painter.drawText(QRectF(SIDE, 4, size.width() - 2 * SIDE, 20), Qt.AlignmentFlag.AlignVCenter, plot.title)
    for series, left, line in _legend(plot):
        top = 28 + LINE * line
        painter.setPen(QPen(QColor(series.colour), 2, series.style))
        painter.drawLine(left, top + 10, left + STROKE - 4, top + 10)
        painter.setPen(QColor(light.text))
        room = QRectF(left + STROKE, top, size.width() - left - STROKE, 20)
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, series.title)
    plot.canvas.point_at(None)
    plot.canvas.apply(light)
    try:
        plot.canvas.render(painter, QRectF(0, head, size.width(), size.height() - head), plot.canvas.rect())
    finally:
        plot.canvas.apply(theme.current())


def _opened(path: Path) -> QSaveFile:
    files.check_place(path)
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
