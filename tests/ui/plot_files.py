"""What a plot writes, without the question for a file and the thread."""

from pathlib import Path

from workbench.ui.plots.export import SavedPlot


def write_plot(plot: SavedPlot, path: Path) -> None:
    """Write a plot as PNG, SVG or CSV, by the ending of the path."""
    whole = {".png": plot.png, ".svg": plot.svg, ".csv": plot.csv}[path.suffix]()()
    path.write_bytes(whole.encode() if isinstance(whole, str) else whole)
