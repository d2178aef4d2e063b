"""Tags from and to tables, and scores of the images of each tag."""

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from tests.ui.small_run import store_run
from workbench.cli import cli
from workbench.evaluation.intervals import bootstrap_interval
from workbench.problem import Problem
from workbench.results.slices import slices
from workbench.results.tag_table import MOST_VALUES, Imported, export_tags, import_tags
from workbench.workspace.choices.sample_tags import all_tags, attribute_of, attributes, tag_sample


@pytest.fixture
def run(workspace):
    return store_run(workspace, np.repeat(np.arange(3), 4))


@pytest.fixture
def data(workspace, run):
    return workspace.run(run.run_id).dataset_id


@pytest.fixture
def paths(workspace, data):
    return workspace.samples(data).paths


def written(tmp_path, *lines):
    (tmp_path / "tags.csv").write_text("\n".join(lines), "utf-8")
    return tmp_path / "tags.csv"


def test_a_quotation_mark_that_is_not_closed_takes_no_tags_of_other_images(workspace, data, paths, tmp_path):
    table = written(tmp_path, "path,view", f'{paths[0]},"front', f"{paths[1]},side")
    with pytest.raises(Problem, match=r"a quotation mark in line 2 is not closed\).*Close it; "):
        import_tags(workspace, data, table)
    assert all_tags(workspace, data) == {}


def test_a_column_becomes_an_attribute_and_tags_stay_tags(workspace, run, data, paths, tmp_path):
    table = written(
        tmp_path,
        "sample_id,Path,view,tags",
        f"1,{paths[0]},front, blurred ;  by  night",
        f"2,{paths[1]},  from   above ,",
        f"3,{paths[2]},,blurred",
        "4,elsewhere.png,front,",
    )
    assert import_tags(workspace, data, table) == Imported(tags=5, images=3, unknown=1)
    ids = run.ids.tolist()
    assert all_tags(workspace, data) == {
        "blurred": sorted([ids[0], ids[2]]), "by night": [ids[0]], "view=from above": [ids[1]], "view=front": [ids[0]],
    }  # fmt: skip
    assert attributes(all_tags(workspace, data)) == ["view"]


def test_letters_that_steer_a_terminal_or_turn_a_line_are_stored_as_escapes(workspace, data, paths, tmp_path):
    import_tags(workspace, data, written(tmp_path, "path,vi\u202eew,tags", f"{paths[0]},a\u202eb,c\x07"))
    assert list(all_tags(workspace, data)) == ["c\\x07", "vi\\u202eew=a\\u202eb"]


def test_a_value_replaces_the_earlier_one_and_an_empty_cell_changes_nothing(workspace, run, data, paths, tmp_path):
    tag_sample(workspace, data, int(run.ids[0]), "view=front")
    tag_sample(workspace, data, int(run.ids[1]), "view=front")
    tag_sample(workspace, data, int(run.ids[0]), "viewer=A")
    import_tags(workspace, data, written(tmp_path, "path;view", f"{paths[0]};side", f"{paths[1]};"))
    assert all_tags(workspace, data) == {
        "view=front": [run.ids[1]], "view=side": [run.ids[0]], "viewer=A": [run.ids[0]],
    }  # fmt: skip
    import_tags(workspace, data, written(tmp_path, "path;view", f"{paths[0]};side"))
    assert all_tags(workspace, data)["view=side"] == [run.ids[0]]


def test_a_line_without_a_path_is_of_no_image_and_a_tag_may_have_80_letters(workspace, run, data, paths, tmp_path):
    longest = "x" * (80 - len("view="))
    lines = ("view,path,light", f"{longest},{paths[0]},dim", "front", f"side,{paths[1]}")
    assert import_tags(workspace, data, written(tmp_path, *lines)) == Imported(tags=3, images=2, unknown=1)
    assert all_tags(workspace, data) == {
        "light=dim": [run.ids[0]], f"view={longest}": [run.ids[0]], "view=side": [run.ids[1]],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["name,view", "a,front"], "needs a column path, and a column for each attribute"),
        (["path", "a"], "needs a column path, and a column for each attribute"),
        ([""], "needs a column path, and a column for each attribute"),
        (["path,a=b", "0,1"], "has an equals sign in its title"),
        (["path,view", "PATH," + "x" * 90], "line 2: .* has over 80 characters"),
    ],
)
def test_what_is_no_table_of_tags_is_refused_in_a_sentence(workspace, data, paths, tmp_path, lines, words):
    table = written(tmp_path, *(line.replace("PATH", paths[0]) for line in lines))
    with pytest.raises(Problem, match=words):
        import_tags(workspace, data, table)
    assert all_tags(workspace, data) == {}


