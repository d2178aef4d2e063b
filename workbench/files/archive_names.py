"""Which files are archives by their name, without loading the libraries that read them."""

from pathlib import Path

ENDINGS = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")


def is_archive(path: Path) -> bool:
    """Whether the name is that of an archive that `unpack` reads."""
    return path.name.lower().endswith(ENDINGS)


def archives_named(*beginnings: str) -> list[str]:
    """Patterns of archives whose names begin with `start`: markers of a data set."""
    return [f"{beginning}*{ending}" for beginning in beginnings for ending in ENDINGS]


def stem(path: Path) -> str:
    """The archive's name without its ending."""
    ending = next((known for known in sorted(ENDINGS, key=len) if path.name.lower().endswith(known)), "")
    return path.name[: len(path.name) - len(ending)]


def holds_images(path: Path) -> bool:
    """Whether the path is a folder or an archive."""
    return path.is_dir() or (is_archive(path) and path.is_file())
