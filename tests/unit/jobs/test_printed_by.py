"""What another interpreter prints, and how its end is told: a crash there is a sentence here."""

import pytest

from workbench.jobs import printed_by

MODULES = {
    "prints": "import sys\nsys.stdout.write(sys.argv[1][::-1])",
    "crashes": "import os\nos.abort()",
    "refuses": "import sys\nsys.stderr.write('noise\\nno such table')\nsys.exit(1)",
}


@pytest.fixture(autouse=True)
def modules(tmp_path, monkeypatch):
    """The modules above, where an interpreter finds them."""
    for name, text in MODULES.items():
        (tmp_path / f"reader_that_{name}.py").write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return tmp_path


def test_what_it_prints_is_given(tmp_path):
    assert printed_by("reader_that_prints", tmp_path / "list.mat", 240) == str(tmp_path / "list.mat")[::-1]


def test_a_crash_ends_the_other_process_alone(tmp_path):
    with pytest.raises(ValueError, match="its reader crashed"):
        printed_by("reader_that_crashes", tmp_path, 240)


def test_its_last_words_are_the_reason(tmp_path):
    with pytest.raises(ValueError, match=r"^no such table$"):
        printed_by("reader_that_refuses", tmp_path, 240)
