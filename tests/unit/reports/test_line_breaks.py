"""Long names in tables of reports go on in the next line between their parts."""

import pytest

from workbench.reports.formats.line_breaks import BREAK, breakable, pieces


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("contrastive_positive_margin", ["contrastive_", "positive_", "margin"]),
        ("/data/caltech101/images", ["/", "data/", "caltech101/", "images"]),
        ("f" * 50, ["f" * 24, "f" * 24, "ff"]),
    ],
)
def test_a_long_name_ends_a_line_behind_a_joint_only(word, parts):
    assert pieces(word) == parts
    assert breakable(f"a {word}") == f"a {BREAK.join(parts)}"


def test_short_words_stay_whole():
    assert breakable("training.lr 0.001") == "training.lr 0.001"
