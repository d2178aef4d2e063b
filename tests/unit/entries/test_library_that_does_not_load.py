"""A library that is installed and does not load is named, and it is no defect of the program; an error of ours is."""

import errno
import sys
import tempfile

import pytest

from workbench import registry
from workbench.problem import Problem


@pytest.fixture
def written(tmp_path, monkeypatch):
    """A package with one module of these lines, beside libraries that do not load."""
    raised = 'raise RuntimeError("operator torchvision::nms does not exist\\nmore")'
    (tmp_path / "built_otherwise.py").write_text(raised)
    (tmp_path / "lacks_a_file.py").write_text('raise OSError("libcudart.so.12: cannot open shared object file")')
    (tmp_path / "lacks_a_name.py").write_text("from built_otherwise_too import pooling")

    def write(package, lines):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").touch()
        (tmp_path / package / "pooling.py").write_text(lines)
        monkeypatch.syspath_prepend(tmp_path)
        return package

    return write


def test_a_library_that_does_not_load_is_named(written):
    with pytest.raises(Problem) as caught:
        registry.discover(written("needs_one", "import built_otherwise"))
    assert str(caught.value) == (
        "A library that needs_one.pooling needs does not load (RuntimeError: operator torchvision::nms does not "
        "exist). Nothing was started. Run `workbench doctor`: it shows what to install."
    )


def test_so_is_one_that_a_room_of_the_package_needs(written):
    written("outer", "")
    written("outer/room", "import built_otherwise")
    with pytest.raises(Problem, match=r"A library that outer\.room\.pooling needs does not load"):
        registry.discover("outer")


@pytest.mark.parametrize(
    ("package", "line"),
    [("a_file", "import lacks_a_file"), ("a_name", "import lacks_a_name"), ("a_library", "import no_such_library"),
     ("a_function", "from math import no_such_function")],
)  # fmt: skip
def test_so_is_one_that_lacks_something(written, package, line):
    with pytest.raises(Problem, match=rf"A library that {package}\.pooling needs does not load"):
        registry.discover(written(package, line))


@pytest.mark.parametrize(
    ("package", "line", "kind"),
    [("own_name", "from own_name import mistyped", ImportError), ("own_part", "import own_part.gone", ImportError),
     ("own_error", 'raise RuntimeError("two files register it")', RuntimeError),
     ("own_file", 'open("/no/such/file")', OSError)],
)  # fmt: skip
def test_an_error_of_the_package_itself_stays_a_defect(written, package, line, kind):
    with pytest.raises(kind) as caught:
        registry.discover(written(package, line))
    assert not isinstance(caught.value, Problem)


@pytest.mark.parametrize(
    ("kind", "name", "needs"),
    [("backbone", "resnet18", "backbones.torchvision_models"),
     ("augmentation", "strong", "datasets.batches.augment_more")],
)  # fmt: skip
def test_one_that_only_some_runs_need_is_named_when_they_need_it(monkeypatch, kind, name, needs):
    registry.discover("workbench.backbones")
    registry.discover("workbench.datasets")
    entry = registry.entry(kind, name)
    for name in ("torchvision", "torchvision.transforms"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(Problem, match=rf"A library that workbench\.{needs} needs does not load"):
        entry.build(entry.params(), *([3] if kind == "backbone" else []))


def test_without_a_folder_for_temporary_files_that_is_the_reason(written, monkeypatch):
    def refuse():
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr(tempfile, "gettempdir", refuse)
    with pytest.raises(Problem, match=r"No folder for temporary files can be written"):
        registry.discover(written("no_room", "import lacks_a_file"))
