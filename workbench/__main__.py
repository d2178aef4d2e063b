"""`python -m workbench`: no arguments open the window, `--workspace DIR` on that folder; all else is the CLI's."""

import os
import sys

WINDOW_OPTIONS = ("--workspace", "-w", "--measure-start")
COMPLETION = "_WORKBENCH_COMPLETE"  # the variable by which a shell asks click what Tab may write


def main(argv: list[str] | None = None) -> int:
    """Start the window or the command line; returns the exit status."""
    try:
        return _started(sys.argv[1:] if argv is None else argv)
    except KeyboardInterrupt:  # while modules are loaded: commands say it themselves
        sys.stderr.write("Interrupted.\n")
        return 130


def _started(arguments: list[str]) -> int:
    completes = COMPLETION in os.environ
    if not completes and (not arguments or arguments[0].partition("=")[0] in WINDOW_OPTIONS):
        from workbench import app

        return app.main(arguments)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the shell: no file of ours may take its number
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - until the program ends
    from workbench.cli import main as run_command

    return run_command(arguments)


if __name__ == "__main__":
    sys.exit(main())
