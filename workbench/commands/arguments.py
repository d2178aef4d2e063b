"""What arguments of several commands are: the number of a run or of a sweep, a folder, an evaluation, losses."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from workbench.jobs import command_line
from workbench.names import nearest_first
from workbench.problem import UnknownName

Command = Callable[..., Any]
SETTING = "FIELD=VALUE"  # how the help writes an option that sets a field, and may be repeated for others
LARGEST = 2**63 - 1  # the largest number that SQLite has


class Number(click.ParamType[int]):
    """The number of a run, sweep or evaluation; whether there is one, the workspace says."""

    name = "integer"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number; a usage error for what is no number, or for one that no workspace can have."""
        try:
            number = int(value)
        except ValueError:
            self.fail(f"{value!r} is not a whole number.", param, ctx)
        if abs(number) > LARGEST:
            self.fail(f"{value} is larger than any run or sweep number can be.", param, ctx)
        return number


class Text(click.ParamType[str]):
    """Words that are stored or searched for. A terminal may pass bytes that are no letters."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The text; a usage error where it is not Unicode."""
        text = str(value)
        try:
            text.encode()
        except UnicodeEncodeError:
            self.fail(f"{text!r} is not Unicode text.", param, ctx)
        return text


class Folder(click.Path):
    """A folder. An empty name, as of a variable that is not set, would be the working folder."""

    def __init__(self) -> None:
        super().__init__(path_type=Path, file_okay=False)

    def convert(
        self, value: "str | os.PathLike[str]", param: click.Parameter | None, ctx: click.Context | None
    ) -> "str | bytes | os.PathLike[str]":
        """The path; a usage error for an empty name or for a file."""
        if not os.fspath(value):
            self.fail("The name of the folder is empty. Write . for the working folder.", param, ctx)
        return super().convert(value, param, ctx)


class Group(click.Group):
    """A group whose commands take each option that has one value once: of two values neither is passed over."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does; a usage error where one of the command's options is given two different values."""
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None and not isinstance(command, click.Group) and not ctx.resilient_parsing:
            _refuse_two_values(command, click.Context(command, ctx, info_name=name), rest)
        return name, command, rest


NUMBER = Number()
TEXT = Text()
FOLDER = Folder()
FILE = click.Path(path_type=Path, dir_okay=False)


def epoch(text: str) -> str | int:
    """Which evaluation: best, last or the number of an epoch. Raises click.BadParameter."""
    if text in ("best", "last"):
        return text
    if text.isdecimal():
        return int(text)
    raise click.BadParameter(f"{text!r} is neither best nor last nor the number of an epoch.")


def epoch_option(what: str) -> Callable[[Command], Command]:
    """The option --epoch, by default the best one; `what` says which evaluation it names: "that is measured"."""
    return click.option(
        "--epoch", type=epoch, metavar="EPOCH", default="best", show_default=True,
        help=f"Evaluation {what}: best, last, or the number of an epoch.",
    )  # fmt: skip


device_option = click.option(
    "--device", type=click.Choice(["auto", "cpu", "cuda", "mps"]), default="auto", show_default=True,
    help="Where the images are embedded.",
)  # fmt: skip


def losses_named(asked: Sequence[str], there: Sequence[str]) -> list[str]:
    """The names in options that may contain several, separated by commas; all in order without any.

    Raises UnknownName for one of no loss.
    """
    names = [name.strip() for words in asked for name in words.split(",")] or sorted(there)
    for name in names:
        if name not in there:
            listed = ", ".join(nearest_first(name, sorted(there)))
            raise UnknownName(f"There is no loss named {name!r}.", todo=f"Known: {listed}.")
    return list(dict.fromkeys(names))


def _refuse_two_values(command: click.Command, ctx: click.Context, words: list[str]) -> None:
    """Raise click.UsageError for an option of one value, or a field, that the words of a command give two values."""
    single = [
        option
        for option in command.params
        if isinstance(option, click.Option) and not (option.multiple or option.is_flag or option.count)
    ]
    parser = command.make_parser(ctx)
    for option in single:
        parser.add_option(option, option.opts, str(option.name), action="append")
    values, _, _ = parser.parse_args(list(words))
    for parameter in command.params:
        if parameter.metavar == SETTING:
            _refuse_two_settings(parameter.opts[0], values.get(str(parameter.name)) or (), ctx)
    for option in single:
        different = list(dict.fromkeys(values.get(str(option.name)) or ()))
        if len(different) > 1:
            takes = "several in one value, separated by commas" if _is_list(option) else "one value"
            said = f"{', '.join(different[:-1])} and {different[-1]}"
            raise click.UsageError(f"{option.opts[0]} takes {takes}, but was given {said}. Write it once.", ctx)


def _refuse_two_settings(name: str, settings: Sequence[str], ctx: click.Context) -> None:
    """Raise click.UsageError for a field that FIELD=VALUE sets to two different values."""
    fields: dict[str, str] = {}
    for setting in settings:
        field, _, value = setting.partition("=")
        if fields.setdefault(field, value) != value:
            raise click.UsageError(f"{name} gives {field} two values: {fields[field]} and {value}. Write it once.", ctx)


def _is_list(option: click.Option) -> bool:
    return option.metavar is not None and (option.metavar == "LIST" or "," in option.metavar)


def typed(folder: Path, *words: str) -> str:
    """The words as a command of `workbench` for the workspace in this folder, as a person types it."""
    return command_line("workbench", *words, "--workspace", str(folder))


workspace_option = click.option(
    "--workspace", "-w", "folder", type=FOLDER, default=None,
    help="Workspace: a folder of runs, made by commands that add runs. By default the folder that the variable "
    "WORKBENCH_WORKSPACE names, or Workbench in the home folder.",
)  # fmt: skip
