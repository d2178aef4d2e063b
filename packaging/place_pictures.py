"""Takes the pictures of places in docs/ again, with a real sshd and Slurm: `python packaging/place_pictures.py`.

First `tests/clusters/setup ssh start` and `slurm start`, and install Workbench in `workbench-place` of the home folder
(docs/reach.md). The pictures call this machine `lab1` and `login1`; `lab2` is a machine that does not answer. Digits
trains at the cluster, in `workbench-runs` of the home folder, until its picture is taken.
"""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from pictures import ROOT, opened, save

sys.path.insert(0, str(ROOT))

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.pictures import Photographer
    from workbench.places.place import Place
    from workbench.ui.pages.setup.page import SetupPage
    from workbench.ui.window.main_window import MainWindow

SIZE = 1440, 900  # px of the window
DIALOG, TALL = (960, 620), (960, 800)  # px of File > Places; with the fields of a cluster
RUNS_WIDTH = 330  # px of the list of runs: what a run waits for has room
EPOCHS, SHOWN = 60, 8  # of the run; of them when its picture is taken
PATIENCE = 600.0  # seconds that a check, and the first epochs, get
SSH = ("hostname", "port", "user", "identityfile", "userknownhostsfile")  # what reaches the sshd


def called_lab(folder: Path) -> None:
    """Write an `ssh` that reaches the sshd of this machine, whatever host is named, but for lab2."""
    from tests.clusters.there import there

    values = there("ssh")
    printed = subprocess.run(["ssh", "-G", "-F", values["CONFIG"], values["HOST"]], capture_output=True, check=True)
    known = (line.partition(" ") for line in printed.stdout.decode().splitlines())
    options = {name: value for name, _, value in known if name in SSH}
    options |= {"HostKeyAlias": f"[{options['hostname']}]:{options['port']}", "IdentitiesOnly": "yes"}
    words = shlex.join(part for name, value in options.items() for part in ("-o", f"{name}={value}"))
    wrapper, real = folder / "ssh", shutil.which("ssh")
    script = f'#!/bin/sh\ncase "$*" in *lab2*) exec {real} "$@" ;; esac\nexec {real} {words} "$@"\n'
    wrapper.write_text(script, encoding="utf-8")
    wrapper.chmod(0o755)


def take_pictures(base: Path) -> None:
    """Open the window, describe and check places in it, send a run, and write every picture."""
    from workbench.workspace import Workspace

    with opened(Workspace(base / "Workbench", create=True), SIZE, base) as (window, camera):
        _places(window, camera)
        _run(window, camera)


def _places(window: "MainWindow", camera: "Photographer") -> None:
    """The dialog with two workstations, then with a cluster. All three are stored afterwards."""
    from workbench.places.place import SlurmPlace, SshPlace

    workstations = [
        SshPlace.model_validate({"name": f"Workstation {number}", "host": f"lab{number}"}) for number in (1, 2)
    ]
    cluster = SlurmPlace.model_validate(
        {"name": "cluster", "host": "login1", "partition": "debug", "time": "12:00:00", "at_once": 1}
    )
    _checked(window, camera, workstations, DIALOG, "places")
    _checked(window, camera, [cluster], TALL, "places-slurm")
    store(window, camera, [cluster, *workstations])


def _checked(
    window: "MainWindow", camera: "Photographer", places: "Sequence[Place]", size: tuple[int, int], name: str
) -> None:
    """File > Places with these alone, when each is checked."""
    store(window, camera, places)
    dialog = window.run_actions.places.show_places()
    dialog.resize(*size)
    camera.wait(lambda: [card.checking for card in dialog.cards] == [False] * len(places), 2, PATIENCE)
    camera.wait()  # the newest findings are laid out
    save(dialog, name)
    dialog.reject()


def store(window: "MainWindow", camera: "Photographer", places: "Sequence[Place]") -> None:
    """Make these the only places, for the window, too."""
    from workbench.places import records

    for place in records.known():
        records.remove(place.name)
    for place in places:
        records.store(place)
    known = window.session.places
    known.read()
    camera.wait(lambda: {place.name for place in known.all} == {place.name for place in places})


def _run(window: "MainWindow", camera: "Photographer") -> None:
    """Set up with a place chosen, and Train while the run works there; it is ended then."""
    from PySide6.QtCore import Qt

    from workbench.places import working
    from workbench.places.contract import Ending
    from workbench.settings.changed import read_config

    session, page = window.session, cast("SetupPage", window.pages.page("setup"))
    window.welcome.dismissed.emit()
    window.runs.model.arrange(replace(window.runs.model.arrangement, grouping="none"))  # each seed has a row
    page.take_config(read_config("sample-digits", ("name=Digits", "seeds=2", f"training.epochs={EPOCHS}")))
    page.beside.where.set_value("cluster")
    page.beside.where.edited.emit()
    for _ in range(2):  # Preflight may begin once more when the place is known
        camera.wait(lambda: page.start.isEnabled() and session.activity.newest_working is None, 3, PATIENCE)
    save(window, "set-up-at-place")
    page.start.click()
    window.resizeDocks([window.runs], [RUNS_WIDTH], Qt.Orientation.Horizontal)
    camera.wait(lambda: (run := session.run()) is not None and run.epoch >= SHOWN, most=PATIENCE)
    camera.wait(least=3)
    save(window, "train-at-place")
    for run in session.runs():
        working.end(session.workspace, run.id, Ending.AT_ONCE)


if __name__ == "__main__":
    if "--take" in sys.argv:
        take_pictures(Path(sys.argv[-1]))
    else:
        with tempfile.TemporaryDirectory() as scratch:
            called_lab(Path(scratch))
            # No picture shows where it was taken: paths are shown from the home folder.
            own = {
                "PATH": f"{scratch}{os.pathsep}{os.environ['PATH']}",
                "HOME": scratch,
                "WORKBENCH_SETTINGS": f"{scratch}/settings.ini",
                "WORKBENCH_PLACES": f"{scratch}/places",
                "QT_QPA_PLATFORM": "offscreen",
            }
            subprocess.run([sys.executable, __file__, "--take", scratch], check=True, env=os.environ | own)
