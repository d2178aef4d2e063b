"""A library that is installed and does not load is named; it is no defect of the program."""

import pytest

from workbench import registry
from workbench.problem import Problem


def test_a_library_that_does_not_load_is_named(tmp_path, monkeypatch):
    package = tmp_path / "of_another_build"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "pooling.py").write_text('raise RuntimeError("operator torchvision::nms does not exist\\nmore")')
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(Problem) as caught:
        registry.discover("of_another_build")
    assert str(caught.value) == (
        "A library that of_another_build.pooling needs does not load (RuntimeError: operator torchvision::nms does not "
        "exist). Nothing was started. Run `workbench doctor`: it says what to install."
    )
