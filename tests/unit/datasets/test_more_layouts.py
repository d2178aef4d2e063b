"""iNaturalist 2018, VehicleID, Google Landmarks v2 and Tiny-ImageNet, written here as published and read back."""

import json
from collections.abc import Callable

import numpy as np
import pytest

from workbench import registry
from workbench.datasets.finder import find_data, markers_of
from workbench.problem import Problem

LANDMARKS = {7: ["0a1b2c3d4e5f6071", "ffeeddccbbaa0099"], 12: ["0a1b2c3d4e5f6072"]}


def write(place, *lines):
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("\n".join(lines) + "\n", "utf-8")


@pytest.fixture
def inaturalist(tmp_path, draw):
    """Species 3 and 11, two photographs each for training and one for validation."""
    root = tmp_path / "inaturalist2018"
    for name, numbers in (("train2018.json", (0, 1)), ("val2018.json", (2,))):
        images, annotations = [], []
        for species, group in ((3, "Aves"), (11, "Insecta")):
            for number in numbers:
                image = species * 10 + number
                path = f"train_val2018/{group}/{species}/{image}.jpg"
                draw(root / path, image)
                images.append({"id": image, "file_name": path, "width": 12, "height": 9})
                annotations.append({"id": image, "image_id": image, "category_id": species})
        (root / name).write_text(json.dumps({"images": images, "annotations": annotations, "categories": []}))
    return root


@pytest.fixture
def vehicleid(tmp_path, draw):
    """Vehicles 5 and 6 train, vehicle 9 is in the smallest test list, 9 and 8 in the next one."""
    root = tmp_path / "VehicleID_V1.0"
    image_of = {number: f"{number:07d}" for number in range(8)}
    for number, name in image_of.items():
        draw(root / "image" / f"{name}.jpg", number)
    lists = root / "train_test_split"
    write(lists / "train_list.txt", *(f"{image_of[at]} {5 + at // 2}" for at in range(4)))
    write(lists / "test_list_800.txt", *(f"{image_of[at]} 9" for at in (4, 5)))
    write(lists / "test_list_1600.txt", *(f"{image_of[at]} {9 if at < 6 else 8}" for at in range(4, 8)))
    write(
        lists / "test_list_2400.txt", *(f"{image_of[at]} {vehicle}" for at, vehicle in ((4, 9), (5, 9), (6, 7), (7, 8)))
    )
    return root


@pytest.fixture
def gldv2_clean(tmp_path, draw):
    root = tmp_path / "gldv2"
    for images in LANDMARKS.values():
        for image in images:
            draw(root / "train" / image[0] / image[1] / image[2] / f"{image}.jpg")
    lines = (f"{landmark},{' '.join(images)}" for landmark, images in LANDMARKS.items())
    write(root / "train_clean.csv", "landmark_id,images", *lines)
    return root


@pytest.fixture
def tiny_imagenet(tmp_path, draw):
    root = tmp_path / "tiny-imagenet-200"
    write(root / "wnids.txt", "n02", "n01")
    write(root / "words.txt", "n01\tgoldfish, Carassius auratus", "n02\tgreat white shark", "n03\tentity")
    for wnid in ("n01", "n02"):
        names = [f"{wnid}_{number}.JPEG" for number in range(2)]
        write(root / "train" / wnid / f"{wnid}_boxes.txt", *(f"{name}\t0\t10\t63\t58" for name in names))
        for name in names:
            draw(root / "train" / wnid / "images" / name)
    write(root / "val/val_annotations.txt", *(f"val_{n}.JPEG\tn0{n % 2 + 1}\t0\t32\t44\t62" for n in range(4)))
    for number in range(4):
        draw(root / "val/images" / f"val_{number}.JPEG", number)
    return root


def halves(image_set):
    entry = registry.entry("split", "official")
    return entry.build(entry.params(), image_set, 0)


def test_inaturalist_is_halved_as_the_competition_does(build, inaturalist):
    species = build("inaturalist2018", folder=str(inaturalist))
    assert (species.class_names, species.labels.tolist()) == (["0003", "0011"], [0, 0, 0, 1, 1, 1])
    assert species.official == ["train", "train", "test"] * 2
    assert int(np.asarray(species.read(0))[0, 0, 0]) == 30
    assert species.notes[0][1].startswith("is not here: the official split is train2018 and val2018")
    assert not species.problems


