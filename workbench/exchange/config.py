"""The config of a run as the TOML file that `workbench run` takes."""

from pathlib import Path

from workbench import files
from workbench.exchange.source import Source, Tell


def write(source: Source, out: Path, tell: Tell) -> list[Path]:
    """`config.toml` in `out`, exactly as the run was started."""
    tell("Writing the config", 0, 0)
    path = out / "config.toml"
    with files.atomic_write(path) as file:
        file.write(source.run.config.encode())
    return [path]
