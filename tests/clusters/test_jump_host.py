"""A place behind a jump host, with a key that only an agent has: added, checked, trained at, brought home."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.clusters.there import there
from tests.clusters.training import digits, looked, python
from workbench.cli import main
from workbench.places import records, sending
from workbench.places.following import Following
from workbench.places.launching import launcher_of
from workbench.workspace import Workspace


@pytest.fixture
def jump(monkeypatch, tmp_path):
    """The SSH config that reaches `far` through `door`, and the key that both take."""
    values = there("ssh")
    if "JUMP" not in values:
        pytest.skip("this sshd has no second one: tests/clusters/setup ssh stop, and start")
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    monkeypatch.setenv("WORKBENCH_PLACES", str(tmp_path / "places"))
    config = tmp_path / "config"  # its own: connections are shared by host and config
    config.write_text(Path(values["JUMP"]).read_text())
    return str(config), values["KEY"]


@pytest.fixture
def agent(jump, monkeypatch, tmp_path):
    """An agent that has the key, for as long as a test takes."""
    address = tmp_path / "agent"
    process = subprocess.Popen(["ssh-agent", "-D", "-a", str(address)], stdout=subprocess.DEVNULL)
    monkeypatch.setenv("SSH_AUTH_SOCK", str(address))
    for _ in range(100):
        added = subprocess.run(["ssh-add", "-q", jump[1]], check=False, capture_output=True, env=dict(os.environ))
        if added.returncode == 0:
            break
    yield added.returncode == 0
    process.kill()
    process.wait()


def add(tmp_path: Path, config: str, there_python: str = "none/bin/python") -> int:
    fields = {"ssh_config": config, "folder": str(tmp_path / "runs"), "python": there_python}
    words = [word for name, value in fields.items() for word in ("--set", f"{name}={value}")]
    return main(["place", "add", "far", "--ssh", "far", "--no-check", *words])


def test_the_way_leads_through_the_jump_host_and_the_agent(jump, tmp_path, agent, monkeypatch, capsys):
    assert agent
    assert add(tmp_path, jump[0]) == 0
    assert main(["place", "check", "far"]) == 1
    said = capsys.readouterr().out
    assert "Connection: It answers" in said
    assert "There is no Python at none/bin/python" in said
    closed = tmp_path / "closed"  # the same way, and nobody at the door
    closed.write_text(Path(jump[0]).read_text().replace("Host door\n", "Host door\n  Port 9\n"))
    assert add(tmp_path, str(closed)) == 0
    assert main(["place", "check", "far"]) == 1
    assert "far does not answer: ssh: connect to host 127.0.0.1 port 9: Connection refused" in capsys.readouterr().out
    other = tmp_path / "other"  # the open door once more, by another connection, and no agent
    other.write_text(Path(jump[0]).read_text())
    monkeypatch.delenv("SSH_AUTH_SOCK")
    assert add(tmp_path, str(other)) == 0
    assert main(["place", "check", "far"]) == 1
    assert "far does not answer: none of your keys was accepted" in capsys.readouterr().out


def test_folders_with_long_names_keep_no_connection_away(jump, tmp_path, agent, monkeypatch, capsys):
    """The name of a socket has 108 bytes at the most."""
    for name in ("HOME", "XDG_RUNTIME_DIR"):
        monkeypatch.setenv(name, str(tmp_path / ("a folder with a long name" * 5)))
    assert add(tmp_path, jump[0]) == 0
    assert main(["place", "check", "far"]) == 1
    assert "Connection: It answers" in capsys.readouterr().out


def at_a_terminal(*words: str) -> str:
    """What a command of Workbench, and all that it starts, print to a terminal of its own."""
    terminal, side = os.openpty()
    command = [sys.executable, "-m", "workbench", *words]
    with subprocess.Popen(command, preexec_fn=lambda: os.login_tty(side)):
        os.close(side)
        said = b""
        while block := read_or_end(terminal):
            said += block
    os.close(terminal)
    return said.decode()


def read_or_end(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # Linux says so that nobody has the other side
        return b""


@pytest.mark.parametrize("way", ["ProxyJump door", "ProxyCommand ssh -F {config} -W %h:%p door"])
def test_no_ssh_on_the_way_asks_at_the_terminal(jump, tmp_path, agent, way):
    """Whether to trust the door's unknown key would be asked by its own ssh, which gets none of our options."""
    assert agent
    config = tmp_path / "strange"
    door = f"Host door\n  UserKnownHostsFile {tmp_path}/nobody\n"
    config.write_text(f"{door}Host far\n  {way.format(config=config)}\n{Path(jump[0]).read_text()}")
    assert add(tmp_path, str(config)) == 0
    said = at_a_terminal("place", "check", "far")
    assert "Are you sure" not in said
    assert "far does not answer" in said


@pytest.mark.slow
def test_a_run_behind_a_jump_host_comes_home(jump, tmp_path, agent):
    assert agent
    assert add(tmp_path, jump[0], python(tmp_path)) == 0
    assert main(["place", "check", "far"]) == 0
    place = records.named("far")
    with Workspace(tmp_path / "space", create=True) as workspace:
        (run_id,) = sending.prepare(workspace, digits("training.epochs=1"), place)
        sending.submit(workspace, [run_id], place, launcher_of(place))
        following = Following(workspace, place, launcher_of(place))
        run = looked(following, workspace, run_id, lambda run: not run.placement.open)
        assert run.status == "done", run.problem
        journal = Path(place.folder) / run.placement.uid / "journal.jsonl"
        assert (workspace.folder(run_id) / journal.name).read_bytes() == journal.read_bytes()
        assert workspace.evaluations(run_id)
