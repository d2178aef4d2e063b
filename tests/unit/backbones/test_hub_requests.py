"""What a download from the hub asks its host for: the file, with no telemetry; by the real library."""

import hashlib
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.waits import HANG

CONTENT = bytes(range(256)) * 100
FETCH = """
from workbench.backbones.fetching import hub_file
print(hub_file("A model", "some/model", "model.bin", 25600, True, lambda text, done, total: None))
"""


CANCEL = """
from workbench.backbones.fetching import hub_file
from workbench.control import Cancelled
def cancel(text, done, total):
    if done:
        raise Cancelled
try:
    hub_file("A model", "some/model", "large.bin", 25600, True, cancel)
except Cancelled:
    print("cancelled")
"""
LARGE = 40_000_000  # bytes, of which the host sends 3,000,000 until it is closed
SIZES = {"/some/model/resolve/main/model.bin": len(CONTENT), "/some/model/resolve/main/large.bin": LARGE}


@pytest.fixture
def hub():
    """A host of two files, kept as Xet; gives its address and the (path, user agent) of what it was asked for."""
    asked, closed = [], threading.Event()

    class Answer(BaseHTTPRequestHandler):
        def do_HEAD(self):
            asked.append((self.path, self.headers["User-Agent"]))
            size = SIZES.get(self.path, 0)
            self.send_response(200 if size else 404)
            self.send_header("X-Xet-Hash", "b" * 64)
            self.send_header("X-Xet-Refresh-Route", "/xet-token")
            self.send_header("X-Repo-Commit", "a" * 40)
            self.send_header("ETag", f'"{hashlib.sha256(CONTENT).hexdigest()}"')
            self.send_header("Content-Length", str(size))
            self.end_headers()
            return size

        def do_GET(self):
            size = self.do_HEAD()
            if size == len(CONTENT):
                self.wfile.write(CONTENT)
            elif size:
                self.wfile.write(bytes(3_000_000))
                closed.wait()

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, name="hub", daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    closed.set()
    server.shutdown()
    server.server_close()


def ended(program, address, home):
    """The program after it ended, with that host as the hub and a cache of its own."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    own |= {"HF_ENDPOINT": address, "HF_HOME": str(home), "NO_PROXY": "127.0.0.1"}
    own.pop("DISABLE_TELEMETRY", None)
    own.pop("DO_NOT_TRACK", None)
    done = subprocess.run(
        [sys.executable, "-c", program], env=own, cwd=Path(__file__).parents[3], capture_output=True, text=True,
        timeout=HANG, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_download_asks_for_the_file_alone_and_names_no_other_library(hub, tmp_path):
    address, asked = hub
    assert Path(ended(FETCH, address, tmp_path)).read_bytes() == CONTENT
    assert {path for path, _ in asked} == {"/some/model/resolve/main/model.bin"}
    assert not any(library in agent for _, agent in asked for library in ("torch", "agent/"))


def test_a_cancel_is_heard_while_a_file_that_is_kept_as_xet_comes_and_nothing_of_it_stays(hub, tmp_path):
    assert ended(CANCEL, hub[0], tmp_path) == "cancelled"
    if int(version("huggingface_hub").split(".")[0]) > 1:  # 1 keeps what came, and its next download goes on from there
        assert not list(tmp_path.rglob("blobs/*"))
