"""Parameters that several data sets share: where one is stored, and how its images are read."""

from typing import Any

from workbench.params import param


def stored_at(help: str, label: str = "Folder or archive", *, optional: bool = False) -> Any:
    """A folder or an archive; empty by default."""
    return param("", label=label, path="place", help=help, optional=optional)


def side_of_square(default: int, *, originals: int, largest: int = 256) -> Any:
    """The side of images that are squares of `originals` px as published."""
    help = f"Side of the images; the originals have {originals}."
    return param(default, ge=8, le=largest, label="Image size", unit="px", help=help)


def short_side() -> Any:
    """The side to which one's own images are brought."""
    help = "Short side after resizing; then the centre square."
    return param(128, ge=8, le=1024, label="Image size", unit="px", help=help)


def colours() -> Any:
    """Whether images are read in colour: of type Literal["colour", "grey"]."""
    return param("colour", help="Three channels or one.")


def bits_used() -> Any:
    """How many bits the values of 16-bit grey files have."""
    help = "That 16-bit grey files use: 12 for most microscopes and X-ray detectors. Brighter values become white."
    return param(16, ge=8, le=16, label="Bits of 16-bit files", unit="bits", help=help)
