"""Pages set by typst: what they say, where sections begin, and that no text of a run is ever run."""

import errno
import json
import os
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from tests.ui.trained import trained_run
from workbench import reports
from workbench.names import visible
from workbench.problem import Problem
from workbench.reports.content.run_content import Map
from workbench.reports.document import make
from workbench.reports.figures.drawing import FULL, Drawing
from workbench.reports.figures.run_figures import draw_map
from workbench.reports.formats import pdf
from workbench.reports.formats.typesetting import typeset
from workbench.reports.writing.blocks import Document, Plot, Section, Span, Table, said
from workbench.reports.writing.blocks import Paragraph as Par
from workbench.reports.writing.markdown import blocks_of

HOSTILE = (
    '#read("/etc/passwd")',
    '#import "@preview/cetz:0.3.1": *',
    '#image("/etc/hosts")',
    '"); #panic("x")',
    "= no heading *no bold* _no_ $x^2$ @nobody <label> // no comment /* none */ \\ ~ `raw` [x] {y} #",
    "#eval(\"1+1\")\n#set page(width: 1pt)\x00\x1b[31m",
)  # fmt: skip


def words_of(report, kind):
    """The text of every element of that kind, as typst has it."""

    def texts(part):
        if isinstance(part, list):
            return "".join(map(texts, part))
        if not isinstance(part, dict):
            return ""
        return "".join(
            value if key == "text" and isinstance(value, str) else texts(value) for key, value in part.items()
        )

    return [texts(element).replace("\u200b", "") for element in json.loads(report.compiler.query(kind))]


@pytest.mark.parametrize("text", HOSTILE)
def test_text_is_shown_and_never_run(text, tmp_path):
    shown, in_cells = (
        "".join(letter if letter.isprintable() else " " for letter in words) for words in (text, visible(text))
    )
    drawing = Drawing(
        partial(draw_map, Map(np.eye(2), np.arange(2), None, (text, "b"), text, text)), FULL, 2.0, ([], [])
    )
    blocks = (
        Par((Span(text), Span(text, "strong"), Span(text, "em"), Span(text, "code"), Span(text, link=text))),
        Table("t", text, (text, "b"), ((text, text),) * 9),
        Plot("map", text),
    )
    document = Document(text, text, (Section("notes", text, (*blocks_of(text), *blocks)),), {"map": drawing})
    with typeset(document) as report:
        assert shown in words_of(report, "heading")
        assert any(words.count(in_cells) >= 19 for words in words_of(report, "table"))
        assert report.pdf().startswith(b"%PDF-")


