"""The map as a picture or a drawing, on white for print, or as a table."""

from pathlib import Path

import numpy as np
from PySide6.QtCore import QBuffer, QByteArray, QMarginsF, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QImage, QImageWriter, QPageSize, QPainter, QPdfWriter
from PySide6.QtSvg import QSvgGenerator

from workbench import files
from workbench.problem import Problem
from workbench.spreadsheet import csv_text
from workbench.ui import theme
from workbench.ui.pages.map.canvas import MapCanvas
from workbench.ui.pages.map.cloud import SHAPES_UP_TO
from workbench.ui.pages.map.map_data import Groups, MapData

FORMATS = {"png": "Picture (PNG)", "svg": "Drawing (SVG)", "pdf": "Drawing (PDF)", "csv": "Coordinates (CSV)"}
FINE = 2  # pixels of a picture for one on screen
CAPTION = 36  # px under the map, for two lines


def check_ending(path: Path) -> str:
    """ "png", "svg", "pdf" or "csv". Raises Problem for any other ending."""
    ending = path.suffix.lower().removeprefix(".")
    if ending not in FORMATS:
        raise Problem(
            f"A map cannot be written as {path.suffix or 'a file without ending'}.",
            todo="Use .png, .svg, .pdf or .csv.",
        )
    return ending


def write(path: Path, content: bytes) -> None:
    """Write the whole file or nothing. Raises Problem when the place cannot be written."""
    with files.atomic_write(path) as file:
        file.write(content)


def on_paper(shown: MapCanvas, groups: Groups) -> MapCanvas:
    """A canvas of its own with what `shown` shows, in groups with the colours of the light theme."""
    paper = MapCanvas()
    paper.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
    paper.resize(shown.size())
    paper.show()  # Qt lays out only what is shown
    paper.set_tokens(theme.LIGHT)
    assert shown.data is not None
    paper.show_data(shown.data, groups, shown.hidden, fit=False)
    paper.set_selected(shown.cloud.selected)
    paper.show_pictures(shown.thumbnails.loader)
    paper.want_pictures(shown.thumbnails.wanted)
    paper.marks.proxies_shown = shown.marks.proxies_shown
    paper.box.setRange(shown.box.viewRect(), padding=0)
    return paper


def png(paper: MapCanvas, caption: str) -> bytes:
    """The map with its caption, at twice the size on screen."""
    size = paper.size() + QSize(0, CAPTION)
    image = QImage(size * FINE, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(FINE)
    image.fill(QColor(theme.LIGHT.plot_background))
    painter = QPainter(image)
    _render(painter, paper, caption)
    painter.end()
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    QImageWriter(buffer, QByteArray(b"png")).write(image)
    return bytes(data.data())


def svg(paper: MapCanvas, caption: str) -> bytes:
    """The map with its caption as shapes; points that are too many for shapes stand in it as a picture."""
    size = paper.size() + QSize(0, CAPTION)
    data = QByteArray()
    buffer = QBuffer(data)
    drawing = QSvgGenerator()
    drawing.setOutputDevice(buffer)
    drawing.setSize(size)
    drawing.setViewBox(QRectF(0, 0, size.width(), size.height()))
    drawing.setTitle("Map of the test embeddings")
    drawing.setDescription(caption)
    paper.cloud.vector = True
    painter = QPainter(drawing)
    _render(painter, paper, caption)
    painter.end()
    return bytes(data.data())


def pdf(paper: MapCanvas, caption: str) -> bytes:
    """The same as `svg`, on a page of its size, one point for a pixel on screen."""
    size = paper.size() + QSize(0, CAPTION)
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    page = QPdfWriter(buffer)
    page.setTitle("Map of the test embeddings")
    page.setResolution(72)  # painted as on screen: a unit is a point
    page.setPageSize(QPageSize(QSizeF(size.width(), size.height()), QPageSize.Unit.Point))
    page.setPageMargins(QMarginsF(0, 0, 0, 0))
    paper.cloud.vector = True
    painter = QPainter(page)
    _render(painter, paper, caption)
    painter.end()
    buffer.close()
    return bytes(data.data())


def _render(painter: QPainter, paper: MapCanvas, caption: str) -> None:
    if paper.cloud.vector and paper.in_view() > SHAPES_UP_TO:
        caption = f"{caption}   ·   points as a picture: too many for shapes"
    painter.save()
    paper.render(painter, QRectF(0, 0, paper.width(), paper.height()), paper.rect())
    painter.restore()
    font = QFont(painter.font())
    font.setPixelSize(theme.CAPTION_PX)
    painter.setFont(font)
    painter.setPen(QColor(theme.LIGHT.muted))
    line = QRectF(8, paper.height(), paper.width() - 16, CAPTION)
    painter.drawText(line, int(Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextWordWrap), caption)


def table(data: MapData) -> bytes:
    """One row for each image and each proxy: kind, sample_id, class, x, y, ap. Safe on any thread."""
    rows = [
        ["image", sample, data.class_name(label), x, y, "" if np.isnan(ap) else ap]
        for sample, label, (x, y), ap in zip(
            data.ids.tolist(), data.labels.tolist(), data.points.tolist(), data.ap.tolist(), strict=True
        )
    ]
    if data.proxies is not None:
        rows += [
            ["proxy", "", data.class_name(label), x, y, ""]
            for label, (x, y) in zip(data.proxy_labels.tolist(), data.proxies.tolist(), strict=True)
        ]
    return csv_text(["kind", "sample_id", "class", "x", "y", "ap"], rows).encode()
