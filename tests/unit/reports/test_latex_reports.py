"""LaTeX: every letter is shown, none is obeyed; and what is written compiles where there is a compiler."""

import re
import shutil
import subprocess

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.comparing.compared_runs import store
from tests.waits import HANG
from workbench import reports
from workbench.config import RunConfig
from workbench.datasets.image_set import ImageSet
from workbench.evaluation.retrieval import retrieve
from workbench.events import Ended, Evaluated
from workbench.reports.formats.latex import ESCAPED, MAIN, TYPESET, escaped, fragment
from workbench.reports.writing.blocks import Document, Section, Table, heading, said
from workbench.workspace import Workspace
from workbench.workspace.recorder import Recorder

SPECIALS = "\\{}$&#_%~^<>|\"`[]*-'"
ALLOWED = re.compile(
    r"\\[{}$&#_%]|\\(?:textbackslash|textasciitilde|textasciicircum|textless|textgreater|textbar|textquotedbl"
    r"|textasciigrave|textbullet|ldots)\{\}|\{[\[\]*]\}|\{\}|\\ensuremath\{(?:\\[A-Za-z]+|\^?-|\^\+|[\^_]\d)\}"
    r"|\\wbunicode\{[0-9A-F]{4,6}\}\{[^\\{}$&#_%~^]\}|[^\\{}$&#_%^]"
)
EVIL = "\\input{/etc/passwd} \\write18{id} $x_1$ 100% #1 & ^^5c ~ `` [x] * --seed <<a>> \\\\ }{ =1+1 漢字 ✓ é α"
EVIL += " Ελλάδα 😀 e\u0301"


@pytest.mark.parametrize("letter", SPECIALS)
def test_each_special_is_shown(letter):
    assert ALLOWED.fullmatch(escaped(letter))
    if letter not in "-'":
        assert escaped(letter) == ESCAPED[letter]


@given(st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from(SPECIALS)))
def test_no_text_holds_a_command_of_its_own(text):
    rest = escaped(text)
    while rest:
        found = ALLOWED.match(rest)
        assert found, rest
        rest = rest[found.end() :]


def test_words_stay_as_they_are():
    assert escaped("MAP@R 97.1, run 3: Caltech-101 (é)") == "MAP@R 97.1, run 3: Caltech-101 (é)"
    assert escaped("--seed") == "-{}-seed"
    assert escaped("a\nb\tc\0") == "a b c "
    assert escaped("1×10⁻⁵") == r"1\ensuremath{\times}10\ensuremath{^-}\ensuremath{^5}", "as Compare writes 1e-05"
    assert escaped("★ β₂") == r"\ensuremath{\star} \ensuremath{\beta}\ensuremath{_2}"
    assert escaped("漢") == r"\wbunicode{6F22}{漢}"


def test_long_tables_break_over_pages_and_wide_ones_wrap():
    rows = tuple((f"name_{row}", "long words " * 20) for row in range(60))
    text = fragment(Document("t", "s", (Section("runs", "Runs", (Table("runs", "All", ("A", "B"), rows),)),)), {})
    assert re.search(r"\{\\wblong\\small\n\\begin\{longtable\}.*\\end\{longtable\}\n\\wbafter\}", text, re.DOTALL)
    assert "in}" in text
    assert text.count(r"\\") >= 60
    assert r"\label{tab:runs}" in text


def test_only_a_table_that_fits_a_column_stays_in_one():
    tables = [Table(key, "All", ("A", "B"), ((word, word),)) for key, word in (("slim", "x"), ("wide", "word " * 12))]
    text = fragment(Document("t", "s", (Section("runs", "Runs", tuple(tables)),)), {})
    assert re.findall(r"begin{(table\*?)}", text) == ["table", "table*"]
    assert r"\wblong\small" not in text


@pytest.fixture(params=["pdflatex", "lualatex", "xelatex"])
def engine(request):
    """A LaTeX that is here."""
    if shutil.which(request.param) is None:
        pytest.skip(f"no {request.param}")
    return request.param


# Letters and names are what an engine sets in its own way: all three are always tried with those.
one_engine = pytest.mark.parametrize(
    "engine",
    ["pdflatex", *(pytest.param(name, marks=pytest.mark.slow) for name in ("lualatex", "xelatex"))],
    indirect=True,
)


def compiled(folder, engine):
    """The log of a compilation in which every letter was set, by itself or by its number."""
    command = [engine, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "main.tex"]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=HANG, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:]
    log = (folder / "main.log").read_text("utf-8", "replace")
    assert "Missing character" not in log
    return log


