"""A run of one workspace as a folder that another workspace imports."""

import json
import re

import numpy as np
import pytest

from tests.travelling_runs import first_part, second_part
from workbench.config import RunConfig
from workbench.events import Ended
from workbench.exchange.formats import export_run, refusal
from workbench.exchange.source import source_of
from workbench.problem import Problem
from workbench.workspace import Workspace
from workbench.workspace.arriving.ingest import ingest
from workbench.workspace.folders import travelling
from workbench.workspace.recorder import Recorder
from workbench.workspace.recorders.folder_recorder import FolderRecorder


@pytest.fixture
def other(tmp_path):
    """The workspace of a colleague."""
    with Workspace(tmp_path / "other", create=True) as made:
        yield made


def curves(workspace, run_id):
    points = {name: workspace.scalars(run_id, name) for name in workspace.scalar_names(run_id)}
    return {name: [list(column) for column in columns] for name, columns in points.items()}


def test_a_colleague_gets_curves_evaluations_neighbours_and_the_note(workspace, stored_run, other, tmp_path):
    workspace.set_note(stored_run, "Look at epoch 2.", "")
    export_run(workspace, stored_run, ["run"], tmp_path / "out")
    taken = ingest(other, tmp_path / "out" / f"run-{stored_run}")
    assert (taken.doubts, taken.evaluations, taken.status) == ([], 2, "done")
    np.testing.assert_equal(curves(other, taken.run_id), curves(workspace, stored_run))
    ours, theirs = workspace.run(stored_run), other.run(taken.run_id)
    assert (theirs.best, theirs.last, theirs.note) == (ours.best, ours.last, "Look at epoch 2.")
    (query, *_) = workspace.queries(workspace.evaluations(stored_run)[-1].id).sample_ids.tolist()
    assert other.neighbours(taken.run_id, query) == workspace.neighbours(stored_run, query)


def test_checkpoints_come_with_a_trained_run(trained_space, other, tmp_path):
    with Workspace(trained_space) as workspace:
        export_run(workspace, 1, ["run"], tmp_path)
        checkpoints = {path.name: path.read_bytes() for path in workspace.artefacts(1, "checkpoint")}
    taken = ingest(other, tmp_path / "run-1")
    assert taken.checkpoints == len(checkpoints) > 0
    assert {path.name: path.read_bytes() for path in other.artefacts(taken.run_id, "checkpoint")} == checkpoints


def test_one_state_of_a_run_is_imported_once(workspace, stored_run, other, tmp_path):
    for out in ("first", "second"):
        export_run(workspace, stored_run, ["run"], tmp_path / out)
    first, second = (ingest(other, tmp_path / out / f"run-{stored_run}") for out in ("first", "second"))
    assert first.run_id == second.run_id
    assert (len(other.runs()), second.evaluations) == (1, 0)


def test_a_file_that_changed_on_the_way_is_not_imported(workspace, stored_run, other, tmp_path):
    export_run(workspace, stored_run, ["run"], tmp_path)
    array = tmp_path / f"run-{stored_run}" / "embeddings-2.npy"
    array.write_bytes(array.read_bytes()[:-1] + b"x")
    taken = ingest(other, tmp_path / f"run-{stored_run}")
    assert (taken.evaluations, taken.lacking, taken.unfinished) == (1, 1, True)


def test_what_is_not_in_the_folder_is_said(workspace, stored_run, tmp_path):
    workspace.file(stored_run, "ranking-1.npz").unlink()
    said = []
    export_run(workspace, stored_run, ["run"], tmp_path, remark=said.append)
    assert said == [
        "Arrays of run 1 are missing, and with them its evaluations after epoch 1.",
    ]


def test_a_folder_that_is_there_is_not_overwritten(workspace, stored_run, tmp_path):
    export_run(workspace, stored_run, ["run"], tmp_path)
    with pytest.raises(Problem, match=f"run-{stored_run} already exists. Nothing was written."):
        export_run(workspace, stored_run, ["run"], tmp_path)
    assert travelling.has_run(tmp_path / f"run-{stored_run}")


def test_a_run_that_has_not_ended_stays_where_it_is(workspace):
    run_id = workspace.create_run(RunConfig())
    assert refusal("run", source_of(workspace, run_id)) == f"Run {run_id} has not ended: its files still change."
    workspace.set_status(run_id, "failed")
    assert "no config or no journal" in refusal("run", source_of(workspace, run_id))


