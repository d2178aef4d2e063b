"""The README and the pages of commands and keys say what is so."""

import re
from collections.abc import Callable, Iterator

import click
import pytest
from source_rules import ROOT

README = (ROOT / "README.md").read_text("utf-8")
COMMAND_LINE = (ROOT / "docs" / "command-line.md").read_text("utf-8")
KEYS = (ROOT / "docs" / "keys.md").read_text("utf-8")
SCREEN = 60  # lines
KEY = re.compile(r"(?:Ctrl\+|Alt\+|Shift\+)+(?:F\d+|[A-Z][a-z]+|[A-Z0-9])|\bF\d+")


def dead_links(text: str) -> list[str]:
    return [link for link in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in link and not (ROOT / link).exists()]


def unknown_commands(text: str) -> list[str]:
    """Lines that the command line would not understand."""
    from workbench.cli import cli

    found = []
    for line in re.findall(r"^    workbench (.+?)(?: {2,}#.*)?$", text, re.MULTILINE):
        name, *words = line.replace("[", " ").replace("]", " ").split()
        command = cli.commands.get(name)
        if isinstance(command, click.Group) and words:
            command, words = command.commands.get(words[0]), words[1:]
        options = {option for each in command.params for option in each.opts} if command else set()
        choices = {
            str(choice) for each in (command.params if command else ()) for choice in getattr(each.type, "choices", ())
        }
        asked = {word for word in words if word.startswith("--")}
        alternatives = {choice for word in words if "|" in word for choice in word.split("|")}
        if command is None or not asked <= options or not alternatives <= choices:
            found.append(line)
    return found


def other_options(text: str) -> list[str]:
    """Commands whose arguments or options in the table of all commands are not those of the command line."""
    from workbench.cli import cli

    rows = [line.replace("\\|", "/").split("|")[1:3] for line in text.splitlines() if line.startswith("| `")]
    listed = {
        synopsis: set(re.findall(r"`(--[\w-]+)", options))
        for commands, options in rows
        for synopsis in re.findall(r"`([^`]+)`", commands)
    }
    real = dict(_synopses(cli, ""))
    return sorted(name for name in listed.keys() | real.keys() if listed.get(name) != real.get(name))


def _synopses(command: click.Command, name: str) -> Iterator[tuple[str, set[str]]]:
    """Each command with its arguments, such as "search RUN [IMAGE...]", and its long options."""
    if isinstance(command, click.Group):
        for word, inner in command.commands.items():
            yield from _synopses(inner, f"{name} {word}")
        return
    arguments = [parameter for parameter in command.params if isinstance(parameter, click.Argument)]
    words = [str(argument.make_metavar(click.Context(command))) for argument in arguments]
    words = ["WHAT" if "{" in word else word for word in words]  # a list of choices
    options = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
    yield " ".join([name.strip(), *words]), {option for option in options if option.startswith("--")}


def unknown_keys(text: str) -> list[str]:
    """Keys of the table under "# Keys" that no file of the window mentions."""
    window = "".join(path.read_text("utf-8") for path in (ROOT / "workbench" / "ui").rglob("*.py"))
    table = text.partition("# Keys")[2]
    pages = {f"Ctrl+{place}" for place in range(1, 7)}  # made from the list of pages
    names = {"Ctrl+A": "StandardKey.SelectAll", "Ctrl+C": "StandardKey.Copy"}
    standard = {key for key, name in names.items() if name in window}
    return [key for key in KEY.findall(table) if f'"{key}"' not in window and key not in pages | standard]


@pytest.mark.parametrize(
    ("check", "text"),
    [(dead_links, README), (unknown_commands, COMMAND_LINE), (other_options, COMMAND_LINE), (unknown_keys, KEYS)],
)
def test_the_pages_are_true(check: Callable[[str], list[str]], text: str):
    assert text
    assert check(text) == []


def test_the_readme_is_one_screen_with_two_pictures():
    assert len(README.splitlines()) <= SCREEN
    assert README.count("![") == 2
    assert max(map(len, README.splitlines())) <= 120


@pytest.mark.parametrize(
    ("check", "planted"),
    [
        (dead_links, "see [the plan](docs/nowhere.md)"),
        (unknown_commands, "    workbench fly\n"),
        (unknown_commands, "    workbench run CONFIG.toml --fast    # no such option\n"),
        (unknown_commands, "    workbench list losses|ghosts\n"),
        (unknown_commands, "    workbench benchmark ghosts\n"),
        (other_options, COMMAND_LINE.replace("`sample` | `--workspace DIR`, ", "`sample` | ")),
        (other_options, COMMAND_LINE + "| `fly` | `--high` |\n"),
        (unknown_keys, "# Keys\n| Ctrl+Alt+9 | fly |\n"),
    ],
)
def test_a_planted_untruth_is_found(check, planted):
    assert len(check(planted)) == 1


def test_ci_calls_the_readme_s_test_command():
    command = "python3 packaging/bootstrap.py test"
    assert f"    {command} " in README
    assert (ROOT / ".ci" / "run").read_text("utf-8").rstrip().endswith(f"\n{command}")  # its status is CI's
