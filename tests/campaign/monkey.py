"""The real window, driven at random: no traceback, no hang, and all that was trained before is still there."""

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

from PIL import Image

from tests.campaign import short_run
from tests.campaign.outcome import Outcome, judged, long_run
from tests.campaign.program import HUNG, Home

TITLE = "random use of the window"
PROMISE = "Whatever a person clicks, types and drops, the window goes on, closes when asked, and loses no run."
ROUNDS = 20
SLICE = 1
ACTIONS = (600, 60)  # of a round of a long run, of the suite
PATIENCE = 1800.0  # seconds for a round; one action that takes 90 is a hang (monkey_window.py)
LAST = 12  # actions that a report names
LINE = re.compile(r"\n(?=\d{4}-\d\d-\d\d )")  # of the log: what comes after a traceback
OFFLINE = {"HF_HUB_OFFLINE": "1", "HTTP_PROXY": "http://127.0.0.1:9", "HTTPS_PROXY": "http://127.0.0.1:9"}


def attempt(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    """One window on a finished run: so many actions, then it is closed, and the workspace is looked at."""
    home, space = short_run.copy_of_whole(folder)
    before, out = short_run.held(space)[1], folder / "actions.jsonl"
    words = [space, files(folder / "files"), rng.randrange(1 << 30), ACTIONS[not long_run()], out]
    program = home.start(*words, module="tests.campaign.monkey_window", fresh=True, variables=OFFLINE)
    ended = program.end(PATIENCE)
    actions = [json.loads(line) for line in out.read_text("utf-8").splitlines()] if out.exists() else []
    broken = [f"status {ended.status}: {ended.last_words}"] * bool(ended.status or ended.said.startswith(HUNG))
    broken += [f"{len(actions)} of {words[3]} actions"] * (len(actions) < words[3])
    runs = short_run.held(space)
    broken += short_run.losses(before, runs[1]) if 1 in runs else ["the run is gone"]
    broken += short_run.faults(space)
    defects = logged(home)
    traceback = bool(defects) or ended.traceback or "Exception ignored" in ended.said
    after = f"after {' / '.join(actions[-LAST:])}" if broken or traceback else ""
    yield judged([*broken, *defects[:1]], after, traceback=traceback)


def logged(home: Home) -> list[str]:
    """The uncaught exceptions in the window's log, each with its traceback."""
    text = "".join(path.read_text("utf-8") for path in sorted(home.folder.rglob("window.log*")))
    return [LINE.split(part)[0] for part in text.split("not caught:\n")[1:]]


def files(folder: Path) -> Path:
    """What is dropped and opened: images in folders of classes with odd names, configs, tables, and broken files."""
    for name in ("cat", "ünï <b>", "שלום", "a long name of a class " * 4):
        (folder / "images" / name.strip()).mkdir(parents=True)
        for shade in range(6):
            Image.new("RGB", (24, 24), (40 * shade,) * 3).save(folder / "images" / name.strip() / f"{shade}.png")
    (folder / "empty").mkdir()
    short_run.write_config(folder, epochs=2)
    texts = {"broken.toml": "[data\nx=", "tags.csv": "sample,tag\nx,y\n", "curves.csv": "step,loss\n1,2\n2,1\n"}
    for name, text in {**texts, "broken.zip": "PK\x03\x04junk", "broken.png": "\x89PNG", "empty.csv": ""}.items():
        (folder / name).write_text(text, "utf-8")
    return folder
