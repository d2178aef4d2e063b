"""A workspace on a network disk: recognised, without WAL, and one machine's at a time; clocks are not believed."""

import json
import os
import subprocess
import sys
import uuid
from collections import namedtuple
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import sleep

import pytest
from click.testing import CliRunner

from workbench.cli import cli
from workbench.config import RunConfig
from workbench.control import Cancelled
from workbench.files import mounts
from workbench.files.mounts import shared_kind
from workbench.problem import Problem
from workbench.workspace import Workspace
from workbench.workspace.owners import lease
from workbench.workspace.owners.lease import take_over
from workbench.workspace.owners.lease_holder import NAME, Leased, machine

Part = namedtuple("Part", "device mountpoint fstype opts")


@pytest.fixture
def mounted(monkeypatch, tmp_path):
    """A table of mounts that names a folder as an NFS disk; returns that folder."""
    disk = tmp_path / "disk"
    disk.mkdir()
    table = [Part("/dev/sda1", "/", "ext4", "rw"), Part("server:/home", str(disk), "nfs4", "rw,vers=4.2")]
    monkeypatch.setattr(mounts.psutil, "disk_partitions", lambda all: table)
    return disk


@pytest.mark.parametrize(
    ("table", "kind"),
    [
        ([("/", "ext4")], ""),
        ([("/", "ext4"), ("/data", "nfs")], "nfs"),
        ([("/", "nfs4"), ("/data", "xfs")], ""),
        ([("/", "ext4"), ("/data", "ext4"), ("/data", "cifs")], "cifs"),
        ([("/", "ext4"), ("/dat", "nfs")], ""),
        ([("/", "ext4"), ("/data", "fuse.sshfs")], "fuse.sshfs"),
        ([("/", "ext4"), ("/data", "fuseblk")], ""),
        ([("/", "ext4"), ("/data", "lustre"), ("/data/here", "btrfs")], "lustre"),
        ([("/", "ext4"), ("/data", "GPFS")], "gpfs"),
        ([("/", "overlay"), ("/data/runs", "smb3")], "smb3"),
        ([], ""),
    ],
)
def test_the_kind_of_disk_is_that_of_the_innermost_mount(monkeypatch, table, kind):
    parts = [Part("x", place, name, "rw") for place, name in table]
    monkeypatch.setattr(mounts.psutil, "disk_partitions", lambda all: parts)
    assert shared_kind("/data/runs/missing") == kind


LINES = {  # as the kernel and the clients of these disks write them
    "nfs": "server:/export {} nfs rw,relatime,vers=3,proto=tcp,addr=192.0.2.1 0 0",
    "nfs4": "server:/export {} nfs4 rw,relatime,vers=4.2,sec=sys,local_lock=none 0 0",
    "cifs": "//server/share {} cifs rw,relatime,vers=3.1.1,cache=strict,soft 0 0",
    "smb3": "//server/share {} smb3 rw,relatime,vers=3.1.1 0 0",
    "lustre": "192.0.2.1@tcp:/scratch {} lustre rw,flock,user_xattr 0 0",
    "gpfs": "/dev/gpfs0 {} gpfs rw,relatime 0 0",
    "fuse.sshfs": "me@server:/home {} fuse.sshfs rw,nosuid,nodev,user_id=1000 0 0",
    "beegfs": "beegfs_nodev {} beegfs rw,cfgFile=/etc/beegfs/client.conf 0 0",
    "ceph": "192.0.2.1:/ {} ceph rw,name=me,secret=<hidden>,acl 0 0",
    "fuse.glusterfs": "server:/volume {} fuse.glusterfs rw,default_permissions 0 0",
    "9p": "host {} 9p rw,trans=virtio 0 0",
    "fuse.rclone": "remote: {} fuse.rclone rw,nosuid,nodev 0 0",
}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the table of mounts is Linux's")
@pytest.mark.parametrize("kind", LINES)
def test_the_kernels_own_lines_name_the_disk(monkeypatch, tmp_path, kind):
    (tmp_path / "self").mkdir()
    mount = "/net/group\\040one"  # a blank, as the kernel writes it
    table = f"/dev/vda / ext4 rw 0 0\n{LINES[kind].format(mount)}\n/dev/vdb /net/group\\040one/own xfs rw 0 0\n"
    (tmp_path / "self" / "mounts").write_text(table)
    monkeypatch.setattr(mounts.psutil, "PROCFS_PATH", str(tmp_path))
    assert shared_kind("/net/group one/runs") == kind
    assert shared_kind("/net/group one/own/runs") == ""
    assert shared_kind("/net/group") == ""


