"""Weights are fetched only when allowed: with size, host, progress and Cancel, and nothing half is kept."""

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest
import torch
from huggingface_hub.errors import GatedRepoError

from workbench.backbones import fetching
from workbench.control import Cancelled
from workbench.problem import Problem
from workbench.progress import quiet

MB = 10**6


@pytest.fixture
def state(tmp_path):
    """A file of weights of 3 MB, and its bytes."""
    path = tmp_path / "made.pth"
    torch.save({"weight": torch.arange(750_000.0)}, path)
    return path.read_bytes()


@pytest.fixture
def serve(monkeypatch, tmp_path):
    """Serves bytes here, perhaps fewer than promised; gives the address of a name; torch's cache is empty."""
    monkeypatch.setattr(torch.hub, "get_dir", lambda: str(tmp_path / "hub"))
    servers = []

    def start(content, short=0):
        class Answer(BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content[: len(content) - short])

            def log_message(self, *args):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        threading.Thread(target=server.serve_forever, name="server", daemon=True).start()
        servers.append(server)
        return lambda name: f"http://127.0.0.1:{server.server_port}/{name}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def named(content):
    return f"tiny-{hashlib.sha256(content).hexdigest()[:8]}.pth"


def test_a_download_tells_its_host_and_its_megabytes_and_is_kept(serve, state, tmp_path):
    heard = []
    url = serve(state)(named(state))
    path = fetching.cached_file(url, 5 * MB, True, lambda *words: heard.append(words))
    assert path.read_bytes() == state
    assert [done for _, done, _ in heard] == [0, 1, 2, 3]
    assert {total for _, done, total in heard if done} == {4}, "3.0 MB and the frame of the file, rounded up"
    assert all(text == f"Fetching {named(state)} from 127.0.0.1 (MB)" for text, *_ in heard)
    again = fetching.cached_file("http://nowhere.invalid/" + named(state), 5 * MB, False, quiet)
    assert again == path, "from the cache, without the network"


def test_a_cancelled_download_leaves_nothing(serve, state, tmp_path):
    def cancel(text, done, total):
        if done == 2:
            raise Cancelled

    with pytest.raises(Cancelled):
        fetching.cached_file(serve(state)(named(state)), 5 * MB, True, cancel)
    assert not list((tmp_path / "hub" / "checkpoints").iterdir())


@pytest.mark.parametrize(
    ("name", "short", "why"),
    [("tiny-00000000.pth", 0, "does not have the hash"), ("tiny.pth", 1000, "bytes were downloaded|IncompleteRead")],
)
def test_a_file_that_is_not_the_published_one_is_not_kept(serve, state, tmp_path, name, short, why):
    with pytest.raises(Problem, match=rf"could not be fetched \(.*{why}.*Nothing was started.*Check the network"):
        fetching.cached_file(serve(state, short)(name), 5 * MB, True, quiet)
    assert not list((tmp_path / "hub" / "checkpoints").iterdir())


def test_a_host_that_cannot_be_reached_is_a_sentence(serve, state):
    with pytest.raises(Problem, match="could not be fetched"):
        fetching.cached_file("http://127.0.0.1:9/tiny.pth", 5 * MB, True, quiet)


def test_what_is_not_allowed_is_asked_for_at_the_field(serve, state):
    with pytest.raises(Problem) as asked:
        fetching.cached_file(serve(state)("tiny.pth"), 5 * MB, False, quiet)
    assert (asked.value.field, asked.value.fits) == ("backbone.download", True)
    assert "from 127.0.0.1 (about 5 MB)" in asked.value.todo


def hub_download(bars):
    """As huggingface_hub reports: one bar for the file, and one of unknown length for what the network carries."""

    def download(repository, name, tqdm_class):
        whole = tqdm_class(total=4 * MB, initial=0, desc="file", unit="B", name="huggingface_hub.http_get")
        with whole as bar, tqdm_class(desc="network", disable=None) as other:
            for part in range(bars):
                other.update(7)
                bar.update(MB)
                bar.set_postfix_str(f"part {part}", refresh=False)
        return "/hub/file"

    return download


@pytest.fixture
def hub(monkeypatch, tmp_path):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "https://hub.example")
    monkeypatch.setattr("huggingface_hub.hf_hub_download", hub_download(4))


def test_a_file_of_the_hub_tells_its_megabytes(hub):
    heard = []
    path = fetching.hub_file("A model", "some/model", "model.bin", 3 * MB, True, lambda *words: heard.append(words))
    assert path.name == "file"
    assert heard == [("Fetching some/model from hub.example (MB)", done, total) for done, total in
                     [(0, 3), (1, 4), (2, 4), (3, 4), (4, 4)]]  # fmt: skip


def test_a_cancelled_file_of_the_hub_ends_also_where_the_library_ignores_what_is_raised(hub, monkeypatch):
    def cancel(text, done, total):
        if done == 2:
            raise Cancelled

    with pytest.raises(Cancelled):
        fetching.hub_file("A model", "some/model", "model.bin", 3 * MB, True, cancel)

    def deaf(repository, name, tqdm_class):
        bar = tqdm_class(total=4 * MB)
        for _ in range(4):
            try:
                bar.update(MB)
            except Cancelled:
                continue
        return "/hub/file"

    monkeypatch.setattr("huggingface_hub.hf_hub_download", deaf)
    with pytest.raises(Cancelled):
        fetching.hub_file("A model", "some/model", "model.bin", 3 * MB, True, cancel)


def test_weights_behind_a_licence_say_how_to_get_them(hub, monkeypatch):
    def gated(*words, **named):
        raise GatedRepoError("401 Client Error", response=SimpleNamespace(headers={}, request=None))

    monkeypatch.setattr("huggingface_hub.hf_hub_download", gated)
    said = r"accepted their licence.*the page of some/model at hub\.example.*hf auth login"
    with pytest.raises(Problem, match=said):
        fetching.hub_file("A model", "some/model", "model.bin", 3 * MB, True, quiet)
