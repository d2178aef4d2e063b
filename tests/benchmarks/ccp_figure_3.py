"""Fig. 3 of CCP from its published numbers: MAP@R with 128 dimensions (MLRC) divided by that of the same loss alone.

    python -m tests.benchmarks.ccp_figure_3 --out docs/ccp-figure-3.svg

The paper prints the figure without numbers; these are computed from its supplement's Tables 3 and 4, as
resources/tables/ccp.toml holds them.
"""

import argparse
from functools import partial
from pathlib import Path

from matplotlib.figure import Figure

from workbench.comparing.published.published_tables import tables
from workbench.reports.figures.drawing import FULL, Drawing

SETS = {"cub": "CUB", "cars": "Cars-196", "sop": "SOP", "inshop": "In-shop"}
ALONE = {
    "C1-XBM-L": "C1", "C1-CCP-L": "C1", "C2-XBM-L": "C2", "C2-CCP-L": "C2", "MS-CCP-L": "MS",
    "Triplet-CCP-L": "Triplet",
}  # fmt: skip
COLOURS = {"XBM": "#999999", "CCP": "#0072B2"}


def improvements() -> dict[str, dict[str, float]]:
    """Percent of MAP@R that each method gains over its loss alone, by data set and method."""
    gained: dict[str, dict[str, float]] = {}
    for table in tables():
        if table.note != "separated" or not table.paper.startswith("Gürbüz"):
            continue
        column = table.metrics.index("MAP@R")
        values = {row.method: row.values[column] for row in table.rows}
        gained[table.dataset] = {name: 100 * (values[name] / values[alone] - 1) for name, alone in ALONE.items()}
    return {dataset: gained[dataset] for dataset in SETS}


def _paint(gained: dict[str, dict[str, float]], host: Figure) -> None:
    for axes, (dataset, by_method) in zip(host.subplots(1, len(gained), sharey=True), gained.items(), strict=True):
        names = list(by_method)[::-1]
        colours = [COLOURS["XBM" if "XBM" in name else "CCP"] for name in names]
        axes.barh(names, [by_method[name] for name in names], color=colours)
        axes.set(title=SETS[dataset], xlabel="% over the loss alone")


def main() -> None:
    """Draw the figure and print its numbers."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, required=True)
    out = parser.parse_args().out
    gained = improvements()
    rows = [[method, *(f"{gained[dataset][method]:.1f}" for dataset in gained)] for method in ALONE]
    for row in rows:
        print(f"| {' | '.join(row)} |")
    out.write_bytes(Drawing(partial(_paint, gained), FULL, 2.2, (["method", *gained], rows)).encode("svg"))


if __name__ == "__main__":
    main()
