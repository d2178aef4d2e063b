"""One HTML file with everything inside: no network, and no script but the one that enlarges its pictures."""

import base64
from functools import lru_cache
from hashlib import sha256

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from workbench.files.resources import resources
from workbench.reports.content.run_content import percent
from workbench.reports.figures.drawing import Drawing
from workbench.reports.formats.line_breaks import BREAK, breakable
from workbench.reports.formats.thumbnails import thumbnail
from workbench.reports.writing.blocks import Document


def page(document: Document) -> str:
    """The whole report as one HTML text; figures and images are data URIs.

    Its policy allows the one script that comes with it, by hash, and nothing else to run or load.
    """
    folder = resources() / "templates"
    script = (folder / "report.js").read_text("utf-8")
    return (
        _environment()
        .get_template("report.html")
        .render(
            document=document,
            figures={name: _drawing(drawn) for name, drawn in document.drawings.items()},
            picture=_picture,
            style=Markup((folder / "report.css").read_text("utf-8")),
            script=Markup(script),
            script_hash=base64.b64encode(sha256(script.encode()).digest()).decode(),
        )
    )


@lru_cache(maxsize=1)
def _environment() -> Environment:
    """The templates, read once."""
    environment = Environment(
        loader=FileSystemLoader(resources() / "templates"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters["percent"] = percent
    environment.filters["breakable"] = _breakable
    environment.tests["kind"] = lambda block, name: type(block).__name__ == name
    return environment


def _drawing(drawn: Drawing) -> str:
    return _data_uri(drawn.encode("svg"), "svg+xml") if drawn.laid_out else ""


def _breakable(text: str) -> Markup:
    """A cell whose long names may go on in the next line between their parts."""
    return Markup("<wbr>").join(breakable(text).split(BREAK))


def _picture(image: np.ndarray | None) -> str:
    if image is None:
        return ""
    data, kind = thumbnail(image)
    return _data_uri(data, kind)


def _data_uri(data: bytes, kind: str) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"
