"""`workbench list`: entries, models, fields, presets and runs."""

from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from workbench.commands.arguments import workspace_option
from workbench.commands.results.columns import terminal_width
from workbench.commands.results.run_lines import listed_runs, run_lines
from workbench.commands.terminal import show_json, show_lines
from workbench.entries import catalog as catalogs
from workbench.entries.offered_models import OfferedModel, offered_models
from workbench.names import visible_name
from workbench.settings.presets import presets
from workbench.settings.run_fields import common_fields
from workbench.workspace import Workspace
from workbench.workspace.paths import default_workspace
from workbench.workspace.run_search import unquoted, why_unmet

LONGEST = 200  # letters of a search that a message repeats
LIMITS = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}  # of a JSON Schema
KINDS = {
    "losses": "loss", "backbones": "backbone", "datasets": "dataset", "splits": "split", "samplers": "sampler",
    "augmentations": "augmentation",
}  # fmt: skip


@click.command("list", short_help="Show runs, presets, fields, losses and other entries.")
@click.argument("what", metavar="KIND", type=click.Choice([*KINDS, "models", "fields", "presets", "runs"]))
@click.argument("words", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of lines: of runs with all scores and bytes.")
@workspace_option
def list_entries(what: str, words: tuple[str, ...], as_json: bool, folder: Path | None) -> None:
    """Show the runs, the presets, or what a config can name.

    KIND is runs, presets, losses, backbones, datasets, splits, samplers, augmentations, fields or models. What a
    config can name has its parameters, with default and range. `fields` has what all configs have, `models` the models
    of timm.

    With WORDS, only those that contain each of them. Of runs a word may be a condition, in quotes: "lr<0.01",
    "MAP@R>80" (in %), "tag=first try", state=failed, "size>1GB", date=today, "date>=2026-11-20".
    """

    def wanted(*texts: str) -> bool:
        return all(word.casefold() in " ".join(texts).casefold() for word in words)

    holding = f" with {visible_name(' '.join(words), LONGEST)}" if words else ""
    if what == "runs":
        with Workspace(folder or default_workspace()) as workspace:
            runs = listed_runs(workspace, words, sizes=as_json)
            why = "" if runs else why_unmet(workspace.runs(), map(unquoted, words))
        if as_json:
            show_json([run.data for run in runs])
            if why:  # a wrong name of a field would look like no such runs
                click.echo(f"There are no runs{holding}.{why}", err=True)
        else:
            show_lines(run_lines(runs, terminal_width()), f"There are no runs{holding}.{why}")
        return
    listed = _listed(what, wanted)
    if as_json:
        show_json([data for _, data in listed])
        return
    others = _lists_with(wanted) if what == "fields" and words else ""
    show_lines((line for line, _ in listed), f"There are no {what}{holding}.{others}")


def _listed(what: str, wanted: Callable[..., bool]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The lines of each model, field, preset or entry whose texts are wanted, with its data for JSON."""
    if what == "models":
        for model in offered_models("timm_models"):
            if wanted(model.name, model.licence):
                yield _model_line(model), asdict(model)
    elif what == "fields":
        for name, facts in common_fields().items():
            if wanted(name, facts["description"]):
                yield _field_line("", name, facts), {"name": name, **facts}
    elif what == "presets":
        for preset in presets():
            if wanted(preset.key, preset.title, preset.summary):
                line = f"{preset.key:24} {preset.title}\n{'':24} {preset.summary}"
                yield line, {"name": preset.key, "title": preset.title, "summary": preset.summary}
    else:
        for key, described in catalogs.current().items():
            kind, _, name = key.partition("/")
            if kind == KINDS[what] and wanted(name, described["title"], described["help"], described["source"]):
                yield "\n".join(_entry_lines(kind, name, described)), {"name": name, **described}


def _lists_with(wanted: Callable[..., bool]) -> str:
    """A sentence, after a blank, on the lists of entries with wanted fields, such as split.validation; or empty."""
    fields: dict[str, str] = {}
    for key, described in catalogs.current().items():
        kind = key.partition("/")[0]
        for name, facts in described["params"].items():
            if wanted(f"{kind}.{name}", facts["description"]):
                fields.setdefault(kind, f"{kind}.{name}")
    lists = [f"`workbench list {what}` has {fields[kind]}" for what, kind in KINDS.items() if kind in fields]
    return f" {'; '.join(lists)}." if lists else ""


def _entry_lines(kind: str, name: str, described: dict[str, Any]) -> Iterator[str]:
    yield f"{name:28} {described['help']}  [{described['source']}]"
    if described["origin"]:
        yield f"    plug-in: {described['origin']}"
    for field, facts in described["params"].items():
        yield _field_line("    ", field, facts)
    if batch := described["facts"].get("batch"):
        yield f"    batches: {batch}"
    if kind == "loss":
        for sentence in catalogs.defaults_told(catalogs.current(), name):
            yield f"    {sentence}"


def _model_line(model: OfferedModel) -> str:
    size = f"{model.parameters / 1e6:8,.1f} M  {model.image + ' px':>11}  {model.features:>6,} features"
    return f"{model.name:60} {size}  {model.licence}".rstrip()


def _field_line(indent: str, name: str, facts: dict[str, Any]) -> str:
    return f"{indent}{name} = {facts['default']!r}{_range(facts)}  {facts['description']}"


def _range(facts: dict[str, Any]) -> str:
    if "enum" in facts:
        return f" ({' | '.join(facts['enum'])})"
    said = ", ".join(f"{sign} {_limit(facts[key])}" for key, sign in LIMITS.items() if key in facts)
    return f" ({said})" if said else ""


def _limit(value: float) -> str:
    """With all digits of a whole number: the highest seed is 2147483647."""
    return str(int(value)) if value == int(value) else f"{value:g}"
