"""A user's own text: Markdown as blocks. HTML in it is text, and a link leads to the web, to mail or nowhere."""

import re

from markdown_it import MarkdownIt
from markdown_it.token import Token

from workbench.reports.writing.blocks import Block, Bullets, Code, Heading, Paragraph, Span, Style, Table

SAFE = ("http", "https", "mailto")
SCHEME = re.compile(r"^([a-z][a-z0-9+.-]*):", re.IGNORECASE)


def blocks_of(text: str) -> tuple[Block, ...]:
    """Headings, paragraphs, lists, code and tables of a text; images and quotes keep their words only."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    return _Reader(parser.parse(text)).blocks("")


def safe_link(address: str) -> str:
    """The address when it is http, https, mailto or relative, else nothing."""
    bare = re.sub(r"[\x00-\x20\x7f]", "", address)  # a browser reads "java\nscript:" as one word
    scheme = SCHEME.match(bare)
    if bare.startswith(("//", "\\")) or (scheme and scheme[1].lower() not in SAFE):
        return ""
    return bare


class _Reader:
    """Walks the flat list of tokens once."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._at = 0
        self._tables = 0

    def _next(self) -> Token:
        token = self._tokens[self._at]
        self._at += 1
        return token

    def blocks(self, end: str) -> tuple[Block, ...]:
        """Blocks up to the token of that type, or to the end of the text."""
        blocks: list[Block] = []
        while self._at < len(self._tokens):
            token = self._next()
            match token.type:
                case "heading_open":
                    blocks.append(Heading(min(int(token.tag[1:]), 3), spans_of(self._next())))
                case "paragraph_open":
                    blocks.append(Paragraph(spans_of(self._next())))
                case "bullet_list_open" | "ordered_list_open":
                    ordered = token.type.startswith("ordered")
                    blocks.append(Bullets(self._items(), ordered, int(token.attrGet("start") or 1) if ordered else 1))
                case "fence" | "code_block":
                    blocks.append(Code(token.content.rstrip("\n")))
                case "table_open":
                    blocks.append(self._table())
                case kind if kind == end:
                    break
        return tuple(blocks)

    def _items(self) -> tuple[tuple[Block, ...], ...]:
        items = []
        while self._next().type == "list_item_open":
            items.append(self.blocks("list_item_close"))
        return tuple(items)

    def _table(self) -> Table:
        rows: list[list[str]] = []
        numbers: set[int] = set()
        while (token := self._next()).type != "table_close":
            if token.type == "tr_open":
                rows.append([])
            elif token.type == "inline":
                rows[-1].append("".join(span.text for span in spans_of(token)))
            elif token.type == "th_open" and "right" in str(token.attrGet("style") or ""):
                numbers.add(len(rows[-1]))
        self._tables += 1
        head, *body = rows
        return Table(f"own-{self._tables}", "", tuple(head), tuple(map(tuple, body)), frozenset(numbers))


def spans_of(inline: Token) -> tuple[Span, ...]:
    """The pieces of one line of text."""
    spans: list[Span] = []
    styles: list[Style] = [""]
    link = ""
    for token in inline.children or []:
        match token.type:
            case "text" | "html_inline":
                spans.append(Span(token.content, styles[-1], link))
            case "softbreak" | "hardbreak":
                spans.append(Span(" ", styles[-1], link))
            case "code_inline":
                spans.append(Span(token.content, "code", link))
            case "image":
                spans.append(Span(token.content, styles[-1], link))
            case "strong_open":
                styles.append("strong")
            case "em_open":
                styles.append("em")
            case "strong_close" | "em_close":
                styles.pop()
            case "link_open":
                link = safe_link(str(token.attrGet("href") or ""))
            case "link_close":
                link = ""
    return tuple(span for span in spans if span.text)
