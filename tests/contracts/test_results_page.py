"""What the sentences of docs/results.md say is what its tables hold."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "results.md").read_text("utf-8")


def section(title: str) -> str:
    """The part of the page below a heading that begins so, its lines joined by blanks."""
    (found,) = [part for part in PAGE.split("\n## ")[1:] if part.startswith(title)]
    return found


def words(title: str) -> str:
    """A section's sentences without its tables."""
    lines = [line for line in section(title).splitlines() if not line.startswith("|")]
    return " ".join(" ".join(lines).split())


def rows(title: str) -> Iterator[list[str]]:
    """The cells of each line of the tables of a section, heads included."""
    for line in section(title).splitlines():
        if line.startswith("|") and not line.startswith("|---"):
            yield [cell.strip() for cell in line.strip("|").split("|")]


def numbers(cell: str) -> list[float]:
    return [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", cell.replace("−", "-"))]


def ranking(title: str) -> dict[str, tuple[float, float, float]]:
    """Rank, MAP@R and R@1 of each method of a comparison."""
    ranked = [cells for cells in rows(title) if re.match(r"[\d.]+ \(", cells[0])]
    return {cells[1]: (numbers(cells[0])[0], numbers(cells[2])[0], numbers(cells[3])[0]) for cells in ranked}


ON_OMNIGLOT = "Losses tuned in the same way (Omniglot"
ON_PHOTOGRAPHS = "Losses tuned in the same way (Caltech"


@pytest.mark.parametrize(
    ("title", "appendix"),
    [(ON_OMNIGLOT, "How the losses were compared\n"), (ON_PHOTOGRAPHS, "How the losses were compared on photographs")],
)
def test_the_ranking_is_in_order_and_its_pairs_are_counted(title, appendix):
    ranked, said, behind = (
        ranking(title),
        words(title),
        words(appendix),
    )
    scores = [score for _, score, _ in ranked.values()]
    assert scores == sorted(scores, reverse=True)
    places = [place for place, _, _ in ranked.values()]
    assert places == sorted(places)
    assert sum(places) == pytest.approx(len(places) * (len(places) + 1) / 2)
    (of_all, differ) = re.search(r"Of the (\d+) pairs (\d+) differ", said).groups()
    assert int(of_all) == len(ranked) * (len(ranked) - 1) // 2
    assert f"{differ} of {of_all} pairs differ at 5% after Holm's correction." in behind
    assert behind.split("## ")[0].count(f"{len(ranked)} methods on ") == 1
    tried = {cells[0] for cells in rows(appendix) if cells[0] in ranked}
    assert tried == set(ranked), "what was tried stands in the appendix for every method"


def test_what_is_said_of_single_losses_is_in_the_rankings():
    on_omniglot, on_photographs = ranking(ON_OMNIGLOT), ranking(ON_PHOTOGRAPHS)
    assert f"All {len(on_omniglot)} losses ran" in words(ON_OMNIGLOT)
    updates = [cells for cells in rows("RankMI at equal updates") if cells[0].isdigit()]
    reached = {(cells[1], cells[2]): numbers(cells[3])[0] for cells in updates}
    assert f"it reaches {reached['100', '0.515']}" in words(ON_OMNIGLOT)
    assert reached["50", "0.515"] == on_omniglot["rankmi"][1]
    gain = reached["100", "0.515"] - reached["50", "0.515"]
    assert f"adds {gain:.0f} points" in words("RankMI at equal updates")

    said = words(ON_PHOTOGRAPHS)
    score, recall = map(float, re.search(r"in MAP@R \(([\d.]+)%\); in R@1 \(([\d.]+)%\)", said).groups())
    assert min(row[1] for row in on_photographs.values()) > score
    below = [name for name, row in on_photographs.items() if row[2] < recall]
    assert f"{', '.join(below[:-1])} and {below[-1]} end below them" in said
    assert len(on_photographs) == 14, "All fourteen"
    assert next(iter(on_photographs)) == "multi_similarity"


def test_what_is_said_of_planted_label_errors_is_in_the_table():
    table = {}
    for data, noise, share, *found in rows("Planted label errors"):
        if noise in ("any", "pairs"):
            table[data, noise, share] = [numbers(cell) for cell in found]
    said = words("Planted label errors")
    with_proxies, alone, logistic = 0, 1, 2
    easy = [cells for (data, _, _), cells in table.items() if data in ("Digits", "MNIST")]
    assert min(cells[with_proxies][1] for cells in easy) > 99, "nearly every planted error"
    assert all(cells[with_proxies][1] > max(other[1] for other in cells[logistic:]) for cells in easy)
    mnist = table["MNIST", "any", "5%"]
    assert f"{mnist[with_proxies][0]:.0f} against {mnist[logistic][0]:.0f}" in said
    pairs = [cells for (data, noise, _), cells in table.items() if data in ("Digits", "MNIST") and noise == "pairs"]
    assert all(cells[with_proxies][2] > cells[logistic][2] for cells in pairs), "better for pairs"
    omniglot = table["Omniglot", "any", "5%"]
    assert f"({omniglot[logistic][2]:.0f} against {omniglot[alone][2]:.0f} at 5%)" in said
    photographs = [cells for (data, _, _), cells in table.items() if data == "Photographs"]
    recalls = [cells[alone][1] for cells in photographs]
    assert f"finds {min(recalls):.0f} to {max(recalls):.0f}% of the planted errors" in said
    missed = [100 - cells[logistic][1] for cells in photographs]
    assert f"misses {min(missed):.0f} to {max(missed):.0f}%" in said


def test_what_is_said_of_ccp_and_of_the_twins_is_in_their_tables():
    ends = [numbers(cells[1] + " " + cells[2]) for cells in rows("Cross-entropy and SPCE") if "(end)" in cells[0]]
    ((ce, spce),) = ends
    assert f"differ by {100 * abs(ce - spce) / ce:.1f}% of CE" in words("Cross-entropy and SPCE")
    radii = [cells for cells in rows("CCP on MNIST") if len(cells) == 7 and cells[0] != "end of projection"]
    first, last = ([cells for cells in radii if re.search(end, cells[0])] for end in (", 1$", ", the last$"))
    assert [cells[0] for cells in first] == ["proxies, 1", "samples, 1"]
    for before, after in zip(first, last, strict=True):
        assert f"from {before[3]} to {after[3]} ({before[0].split(',')[0]})" in words("Chance-constrained proxies")


def test_the_trends_of_the_ablations_are_those_of_their_values():
    """With the same seeds a paired difference is that of the means; the words follow from its interval."""
    title = "The papers' ablations"
    means = {cells[1].split(" (")[0]: numbers(cells[3])[0] for cells in rows(title) if cells[3:] and numbers(cells[3])}
    pairs = {
        "ICE: s = 64 is better than s = 16": ("64", "16"), "ICE: s = 64 is better than s = 1": ("64", "s = 1"),
        "ICE: s = 16": ("16", "s = 1"), "ICE: 2 images of each class": ("2 of each class", "5"),
        "RankMI: the smallest batch": ("80", "160"), "PSCE: the simplex": ("simplex", "random"),
        "PSCE: neither": ("simplex", "unit length without own class"),
        "CCP: 8 proxies": ("8 proxies of 16 images", "one proxy of 16 images"),
        "CCP: a pool": ("8 proxies of 16 images", "8 random images"),
        "CCP: many projections": ("many projections", "one projection"),
        "ICE: the largest batch": ("136", "76"), "RankMI: ratio 1 and ratio 4": ("ratio 1", "ratio 4"),
        "RankMI: ratio 1 and ratio 2": ("ratio 1", "ratio 2"),
    }  # fmt: skip
    trends = [cells for cells in rows(title) if ": " in cells[0]]
    for claim, difference, verdict in trends:
        better, worse = next(pair for words, pair in pairs.items() if claim.startswith(words))
        mean, low, high = numbers(difference)
        assert mean == pytest.approx(means[better] - means[worse], abs=0.011), claim
        if claim.endswith("are alike"):
            alike = "no difference seen (interval contains zero)"
            assert verdict == (alike if low <= 0 <= high else "a difference"), claim
            continue
        seen = "the same direction" if low > 0 else "the opposite" if high < 0 else "not seen (interval contains zero)"
        assert verdict == seen, claim
    assert len(trends) == len(pairs)
