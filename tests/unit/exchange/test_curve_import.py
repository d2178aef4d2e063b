"""Curves of other programs as runs: TensorBoard's event files and tables, whole, grown, broken and hostile."""

import errno
import json
import math
import os
import shlex
import shutil
import struct
import subprocess
import sys
import tracemalloc
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.waits import HANG
from workbench.cli import main
from workbench.comparing.overview import overview
from workbench.config import RunConfig
from workbench.control import Cancelled
from workbench.exchange.event_records import record
from workbench.exchange.exported.tensorboard import scalar_event
from workbench.exchange.formats import export_run
from workbench.exchange.imported import event_files, foreign_run
from workbench.exchange.imported.curve_import import WAITING, holds_curves, import_curves
from workbench.problem import Problem
from workbench.progress import quiet
from workbench.workspace import Workspace, recorder
from workbench.workspace.arriving.ingest import ingest
from workbench.workspace.folders import journal, turns
from workbench.workspace.repairs.repair import repair
from workbench.workspace.times import now

MADE = "events.out.tfevents.1700000000.host"


def curves(workspace, run_id):
    points = {name: workspace.scalars(run_id, name) for name in workspace.scalar_names(run_id)}
    return {name: (steps.tolist(), values.tolist()) for name, (steps, values) in points.items()}


