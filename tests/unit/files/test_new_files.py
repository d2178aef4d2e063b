"""What a failure takes back: new files and folders, and nothing that was there before or that another program wrote."""

import errno

import pytest

from workbench.control import Cancelled
from workbench.files import NoSpace, explain
from workbench.files.new_files import NewFiles


def work(*paths, fails=True, unwritten=(), error=Cancelled):
    """Write these files, and end there; `unwritten` are announced only."""
    with NewFiles() as new:
        for path in (*paths, *unwritten):
            new.add(path)
            if path not in unwritten:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("new", "utf-8")
        if fails:
            raise error


def names(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def test_of_a_failure_no_new_file_and_no_folder_for_it_stays(tmp_path):
    with pytest.raises(Cancelled):
        work(tmp_path / "a" / "b" / "one", tmp_path / "a" / "two", unwritten=[tmp_path / "a" / "c" / "three"])
    assert names(tmp_path) == []


def test_a_name_that_no_file_can_have_does_not_hide_the_failure(tmp_path):
    with pytest.raises(Cancelled):
        work(tmp_path / "a" / "one", unwritten=[tmp_path / "b\0"])
    assert names(tmp_path) == []


def test_what_was_there_and_what_others_write_stays(tmp_path, monkeypatch):
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "file").write_text("old", "utf-8")
    add = NewFiles.add

    def added(new, path):  # while the work goes on, another program writes into its folder
        add(new, path)
        path.parent.mkdir(exist_ok=True)
        (path.parent / "of another").touch()

    monkeypatch.setattr(NewFiles, "add", added)
    with pytest.raises(Cancelled):
        work(tmp_path / "old" / "file", tmp_path / "made" / "one")
    assert names(tmp_path) == ["made", "made/of another", "old", "old/file", "old/of another"]


def test_without_a_failure_everything_stays(tmp_path):
    work(tmp_path / "a" / "one", fails=False)
    assert names(tmp_path) == ["a", "a/one"]


@pytest.mark.parametrize(
    ("old", "kept"),
    [
        (["c"], "What was there before is unchanged."),
        (["a", "c"], "Already replaced: a. Everything else there is unchanged."),
        (["a", "b", "c"], "Already replaced: a, b. Everything else there is unchanged."),
    ],
)
def test_a_failure_says_which_files_were_replaced_before(tmp_path, old, kept):
    for name in old:
        (tmp_path / name).write_text("old", "utf-8")
    full = explain(OSError(errno.ENOSPC, "full"), tmp_path / "c")
    with pytest.raises(NoSpace) as failure:
        work(tmp_path / "a", tmp_path / "b", unwritten=[tmp_path / "c"], error=full)
    assert (failure.value.kept, failure.value.todo) == (kept, "Free some space and try again.")
    assert names(tmp_path) == sorted(old)
    assert (tmp_path / "c").read_text("utf-8") == "old"
