"""A CSV list: read back whole, and every mistake named with its line."""

import errno
import os
from pathlib import Path

import pytest
from listeners import give_up, silent

from workbench.control import Cancelled
from workbench.datasets.cache.pixels import decoded
from workbench.datasets.own import csv_list
from workbench.files.spreadsheet import csv_text
from workbench.problem import Problem


@pytest.fixture
def listed(tmp_path, draw):
    """write(text) -> path of the list, beside images x/0.png ... x/3.png of the values 0, 40, 80, 120."""
    for number in range(4):
        draw(tmp_path / "x" / f"{number}.png", 40 * number)

    def write(text, encoding="utf-8"):
        (tmp_path / "list.csv").write_bytes(text.encode(encoding))
        return str(tmp_path / "list.csv")

    return write


def test_a_list_with_a_split_is_read_back(tmp_path, listed, build):
    place = listed(
        "label, Path ,split,note\ncat,x/3.png,Train,\n\ndog,x/1.png,test,a b\r\ndog,x/0.png,train,\ncat,x/2.png,test,\n"
    )
    kept, pixels, _ = decoded(build("csv", file=place, image_size=8), tmp_path / "cache", silent)
    assert kept.paths == ["x/0.png", "x/1.png", "x/2.png", "x/3.png"]
    assert kept.class_names == ["cat", "dog"]
    assert kept.labels.tolist() == [1, 1, 0, 0]
    assert kept.official == ["train", "test", "test", "train"]
    assert pixels[:, 0, 0, 0].tolist() == [0, 40, 80, 120]
    assert kept.problems == []


def test_empty_lines_before_the_first_one_are_passed_over(listed, build):
    images = build("csv", file=listed("\n \npath;label\nx/0.png;a, b\nx/1.png;c\n"))
    assert images.class_names == ["a, b", "c"]


@pytest.mark.parametrize("named", ["sep=;\n", '\n"SEP=;"\r\n'])
def test_the_line_that_names_the_separator_for_a_spreadsheet_is_believed(listed, build, named):
    images = build("csv", file=listed(f"{named}path;label\nx/0.png;a, b, c, d\nx/1.png;c\n"))
    assert images.class_names == ["a, b, c, d", "c"]


@pytest.mark.parametrize("separator", [";", "\t"])
def test_a_list_may_have_the_separator_of_a_spreadsheet_with_decimal_commas(listed, build, separator):
    text = f'label{separator}path{separator}split\n"cat, small"{separator}x/3.png{separator}train\n'
    images = build("csv", file=listed(f"\ufeff{text}'=dog{separator}x/1.png{separator}test\n"))
    assert (images.paths, images.class_names) == (["x/1.png", "x/3.png"], ["=dog", "cat, small"])
    assert images.official == ["test", "train"]


def test_commas_in_the_name_of_a_column_do_not_separate_where_semicolons_do(listed, build):
    images = build("csv", file=listed("path;label;box (x, y, w, h)\nx/0.png;a, big;1, 2\nx/1.png;b;1, 2\n"))
    assert (images.paths, images.class_names) == (["x/0.png", "x/1.png"], ["a, big", "b"])


@pytest.mark.parametrize(
    ("text", "halves"),
    [
        ("x/0.png,a\nx/1.png,b\n", None),
        ("a;x/0.png\nb;x/1.png\n", None),
        ("train,a,x/0.PNG\ntest,b,x/1.png\n", ["test"]),  # the first is not on disk
        ("train\tx/0.png\ntest\tx/1.png\n", None),
    ],
)
def test_the_names_of_columns_may_be_missing_where_it_is_clear_which_is_which(listed, build, text, halves):
    images = build("csv", file=listed(text))
    assert images.official == halves
    assert len(images.paths) + images.left_out == 2
    assert images.class_names == (["test", "train"] if "\t" in text else ["b"] if halves else ["a", "b"])


@pytest.mark.parametrize(
    ("labels", "line"),
    [(['"a', "b", "c", "d"], 2), (['"a"', "b", '"c', "d"], 4), (['"a'] * 4, 2), (['"a"', '"b', '"c"', "d"], 3)],
)
def test_a_quotation_mark_that_is_not_closed_is_refused_before_it_takes_the_lines_behind_it(
    listed, build, labels, line
):
    rows = "".join(f"x/{number}.png,{label}\n" for number, label in enumerate(labels))
    with pytest.raises(Problem, match=rf"a quotation mark in line {line} is not closed\).*Close it; "):
        build("csv", file=listed(f"path,label\n{rows}"))


