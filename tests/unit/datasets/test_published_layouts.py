"""CUB, Cars, SOP and In-shop in their official layouts, written here in their real file formats and read back."""

import json
import re
import shutil
import tarfile
import zipfile

import numpy as np
import pytest
from listeners import silent
from scipy.io import savemat

from workbench import registry
from workbench.datasets.benchmarks import cars as cars_196
from workbench.datasets.finder import find_data, markers_of
from workbench.datasets.reading import cars_list
from workbench.datasets.reading.published import Counts
from workbench.problem import Problem


def write(place, *lines):
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("\n".join(lines) + "\n", "utf-8")


@pytest.fixture
def cub(tmp_path, draw):
    """Four species with three photographs each; the first two of each are in the official training set."""
    root = tmp_path / "CUB_200_2011"
    paths = [f"{c:03d}.Bird_{c}/Bird_{c}_{n}.jpg" for c in range(1, 5) for n in range(3)]
    for row, path in enumerate(paths):
        draw(root / "images" / path, row)
    write(root / "images.txt", *(f"{row + 1} {path}" for row, path in enumerate(paths)))
    write(root / "image_class_labels.txt", *(f"{row + 1} {row // 3 + 1}" for row in range(12)))
    write(root / "train_test_split.txt", *(f"{row + 1} {int(row % 3 < 2)}" for row in range(12)))
    return root


