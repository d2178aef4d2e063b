"""The processes that this one has started."""

import psutil


def analysis_processes() -> set[psutil.Process]:
    """Those that make maps."""
    return {child for child in psutil.Process().children() if "workbench.projection.server" in child.cmdline()}