def test_a_label_between_quotation_marks_may_have_lines_and_blanks_behind_it(listed, build):
    images = build("csv", file=listed('label,path\n"red\n""panda""",x/0.png\n"b" ,x/1.png\n5" tape,x/2.png\n'))
    assert images.class_names == ['5" tape', "b", 'red\n"panda"']


def test_a_list_of_the_names_of_columns_alone_says_what_is_missing(listed, build):
    with pytest.raises(Problem, match=r"line 1: the names of the columns stand alone\. .*Add a line for each image"):
        build("csv", file=listed("path,label\n"))


def test_columns_of_other_names_are_chosen(listed, build):
    place = listed("File;split;Species;label;fold\nx/0.png;b 1;cat;old;val\nx/1.png;b 2;dog;old;train\n")
    images = build("csv", file=place, path=" file", label="species", split="fold", levels="")
    assert (images.paths, images.class_names) == (["x/0.png", "x/1.png"], ["cat", "dog"])
    assert images.official == ["test", "train"]
    kept = build("csv", file=place, path="file", split="fold")
    assert kept.class_names == ["old"], "the column label has the labels unless another one is chosen"


@pytest.mark.parametrize(
    ("named", "said", "field"),
    [
        ({"label": "genus"}, "line 1: there is no column genus; found file, species", "dataset.label"),
        ({"path": "file", "label": "File"}, "line 1: one column is chosen twice", "dataset.label"),
        ({"path": "file"}, "line 1: the columns path and label are needed; found file, species", "dataset.label"),
        ({}, "line 1: the columns path and label are needed; found file, species", "dataset.path"),
    ],
)
def test_a_column_that_is_not_there_or_twice_is_refused_at_its_field(listed, build, named, said, field):
    with pytest.raises(Problem, match=said) as raised:
        build("csv", file=listed("file,species\nx/0.png,cat\nx/1.png,dog\n"), **named)
    assert raised.value.field == field


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("path,label\nx/0.png,a\n", {}),
        ("x/0.png,a\nx/1.png,b\n", {}),
        ("\nimage\tclass\nx/0.png\ta\n", {"path": "image", "label": "class"}),
        ("image,class,by\nx/0.png,a,Eve\n", {"path": "image"}),  # which of them is the label is not clear
        ("path,label,subset\nx/0.png,a,Val\n", {"split": "subset"}),
        ("step,loss\n1,2\n", None),
        ("image,class\n", None),
        ("", None),
    ],
)
def test_the_columns_of_a_table_that_lists_images_are_seen_in_its_first_lines(listed, text, columns):
    assert csv_list.columns_of_images(Path(listed(text))) == columns


def test_a_file_that_is_no_text_lists_no_images(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"\xff\x00\xfe\x9d")
    assert csv_list.columns_of_images(tmp_path / "a.csv") is None
    assert csv_list.columns_of_images(tmp_path / "none.csv") is None


def test_names_come_back_without_the_apostrophe_before_a_formula(listed, build, draw, tmp_path):
    """A spreadsheet program, or an export of ours, writes it; but a file may begin with one itself."""
    names = ["=x.png", "'@y.png", "'+z.png"]
    for name in names:
        draw(tmp_path / name, 100)
    table = csv_text(["path", "label"], [[name, label] for name, label in zip(names, ["-1", "=a", "'=a"], strict=True)])
    images = build("csv", file=listed(table.replace("''+z.png", "'+z.png")))
    assert images.paths == sorted(names)
    assert images.class_names == ["'=a", "-1", "=a"]


def test_a_column_of_wider_labels_may_have_a_name_with_blanks(listed, build):
    place = listed("path,label,Sub family,order\nx/0.png,lynx,cat,beast\nx/1.png,owl,bird,beast\n")
    assert [level.name for level in build("csv", file=place, levels="order, sub family").levels] == [
        "order", "sub family",
    ]  # fmt: skip
    assert [level.class_names for level in build("csv", file=place, levels="Sub family").levels] == [["bird", "cat"]]


