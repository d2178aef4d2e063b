"""Published weights in the caches of this machine, and their download: only when allowed, with progress and Cancel."""

import hashlib
import re
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import torch

from workbench.control import Cancelled
from workbench.files.parts import whole_file
from workbench.numerals import byte_size
from workbench.problem import UNSTARTED, Problem
from workbench.progress import Progress

MB = 10**6
NO_ANSWER = 30  # seconds after which a host that sends nothing is given up
HASH_IN_NAME = re.compile(r"-([0-9a-f]{8,})\.")  # the first digits of the SHA-256, as torchvision names its files
FIELD = "backbone.download"


def cached_file(url: str, size: int, allow_download: bool, progress: Progress) -> Path:
    """torchvision's weights in torch's cache; fetched, with the hash in their name checked, only when allowed.

    Args:
        url: where they are fetched from.
        size: bytes, about; for the message that asks for the download.
        progress: gets the MB that were fetched; it may raise Cancelled, and then nothing is kept.

    Raises:
        Problem: the cache has none and a download is not allowed, or fails.
    """
    cached = Path(torch.hub.get_dir()) / "checkpoints" / url.rpartition("/")[2]
    host = urlsplit(url).hostname or ""
    if not cached.exists():
        if not allow_download:
            raise _asked_for(f"{cached.name} is not in torch's cache on this machine.", "them", host, size)
        try:
            _fetch(url, cached, _told_in_mb(cached.name, host, size, progress))
        except (OSError, ValueError) as error:
            raise _not_fetched(cached.name, error) from None
    return cached


def hub_file(
    title: str, repository: str, name: str, size: int, allow_download: bool, progress: Progress, licence: str = ""
) -> Path:
    """A file of the Hugging Face hub, or of the mirror in HF_ENDPOINT, from this machine's cache; fetched if allowed.

    Args:
        title: whose weights they are, for a message.
        size: about so many bytes.
        progress: gets the MB that were fetched; it may raise Cancelled, and then nothing is kept.
        licence: of the weights, where it is known.

    Raises:
        Problem: the cache has none and a download is not allowed, or fails.
    """
    from huggingface_hub import constants, hf_hub_download, try_to_load_from_cache
    from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, LocalEntryNotFoundError

    cached = try_to_load_from_cache(repository, name)
    if isinstance(cached, str):
        return Path(cached)
    host = urlsplit(constants.ENDPOINT).hostname or ""
    if not allow_download:
        raise _asked_for(f"{title} has no weights in this machine's cache.", repository, host, size, licence)
    tell = _told_in_mb(repository, host, size, progress)
    constants.HF_HUB_DISABLE_TELEMETRY = True  # else it sends versions of libraries, and asks the host for more
    constants.HF_HUB_DISABLE_XET = True  # which ignores what is raised while it fetches: Cancel would wait for the end
    constants.DOWNLOAD_CHUNK_SIZE = MB  # so often is Cancel heard
    tell(0, size)  # also where nothing is told before the first part has come
    cancelled: list[Cancelled] = []
    try:
        path = hf_hub_download(repository, name, tqdm_class=_bar(tell, cancelled))
    except GatedRepoError:
        raise Problem(
            f"The weights of {title} are given only to those who have accepted their licence.", kept=UNSTARTED,
            todo=f"Accept it on the page of {repository} at {host}, log in with `hf auth login`, and try again.",
        ) from None  # fmt: skip
    except (OSError, HfHubHTTPError, LocalEntryNotFoundError) as error:
        raise _not_fetched(f"of {title}", error) from None
    if cancelled:  # the library may report from a thread that ignores what is raised there
        raise cancelled[0]
    return Path(path)


def _asked_for(what: str, whose: str, host: str, size: int, licence: str = "") -> Problem:
    """The Problem of weights whose download the user has not allowed, with its size, its host and their licence."""
    terms = f", licence {licence}" if licence else ""
    return Problem(
        what, kept=UNSTARTED, field=FIELD, fits=True,
        todo=f'Tick "Allow download" to fetch {whose} from {host} (about {byte_size(size)}{terms}), '
        "or choose the weights from a file.",
    )  # fmt: skip


def _not_fetched(whose: str, error: Exception) -> Problem:
    reason = str(error).partition("\n")[0].rstrip(".")
    return Problem(
        f"The weights {whose} could not be fetched ({reason}).", kept=UNSTARTED,
        todo="Check the network, or choose the weights from a file.",
    )  # fmt: skip


def _told_in_mb(name: str, host: str, size: int, progress: Progress) -> Callable[[int, int], None]:
    """Tells `progress` of a download (bytes done, bytes in all), once for each MB."""
    last = -1

    def tell(done: int, total: int) -> None:
        nonlocal last
        if done // MB != last:
            last = done // MB
            whole = -(-(total or size) // MB)
            progress(f"Fetching {name} from {host} (MB)", min(last, whole), whole)

    return tell


def _fetch(url: str, into: Path, tell: Callable[[int, int], None]) -> None:
    """Fetch a file. Raises ValueError when it is not the one that its name gives the hash of, OSError otherwise."""
    into.parent.mkdir(parents=True, exist_ok=True)
    digest, done = hashlib.sha256(), 0
    tell(0, 0)
    with whole_file(into) as file, urllib.request.urlopen(url, timeout=NO_ANSWER) as answer:
        total = int(answer.headers.get("Content-Length") or 0)
        while part := answer.read(MB // 4):
            file.write(part)
            digest.update(part)
            done += len(part)
            tell(done, total)
        if total and done != total:
            raise ValueError(f"{done:,} of {total:,} bytes were downloaded")
        wanted = HASH_IN_NAME.search(into.name)
        if wanted and not digest.hexdigest().startswith(wanted[1]):
            raise ValueError("the downloaded file does not have the hash in its name")


def _bar(tell: Callable[[int, int], None], cancelled: list[Cancelled]) -> type:
    """A class that huggingface_hub tells how far a download is, as it tells a tqdm; it prints nothing."""
    from tqdm import tqdm

    class Told(tqdm):  # type: ignore[misc]
        """Adds the bytes up; raises Cancelled, and keeps it in `cancelled`."""

        def __init__(self, *args: Any, **named: Any) -> None:
            named.pop("name", None)  # of huggingface_hub's own bars
            self.done = int(named.get("initial") or 0)
            super().__init__(*args, **{**named, "disable": True})

        def update(self, n: float | None = 1) -> bool | None:
            if cancelled:
                raise cancelled[0]
            self.done += int(n or 0)
            try:
                if self.total:  # of two bars the one of the file
                    tell(self.done, int(self.total))
            except Cancelled as asked:
                cancelled.append(asked)
                raise
            return None

    return Told
