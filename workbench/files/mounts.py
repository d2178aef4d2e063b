"""Which file system a folder is on: a disk of this machine, or one that other machines can write, too."""

import os
from pathlib import Path

import psutil

# File systems whose files other machines may change at any moment. Disks of this machine are not, even those
# behind FUSE (NTFS, exFAT). 9p and virtiofs are folders of a virtual machine's host.
SHARED = frozenset({
    "nfs", "nfs4", "cifs", "smb", "smb2", "smb3", "smbfs", "lustre", "gpfs", "beegfs", "ceph", "glusterfs", "afs",
    "afpfs", "webdav", "davfs", "davfs2", "9p", "virtiofs", "ocfs2", "gfs2", "pvfs2", "orangefs", "panfs", "wekafs",
    "quobyte", "sshfs", "juicefs", "macfuse", "osxfuse",
})  # fmt: skip
OF_FUSE = frozenset({
    "sshfs", "ceph", "ceph-fuse", "glusterfs", "rclone", "s3fs", "gcsfuse", "goofys", "juicefs", "davfs", "davfs2",
    "cifs", "smbnetfs", "beegfs", "quobyte", "mfs", "moosefs", "curlftpfs", "gvfsd-fuse",
})  # fmt: skip
UNC = ("\\\\", "//")


def shared_kind(folder: Path) -> str:
    """The name of the network file system that a folder is on, such as "nfs4"; empty on a disk of this machine.

    The folder, and those above it, may be missing. Reads only the system's table of mounts, because a disk may hang.
    """
    place = os.path.realpath(folder)
    if os.name == "nt" and place.startswith(UNC):
        return "smb"
    kind, length = "", -1
    for part in psutil.disk_partitions(all=True):
        if len(part.mountpoint) >= length and _below(place, part.mountpoint):  # the later one hides the earlier
            kind = _shared(part.fstype, part.opts)
            length = len(part.mountpoint)
    return kind


def _shared(kind: str, options: str) -> str:
    """The kind if other machines may write to it; on Windows a drive that is "remote"."""
    small = kind.lower()
    of_fuse = small.removeprefix("fuse.")
    if small in SHARED or (of_fuse != small and of_fuse in OF_FUSE):
        return small
    return "smb" if os.name == "nt" and "remote" in options.split(",") else ""


def _below(path: str, mount: str) -> bool:
    if os.name == "nt":
        path, mount = path.casefold(), mount.casefold()
    return path == mount or path.startswith(mount if mount.endswith(os.sep) else mount + os.sep)
