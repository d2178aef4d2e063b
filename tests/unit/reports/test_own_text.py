"""Own text: Markdown becomes blocks, and nothing in it becomes HTML or a link that runs."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.reports.formats import html, latex, pdf
from workbench.reports.writing.blocks import Bullets, Code, Document, Heading, Paragraph, Section, Span, Table
from workbench.reports.writing.markdown import blocks_of, safe_link

TEXT = """# Aim *now*

Plain **bold** `code` [paper](https://example.org/a?b=1) <b>tag</b>
next line.

3. three
4. four
   - inner

```
x = 1
  y
```

| a | b |
|---|--:|
| 1 | 2 |
"""


def test_every_kind_of_block_is_read():
    title, line, listing, code, table = blocks_of(TEXT)
    assert title == Heading(1, (Span("Aim "), Span("now", "em")))
    assert isinstance(line, Paragraph)
    assert Span("bold", "strong") in line.spans
    assert Span("code", "code") in line.spans
    assert Span("paper", "", "https://example.org/a?b=1") in line.spans
    assert "".join(span.text for span in line.spans).endswith("<b>tag</b> next line.")
    assert isinstance(listing, Bullets)
    assert (listing.ordered, listing.first, len(listing.items)) == (True, 3, 2)
    assert isinstance(listing.items[1][1], Bullets)
    assert code == Code("x = 1\n  y")
    assert table == Table("own-1", "", ("a", "b"), (("1", "2"),), frozenset({1}))


@pytest.mark.parametrize(
    ("address", "kept"),
    [
        ("https://a.org", True), ("http://a.org", True), ("mailto:a@b.org", True), ("figures/map.pdf", True),
        ("#map", True), ("javascript:alert(1)", False), ("JaVaScRiPt:alert(1)", False), ("java\nscript:x", False),
        ("\x01javascript:alert(1)", False), ("data:text/html,x", False), ("vbscript:x", False),
        ("file:///etc/passwd", False), ("//a.org", False), ("\\\\host\\share", False),
    ],
)  # fmt: skip
def test_only_harmless_links_lead_anywhere(address, kept):
    assert safe_link(address) == (address if kept else "")


@settings(max_examples=30)
@given(st.text(max_size=300) | st.text("<>&\"'[]()*_`#|-\n script:/", max_size=80))
def test_any_text_is_drawn_as_html_and_latex(text):
    document = Document("t", "s", (Section("notes", "Notes", blocks_of(text)),))
    page = html.page(document)
    assert page.lower().count("<script") == 1
    latex.fragment(document, {})


def test_the_same_text_stands_in_all_three_formats():
    document = Document("Title", "below", (Section("notes", "Notes", blocks_of(TEXT)),))
    page, tex = html.page(document), latex.fragment(document, {})
    assert "<strong>bold</strong>" in page
    assert '<a href="https://example.org/a?b=1" rel="noopener noreferrer">paper</a>' in page
    assert '<ol start="3">' in page
    assert "&lt;b&gt;tag&lt;/b&gt;" in page
    assert r"\textbf{bold}" in tex
    assert r"\subsection{Aim \emph{now}}" in tex
    assert r"\begin{enumerate}" in tex
    assert pdf.encode(document).startswith(b"%PDF-")


def test_lists_deeper_than_latex_can_number_are_told_without_numbers():
    text = "\n".join("  " * depth + "- x" for depth in range(9))
    document = Document("t", "s", (Section("notes", "Notes", blocks_of(text)),))
    assert latex.fragment(document, {}).count(r"\begin{itemize}") == latex.DEEPEST


def test_letters_without_a_font_are_no_trouble():
    document = Document("漢字 \U0001f600", "s", (Section("notes", "Notes", blocks_of("**漢字** `漢` \x07")),))
    assert pdf.encode(document).startswith(b"%PDF-")
