"""Every example of docs/ is run as a reader would run it, page by page.

Each page has a folder of its own, with what its reader is told to have: `birds`, a folder of photographs, a file of
weights, and the machines `lab1` and `login1`. Examples that need more are followed in
test_needs.py; what makes bundles and installs Workbench, in test_bundling.py and test_installing.py.
"""

from pathlib import Path
from textwrap import dedent

import pytest
from following import DOCS, EXAMPLES, follow
from having import give_checkout, give_machines, give_photographs
from page_blocks import Example, examples, other_blocks

HELD = {"command-line", "reference"}
LONG = {"appendix", "choosing-a-loss", "plugins", "ranks", "reach"}  # several trainings, or several processes
BOOTSTRAP, PIP = "python3 packaging/bootstrap.py run\n", "pip install .\n"  # typed in test_installing.py
LIBRARIES = "sudo apt-get install "
PYTORCH = "pip install torch torchvision --index-url URL-OF-THE-CPU-WHEELS\n"  # not typed: the reader's own address
NOT_TYPED = {  # drawings, formulas, lists of files and a piece of TOML -> how each begins
    "architecture": ["form, file, command line", "workbench/"],
    "ce-and-spce": ["CE   = "],
    "first-run": [BOOTSTRAP],
    "install": [BOOTSTRAP, PIP, PYTORCH + PIP, LIBRARIES],
    "photographs": ["birds/"],
    "plugins": ["import numpy", "[project.entry-points"],
    "workspace": ["workspace.db "],
}
FOLLOWED = {
    stem: blocks
    for stem, all_blocks in EXAMPLES.items()
    if (blocks := [block for block in all_blocks if not block.needs])
}


@pytest.mark.parametrize(
    "page", [pytest.param(stem, marks=pytest.mark.slow if stem in LONG else ()) for stem in FOLLOWED]
)
def test_the_examples_of_a_page_run(page: str, reader: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if any("birds" in example.text for example in FOLLOWED[page]):
        give_photographs(reader)
    if any("python " in example.text for example in FOLLOWED[page]):
        give_checkout(reader)
    if any("--ssh" in example.text for example in FOLLOWED[page]):
        give_machines(reader, monkeypatch)
    names: dict[str, object] = {}
    for example in FOLLOWED[page]:
        follow(example, names, in_own_process=page == "plugins")


def test_only_what_other_tests_hold_is_no_example() -> None:
    """The synopsis is held against the program's parser, the reference against the docstrings (tests/contracts)."""
    assert {page for page in EXAMPLES if _first_line(page).startswith("<!-- no example")} == HELD
    assert all(not EXAMPLES[page] for page in HELD)


def test_every_block_without_a_command_is_one_of_those_that_are_known() -> None:
    others = {page: other_blocks(DOCS / f"{page}.md") for page in EXAMPLES if page not in HELD}
    assert {page: len(blocks) for page, blocks in others.items() if blocks} == {
        page: len(beginnings) for page, beginnings in NOT_TYPED.items()
    }
    for page, beginnings in NOT_TYPED.items():
        for block, beginning in zip(others[page], beginnings, strict=True):
            assert block.startswith(beginning), page


@pytest.mark.slow
def test_the_data_set_of_the_page_on_plug_ins_trains(reader: Path) -> None:
    page = (DOCS / "plugins.md").read_text("utf-8")
    example = page.partition("is a complete one:\n")[2].partition("\nImages are decoded once")[0]
    (reader / "own").mkdir()
    (reader / "own" / "my_squares.py").write_text(dedent(example), "utf-8")
    run = "workbench run sample-digits --set dataset.name=my_squares --set training.epochs=1 --workspace mine --quiet"
    follow(Example("plugins.md", 1, False, f"workbench plugins add own\n{run}\n"), {}, in_own_process=True)


def _first_line(page: str) -> str:
    return (DOCS / f"{page}.md").read_text("utf-8").partition("\n")[0]


def test_what_a_page_says_is_found_and_a_marker_is_read(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# Page\n\n    workbench list losses   # all\n    workbench run sample-digits \\\n        --quiet\n\n"
        "    pip install b\n\n```python\nx = 1\n```\n\n"
        "<!-- needs: birds -->\n\n    workbench plugins add [FOLDER]\n"
    )
    console, python, needing = examples(page)
    assert console.commands == [["workbench", "list", "losses"], ["workbench", "run", "sample-digits", "--quiet"]]
    assert not console.needs
    assert python.is_python
    assert python.text == "x = 1\n"
    assert needing.needs == "birds"
    assert needing.commands == [["workbench", "plugins", "add"], ["workbench", "plugins", "add", "FOLDER"]]


def test_an_example_that_does_not_run_fails(reader: Path) -> None:
    with pytest.raises(AssertionError, match="line 7: workbench run no-such-preset"):
        follow(Example("page.md", 7, False, "workbench run no-such-preset\n"), {}, in_own_process=False)
    with pytest.raises(ZeroDivisionError):
        follow(Example("page.md", 7, True, "1 / 0\n"), {}, in_own_process=False)