@pytest.fixture
def cars(tmp_path, draw):
    """Three models with two photographs each, as MATLAB's struct array."""
    root = tmp_path / "cars"
    fields = ["relative_im_path", "bbox_x1", "bbox_y1", "bbox_x2", "bbox_y2", "class", "test"]
    rows = [(f"car_ims/{n + 1:06d}.jpg", 1, 1, 9, 9, n // 2 + 1, n % 2) for n in range(6)]
    for row in rows:
        draw(root / row[0])
    save_cars(root, rows, fields)
    return root


@pytest.fixture
def in_this_process(monkeypatch):
    """Lists of Cars that are whole are read without a process, which takes 0.3 s to start."""
    monkeypatch.setattr(cars_196, "printed_by", lambda module, file, seconds: json.dumps(cars_list.read(str(file))))


def save_cars(root, rows, fields, names=("AM General Hummer SUV 2000", "Acura RL Sedan 2012", "Acura TL Sedan 2012")):
    savemat(root / "cars_annos.mat", {"annotations": structs(rows, fields), "class_names": cells(names)})


def structs(rows, fields):
    """MATLAB's struct array."""
    table = np.empty((1, len(rows)), dtype=[(field, object) for field in fields])
    for at, row in enumerate(rows):
        table[0, at] = row
    return table


def cells(names):
    """MATLAB's cell array."""
    named = np.empty((1, len(names)), dtype=object)
    named[0, :] = names
    return named


@pytest.fixture
def cars_devkit(tmp_path, draw):
    """Two models with two photographs each in both sets, as the devkit and the later list of the test set."""
    root, fields = tmp_path / "stanford_cars", ["bbox_x1", "bbox_y1", "bbox_x2", "bbox_y2", "class", "fname"]
    (root / "devkit").mkdir(parents=True)
    rows = [(1, 1, 9, 9, n // 2 + 1, f"{n + 1:05d}.jpg") for n in range(4)]
    for n, row in enumerate(rows):
        draw(root / "cars_train" / row[-1], n)
        draw(root / "cars_test" / row[-1], 10 + n)
    savemat(root / "devkit" / "cars_meta.mat", {"class_names": cells(("AM General Hummer", "Acura RL"))})
    savemat(root / "devkit" / "cars_train_annos.mat", {"annotations": structs(rows, fields)})
    savemat(root / "cars_test_annos_withlabels.mat", {"annotations": structs(rows, fields)})
    return root


@pytest.fixture
def sop(tmp_path, draw):
    """Products 1 and 2 train, product 3 is searched; two photographs each."""
    root = tmp_path / "Stanford_Online_Products"
    header = "image_id class_id super_class_id path"
    paths = {c: [f"bicycle_final/{c}_{n}.JPG" for n in range(2)] for c in (1, 2, 3)}
    for several in paths.values():
        for path in several:
            draw(root / path)
    write(root / "Ebay_train.txt", header, *(f"{c}{n} {c} 1 {paths[c][n]}" for c in (1, 2) for n in range(2)))
    write(root / "Ebay_test.txt", header, *(f"3{n} 3 1 {paths[3][n]}" for n in range(2)))
    return root


@pytest.fixture
def inshop(tmp_path, draw):
    """Two garments train; two others are queries of one photograph and a gallery of two."""
    root = tmp_path / "inshop"
    rows = [(f"img/WOMEN/Dresses/id_{i:08d}/{n}.jpg", f"id_{i:08d}", "train") for i in (1, 2) for n in range(2)]
    for i in (3, 4):
        rows += [
            (f"img/MEN/Shirts/id_{i:08d}/{n}.jpg", f"id_{i:08d}", "query" if n == 0 else "gallery") for n in range(3)
        ]
    for path, _, _ in rows:
        draw(root / "Img" / path)
    lines = [f"{path}   {item}  {status}" for path, item, status in rows]
    write(root / "Eval" / "list_eval_partition.txt", str(len(rows)), "image_name item_id evaluation_status", *lines)
    return root


def split(name, image_set, **fields):
    entry = registry.entry("split", name)
    return entry.build(entry.params(**fields), image_set, 0)


def test_cub_is_read_back(build, cub):
    found = build("cub", folder=str(cub.parent))
    assert (len(found.paths), len(found.class_names)) == (12, 4)
    assert found.paths[0] == "images/001.Bird_1/Bird_1_0.jpg"
    assert found.labels.tolist() == np.repeat(range(4), 3).tolist()
    assert found.official == ["train", "train", "test"] * 4
    assert np.asarray(found.read(5))[0, 0].tolist() == [5, 5, 5]
    halves = split("classes", found)
    assert halves.train.tolist() == list(range(6))
    assert not found.problems
    assert [reason for _, reason in found.unlike_published] == [
        "was published with 200 classes and has 4 here: 196 are missing",
        "was published with 11,788 images and has 12 here: 11,776 are missing",
    ]


def test_cars_are_read_back(build, cars):
    found = build("cars", folder=str(cars))
    assert found.class_names[0] == "001 AM General Hummer SUV 2000"
    assert found.labels.tolist() == [0, 0, 1, 1, 2, 2]
    assert found.official == ["train", "test"] * 3
    assert not found.problems


@pytest.mark.parametrize("beside", ["devkit", "."])
def test_cars_are_read_back_from_the_devkit(build, cars_devkit, beside):
    """As torchvision's StanfordCars has it."""
    searched = cars_devkit / "cars_test_annos_withlabels.mat"
    searched.rename(cars_devkit / beside / searched.name)
    found = build("cars", folder=str(cars_devkit.parent))
    assert found.class_names == ["001 AM General Hummer", "002 Acura RL"]
    assert found.paths[0] == "cars_test/00001.jpg"
    assert found.labels.tolist() == [0, 0, 1, 1] * 2
    assert found.official == ["test"] * 4 + ["train"] * 4
    assert np.asarray(found.read(0))[0, 0].tolist() == [10, 10, 10]
    assert not found.problems


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize("above", [".", "car_devkit"])
def test_the_devkit_is_found_and_its_images_beside_it_though_it_alone_is_chosen(build, cars_devkit, above):
    place = cars_devkit / above / "devkit"
    if above != ".":
        place.parent.mkdir()
        (cars_devkit / "devkit").rename(place)
    assert find_data([cars_devkit], markers_of(registry.catalog()))["cars"] == [str(place)]
    found = build("cars", folder=str(place))
    assert len(found.paths) == 8
    assert found.root == cars_devkit
    assert not found.problems


@pytest.mark.usefixtures("in_this_process")
def test_halves_that_were_unpacked_into_folders_of_their_names_are_read(build, cars_devkit):
    for half in ("cars_train", "cars_test"):
        (cars_devkit / half).rename(cars_devkit / "inner")
        (cars_devkit / half).mkdir()
        (cars_devkit / "inner").rename(cars_devkit / half / half)
    found = build("cars", folder=str(cars_devkit))
    assert found.paths[0] == "cars_test/cars_test/00001.jpg"
    assert not found.problems


@pytest.mark.usefixtures("in_this_process")
def test_the_one_list_beside_the_images_of_the_devkit_says_what_to_put_there(build, cars, cars_devkit):
    """As on Kaggle: the same photographs, whose names are not those of the list."""
    shutil.rmtree(cars / "car_ims")
    for half in ("cars_train", "cars_test"):
        (cars_devkit / half).rename(cars / half)
    with pytest.raises(
        Problem, match=r"names the images of car_ims, .* under other names\. .*Put cars_train_annos\.mat"
    ):
        build("cars", folder=str(cars))
    (cars_devkit / "devkit").rename(cars / "devkit")
    (cars_devkit / "cars_test_annos_withlabels.mat").rename(cars / "cars_test_annos_withlabels.mat")
    found = build("cars", folder=str(cars))
    assert len(found.paths) == 8
    assert not found.problems


@pytest.mark.usefixtures("in_this_process")
def test_a_devkit_without_the_classes_of_the_test_half_says_what_is_missing(build, cars_devkit):
    (cars_devkit / "cars_test_annos_withlabels.mat").unlink()
    with pytest.raises(Problem, match=r"no cars_test_annos_withlabels\.mat, .* Get that file"):
        build("cars", folder=str(cars_devkit))


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize("name", ["cars_meta.mat", "cars_train_annos.mat"])
def test_a_list_of_the_devkit_that_cannot_be_read_is_named(build, cars_devkit, name):
    savemat(cars_devkit / "devkit" / name, {"other": 1})
    with pytest.raises(Problem, match=f"{name} is not a MATLAB file with .*there are no "):
        build("cars", folder=str(cars_devkit))


def test_sop_is_read_back(build, sop):
    found = build("sop", folder=str(sop))
    assert found.labels.tolist() == [0, 0, 1, 1, 2, 2]
    halves = split("official", found)
    assert (halves.train.tolist(), halves.test.tolist(), halves.classes_disjoint) == ([0, 1, 2, 3], [4, 5], True)
    assert not found.problems


def test_inshop_is_read_back(build, inshop):
    found = build("inshop", folder=str(inshop))
    assert (found.root.name, len(found.paths), len(found.class_names)) == ("Img", 10, 4)
    halves = split("official", found)
    assert halves.train.tolist() == [6, 7, 8, 9]
    assert halves.is_query.tolist() == [True, False, False] * 2
    assert halves.note == "2 queries search a gallery of 4"
    assert not found.problems


@pytest.mark.parametrize(
    ("name", "published", "differences"),
    [
        ("sop", Counts(3, 6, (("train", 4), ("test", 2))), []),
        (
            "sop",
            Counts(3, 6, (("train", 2), ("test", 4))),
            [
                "was published with 2 training images and has 4 here: 2 too many",
                "was published with 4 test images and has 2 here: 2 are missing",
            ],
        ),
        (
            "inshop",
            Counts(4, 10, (("train", 4), ("query", 3), ("gallery", 3))),
            [
                "was published with 3 queries and has 2 here: 1 is missing",
                "was published with 3 images in the gallery and has 4 here: 1 too many",
            ],
        ),
        ("inshop", Counts(4, 11, (("train", 5),)), ["was published with 11 images and has 10 here: 1 is missing"]),
    ],
)  # fmt: skip
def test_halves_of_other_sizes_are_not_those_published(build, request, monkeypatch, name, published, differences):
    """A set of all images may be cut otherwise: its numbers cannot stand in the table of a paper."""
    monkeypatch.setattr(f"workbench.datasets.benchmarks.{name}.COUNTS", published)
    image_set = build(name, folder=str(request.getfixturevalue(name)))
    assert [difference for _, difference in image_set.unlike_published] == differences


@pytest.mark.parametrize("kind", ["zip", "tgz"])
def test_an_archive_is_unpacked_once(build, cub, tmp_path, monkeypatch, kind):
    monkeypatch.setattr("workbench.datasets.reading.data_folder.cache_folder", lambda: tmp_path / "cache")
    place = tmp_path / f"CUB_200_2011.{kind}"
    files = [path for path in cub.rglob("*") if path.is_file()]
    if kind == "zip":
        with zipfile.ZipFile(place, "w") as archive:
            for path in files:
                archive.write(path, path.relative_to(cub.parent))
    else:
        with tarfile.open(place, "w:gz") as archive:
            archive.add(cub, cub.name)
    shutil.rmtree(cub)
    first = build("cub", folder=str(place))
    assert len(first.paths) == 12
    (unpacked,) = (tmp_path / "cache" / "unpacked").iterdir()
    stamp = unpacked.stat().st_mtime_ns
    assert build("cub", folder=str(place)).fingerprint == first.fingerprint
    assert unpacked.stat().st_mtime_ns == stamp


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize(("name", "packed"), [("cars", "car_ims.tgz"), ("inshop", "Img/img.zip")])
def test_images_still_in_their_published_archive_beside_the_list(build, request, tmp_path, monkeypatch, name, packed):
    monkeypatch.setattr("workbench.datasets.reading.data_folder.cache_folder", lambda: tmp_path / "cache")
    root = request.getfixturevalue(name)
    plain = build(name, folder=str(root)).fingerprint
    place = root / packed
    folder = place.with_suffix("")
    if place.suffix == ".zip":
        with zipfile.ZipFile(place, "w") as archive:
            for path in folder.rglob("*.jpg"):
                archive.write(path, path.relative_to(folder.parent))
    else:
        with tarfile.open(place, "w:gz") as archive:
            archive.add(folder, folder.name)
    shutil.rmtree(folder)
    found = build(name, folder=str(root))
    assert found.fingerprint == plain
    assert found.problems == []


def change(place, line, text):
    """Write another text into a line (from 1) of a file."""
    lines = place.read_text("utf-8").splitlines()
    lines[line - 1 : line] = [text] if text is not None else []
    write(place, *lines)


@pytest.mark.parametrize(
    ("name", "line", "text", "said"),
    [
        ("images.txt", 4, "4", r"images.txt, line 4: 1 columns instead of 2"),
        ("images.txt", 4, "3 002.Bird_2/x.jpg", r"images.txt, line 4: the image number 3 is already in line 3"),
        ("images.txt", 4, "4 001.Bird_1/Bird_1_0.jpg", r"images.txt, line 4: .* is of class 2 in image_class_labels"),
        ("image_class_labels.txt", 7, "7 bird", r"image_class_labels.txt, line 7: .* 'bird' is not a whole number"),
        ("image_class_labels.txt", 7, "77 3", r"image_class_labels.txt, line 7: the image number 77 is not in images"),
        ("image_class_labels.txt", 12, None, r"images.txt, line 12: the image number 12 is not in image_class_labels"),
        ("train_test_split.txt", 2, "2 1 1", r"train_test_split.txt, line 2: 3 columns"),
    ],
)
def test_a_wrong_line_of_cub_is_named(build, cub, name, line, text, said):
    change(cub / name, line, text)
    with pytest.raises(Problem, match=said):
        build("cub", folder=str(cub))


def test_a_listed_image_that_is_not_on_disk_is_left_out_by_name(build, cub):
    (cub / "images/001.Bird_1/Bird_1_1.jpg").unlink()
    found = build("cub", folder=str(cub))
    assert ("images/001.Bird_1/Bird_1_1.jpg", "is in images.txt, line 2, but not on disk") in found.problems
    assert len(found.paths) == 11


def test_class_numbers_that_skip_are_told(build, sop, draw):
    draw(sop / "bicycle_final/7_0.JPG")
    with (sop / "Ebay_test.txt").open("a") as file:
        file.write("70 7 1 bicycle_final/7_0.JPG\n")
    found = build("sop", folder=str(sop))
    assert found.problems == [], "nothing is left out"
    assert found.notes == [
        ("class_id", "skips 3 numbers between 1 and 7 (4, 5, 6): no class has them"),
        ("1 class", "has one image: nothing can match it (00007)"),
    ]
    assert len(found.class_names) == 4


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("30 3 1", r"Ebay_test.txt, line 2: 3 columns instead of 4"),
        ("30 1 1 bicycle_final/3_0.JPG", r"Ebay_test.txt, line 2: class 1 is in Ebay_train.txt, too"),
        ("30 3 1 ../3_0.JPG", r"Ebay_test.txt, line 2: \.\./3_0.JPG lies outside"),
        ("30 3 1 bicycle_final/1_0.JPG", r"Ebay_test.txt, line 2: .* is already in Ebay_train.txt, line 2"),
    ],
)
def test_a_wrong_line_of_sop_is_named(build, sop, text, said):
    change(sop / "Ebay_test.txt", 2, text)
    with pytest.raises(Problem, match=said):
        build("sop", folder=str(sop))


def test_a_list_without_its_partner_is_named(build, sop):
    (sop / "Ebay_test.txt").unlink()
    with pytest.raises(Problem, match=r"Ebay_test.txt cannot be opened"):
        build("sop", folder=str(sop))


@pytest.mark.parametrize(
    ("line", "text", "said"),
    [
        (1, "many", r"line 1: the number of images 'many'"),
        (5, "img/x.jpg id_1", r"list_eval_partition.txt, line 5: 2 columns instead of 3"),
        (5, "img/x.jpg id_1 exam", r"line 5: the status 'exam' is not one of train, query, gallery"),
    ],
)
def test_a_wrong_line_of_inshop_is_named(build, inshop, line, text, said):
    change(inshop / "Eval/list_eval_partition.txt", line, text)
    with pytest.raises(Problem, match=said):
        build("inshop", folder=str(inshop))


def test_queries_without_a_gallery_are_refused(build, inshop):
    place = inshop / "Eval/list_eval_partition.txt"
    write(place, *(line for line in place.read_text().splitlines() if "gallery" not in line))
    found = build("inshop", folder=str(inshop))
    assert found.unlike_published[0] == ("list_eval_partition.txt", "announces 10 images and lists 6")
    assert not any("lists" in reason for _, reason in found.problems)
    with pytest.raises(Problem, match="The data set has queries but no gallery"):
        split("official", found)


def test_a_query_whose_class_is_not_in_the_gallery_is_told(build, inshop):
    place = inshop / "Eval/list_eval_partition.txt"
    write(place, *(line for line in place.read_text().splitlines() if "gallery" not in line or "id_00000003" in line))
    halves = split("official", build("inshop", folder=str(inshop)))
    assert halves.note == "2 queries search a gallery of 2; 1 class is not in the gallery"


@pytest.mark.parametrize("content", [b"", b"MATLAB 5.0 MAT-file" + bytes(200), b"not one"])
def test_a_mat_file_that_is_not_one_is_named(build, cars, content):
    (cars / "cars_annos.mat").write_bytes(content)
    with pytest.raises(Problem, match=r"cars_annos.mat is not a MATLAB file"):
        build("cars", folder=str(cars))


@pytest.mark.usefixtures("in_this_process")
def test_a_class_without_a_name_is_named(build, cars):
    save_cars(cars, [("car_ims/000001.jpg", 9, 0)], ["relative_im_path", "class", "test"])
    with pytest.raises(Problem, match=r"cars_annos.mat, annotation 1: class 9 is not one of the 3 class names"):
        build("cars", folder=str(cars))


@pytest.mark.parametrize("name", ["cub", "cars", "sop", "inshop", "cifar10", "cifar100"])
def test_a_place_without_the_data_set_is_a_sentence(build, tmp_path, name):
    (tmp_path / "notes.txt").write_text("nothing")
    for place, said in (
        ("", "No folder or archive is chosen"), (tmp_path / "gone", "There is no"),
        (tmp_path / "notes.txt", "neither a folder nor an archive"), (tmp_path, "holds no"),
    ):  # fmt: skip
        with pytest.raises(Problem, match=said):
            build(name, folder=str(place), progress=silent)


def test_an_image_can_be_stretched_instead_of_cut(build, cub, draw):
    draw(cub / "images/001.Bird_1/Bird_1_0.jpg", 77, size=(40, 10))
    cut, whole = (build("cub", folder=str(cub), image_size=8, fit=fit) for fit in ("centre", "stretch"))
    assert np.asarray(cut.read(0)).shape == (10, 40, 3)
    assert whole.read(0).shape == (8, 8, 3)
    assert cut.fingerprint != whole.fingerprint, "two caches of decoded images"


def test_a_place_that_is_not_there_is_named_in_full(build, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    for name, place, said in (
        ("cub", "gone", f"There is no folder or archive {tmp_path / 'gone'}."), ("cub", "empty", tmp_path / "empty"),
        ("folder", "gone", f"There is no folder or archive {tmp_path / 'gone'}."),
    ):  # fmt: skip
        with pytest.raises(Problem, match=re.escape(str(said))):
            build(name, folder=place, progress=silent)


@pytest.mark.parametrize("name", ["images.txt", "image_class_labels.txt", "train_test_split.txt"])
def test_a_list_may_begin_with_a_mark_of_its_encoding(build, cub, name):
    (cub / name).write_text((cub / name).read_text("utf-8"), "utf-8-sig")
    found = build("cub", folder=str(cub))
    assert (len(found.paths), found.problems) == (12, [])


def test_a_list_without_lines_is_named(build, sop):
    (sop / "Ebay_test.txt").write_text("image_id class_id super_class_id path\n")
    with pytest.raises(Problem, match=r"Ebay_test\.txt lists nothing\."):
        build("sop", folder=str(sop))


def test_a_split_of_cub_that_was_cut_short_is_named(build, cub):
    """Images that it did not list were in the test set."""
    write(cub / "train_test_split.txt", "1 1", "2 1", "3 0")
    with pytest.raises(Problem, match=r"images\.txt, line 4: the image number 4 is not in train_test_split\.txt"):
        build("cub", folder=str(cub))


def test_a_list_whose_images_are_all_missing_says_which_and_where_they_are_published(build, sop):
    shutil.rmtree(sop / "bicycle_final")
    with pytest.raises(
        Problem, match=r"All 6 images of its lists are missing in .*bicycle_final/1_0\.JPG is in"
    ) as told:
        build("sop", folder=str(sop))
    assert (told.value.kept, "Choose another place" in told.value.todo) == ("Nothing was started.", False)


def test_archives_beside_what_is_missing_are_named(build, sop, tmp_path):
    shutil.rmtree(sop / "bicycle_final")
    (sop / "bicycle_final.tar.gz").write_bytes(b"")  # found, not opened
    with pytest.raises(Problem, match=r"on disk\. Not unpacked: bicycle_final\.tar\.gz\."):
        build("sop", folder=str(sop / "."))
    for name in ("a.zip", "b.tgz"):
        (tmp_path / "downloads" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "downloads" / name).write_bytes(b"")
    with pytest.raises(Problem, match=r"holds no .*\. Not unpacked: a\.zip, b\.tgz\."):
        build("cub", folder=str(tmp_path / "downloads"))


@pytest.mark.parametrize(
    "name", ["cub", "cars", "sop", "inshop", "inaturalist2018", "vehicleid", "gldv2_clean", "tiny_imagenet"]
)
def test_a_published_set_that_is_not_there_says_where_it_is_published(build, tmp_path, name):
    with pytest.raises(
        Problem, match=r"holds no .* Its authors publish the data set at (https?://[a-z0-9.]+/|the page “)"
    ):
        build(name, folder=str(tmp_path))
