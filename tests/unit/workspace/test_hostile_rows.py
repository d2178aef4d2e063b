"""A workspace from elsewhere is data: nothing outside it is deleted or read, and one bad row hides no other."""

import json
import os
from contextlib import closing
from functools import partial

import numpy as np
import pytest

from tests.campaign.hostile import declare_anew, in_sql, make_space
from tests.unit.workspace.older import make_older
from workbench import files
from workbench.cli import main
from workbench.config import RunConfig
from workbench.entries.catalog import at_first
from workbench.files import digest
from workbench.names import LONGEST_NAME, LONGEST_SENTENCE
from workbench.problem import Problem
from workbench.progress import quiet
from workbench.reports.content.gathering import gather
from workbench.reports.templates import offered
from workbench.results.network_scores import network_scores
from workbench.workspace import Workspace
from workbench.workspace.choices import report_templates, selections
from workbench.workspace.database.connection import sqlite3
from workbench.workspace.database.problems import Damaged
from workbench.workspace.experiments import experiments, sweeps
from workbench.workspace.measured import curves
from workbench.workspace.measured.numbers import metrics_json
from workbench.workspace.paths import inside
from workbench.workspace.recorder import Recorder
from workbench.workspace.repairs.verification import verify
from workbench.workspace.run_names import data_title

DEEP = "[" * 100_000


@pytest.fixture
def space(tmp_path):
    (tmp_path / "victim" / "runs").mkdir(parents=True)
    (tmp_path / "victim" / "letter.txt").write_text("dear")
    np.save(tmp_path / "victim" / "secret.npy", np.zeros((12, 6), np.float32))
    make_space(tmp_path / "space")
    return tmp_path / "space"


@pytest.mark.parametrize("old", [False, True], ids=["as it is now", "of an earlier version"])
def test_an_id_that_is_a_path_deletes_nothing_elsewhere(space, tmp_path, old):
    if old:
        make_older(space / "workspace.db", "m010_strict_tables")
    with closing(sqlite3.connect(space / "workspace.db", isolation_level=None)) as db:
        declare_anew(db, "runs")
        db.execute("update runs set id = '../../victim' where id = 3")
    with pytest.raises(Problem, match="not as Workbench makes it"), Workspace(space) as workspace:
        workspace.empty_trash()
    assert (tmp_path / "victim" / "letter.txt").read_text() == "dear"
    assert len(list((space / "runs").iterdir())) == 3


@pytest.mark.parametrize("kind", ["embeddings", "checkpoint"])
def test_the_doctor_reads_no_file_elsewhere(space, tmp_path, monkeypatch, kind):
    secret = tmp_path / "victim" / "secret.npy"
    values = kind, str(secret), digest(secret)
    in_sql(space, ("update or ignore artefacts set kind = ?, path = ?, blake2b = ?", values))
    hashed = []
    monkeypatch.setattr(files, "digest", lambda path: hashed.append(path) or digest(path))
    with Workspace(space) as workspace:
        said = [damage.said for damage in verify(workspace, quiet)]
    assert any("which is not in" in sentence for sentence in said)
    assert secret not in hashed


@pytest.mark.parametrize("place", ["runs", "runs/3", "imported-images"])
def test_a_link_is_not_followed_when_a_run_is_deleted(space, tmp_path, place):
    (space / place).rename(space / "was")
    (space / place).symlink_to(tmp_path / "victim")
    with Workspace(space) as workspace:
        if place == "imported-images":
            in_sql(space, ("update runs set dataset_id = null where id != 3", ()))
        with pytest.raises(Problem, match="is a link"):
            workspace.empty_trash()
    assert sorted(each.name for each in (tmp_path / "victim").iterdir()) == ["letter.txt", "runs", "secret.npy"]