def test_inaturalist_is_halved_by_the_lists_of_metric_learning(build, inaturalist):
    paths = sorted(path.relative_to(inaturalist).as_posix() for path in inaturalist.rglob("*.jpg"))
    lists = inaturalist / "Inat_dataset_splits"
    write(lists / "Inaturalist_train_set1.txt", *(path for path in paths if "/3/" in path))
    write(lists / "Inaturalist_test_set1.txt", *(path for path in paths if "/11/" in path))
    species = build("inaturalist2018", folder=str(inaturalist.parent))
    assert species.official == ["train"] * 3 + ["test"] * 3
    assert halves(species).classes_disjoint
    assert species.sample_ids.tolist() == _without(lists, build, inaturalist).sample_ids.tolist()


def _without(lists, build: Callable, root):
    for file in lists.iterdir():
        file.unlink()
    return build("inaturalist2018", folder=str(root))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[]", "cannot be read as iNaturalist's annotations"),
        ('{"images": [{"id": 1, "file_name": "a.jpg"}], "annotations": []}', "image 1 has no annotation"),
        ('{"images": [{"id": 1, "file_name": "../a.jpg"}], "annotations": [{"image_id": 1, "category_id": 2}]}',
         "outside"),
    ],
)  # fmt: skip
def test_wrong_annotations_of_inaturalist_are_named(build, inaturalist, content, said):
    (inaturalist / "val2018.json").write_text(content)
    with pytest.raises(Problem, match=said):
        build("inaturalist2018", folder=str(inaturalist))


@pytest.mark.parametrize(
    ("test", "searched"),
    [
        ("small", ["00009"] * 2),
        ("medium", ["00009"] * 2 + ["00008"] * 2),
        ("large", ["00009"] * 2 + ["00007", "00008"]),
    ],
)
def test_vehicleid_is_halved_by_the_chosen_list(build, vehicleid, test, searched):
    vehicles = build("vehicleid", folder=str(vehicleid.parent), test=test)
    split = halves(vehicles)
    assert [vehicles.class_names[label] for label in vehicles.labels[split.test]] == searched
    assert [vehicles.class_names[label] for label in vehicles.labels[split.train]] == ["00005"] * 2 + ["00006"] * 2
    assert split.classes_disjoint
    assert vehicles.paths[0] == "image/0000000.jpg"
    assert vehicles.paths == build("vehicleid", folder=str(vehicleid / "train_test_split"), test=test).paths
    assert split.is_query is None, "each image searches the others of its list"


@pytest.mark.parametrize(
    ("test", "classes", "images"), [("small", 13_964, 120_678), ("medium", 14_764, 126_341), ("large", 15_564, 133_384)]
)
def test_each_list_of_vehicleid_is_compared_with_its_published_counts(build, vehicleid, test, classes, images):
    """113,346 images of 13,164 vehicles, and 7,332, 12,995 or 20,038 of the list (Liu et al. 2016, Table 1)."""
    told = [reason for _, reason in build("vehicleid", folder=str(vehicleid), test=test).unlike_published]
    assert f"was published with {classes:,} classes" in told[0]
    assert f"was published with {images:,} images" in told[1]


def test_the_images_of_vehicleid_have_seven_digits(build, vehicleid):
    """Andrew-Brown1/Smooth_AP src/datasets.py: '/image/{:07d}.jpg'.format(img_path)."""
    write(vehicleid / "train_test_split/train_list.txt", "0 5", "1 5")
    assert build("vehicleid", folder=str(vehicleid)).paths[:2] == ["image/0000000.jpg", "image/0000001.jpg"]


def test_a_vehicle_of_both_lists_is_named(build, vehicleid):
    write(vehicleid / "train_test_split/test_list_800.txt", "0000004 5")
    with pytest.raises(Problem, match=r"test_list_800\.txt, line 1: vehicle 5 is in train_list\.txt, too"):
        build("vehicleid", folder=str(vehicleid))


