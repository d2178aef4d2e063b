"""No string of the program has a word that docs/words.md gives up; labels of numbers say their unit."""

import ast
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from source_rules import ROOT, nodes_of

from workbench.config import sections
from workbench.entries import catalog
from workbench.settings.field_words import title_of
from workbench.settings.run_fields import RUN_FIELDS

KEY = re.compile(r"\b(Ctrl|Alt)\b")
SHORTCUT = re.compile(r"((Ctrl|Shift|Alt|Meta)\+)+\S*")  # a text of Qt, which shows it as the system does
GIVEN_UP = (
    "nothing is being worked on", "no run is shown", "share that trains", "least distance", "points at most",
    "looking for it", "seeds of each", "flatters", "preflight begins when", "and 1 other classes",
    "picture (png)", "drawing (svg)", "png picture", "svg drawing", "runs in line", "run in line", "out of the line",
    "back into the line", "waits in line", "stands here", "stand here", "worked out", "being read", "being found",
    "are forgotten", "fair match", "tuned alike", "input should", "string should", "evaluations left out",
    "say it as", "driver of now", "dry steps", "looked into", "is not reached", "greatest memory", "processor, %",
    "where it ended", "there is no dataset", "that is published", "told as", "is called in", "may work",
    "is none of", "is no file of", "is no text", "is no number", "is no name", "is no whole number", "is no multiple",
    "mend the", " anew", "tells of", "at work", "so many images", "so many blocks", "goes back in line",
    "has in excess", "were loaded", "points it had told", "drown", "gave no thread", "goes with neither",
    "goes with none", "class proxies", "own proxy", "proxy of another", "reported half", "both halves", "neither half",
    "in the training half", "on the test half", "of the test half", "of the training half",
)  # fmt: skip

SPACED = re.compile(r"(?:(?<![@\d])\d+|\})[^\S\n]%(?![\w(])")  # "12 %" and "{:.1f} %", but not "R@1 %" of a head
SHARES = (  # fractions, factors and strengths: numbers without a unit
    "crop", "smallest_area", "aspect", "jitter", "hue", "jittered", "grey", "blur", "erased", "drop_path", "dropout",
    "ratio", "train_fraction", "validation", "momentum", "weight_decay", "clip_norm", "base", "width",
    "positive_margin", "negative_margin", "cosine_margin", "triplet_margin",
)  # fmt: skip
COUNTS = ("projections", "in_batch", "folds", "fold", "views", "epochs", "seed")  # what is counted is their label
UNITS = re.compile(r", (nats|%|own scale|GB|MB/s|W|°C|ms)\b|, %|, °C")
CHARTS = ("CurvePlot", "LoadChart")
AXES, AXIS_UNITS = ("CostPlot", "TradePlot"), re.compile(r"\b(seconds|MB|bytes|ms)\b")
HEAD_UNITS = re.compile(r"%|\bpoints$|^(Bytes|MB|ms|Time s|Memory MB)$")
HEADS_WITHOUT_UNIT = {
    "a word": ("", "Group", "Method", "Backbone", "Seed (runs)", "Class",
               "Query", "Suspect", "Taken for", "Hub", "Which classes", "Same class",
                "Store or search", "In words", "Nearest class", "Change", "Measure", "Image", "By"),
    "a number with the unit of its row": ("Strength", "Nearest", "Mean"),
    "a difference, of the unit of the column before it": ("Δ", "Δ AP"),
    "a range, of the unit of the column before it": ("95% interval",),
    "a count": ("n", "Seeds", "d", "Images", "Times", "Times among the ten", "In other classes", "Pairs n",
                "Classes", "Queries"),
    "a rank or number of a row": ("Hit", "Rank", "Row", "Hit, baseline", "Hit, other"),
    "a distance or similarity, of no unit": ("Covering radius", "Margin", "Intra", "Inter", "Similarity", "Threshold"),
    "a score from 0 to 1": ("Suspicion",),
}  # fmt: skip


