"""Numbers of runs and sweeps, as every command takes them."""

import pytest

from workbench import cli
from workbench.workspace import Workspace

NUMBERED = (
    ["compare"], ["deploy"], ["export"], ["geometry"], ["index"], ["report"], ["search"], ["triage"],
    ["place", "fetch"], ["place", "resume"], ["place", "stop"],
    ["sweep", "cancel"], ["sweep", "pause"], ["sweep", "resume"], ["sweep", "retry"], ["sweep", "run"],
    ["sweep", "show"],
)  # fmt: skip


@pytest.fixture
def space(tmp_path):
    Workspace(tmp_path / "space", create=True).close()
    return str(tmp_path / "space")


@pytest.mark.parametrize("command", NUMBERED, ids=" ".join)
@pytest.mark.parametrize(
    ("number", "said"),
    [("9" * 20, "is larger than the number of any run or sweep can be."), ("one", "'one' is not a whole number.")],
)
def test_what_is_no_number_is_wrong_usage(command, number, said, space, capsys):
    assert cli.main([*command, number, "--workspace", space]) == 2
    assert said in capsys.readouterr().err


def test_the_largest_number_is_looked_for(space, capsys):
    assert cli.main(["compare", str(2**63 - 1), "--workspace", space]) == 1
    assert f"There is no run {2**63 - 1} in" in capsys.readouterr().err