@pytest.mark.parametrize("place", ["index", "train/lists", "."])
def test_landmarks_are_read_where_their_list_is_in_another_folder(build, gldv2_clean, place):
    (gldv2_clean / place).mkdir(exist_ok=True)
    (gldv2_clean / "train_clean.csv").rename(gldv2_clean / place / "train_clean.csv")
    landmarks = build("gldv2_clean", folder=str(gldv2_clean))
    assert landmarks.paths[0].removeprefix("train/") == "0/a/1/0a1b2c3d4e5f6071.jpg"
    assert (len(landmarks.paths), landmarks.problems) == (3, [])
    if place == "index":
        with pytest.raises(Problem, match=r"missing in .*index: .*put the lists beside them"):
            build("gldv2_clean", folder=str(gldv2_clean / "index"))


def test_landmarks_are_read_back(build, gldv2_clean):
    landmarks = build("gldv2_clean", folder=str(gldv2_clean))
    assert landmarks.paths[0] == "train/0/a/1/0a1b2c3d4e5f6071.jpg"
    assert [landmarks.class_names[label] for label in landmarks.labels] == ["000007", "000012", "000007"]
    assert (landmarks.official, landmarks.problems) == (None, [])


@pytest.mark.parametrize(
    ("line", "said"), [("7 x", "no comma"), ("a,b", "'a' is not a whole"), ("7,../x", "not the name of an")]
)
def test_a_wrong_line_of_landmarks_is_named(build, gldv2_clean, line, said):
    write(gldv2_clean / "train_clean.csv", "landmark_id,images", line)
    with pytest.raises(Problem, match=rf"train_clean\.csv, line 2: .*{said}"):
        build("gldv2_clean", folder=str(gldv2_clean))


def test_tiny_imagenet_is_read_back(build, tiny_imagenet):
    images = build("tiny_imagenet", folder=str(tiny_imagenet))
    assert images.class_names == ["n01 goldfish", "n02 great white shark"]
    assert images.labels.tolist() == [0, 0, 1, 1, 0, 1, 0, 1]
    assert images.official == ["train"] * 4 + ["test"] * 4
    assert (images.image_size, images.problems) == (64, [])
    write(tiny_imagenet / "val/val_annotations.txt", "val_0.JPEG\tn09\t0\t0\t1\t1")
    with pytest.raises(Problem, match=r"val_annotations\.txt, line 1: n09 is not in wnids\.txt"):
        build("tiny_imagenet", folder=str(tiny_imagenet))


@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize("place", [".", "n0{}", "n0{}/images"])
def test_tiny_imagenet_is_read_where_its_images_were_sorted_into_class_folders(build, tiny_imagenet, place, listed):
    """Scripts do that, and leave the list or delete it; without it, the folders tell the classes."""
    if place == "." and not listed:
        (tiny_imagenet / "val/val_annotations.txt").unlink()
        with pytest.raises(Problem, match=r"val_annotations\.txt cannot be opened"):
            build("tiny_imagenet", folder=str(tiny_imagenet))
        return
    for number in range(4):
        image = tiny_imagenet / "val/images" / f"val_{number}.JPEG"
        (tiny_imagenet / "val" / place.format(number % 2 + 1)).mkdir(parents=True, exist_ok=True)
        image.rename(tiny_imagenet / "val" / place.format(number % 2 + 1) / image.name)
    if not listed:
        (tiny_imagenet / "val/val_annotations.txt").unlink()
        for boxes in tiny_imagenet.glob("train/*/*_boxes.txt"):
            boxes.unlink()
    images = build("tiny_imagenet", folder=str(tiny_imagenet))
    assert (images.official.count("train"), images.official.count("test"), images.problems) == (4, 4, [])
    label_of = dict(zip((path.rpartition("/")[2] for path in images.paths), images.labels.tolist(), strict=True))
    assert [label_of[f"val_{number}.JPEG"] for number in range(4)] == [0, 1, 0, 1]
    assert [label_of["n01_0.JPEG"], label_of["n02_1.JPEG"]] == [0, 1]


@pytest.mark.parametrize("name", ["inaturalist", "vehicleid", "gldv2_clean", "tiny_imagenet"])
def test_the_finder_finds_them_and_what_it_offers_can_be_read(request, build, name):
    root = request.getfixturevalue(name)
    registry.discover("workbench.datasets")
    places = find_data([root.parent], markers_of(registry.catalog()))
    [(entry, [first, *_])] = places.items()
    assert entry.startswith(name)
    assert build(entry, folder=first).paths
