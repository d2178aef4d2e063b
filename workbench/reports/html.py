"""One HTML file with everything inside: no script, no network, safe with any name."""

import base64
from io import BytesIO

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from matplotlib.figure import Figure
from PIL import Image

from workbench.reports import figures
from workbench.reports.content import Content, percent, points
from workbench.reports.sections import SECTIONS
from workbench.resources_path import resources

CAPTIONS = {
    "ce-spce": "CE and SPCE on the same fixed training images, in evaluation mode.",
    "retrieval": "Retrieval metrics on the test half at each evaluation.",
    "loss": "Loss of every batch (faint), its centred mean (bold), and the learning rate.",
    "map": "Each point is a test image; stars are class proxies.",
}


def page(content: Content, drawn: dict[str, Figure]) -> str:
    """The whole report as one HTML text; figures are inline, images are data URIs."""
    environment = Environment(
        loader=FileSystemLoader(resources() / "templates"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters["percent"] = percent
    environment.filters["points"] = points
    template = environment.get_template("report.html")
    return template.render(
        content=content,
        titles=SECTIONS,
        captions=CAPTIONS,
        figures={name: _drawing(figure) for name, figure in drawn.items() if name in CAPTIONS},
        picture=_picture,
    )


def _drawing(figure: Figure) -> str:
    return _data_uri(figures.encode(figure, "svg"), "svg+xml")


def _picture(image: np.ndarray | None) -> str:
    if image is None:
        return ""
    out = BytesIO()
    shown = Image.fromarray(image)
    if shown.width < 64:
        shown = shown.resize((64, 64), Image.Resampling.NEAREST)
        shown.save(out, "PNG", optimize=True)
        return _data_uri(out.getvalue(), "png")
    shown.thumbnail((160, 160))
    shown.save(out, "JPEG", quality=88)
    return _data_uri(out.getvalue(), "jpeg")


def _data_uri(data: bytes, kind: str) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"
