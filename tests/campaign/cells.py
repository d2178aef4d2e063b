"""One cell of the database changed at a time, checks and checksums passed by, then everything that reads a workspace.

What a reader may do: answer, or say in a sentence what is damaged. It may not end in a traceback, hang, take a
gigabyte, steer a terminal, write invalid JSON or markup, or touch a file outside the workspace.
"""

import atexit
import contextlib
import io
import json
import random
import resource
import shutil
import tempfile
import traceback
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from tests.campaign import hostile
from tests.campaign.outcome import Outcome, judged, long_run
from workbench import cli
from workbench.exchange.imported.curve_import import import_curves
from workbench.exchange.imported.gallery_import import import_gallery
from workbench.problem import Problem
from workbench.running.retrained import unable_to_go_on
from workbench.workspace import Workspace
from workbench.workspace.arriving import brought_back
from workbench.workspace.choices import label_decisions, sample_tags
from workbench.workspace.database.connection import sqlite3
from workbench.workspace.experiments import sweeps
from workbench.workspace.measured.galleries import open_gallery
from workbench.workspace.measured.searched import Searched, read_searched, store_searched
from workbench.workspace.rows import Placement
from workbench.workspace.tables import placements

TITLE = "Cells changed one at a time"
PROMISE = "A damaged cell of the database is named in a sentence, and the rest can be read."
ROUNDS = 600
SLICE = 2
LONGEST = 30.0  # seconds of a reader: a guard
LARGEST = 1 << 20  # KiB of memory that a reader may add
LETTERS = 50_000_000 if long_run() else 2_000_000  # of the longest text
METHOD = "float32+aqe10"