@pytest.mark.parametrize("kind", sorted({*mounts.SHARED, *(f"fuse.{name}" for name in mounts.OF_FUSE)}))
def test_every_kind_that_is_known_is_recognised(monkeypatch, kind):
    parts = [Part("x", "/", "ext4", "rw"), Part("x", "/data", kind, "rw")]
    monkeypatch.setattr(mounts.psutil, "disk_partitions", lambda all: parts)
    assert shared_kind("/data/space") == kind


def mode(workspace):
    with workspace.reading() as db:
        return db.execute("pragma journal_mode").fetchone()[0]


def holder(folder):
    return json.loads((folder / NAME).read_text())


def of_another_machine(folder, *, silent=0.0, clock=0.0, **changes):
    """A lease of another machine, silent for so long, by a clock that is wrong by so many seconds."""
    beat = datetime.now(UTC) - timedelta(seconds=silent) + timedelta(seconds=clock)
    facts = {"machine": "b" * 32, "host": "cluster-7", "pid": 5, "born": 1.0, "beat": beat.isoformat(), "count": 3}
    (folder / NAME).write_text(json.dumps(facts | changes))
    at = (folder / NAME).stat().st_mtime - silent
    os.utime(folder / NAME, (at, at))


def test_there_is_no_log_and_the_lease_lasts_as_long_as_one_is_open(mounted):
    with Workspace(mounted / "space", create=True) as first:
        folder = first.path
        assert (first.shared_disk, mode(first)) == ("nfs4", "delete")
        with Workspace(folder) as second:
            run = second.create_run(RunConfig())
            assert first.run(run).status == "queued"
        assert holder(folder)["pid"] == os.getpid()
        assert sorted(path.name for path in folder.iterdir()) == ["runs", "workspace.db", NAME]
    assert not (folder / NAME).exists()


def test_a_local_disk_has_a_log_and_no_lease(tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        assert (workspace.shared_disk, mode(workspace)) == ("", "wal")
        assert not (tmp_path / "space" / NAME).exists()


def test_what_was_in_the_log_of_a_local_disk_is_kept_and_the_log_comes_back(mounted, monkeypatch):
    with monkeypatch.context() as local:
        local.setattr(mounts.psutil, "disk_partitions", lambda all: [])
        left = Workspace(mounted / "space", create=True)
        run = left.create_run(RunConfig(name="kept"))
    with monkeypatch.context() as hurried:
        hurried.setattr("workbench.workspace.database.connection.WAIT", 0.1)
        with pytest.raises(Problem, match="written by another program"):
            Workspace(mounted / "space")
    left.close()
    with Workspace(mounted / "space") as workspace:
        assert workspace.run(run).name == "kept"
        assert mode(workspace) == "delete"
    with monkeypatch.context() as local:
        local.setattr(mounts.psutil, "disk_partitions", lambda all: [])
        with Workspace(mounted / "space") as workspace:
            assert (mode(workspace), workspace.run(run).name) == ("wal", "kept")


@pytest.fixture
def space(mounted):
    with Workspace(mounted / "space", create=True) as workspace:
        workspace.create_run(RunConfig())
    return mounted / "space"


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"silent": 12}, r"\(nfs4\) and is open on cluster-7, which gave a sign of life 12"),
        ({"silent": 7200}, "which has given no sign of life for 2 h"),
        ({"silent": 12, "clock": 3 * 3600}, "sign of life 12.*The clock of cluster-7 is 3 h .*ahead of"),
        ({"silent": 12, "clock": -5 * 3600}, "The clock of cluster-7 is 5 h .*behind"),
        ({"beat": "soon"}, "sign of life under 1 s"),
    ],
)
def test_another_machine_is_told_and_nothing_is_opened(space, facts, said):
    of_another_machine(space, **facts)
    before = {path: path.stat().st_mtime_ns for path in space.iterdir()}
    with pytest.raises(Leased, match=said) as caught:
        Workspace(space)
    assert "take it over" in str(caught.value)
    assert {path: path.stat().st_mtime_ns for path in space.iterdir()} == before


def test_a_lease_that_cannot_be_read_is_somebodys(space):
    (space / NAME).write_bytes(b"\xff{")
    with pytest.raises(Leased, match="a machine whose lease cannot be read"):
        Workspace(space)


