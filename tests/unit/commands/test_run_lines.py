"""`workbench list runs`: one line a run, in columns."""

from workbench.commands.results.run_lines import run_lines
from workbench.config import Choice, RunConfig
from workbench.entries import catalog
from workbench.workspace import Workspace


def test_columns_are_as_wide_as_their_longest_entry(tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        for name, loss in (("short", "ce"), ("long", "contrastive_positive_margin")):
            workspace.create_run(RunConfig(name=name, loss=Choice(name=loss)))
        (long, data), (short, _) = run_lines(workspace)
    assert (data["name"], data["loss"], data["best_epoch"]) == ("long", "contrastive_positive_margin", None)
    assert long.endswith("  long")
    assert short.endswith("  short")
    assert long.index("  long") == short.index("  short")
    assert long.index("not evaluated") == short.index("not evaluated")


def test_without_runs_there_are_no_lines(tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        assert run_lines(workspace) == []


def test_the_catalog_is_read_once_for_all_runs(tmp_path, monkeypatch):
    reads, read = [], catalog.read
    monkeypatch.setattr(catalog, "read", lambda: reads.append(1) or read())
    with Workspace(tmp_path / "space", create=True) as workspace:
        for number in range(3):
            workspace.create_run(RunConfig(name=str(number)))
        assert len(run_lines(workspace)) == 3
    assert reads == [1]


def test_runs_are_listed_by_words_and_conditions(tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        for name, lr in (("slow", 0.001), ("fast", 0.1)):
            workspace.create_run(RunConfig.model_validate({"name": name, "training": {"lr": lr}}))
        workspace.set_tags(1, ["baseline"])
        listed = {
            words: [data["name"] for _, data in run_lines(workspace, words.split())]
            for words in ("lr<0.01", "LR>0.01 queued", "tag=baseline fast", "tag=baseline")
        }
    assert listed.pop("tag=baseline fast") == []
    assert listed == {"lr<0.01": ["slow"], "LR>0.01 queued": ["fast"], "tag=baseline": ["slow"]}


def test_runs_are_listed_by_state_tag_with_blanks_and_size(tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        for name in ("small", "large"):
            workspace.create_run(RunConfig(name=name))
        workspace.set_tags(1, ["first try"])
        workspace.set_status(2, "waiting")
        workspace.file(2, "last.pt").write_bytes(bytes(3_000_000))
        listed = {
            word: [data["name"] for _, data in run_lines(workspace, [word])]
            for word in ("tag=first try", 'tag="first try"', "state=queued", "state=paused", "size>2.9MB", "size>3.1MB")
        }
        (large, small) = (data for _, data in run_lines(workspace, sizes=True))
    assert listed == {
        "tag=first try": ["small"], 'tag="first try"': ["small"], "state=queued": ["small"], "state=paused": ["large"],
        "size>2.9MB": ["large"], "size>3.1MB": [],
    }  # fmt: skip
    assert 3_000_000 < large["bytes"] < 3_010_000
    assert 0 < small["bytes"] < 10_000
