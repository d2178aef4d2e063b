"""The processes that this one has started."""

import psutil


def children_with(word: str) -> list[psutil.Process]:
    """Living children whose command line has this word; one that ends meanwhile is none."""
    return [child for child in psutil.Process().children() if word in _command(child)]


def analysis_processes() -> set[psutil.Process]:
    """Those that make maps."""
    return set(children_with("workbench.projection.server"))


def _command(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.NoSuchProcess:  # a zombie, too
        return ""
