"""The changes of query images that are measured: their names, strengths and sources. Light to import."""

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.names import nearest_first
from workbench.numerals import percentage
from workbench.problem import UnknownName

PAPER = "Hendrycks and Dietterich (2019)"
OWN = "Workbench 2026"
REFERENCE_SIDE = 224  # px of the network's input for which PAPER states lengths in pixels


@dataclass(frozen=True, slots=True)
class Change:
    """One way to change an image, the weakest strength first."""

    name: str
    title: str
    strengths: tuple[float, ...]
    form: str  # how a strength is written: "quality {}"
    source: str  # of the strengths
    does: str  # a sentence
    is_share: bool = False  # whether a strength is a share, and so written in percent
    of_colour: bool = False  # whether it leaves grey images as they are

    def words(self, level: int) -> str:
        """A strength in words; `level` counts from 0."""
        strength = self.strengths[level]
        return self.form.format(percentage(strength, 0) if self.is_share else f"{strength:g}")


CHANGES = (
    Change(
        "jpeg", "JPEG", (25, 18, 15, 10, 7), "quality {}", PAPER,
        "The image is stored as JPEG of this quality and read again.",
    ),
    Change(
        "blur", "Gaussian blur", (1, 2, 3, 4, 6), "σ {} px", PAPER,
        "The image is blurred; σ is for a network input of 224 px and is scaled for others.",
    ),
    Change(
        "noise", "Gaussian noise", (0.08, 0.12, 0.18, 0.26, 0.38), "σ {}", PAPER,
        "Noise is added to each value; black is 0 and white is 1.",
    ),
    Change(
        "bright", "Brighter", (0.1, 0.2, 0.3, 0.4, 0.5), "V + {}", PAPER,
        "V of hue, saturation and value is raised; 1 is the highest.",
    ),
    Change(
        "contrast", "Less contrast", (0.4, 0.3, 0.2, 0.1, 0.05), "× {}", PAPER,
        "The difference of each value to the mean of its channel is multiplied.",
    ),
    Change(
        "pixelate", "Pixelate", (0.6, 0.5, 0.4, 0.3, 0.25), "{} of side", PAPER,
        "The image is made smaller by averaging pixels, and enlarged again without smoothing.", is_share=True,
    ),
    Change(
        "dark", "Darker", (0.8, 0.6, 0.4, 0.25, 0.15), "× {}", OWN,
        "Each value is multiplied; detail that 8 bits cannot hold is lost.",
    ),
    Change(
        "rotate", "Rotated", (5, 10, 20, 30, 45), "{}°", OWN,
        "The image is turned to the left or the right, at random; its mean colour fills the corners.",
    ),
    Change(
        "crop", "Crop off the centre", (0.9, 0.8, 0.7, 0.6, 0.5), "{} of side", OWN,
        "One corner of the image, chosen at random, is cut out and enlarged.", is_share=True,
    ),
    Change(
        "cover", "Grey square", (0.2, 0.3, 0.4, 0.5, 0.6), "{} of side", OWN,
        "A grey square covers a part of the image, at a random place.", is_share=True,
    ),
    Change(
        "colour", "Less colour", (0.75, 0.5, 0.25, 0), "{} colour", OWN,
        "The image is mixed with its grey image; with 0% it is grey.", is_share=True, of_colour=True,
    ),
)  # fmt: skip
NAMES = tuple(change.name for change in CHANGES)


def change_named(name: str) -> Change:
    """The change with this name. Raises UnknownName."""
    for change in CHANGES:
        if change.name == name:
            return change
    listed = ", ".join(nearest_first(name, NAMES))
    raise UnknownName(f"There is no change named {name!r}.", todo=f"Known: {listed}.")


def suitable(channels: int, names: Sequence[str] = ()) -> list[Change]:
    """The named changes in the order of CHANGES, or all that change images of so many channels.

    Raises:
        UnknownName: there is no such change, or it leaves these images as they are.
    """
    if not names:
        return [change for change in CHANGES if channels != 1 or not change.of_colour]
    wanted = {change_named(name) for name in names}
    for change in wanted:
        if channels == 1 and change.of_colour:
            what = f"{change.title} leaves these images as they are: they are grey."
            raise UnknownName(what, kept="Nothing was measured.", todo="Leave it out.")
    return [change for change in CHANGES if change in wanted]