def test_wider_labels_come_from_columns(listed, build):
    text = "path,label,Genus,family\nx/0.png,lynx,cat,felid\nx/1.png,lynx,cat,felid\nx/2.png,lion,panther,felid\n"
    images = build("csv", file=listed(text), levels="family, genus")
    assert [(level.name, level.class_names, level.labels.tolist()) for level in images.levels] == [
        ("family", ["felid"], [0, 0, 0]), ("genus", ["cat", "panther"], [0, 0, 1]),
    ]  # fmt: skip
    assert images.class_names == ["lion", "lynx"]
    assert images.without({0: "is damaged"}).levels[1].labels.tolist() == [0, 1]
    assert build("csv", file=listed(text)).levels == []
    for lines, words in (
        (text, "line 1: there is no column order; found path, label, genus, family"),
        ("path,label,order\nx/0.png,lynx,\n", "line 2: order is empty"),
        ("path,label,order\nx/0.png,lynx,a\nx/1.png,lynx,b\n", "line 3: lynx is of a in a line above"),
    ):
        with pytest.raises(Problem, match=words):
            build("csv", file=listed(lines), levels="order")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_a_list_without_a_split_and_with_odd_names(listed, build, draw, tmp_path, encoding):
    draw(tmp_path / "Größe, zwei" / "漢字.png")
    found = build("csv", file=listed('path,label\n"Größe, zwei/漢字.png",é\nx\\0.png,é\n', encoding))
    assert found.paths == ["Größe, zwei/漢字.png", "x/0.png"]
    assert found.class_names == ["é"]
    assert found.official is None


def test_paths_may_be_absolute_or_start_elsewhere(tmp_path, listed, build, draw):
    absolute = tmp_path / "x" / "1.png"
    assert build("csv", file=listed(f"path,label\n{absolute},a\n")).paths == ["x/1.png"]
    assert build("csv", file=listed("path,label\n1.png,a\n"), folder=str(tmp_path / "x")).paths == ["1.png"]
    assert build("csv", file=listed("path,label\nx/../x/./2.png,a\n")).paths == ["x/2.png"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "line 1: the columns path and label are needed; found nothing"),
        ("file,label\nx/0.png,a\n", "line 1: the columns path and label are needed; found file, label"),
        ("x/0.png,x/1.png,a\n", "line 1: the names of the columns are missing, and it is not clear which is which"),
        ("x/0.png,train,test\n", "line 1: the names of the columns are missing"),
        ("\n\nfile;label\nx/0.png;a\n", "line 3: the columns path and label are needed; found file, label"),
        ("path,label,Label\nx/0.png,a,b\n", "line 1: there are 2 columns label"),
        ("path|label\nx/0.png|a\n", "line 1: the columns path and label are needed"),
        ("path,label\nx/0.png,a\nx/1.png\n", "line 3: 1 columns instead of 2"),
        ("path,label\nx/0.png,a,b\n", "line 2: 3 columns instead of 2"),
        ("path,label\n,a\n", "line 2: path or label is empty"),
        ("path,label\nx/0.png, \n", "line 2: path or label is empty"),
        ("path,label,split\nx/0.png,a,learn\n", "line 2: the split 'learn' is neither train nor test"),
        ("path,label,split\nx/0.png,a,train\nx/1.png,a,\n", "line 3: the split must be filled in on every line"),
        ("path,label,split\nx/0.png,a,\nx/1.png,a,test\n", "line 3: the split must be filled in on every line"),
        ("path,label\nx/0.png,a\n\nx/0.png,b\n", "line 4: x/0.png is already in line 2"),
        ("path,label\nx/0.png,a\nx/./0.png,b\n", "line 3: x/./0.png is already in line 2"),
        ("path,label\n../secret.png,a\n", r"line 2: \.\./secret\.png lies outside"),
        ("path,label\nx/../../secret.png,a\n", "line 2: x/../../secret.png lies outside"),
        ("path,label\n/etc/secret.png,a\n", "line 2: /etc/secret.png lies outside"),
        ('path,label\n"x/0.png\nrest",a\nx/1.png\n', "line 4: 1 columns"),
    ],
)
def test_a_mistake_is_named_with_file_and_line(listed, build, text, words):
    place = listed(text)
    with pytest.raises(Problem, match=words) as told:
        build("csv", file=place)
    assert place in told.value.what
    assert told.value.todo


