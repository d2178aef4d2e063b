"""A headless Chromium without network, spoken to over two pipes; for what a page does in a real browser."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from time import monotonic
from typing import Any

from tests.waits import HANG

FOUND = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-component-update",
    "--disable-background-networking", "--disable-sync", "--proxy-server=127.0.0.1:9", "--window-size=1100,900",
)  # fmt: skip


class Page:
    """One page, with everything that its console and its network said."""

    def __init__(self, path: Path, profile: Path) -> None:
        assert FOUND
        ours_in, self._out = os.pipe()
        self._in, ours_out = os.pipe()
        command = f'exec "$0" "$@" 3<&{ours_in} 4>&{ours_out}'
        arguments = [FOUND, *FLAGS, f"--user-data-dir={profile}", "--remote-debugging-pipe", "about:blank"]
        self._process = subprocess.Popen(
            ["bash", "-c", command, *arguments], pass_fds=(ours_in, ours_out), stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(ours_in)
        os.close(ours_out)
        self._number, self._rest, self._session = 0, b"", ""
        self.console: list[str] = []
        self.requested: list[str] = []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Runtime", "Log", "Network", "Page"):
            self.ask(f"{domain}.enable")
        self.ask("Page.navigate", url=path.as_uri())
        end = monotonic() + HANG
        while self.run("document.readyState") != "complete":
            assert monotonic() < end

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """One command of the DevTools protocol; its answer."""
        self._number += 1
        asked: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session:
            asked["sessionId"] = self._session
        os.write(self._out, json.dumps(asked).encode() + b"\0")
        while True:
            while b"\0" not in self._rest:
                more = os.read(self._in, 1 << 16)
                assert more, "the browser has ended"
                self._rest += more
            text, _, self._rest = self._rest.partition(b"\0")
            told = json.loads(text)
            if told.get("id") == self._number:
                assert "error" not in told, told
                return dict(told["result"])
            self._hear(told.get("method", ""), told.get("params", {}))

    def _hear(self, method: str, params: dict[str, Any]) -> None:
        if method in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"):
            self.console.append(json.dumps(params)[:400])
        elif method == "Network.requestWillBeSent":
            self.requested.append(params["request"]["url"][:80])

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        return self.ask("Runtime.evaluate", expression=script, returnByValue=True)["result"].get("value")

    def key(self, key: str) -> None:
        """Press a key where the focus is."""
        text = key if len(key) == 1 else ("\r" if key == "Enter" else "")
        codes = {"Enter": 13, "Escape": 27}
        said = {"key": key, "windowsVirtualKeyCode": codes.get(key, 0), **({"text": text} if text else {})}
        self.ask("Input.dispatchKeyEvent", type="keyDown", **said)
        self.ask("Input.dispatchKeyEvent", type="keyUp", key=key)

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        """A mouse event at a place of the window, in px."""
        self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def close(self) -> None:
        """End the browser."""
        os.close(self._out)
        self._process.terminate()
        self._process.wait(HANG)
        os.close(self._in)