@pytest.mark.parametrize("name", ["journal.jsonl", "report", "export", "last.pt"])
def test_a_link_in_a_run_is_neither_read_nor_written_through(space, tmp_path, name):
    (space / "runs" / "2" / name).unlink(missing_ok=True)
    (space / "runs" / "2" / name).symlink_to(tmp_path / "victim" / ("letter.txt" if "." in name else "runs"))
    with Workspace(space) as workspace:
        assert not workspace.has_file(2, name)
        ask = partial(Recorder, workspace, 2) if name == "journal.jsonl" else partial(workspace.file, 2, name)
        with pytest.raises(Problem, match="is a link"):
            ask()
    assert main(["report", "2", "-w", str(space), "--section=settings"]) == (1 if name == "report" else 0)
    assert main(["export", "2", "-w", str(space), "--format=config"]) == (1 if name == "export" else 0)
    assert (tmp_path / "victim" / "letter.txt").read_text() == "dear"
    assert list((tmp_path / "victim" / "runs").iterdir()) == []


def test_a_report_is_not_written_through_a_link_in_its_folder(space, tmp_path):
    figures = space / "runs" / "2" / "report" / "figures"
    figures.parent.mkdir()
    figures.symlink_to(tmp_path / "victim" / "runs")
    assert main(["report", "2", "-w", str(space), "--format=csv"]) == 1
    assert list((tmp_path / "victim" / "runs").iterdir()) == []


@pytest.mark.parametrize("name", ["", ".", "..", "../../../victim/secret.npy", "/etc/hosts", "a\0b", "a/../../b"])
def test_a_name_that_leads_out_of_the_folder_is_refused(space, tmp_path, name):
    in_sql(space, ("update or ignore artefacts set path = ? where id = 1", (name,)))
    with pytest.raises(Problem, match="not in"):
        inside(space, name)
    with Workspace(space) as workspace, pytest.raises(Problem, match="not in"):
        workspace.vectors(1)


def test_pixels_and_images_outside_are_not_shown(space, tmp_path):
    secret = tmp_path / "victim" / "pixels.npy"
    np.save(secret, np.full((12, 8, 8, 1), 7, np.uint8))
    in_sql(space, ("update datasets set pixels = ?, root = ? where id = 1", (str(secret), str(tmp_path / "victim"))))
    with Workspace(space) as workspace:
        assert workspace.dataset(1).pixels is None
        in_sql(space, ('update samples set path = ? where dataset_id = 1 and "row" = 0', ("../outside.png",)))
        with pytest.raises(Problem, match="not in its folder"):
            workspace.pictures(1)


@pytest.mark.parametrize("ending", ["", "-wal", "-shm"])
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_or_a_link_is_no_database(space, tmp_path, ending):
    place = space / f"workspace.db{ending}"
    place.unlink(missing_ok=True)
    os.mkfifo(place)
    with pytest.raises(Problem, match="neither a file nor a folder"):
        Workspace(space)
    place.unlink()
    place.symlink_to(tmp_path / "victim" / "letter.txt")
    with pytest.raises(Problem, match="is a link"):
        Workspace(space)


@pytest.mark.parametrize(
    "sql",
    [
        "create trigger t after update on runs begin delete from runs; end", "create table songs (id)",
        "create unique index u on runs (id, name)", "create index e on runs (abs(id))", "drop view neighbours",
        "alter table runs add column made text generated always as (name) virtual",
    ],
)  # fmt: skip
def test_a_schema_that_is_not_ours_is_refused(space, sql):
    with closing(sqlite3.connect(space / "workspace.db")) as db:
        db.execute(sql)
    with pytest.raises(Damaged, match="not as Workbench makes it"):
        Workspace(space)


def test_views_of_other_names_and_statistics_are_a_persons_own(space):
    with closing(sqlite3.connect(space / "workspace.db")) as db:
        db.execute("create view best as select * from runs")
        db.execute("analyze")
    with Workspace(space) as workspace:
        assert len(workspace.runs()) == 2


