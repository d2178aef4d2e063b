"""PKU VehicleID: photographs of 26,267 vehicles from surveillance cameras, in the layout as published."""

from typing import Literal

from workbench.datasets.image_set import ImageSet
from workbench.datasets.reading.data_folder import find_place
from workbench.datasets.reading.published import (
    Counts,
    Line,
    PublishedParams,
    from_lines,
    lines_of,
    published_at,
    whole_number,
    wrong,
)  # fmt: skip
from workbench.files.archive_names import archives_named
from workbench.params import param
from workbench.progress import Progress
from workbench.registry import register

PAGE = "https://www.pkuml.org/resources/pku-vehicleid.html"
TRAIN = "train_list.txt"
LISTS = "train_test_split"
# Vehicles and images of the test lists: Liu et al. 2016, Table 1 (queries and gallery together).
TESTS = {"small": Counts(800, 7_332), "medium": Counts(1_600, 12_995), "large": Counts(2_400, 20_038)}
TRAINED = Counts(classes=13_164, images=113_346)  # train_list.txt of VehicleID_V1.0


class VehicleIDParams(PublishedParams):
    """As every published set, and which test list."""

    test: Literal["small", "medium", "large"] = param(
        "small", label="Test list", help="small: 800 vehicles; medium: 1,600; large: 2,400. All train on the same."
    )


@register(
    "dataset", "vehicleid", title="PKU VehicleID", params=VehicleIDParams,
    source="Liu et al. 2016 (Deep relative distance learning), lists as published",
    markers=[f"{LISTS}/{TRAIN}", *archives_named("VehicleID", "vehicleid", "vehicle_id")],
)  # fmt: skip
@published_at(PAGE)
def vehicleid(params: VehicleIDParams, *, progress: Progress) -> ImageSet:
    """113,346 photographs of 13,164 vehicles train; 800, 1,600 or 2,400 other vehicles are searched.

    Each test image searches the others of its list, as in Andrew-Brown1/Smooth_AP (src/datasets.py), which also fills
    the image's number to seven digits. Liu et al. 2016 search a gallery of one image of each vehicle instead.
    """
    root = find_place(params.folder, (f"{LISTS}/{TRAIN}", TRAIN), "VehicleID", progress)
    lists = root / LISTS if (root / LISTS).is_dir() else root
    test = TESTS[params.test]
    lines: list[Line] = []
    halves: dict[int, str] = {}
    for half, name in (("train", TRAIN), ("test", f"test_list_{test.classes}.txt")):
        list_path = lists / name
        for number, (image, label) in lines_of(list_path, 2):
            vehicle = whole_number(list_path, number, label, "vehicle's number")
            if halves.setdefault(vehicle, half) != half:
                raise wrong(list_path, number, f"vehicle {vehicle} is in {TRAIN}, too")
            lines.append(Line(f"image/{image:0>7}.jpg", f"{vehicle:05d}", half, f"{name}, line {number}"))
    counts = Counts(TRAINED.classes + test.classes, TRAINED.images + test.images)
    return from_lines("vehicleid", lists.parent, lines, counts, params, progress)
