"""What is said of a connection that `ssh` did not make, and output of a shell that greets before each command."""

import os
import stat
from pathlib import Path

import pytest

from workbench.places.contract import Unreachable
from workbench.places.host.hosts import OpenSshHost
from workbench.places.host.ssh_errors import in_words

CHANGED = """\
@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @
Host key for [127.0.0.1]:2022 has changed and you have requested strict checking.
Host key verification failed.
"""
JUMP = """\
ssh: Could not resolve hostname door: Name or service not known
kex_exchange_identification: Connection closed by remote host
Connection closed by UNKNOWN port 65535
"""


@pytest.mark.parametrize(
    ("errors", "why", "todo"),
    [
        ("", "the connection was lost", ""),
        (CHANGED, "its host key has changed: this may be another machine than before", "administrator confirms"),
        ("Host key verification failed.\n", "its host key is not known to this machine", "confirm the key: `ssh lab`"),
        ("me@lab: Permission denied (publickey).\n",
         "none of your keys was accepted (me@lab: Permission denied (publickey))", "`ssh lab` must log in without"),
        (JUMP, "ssh: Could not resolve hostname door: Name or service not known", "ProxyJump in your SSH config"),
        ("ssh: connect to host lab port 1: Connection refused\n", "ssh: connect to host lab port 1: Connection refused",
         "Check the port"),
        ("ssh: connect to host lab port 22: No route to host\n", "ssh: connect to host lab port 22: No route to host",
         "that your network reaches it"),
        ("sh: cat: Permission denied\n", "sh: cat: Permission denied", ""),
    ],
)  # fmt: skip
def test_what_ssh_says_is_a_reason_and_what_to_do(errors, why, todo):
    said, advice = in_words(errors, "ssh lab")
    assert said == why
    assert todo in advice
    assert bool(todo) == bool(advice)


@pytest.fixture
def played_ssh(tmp_path, monkeypatch):
    """Puts a script of the test in the place of `ssh`; its words are in $@, the last is the command there."""

    def put(script: str) -> OpenSshHost:
        path = tmp_path / "tools" / "ssh"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", str(path.parent), prepend=os.pathsep)
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
        return OpenSshHost("lab", Path("no config"))

    return put


posix = pytest.mark.skipif(os.name != "posix", reason="the script in the place of ssh is one of a POSIX shell")
COMMAND = 'for command in "$@"; do :; done; '


@posix
def test_a_shell_that_greets_changes_no_answer(played_ssh):
    host = played_ssh(COMMAND + 'echo "Welcome!"; echo "Last login: today" >&2; exec sh -c "$command"')
    assert host.call(["printf", "two\nlines"]).out == b"two\nlines"
    assert host.call(["sh", "-c", "cat; exit 3"], b"input").status == 3


@posix
def test_of_an_answer_that_is_cut_the_greeting_does_not_count_as_its_beginning(played_ssh):
    host = played_ssh(COMMAND + 'echo "Welcome!"; sh -c "$command"; exit 255')
    with pytest.raises(Unreachable, match=r"lab does not answer: the connection was lost\.") as lost:
        host.call(["printf", "half"])
    assert lost.value.came == b"half"


@posix
def test_the_reason_of_a_jump_host_is_asked_for_where_the_shared_connection_hides_it(played_ssh):
    hidden = "echo 'Connection closed by UNKNOWN port 65535' >&2; exit 255"
    host = played_ssh(
        'case "$*" in *ControlPath=none*) echo "ssh: Could not resolve hostname door: unknown" >&2;; esac; ' + hidden
    )
    with pytest.raises(Unreachable, match=r"Could not resolve hostname door: unknown\. .*ProxyJump"):
        host.call(["true"])
