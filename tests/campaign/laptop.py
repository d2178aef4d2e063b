"""A laptop of its own: `python -m tests.campaign.laptop SPACE PLACE [MACHINE]` does what JSON lines ask, and answers.

Words: send (config), look, follow (until nothing more comes), resume, end, ingest (folder), facts. An answer is a JSON
line with what is known of the runs, or {"problem": sentence}.
"""

import json
import select
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from workbench.config import RunConfig
from workbench.places import sending
from workbench.places.contract import Ending
from workbench.places.following import Following
from workbench.places.launching import launcher_of
from workbench.places.place import SshPlace
from workbench.problem import Problem
from workbench.workspace import Workspace
from workbench.workspace.arriving.ingest import ingest
from workbench.workspace.owners import lease, lease_holder

PATIENCE = 240.0  # seconds


class Person:
    """Who sits before it."""

    def __init__(self, space: Path, place: SshPlace) -> None:
        self.space = Workspace(space, create=True)
        self.place, self.launcher = place, launcher_of(place)
        self.following = Following(self.space, place, self.launcher)

    def send(self, config: str) -> None:
        numbers = sending.prepare(self.space, RunConfig.from_toml(config), self.place)
        sending.submit(self.space, numbers, self.place, self.launcher)

    def look(self) -> dict[str, Any]:
        looked = self.following.look()
        return {"silent": looked.silent, "left": looked.left, "said": looked.problems}

    def follow(self) -> dict[str, Any]:
        end = time.monotonic() + PATIENCE
        while (looked := self.look())["left"] and time.monotonic() < end:
            select.select([], [], [], 0.1)  # libfaketime breaks the system call of time.sleep
        return looked

    def resume(self) -> None:
        sending.submit(self.space, [1], self.place, self.launcher)

    def end(self) -> None:
        placement = self.space.run(1).placement
        assert placement is not None
        self.launcher.stop(placement.job, Ending.SAVED)

    def ingest(self, folder: str) -> dict[str, Any]:
        return {"doubts": ingest(self.space, Path(folder)).doubts}

    def write(self) -> None:
        self.space.create_run(RunConfig())

    def facts(self) -> None:
        self.space.sweep_dead_runs()

    def runs(self) -> list[dict[str, Any]]:
        return [
            {
                "id": run.id, "status": run.status, "problem": run.problem, "age": run.created,
                "points": len(self.space.scalars(run.id, "batch/loss")[0])
                if "batch/loss" in self.space.scalar_names(run.id) else 0,
                "silent": run.placement.silent if run.placement else "",
            }
            for run in self.space.runs()
        ]  # fmt: skip


def main(space: str, place: str, machine: str = "") -> None:
    if machine:
        lease_holder.machine = lambda: (machine * 32)[:32]  # type: ignore[assignment]
    person: Person | None = None
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            if asked["what"] == "take over":
                lease.take_over(Path(space))
                answer: dict[str, Any] = {}
            elif person is None and asked["what"] != "close":
                person = Person(Path(space), SshPlace.model_validate_json(place))
            if asked["what"] == "close" and person is not None:
                person.space.close()
                person, answer = None, {}
            elif person is not None and asked["what"] not in ("open", "take over"):
                answer = getattr(person, asked.pop("what"))(**asked) or {}
                answer["runs"] = person.runs()
            else:
                answer = {}
        except Problem as problem:
            answer = {"problem": str(problem)}
        except Exception:  # noqa: BLE001 - what a person would have seen
            traceback.print_exc()
            answer = {"problem": "a traceback"}
        print(json.dumps(answer), flush=True)
    if person is not None:
        person.space.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