def test_a_disk_that_does_not_keep_the_lease_is_refused(space, monkeypatch):
    """As smbnetfs does, where a second machine would find no lease."""
    monkeypatch.setattr(os, "link", lambda draft, path: Path(path).write_bytes(b""))
    with pytest.raises(Problem, match="does not keep the file"):
        Workspace(space)


def test_a_silent_machine_is_taken_over_after_a_watch(space, monkeypatch):
    monkeypatch.setattr(lease, "WATCHED", 0.2)
    monkeypatch.setattr(lease, "LOOK", 0.02)
    of_another_machine(space, silent=0, clock=9 * 3600)  # whatever its clock says
    told = []
    take_over(space, lambda *facts: told.append(facts))
    assert "signs of life of cluster-7" in told[0][0]
    with Workspace(space) as workspace:
        assert len(workspace.runs()) == 1
    assert not (space / NAME).exists()


def test_a_machine_that_lives_is_not_taken_over(space, monkeypatch):
    monkeypatch.setattr(lease, "LOOK", 0.02)
    of_another_machine(space, silent=7200)  # a file server whose clock is wrong

    def beat(*facts):
        of_another_machine(space, silent=7200, count=4)

    with pytest.raises(Leased, match="gave a sign of life just now"):
        take_over(space, beat)
    assert holder(space)["host"] == "cluster-7"


def test_taking_over_can_be_cancelled(space):
    of_another_machine(space)

    def cancel(*facts):
        raise Cancelled

    with pytest.raises(Cancelled):
        take_over(space, cancel)
    assert holder(space)["host"] == "cluster-7"


def test_who_was_taken_over_while_suspended_writes_nothing(space):
    with Workspace(space) as workspace:
        of_another_machine(space)
        with pytest.raises(Problem, match="was taken over by cluster-7"):
            workspace.create_run(RunConfig())
        assert len(workspace.runs()) == 1
    assert holder(space)["host"] == "cluster-7", "the lease of another machine stays"


def test_a_dead_process_of_this_machine_holds_nothing(space):
    of_another_machine(space, machine=machine(), pid=2**22 + 5)
    with Workspace(space) as workspace:
        workspace.create_run(RunConfig())
        assert holder(space)["pid"] == os.getpid()


OTHER = """
import sys
from workbench.config import RunConfig
from workbench.files import mounts
from workbench.workspace import Workspace
part = type("Part", (), {"device": "x", "mountpoint": sys.argv[1], "fstype": "nfs4", "opts": "rw"})
mounts.psutil.disk_partitions = lambda all: [part]
with Workspace(sys.argv[1] + "/space") as workspace:
    print(workspace.create_run(RunConfig()))
"""


def test_processes_of_a_machine_without_a_known_card_agree_on_its_name(monkeypatch):
    drawn = iter([0x8150C32DF002, 0xB7FE7645DDA4])  # by Python, in two processes
    monkeypatch.setattr(uuid, "getnode", lambda: next(drawn))
    assert machine.__wrapped__() == machine.__wrapped__()


def test_another_process_of_this_machine_shares_the_lease(space, mounted):
    with Workspace(space) as workspace:
        words = [sys.executable, "-c", OTHER, str(mounted)]
        other = subprocess.run(words, capture_output=True, text=True, check=False)
        assert other.stdout.split() == ["2"], other.stderr
        assert holder(space)["pid"] == os.getpid()
        assert workspace.create_run(RunConfig()) == 3


def test_the_lease_is_made_again_where_the_process_that_had_it_has_closed(space):
    with Workspace(space) as workspace:
        (space / NAME).unlink()
        workspace.create_run(RunConfig())
        assert holder(space)["pid"] == os.getpid()


def test_signs_of_life_come_while_it_is_open(space, monkeypatch):
    monkeypatch.setattr(lease, "BEAT", 0.02)
    with Workspace(space):
        first = holder(space)["count"]
        while holder(space)["count"] < first + 3:
            sleep(0.01)


def test_the_command_line_says_it_and_takes_over(space, monkeypatch):
    monkeypatch.setattr(lease, "WATCHED", 0.1)
    monkeypatch.setattr(lease, "LOOK", 0.02)
    of_another_machine(space, silent=300)
    refused = CliRunner().invoke(cli, ["list", "runs", "-w", str(space)])
    assert "cluster-7" in refused.output
    assert refused.exit_code
    taken = CliRunner().invoke(cli, ["doctor", "--workspace", str(space), "--take-over"])
    assert "on a network disk (nfs4)" in taken.output, taken.output
    assert not CliRunner().invoke(cli, ["list", "runs", "-w", str(space)]).exit_code
