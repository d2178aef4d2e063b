"""The command line: the same engine and the same words as the window."""

import errno
import logging
import os
import sys
from typing import Any

import click

from workbench import __version__
from workbench.commands.arguments import Group
from workbench.commands.machine import desktop, doctor, plugins
from workbench.commands.results import (
    annotate,
    checkpoints,
    compare,
    deploy,
    exchange,
    gallery,
    geometry,
    lists,
    report,
    search,
    tags,
    trash,
    triage,
)  # fmt: skip
from workbench.commands.terminal import INTERRUPTED, printable, spell_out
from workbench.commands.training import benchmark, data, find_rate, ingest, place, run, sweep
from workbench.config import BadConfig
from workbench.jobs import collect_rarely
from workbench.problem import Problem, UnknownName

WINDOWS = os.name == "nt"
UNREAD = 141  # as a shell says of a program that SIGPIPE ended
GROUPS = {  # heading of the help -> its commands
    "Train": (
        data.data, find_rate.find_rate, run.run, run.sample, sweep.sweep, benchmark.benchmark, place.place,
        ingest.take_in,
    ),
    "Look at runs": (
        lists.list_entries, compare.compare_runs, report.report_runs, search.search_run, search.pair, gallery.index,
        geometry.geometry, triage.triage, triage.label, tags.tags, deploy.deploy, deploy.robustness, exchange.test,
        exchange.export, exchange.import_run, annotate.annotate, checkpoints.checkpoints, trash.trash,
    ),
    "This machine": (doctor.doctor, plugins.plugins, plugins.new, desktop.install_desktop),
}  # fmt: skip


class Commands(Group):
    """Exit status: 0 done, 1 a problem (one sentence), 2 wrong usage, name or config, 130 Ctrl+C, 141 output unread."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a Problem becomes one sentence and an exit status, with --debug a traceback."""
        try:
            _refuse_without_folder()
            return super().invoke(ctx)
        except Problem as problem:
            if ctx.params.get("debug"):
                raise
            click.echo(printable(_with_field(problem)), err=True)
            sys.exit(2 if isinstance(problem, (BadConfig, UnknownName)) else 1)
        except BrokenPipeError:  # the reader of the output has ended, as after `| head -1`; click would end with 1
            _write_no_more()
            sys.exit(UNREAD)
        except KeyboardInterrupt:  # click itself would end with status 1
            click.echo("Interrupted.", err=True)
            sys.exit(INTERRUPTED)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands under the headings of GROUPS."""
        for heading, commands in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([(str(command.name), command.get_short_help_str(limit=80)) for command in commands])


@click.group(cls=Commands)
@click.version_option(__version__, prog_name="workbench")
@click.option("--debug", is_flag=True, help="Show the traceback of a problem.")
def cli(debug: bool) -> None:
    """Train, evaluate and report runs of deep metric learning."""
    logging.basicConfig(level=logging.DEBUG if debug else logging.WARNING, format="%(levelname)s %(name)s: %(message)s")


for commands in GROUPS.values():
    for command in commands:
        cli.add_command(command)


def main(arguments: list[str]) -> int:
    """Run one command line; returns the exit status instead of leaving the program."""
    collect_rarely()
    spell_out()
    try:
        cli(arguments, prog_name="workbench")
    except SystemExit as end:
        return int(end.code or 0) if not isinstance(end.code, str) else 1
    except OSError as error:
        if WINDOWS and error.filename is None and error.errno == errno.EINVAL:  # what BrokenPipeError is elsewhere
            _write_no_more()
            return UNREAD
        if error.filename is not None or error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        _write_no_more()
        click.echo(f"The output could not be written ({error.strerror}). Send it to another disk.", err=True)
        return 1
    return 0


def _refuse_without_folder() -> None:
    """Raise Problem where the working folder was deleted: no relative path leads anywhere, and torch does not load."""
    try:
        os.getcwd()
    except OSError as error:
        what = f"The working folder no longer exists ({error.strerror})."
        raise Problem(what, kept="Nothing was started.", todo="Change to another folder and try again.") from None


def _with_field(problem: Problem) -> str:
    """The sentences of a problem, with the field of the config that the window marks, as `--set` takes it."""
    said = str(problem)
    return said if not problem.field or problem.field in said else f"{said} Field of the config: {problem.field}."


def _write_no_more() -> None:
    """Drop what is left of the output, which Python would write as it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