def other_percentages(path: Path) -> list[str]:
    """Places of texts with a percentage that is not as `numerals.percentage` writes it: "12 %", or "nan%" for NaN."""
    if "%" not in path.read_text("utf-8"):
        return []
    spaced = [line for line, text in strings(path) if SPACED.search(text)]
    for joined in (node for node in nodes_of(path.read_text("utf-8")) if isinstance(node, ast.JoinedStr)):
        for part, after in pairwise([*joined.values, ast.Constant("")]):
            if isinstance(part, ast.FormattedValue):
                value, then = ast.unparse(part.value), ast.unparse(after).strip("'\"")
                form = "" if part.format_spec is None else ast.unparse(part.format_spec)
                number = form or "percent" in value
                thin = value == "THIN" and then.startswith("%")
                if thin or re.search(r"\d%", form) or (number and re.match(r"\s%(?!\w)", then)):
                    spaced.append(part.lineno)
    return [f"{path.name}:{line}" for line in spaced]


def without_unit(fields: dict[str, dict[str, Any]]) -> list[str]:
    """The numbers among the fields, by dotted name, that have neither unit nor symbol of a paper and are not pure."""
    return [
        f"{path}: {title_of(path, field)}"
        for path, field in fields.items()
        if field.get("type") in ("integer", "number")
        and not field.get("unit")
        and not field.get("symbol")
        and path.rpartition(".")[2] not in (*SHARES, *COUNTS)
    ]


def titles_of_charts(path: Path, kinds: tuple[str, ...] = CHARTS, place: int = 0) -> list[str]:
    """The words that a module gives charts of these kinds, at this place of their arguments."""
    calls = [node for node in nodes_of(path.read_text("utf-8")) if isinstance(node, ast.Call)]
    calls = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id in kinds]
    made = [call.args[place] for call in calls if len(call.args) > place]
    return [title.value for title in made if isinstance(title, ast.Constant)]


def heads_of_tables(path: Path) -> list[str]:
    """Heads of columns: tuples whose name ends with TITLES, lists that are called head, and what a Column is given."""
    made = [node for node in nodes_of(path.read_text("utf-8")) if isinstance(node, ast.Assign)]
    made = [node for node in made if isinstance(node.targets[0], ast.Name)]
    values = [node.value for node in made if re.search("TITLES$|^head$", ast.unparse(node.targets[0]))]
    heads = [head for value in values if isinstance(value, ast.Tuple | ast.List) for head in value.elts]
    written = [head.value for head in heads if isinstance(head, ast.Constant) and isinstance(head.value, str)]
    return written + titles_of_charts(path, ("Column",), place=1)


def strings(path: Path) -> list[tuple[int, str]]:
    """Every text of a module that is no docstring, with its line."""
    nodes = nodes_of(path.read_text("utf-8"))
    docs = {
        id(node.body[0].value)
        for node in nodes
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    return [
        (node.lineno, node.value)
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs
    ]


def breaches(paths: list[Path]) -> list[str]:
    """Place and word of every string that holds a word that was given up."""
    return [
        f"{path.relative_to(ROOT).as_posix()}:{line}: {word}"
        for path in paths
        for line, text in strings(path)
        for word in GIVEN_UP
        if word in text.casefold()
    ]


def test_a_planted_word_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "page.py").write_text('"""No run is shown."""\nTITLE = "Nothing is being worked on"\n')
    monkeypatch.setattr("test_words_of_the_window.ROOT", tmp_path)
    assert breaches([tmp_path / "page.py"]) == ["page.py:2: nothing is being worked on"]


def test_no_string_holds_a_word_that_was_given_up():
    assert breaches(sorted((ROOT / "workbench").rglob("*.py"))) == []