def test_a_full_disk_of_temporary_files_is_a_sentence(monkeypatch):
    def full(path, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    monkeypatch.setattr(Path, "write_bytes", full)
    drawing = Drawing(partial(draw_map, Map(np.eye(2), np.arange(2), None, ("a", "b"), "", "")), FULL, 2.0, ([], []))
    document = Document("t", "t", (Section("map", "t", (Plot("map", "t"),)),), {"map": drawing})
    with pytest.raises(Problem, match=r"no space left to write .*workbench-report"), typeset(document):
        pass


def test_nothing_is_read_from_outside_and_no_package_is_fetched(tmp_path):
    """The guard behind the strings: even a template that asked for it would get nothing."""
    document = Document("t", "s", (Section("notes", "Notes", (said("words"),)),))
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    with typeset(document) as report:
        for wish in (f'read("{secret}")', 'read("../../secret.txt")', 'read("/../etc/hostname")'):
            with pytest.raises(Exception, match=r"not found|outside|access|escape"):
                report.compiler.eval(wish)


def test_the_report_of_a_run_says_its_numbers_in_order(workspace, tmp_path):
    run_id = trained_run(workspace, tmp_path / "cache", name="*bold* #name")
    made = make(workspace, reports.wish_of(run_id), lambda text, done, total: None)
    with typeset(made.document) as report:
        headings = words_of(report, "heading.where(level: 1)")
        cells = "".join(words_of(report, "table"))
        assert report.pages >= 3
        assert list(report.sections) == [section.key for section in made.document.sections]
        assert list(report.sections.values()) == sorted(report.sections.values())
        assert len(report.pictures(40)) == report.pages
    order = ["Summary", "Retrieval metrics", "Embedding map", "Curves", "Best and worst queries", "Settings"]
    assert [heading for heading in headings if heading in order] == order
    assert headings[-2:] == ["Environment", "Appendix: settings at their defaults"]
    assert f"{workspace.run(run_id).best['MAP@R']:.2%}" in cells
    assert cells.count("<b>cat</b>") == 1, "a class is listed once"


@pytest.mark.parametrize(("paper", "ratio"), [("a4", 297 / 210), ("letter", 11 / 8.5)])
def test_the_page_has_the_size_of_its_paper(paper, ratio):
    from io import BytesIO

    from PIL import Image

    document = Document("t", "s", (Section("notes", "Notes", (said("words"),)),))
    shown = pdf.preview(document, 72, paper)
    with Image.open(BytesIO(shown.pictures[0])) as picture:
        assert picture.height / picture.width == pytest.approx(ratio, rel=0.01)


@pytest.mark.parametrize("upright", [True, False])
def test_a_picture_of_a_page_has_every_column_and_row_of_a_figure(upright):
    """Stripes of two pixels: where a row or column is lost, one of them is thinner."""
    from io import BytesIO

    from PIL import Image

    stripes = 467  # of two pixels in the text width of A4, 172 mm, at 138 dots per inch

    def paint(figure):
        axes = figure.add_axes((0, 0, 1, 1), xlim=(0, stripes), ylim=(0, stripes))
        axes.set_axis_off()
        draw = axes.bar if upright else axes.barh
        draw(np.arange(0, stripes, 2), stripes, 1, align="edge", color="black", linewidth=0, snap=False)

    drawing = Drawing(paint, FULL, FULL, ([], []), laid_out=False)
    document = Document("t", "s", (Section("map", "M", (Plot("map", ""),)),), {"map": drawing})
    with Image.open(BytesIO(pdf.preview(document, 138).pictures[0])) as picture:
        page = np.asarray(picture.convert("L")) < 128
    line = page[len(page) // 2] if upright else page[:, page.shape[1] // 2]
    widths = np.diff(np.flatnonzero(np.diff(line)))
    assert set(widths[len(widths) // 10 : -len(widths) // 10]) == {2}


def test_another_paper_is_refused(workspace, tmp_path):
    with pytest.raises(Problem, match="no paper 'a7'"):
        reports.write_report(workspace, 1, tmp_path, ["pdf"], paper="a7")


@pytest.mark.parametrize(("columns", "stretched"), [(3, 1), (15, 0)])
def test_a_column_of_text_takes_the_room_that_is_left_if_there_is_some(columns, stretched):
    """Where there is none it would have no width, and its words would lie over those of the next column."""
    row = ("a rather long name", *("12.34 (10.1 to 14.2)",) * (columns - 1))
    table = Table("t", "", tuple(f"column {number}" for number in range(columns)), (row,), frozenset(range(1, columns)))
    with typeset(Document("t", "s", (Section("notes", "Notes", (table,)),))) as report:
        (shown,) = json.loads(report.compiler.query("table"))
    assert shown["columns"].count("1fr") == stretched


def test_no_page_holds_one_row_of_a_table():
    """Whatever the length, the table's last rows stay together."""
    for length in (40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52):
        rows = tuple((f"row {number}", "x" * 60, "y") for number in range(length))
        document = Document("t", "s", (Section("notes", "Notes", (Table("t", "", ("a", "b", "c"), rows),)),))
        with typeset(document) as report:
            pages = json.loads(report.compiler.eval("query(<row>).map(mark => mark.location().page())"))
        assert pages[-1] == report.pages, "the page of the third row from the end is the last"
        assert len(pages) == length - 4, "three rows at each end are one"


def test_the_same_document_gives_the_same_file():
    document = Document("t", "s", (Section("notes", "Notes", (said("words"),)),))
    assert pdf.encode(document) == pdf.encode(document)
