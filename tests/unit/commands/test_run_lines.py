"""`workbench list runs`: one line a run, in columns."""

from workbench.commands.results.columns import Column, table_lines
from workbench.commands.results.run_lines import listed_runs, run_lines
from workbench.config import Choice, RunConfig
from workbench.entries import catalog
from workbench.workspace import Workspace


def test_columns_are_as_wide_as_their_longest_entry(tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        for name, loss in (("short", "ce"), ("long", "contrastive_positive_margin")):
            workspace.create_run(RunConfig(name=name, loss=Choice(name=loss)))
        listed = listed_runs(workspace)
    head, long, short = run_lines(listed)
    data = listed[0].data
    assert (data["name"], data["loss"], data["best_epoch"]) == ("long", "contrastive_positive_margin", None)
    assert head.split() == ["run", "state", "data", "backbone", "loss", "R@1", "MAP@R", "name"]
    assert long.endswith("  long")
    assert short.endswith("  short")
    assert long.index("  long") == short.index("  short") == head.index("  name")


def test_without_runs_there_are_no_lines(tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        assert run_lines(listed_runs(workspace)) == []


def test_the_catalog_is_read_once_for_all_runs(tmp_path, monkeypatch):
    reads, read = [], catalog.read
    monkeypatch.setattr(catalog, "read", lambda: reads.append(1) or read())
    with Workspace(tmp_path / "space", create=True) as workspace:
        for number in range(3):
            workspace.create_run(RunConfig(name=str(number)))
        assert len(listed_runs(workspace)) == 3
    assert reads == [1]


def test_runs_are_listed_by_words_and_conditions(tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        for name, lr in (("slow", 0.001), ("fast", 0.1)):
            workspace.create_run(RunConfig.model_validate({"name": name, "training": {"lr": lr}}))
        workspace.set_tags(1, ["baseline"])
        listed = {
            words: [run.data["name"] for run in listed_runs(workspace, words.split())]
            for words in ("lr<0.01", "LR>0.01 queued", "tag=baseline fast", "tag=baseline")
        }
    assert listed.pop("tag=baseline fast") == []
    assert listed == {"lr<0.01": ["slow"], "LR>0.01 queued": ["fast"], "tag=baseline": ["slow"]}


def test_words_are_looked_for_in_tags_note_and_the_state_of_the_window(tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        for name in ("first", "second"):
            workspace.create_run(RunConfig(name=name))
        workspace.set_tags(1, ["Baseline"])
        workspace.set_note(1, "Learns slowly.")
        workspace.set_status(2, "waiting")
        listed = {
            word: [run.data["name"] for run in listed_runs(workspace, [word])]
            for word in ("baseline", "SLOWLY", "paused", "waiting")
        }
    assert listed == {"baseline": ["first"], "SLOWLY": ["first"], "paused": ["second"], "waiting": ["second"]}


def test_the_run_that_began_last_is_the_first_of_the_list(tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        for name, created in (
            ("second", "2025-01-01T00:00:00+00:00"),
            ("curves", "2024-05-01T12:00:00+02:00"),
            ("", ""),
        ):
            workspace.create_run(RunConfig(name=name or "now"), created=created)
        assert [run.data["name"] for run in listed_runs(workspace)] == ["now", "second", "curves"]


def test_runs_are_listed_by_state_tag_with_blanks_and_size(tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        for name in ("small", "large"):
            workspace.create_run(RunConfig(name=name))
        workspace.set_tags(1, ["first try"])
        workspace.set_status(2, "waiting")
        workspace.file(2, "last.pt").write_bytes(bytes(3_000_000))
        listed = {
            word: [run.data["name"] for run in listed_runs(workspace, [word])]
            for word in ("tag=first try", 'tag="first try"', "state=queued", "state=paused", "size>2.9MB", "size>3.1MB")
        }
        large, small = (run.data for run in listed_runs(workspace, sizes=True))
    assert listed == {
        "tag=first try": ["small"], 'tag="first try"': ["small"], "state=queued": ["small"], "state=paused": ["large"],
        "size>2.9MB": ["large"], "size>3.1MB": [],
    }  # fmt: skip
    assert 3_000_000 < large["bytes"] < 3_010_000
    assert 0 < small["bytes"] < 10_000


def test_sixty_runs_with_long_names_fit_the_terminal(tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        for number in range(60):
            name = f"A long name of a study of margins and of scales, which goes on and on, seed {number}"
            loss = ("ce", "contrastive_positive_margin", "multi_similarity")[number % 3]
            workspace.create_run(RunConfig(name=name, loss=Choice(name=loss), backbone=Choice(name="efficientnet_b0")))
        listed = listed_runs(workspace)
    for width in (80, 120, 200):
        head, *lines = run_lines(listed, width)
        assert len(lines) == 60
        assert max(map(len, [head, *lines])) <= width
        assert len(set(lines)) == 60, "the end of a name tells the runs apart"
        assert all(line[at - 2 : at] == "  " for line in lines for at in [head.index("name")])
    assert "backbone" in head
    assert lines[0].endswith("which goes on and on, seed 59")


def test_a_column_is_left_out_before_the_others_are_unreadable():
    columns = [Column("run", numbers=True), Column("backbone", narrowest=8, first_to_go=1), Column("name", narrowest=6)]
    rows = [["1", "resnet50_pretrained", "the first"], ["12", "conv4", "second"]]
    assert table_lines(columns, rows, 60) == [
        "run  backbone             name", "  1  resnet50_pretrained  the first", " 12  conv4                second",
    ]  # fmt: skip
    assert table_lines(columns, rows, 24) == [
        "run  backbone    name", "  1  resne…ined  the…rst", " 12  conv4       second",
    ]  # fmt: skip
    assert table_lines(columns, rows, 14) == ["run  name", "  1  the first", " 12  second"]


def test_letters_of_east_asia_take_two_places_of_a_terminal():
    rows = [["猫猫猫猫", "x"], ["cat", "y"], ["cafe\u0301", "z"]]
    assert table_lines([Column("name", narrowest=5), Column("b")], rows, None) == [
        "name      b", "猫猫猫猫  x", "cat       y", "cafe\u0301      z",
    ]  # fmt: skip
    assert table_lines([Column("name", narrowest=5), Column("b")], rows, 8)[1] == "猫…猫  x"
