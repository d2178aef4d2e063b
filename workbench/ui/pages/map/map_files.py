"""The map, or two side by side, as PNG, SVG or PDF on white, or as a CSV table."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PySide6.QtCore import QBuffer, QByteArray, QMarginsF, QRect, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QImage, QImageWriter, QPageSize, QPainter, QPdfWriter
from PySide6.QtSvg import QSvgGenerator

from workbench.files.spreadsheet import csv_text
from workbench.problem import Problem
from workbench.ui.pages.map.drawing.canvas import MapCanvas
from workbench.ui.pages.map.model.groups import Groups
from workbench.ui.pages.map.model.map_data import MapData
from workbench.ui.pages.map.points.cloud import SHAPES_UP_TO
from workbench.ui.plots.export import well_formed
from workbench.ui.style import theme

FORMATS = {"png": "PNG", "svg": "SVG", "pdf": "PDF", "csv": "Coordinates (CSV)"}
FINE = 2  # pixels of a PNG per pixel on screen, along each side
CAPTION = 36  # px under the map, for two lines; more where a caption needs more
MARGIN, GAP = 8, 12  # px: beside a caption, and between two maps


@dataclass(frozen=True, slots=True, eq=False)
class Sheet:
    """A map as it is exported, and its caption."""

    canvas: MapCanvas
    caption: str

    @property
    def words(self) -> str:
        """The caption, which also says if the points of a vector file are drawn as a picture."""
        if self.canvas.cloud.vector and self.canvas.in_view() > SHAPES_UP_TO:
            return f"{self.caption}   ·   points as a picture: too many for vector shapes"
        return self.caption


def check_ending(path: Path) -> str:
    """The ending of a path: "png", "svg", "pdf" or "csv". Raises Problem for any other ending."""
    ending = path.suffix.lower().removeprefix(".")
    if ending not in FORMATS:
        raise Problem(
            f"A map cannot be written as {path.suffix or 'a file without ending'}.",
            todo="Use .png, .svg, .pdf or .csv.",
        )
    return ending


def on_paper(shown: MapCanvas, groups: Groups, height: int | None = None) -> MapCanvas:
    """A new canvas with the content of `shown`, in the colours of the light theme.

    Args:
        height: px; that of `shown` unless given.
    """
    paper = MapCanvas()
    paper.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
    paper.resize(shown.width(), shown.height() if height is None else height)
    paper.show()  # Qt lays out only what is shown
    paper.set_tokens(theme.LIGHT)
    paper.show_look(shown.look_shown)
    assert shown.data is not None
    paper.show_data(shown.data, groups, shown.hidden)
    paper.set_selected(shown.cloud.selected)
    paper.show_pictures(shown.thumbnails.loader)
    paper.contours.show(shown.contours.shown)
    paper.marks.take_trails(shown.marks)
    paper.box.setRange(shown.box.viewRect(), padding=0)
    return paper


def png(*sheets: Sheet) -> bytes:
    """The maps with their captions, at twice the size on screen."""
    size = _size(sheets)
    image = QImage(size * FINE, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(FINE)
    image.fill(QColor(theme.LIGHT.plot_background))
    painter = QPainter(image)
    _render(painter, sheets)
    painter.end()
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    QImageWriter(buffer, QByteArray(b"png")).write(image)
    return bytes(data.data())


def svg(*sheets: Sheet) -> bytes:
    """The maps with their captions as vector shapes; too many points for shapes are embedded as a picture."""
    _as_shapes(sheets)
    size = _size(sheets)
    data = QByteArray()
    buffer = QBuffer(data)
    drawing = QSvgGenerator()
    drawing.setOutputDevice(buffer)
    drawing.setSize(size)
    drawing.setViewBox(QRectF(0, 0, size.width(), size.height()))
    drawing.setTitle("Map of the test embeddings")
    drawing.setDescription("; ".join(sheet.caption for sheet in sheets))
    painter = QPainter(drawing)
    _render(painter, sheets)
    painter.end()
    return well_formed(bytes(data.data()))


def pdf(*sheets: Sheet) -> bytes:
    """The same as `svg`, on a page of the same size: one point (1/72 inch) for each pixel on screen."""
    _as_shapes(sheets)
    size = _size(sheets)
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    page = QPdfWriter(buffer)
    page.setTitle("Map of the test embeddings")
    page.setResolution(72)  # one pixel on screen is one point (1/72 inch)
    page.setPageSize(QPageSize(QSizeF(size.width(), size.height()), QPageSize.Unit.Point))
    page.setPageMargins(QMarginsF(0, 0, 0, 0))
    painter = QPainter(page)
    _render(painter, sheets)
    painter.end()
    buffer.close()
    return bytes(data.data())


def _as_shapes(sheets: Sequence[Sheet]) -> None:
    for sheet in sheets:
        sheet.canvas.cloud.vector = True


def _font() -> QFont:
    font = QFont()
    font.setPixelSize(theme.CAPTION_PX)
    return font


def _size(sheets: Sequence[Sheet]) -> QSize:
    """The size of maps of equal height side by side, with room below for the longest of their captions."""
    width = sum(sheet.canvas.width() for sheet in sheets) + GAP * (len(sheets) - 1)
    metrics = QFontMetrics(_font())
    room = [QRect(0, 0, sheet.canvas.width() - 2 * MARGIN, 10_000) for sheet in sheets]
    words = zip(room, sheets, strict=True)
    needed = max(metrics.boundingRect(space, Qt.TextFlag.TextWordWrap, sheet.words).height() for space, sheet in words)
    return QSize(width, max(sheet.canvas.height() for sheet in sheets) + max(CAPTION, needed + MARGIN))


def _render(painter: QPainter, sheets: Sequence[Sheet]) -> None:
    size, left = _size(sheets), 0
    for sheet in sheets:
        paper = sheet.canvas
        painter.save()
        paper.render(painter, QRectF(left, 0, paper.width(), paper.height()), paper.rect())
        painter.restore()
        painter.setFont(_font())
        painter.setPen(QColor(theme.LIGHT.muted))
        below = QRectF(left + MARGIN, paper.height(), paper.width() - 2 * MARGIN, size.height() - paper.height())
        painter.drawText(below, int(Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextWordWrap), sheet.words)
        left += paper.width() + GAP


def table(*maps: tuple[str, MapData]) -> bytes:
    """A CSV table with one row for each image and class vector: kind, sample_id, class, x, y, ap. Safe on any thread.

    Maps of three dimensions have z after y; the coordinates do not depend on the view.

    Args:
        maps: name and data of each; with several maps, each row begins with the name of its map.
    """
    axes = "xyz" if any(data.space is not None for _, data in maps) else "xy"
    head = ["kind", "sample_id", "class", *axes, "ap"]
    if len(maps) == 1:
        return csv_text(head, _rows(maps[0][1], len(axes))).encode()
    rows = [[name, *row] for name, data in maps for row in _rows(data, len(axes))]
    return csv_text(["map", *head], rows).encode()


def _rows(data: MapData, axes: int) -> list[list[object]]:
    points, proxies = (data.points, data.proxies) if data.space is None else (data.space.points, data.space.proxies)
    blank = [""] * (axes - points.shape[1])
    rows: list[list[object]] = [
        ["image", sample, data.class_name(label), *place, *blank, "" if np.isnan(ap) else ap]
        for sample, label, place, ap in zip(
            data.ids.tolist(), data.labels.tolist(), points.tolist(), data.ap.tolist(), strict=True
        )
        if np.isfinite(place).all()
    ]
    if proxies is not None:
        rows += [
            ["class vector", "", data.class_name(label), *place, *blank, ""]
            for label, place in zip(data.proxy_labels.tolist(), proxies.tolist(), strict=True)
            if np.isfinite(place).all()
        ]
    return rows