def written(folder, *events, name=MADE):
    """An event file of these Event messages."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(b"".join(map(record, events)))
    return folder


def points(tag, *values):
    return [scalar_event(tag, step, value, 1.7e9) for step, value in enumerate(values)]


def table(path, text):
    path.write_text(text, "utf-8")
    return path


def field(number, wire, content):
    """A protobuf field whose number and length are below 16 and 128."""
    return bytes([number << 3 | wire, *([len(content)] if wire == 2 else [])]) + content


def tensor_event(tag, step, tensor, plugin=b"scalars"):
    metadata = field(9, 2, field(1, 2, field(1, 2, plugin))) if plugin else b""
    value = field(1, 2, tag) + field(8, 2, tensor) + metadata
    return field(2, 0, bytes([step])) + field(5, 2, field(1, 2, value))


def test_exported_curves_come_back_equal(workspace, stored_run, tmp_path):
    export_run(workspace, stored_run, ["tensorboard", "csv"], tmp_path)
    with Workspace(tmp_path / "other", create=True) as other:
        [run], _ = import_curves(other, tmp_path / "tensorboard", "old")
        assert other.run(run.run_id).name == "old"
        single = {
            name: (steps, np.float32(values).tolist())
            for name, (steps, values) in curves(workspace, stored_run).items()
        }
        np.testing.assert_equal(curves(other, run.run_id), single)
        [run], _ = import_curves(other, tmp_path / "scalars.csv")
        np.testing.assert_equal(curves(other, run.run_id), curves(workspace, stored_run))


def test_a_run_of_curves_has_ended_and_says_where_it_comes_from(workspace, tmp_path):
    folder = written(tmp_path / "exp", *points("val/recall", 0.5))
    [one], remarks = import_curves(workspace, folder)
    run = workspace.run(one.run_id)
    assert (run.status, run.name, run.epochs, run.seconds, run.best, remarks) == ("done", "exp", 0, 0.0, {}, [])
    assert (run.curves_of, run.unread) == (str(folder), "")
    assert run.environment["curves"]["program"] == "TensorBoard"
    assert RunConfig.recorded(run.config).dataset.params == {"curves": str(folder)}
    assert "start it there" in RunConfig.recorded(run.config).check({})["dataset.name"]


def test_both_forms_of_summaries_are_read_and_other_tensors_are_not(workspace, tmp_path):
    single, double = struct.pack("<f", 0.25), struct.pack("<d", 1e300)
    events = [
        *points("old", 1.5),
        tensor_event(b"list", 1, field(1, 0, b"\1") + field(5, 2, single)),
        tensor_event(b"content", 1, field(1, 0, b"\1") + field(4, 2, single)),
        tensor_event(b"content", 2, field(1, 0, b"\1") + field(4, 2, single), plugin=b""),  # named before
        tensor_event(b"double", 1, field(1, 0, b"\2") + field(6, 2, double)),
        tensor_event(b"histogram", 1, field(1, 0, b"\1") + field(5, 2, single), plugin=b"histograms"),
        tensor_event(b"unknown", 1, field(1, 0, b"\1") + field(5, 2, single), plugin=b""),
        tensor_event(b"two", 1, field(1, 0, b"\1") + field(5, 2, single * 2)),
        tensor_event(b"text", 1, field(1, 0, b"\7") + field(4, 2, b"word")),
    ]
    [run], remarks = import_curves(workspace, written(tmp_path / "exp", *events))
    assert curves(workspace, run.run_id) == {
        "old": ([0], [1.5]), "list": ([1], [0.25]), "content": ([1, 2], [0.25, 0.25]), "double": ([1], [1e300]),
    }  # fmt: skip
    assert remarks == []


def test_a_tree_becomes_runs_named_by_their_folders_and_files_of_one_are_joined(workspace, tmp_path):
    written(tmp_path / "runs", *points("loss", 1.0))
    written(tmp_path / "runs" / "a" / "b", *points("loss", 2.0, 3.0))
    written(tmp_path / "runs" / "a" / "b", *points("loss", 5.0), *points("late", 1.0), name=MADE.replace("17", "18"))
    (tmp_path / "runs" / "notes.txt").write_text("no run", "utf-8")
    imported, _ = import_curves(workspace, tmp_path / "runs")
    assert [run.name for run in imported] == ["a/b", "runs"]
    assert curves(workspace, imported[0].run_id) == {"loss": ([0, 1], [5.0, 3.0]), "late": ([0], [1.0])}


def test_imported_again_a_folder_adds_what_is_new_alone(workspace, tmp_path):
    folder = written(tmp_path / "exp", *points("loss", 1.0, math.nan))
    [first], _ = import_curves(workspace, folder)
    [same], _ = import_curves(workspace, folder)
    assert (same.run_id, same.new, same.points) == (first.run_id, False, 0)
    written(tmp_path / "exp", *points("loss", 1.0, math.nan, 3.0), *points("acc", 0.5))
    [grown], _ = import_curves(workspace, folder)
    assert (grown.run_id, grown.points, workspace.run(first.run_id).status) == (first.run_id, 2, "done")
    np.testing.assert_equal(
        curves(workspace, first.run_id), {"loss": ([0, 1, 2], [1.0, math.nan, 3.0]), "acc": ([0], [0.5])}
    )
    assert len(workspace.runs()) == 1


def test_a_value_that_was_written_anew_replaces_the_one_before(workspace, tmp_path):
    [run], _ = import_curves(workspace, written(tmp_path / "exp", *points("loss", 1.0, 2.0)))
    [again], _ = import_curves(workspace, written(tmp_path / "exp", *points("loss", 1.0, 7.0)))
    assert (again.points, curves(workspace, run.run_id)) == (1, {"loss": ([0, 1], [1.0, 7.0])})


@pytest.mark.parametrize("locks_folders", [turns.LOCKS_FOLDERS, False])
def test_an_import_waits_for_another_one_which_would_make_the_same_runs(
    workspace, tmp_path, locks_folders, monkeypatch
):
    monkeypatch.setattr(turns, "LOCKS_FOLDERS", locks_folders)
    source = table(tmp_path / "curve.csv", "step,loss\n1,2\n")
    import_curves(workspace, source)
    said = []

    def progress(text, done, total):
        said.append(text)
        if text == WAITING:
            raise Cancelled

    runs = workspace.path / "runs"
    with turns.alone(runs, runs / ".importing-curves.lock", pytest.fail), pytest.raises(Cancelled):
        import_curves(workspace, source, progress=progress)
    import_curves(workspace, source, progress=progress)
    assert said.count(WAITING) == 1


def test_a_run_in_the_trash_is_not_made_again(workspace, tmp_path):
    folder = written(tmp_path / "exp", *points("loss", 1.0))
    [run], _ = import_curves(workspace, folder)
    workspace.trash(run.run_id)
    [again], _ = import_curves(workspace, folder)
    assert again.words == f"Run {run.run_id} (exp) is in the trash, with the same points."
    assert workspace.runs() == []


def test_new_points_of_a_run_in_the_trash_are_not_added_and_said(workspace, tmp_path):
    [run], _ = import_curves(workspace, written(tmp_path / "exp", *points("loss", 1.0)))
    workspace.trash(run.run_id)
    folder = written(tmp_path / "exp", *points("loss", 1.0, 2.0, 3.0))
    [again], _ = import_curves(workspace, folder)
    assert again.words == (
        f"Run {run.run_id} (exp) is in the trash: 2 more points were found, and none was added. "
        "Restore it and import again for them."
    )
    assert (workspace.runs(), curves(workspace, run.run_id)) == ([], {"loss": ([0], [1.0])})
    workspace.restore(run.run_id)
    [restored], _ = import_curves(workspace, folder)
    assert (restored.run_id, restored.points) == (run.run_id, 2)


BEGAN = 1_600_000_000  # 13 September 2020, 12:26:40


def test_a_run_has_the_times_of_its_event_files(workspace, tmp_path):
    events = [scalar_event("loss", step, 1.0, BEGAN + 90 * step) for step in range(3)]
    folder = written(tmp_path / "exp", *events)
    [one], _ = import_curves(workspace, folder)
    run = workspace.run(one.run_id)
    assert (run.created, run.ended) == ("2020-09-13T12:26:40+00:00", "2020-09-13T12:29:40+00:00")
    assert run.seconds == 180
    written(tmp_path / "exp", *events, scalar_event("loss", 3, 1.0, BEGAN + 3600))
    import_curves(workspace, folder)
    run = workspace.run(one.run_id)
    assert (run.created, run.ended) == ("2020-09-13T12:26:40+00:00", "2020-09-13T13:26:40+00:00")
    assert run.seconds == 3600


@pytest.mark.parametrize("seconds", [0.0, -5.0, math.nan, math.inf, 1e300])
def test_times_that_no_run_has_are_not_believed(workspace, tmp_path, seconds):
    since = now()
    [one], _ = import_curves(workspace, written(tmp_path / "exp", scalar_event("loss", 1, 1.0, seconds)))
    run = workspace.run(one.run_id)
    assert (since <= run.created <= run.ended <= now(), run.seconds) == (True, 0.0)


def downloaded(folder, run, tag, *values, since=BEGAN):
    folder.mkdir(exist_ok=True)
    lines = [f"{since + 60 * step}.5,{step},{value}\n" for step, value in enumerate(values)]
    return table(folder / f"run-{run}-tag-{tag}.csv", "Wall time,Step,Value\n" + "".join(lines))


def test_the_tables_that_tensorboard_gives_are_joined_by_run(workspace, tmp_path):
    folder = tmp_path / "charts"
    downloaded(folder, "resnet_train", "epoch_loss", 3.0, 2.0)
    downloaded(folder, "resnet_train", "accuracy", 0.5, 0.75, 1.0)
    downloaded(folder, "resnet_validation", "epoch_loss", 4.0)
    imported, remarks = import_curves(workspace, folder)
    assert [(run.name, run.points) for run in imported] == [("resnet_train", 5), ("resnet_validation", 1)]
    assert curves(workspace, imported[0].run_id) == {
        "epoch_loss": ([0, 1], [3.0, 2.0]), "accuracy": ([0, 1, 2], [0.5, 0.75, 1.0]),
    }  # fmt: skip
    run = workspace.run(imported[0].run_id)
    assert (run.created, run.ended, remarks) == ("2020-09-13T12:26:40+00:00", "2020-09-13T12:28:40+00:00", [])
    downloaded(folder, "resnet_train", "lr", 0.1)
    again, _ = import_curves(workspace, folder)
    assert [(run.run_id, run.new, run.points) for run in again] == [
        (imported[0].run_id, False, 1), (imported[1].run_id, False, 0),
    ]  # fmt: skip


def test_one_such_table_is_a_run_of_its_run_and_the_root_is_named_by_its_folder(workspace, tmp_path):
    [one], _ = import_curves(workspace, downloaded(tmp_path / "charts", ".", "loss", 1.0))
    assert (one.name, list(curves(workspace, one.run_id))) == ("charts", ["loss"])


def test_folders_and_tables_that_cannot_be_opened_are_named(workspace, tmp_path, monkeypatch):
    written(tmp_path / "runs" / "a", *points("loss", 1.0))
    for name in ("b", "c"):
        (tmp_path / "runs" / name).mkdir()
    closed = table(tmp_path / "runs" / "c" / "loss.csv", "step,loss\n1,2\n")
    scandir, opener = os.scandir, Path.open

    def refuse(path):
        if Path(path).name == "b":
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    def refuse_file(path, *arguments, **options):
        if path == closed:
            raise PermissionError(13, "Permission denied", str(path))
        return opener(path, *arguments, **options)

    monkeypatch.setattr(os, "scandir", refuse)
    monkeypatch.setattr(Path, "open", refuse_file)
    [run], [remark] = import_curves(workspace, tmp_path / "runs")
    assert run.name == "a"
    assert remark == f"Not read, as it cannot be opened: {tmp_path / 'runs' / 'b'}, {closed}."
    with pytest.raises(Problem, match="Not read, as it cannot be opened"):
        import_curves(workspace, tmp_path / "runs" / "b")


def test_a_cancelled_import_leaves_whole_runs_only(workspace, tmp_path):
    written(tmp_path / "runs" / "a", *points("loss", 1.0))
    written(tmp_path / "runs" / "b", *points("loss", 1.0))

    def progress(text, done, total):
        if text.startswith("Storing b"):
            raise Cancelled

    with pytest.raises(Cancelled):
        import_curves(workspace, tmp_path / "runs", progress=progress)
    assert [(run.name, run.status) for run in workspace.runs()] == [("a", "done")]
    imported, _ = import_curves(workspace, tmp_path / "runs")
    assert [(run.name, run.new) for run in imported] == [("a", False), ("b", True)]


KILLED = """
import os, sys
from pathlib import Path
from workbench.exchange.imported import curve_import
from workbench.workspace import Workspace

