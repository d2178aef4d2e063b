"""`python -m workbench.datasets.cache.decode_server`: a process that decodes files; decode_processes.py asks it."""

import json
from pathlib import Path
from typing import Any

from workbench.datasets.cache.decode_processes import read_rows
from workbench.datasets.cache.encoded_images import Encoded
from workbench.datasets.cache.pixels import Squares
from workbench.datasets.images.image_files import ImageFiles
from workbench.jobs import Request, serve_bytes


def answered(request: Request) -> bytes:
    """What is sent back: a line of JSON on the images, then those that are kept."""
    part: dict[str, Any] = request["files"]
    files = ImageFiles(**part | {"root": Path(part["root"])})
    size, channels, side = request["form"]
    forms = {form.ending: form for form in (Squares(size, channels), Encoded(size, channels, side))}
    made = read_rows(files, range(len(files.paths)), forms[request["ending"]])
    return json.dumps({"facts": made.facts, "bad": made.bad}).encode() + b"\n" + made.payload


if __name__ == "__main__":
    serve_bytes(answered)