def test_the_folder_in_a_workspace_itself_is_refused_with_the_command_that_helps(workspace, stored_run, other):
    with pytest.raises(Problem, match=f"`workbench export {stored_run} --format run --workspace .*` writes it"):
        ingest(other, workspace.folder(stored_run))
    with pytest.raises(Problem, match="export RUN --format run` writes a run as a folder that another"):
        travelling.run_folders(workspace.folder(stored_run).parent)


# What a person said of the run


def exported(workspace, run_id, out):
    export_run(workspace, run_id, ["run"], out)
    return out / f"run-{run_id}"


@pytest.fixture
def named(workspace, stored_run):
    """The run with a name, tags, a note and a colour of its own."""
    workspace.rename(stored_run, "Best so far")
    workspace.set_tags(stored_run, ["baseline", "for the paper"])
    workspace.set_note(stored_run, "Look at epoch 2.", "")
    workspace.set_colours({stored_run: 5})
    return stored_run


def test_name_tags_note_colour_and_date_travel(workspace, named, other, tmp_path):
    theirs, ours = other.run(ingest(other, exported(workspace, named, tmp_path)).run_id), workspace.run(named)
    for field in ("name", "tags", "note", "colour", "created", "ended"):
        assert getattr(theirs, field) == getattr(ours, field), field
    assert theirs.name == "Best so far"


def test_a_colour_that_a_run_here_has_is_not_taken(workspace, named, other, tmp_path):
    first = other.create_run(RunConfig(name="here"))
    other.set_colours({first: 5})
    taken = ingest(other, exported(workspace, named, tmp_path))
    assert other.run(taken.run_id).colour != 5


def test_what_was_changed_here_stays_when_the_folder_is_imported_again(workspace, named, other, tmp_path):
    folder = exported(workspace, named, tmp_path / "first")
    run_id = ingest(other, folder).run_id
    other.rename(run_id, "Mine")
    other.set_tags(run_id, ["baseline", "mine"])
    other.set_colours({run_id: 3})
    workspace.rename(named, "Renamed there")
    workspace.set_tags(named, ["baseline", "for the paper", "new"])
    again = exported(workspace, named, tmp_path / "second")
    for source in (folder, again, folder, again):
        assert ingest(other, source).run_id == run_id
    run = other.run(run_id)
    assert (run.name, run.colour) == ("Mine", 3)
    assert set(run.tags) >= {"baseline", "mine", "new"}


def test_what_was_changed_there_comes_where_nothing_was_changed_here(workspace, named, other, tmp_path):
    run_id = ingest(other, exported(workspace, named, tmp_path / "first")).run_id
    workspace.rename(named, "Renamed there")
    workspace.set_tags(named, ["baseline", "new"])
    ingest(other, exported(workspace, named, tmp_path / "second"))
    assert (other.run(run_id).name, other.run(run_id).tags) == ("Renamed there", ("baseline", "new"))
    assert ingest(other, tmp_path / "second" / f"run-{named}").doubts == []


def test_a_folder_of_an_older_workbench_has_none_and_is_imported_as_before(workspace, named, other, tmp_path):
    folder = exported(workspace, named, tmp_path)
    (folder / "annotations.json").unlink()
    taken = ingest(other, folder)
    run = other.run(taken.run_id)
    assert (taken.doubts, run.name, run.tags, run.note) == ([], "=HYPERLINK(1)", (), "")


