"""The map as a picture, a drawing or a table."""

from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QRectF
from PySide6.QtGui import QPainter
from PySide6.QtSvg import QSvgGenerator

from workbench import files
from workbench.problem import Problem
from workbench.reports.tables import csv_text
from workbench.ui.pages.map.canvas import MapCanvas
from workbench.ui.pages.map.map_data import MapData

FORMATS = {"png": "Picture (PNG)", "svg": "Drawing (SVG)", "csv": "Coordinates (CSV)"}


def write(path: Path, canvas: MapCanvas, data: MapData) -> None:
    """Write by the ending of `path`. Raises Problem: unknown ending, or a place that cannot be written."""
    match path.suffix.lower():
        case ".png":
            content = _png(canvas)
        case ".svg":
            content = _svg(canvas)
        case ".csv":
            content = _csv(data).encode()
        case other:
            raise Problem(
                f"A map cannot be written as {other or 'a file without ending'}.", todo="Use .png, .svg or .csv."
            )
    with files.atomic_write(path) as file:
        file.write(content)


def _png(canvas: MapCanvas) -> bytes:
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    canvas.grab().save(buffer, "PNG")
    return bytes(data.data())


def _svg(canvas: MapCanvas) -> bytes:
    data = QByteArray()
    buffer = QBuffer(data)
    drawing = QSvgGenerator()
    drawing.setOutputDevice(buffer)
    drawing.setSize(canvas.size())
    drawing.setViewBox(QRectF(canvas.rect()))
    drawing.setTitle("Map of the test embeddings")
    painter = QPainter(drawing)
    canvas.render(painter)
    painter.end()
    return bytes(data.data())


def _csv(data: MapData) -> str:
    rows = []
    for row in range(len(data.ids)):
        label = int(data.labels[row])
        name = data.class_names[label] if label < len(data.class_names) else str(label)
        x, y = data.points[row].tolist()
        rows.append(["image", int(data.ids[row]), name, x, y, float(data.ap[row])])
    for (x, y), label in zip(
        [] if data.proxies is None else data.proxies.tolist(), data.proxy_labels.tolist(), strict=False
    ):
        rows.append(["proxy", "", data.class_names[label] if label < len(data.class_names) else str(label), x, y, ""])
    return csv_text(["kind", "sample_id", "class", "x", "y", "ap"], rows)
