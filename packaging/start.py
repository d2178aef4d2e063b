"""Start of both programs of a bundle.

A bundle has no Python beside it, so the program itself takes Python's `-m MODULE`: by that Workbench starts its own
processes, and joblib its workers. Packages of plug-ins are looked for in a folder of the person's, behind all others.
"""

import multiprocessing
import os
import runpy
import sys
from pathlib import Path


def restore_libraries() -> None:
    """Let programs of the system, which this one starts, find the system's libraries: the loader has read its own.

    A process of a bundle that is the bundle again is told to begin as the first did, so that it finds the bundle's.
    """
    os.environ["PYINSTALLER_RESET_ENVIRONMENT"] = "1"
    before = os.environ.pop("LD_LIBRARY_PATH_ORIG", None)
    if before is not None:
        os.environ["LD_LIBRARY_PATH"] = before
    elif getattr(sys, "frozen", False):
        os.environ.pop("LD_LIBRARY_PATH", None)


def main() -> int:
    """Run a module, or open the window or the command line; returns the exit status."""
    multiprocessing.freeze_support()
    restore_libraries()
    from workbench.plugins import package_folder

    sys.path.append(str(package_folder()))
    if sys.argv[1:2] == ["-m"] and sys.argv[2:]:
        module = sys.argv[2]
        sys.argv = [sys.argv[0], *sys.argv[3:]]
        runpy.run_module(module, run_name="__main__", alter_sys=True)
        return 0
    if Path(sys.executable).stem == "workbench-gui":
        from workbench.app import main as open_window

        return open_window()
    from workbench.__main__ import main as run

    return run()


if __name__ == "__main__":
    sys.exit(main())
