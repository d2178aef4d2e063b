"""An import that is given up ends between two modules, on the thread that asked alone."""

import importlib
import sys

import pytest

from workbench.control import Cancelled
from workbench.jobs import given_up_by, meanwhile

LIBRARY = {
    "__init__": "from large_library import first, second",
    "first": "",
    "second": "from large_library import third",
    "third": "",
    "tolerant": "try:\n    import large_library.late\nexcept Exception:\n    raise ValueError('no late') from None",
    "late": "",
}


@pytest.fixture
def library(tmp_path, monkeypatch):
    """A library of a few modules, in a folder of this test; none of it is loaded."""
    (tmp_path / "large_library").mkdir()
    for name, text in LIBRARY.items():
        (tmp_path / "large_library" / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    yield "large_library"
    for name in [name for name in sys.modules if name.startswith("large_library")]:
        del sys.modules[name]


def end_at(module: str):
    """An `ask` that wants the end once the first module of the library is there."""

    def ask() -> None:
        if module in sys.modules:
            raise Cancelled

    return ask


def test_an_import_ends_before_the_next_module(library):
    with pytest.raises(Cancelled), given_up_by(end_at("large_library.first")):
        importlib.import_module(library)
    assert "large_library.first" in sys.modules
    assert "large_library.second" not in sys.modules


def test_an_import_that_nobody_gives_up_is_whole(library):
    with given_up_by(lambda: None):
        importlib.import_module(library)
    assert "large_library.third" in sys.modules


def test_another_thread_and_a_later_import_are_not_asked(library):
    with given_up_by(end_at("sys")), meanwhile(lambda: importlib.import_module("large_library.first")) as loaded:
        assert loaded().__name__ == "large_library.first"
    assert importlib.import_module("large_library.third").__name__ == "large_library.third"


def test_what_a_library_makes_of_the_end_is_not_passed_on(library):
    ended = []

    def ask():
        if ended or "large_library.tolerant" in sys.modules:
            ended.append(True)
            raise Cancelled

    with pytest.raises(Cancelled), given_up_by(ask):
        importlib.import_module("large_library.tolerant")
    assert len(ended) == 2


def test_an_error_of_the_library_itself_is_passed_on(library, tmp_path):
    (tmp_path / "large_library" / "third.py").write_text("raise OSError('a library is missing')")
    with pytest.raises(OSError, match=r"a library is missing"), given_up_by(lambda: None):
        importlib.import_module(library)