def test_a_column_of_measured_numbers_is_refused(workspace, tmp_path):
    run = store_run(workspace, np.repeat(np.arange(2), MOST_VALUES))
    data = workspace.run(run.run_id).dataset_id
    paths = workspace.samples(data).paths
    lines = ["path,sharpness", *(f"{path},{row / 7}" for row, path in enumerate(paths[: MOST_VALUES + 1]))]
    with pytest.raises(Problem, match=f"The column sharpness has {MOST_VALUES + 1} different values"):
        import_tags(workspace, data, written(tmp_path, *lines))
    assert all_tags(workspace, data) == {}
    import_tags(workspace, data, written(tmp_path, *lines[:-1]))
    assert len(all_tags(workspace, data)) == MOST_VALUES


def test_what_was_written_is_read_again_and_is_no_formula(workspace, run, data, paths, tmp_path):
    with pytest.raises(Problem, match="No image of this data set has a tag"):
        export_tags(workspace, data, tmp_path / "out.csv")
    for row, tag in ((0, "view=front"), (0, "=1+1"), (1, "blurred"), (0, "blurred"), (2, "=odd=x")):
        tag_sample(workspace, data, int(run.ids[row]), tag)
    before = all_tags(workspace, data)
    written = tmp_path / "made" / "out.csv"
    assert export_tags(workspace, data, written) == 3
    rows = list(csv.reader(io.StringIO(written.read_text("utf-8"))))
    assert rows[0] == ["path", "view", "tags"]
    assert all(not cell.startswith("=") for row in rows for cell in row)
    for tag, members in before.items():
        for sample in members:
            tag_sample(workspace, data, sample, tag, on=False)
    import_tags(workspace, data, written)
    assert all_tags(workspace, data) == before


def test_a_tag_with_a_semicolon_or_a_quote_stays_one_tag(workspace, run, data, paths, tmp_path):
    for tag in ("dark; blurred", "plain", 'from "above"', '"; "', "back\\", ";"):
        tag_sample(workspace, data, int(run.ids[0]), tag)
    before = all_tags(workspace, data)
    export_tags(workspace, data, tmp_path / "out.csv")
    with workspace.writing() as db:
        db.execute("delete from sample_tags")
    import_tags(workspace, data, tmp_path / "out.csv")
    assert all_tags(workspace, data) == before
    import_tags(workspace, data, written(tmp_path, "path,tags", f'{paths[1]}, 5" wide ;; "a;b" ; c'))
    assert {tag for tag, members in all_tags(workspace, data).items() if run.ids[1] in members} == {
        '5" wide', "a;b", "c",
    }  # fmt: skip
    cell = '"""quoted"" word; ""a;b"" ; ""open"'
    import_tags(workspace, data, written(tmp_path, "path,tags", f"{paths[2]},{cell}"))
    assert {tag for tag, members in all_tags(workspace, data).items() if run.ids[2] in members} == {
        '"quoted" word', "a;b", '"open',
    }  # fmt: skip