curve_import.Recorder = lambda *run: os._exit(9)  # between the run's row and its first point
curve_import.import_curves(Workspace(Path(sys.argv[1])), Path(sys.argv[2]))
"""


def test_what_an_import_that_was_killed_at_once_left_is_the_run_of_the_next_one(workspace, tmp_path):
    folder = written(tmp_path / "exp", *points("loss", 1.0, 2.0))
    command = [sys.executable, "-c", KILLED, str(workspace.path), str(folder)]
    assert subprocess.run(command, timeout=HANG, check=False).returncode == 9
    workspace.sweep_dead_runs()
    assert [(run.status, run.curves_of) for run in workspace.runs()] == [("interrupted", str(folder))]
    assert workspace.runs()[0].problem.endswith("Import them again: the rest is added.")
    [run], _ = import_curves(workspace, folder)
    assert (run.run_id, run.points, len(workspace.runs())) == (1, 2, 1)
    assert workspace.run(1).status == "done"


def test_a_cancelled_continuation_keeps_the_run(workspace, tmp_path):
    [run], _ = import_curves(workspace, written(tmp_path / "exp", *points("loss", 1.0)))
    folder = written(tmp_path / "exp", *points("loss", 1.0, 2.0))

    def progress(text, done, total):
        if text == "Storing exp":
            raise Cancelled

    with pytest.raises(Cancelled):
        import_curves(workspace, folder, progress=progress)
    assert workspace.run(run.run_id).status == "done"
    [more], _ = import_curves(workspace, folder)
    assert (more.run_id, more.points) == (run.run_id, 1)


def test_on_a_disk_that_is_full_at_the_end_nothing_of_the_run_is_left(workspace, tmp_path, monkeypatch):
    write = journal.Journal.write

    def full(self, lines):
        if any('"done"' in line for line in lines):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(self, lines)

    monkeypatch.setattr(recorder, "LAST_WORD", 0.0)
    folder = written(tmp_path / "exp", *points("loss", 1.0))
    with monkeypatch.context() as filled:
        filled.setattr(journal.Journal, "write", full)
        with pytest.raises(Problem, match="The run's journal could not be written"):
            import_curves(workspace, folder)
    assert workspace.runs() == []
    assert [path.name for path in (workspace.path / "runs").iterdir() if path.is_dir()] == []
    [run], _ = import_curves(workspace, folder)
    assert workspace.run(run.run_id).status == "done"


# Files that are broken, or made to harm


def test_broken_frames_and_records_are_counted_and_the_rest_is_read(workspace, tmp_path):
    good, bad = points("loss", 1.0, 2.0), bytearray(record(scalar_event("loss", 9, 9.0, 0)))
    bad[-6] ^= 1
    folder = written(tmp_path / "exp", good[0])
    garbage = record(b"\x2a\xff\xff\xff\xff\x0f")  # a summary of four gigabytes
    (folder / MADE).write_bytes(record(good[0]) + bytes(bad) + garbage + record(good[1]) + record(good[0])[:20])
    [run], remarks = import_curves(workspace, folder)
    assert curves(workspace, run.run_id) == {"loss": ([0, 1], [1.0, 2.0])}
    assert remarks == [
        "“exp”, left out: records with a wrong checksum (1); records that cannot be read (1); files that end within a "
        "record (1)."
    ]


WHOLE = [*points("loss", 1.0, 2.0), tensor_event(b"t", 1, field(1, 0, b"\1") + field(5, 2, struct.pack("<f", 0.5)))]


@given(st.data())
def test_any_bytes_are_read_or_counted(tmp_path_factory, data):
    """Mutated messages in whole frames, and mutated frames: no error leaves the reader."""
    events = [data.draw(mutated(event)) for event in WHOLE]
    content = data.draw(mutated(b"".join(map(record, events))) | st.just(b"".join(map(record, events))))
    folder = tmp_path_factory.getbasetemp()
    (folder / "any.tfevents").write_bytes(content)
    run = event_files.read_folder(event_files.EventFolder(folder, "any", ("any.tfevents",), len(content)), quiet)
    assert run.points <= 20
    assert all(len(curve) <= 200 for curve in run.curves)


def mutated(content):
    """The bytes with some of them replaced, left out or put in."""
    place = st.integers(0, len(content))
    return st.builds(
        lambda at, gone, new: content[:at] + new + content[at + gone :], place, st.integers(0, 8), st.binary(max_size=8)
    )


@pytest.mark.parametrize("right", [True, False])
def test_a_giant_length_takes_no_memory(workspace, tmp_path, right):
    folder = written(tmp_path / "exp", *points("loss", 1.0))
    head = bytearray(record(b"")[:12])
    giant = struct.pack("<Q", 1 << 60)
    head = giant + record(giant)[20:24] if right else giant + b"1234"
    with (folder / MADE).open("ab") as file:
        file.write(head)
    tracemalloc.start()
    try:
        _, [remark] = import_curves(workspace, folder)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20 << 20
    assert ("end within a record" if right else "after a wrong length") in remark


def test_a_record_of_images_is_passed_over_without_memory_for_it(workspace, tmp_path):
    folder = written(tmp_path / "exp", *points("loss", 1.0))
    length = struct.pack("<Q", 16 << 20)
    large = length + record(length)[20:24] + bytes((16 << 20) + 4)
    (folder / MADE).write_bytes(large + (folder / MADE).read_bytes())
    del large
    tracemalloc.start()
    try:
        [run], remarks = import_curves(workspace, folder)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 << 20
    assert (curves(workspace, run.run_id), remarks) == ({"loss": ([0], [1.0])}, [])


def test_too_many_curves_and_points_are_bounded_and_said(workspace, tmp_path, monkeypatch):
    monkeypatch.setattr(foreign_run, "MOST_CURVES", 3)
    monkeypatch.setattr(foreign_run, "MOST_POINTS", 5)
    events = [event for number in range(10) for event in points(f"tag {number}", 1.0)]
    [run], [remark] = import_curves(workspace, written(tmp_path / "exp", *events, *points("tag 0", 1.0, 2.0, 3.0)))
    assert sum(len(steps) for steps, _ in curves(workspace, run.run_id).values()) == 4
    assert remark == ("“exp”, left out: points of other curves than the first 3 (7); points after the first 5 (1).")


def test_names_that_steer_a_terminal_or_are_markup_are_plain_text(workspace, tmp_path, capsys):
    nasty = "<b>x</b>\x1b[31m\u202e/../../etc"
    written(tmp_path / "runs" / "a\x1b[2Jb", *points(nasty, 1.0))
    assert main(["import", str(tmp_path / "runs"), "-w", str(workspace.path)]) == 0
    said = capsys.readouterr()
    assert "\x1b" not in said.out + said.err
    [run] = workspace.runs()
    [name] = workspace.scalar_names(run.id)
    assert name == "<b>x</b>\\x1b[31m\\u202e/../../etc"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such names of files")
def test_a_name_is_one_line_whatever_the_folder_or_table_is_called(workspace, tmp_path):
    root = tmp_path / "runs"
    written(root / "a\n<b>\u202e", *points("loss", 1.0))
    written(root / "\n", *points("loss", 1.0))
    downloaded(root / "charts", "x\n<i>y\u2066", "loss\n<b>", 1.0)
    import_curves(workspace, root)
    assert {run.name: workspace.scalar_names(run.id) for run in workspace.runs()} == {
        "a <b>\\u202e": ["loss"], "TensorBoard": ["loss"], "charts/x <i>y\\u2066": ["loss <b>"],
    }  # fmt: skip


def test_steps_that_no_run_has_are_left_out(workspace, tmp_path):
    negative = field(2, 0, b"\xff" * 9 + b"\1") + scalar_event("loss", 1, 2.0, 0)[11:]
    [run], [remark] = import_curves(workspace, written(tmp_path / "exp", *points("loss", 1.0), negative))
    assert curves(workspace, run.run_id) == {"loss": ([0], [1.0])}
    assert "points without a possible step (1)" in remark


@pytest.mark.skipif(sys.platform == "win32", reason="Windows asks for a privilege to make links")
def test_links_are_not_followed(workspace, tmp_path):
    folder = written(tmp_path / "exp", *points("loss", 1.0))
    outside = written(tmp_path / "outside", *points("secret", 1.0))
    (folder / f"{MADE}.2").symlink_to(outside / MADE)
    (folder / "more").symlink_to(outside)
    [run], [remark] = import_curves(workspace, folder)
    assert list(curves(workspace, run.run_id)) == ["loss"]
    assert remark == f"“exp”, left out: {MADE}.2, which is a link or cannot be opened (1)."


@pytest.mark.skipif(os.name != "posix", reason="Windows has no pipes among files")
def test_a_pipe_among_tables_is_not_waited_for(workspace, tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe.csv")
    table(tmp_path / "good.csv", "step,loss\n1,2\n")
    whole = Path.open
    monkeypatch.setattr(
        Path,
        "open",
        lambda path, *mode: pytest.fail("it would wait") if path.name == "pipe.csv" else whole(path, *mode),
    )
    assert [run.name for run in import_curves(workspace, tmp_path)[0]] == ["good"]


def test_a_folder_without_curves_is_refused_in_words(workspace, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(
        Problem, match=r"holds no event files of TensorBoard and no tables of curves. Nothing was imported"
    ):
        import_curves(workspace, tmp_path / "empty")
    written(tmp_path / "graph", field(3, 2, b"brain.Event:2"))
    with pytest.raises(Problem, match=r"has no curves. “graph” has no scalars. Nothing was imported."):
        import_curves(workspace, tmp_path / "graph")
    assert workspace.runs() == []


def test_a_run_folder_is_for_ingest(workspace, stored_run, tmp_path):
    export_run(workspace, stored_run, ["run"], tmp_path)
    with pytest.raises(Problem, match=r"is a run folder.*workbench ingest"):
        import_curves(workspace, tmp_path / f"run-{stored_run}")


# Tables


def test_the_export_of_a_chart_of_several_runs_becomes_runs(workspace, tmp_path):
    chart = table(
        tmp_path / "recall.csv",
        '"Step","sun-1 - val/recall","sun-1 - val/recall__MIN","sun-1 - val/recall__MAX","a - b - val/recall"\n'
        '"0","0.5","0.4","0.6",""\n"100","NaN","0.4","0.6","0.25"\n',
    )
    imported, remarks = import_curves(workspace, chart)
    assert ([run.name for run in imported], remarks) == (["sun-1", "a - b"], [])
    np.testing.assert_equal(
        [curves(workspace, run.run_id) for run in imported],
        [{"val/recall": ([0, 100], [0.5, math.nan])}, {"val/recall": ([100], [0.25])}],
    )


def test_charts_of_a_folder_are_joined_by_run(workspace, tmp_path):
    folder = tmp_path / "charts"
    folder.mkdir()
    table(folder / "a.csv", "Step,sun - loss,moon - loss\n1,2,3\n")
    table(folder / "b.csv", "Step,sun - acc\n1,0.5\n")
    imported, _ = import_curves(workspace, folder)
    assert [(run.name, run.points) for run in imported] == [("sun", 2), ("moon", 1)]
    again, _ = import_curves(workspace, folder)
    assert [run.points for run in again] == [0, 0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("step,loss,recall@1\n1,0.5,\n2,0.25,0.75\n", {"loss": ([1, 2], [0.5, 0.25]), "recall@1": ([2], [0.75])}),
        ("Epoch;loss\n1;0,5\n2;0,25\n", {"loss": ([1, 2], [0.5, 0.25])}),
        (",epoch,step,loss\n0,3,10.0,0.5\n", {"epoch": ([10], [3.0]), "loss": ([10], [0.5])}),
        ("loss,epoch,acc\n1,7,\n,7,0.5\n", {"loss": ([7], [1.0]), "acc": ([7], [0.5])}),
        ("Wall time,Step,Value\n1.7e9,3,0.5\n", {"curve": ([3], [0.5])}),
        ("step,loss,loss\n1,2,3\n", {"loss": ([1], [2.0]), "loss (2)": ([1], [3.0])}),
        ("step,loss\n5,inf\n", {"loss": ([5], [math.inf])}),
    ],
)
def test_tables_of_one_run(workspace, tmp_path, text, expected):
    path = table(tmp_path / "curve.csv", text)
    assert holds_curves(path)
    [run], remarks = import_curves(workspace, path)
    assert (run.name, curves(workspace, run.run_id), remarks) == ("curve", expected, [])


def test_columns_of_words_and_rows_without_a_step_are_counted(workspace, tmp_path):
    path = table(tmp_path / "mixed.csv", "step,loss,note\n1,2,good\n1.5,3,\n,4,\n")
    [run], [remark] = import_curves(workspace, path)
    assert curves(workspace, run.run_id) == {"loss": ([1], [2.0])}
    assert remark == ("“mixed”, left out: rows without a whole step (2); columns that hold more than numbers (1).")


def test_a_table_of_embeddings_is_none_of_curves(tmp_path):
    assert not holds_curves(table(tmp_path / "a.csv", "0,1,label\n0.5,0.25,cat\n"))
    assert not holds_curves(table(tmp_path / "b.csv", "step,1,label\n0.5,0.25,cat\n"))
    (tmp_path / "c.npy").write_bytes(b"")
    assert not holds_curves(tmp_path / "c.npy")


def test_a_table_with_too_many_points_is_refused_before_it_fills_the_memory(workspace, tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.exchange.imported.curve_tables.MOST_POINTS", 10)
    with pytest.raises(Problem, match="holds more than 10 points of curves"):
        import_curves(workspace, table(tmp_path / "t.csv", "step,loss\n" + "".join(f"{n},1\n" for n in range(20))))
    assert workspace.runs() == []


LIGHTNING = "epoch,step,train_loss,val_recall\n0,49,2.5,\n0,49,,0.25\n1,99,1.5,\n1,99,,0.5\n"


def lightning(folder, text=LIGHTNING):
    folder.mkdir(parents=True)
    (folder / "hparams.yaml").write_text("lr: 0.1\n", "utf-8")
    return table(folder / "metrics.csv", text)


def test_a_tree_of_tables_becomes_a_run_for_each_folder(workspace, tmp_path):
    for version in (0, 1):
        lightning(tmp_path / "logs" / f"version_{version}")
    imported, remarks = import_curves(workspace, tmp_path / "logs")
    assert [(run.name, run.points) for run in imported] == [("version_0", 6), ("version_1", 6)]
    assert curves(workspace, 1) == {
        "epoch": ([49, 99], [0.0, 1.0]), "train_loss": ([49, 99], [2.5, 1.5]), "val_recall": ([49, 99], [0.25, 0.5]),
    }  # fmt: skip
    assert remarks == ["Not read: hparams.yaml (2); an imported run has only curves."]
    again, _ = import_curves(workspace, tmp_path / "logs" / "version_1")
    alone, _ = import_curves(workspace, tmp_path / "logs" / "version_0" / "metrics.csv")
    assert [(run.run_id, run.points) for run in (*again, *alone)] == [(2, 0), (1, 0)]


@pytest.mark.parametrize("below", ["", "metrics.csv"])
def test_a_table_of_lightning_is_named_by_its_folder(workspace, tmp_path, below):
    lightning(tmp_path / "version_7")
    [run], _ = import_curves(workspace, tmp_path / "version_7" / below)
    assert run.name == "version_7"


def test_several_tables_of_a_folder_in_a_tree_are_named_by_both(workspace, tmp_path):
    for name in ("first", "second"):
        folder = tmp_path / "logs" / name
        folder.mkdir(parents=True)
        table(folder / "log.csv", "epoch,loss\n1,2\n")
    table(tmp_path / "logs" / "second" / "chart.csv", "Step,sun - loss,moon - loss\n1,2,3\n")
    table(tmp_path / "logs" / "second" / "labels.csv", "path,label\na.png,cat\n")
    imported, _ = import_curves(workspace, tmp_path / "logs")
    assert [run.name for run in imported] == ["first", "second/sun", "second/moon", "second/log"]


def test_tables_beside_event_files_are_passed_over_and_counted(workspace, tmp_path):
    lightning(tmp_path / "logs" / "a")
    written(tmp_path / "logs" / "a", *points("loss", 1.0))
    lightning(tmp_path / "logs" / "b")
    imported, remarks = import_curves(workspace, tmp_path / "logs")
    assert [(run.name, run.points) for run in imported] == [("a", 1), ("b", 6)]
    assert remarks[1] == "Not read: tables beside event files (1)."


def test_progress_counts_over_all_runs(workspace, tmp_path):
    for version in (0, 1, 2):
        lightning(tmp_path / "logs" / f"version_{version}", LIGHTNING + "".join(f"2,{n},1,\n" for n in range(100, 900)))
    written(tmp_path / "logs" / "events", *points("loss", 1.0))
    chart = "".join(f"{step},1,2\n" for step in range(50))
    table(tmp_path / "logs" / "chart.csv", f"Step,sun - loss,moon - loss\n{chart}")
    told = []
    import_curves(workspace, tmp_path / "logs", progress=lambda *progress: told.append(progress))
    counted = [(done, total) for _, done, total in told if total]
    assert {total for _, total in counted} == {counted[0][1]}
    assert [done for done, _ in counted] == sorted(done for done, _ in counted)
    assert 0 <= counted[0][0] < counted[-1][0] < counted[0][1]
    assert told[-1][0] == "Storing version_2, folder 5 of 5"


def test_a_tree_with_too_many_runs_is_refused(workspace, tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.exchange.imported.curve_folders.MOST_RUNS", 2)
    for version in range(3):
        lightning(tmp_path / "logs" / f"version_{version}")
    with pytest.raises(Problem, match=r"holds more than 2 runs. Nothing was imported. Name a folder with fewer"):
        import_curves(workspace, tmp_path / "logs")


def test_a_folder_of_images_with_a_table_beside_is_none_of_curves(tmp_path):
    lightning(tmp_path / "logs" / "version_0")
    assert holds_curves(tmp_path / "logs")
    (tmp_path / "logs" / "cat").mkdir()
    (tmp_path / "logs" / "cat" / "1.JPG").write_bytes(b"")
    assert not holds_curves(tmp_path / "logs")


# What such a run is to the rest of the program


def test_two_runs_of_curves_are_no_repetitions_of_one_training(workspace, tmp_path):
    for name in ("a", "b"):
        written(tmp_path / "runs" / name, *points("val/recall", 0.5, 0.75))
    import_curves(workspace, tmp_path / "runs")
    compared = overview(workspace, workspace.runs(), {}, "MAP@R", "best")
    assert [(group.title, len(group.runs)) for group in compared.groups] == [("a", 1), ("b", 1)]
    assert compared.scalars == ("val/recall",)
    assert [row.field for row in compared.differences] == ["dataset.curves"]
    assert not any("epochs" in sentence or "data" in sentence for sentence in compared.guards)


def test_its_report_draws_its_curves_and_says_how_to_import_them_again(workspace, tmp_path):
    folder = written(tmp_path / "old runs", *points("val/recall", 0.5, 0.75), *points("batch/loss", 1.0))
    import_curves(workspace, folder)
    place, out = ["-w", str(workspace.path)], tmp_path / "out"
    assert main(["report", "1", "--format", "figures", "--format", "html", "--out", str(out), *place]) == 0
    assert {path.stem for path in (out / "figures").iterdir()} == {"other-curves", "loss"}
    html = (out / "report.html").read_text("utf-8")
    assert "Curves of another program, imported from" in html
    assert f"workbench import {shlex.quote(str(folder))}" in unescape(html)
    assert "after epoch 0 of" not in html


def test_a_rebuilt_workspace_knows_it_again(tmp_path):
    folder = written(tmp_path / "exp", *points("loss", 1.0, 2.0))
    with Workspace(tmp_path / "space", create=True) as workspace:
        [run], _ = import_curves(workspace, folder)
    (tmp_path / "space" / "workspace.db").unlink()
    repair(tmp_path / "space")
    with Workspace(tmp_path / "space") as workspace:
        assert workspace.run(run.run_id).epochs == 0
        assert curves(workspace, run.run_id) == {"loss": ([0, 1], [1.0, 2.0])}
        [again], _ = import_curves(workspace, folder)
        assert (again.run_id, again.points) == (run.run_id, 0)


def test_it_travels_as_a_run_folder(workspace, tmp_path):
    [run], _ = import_curves(workspace, written(tmp_path / "exp", *points("loss", 1.0)))
    export_run(workspace, run.run_id, ["run"], tmp_path / "out")
    with Workspace(tmp_path / "other", create=True) as other:
        taken = ingest(other, tmp_path / "out" / f"run-{run.run_id}")
        arrived = other.run(taken.run_id)
        assert (arrived.name, arrived.status, arrived.epochs, taken.doubts) == ("exp", "done", 0, [])
        assert curves(other, taken.run_id) == {"loss": ([0], [1.0])}


def test_nothing_is_added_to_a_run_that_came_from_another_place(workspace, tmp_path):
    folder = written(tmp_path / "exp", *points("loss", 1.0))
    [run], _ = import_curves(workspace, folder)
    export_run(workspace, run.run_id, ["run"], tmp_path / "out")
    with Workspace(tmp_path / "other", create=True) as other:
        came = ingest(other, tmp_path / "out" / f"run-{run.run_id}").run_id  # its path may be another folder there
        written(tmp_path / "exp", *points("loss", 1.0, 7.0))
        [here], _ = import_curves(other, folder)
        assert (here.new, curves(other, came)) == (True, {"loss": ([0], [1.0])})


def test_another_training_in_the_same_folder_is_another_run(workspace, tmp_path):
    [first], _ = import_curves(workspace, written(tmp_path / "exp", *points("loss", 1.0, 0.5), *points("lr", 0.1)))
    [second], _ = import_curves(workspace, written(tmp_path / "exp", *points("loss", 3.0, 0.5), *points("lr", 0.1)))
    assert (second.new, second.run_id != first.run_id) == (True, True)
    assert curves(workspace, first.run_id)["loss"] == ([0, 1], [1.0, 0.5])
    [more], _ = import_curves(workspace, written(tmp_path / "exp", *points("loss", 3.0, 0.5, 0.25), *points("lr", 0.1)))
    assert (more.run_id, more.points) == (second.run_id, 1)


def test_as_a_person_types_it(workspace, tmp_path, capsys):
    folder, place = written(tmp_path / "exp", *points("loss", 1.0, 2.0)), ["-w", str(workspace.path)]
    assert main(["import", str(folder), "--name", "old", *place]) == 0
    assert main(["import", str(folder), *place]) == 0
    assert capsys.readouterr().out == "Run 1 (old): 2 points.\nRun 1 (old) was imported before, with the same points.\n"
    shutil.rmtree(folder)
    table(tmp_path / "labels.csv", "label\na\n")
    folder.mkdir()
    assert main(["import", str(folder), "--labels", str(tmp_path / "labels.csv"), *place]) == 2
    assert "takes no --labels" in capsys.readouterr().err


def test_the_list_of_runs_says_what_it_is(workspace, tmp_path, capsys):
    import_curves(workspace, table(tmp_path / "old.csv", "step,loss\n1,2\n"))
    assert main(["list", "runs", "--workspace", str(workspace.path)]) == 0
    assert capsys.readouterr().out.splitlines()[1].split() == [
        "1", "done", "imported", "curves", "–", "–", "–", "–", "old",
    ]  # fmt: skip
    assert main(["list", "runs", "--json", "--workspace", str(workspace.path)]) == 0
    (run,) = json.loads(capsys.readouterr().out)
    assert (run["data"], run["backbone"], run["loss"]) == ("imported curves", "", "")


def test_a_workspace_of_reading_only_is_refused(tmp_path):
    folder = written(tmp_path / "exp", *points("loss", 1.0))
    Workspace(tmp_path / "space", create=True).close()
    with Workspace(tmp_path / "space") as workspace:
        workspace.read_only = True
        with pytest.raises(Problem, match="open for reading only"):
            import_curves(workspace, folder)
