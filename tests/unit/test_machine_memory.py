"""The memory that programs may have where Linux limits their control group, in folders such as the kernel shows."""

import os
import sys
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from workbench import machine_memory
from workbench.commands.machine.checks import memory_findings
from workbench.machine_load import GROUP_LIMIT, LIMITS, MEMORY, MachineLoad

GB = 10**9
MACHINE = SimpleNamespace(total=64 * GB, available=40 * GB, used=20 * GB)


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """A machine of 64 GB, 40 of them free and 8 of swap, whose control groups a test writes."""
    monkeypatch.setattr(machine_memory, "PROC", tmp_path)
    monkeypatch.setattr(machine_memory, "ZFS", tmp_path / "arcstats")
    monkeypatch.setattr(psutil, "virtual_memory", lambda: MACHINE)
    monkeypatch.setattr(psutil, "swap_memory", lambda: SimpleNamespace(free=8 * GB))
    monkeypatch.setattr(sys, "platform", "linux")
    (tmp_path / "self").mkdir()
    return tmp_path


def in_groups(machine, groups, mounts):
    (machine / "self/cgroup").write_text(groups)
    (machine / "self/mountinfo").write_text("22 1 8:1 / / rw - ext4 /dev/sda1 rw\n" + mounts)


def second(folder: Path, most, *, taken=0, of_files=0, swap=None, swapped=0):
    """A group of the second version."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "memory.max").write_text(f"{most}\n")
    (folder / "memory.current").write_text(f"{taken}\n")
    (folder / "memory.stat").write_text(f"anon {taken - of_files}\nfile {of_files}\ninactive_file {of_files}\n")
    if swap is not None:
        (folder / "memory.swap.max").write_text(f"{swap}\n")
        (folder / "memory.swap.current").write_text(f"{swapped}\n")


def first(folder: Path, most, *, taken=0, of_files=0, both=None):
    """A group of the first version; `both` limits memory and swap together."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "memory.limit_in_bytes").write_text(f"{most}\n")
    (folder / "memory.usage_in_bytes").write_text(f"{taken}\n")
    (folder / "memory.stat").write_text(f"inactive_file 7\ntotal_active_file {of_files}\ntotal_rss 5\n")
    if both is not None:
        (folder / "memory.memsw.limit_in_bytes").write_text(f"{both}\n")
        (folder / "memory.memsw.usage_in_bytes").write_text(f"{taken}\n")


def second_mounted(machine, root="/"):
    return f"30 22 0:26 {root} {machine}/groups rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"


def first_mounted(machine, root="/"):
    return (
        f"31 22 0:27 /cpu {machine}/cpu rw - cgroup cgroup rw,cpu\n"
        f"32 22 0:28 {root} {machine}/groups rw - cgroup cgroup rw,memory\n"
    )


def memory():
    return machine_memory.whole(), machine_memory.available(), machine_memory.obtainable()


def test_the_real_memory_is_that_of_the_system_at_most():
    assert 0 < machine_memory.obtainable() <= psutil.virtual_memory().total + psutil.swap_memory().total
    assert 0 < machine_memory.whole() <= psutil.virtual_memory().total
    assert 0 < machine_memory.available() <= machine_memory.whole()


def test_without_control_groups_all_memory_counts(machine):
    assert memory() == (64 * GB, 40 * GB, 48 * GB)
    assert machine_memory.limit() is None
    assert machine_memory.used() == 20 * GB


@pytest.mark.parametrize("most", ["max", 100 * GB])
def test_a_group_without_a_limit_below_the_machine_has_all_of_it(machine, most):
    second(machine / "groups/job", most, taken=GB)
    in_groups(machine, "0::/job\n", second_mounted(machine))
    assert memory() == (64 * GB, 40 * GB, 48 * GB)


def test_the_lowest_limit_on_the_way_up_counts_without_files_that_are_given_back(machine):
    second(machine / "groups/slurm", 12 * GB, taken=11 * GB)
    second(machine / "groups/slurm/job", 4 * GB, taken=3 * GB, of_files=1 * GB, swap=0)
    second(machine / "groups/slurm/job/step", "max", taken=3 * GB)
    in_groups(machine, "0::/slurm/job/step\n", second_mounted(machine))
    group = machine_memory.limit()
    assert (group.whole, group.used, group.free) == (4 * GB, 2 * GB, 2 * GB)
    assert machine_memory.used() == 2 * GB
    assert memory() == (4 * GB, 1 * GB, 2 * GB), "the group around it has 1 GB left, and swap"