def test_an_older_workspace_gets_strict_tables_and_keeps_every_row(space):
    def rows(db):
        names = [name for (name,) in db.execute("select name from sqlite_master where type = 'table'")]
        kept = {name: [row[1] for row in db.execute(f"pragma table_info({name})")] for name in names if name[0] != "_"}
        columns = {  # a later step adds those that are left out
            name: ", ".join(f'"{column}"' for column in found if column not in ("checksum", "ranking", "born", "owner"))
            for name, found in kept.items()
        }
        return {name: sorted(map(repr, db.execute(f"select {found} from {name}"))) for name, found in columns.items()}

    with closing(sqlite3.connect(space / "workspace.db")) as db:
        before = rows(db)
    make_older(space / "workspace.db", "m010_strict_tables")
    with Workspace(space) as workspace, workspace.writing() as db:
        assert rows(db) == before
        assert db.execute("pragma foreign_key_check").fetchall() == []
        strict = {row[1]: row[5] for row in db.execute("pragma table_list") if row[1][0] != "_" and row[2] == "table"}
        assert all(strict[name] for name in before), strict
        with pytest.raises(sqlite3.IntegrityError, match="cannot store TEXT"):
            db.execute("update runs set seed = 'many'")


@pytest.mark.parametrize("text", ["{", "", "null", "[1]", DEEP, "[" + "9" * 5000 + "]", '{"data": {"train": "x"}}'])
@pytest.mark.parametrize("column", ["environment", "metrics"])
def test_a_run_whose_row_is_broken_is_listed_with_the_others(space, capsys, column, text):
    table, key = ("runs", "id") if column == "environment" else ("evaluations", "run_id")
    in_sql(space, (f"update {table} set {column} = ? where {key} = 1", (text,)))
    assert main(["list", "runs", "-w", str(space)]) == 0
    said = capsys.readouterr().out
    assert "first" in said
    assert "second" in said
    with Workspace(space) as workspace:
        assert "could not all be read" in workspace.run(1).unread
        assert workspace.run(2).unread == ""
        assert workspace.run(2).best["MAP@R"] > 0


def test_text_that_is_no_utf8_and_names_that_steer_a_terminal_are_shown_plainly(space, capsys):
    in_sql(space, ("update runs set name = cast(x'41ff42' as text) where id = 1", ()))
    in_sql(space, ("update runs set name = ? where id = 2", ("\x1b]0;title\atwo\nlines",)))
    assert main(["list", "runs", "-w", str(space)]) == 0
    said = capsys.readouterr().out
    assert "A\ufffdB" in said
    assert "\x1b" not in said
    assert len(said.strip().splitlines()) == 3, "a head and two runs"


@pytest.mark.parametrize("text", ["{", "null", "7", DEEP, '{"order": 5, "samples": {}}'])
def test_one_broken_row_of_any_list_leaves_the_others(space, text):
    broken = (
        ("arrangement", "report_templates"),
        ("samples", "selections"),
        ("parameters", "sweeps"),
        ("result", "experiments"),
    )
    for column, table in (*broken, ("setting", "sweep_trials"), ("params", "projections"), ("charts", "charts")):
        in_sql(space, (f"update {table} set {column} = ?", (text,)))
    with Workspace(space) as workspace:
        assert "own-1 (could not be read)" in {
            each.title for each in offered(report_templates.arrangements(workspace)).values()
        }
        assert text.startswith('{"') or report_templates.choice(workspace) == {}
        assert "could not be read" in selections.all_selections(workspace, 1)[0].note
        assert "could not all be read" in sweeps.every(workspace)[0].problem
        assert text.startswith('{"') or "could not all be read" in sweeps.trials(workspace, 1)[0].problem
        assert text.startswith('{"') or "could not be read" in experiments.every(workspace)[0].name
        assert len(workspace.projections(1)) == 1
        with pytest.raises(Problem, match="charts of run 1"):
            workspace.charts(1, 1)