MARKUP = "<img src=x onerror=alert(1)>"
STEERING = "\x1b]0;title\a"
TEXTS = (
    "", "text", "NaN", "null", "true", "[]", "{}", "../../x", "/etc/passwd", "a\0b", MARKUP, STEERING, "\u202e", "1",
    hostile.DEEP, "[" * 900 + "]" * 900, '{"a":' * 900 + "1" + "}" * 900, '{"a": NaN}', '{"a": 1e999}', '["\\ud800"]',
    f'{{"a": {2**70}}}', json.dumps([MARKUP, STEERING] * 6), json.dumps({MARKUP: STEERING, "name": MARKUP}),
    f"[{2**62}, -1, {2**70}]", "[true, false]", '[{"a": 1}]', "9998-12-31T23:59:59+00:00", "0" * LETTERS,
    json.dumps({"a": "y" * LETTERS}), "[" + "1," * (LETTERS // 4) + "1]",
)  # fmt: skip
NUMBERS = (
    -1, 0, 1, 3, 2**31, 2**53, 2**62, 2**63 - 1, -(2**63), 0.5, 1.5, 1e300, -1e300, float("inf"), float("-inf"), None,
    b"\xff\xfe\0", b'{"a": 1}',
)  # fmt: skip
LEAVES = (
    None, True, "text", "", -1, 0, 1.5, 2**31, 2**63, 2**70, float("nan"), float("inf"), 1e300, [], {}, [[]], [None],
    {"a": 1}, MARKUP, STEERING, "../../x", "/etc/passwd", "\ud800", "a\0b", "9" * 5000, "x" * (LETTERS // 10),
)  # fmt: skip
VALUES = ('""', "true", "-1", "0", "nan", "inf", str(2**62), str(2**70), "1e300", "[]", "{}", json.dumps(MARKUP),
          '"\\u001b]0;title\\u0007"', "[[]]", "2026-01-01", "{a = 1}", '"../../x"')  # fmt: skip
NOT_UTF8 = "cast(x'ff5c2e2eff' as text)"
RUNS = ("1", "2")
COMMANDS = (
    "list runs", "list runs --json", "list runs lr<1 size>1kB date>=2020", "sweep list --json", "sweep show 1",
    "sweep show 1 --json", "compare 1 2", "compare 1 2 4 5 --json", "geometry 1 --json", "triage 1", "triage 1 --json",
    "tags 1 --json", "checkpoints list", "checkpoints list --json", "trash list", "trash list --json", "doctor --json",
    "export 5 --format csv --format tensorboard", "report 2 4 --format html", "search 4 IMAGE", "deploy 9",
)  # fmt: skip
Reader = Callable[[Path], object]


def attempt(rng: random.Random, folder: Path) -> Iterator[Outcome]:
    """One cell changed, and every reader."""
    space = folder / "space"
    shutil.copytree(template() / "space", space)
    (folder / "victim").mkdir()
    hostile.fill_victim(folder / "victim")
    what = change_cell(rng, space)
    before = hostile.seen(folder, space)
    for name, read in readers(folder).items():
        broken, trace = looked(read, space, "--json" in name)
        if hostile.seen(folder, space) != before:
            broken.append("outside the workspace something changed")
            before = hostile.seen(folder, space)
        yield judged(broken, f"{name} after {what}" if broken else "", traceback=trace)
    pages = space.rglob("*.html")
    yield judged([f"markup in {page.name} after {what}" for page in pages if MARKUP in page.read_text("utf-8")])


def readers(folder: Path) -> dict[str, Reader]:
    """What reads a workspace: the command line by its words, and the public Python interface."""
    by_words = {words: _command(words.replace("IMAGE", str(folder / "victim" / "notes.txt"))) for words in COMMANDS}
    looking = {look.__name__: (lambda space, look=look: look(space, [1, 2])) for look in hostile.LOOKING}
    return {**by_words, **looking, "newer rows": _newer}


def looked(read: Reader, space: Path, as_json: bool) -> tuple[list[str], bool]:
    """What a reader did that it may not, and whether that was a traceback."""
    said, errors, began = io.StringIO(), io.StringIO(), monotonic()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        with hostile.no_hang(), contextlib.redirect_stdout(said), contextlib.redirect_stderr(errors):
            status = read(space)
    except Problem as problem:
        status, _ = 1, errors.write(str(problem))
    except Exception as error:  # noqa: BLE001 - what a person would see as a traceback is what is counted
        frame = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(frame.filename).name}:{frame.lineno}"
        return [f"{type(error).__name__}: {str(error)[:150]} ({place})"], True
    printed, broken = said.getvalue() + errors.getvalue(), list[str]()
    if (seconds := monotonic() - began) > LONGEST:
        broken.append(f"it took {seconds:.0f} s")
    if (more := resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory) > LARGEST:
        broken.append(f"it took {more >> 10} MiB more")
    if any(letter in printed for letter in "\x1b\a\0\u202e"):
        broken.append("it steers a terminal")
    if as_json and status == 0 and not _is_json(said.getvalue()):
        broken.append("its JSON is invalid")
    return broken, False


def _is_json(text: str) -> bool:
    def refuse(word: str) -> float:
        raise ValueError(word)

    try:
        json.loads(text, parse_constant=refuse)
    except ValueError:
        return False
    return True


def _command(words: str) -> Reader:
    return lambda space: cli.main([*words.split(), "--workspace", str(space)])


def _newer(space: Path) -> None:
    """What no command reads; one that cannot be read keeps no other from it."""
    with Workspace(space) as workspace:
        runs = workspace.runs()
        asked: list[Callable[[], object]] = [
            lambda: sweeps.chosen_on_reported(workspace, [1, 2]), lambda: sweeps.best_untrained(workspace, 1),
            lambda: unable_to_go_on(workspace, [run.id for run in runs]), lambda: sweeps.of_runs(workspace, [1]),
        ]  # fmt: skip
        for run in runs:
            asked += [lambda run=run: (run.tested, run.curves_of, run.loop_asked_to_stop, run.only_searched)]
            asked += [lambda run=run: brought_back.lost(workspace, run.id)]
            asked += [lambda run=run: open_gallery(workspace.folder(run.id)) if run.only_searched else None]
            if run.dataset_id is not None:
                asked += [lambda run=run: label_decisions.all_decisions(workspace, run.dataset_id or 0)]
            for evaluation in workspace.evaluations(run.id):
                asked += [lambda evaluation=evaluation: read_searched(workspace, evaluation.id, METHOD, 12)]
        for ask in asked:
            with contextlib.suppress(Problem):
                ask()


@cache
def template() -> Path:
    """A folder with a workspace that has a row in every table; made once in a process."""
    folder = Path(tempfile.mkdtemp(prefix="campaign-cells-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    space = folder / "space"
    hostile.make_space(space)
    hostile.add_newer_rows(space)
    np.save(folder / "vectors.npy", np.random.default_rng(0).normal(size=(40, 6)).astype(np.float32))
    (folder / "curves.csv").write_text("step,loss,acc\n0,2.0,0.1\n1,1.0,0.2\n", "utf-8")
    with Workspace(space) as workspace:
        dataset, evaluation = workspace.run(1).dataset_id or 0, workspace.evaluations(1)[-1].id
        ids = workspace.queries(evaluation).sample_ids.tolist()
        given = [label_decisions.Decision(ids[0], "keep"), label_decisions.Decision(ids[1], "relabel", 2)]
        label_decisions.decide(workspace, dataset, given)
        sample_tags.tag_sample(workspace, dataset, ids[2], "view=front")
        workspace.set_tags(1, ["baseline"])
        store_searched(workspace, evaluation, lists(len(ids)))
        _add_test(workspace)
        import_curves(workspace, folder / "curves.csv")
        import_gallery(workspace, folder / "vectors.npy", None, "gallery", "cosine")
        with workspace.writing() as db:
            placements.store(db, Placement(2, "0" * 32, "box", "7", "done", "words", "2026-11-30T08:00:00+00:00"))
            db.execute("insert into arrivals values (?, 2, '/elsewhere', 0, 0, '{}')", ("0" * 32,))
            db.execute("update sweep_trials set run_id = 1, state = 'done', objective = 0.5")
    return folder


def _add_test(workspace: Workspace) -> None:
    """Run 4: a run that says of itself that it is a test of run 1's network."""
    run = hostile.store_run(workspace, np.arange(12) % 3, name="tested").run_id
    imported = {"embeddings": "run 1, epoch 2", "labels": "/elsewhere", "images": "/elsewhere", "network": 1}
    config = workspace.run(run).config.replace(
        '[dataset]\nname = "digits"', "[dataset]\nname = 'imported'\nnetwork = 1"
    )
    with workspace.writing() as db:
        db.execute(
            "update runs set environment = ?, config = ? where id = ?",
            (json.dumps({"imported": imported}), config, run),
        )


def lists(count: int) -> Searched:
    """Neighbours of all samples by a method of search, as a row of `deployments`."""
    near = (np.arange(count)[:, None] + np.arange(1, 6)) % count
    ones, half = np.ones(near.shape), np.full(count, 0.5)
    return Searched(METHOD, count, np.arange(count), near, ones, ones, half, half)


# The change


def change_cell(rng: random.Random, space: Path) -> str:
    """Change one cell, of JSON and of configs mostly a part of it; returns what was done."""
    with contextlib.closing(sqlite3.connect(space / "workspace.db")) as db:
        names = [name for (name,) in db.execute("select name from sqlite_master where type = 'table' order by name")]
        tables = [name for name in names if not name.startswith(("sqlite", "_")) and not name.endswith("_sums")]
        table = rng.choice([name for name in tables if db.execute(f"select count(*) from {name}").fetchone()[0]])
        columns = [row[1] for row in db.execute(f"pragma table_info({table})") if row[1] != "checksum"]
        keys = [row[1] for row in db.execute(f"pragma table_info({table})") if row[5]] or ["rowid"]
        column = rng.choice(columns)
        rows = db.execute(f'select {", ".join(keys)}, "{column}" from {table}').fetchall()
    *key, now = rng.choice(rows)
    where = " and ".join(f'"{name}" is ?' if name != "rowid" else "rowid is ?" for name in keys)
    value = NOT_UTF8 if rng.random() < 0.05 else "?"
    new = () if value == NOT_UTF8 else (_changed(rng, column, now),)
    did = hostile.in_sql(space, (f'update or ignore {table} set "{column}" = {value} where {where}', (*new, *key)))
    return f"{table}.{column} of {key}: {str(new)[:60]}" if "(" in did else did


def _changed(rng: random.Random, column: str, now: object) -> Any:
    if isinstance(now, str) and now[:1] in ("{", "[") and rng.random() < 0.7:
        value = json.loads(now)
        return json.dumps(_put(value, rng.choice(list(_places(value))), rng.choice(LEAVES)))
    if column == "config" and isinstance(now, str) and rng.random() < 0.7:
        lines = now.split("\n")
        at = rng.choice([number for number, line in enumerate(lines) if "=" in line])
        lines[at] = f"{lines[at].partition('=')[0]}= {rng.choice(VALUES)}"
        return "\n".join(lines)
    alike = TEXTS if isinstance(now, str) else NUMBERS  # what has another type is refused when it is opened
    return rng.choice(alike if rng.random() < 0.8 else (*TEXTS, *NUMBERS))


def _places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield place
    parts = value.items() if isinstance(value, dict) else enumerate(value[:3]) if isinstance(value, list) else ()
    for name, part in parts:
        yield from _places(part, (*place, name))


def _put(value: Any, place: tuple[Any, ...], new: Any) -> Any:
    if not place:
        return new
    copy = value.copy()
    copy[place[0]] = _put(copy[place[0]], place[1:], new)
    return copy
