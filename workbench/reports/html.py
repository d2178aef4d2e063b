"""One HTML file with everything inside: no script, no network, safe with any name."""

import base64
from io import BytesIO

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from PIL import Image

from workbench.reports import figures
from workbench.reports.content import NO_CURVES, NO_EVALUATION, Content, interval, percent
from workbench.reports.figures import Drawing
from workbench.reports.sections import SECTIONS
from workbench.resources_path import resources

SMALL, LARGE = 64, 160  # px: smaller images are enlarged pixel by pixel, larger ones made smaller


def page(content: Content, drawn: dict[str, Drawing]) -> str:
    """The whole report as one HTML text; figures and images are data URIs."""
    environment = Environment(
        loader=FileSystemLoader(resources() / "templates"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters["percent"] = percent
    return environment.get_template("report.html").render(
        content=content,
        titles=SECTIONS,
        drawn=drawn,
        figure=_figure,
        picture=_picture,
        interval=interval,
        no_evaluation=NO_EVALUATION,
        no_curves=NO_CURVES,
    )


def _figure(drawing: Drawing) -> str:
    return _data_uri(figures.encode(drawing, "svg"), "svg+xml")


def _picture(image: np.ndarray | None) -> str:
    if image is None:
        return ""
    out = BytesIO()
    shown = Image.fromarray(image)
    if shown.width < SMALL:
        shown = shown.resize((SMALL, SMALL), Image.Resampling.NEAREST)
        shown.save(out, "PNG", optimize=True)
        return _data_uri(out.getvalue(), "png")
    shown.thumbnail((LARGE, LARGE))
    shown.save(out, "JPEG", quality=88)
    return _data_uri(out.getvalue(), "jpeg")


def _data_uri(data: bytes, kind: str) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"