@pytest.mark.parametrize(("swap", "obtainable"), [(0, 2), (3 * GB, 5), ("max", 10), (None, 10)])
def test_swap_counts_as_far_as_the_group_may_use_it(machine, swap, obtainable):
    second(machine / "groups", 4 * GB, taken=2 * GB, swap=swap)
    in_groups(machine, "0::/\n", second_mounted(machine))
    assert machine_memory.obtainable() == obtainable * GB


def test_swap_that_the_group_has_used_is_not_to_be_had(machine):
    second(machine / "groups", 4 * GB, taken=2 * GB, swap=3 * GB, swapped=GB)
    in_groups(machine, "0::/\n", second_mounted(machine))
    assert machine_memory.obtainable() == 4 * GB


@pytest.mark.parametrize(("both", "obtainable"), [(None, 11), (4 * GB, 3), (6 * GB, 5), (2**63 - 4096, 11)])
def test_the_first_version_is_read_where_memory_is_its(machine, both, obtainable):
    first(machine / "groups", 2**63 - 4096)
    first(machine / "groups/docker/a", 4 * GB, taken=2 * GB, of_files=GB, both=both)
    in_groups(machine, "5:cpu,cpuacct:/other\n4:memory:/docker/a\n0::/\n", first_mounted(machine))
    assert memory() == (4 * GB, 3 * GB, obtainable * GB)


@pytest.mark.parametrize(
    ("root", "path"),
    [("/docker/a", "/docker/a/in"), ("/docker/a", "/docker/a"), ("/docker/a", "/docker/b"), ("/", "/../..")],
)
def test_a_container_that_sees_only_its_own_group_has_its_limit(machine, root, path):
    first(machine, GB)  # beside the mounted folder
    first(machine / "groups", 4 * GB)
    (machine / "groups/in").mkdir()
    in_groups(machine, f"4:memory:{path}\n", first_mounted(machine, root))
    assert machine_memory.whole() == 4 * GB


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such file names")
def test_a_group_whose_name_is_not_utf_8_or_has_colons_is_read(machine):
    name = os.fsdecode(b"cri:caf\xe9:1")
    second(machine / "groups" / name, 4 * GB)
    in_groups(machine, "", second_mounted(machine))
    (machine / "self/cgroup").write_bytes(b"0::/" + os.fsencode(name) + b"\n")
    assert machine_memory.whole() == 4 * GB


def test_unreadable_or_strange_groups_are_passed_over(machine):
    second(machine / "groups/a", "lots")
    in_groups(machine, "0::/a\n", "23 22 0:5 / /strange rw -\n" + second_mounted(machine))
    assert machine_memory.limit() is None
    in_groups(machine, "0::/not-there\n", second_mounted(machine))
    assert machine_memory.limit() is None


def test_the_limit_is_in_the_doctor_and_in_the_load(machine):
    assert memory_findings() == []
    assert MachineLoad().limits() == {LIMITS[MEMORY]: 64 * GB}
    second(machine / "groups", 4 * GB, taken=1 * GB)
    in_groups(machine, "0::/\n", second_mounted(machine))
    (finding,) = memory_findings()
    assert (finding.what, finding.good) == ("Memory limit", True)
    assert finding.said.startswith("4.0 GB for all programs of this container or job, 3.0 GB")
    assert MachineLoad().limits() == {GROUP_LIMIT: 4 * GB}
    assert MachineLoad().measure()[MEMORY] == 1 * GB


def test_what_zfs_keeps_of_files_counts_as_free(machine):
    for text, kept in (
        ("13 1 0x01 147 39984\nname type data\nc_min 4 50\nsize 4 4050\n", 4000),
        ("name type data\nc_min 4 50\nsize 4 20\n", 0),
        ("name type data\nsize 4 lots\nc_min 4 1\n", 0),
        ("", 0),
    ):
        (machine / "arcstats").write_text(text)
        assert memory() == (64 * GB, 40 * GB + kept, 48 * GB + kept)


def test_other_systems_make_room_by_themselves(machine, monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert machine_memory.obtainable() == 64 * GB
