"""The real parts that `tests/clusters/setup` started on this machine, for tests that are skipped without them."""

import os
from pathlib import Path

import pytest

BASE = Path(os.environ.get("WORKBENCH_CLUSTERS") or Path(__file__).resolve().parents[2] / ".clusters")


def there(kind: str) -> dict[str, str]:
    """What the setup wrote of "ssh", "slurm" or "ray"; the test is skipped where it is not started, with the reason."""
    try:
        lines = (BASE / f"{kind}.env").read_text().splitlines()
    except FileNotFoundError:
        reason = BASE / f"{kind}.reason"
        why = reason.read_text().strip() if reason.exists() else f"start it with: tests/clusters/setup {kind} start"
        pytest.skip(f"no {kind} here: {why}")
    return dict(line.split("=", 1) for line in lines)
