"""Curves as one long table: name, step, value. As CSV for a spreadsheet, as Parquet for a data frame."""

from pathlib import Path

import numpy as np

from workbench.exchange.exported.written import written_file
from workbench.exchange.source import Source
from workbench.files.packages import load
from workbench.files.spreadsheet import csv_text
from workbench.progress import Progress

COLUMNS = ["name", "step", "value"]


def write_csv(source: Source, out: Path, progress: Progress) -> list[Path]:
    """`scalars.csv` in `out`; the value of not-a-number is empty, infinite numbers are written as inf and -inf."""
    progress("Writing the curves", 0, 0)
    names, steps, values = _columns(source)
    rows = [list(row) for row in zip(names, steps.tolist(), values.tolist(), strict=True)]
    path = out / "scalars.csv"
    with written_file(source, path) as file:
        file.write(csv_text(COLUMNS, rows).encode())
    return [path]


def write_parquet(source: Source, out: Path, progress: Progress) -> list[Path]:
    """`scalars.parquet` in `out`: name string, step int64, value double. Raises Problem without pyarrow."""
    arrow, parquet = load("pyarrow", "Parquet", "parquet"), load("pyarrow.parquet", "Parquet", "parquet")
    progress("Writing the curves", 0, 0)
    names, steps, values = _columns(source)
    table = arrow.table(dict(zip(COLUMNS, (arrow.array(names, arrow.string()), steps, values), strict=True)))
    path = out / "scalars.parquet"
    with written_file(source, path) as file:
        parquet.write_table(table, file)
    return [path]


def _columns(source: Source) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Names [n], steps [n] int64 and values [n] float64 of every point, by name."""
    names: list[str] = []
    steps, values = [np.empty(0, np.int64)], [np.empty(0, np.float64)]
    for name in source.workspace.scalar_names(source.run.id):
        at, value = source.workspace.scalars(source.run.id, name)
        names += [name] * len(at)
        steps.append(at)
        values.append(value)
    source.workspace.check_there(source.run.id)
    return names, np.concatenate(steps), np.concatenate(values)