@pytest.mark.parametrize("created", ["soon", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_a_time_that_no_clock_shows_is_told(space, created):
    in_sql(space, ("update runs set created = ? where id = 1", (created,)))
    with Workspace(space) as workspace:
        assert "created" in workspace.run(1).unread


@pytest.mark.parametrize("text", ["name", "\\ud800"])
@pytest.mark.parametrize("levels", [150, 600, 900])
def test_an_environment_that_is_just_read_but_nested_too_deeply_is_told(space, levels, text):
    nested = f'{{"plugins": {{"{text}": {"[" * levels}{"]" * levels}}}}}'
    in_sql(space, ("update runs set environment = ? where id = 1", (nested,)))
    assert main(["list", "runs", "-w", str(space)]) == 0
    with Workspace(space) as workspace:
        assert "nested too deeply" in workspace.run(1).unread
        assert not workspace.run(2).unread


def test_numbers_that_no_row_has_are_told(space):
    in_sql(space, ('update samples set "row" = "row" + 4000000000000', ()))
    in_sql(space, ("update queries set r = ?", (-(2**62),)))
    in_sql(space, ("update runs set seconds = 9e999, created = 'soon' where id = 1", ()))
    in_sql(space, ("update datasets set class_names = ?", (json.dumps([1, 2]),)))
    with Workspace(space) as workspace:
        assert "seconds" in workspace.run(1).unread
        assert "created" in workspace.run(1).unread
        for ask in (lambda: workspace.samples(1), lambda: workspace.queries(1), lambda: workspace.dataset(1)):
            with pytest.raises(Problem, match="could not be read") as raised:
                ask()
            assert "A copy of workspace.db" in raised.value.todo
            assert raised.value.kept


@pytest.mark.parametrize("create", [True, False])
def test_a_file_in_the_place_of_a_workspace_is_told_as_such(tmp_path, create):
    (tmp_path / "space").write_text("letters")
    with pytest.raises(Problem, match="is a file, not the folder of a workspace"):
        Workspace(tmp_path / "space", create=create)
    with pytest.raises(Problem) as below:
        Workspace(tmp_path / "space" / "below")
    assert str(below.value).count(str(tmp_path)[:16]) == 1  # a long one is cut
    assert "Errno" not in str(below.value)
    assert (tmp_path / "space").read_text() == "letters"


def test_a_run_whose_config_is_broken_is_not_reported_and_nothing_is_said_to_start(space):
    in_sql(space, ("update runs set config = 'name = ' where id = 1", ()))
    with Workspace(space) as workspace, pytest.raises(Problem, match="Run 1 cannot be reported") as raised:
        gather(workspace, 1, (), "")
    assert "started" not in str(raised.value)


def test_names_of_millions_of_letters_are_cut_for_those_who_lay_them_out(space):
    text = "word " * 600_000
    in_sql(
        space, ("update runs set name = ?, problem = ?, note = ?, status = 'failed'", (text,) * 3),
        ("update datasets set class_names = ?", (json.dumps([text, "b", "c"]),)), ("update tags set tag = ?", (text,)),
    )  # fmt: skip
    with Workspace(space) as workspace:
        run = workspace.runs()[0]
        names = (run.name, *run.tags, *workspace.dataset(run.dataset_id).class_names)
    assert max(map(len, names)) == LONGEST_NAME
    assert len(run.problem) == LONGEST_SENTENCE
    assert run.name.endswith("…")
    assert run.note == text, "it is edited, and would be stored cut"


@pytest.mark.parametrize("part", ["", "[loss]\n"])
def test_a_config_of_a_key_with_thousands_of_dots_is_a_sentence(space, part):
    config = f"{part}name = 'ce'\nx{'.x' * 3000} = 1\n"
    in_sql(space, ("update runs set config = ? where id = 1", (config,)))
    with pytest.raises(Problem, match="nested too deeply"):
        RunConfig.from_toml_text(config)
    with Workspace(space) as workspace, pytest.raises(Problem, match="nested too deeply"):
        gather(workspace, 1, ("settings",), "")
    assert main(["compare", "1", "2", "-w", str(space)]) in (0, 1)


def test_a_config_nested_too_deeply_names_no_data(space):
    folder = "'folder', config = ?"
    in_sql(space, (f"update runs set dataset = {folder}", ("[dataset]\nname = 'folder'\nfolder = " + DEEP,)))
    with Workspace(space) as workspace:
        assert all(data_title(at_first(), run) for run in workspace.runs())


STEERING = "\x1b]0;title\a"


def test_texts_of_a_sweep_steer_no_terminal(space, capsys):
    columns = ("name", "how", "metric", "source", "problem", "device")
    in_sql(
        space, *((f"update sweeps set {column} = ?, state = 'paused'", (STEERING,)) for column in columns),
        ("update sweeps set parameters = ?", (json.dumps([STEERING, f"loss.{STEERING}=1"]),)),
        ("update sweep_trials set problem = ?, state = 'failed'", (STEERING,)),
        ("update sweep_trials set setting = ?", (json.dumps({STEERING: STEERING}),)),
    )  # fmt: skip
    assert main(["sweep", "list", "-w", str(space)]) == 0
    assert main(["sweep", "show", "1", "-w", str(space)]) == 0
    said = capsys.readouterr().out
    assert said.count("title") >= len(columns)
    assert "\x1b" not in said
    assert "\a" not in said


def test_a_sentence_of_a_sweep_is_cut_where_it_has_millions_of_letters(space):
    text = "word " * 600_000
    in_sql(
        space, ("update sweeps set problem = ?, how = ?", (text,) * 2), ("update sweep_trials set problem = ?", (text,))
    )
    with Workspace(space) as workspace:
        assert len(sweeps.one(workspace, 1).how) == LONGEST_NAME
        assert {len(trial.problem) for trial in sweeps.trials(workspace, 1)} == {LONGEST_SENTENCE}


@pytest.mark.parametrize("network", [True, 0, -1, 2**63, "1", [1], 1.0])
def test_a_test_of_a_network_that_no_run_can_have_is_none(space, network):
    imported = {"embeddings": "run 1, epoch 2", "network": network}
    in_sql(space, ("update runs set environment = ? where id = 1", (json.dumps({"imported": imported}),)))
    with Workspace(space) as workspace:
        assert workspace.run(1).tested is None


def test_an_evaluation_by_no_known_distance_is_left_out_and_named(space, capsys):
    in_sql(space, ("update evaluations set distance = '<b>' where id = 2", ()))
    with Workspace(space) as workspace:
        assert [evaluation.id for evaluation in workspace.evaluations(1)] == [1]
        assert "the distance of an evaluation" in workspace.run(1).unread
        assert workspace.run(2).unread == ""
        assert workspace.has_evaluation(2), "it was not deleted"
        with pytest.raises(Problem, match="its distance is unknown"):
            workspace.evaluation(2)
    assert main(["geometry", "1", "-w", str(space)]) == 0
    assert main(["export", "1", "-w", str(space), "--format", "npy"]) == 0


def test_the_name_and_the_fingerprint_of_a_data_set_steer_no_terminal(space, capsys):
    in_sql(space, ("update datasets set fingerprint = ? || id, name = ?", (STEERING, STEERING)))
    with Workspace(space) as workspace:
        assert workspace.dataset(1).name == "\\x1b]0;title\\x07"
    assert main(["report", "1", "2", "-w", str(space), "--format", "html"]) == 0
    assert main(["compare", "1", "2", "-w", str(space)]) == 0
    said = "".join(capsys.readouterr())
    assert "fingerprint" in said
    assert "\x1b" not in said


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("MAP@R", 5, "MAP@R: 5 is not from 0 to 1"), ("recall@1", -0.2, "recall@1: -0.2 is not from 0 to 1"),
        ("l2/MAP@R/high", float("inf"), "l2/MAP@R/high: inf is not from 0 to 1"),
        ("linear/top-1", 1e300, "linear/top-1: 1e+300 is not from 0 to 1"),
        ("queries", -3, "queries: -3 is not a count"),
    ],
)  # fmt: skip
def test_a_metric_that_can_have_no_such_value_is_left_out_and_named(space, name, value, words):
    def stored(evaluation):
        return workspace.evaluation(evaluation).metrics

    with Workspace(space) as workspace:
        before, best = stored(2), workspace.run(1).best_epoch
        text = metrics_json({**before, name: value, "hubness": -7.5, "geometry/mean_norm": 40.0})
        in_sql(space, ("update evaluations set metrics = ? where run_id = 1", (text,)))
        after = stored(2)
        assert name not in after
        assert {"hubness": -7.5, "geometry/mean_norm": 40.0}.items() <= after.items()
        limits = {f"{name.removesuffix('/high')}/{limit}" for limit in ("low", "high")}
        kept = {other: known for other, known in before.items() if other != name and other not in limits}
        assert kept.items() <= after.items(), "the others stay"
        assert not limits & after.keys(), "limits are left out with their metric"
        assert words in workspace.evaluation(2).unread
        assert words in workspace.run(1).unread
        assert name not in workspace.run(1).best
        assert workspace.run(1).best_epoch == best
        assert workspace.run(2).unread == ""


