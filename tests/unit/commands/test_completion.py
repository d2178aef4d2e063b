"""What Tab completes: a shell asks the program by a variable, without arguments."""

import pytest

from workbench import __main__ as program
from workbench import app


@pytest.mark.parametrize(
    ("asked", "answer"), [("bash_complete", "plain,report"), ("bash_source", "complete -o nosort -F"), ("none", "")]
)
def test_a_shell_that_asks_opens_no_window(asked, answer, monkeypatch, capsys):
    monkeypatch.setattr(app, "main", pytest.fail)
    monkeypatch.setenv(program.COMPLETION, asked)
    monkeypatch.setenv("COMP_WORDS", "workbench re")
    monkeypatch.setenv("COMP_CWORD", "1")
    status = program.main([])
    assert (answer in capsys.readouterr().out, status) == (True, 0 if answer else 1)
