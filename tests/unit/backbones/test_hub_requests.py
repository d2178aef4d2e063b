"""What a download from the hub asks its host for: the file, with no telemetry; by the real library."""

import hashlib
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.waits import HANG

CONTENT = bytes(range(256)) * 100
FETCH = """
from workbench.backbones.fetching import hub_file
print(hub_file("A model", "some/model", "model.bin", 25600, True, lambda text, done, total: None))
"""


@pytest.fixture
def hub():
    """A host of one file; gives its address and the list of (path, user agent) of what it was asked for."""
    asked = []

    class Answer(BaseHTTPRequestHandler):
        def do_HEAD(self):
            asked.append((self.path, self.headers["User-Agent"]))
            there = self.path == "/some/model/resolve/main/model.bin"
            self.send_response(200 if there else 404)
            self.send_header("X-Repo-Commit", "a" * 40)
            self.send_header("ETag", f'"{hashlib.sha256(CONTENT).hexdigest()}"')
            self.send_header("Content-Length", str(len(CONTENT) if there else 0))
            self.end_headers()
            return there

        def do_GET(self):
            if self.do_HEAD():
                self.wfile.write(CONTENT)

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, name="hub", daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    server.server_close()


def test_a_download_asks_for_the_file_alone_and_names_no_other_library(hub, tmp_path):
    address, asked = hub
    own = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    own |= {"HF_ENDPOINT": address, "HF_HOME": str(tmp_path), "NO_PROXY": "127.0.0.1"}
    own.pop("DISABLE_TELEMETRY", None)
    own.pop("DO_NOT_TRACK", None)
    done = subprocess.run(
        [sys.executable, "-c", FETCH], env=own, cwd=Path(__file__).parents[3], capture_output=True, text=True,
        timeout=HANG, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()).read_bytes() == CONTENT
    assert {path for path, _ in asked} == {"/some/model/resolve/main/model.bin"}
    assert not any(library in agent for _, agent in asked for library in ("torch", "agent/"))
