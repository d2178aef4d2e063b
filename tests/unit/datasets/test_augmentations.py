"""Augmentation of batches: what moves, what stays, and that a seed repeats it."""

import pytest
import torch
from torchvision.transforms import RandomResizedCrop, functional

from workbench import registry
from workbench.config import Choice, RunConfig
from workbench.datasets.batches.augment import LUMA, turned
from workbench.entries import catalog

NAMES = ("none", "shift", "crop_flip", "strong")


def augmentation(name, **fields):
    entry = registry.entry("augmentation", name)
    return entry.build(entry.params(**fields))


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def pictures(n=6, channels=3, size=16, seed=0):
    return torch.rand(n, channels, size, size, generator=seeded(seed))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("channels", [1, 3])
def test_a_batch_stays_a_batch_of_images(name, channels):
    images = pictures(channels=channels)
    kept = images.clone()
    made = augmentation(name)
    found, shown = made(images, generator=seeded()), made.evaluate(images)
    assert found.shape == shown.shape
    assert found.shape[:2] == (6, channels)
    assert found.dtype == torch.float32
    assert 0 <= found.min() <= found.max() <= 1
    assert torch.equal(images, kept)  # the caller's images are left alone


@pytest.mark.parametrize("name", NAMES[1:])
def test_the_seed_repeats_it_and_every_image_has_its_own(name):
    images = pictures(1).expand(6, -1, -1, -1).contiguous()
    made = augmentation(name)
    first, again, other = (made(images, generator=seeded(seed)) for seed in (3, 3, 4))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert len({image.numpy().tobytes() for image in first}) > 1


@pytest.mark.parametrize("name", NAMES)
def test_evaluation_needs_no_chance(name):
    images, made = pictures(), augmentation(name)
    state = torch.get_rng_state()
    assert torch.equal(made.evaluate(images), made.evaluate(images))
    assert torch.equal(torch.get_rng_state(), state)
    made(images, generator=seeded())
    assert torch.equal(torch.get_rng_state(), state)  # torch's own chance is not touched either


def test_torch_s_own_chance_of_a_gpu_is_not_touched(monkeypatch):
    for kind in (torch.cuda, torch.mps):
        monkeypatch.setattr(kind, "manual_seed", pytest.fail)
    monkeypatch.setattr(torch.cuda, "manual_seed_all", pytest.fail)
    augmentation("strong")(pictures(), generator=seeded())


def test_a_shift_is_a_shift_with_its_border_repeated():
    images, most = pictures(n=200, channels=1, size=9), 2
    found = augmentation("shift", pixels=most)(images, generator=seeded())
    seen = set()
    for before, after in zip(images, found, strict=True):
        matches = [
            (up, left)
            for up in range(-most, most + 1)
            for left in range(-most, most + 1)
            if torch.equal(
                after, before[:, (torch.arange(9) + up).clamp(0, 8)][:, :, (torch.arange(9) + left).clamp(0, 8)]
            )
        ]
        assert len(matches) == 1
        seen.add(matches[0])
    assert len(seen) == (2 * most + 1) ** 2  # every move occurs


def test_evaluation_takes_the_centre_crop():
    images = pictures(size=16)
    assert torch.equal(augmentation("crop_flip", crop=0.5).evaluate(images), images[:, :, 4:12, 4:12])
    assert augmentation("crop_flip").evaluate(torch.zeros(1, 3, 256, 256)).shape[-1] == 224
    assert torch.equal(augmentation("crop_flip", crop=1.0).evaluate(images), images)


def ramp(size=64):
    """Red grows to the right, green grows downwards, from 0 to 1 between the centres of the border pixels."""
    line = torch.linspace(0, 1, size)
    return torch.stack([line.expand(size, size), line[:, None].expand(size, size), torch.zeros(size, size)])[None]