def test_an_attribute_whose_name_is_another_columns_stands_among_the_tags(workspace, run, data, tmp_path):
    for row, tag in enumerate(("path=1", "Tags=night", "id=7", "a =b", "a= b", "a=b", "=y")):
        tag_sample(workspace, data, int(run.ids[row]), tag)
    before = all_tags(workspace, data)
    export_tags(workspace, data, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text("utf-8").splitlines()[0] == "path,a,tags"
    with workspace.writing() as db:
        db.execute("delete from sample_tags")
    import_tags(workspace, data, tmp_path / "out.csv")
    assert all_tags(workspace, data) == before


@pytest.mark.parametrize("lost", ["update runs set dataset_id = null", "delete from samples"])
def test_a_table_for_a_run_without_images_is_refused(workspace, run, paths, tmp_path, lost):
    with workspace.writing() as db:
        db.execute(lost)
    table = written(tmp_path, "path,view", f"{paths[0]},front")
    asked = ["tags", str(run.run_id), "--workspace", str(workspace.path), "--import", str(table)]
    answer = CliRunner().invoke(cli, asked)
    assert answer.exit_code == 1
    assert "This run has no data set with images. No tag was changed." in answer.stderr


@pytest.mark.parametrize(
    ("tag", "attribute"),
    [
        ("view=front", ("view", "front")),
        ("a=b=c", ("a", "b=c")),
        ("blurred", ("", "blurred")),
        ("=x", ("", "=x")),
        ("x=", ("", "x=")),
    ],
)
def test_an_attribute_has_a_name_and_a_value(tag, attribute):
    assert attribute_of(tag) == attribute


def test_a_slice_has_the_scores_of_its_own_queries(workspace, run, data):
    for row in (0, 1, 5):
        tag_sample(workspace, data, int(run.ids[row]), "view=front")
    for row in (2, 3):
        tag_sample(workspace, data, int(run.ids[row]), "view=side")
    tag_sample(workspace, data, 12345, "of no image that is evaluated")
    made = {entry.tag: entry for entry in slices(workspace, run.evaluations[-1])}
    assert set(made) == {"view=front", "view=side"}
    queries = workspace.queries(run.evaluations[-1])
    row_of = {number: row for row, number in enumerate(queries.sample_ids.tolist())}
    rows = [row_of[int(run.ids[row])] for row in (0, 1, 5)]
    precisions = queries.ap[rows].astype(np.float64)
    front = made["view=front"]
    assert (front.images, front.queries) == (3, 3)
    assert front.map_at_r == pytest.approx(precisions.mean(), abs=1e-12)
    assert front.recall == pytest.approx((queries.first_hit[rows] == 1).mean(), abs=1e-12)
    assert (front.low, front.high) == pytest.approx(bootstrap_interval(precisions), abs=1e-12)


def test_slices_are_ordered_by_attribute_and_then_by_score(workspace, run, data):
    queries = workspace.queries(run.evaluations[-1])
    worst, best = (int(queries.sample_ids[row]) for row in (queries.ap.argmin(), queries.ap.argmax()))
    for sample, tag in ((best, "a=best"), (worst, "a=worst"), (best, "plain"), (worst, "b=only")):
        tag_sample(workspace, data, sample, tag)
    entries = slices(workspace, run.evaluations[-1])
    assert [entry.tag for entry in entries] == ["plain", "a=worst", "a=best", "b=only"]


def test_images_without_another_of_their_class_are_no_queries(workspace):
    run = store_run(workspace, np.array([0, 0, 1, 2]))
    data = workspace.run(run.run_id).dataset_id
    for row in range(4):
        tag_sample(workspace, data, int(run.ids[row]), "pair=yes" if row < 2 else "pair=no")
    made = {entry.tag: entry for entry in slices(workspace, run.evaluations[-1])}
    assert (made["pair=no"].images, made["pair=no"].queries) == (2, 0)
    assert np.isnan(made["pair=no"].map_at_r)
    assert made["pair=yes"].queries == 2


def test_the_command_prints_a_line_for_each_tag_and_json(workspace, run, paths, tmp_path):
    asked = ["tags", str(run.run_id), "--workspace", str(workspace.path), "--epoch", "last"]
    bare = CliRunner().invoke(cli, asked)
    assert (bare.exit_code, bare.stdout) == (0, "")
    assert "No image of this evaluation has a tag." in bare.stderr
    table = written(tmp_path, "path,view", f"{paths[0]},front", "elsewhere,front")
    answer = CliRunner().invoke(cli, [*asked, "--import", str(table), "--export", str(tmp_path / "out.csv")])
    assert answer.exit_code == 0
    assert "Tags stored: 1, of 1 images; rows about images of another data set: 1." in answer.stderr
    head, line = answer.stdout.splitlines()
    assert head.split()[:4] == ["tag", "images", "queries", "R@1"]
    assert line.split()[:3] == ["view=front", "1", "1"]
    assert (tmp_path / "out.csv").read_text("utf-8").splitlines()[0] == "path,view,tags"
    read = json.loads(CliRunner().invoke(cli, [*asked, "--json"]).stdout)
    assert (read["run"], [entry["tag"] for entry in read["tags"]]) == (run.run_id, ["view=front"])


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["path,view,view", "{0},front,side"], "has more than one column 'view'"),
        (["path,view", "{0},front", "{1},side", "{0},side"], "line 4: {0} has “view=front” and “view=side”"),
        (["path,view,tags", "{0},front,view=side"], "line 2: {0} has “view=front” and “view=side”"),
        (
            ["path,view", "a.png,front", "b.png,side"],
            "No image of the data set has a path of tags.csv; its first is a.png",
        ),
    ],
)
def test_a_table_that_contradicts_itself_or_is_of_other_images_is_refused(
    workspace, data, paths, tmp_path, lines, words
):
    with pytest.raises(Problem) as refused:
        import_tags(workspace, data, written(tmp_path, *(line.format(*paths) for line in lines)))
    assert words.format(*paths) in str(refused.value)
    assert refused.value.kept == "No tag was changed."
    assert all_tags(workspace, data) == {}


def test_rows_that_repeat_and_paths_with_blanks_around_them_are_read(workspace, data, paths, tmp_path):
    rows = [f"{paths[0]} ,front", f" {paths[0]},front", f"{paths[0]},"]
    assert import_tags(workspace, data, written(tmp_path, "path,view", *rows)) == Imported(1, 1, 0)
    assert list(all_tags(workspace, data)) == ["view=front"]


def test_a_path_of_macos_is_found_by_the_accents_of_a_table(workspace, data, paths, tmp_path, monkeypatch):
    """In names of files that macOS makes, "é" may be two letters; a spreadsheet writes one."""
    samples = workspace.samples(data)
    decomposed = replace(samples, paths=["e\u0301/1.png", *samples.paths[1:]])
    monkeypatch.setattr(type(workspace), "samples", lambda self, dataset_id: decomposed)
    assert import_tags(workspace, data, written(tmp_path, "path,view", "é/1.png,front")) == Imported(1, 1, 0)