def test_every_letter_compiles(tmp_path, engine):
    every = "".join(sorted(TYPESET | set(ESCAPED))) + EVIL
    table = Table(
        "x", EVIL, ("[a", "*b"), (("[1]", "*"), ("* x", "[2]"), (EVIL, every)), frozenset({1}), frozenset({0})
    )
    document = Document(EVIL, EVIL, (Section("notes", EVIL, (heading(EVIL), said(every), table)),))
    (tmp_path / "report.tex").write_text(fragment(document, {}), "utf-8")
    (tmp_path / "main.tex").write_text(MAIN, "utf-8")
    compiled(tmp_path, engine)


@one_engine
def test_a_long_table_compiles_in_a_paper_of_two_columns(tmp_path, engine):
    rows = tuple((f"name {row}", "words " * 12) for row in range(60))
    blocks = (said("words " * 900), Table("wide", "All", ("A", "B"), rows[:3]), Table("long", "All", ("A", "B"), rows))
    document = Document("t", "s", (Section("notes", "Notes", (*blocks, said("words " * 900))),))
    (tmp_path / "report.tex").write_text(fragment(document, {}), "utf-8")
    (tmp_path / "main.tex").write_text(MAIN.replace("[10pt]", "[10pt,twocolumn]"), "utf-8")
    assert "Overfull" not in compiled(tmp_path, engine)


@one_engine
def test_a_comparison_compiles_with_its_figures(tmp_path, monkeypatch, engine):
    monkeypatch.setattr("workbench.entries.catalog.current", dict)
    notes = f"# Notes\n\n{EVIL}\n\n1. one\n   1. two\n\n9. nine\n\n```\n a\n\n b\n```\n"
    with Workspace(tmp_path / "space", create=True) as workspace:
        runs = [store(workspace, {1: np.linspace(0, 1, 8)}, seed=seed, name=EVIL) for seed in range(3)]
        sections = ("notes", "groups", "group-curves", "runs", "provenance", "all-settings")
        reports.write_report(workspace, runs, tmp_path / "out", ["latex"], sections, EVIL, notes)
    assert "Overfull" not in compiled(tmp_path / "out", engine)


@pytest.fixture(
    scope="module",
    params=[
        "中文名称",
        "_%&#$~^{}\\",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("Ελληνικά", "😀👩‍🔬", "=1+1")),
    ],
)
def named(request, tmp_path_factory):
    """A name, and the folder with the report of a run that has it: written once for all engines."""
    name, folder = request.param, tmp_path_factory.mktemp("named")
    labels = np.arange(12, dtype=np.int64) % 3
    paths, classes = [f"{name}/{row}.png" for row in range(12)], [f"{name} {number}" for number in range(3)]
    images = ImageSet("arrays", None, paths, labels, classes, 1, 8, lambda row: np.zeros((8, 8), np.uint8))
    vectors = np.eye(3, 5, dtype=np.float32)[labels]
    found = retrieve(vectors, labels, images.sample_ids)
    with pytest.MonkeyPatch.context() as patch, Workspace(folder / "space", create=True) as workspace:
        patch.setattr("workbench.entries.catalog.current", dict)
        run_id = workspace.create_run(RunConfig(name=name))
        workspace.set_note(run_id, name)
        recorder = Recorder(workspace, run_id)
        recorder.dataset(workspace.register_dataset(images, None))
        recorder(Evaluated(1, 1, "cosine", found.metrics, images.sample_ids, labels, vectors, found.ap,
                           found.first_hit, found.r, found.neighbours, found.similarities))  # fmt: skip
        recorder(Ended("done"))
        reports.write_report(workspace, run_id, folder / "out", ["latex"])
    return name, folder / "out"


def test_a_run_and_its_classes_may_have_any_name(tmp_path, engine, named):
    name, written = named
    assert escaped(f"{name} 2") in (written / "report.tex").read_text("utf-8")
    shutil.copytree(written, tmp_path / "out")
    compiled(tmp_path / "out", engine)


@pytest.mark.parametrize("text", ["Wirklich?“", "Ja!‘", "a-–b", "–—", "‘“", "’”", "'’", "?“‘"])
def test_typographic_signs_are_no_part_of_a_ligature(text):
    """?` is ¿ and !` is ¡; three hyphens are a long dash; of three quotes TeX takes the first two together."""
    parts = escaped(text).split("{}")
    assert len(parts) == sum(letter in "-–—'‘’“”?!" for letter in text)
