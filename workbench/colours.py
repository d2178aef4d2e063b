"""Colours that window and reports share, so that a class or a group looks the same in both."""

from collections.abc import Sequence

import numpy as np

OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#F0E442", "#000000")
BESIDE_THEM = ("#6F3FB0", "#A11D3D", "#5F7000", "#87572A")  # violet, crimson, olive, brown: unlike all of these
OF_RUNS = OKABE_ITO[:6]  # black and yellow cannot be seen on one of the two themes
NEUTRAL = "#8A8F98"  # on both themes: a seventh class, and samples without a score
GOLDEN = 0.618034


def rgb(*colours: str) -> np.ndarray:
    """Colours "#RRGGBB" as 0xFFRRGGBB, uint32 [g]."""
    return np.array([0xFF000000 | int(colour[1:], 16) for colour in colours], np.uint32)


def told_apart(wanted: Sequence[int]) -> list[int]:
    """Indices into OF_RUNS for groups with these colour indices (modulo the palette), so that groups look different.

    A group keeps its own colour unless an earlier group has it. It then gets one that the fewest groups have: a colour
    that is no group's own, as long as there is one. Twelve groups have each of the six colours twice.
    """
    own = [index % len(OF_RUNS) for index in wanted]
    groups = [int(index in own) for index in range(len(OF_RUNS))]  # that have each colour, its owner counted already
    seen: set[int] = set()
    places = []
    for index in own:
        place = index if index not in seen else groups.index(min(groups))
        groups[place] += index in seen
        seen.add(index)
        places.append(place)
    return places


def class_colours(count: int, dark: bool = False) -> np.ndarray:
    """Okabe-Ito for up to 7 classes; for more, hues that differ strongly from one class to the next. uint32 [count]."""
    if count <= 7:
        return rgb(*OKABE_ITO[:6], NEUTRAL)[:count]
    number = np.arange(count)
    light = np.array((0.62, 0.72, 0.52) if dark else (0.45, 0.36, 0.55))[number % 3]
    return _from_hsl(number * GOLDEN % 1, 0.75, light)


def _from_hsl(hue: np.ndarray, saturation: float, light: np.ndarray) -> np.ndarray:
    """Hue, saturation and lightness in 0..1 as 0xFFRRGGBB."""
    reach = saturation * np.minimum(light, 1 - light)
    colours = np.full(len(hue), 0xFF, np.uint32)
    for start in (0, 8, 4):  # red, green, blue
        turn = (start + hue * 12) % 12
        channel = light - reach * np.clip(np.minimum(turn - 3, 9 - turn), -1, 1)
        colours = colours << np.uint32(8) | np.rint(channel * 255).astype(np.uint32)
    return colours