def test_planted_percentages_are_found(tmp_path: Path):
    lines = ('"12 %"', 'f"{share:.1%}"', 'f"{percent(share)} % of it"', 'f"{share:.1f}{THIN}%"', '"{:.1f} %"')
    allowed = ('f"{name} % ↑"', '"95% interval"', 'f"{percentage(share)} of it"', '"a % 2"', 'f"{when:%H:%M}"')
    page = tmp_path / "page.py"
    page.write_text("\n".join(f"WORDS = {line}" for line in (*lines, *allowed)), "utf-8")
    assert other_percentages(page) == [f"page.py:{line}" for line in (1, 5, 2, 3, 4)]


def test_every_percentage_is_written_in_one_way():
    paths = sorted((ROOT / "workbench").rglob("*.py"))
    assert [place for path in paths for place in other_percentages(path)] == []


def test_a_planted_number_without_its_unit_is_found():
    plain, lasting = {"type": "number"}, {"type": "number", "unit": "s"}
    assert without_unit({"loss.margin": plain | {"symbol": "m"}, "training.patience": plain, "x.pause": lasting}) == [
        "training.patience: Patience"
    ]
    assert not UNITS.search("Speed")


def test_every_label_of_a_number_has_its_unit():
    fields = dict(RUN_FIELDS)
    for part, described in sections().items():
        fields |= {f"{part}.{name}": field for name, field in described.items()}
    for entry, facts in catalog.current().items():
        fields |= {f"{entry}.{name}": field for name, field in facts.get("params", {}).items()}
    assert len(fields) > 250
    assert without_unit(fields) == []
    charts = sorted((ROOT / "workbench" / "ui" / "pages" / "train").rglob("*.py"))
    titles = [title for path in charts for title in titles_of_charts(path)]
    assert len(titles) > 12
    assert [title for title in titles if not UNITS.search(title)] == []


def test_every_axis_of_cost_has_its_unit():
    pages = ROOT / "workbench" / "ui" / "pages"
    modules = [path for page in ("compare", "retrieval") for path in sorted((pages / page).rglob("*.py"))]
    axes = [axis for path in modules for axis in titles_of_charts(path, AXES, place=1)]
    assert len(axes) == 4
    assert [axis for axis in axes if not AXIS_UNITS.search(axis)] == []


def test_every_head_of_a_column_of_numbers_has_its_unit_or_a_reason_for_none():
    pages = ROOT / "workbench" / "ui" / "pages"
    tables = [path for page in ("compare", "map", "retrieval") for path in sorted((pages / page).rglob("*.py"))]
    tables.append(ROOT / "workbench" / "results" / "class_geometry.py")  # of Map's table
    tables = [path for path in tables if path.name != "map_files.py"]  # names of columns in a file
    heads = [head for path in tables for head in heads_of_tables(path)]
    assert len(heads) > 40
    pure = {head for group in HEADS_WITHOUT_UNIT.values() for head in group}
    assert [head for head in heads if head not in pure and not HEAD_UNITS.search(head)] == []
    assert pure <= set(heads)


def foreign_keys(text: str) -> list[str]:
    """Sentences of a module that name a key as it is called on Linux and Windows alone."""
    nodes = nodes_of(text)
    passed = {
        id(part)
        for call in nodes
        if isinstance(call, ast.Call) and ast.unparse(call.func) in ("own_keys", "re.sub")
        for part in ast.walk(call)
    }
    said = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}  # docstrings
    return [
        node.value
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in passed | said
        if KEY.search(node.value) and node.value not in ("Ctrl", "Alt") and not SHORTCUT.fullmatch(node.value)
    ]


def test_the_window_names_keys_as_the_system_does():
    """Qt's Ctrl is ⌘ on a Mac."""
    assert foreign_keys("tip('Undo (Ctrl+Z)')\nadd('Ctrl+Z', own_keys('Redo (Ctrl+Y)'))") == ["Undo (Ctrl+Z)"]
    paths = sorted((ROOT / "workbench" / "ui").rglob("*.py"))
    assert [words for path in paths for words in foreign_keys(path.read_text("utf-8"))] == []