def test_shares_that_rounding_put_above_one_are_kept(space):
    with Workspace(space) as workspace:
        metrics = {**workspace.evaluation(1).metrics, "NMI": 1 + 1e-12, "P@R": -1e-17, "kNN@10": float("nan")}
        in_sql(space, ("update evaluations set metrics = ? where id = 1", (metrics_json(metrics),)))
        assert workspace.evaluation(1).metrics.keys() == metrics.keys()
        assert workspace.evaluation(1).unread == ""


@pytest.mark.parametrize("score", [5.0, float("inf"), -3.0, None])
def test_the_best_epoch_is_not_that_of_a_score_that_none_can_have(space, score):
    with Workspace(space) as workspace:
        best = workspace.run(1).best_epoch
        other = next(one for one in workspace.evaluations(1) if one.epoch != best)
        in_sql(space, ("update evaluations set score = ? where id = ?", (score, other.id)))
        assert workspace.run(1).best_epoch == best
        assert "the score by which the best one is chosen" in workspace.evaluation(other.id).unread


@pytest.mark.parametrize("command", ["tags 1", "triage 1", "geometry 1", "export 1 --format npy", "compare 1 2"])
def test_where_the_best_evaluation_is_damaged_each_command_says_so(space, capsys, command):
    with Workspace(space) as workspace:
        best = workspace.run(1).best_epoch
    in_sql(space, ("update evaluations set metrics = '{\"MAP@R\": 5}' where run_id = 1 and epoch = ?", (best,)))
    assert main([*command.split(), "-w", str(space)]) == 0
    said = capsys.readouterr()
    words = f"Run 1: metrics could not be read, and are left out: of epoch {best}, MAP@R: 5 is not from 0 to 1."
    assert words in (said.out if command.startswith("compare") else said.err)
    assert main([*command.replace("1", "2").replace("2 2", "2").split(), "-w", str(space)]) == 0
    assert "could not be read" not in "".join(capsys.readouterr())