def test_a_crop_shows_a_part_within_the_limits_of_area_and_aspect():
    images = ramp().expand(500, -1, -1, -1)
    found = augmentation("crop_flip", smallest_area=0.3, flip=False)(images, generator=seeded())
    wide = found[:, 0].amax((1, 2)) - found[:, 0].amin((1, 2))
    high = found[:, 1].amax((1, 2)) - found[:, 1].amin((1, 2))
    area, aspect = wide * high, wide / high
    assert 0.3 * 0.7 < area.min() < 0.45  # cut to the image where a long part would leave it
    assert area.max() > 0.9
    assert 0.7 < aspect.min() < 0.85
    assert 1.18 < aspect.max() < 1.4
    assert (found[:, 0].diff(dim=2) > 1e-3).all()  # nothing is mirrored, and no border is repeated
    assert (found[:, 1].diff(dim=1) > 1e-3).all()


def test_bicubic_crops_are_the_same_parts_with_steeper_edges():
    edges = (torch.arange(32) // 4 % 2).float().expand(6, 3, 32, 32)
    bilinear, bicubic = (
        augmentation("crop_flip", resizing=resizing)(edges, generator=seeded()) for resizing in ("bilinear", "bicubic")
    )
    assert (bilinear - bicubic).abs().mean() < 0.1
    assert 0 <= bicubic.min() <= bicubic.max() <= 1
    assert (bicubic - 0.5).abs().mean() > (bilinear - 0.5).abs().mean()


def test_crops_that_are_drawn_again_are_as_large_as_torchvision_s():
    """Boudiaf et al. and SupCon train on RandomResizedCrop; crops that are cut off show more of the image."""
    torch.manual_seed(0)
    whole = torch.zeros(1, 1000, 1000)
    boxes = [RandomResizedCrop.get_params(whole, [0.16, 1.0], [3 / 4, 4 / 3]) for _ in range(2000)]
    wanted = torch.tensor([high * wide / 1e6 for _, _, high, wide in boxes])
    images = ramp().expand(2000, -1, -1, -1)

    def areas(redraw):
        found = augmentation("crop_flip", smallest_area=0.16, flip=False, redraw=redraw)(images, generator=seeded())
        wide, high = (found[:, channel].amax((1, 2)) - found[:, channel].amin((1, 2)) for channel in (0, 1))
        return wide * high * (56 / 55 * 63 / 64) ** 2  # both ramp and crop are measured between centres of pixels

    again = areas(True)
    assert abs(again.mean() - wanted.mean()) < 0.015
    assert abs(again.quantile(0.9) - wanted.quantile(0.9)) < 0.02
    assert areas(False).mean() - wanted.mean() > 0.03


def test_a_crop_in_the_middle_is_exactly_in_the_middle(monkeypatch):
    """With every draw in the middle of its range, the crop is 0.8 of each side, upright, at the centre."""
    monkeypatch.setattr(torch, "rand", lambda *size, **_: torch.full(size, 0.5))
    found = augmentation("crop_flip", crop=0.5, smallest_area=0.28)(ramp(64), generator=seeded())[0]
    centres = (torch.arange(32) + 0.5) * 51.2 / 32 + 6.4 - 0.5  # in px of the 64; 0.8 of 64 is 51.2, 6.4 are left over
    assert torch.allclose(found[0], (centres / 63).expand(32, 32), atol=1e-5)
    assert torch.allclose(found[1], (centres / 63)[:, None].expand(32, 32), atol=1e-5)


def test_half_of_the_images_are_mirrored_left_to_right_and_none_upside_down():
    images = ramp().expand(400, -1, -1, -1)
    found = augmentation("crop_flip")(images, generator=seeded())
    mirrored = (found[:, 0, :, 0] > found[:, 0, :, -1]).all(1)
    assert 0.4 < mirrored.float().mean() < 0.6
    assert (found[:, 1, 0] < found[:, 1, -1]).all()


def test_parts_are_taken_from_everywhere():
    images = ramp().expand(400, -1, -1, -1)
    found = augmentation("crop_flip", smallest_area=0.16, flip=False)(images, generator=seeded())
    for channel in (0, 1):
        middle = found[:, channel].mean((1, 2))
        assert 0.45 < middle.mean() < 0.55
        assert middle.min() < 0.3
        assert middle.max() > 0.7


def test_jitter_changes_brightness_and_stays_in_range():
    images = torch.full((300, 3, 8, 8), 0.5)
    found = augmentation("crop_flip", jitter=0.4)(images, generator=seeded())
    bright = found.mean((1, 2, 3))
    assert 0.29 < bright.min() < 0.35
    assert 0.65 < bright.max() < 0.71
    wild = augmentation("crop_flip", jitter=1.0)(pictures(n=50), generator=seeded())
    assert 0 <= wild.min() <= wild.max() <= 1


def test_a_share_of_the_images_can_keep_its_colours():
    images = torch.full((400, 3, 8, 8), 0.5)
    found = augmentation("crop_flip", crop=1.0, jitter=0.4, hue=0.1, jittered=0.8)(images, generator=seeded())
    kept = torch.isclose(found, images, atol=1e-4).all((1, 2, 3)).float().mean()
    assert 0.15 < kept < 0.25


@pytest.mark.parametrize("channels", [1, 3])
def test_jitter_is_that_of_torchvision_for_the_same_factors(channels):
    images, draws = pictures(n=8, channels=channels), seeded(5)
    found = augmentation("crop_flip", crop=1.0, fixed=True, flip=False, jitter=0.4)(images, generator=seeded(5))
    _, _, bright, contrast, saturation = torch.rand(5, 8, generator=draws) * 0.8 + 0.6  # the first two place the crop
    for number in range(8):
        expected = functional.adjust_brightness(images[number], bright[number].item())
        expected = functional.adjust_contrast(expected, contrast[number].item())
        if channels == 3:
            expected = functional.adjust_saturation(expected, saturation[number].item())
        torch.testing.assert_close(found[number], expected, atol=1e-3, rtol=0)  # torchvision's luma has four digits


@pytest.mark.parametrize("channels", [1, 3])
def test_in_random_order_jitter_is_that_of_torchvision_in_each_image_s_order(channels):
    images, draws = pictures(n=40, channels=channels), seeded(5)
    changes = {"crop": 1.0, "fixed": True, "flip": False, "jitter": 0.4, "hue": 0.1}
    found = augmentation("crop_flip", jitter_order="random", **changes)(images, generator=seeded(5))
    torch.rand(2, 40, generator=draws)  # these place the crop
    orders = torch.rand(40, 4, generator=draws).argsort(1).tolist()
    factors = (torch.rand(40, 3, generator=draws) * 0.8 + 0.6).tolist()
    shares = (torch.rand(40, generator=draws) * 2 - 1) * 0.1
    assert len(set(map(tuple, orders))) > 12, "of 24"
    adjust = [functional.adjust_brightness, functional.adjust_contrast, functional.adjust_saturation]
    for number, order in enumerate(orders):
        expected = images[number]
        for kind in order if channels == 3 else [kind for kind in order if kind < 2]:
            if kind == 3:
                expected = turned(expected[None], shares[number : number + 1])[0]
            else:
                expected = adjust[kind](expected, factors[number][kind])
        torch.testing.assert_close(found[number], expected, atol=2e-3, rtol=0)
    fixed = augmentation("crop_flip", **changes)(images, generator=seeded(5))
    assert not torch.allclose(found, fixed, atol=0.05)


@pytest.mark.parametrize("jittered", [1.0, 0.5])
def test_jitter_before_the_crop_is_that_of_the_whole_square(jittered):
    images, draws = pictures(n=8), seeded(5)
    images[..., :6] *= 0.3  # a crop's grey is not that of its image
    changes = {"crop": 0.5, "fixed": True, "flip": False, "jitter": 0.4, "jittered": jittered}
    cropped = augmentation("crop_flip", jitter_first=True, **changes)(images, generator=seeded(5))
    bright, contrast, saturation = torch.rand(3, 8, generator=draws) * 0.8 + 0.6
    wanted = images.clone()
    kept = torch.rand(8, generator=draws) >= jittered if jittered < 1 else torch.zeros(8, dtype=torch.bool)
    for number in (~kept).nonzero().flatten().tolist():
        changed = functional.adjust_brightness(images[number], bright[number].item())
        changed = functional.adjust_contrast(changed, contrast[number].item())
        wanted[number] = functional.adjust_saturation(changed, saturation[number].item())
    assert kept.any() == (jittered < 1)
    side, (left, top) = cropped.shape[-1], torch.rand(2, 8, generator=draws)
    places = [(share * (images.shape[-1] - side + 1)).long().tolist() for share in (left, top)]
    for number, (x, y) in enumerate(zip(*places, strict=True)):
        part = wanted[number, :, y : y + side, x : x + side]
        torch.testing.assert_close(cropped[number], part, atol=1e-3, rtol=0)  # torchvision's luma has four digits


def test_whole_images_are_cropped_before_their_colours_change():
    params = {"crops_of": "whole", "jitter": 0.2, "jitter_first": True}
    config = RunConfig(augmentation=Choice(name="crop_flip", params=params))
    assert "use crops of the square" in config.check(catalog.current())["augmentation.jitter_first"]
    square = config.model_copy(
        update={"augmentation": Choice(name="crop_flip", params=params | {"crops_of": "square"})}
    )
    assert config.check(catalog.current()).keys() - square.check(catalog.current()).keys() == {
        "augmentation.jitter_first"
    }


def test_the_form_keeps_wrong_values_out():
    for name, fields in (("shift", {"pixels": 0}), ("crop_flip", {"crop": 0.0}), ("crop_flip", {"crop": 1.5})):
        with pytest.raises(ValueError, match="Input should be"):
            augmentation(name, **fields)


def test_hues_turn_and_luma_stays():
    images = torch.rand(50, 3, 6, 6, generator=seeded()) * 0.4 + 0.3
    for share in (0.0, 1.0):
        torch.testing.assert_close(turned(images, torch.full((50,), share)), images, atol=1e-5, rtol=0)
    half = turned(images, torch.full((50,), 0.5))
    luma = torch.tensor(LUMA).view(1, 3, 1, 1)
    torch.testing.assert_close((half * luma).sum(1), (images * luma).sum(1), atol=1e-3, rtol=0)
    assert (half - images).abs().mean() > 0.02
    grey = images[:, :1].expand(-1, 3, -1, -1)
    torch.testing.assert_close(turned(grey, torch.full((50,), 0.3)), grey, atol=2e-3, rtol=0)
    changed = augmentation("crop_flip", hue=0.2, flip=False, smallest_area=1.0, aspect=1.0, crop=1.0)(
        images, generator=seeded()
    )
    assert not torch.allclose(changed, images, atol=1e-2)


def test_saturation_changes_with_the_jitter():
    red = torch.zeros(200, 3, 4, 4)
    red[:, 0] = 0.6
    found = augmentation("crop_flip", jitter=0.3)(red, generator=seeded()).mean((2, 3))
    assert found[:, 1].max() > 0.02, "some are paler"


def test_aspect_1_keeps_squares():
    found = augmentation("crop_flip", aspect=1.0, flip=False, smallest_area=0.3)(
        ramp().expand(100, -1, -1, -1), generator=seeded()
    )
    wide, high = found[:, 0, 0, -1] - found[:, 0, 0, 0], found[:, 1, -1, 0] - found[:, 1, 0, 0]
    torch.testing.assert_close(wide, high, atol=5e-3, rtol=0)


def test_a_fixed_crop_has_the_pixels_of_the_image():
    images = pictures(n=40, size=16)
    found = augmentation("crop_flip", crop=0.75, fixed=True)(images, generator=seeded())
    assert found.shape == (40, 3, 12, 12)
    places = set()
    for image, crop in zip(images, found, strict=True):
        windows = image.unfold(1, 12, 1).unfold(2, 12, 1).permute(1, 2, 0, 3, 4)
        same = [(windows == shown).all((2, 3, 4)).nonzero().tolist() for shown in (crop, crop.flip(-1))]
        assert sum(map(len, same)) == 1
        places.add((len(same[0]), *(same[0] + same[1])[0]))
    assert len({place[0] for place in places}) == 2, "some are mirrored"
    assert len({place[1:] for place in places}) > 10, "anywhere"


def test_fixed_crops_of_whole_images_are_squares_of_one_share_of_the_short_side_anywhere():
    sizes = torch.tensor([[240, 320], [400, 300]]).repeat(1000, 1)
    boxes = augmentation("crop_flip", crops_of="whole", fixed=True, crop=0.75).boxes(sizes, seeded())
    high, wide = sizes.double().unbind(1)
    left, top, right, bottom = boxes.unbind(1)
    sides = 0.75 * torch.minimum(high, wide)
    torch.testing.assert_close(right - left, sides)
    torch.testing.assert_close(bottom - top, sides)
    for start, room in ((left, wide - sides), (top, high - sides)):
        shares = (start / room).sort().values
        evenly = (torch.arange(2000, dtype=torch.float64) + 0.5) / 2000
        assert (shares - evenly).abs().max() < 0.04  # Kolmogorov's distance, of p 0.003


def test_crops_of_whole_images_are_as_large_and_as_long_as_torchvision_s():
    torch.manual_seed(0)
    high, wide = 300, 400
    drawn = torch.tensor([
        RandomResizedCrop.get_params(torch.zeros(1, high, wide), [0.16, 1.0], [3 / 4, 4 / 3]) for _ in range(3000)
    ]).double()  # fmt: skip
    boxes = augmentation("crop_flip", crops_of="whole").boxes(torch.tensor([[high, wide]]).repeat(3000, 1), seeded())
    left, top, right, bottom = boxes.unbind(1)
    for ours, theirs in (
        (left, drawn[:, 1]),
        (top, drawn[:, 0]),
        (right - left, drawn[:, 3]),
        (bottom - top, drawn[:, 2]),
    ):
        assert (ours.sort().values - theirs.sort().values).abs().mean() < 0.02 * theirs.max()


@pytest.mark.parametrize(
    ("size", "box"),
    [
        ((10, 1000), (500 - 20 / 3, 0, 500 + 20 / 3, 10)), ((1000, 10), (0, 500 - 20 / 3, 10, 500 + 20 / 3)),
        ((100, 110), (0, 0, 110, 100)),
    ],
)  # fmt: skip
def test_where_no_crop_fits_it_is_the_middle_at_the_nearest_aspect(size, box):
    """As torchvision's RandomResizedCrop, but for its whole pixels."""
    boxes = augmentation("crop_flip", crops_of="whole", smallest_area=1.0).boxes(torch.tensor([size]), seeded())
    assert boxes[0].tolist() == pytest.approx(box)
    top, left, high, wide = RandomResizedCrop.get_params(torch.zeros(1, *size), [1.0, 1.0], [3 / 4, 4 / 3])
    assert box == pytest.approx((left, top, left + wide, top + high), abs=0.7)


@pytest.mark.parametrize(("share", "side"), [(0.887, 227), (0.875, 224)])
def test_the_crop_of_256_px_has_the_side_of_the_papers(share, side):
    assert augmentation("crop_flip", crop=share, fixed=True).side(256) == side


@pytest.mark.parametrize("step", [{"operations": 2}, {"grey": 1.0}, {"blur": 1.0}, {"erased": 1.0}])
def test_each_stronger_step_changes_the_crop(step):
    images = pictures(size=32)
    weak = augmentation("strong", operations=0)(images, generator=seeded())
    found = augmentation("strong", **{"operations": 0} | step)(images, generator=seeded())
    assert found.shape == weak.shape
    assert not torch.equal(found, weak)
    if "grey" in step:
        assert torch.equal(found[:, 0], found[:, 1])