def test_a_list_that_cannot_be_read_says_why(tmp_path, listed, build):
    with pytest.raises(Problem, match=r"missing\.csv cannot be opened \(No such file"):
        build("csv", file=str(tmp_path / "missing.csv"))
    with pytest.raises(Problem, match="cannot be read as CSV"):
        build("csv", file=listed("path,label\nx/0.png,é\n", "latin-1"))
    with pytest.raises(Problem, match="No CSV file is chosen"):
        build("csv")


def test_images_that_are_not_there_are_left_out_with_their_line(listed, build):
    found = build("csv", file=listed("path,label\nx/0.png,a\nx/9.png,a\nx/1.png,b\n"))
    assert found.paths == ["x/0.png", "x/1.png"]
    assert found.problems == [("x/9.png", "is in line 3 of list.csv, but not on disk")]
    assert found.notes == [("2 classes", "have one image each: nothing can match it (a, b)")]
    with pytest.raises(Problem, match=r"no images.*x/9\.png is in line 2"):
        build("csv", file=listed("path,label\nx/9.png,a\n"))


def test_images_that_cannot_be_opened_are_not_said_to_be_missing(tmp_path, build, draw):
    (tmp_path / "round.png").symlink_to("round.png")
    (tmp_path / "inner.png").mkdir()
    draw(tmp_path / "one.png")
    (tmp_path / "more.csv").write_text("path,label\none.png,a\nround.png,a\ninner.png,a\n", "utf-8")
    assert build("csv", file=str(tmp_path / "more.csv")).problems == [
        ("round.png", f"is in line 3 of more.csv, but cannot be opened ({os.strerror(errno.ELOOP)})"),
        ("inner.png", "is in line 4 of more.csv, but is no file"),
    ]


@pytest.mark.parametrize(("here", "there"), [("caf\u00e9", "cafe\u0301"), ("cafe\u0301", "caf\u00e9")])
def test_an_image_is_found_though_its_name_was_written_by_a_mac(tmp_path, build, draw, here, there):
    draw(tmp_path / there / "1.png")
    if (tmp_path / here).exists():
        pytest.skip("this disk finds a name however it is written")
    (tmp_path / "more.csv").write_text(f"path,label\n{here}/1.png,a\n{here}/2.png,a\n", "utf-8")
    found = build("csv", file=str(tmp_path / "more.csv"))
    assert found.paths == [f"{there}/1.png"]
    assert [path for path, _ in found.problems] == [f"{here}/2.png"]


def test_two_ways_to_write_one_name_in_a_list_are_one_image_that_is_there_and_one_that_is_not(tmp_path, build, draw):
    draw(tmp_path / "caf\u00e9.png")
    if (tmp_path / "cafe\u0301.png").exists():
        pytest.skip("this disk finds a name however it is written")
    (tmp_path / "more.csv").write_text("path,label\ncaf\u00e9.png,a\ncafe\u0301.png,b\n", "utf-8")
    found = build("csv", file=str(tmp_path / "more.csv"))
    assert (found.paths, found.class_names) == (["caf\u00e9.png"], ["a"])
    assert [path for path, _ in found.problems] == ["cafe\u0301.png"]


def test_validation_is_the_test_half_only_where_there_is_no_other(listed, build):
    text = "path,label,split\nx/0.png,a,train\nx/1.png,a,val\nx/2.png,b,{}\nx/3.png,b,train\n"
    assert build("csv", file=listed(text.format("val"))).official == ["train", "test", "test", "train"]
    assert build("csv", file=listed(text.format("query"))).official == ["train", "validation", "query", "train"]


def test_reading_can_be_given_up(listed, build):
    with pytest.raises(Cancelled):
        build("csv", give_up, file=listed("path,label\nx/0.png,a\n"))


@pytest.mark.parametrize("stage", ["Reading list.csv", "Checking list.csv", "Looking for the images of list.csv"])
def test_a_long_list_can_be_given_up_at_each_stage(listed, build, monkeypatch, stage):
    def listen(text, done, total):
        if text == stage and done == 2:
            raise Cancelled

    monkeypatch.setattr(csv_list, "TELL_EVERY", 2)
    with pytest.raises(Cancelled):
        build("csv", listen, file=listed("path,label\nx/0.png,a\nx/1.png,a\nx/2.png,a\nx/3.png,a\n"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_list_that_cannot_be_read_again_is_refused_and_not_waited_for(tmp_path, build):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(Problem, match="is a pipe or a device, and the list is read again later"):
        build("csv", file=str(tmp_path / "pipe"))
