"""Records of places that go while they are read, and links to nothing."""

import os

import pytest

from workbench.places import records
from workbench.places.place import SshPlace
from workbench.problem import Problem, UnknownName


@pytest.fixture
def two_places(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "folder", lambda: tmp_path)
    for name in ("box", "tower"):
        records.store(SshPlace(name=name, host=name))
    return tmp_path


def test_a_record_that_goes_while_all_are_read_is_no_trouble(two_places, monkeypatch):
    listed = os.listdir(two_places)
    (two_places / "box.toml").unlink()
    monkeypatch.setattr(os, "listdir", lambda folder: listed)
    places, problems = records.readable()
    assert ([place.name for place in places], problems) == (["tower"], [])


def test_a_record_that_is_a_link_to_nothing_is_told_and_hides_no_other(two_places):
    (two_places / "gone.toml").symlink_to(two_places / "nowhere")
    places, problems = records.readable()
    assert [place.name for place in places] == ["box", "tower"]
    assert [problem.what for problem in problems] == [
        f"The place in {two_places / 'gone.toml'} is a link to a file that is gone."
    ]
    with pytest.raises(Problem, match="is a link to a file that is gone"):
        records.named("gone")


def test_a_place_that_is_unknown_is_refused_with_those_that_there_are(two_places):
    with pytest.raises(UnknownName, match=r"There is no place towr\. Known: tower, box\."):
        records.named("towr")
    for name in ("box", "tower"):
        records.remove(name)
    with pytest.raises(UnknownName, match="`workbench place add` add one"):
        records.named("box")
