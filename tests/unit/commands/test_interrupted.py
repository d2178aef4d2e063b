"""Ctrl+C ends every command with status 130 and a word, never with a traceback."""

import pytest
from click.testing import CliRunner

from workbench import __main__ as program
from workbench.cli import cli
from workbench.workspace import Workspace


def interrupted(*_, **__):
    raise KeyboardInterrupt


@pytest.mark.parametrize("command", [["report", "1"], ["compare", "1"], ["list", "runs"], ["geometry", "1"]])
def test_any_command(command, tmp_path, monkeypatch):
    Workspace(tmp_path, create=True).close()
    monkeypatch.setattr(Workspace, "run", interrupted)
    monkeypatch.setattr(Workspace, "runs", interrupted)
    ended = CliRunner().invoke(cli, [*command, "--workspace", str(tmp_path)])
    assert (ended.exit_code, ended.output) == (130, "Interrupted.\n")


def test_while_the_program_is_loaded(monkeypatch, capsys):
    monkeypatch.setattr("workbench.cli.main", interrupted)
    assert program.main(["list", "runs"]) == 130
    assert capsys.readouterr().err == "Interrupted.\n"
