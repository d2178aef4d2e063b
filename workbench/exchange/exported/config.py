"""The config of a run as the TOML file that `workbench run` takes."""

from pathlib import Path

from workbench.exchange.exported.written import written_file
from workbench.exchange.source import Source
from workbench.progress import Progress


def write(source: Source, out: Path, progress: Progress) -> list[Path]:
    """`config.toml` in `out`, exactly as the run was started."""
    progress("Writing the config", 0, 0)
    path = out / "config.toml"
    with written_file(source, path) as file:
        file.write(source.run.config.encode())
    return [path]
