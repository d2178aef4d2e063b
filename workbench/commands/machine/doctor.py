"""`workbench doctor`: check this machine and a workspace, and mend the workspace."""

import sys
from dataclasses import asdict
from pathlib import Path

import click

from workbench.commands.arguments import FOLDER
from workbench.commands.terminal import show_json
from workbench.progress import Progress
from workbench.workspace.paths import default_workspace


@click.command(short_help="Check the installation, the device and a workspace.")
@click.option(
    "--workspace", "-w", "folder", type=FOLDER, default=None,
    help="Also check this workspace. --repair, --go-back and --take-over work without it on the folder that the "
    "variable WORKBENCH_WORKSPACE names, or on Workbench in the home folder.",
)  # fmt: skip
@click.option("--repair", is_flag=True, help="Rebuild a damaged workspace's database from its runs' folders.")
@click.option("--go-back", is_flag=True, help="Put back the workspace's database from before its last upgrade.")
@click.option("--quiet", is_flag=True, help="Print problems only.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of lines; not with --repair and --go-back.")
@click.option(
    "--take-over", is_flag=True,
    help="Take over a workspace on a network disk, once the machine that has it has been silent for 50 seconds.",
)  # fmt: skip
def doctor(folder: Path | None, repair: bool, go_back: bool, quiet: bool, as_json: bool, take_over: bool) -> None:
    """Check installed packages, the device and Qt and, with --workspace, a workspace.

    The exit status is 1 if there is a problem.
    """
    from workbench.commands.machine.checks import look
    from workbench.commands.machine.findings import Finding
    from workbench.workspace.owners import lease
    from workbench.workspace.repairs.repair import repair as repair_workspace
    from workbench.workspace.schema import going_back

    if repair and go_back:
        raise click.UsageError("--repair and --go-back exclude each other: a copy that is put back is complete.")
    if as_json and (repair or go_back):
        raise click.UsageError("--json cannot be combined with --repair or --go-back: they change the workspace.")
    if take_over:
        lease.take_over(folder or default_workspace(), _say_once())
    if go_back:
        click.echo(going_back.go_back(folder or default_workspace()))
        return
    if repair:
        said, lost = repair_workspace(folder or default_workspace())
        click.echo(said)
        findings = [Finding("Workspace", f"{sentence}.", good=False) for sentence in lost]
    else:
        findings = look(folder)
    shown = [finding for finding in findings if not quiet or not finding.good]
    if as_json:
        show_json([asdict(finding) for finding in shown])
    else:
        for finding in shown:
            click.echo(f"{'ok     ' if finding.good else 'problem'}  {finding.what}: {finding.said}")
    sys.exit(0 if all(finding.good for finding in findings) else 1)


def _say_once() -> Progress:
    """A Progress that prints a text when it is new."""
    last_text = ""

    def say(text: str, done: int, total: int) -> None:
        nonlocal last_text
        if text != last_text:
            last_text = text
            click.echo(f"{text}, {total} s", err=True)

    return say
