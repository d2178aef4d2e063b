"""Each change of an image does what it says, the same each time, and most at the last strength."""

import numpy as np
import pytest
from PIL import Image

from workbench.problem import UnknownName
from workbench.robustness.changing import GREY, changed
from workbench.robustness.kinds import CHANGES, OWN, PAPER, change_named, suitable

SIDE = 48


def photograph(channels=3, side=SIDE):
    """A smooth picture with edges and colours, uint8 [side, side, channels]."""
    rows, columns = np.mgrid[:side, :side] / side
    waves = [90 + 70 * np.sin(7 * rows + turn) + 60 * (columns > 0.4 + 0.1 * turn) for turn in range(channels)]
    return np.stack(waves, axis=2).clip(0, 255).astype(np.uint8)


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("change", CHANGES, ids=[change.name for change in CHANGES])
def test_a_change_is_the_same_each_time_and_largest_at_its_last_strength(change, channels):
    pixels = photograph(channels)
    before = pixels.copy()
    apart = []
    for level in range(len(change.strengths)):
        made = changed(pixels, change, level, 224, 7)
        assert (made.shape, made.dtype) == (pixels.shape, np.uint8)
        np.testing.assert_array_equal(made, changed(pixels, change, level, 224, 7))
        apart.append(np.abs(made.astype(int) - pixels).mean())
    np.testing.assert_array_equal(pixels, before)
    if channels == 1 and change.of_colour:
        assert apart == [0] * len(apart)
    else:
        assert 0 < apart[0] < apart[-1]


def test_the_strengths_of_the_paper_are_those_of_its_five_severities():
    of_paper = {change.name: change.strengths for change in CHANGES if change.source == PAPER}
    assert of_paper == {
        "jpeg": (25, 18, 15, 10, 7), "blur": (1, 2, 3, 4, 6), "noise": (0.08, 0.12, 0.18, 0.26, 0.38),
        "bright": (0.1, 0.2, 0.3, 0.4, 0.5), "contrast": (0.4, 0.3, 0.2, 0.1, 0.05),
        "pixelate": (0.6, 0.5, 0.4, 0.3, 0.25),
    }  # fmt: skip
    assert {change.source for change in CHANGES} == {PAPER, OWN}
    assert all(3 <= len(change.strengths) <= 5 for change in CHANGES)


def test_what_is_drawn_is_drawn_for_each_image():
    pixels = photograph()
    places = {changed(pixels, change_named("cover"), 2, SIDE, number).tobytes() for number in range(6)}
    assert len(places) == 6
    ways = {changed(pixels, change_named("rotate"), 2, SIDE, number).tobytes() for number in range(12)}
    assert len(ways) == 2, "left and right"


def test_values_of_some_changes():
    pixels = photograph()
    assert (changed(pixels, change_named("cover"), 4, SIDE, 1) == GREY).all(2).sum() == round(0.6 * SIDE) ** 2
    np.testing.assert_array_equal(changed(pixels, change_named("dark"), 3, SIDE, 1), np.rint(pixels * 0.25))
    grey = changed(pixels, change_named("colour"), 3, SIDE, 1)
    np.testing.assert_array_equal(grey, np.repeat(np.asarray(Image.fromarray(pixels).convert("L"))[..., None], 3, 2))
    bright = changed(pixels, change_named("bright"), 1, SIDE, 1)
    np.testing.assert_allclose(bright.max(2), np.minimum(pixels.max(2) + 51.0, 255), atol=1)
    contrast = changed(pixels, change_named("contrast"), 0, SIDE, 1).astype(float)
    np.testing.assert_allclose(contrast.std(axis=(0, 1)), 0.4 * pixels.std(axis=(0, 1)), rtol=0.02)
    noise = changed(np.full((200, 200, 1), 128, np.uint8), change_named("noise"), 0, SIDE, 1)
    assert noise.std() == pytest.approx(0.08 * 255, rel=0.02)
    assert len(np.unique(changed(pixels, change_named("pixelate"), 4, SIDE, 1)[:, 0, 0])) <= SIDE // 4
    black = np.zeros((8, 8, 3), np.uint8)
    assert (changed(black, change_named("bright"), 0, 8, 1) == 26).all()


def test_blur_is_scaled_with_the_input_of_the_network():
    point = np.zeros((65, 65, 1), np.uint8)
    point[32, 32] = 255
    blur = change_named("blur")
    spread = [np.sqrt(_second_moment(changed(point, blur, 2, side, 1))) for side in (224, 112)]
    assert spread == pytest.approx([3, 1.5], rel=0.15)


def _second_moment(image):
    weights = image[:, :, 0].astype(float)
    rows = np.arange(len(weights)) - len(weights) // 2
    return (weights.sum(1) * rows**2).sum() / weights.sum()


def test_changes_are_named_and_grey_images_have_no_colour_to_lose():
    assert [change.name for change in suitable(3, ["noise", "jpeg", "noise"])] == ["jpeg", "noise"]
    assert len(suitable(3)) == len(suitable(1)) + 1
    with pytest.raises(UnknownName, match="There is no change named 'jpge'"):
        suitable(3, ["jpge"])
    with pytest.raises(UnknownName, match="they are grey"):
        suitable(1, ["colour"])


def test_an_image_with_a_number_below_0_is_changed_too():
    """Workbench gives none, but a workspace from elsewhere may hold anything."""
    noise = change_named("noise")
    assert not np.array_equal(changed(photograph(), noise, 0, SIDE, -5), changed(photograph(), noise, 0, SIDE, 5))