def test_the_note_of_a_folder_of_an_older_workbench_is_in_its_journal(workspace, named, other, tmp_path):
    folder = exported(workspace, named, tmp_path)
    with (folder / "journal.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"note": "From the journal."}\n')
    assert other.run(ingest(other, folder).run_id).note == "Look at epoch 2.\nFrom the journal."


def test_a_changed_note_name_or_tag_is_the_same_run(workspace, named, other, tmp_path):
    run_id = ingest(other, exported(workspace, named, tmp_path / "first")).run_id
    workspace.set_note(named, "Another note.")
    workspace.rename(named, "Another name")
    second = exported(workspace, named, tmp_path / "second")
    assert ingest(other, second).run_id == run_id
    assert (other.run(run_id).note, other.run(run_id).name) == ("Another note.", "Another name")
    other.set_note(run_id, "Another note.\nWhat I think.")
    workspace.set_note(named, "")
    assert ingest(other, exported(workspace, named, tmp_path / "third")).run_id == run_id
    assert other.run(run_id).note == "What I think."
    other.set_note(run_id, "Mine.")
    workspace.set_note(named, "Theirs.")
    for source in ("fourth", "first"):
        folder = exported(workspace, named, tmp_path / source) if source == "fourth" else second
        assert ingest(other, folder).run_id == run_id
    assert other.run(run_id).note.endswith("Mine.")
    assert len(other.runs()) == 1


def test_of_a_note_that_is_too_long_the_beginning_travels_and_that_is_said(workspace, named, other, tmp_path):
    workspace.set_note(named, "é" * 100_001)
    remarks = []
    export_run(workspace, named, ["run"], tmp_path, remark=remarks.append)
    assert f"Only the first 100,000 characters of the note of run {named} are in the folder." in remarks
    assert other.run(ingest(other, tmp_path / f"run-{named}").run_id).note == "é" * 100_000


@pytest.mark.parametrize(
    "content",
    [
        b"", b"[]", b"{", b'{"name": 3}', b'{"name": ""}', b'{"name": "a", "tags": "b"}', b'{"name": "\\ud800"}',
        b'{"name": "a", "colour": 99999999999}', b'{"name": "%s"}' % (b"a" * 300),
        b'{"name": "a", "tags": [%s]}' % b",".join([b'"t"'] * 600), b"[" * 200_000, b" " * (1 << 20),
    ],
)  # fmt: skip
def test_annotations_that_are_none_are_refused_in_a_sentence(workspace, named, other, tmp_path, content):
    folder = exported(workspace, named, tmp_path)
    (folder / "annotations.json").write_bytes(content)
    taken = ingest(other, folder)
    assert [doubt.partition(" (")[0] for doubt in taken.doubts] == ["its name and tags"]
    assert (other.run(taken.run_id).name, taken.evaluations) == ("=HYPERLINK(1)", 2)


def test_a_name_from_elsewhere_is_one_plain_line(workspace, named, other, tmp_path):
    folder = exported(workspace, named, tmp_path)
    (folder / "annotations.json").write_text('{"name": "a\\nb\\u001b[2J\\u202e", "tags": ["x,y", " "]}', "utf-8")
    run = other.run(ingest(other, folder).run_id)
    assert (run.name, run.tags) == ("a b\\x1b[2J\\u202e", ("x y",))


# Gone on with in the folder


def test_a_folder_that_went_on_is_the_same_run_where_it_came_before_and_another_where_it_was_exported(
    workspace, other, tmp_path
):
    run_id = workspace.create_run(RunConfig(name="a run"))
    recorder = Recorder(workspace, run_id)
    first_part(recorder, workspace.folder(run_id))
    recorder(Ended("stopped"))
    folder = exported(workspace, run_id, tmp_path)
    before = ingest(other, folder).run_id
    second_part(FolderRecorder(folder), folder)
    assert ingest(other, folder).run_id == before
    assert (other.run(before).status, len(other.runs())) == ("done", 1)
    taken = ingest(workspace, folder)
    beside = taken.run_id
    assert taken.about_twin.startswith(
        f"Run {beside} is run {run_id} as it was exported, perhaps with what came later."
    )
    assert (workspace.run(run_id).status, workspace.run(beside).status) == ("stopped", "done")
    np.testing.assert_equal(curves(workspace, beside), curves(other, before))  # all of it, from the first step on
    again = ingest(workspace, folder)
    assert (again.run_id, again.about_twin) == (beside, "")


def test_a_later_state_of_a_run_that_came_before_is_named_beside_it(workspace, stored_run, other, tmp_path):
    first = ingest(other, exported(workspace, stored_run, tmp_path / "first"))
    assert first.about_twin == ""
    with (workspace.folder(stored_run) / "journal.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"scalars": []}\n')
    later = ingest(other, exported(workspace, stored_run, tmp_path / "later"))
    assert (later.new, later.twin) == (True, first.run_id)


def test_an_origin_says_nothing_of_the_machine(workspace, stored_run, tmp_path):
    content = json.loads((exported(workspace, stored_run, tmp_path) / "annotations.json").read_text("utf-8"))
    assert content.keys() == {"name", "note", "tags", "colour", "origin"}
    assert re.fullmatch("[0-9a-f]{32}", content["origin"])