def test_an_average_precision_that_none_can_have_is_named(space):
    in_sql(space, ("update queries set ap = 3 where evaluation_id = 1", ()))
    with Workspace(space) as workspace, pytest.raises(Problem, match="average precision is not from 0 to 1"):
        workspace.queries(1)


def test_a_test_of_a_network_without_a_readable_evaluation_is_left_out_of_its_scores(space):
    with Workspace(space) as workspace:
        imported = {"imported": {"embeddings": "run 1, epoch 2", "network": 1}}
        in_sql(
            space,
            ("update runs set status = 'done', environment = ? where id = 2", (json.dumps(imported),)),
            ("update evaluations set distance = 'x' where run_id = 2", ()),
        )
        assert network_scores(workspace, 1) == []


@pytest.mark.parametrize("chosen", [{"metric": "MAP@R", "at": 2**70}, {"runs": [2**70]}, {"metric": "P@1", "at": -1}])
def test_a_choice_of_a_report_that_nobody_made_counts_as_none(space, chosen):
    in_sql(space, ("update report_templates set arrangement = ? where template = 'chosen'", (json.dumps(chosen),)))
    with Workspace(space) as workspace:
        assert report_templates.choice(workspace) == {}


def test_values_that_no_training_measures_are_drawn_as_infinite(space):
    with Workspace(space) as workspace:
        with workspace.writing() as db:
            db.execute("insert or ignore into metrics (name) values ('batch/loss')")
            sql = "insert into scalar_points (run_id, metric_id, step, value) select 1, id, ?, ? from metrics"
            db.executemany(sql, enumerate((2.0, -1e308, 1e200, 3.0)))
        with closing(workspace.reader()) as db:
            thinned = curves.thinned_scalars(db, 1, "batch/loss", 1_000)[1]
            live = [value for name, _, value in curves.points_since(db, 1, 0, 1_000)[0] if name == "batch/loss"]
    assert thinned.tolist() == live == [2.0, -np.inf, np.inf, 3.0]
