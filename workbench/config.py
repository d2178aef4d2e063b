"""What one run is: plain parts with ranges and help; TOML in and out; one error per bad field, naming it."""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import tomli_w
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_serializer, model_validator

from workbench import files
from workbench.entries import catalog as catalogs
from workbench.entries.catalog import Catalog
from workbench.entries.facts import CHOSEN_AT_FIRST
from workbench.files.unreadable import checked_nesting, refusing
from workbench.names import similar
from workbench.problem import Problem
from workbench.settings import checks
from workbench.settings.sections import EmbeddingParams, EvaluationParams, TrainingParams, sections

LARGEST = 1 << 20  # bytes of a config
FOLDER = "It is a folder, not a file. `workbench data FOLDER` prints the command that trains on its images."
SEEDS = checks.SEEDS
__all__ = [
    "IMPORTED",
    "KINDS",
    "OWN_LOOP",
    "SEEDS",
    "BadConfig",
    "Choice",
    "EmbeddingParams",
    "EvaluationParams",
    "RunConfig",
    "TrainingParams",
    "sections",
]
KINDS = ("dataset", "split", "sampler", "augmentation", "backbone", "loss")
IMPORTED = "imported"  # the name of every part of a run whose embeddings come from elsewhere
OWN_LOOP = "own loop"  # the same of a run that a user's own training loop records


class BadConfig(Problem):
    """A config with wrong fields; `errors` holds one sentence by dotted field."""

    def __init__(self, source: str, errors: dict[str, str]) -> None:
        self.errors = errors
        listed = " ".join(f"{field}: {sentence}" for field, sentence in errors.items())
        super().__init__(f"{source} cannot be used. {listed}", kept="Nothing was started.")


class Choice(BaseModel):
    """An entry of the registry by name, with its parameters; flat in TOML: `[loss] name = "ce" ...`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    params: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _gather(cls, written: Any) -> Any:
        if isinstance(written, str):
            return {"name": written}
        if isinstance(written, dict) and "params" not in written:
            return {
                "name": written.get("name"),
                "params": {key: value for key, value in written.items() if key != "name"},
            }
        return written

    @model_serializer
    def _flatten(self) -> dict[str, Any]:
        return {"name": self.name, **self.params}


class RunConfig(BaseModel):
    """Everything that decides a run. Frozen; unknown fields are errors.

    `RunConfig(...)` checks shapes and the common parts; `check(catalog)` also checks the parameters of entries.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field("Digits", min_length=1, max_length=200)
    seed: int = Field(0, ge=0, lt=SEEDS)
    seeds: int = Field(1, ge=1, le=100)
    device: Annotated[str, AfterValidator(checks.device)] = "auto"
    dataset: Choice = Choice(name=CHOSEN_AT_FIRST["dataset"])
    split: Choice = Choice(name=CHOSEN_AT_FIRST["split"])
    backbone: Choice = Choice(name=CHOSEN_AT_FIRST["backbone"])
    embedding: EmbeddingParams = EmbeddingParams()
    loss: Choice = Choice(name=CHOSEN_AT_FIRST["loss"])
    sampler: Choice = Choice(name=CHOSEN_AT_FIRST["sampler"])
    augmentation: Choice = Choice(name=CHOSEN_AT_FIRST["augmentation"])
    training: TrainingParams = TrainingParams()
    evaluation: EvaluationParams = EvaluationParams()

    @classmethod
    def from_toml(cls, path: Path | str) -> "RunConfig":
        """Read and check a file.

        Raises:
            BadConfig: one sentence per bad field, or why it is not a config: a folder, too large, not UTF-8.
            Problem: there is no such file, or it cannot be opened.
        """
        path = Path(path)
        refused = "The config {} cannot be read ({})."
        with refusing(lambda why: Problem(refused.format(path, why), kept="Nothing was started.")):
            if path.is_dir():
                raise BadConfig(str(path), {"TOML": FOLDER})
            with path.open("rb") as file:
                content = file.read(LARGEST + 1)  # a pipe has no size, and a device may have no end
            if len(content) > LARGEST:
                raise BadConfig(str(path), {"TOML": f"It is over {LARGEST >> 20} MiB."})
        with refusing(lambda why: BadConfig(str(path), {"TOML": f"{why[:1].upper()}{why[1:]}."})):
            text = content.decode("utf-8-sig")  # some editors of Windows write the mark
        return cls.from_toml_text(text, source=str(path))

    @classmethod
    def from_toml_text(cls, text: str, source: str = "The config", known: Catalog | None = None) -> "RunConfig":
        """As `from_toml`, from text; `known` is the catalog, read when it is not given."""
        config = cls._of_text(text, source)
        if not config.model_fields_set:
            raise BadConfig(source, {"TOML": "It has no settings."})
        errors = config.check(known if known is not None else catalogs.current())
        if errors:
            raise BadConfig(source, with_similar(errors, config.model_dump(), known or catalogs.current()))
        return config

    @classmethod
    def recorded(cls, text: str, source: str = "The config") -> "RunConfig":
        """The config of a run that is looked at, not started: entries may be unknown. Raises BadConfig for bad TOML."""
        return cls._of_text(text, source)

    def is_recorded_as(self, text: str) -> bool:
        """Whether a run's config is this one; a field that is newer than the run has its default there.

        A relative path of either starts at the working folder, as in `with_whole_paths`.
        """
        try:
            recorded = self.recorded(text)
        except BadConfig:
            return False
        if recorded == self or recorded.name != self.name:
            return recorded == self
        known = catalogs.last()
        return recorded.with_whole_paths(known) == self.with_whole_paths(known)

    @classmethod
    def _of_text(cls, text: str, source: str) -> "RunConfig":
        with refusing(lambda why: BadConfig(source, {"TOML": f"{why}."}), ValidationError):
            values = checked_nesting(tomllib.loads(text), text)
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            raise BadConfig(source, with_similar(catalogs.sentences(error), values, catalogs.current())) from None

    @classmethod
    def from_values(
        cls, values: dict[str, Any], known: Catalog, classes: int | None = None
    ) -> tuple["RunConfig | None", dict[str, str]]:
        """A config from raw nested values, as a form holds them: the config, or None and one sentence per bad field."""
        try:
            config = cls.model_validate(values)
        except ValidationError as error:
            return None, with_similar(catalogs.sentences(error), values, known)
        errors = with_similar(config.check(known, classes), values, known)
        return (None if errors else config), errors

    def to_toml(self, path: Path | None = None) -> str:
        """The config as TOML text; also written to `path` when one is given.

        Every field is written. Of a run of a user's own loop, only the fields that the loop gave are known.
        """
        text = tomli_w.dumps(self.model_dump(exclude_unset=self.own_loop))
        if path is not None:
            with files.chosen_file(path) as file:
                file.write(text.encode())
        return text

    @property
    def imported(self) -> bool:
        """Whether the embeddings come from elsewhere: there is nothing to train."""
        return self.dataset.name == IMPORTED

    @property
    def own_loop(self) -> bool:
        """Whether a user's own training loop records the run: only that program can train it."""
        return self.dataset.name == OWN_LOOP

    @property
    def planned_epochs(self) -> int:
        """The epochs that the run will train; 0 if a loop outside Workbench did not give them."""
        return 0 if self.own_loop and "epochs" not in self.training.model_fields_set else self.training.epochs

    def choice(self, kind: str) -> Choice:
        """The choice of that kind: "dataset", "loss", ..."""
        choice: Choice = getattr(self, kind)
        return choice

    def fact(self, known: Catalog, kind: str, of: str) -> Any:
        """A fact (entries/facts.py) of the chosen entry of that kind; None if it is unknown."""
        return catalogs.fact(known, kind, self.choice(kind).name, of)

    def value(self, known: Catalog, kind: str, field: str) -> Any:
        """A parameter of the chosen entry of that kind, or its default; None if it has none of that name."""
        choice = self.choice(kind)
        described = known.get(f"{kind}/{choice.name}", {"params": {}})["params"]
        return choice.params.get(field, described.get(field, {}).get("default"))

    def folds(self, known: Catalog) -> tuple[int, int]:
        """The requested fold, from 1, or 0 for all folds, and the number of folds; 0, 0 without folds."""
        if not self.fact(known, "split", "folds"):
            return 0, 0
        return int(self.value(known, "split", "fold")), int(self.value(known, "split", "folds"))

    def holds_out(self, known: Catalog) -> bool:
        """Whether classes or images are held out, on which the best epoch and the best setting can be chosen."""
        return bool(self.fact(known, "split", "folds") or self.value(known, "split", "validation"))

    def check(self, known: Catalog, classes: int | None = None) -> dict[str, str]:
        """One sentence per bad field by dotted name, such as "loss.margin"; empty when the run can start.

        `classes` is the number of training classes where it is known: some losses need a size that goes with it.
        """
        if self.imported:
            return {"dataset.name": "The embeddings were imported: there is nothing to train."}
        if self.own_loop:
            return {"dataset.name": "The run was recorded by your own training loop: start it there."}
        unknown = checks.unknown_entries(self, known, KINDS)
        errors = unknown | checks.contradictions(self, known, unknown)
        return errors if unknown else errors | checks.misfit(self, known, classes)

    def warnings(self, known: Catalog, classes: int | None) -> dict[str, str]:
        """One warning per field, by dotted name, whose value is valid but questionable; of a checked config."""
        idle = checks.idle_dimensions(self, known, classes)
        return idle | checks.unused_weights(self, known) | checks.mirrored_signs(self, known)

    def with_whole_paths(self, known: Catalog) -> "RunConfig":
        """The same run with absolute paths, or paths from ~, which are found from any working folder.

        A relative path starts at the current working folder.
        """
        changes: dict[str, Any] = {}
        for kind in KINDS:
            choice = self.choice(kind)
            whole = _whole(choice.params, known.get(f"{kind}/{choice.name}", {"params": {}})["params"])
            if whole:
                changes[kind] = Choice(name=choice.name, params={**choice.params, **whole})
        for name, fields in sections().items():
            section: BaseModel = getattr(self, name)
            if whole := _whole(dict(section), fields):
                changes[name] = section.model_copy(update=whole)
        return self.model_copy(update=changes) if changes else self

    def filled(self, known: Catalog) -> "RunConfig":
        """The same run with every parameter of its entries written out.

        Unknown entries, and those of another version with parameters that are refused here, are left unchanged.
        """
        changes = {}
        for kind in KINDS:
            choice = self.choice(kind)
            if f"{kind}/{choice.name}" not in known:
                continue
            model = catalogs.params_of(known, kind, choice.name)
            if not catalogs.errors(model, choice.params):
                changes[kind] = Choice(name=choice.name, params=model.model_validate(choice.params).model_dump())
        return self.model_copy(update=changes)


def from_root(path: str) -> str:
    """A relative path from the root on; a path from ~ stays, it may be meant for any machine."""
    return path if not path or path.startswith("~") or os.path.isabs(path) else os.path.abspath(path)


def _whole(values: dict[str, Any], fields: Catalog) -> dict[str, str]:
    """The relative paths among the values, from the root on."""
    paths = {name: value for name, value in values.items() if fields.get(name, {}).get("path")}
    whole = {name: from_root(path) for name, path in paths.items() if isinstance(path, str)}
    return {name: path for name, path in whole.items() if path != paths[name]}


def with_similar(errors: dict[str, str], values: Mapping[str, Any], known: Catalog) -> dict[str, str]:
    """The errors of a config with these values; those of unknown fields name the fields that may be meant."""
    named = dict(errors)
    for field, sentence in errors.items():
        if sentence == catalogs.NO_FIELD:
            alike = ", ".join(similar_fields(field, values, known))
            named[field] = f"{sentence} Similar: {alike}." if alike else _no_field_of(field, values, known)
    return named


def _no_field_of(field: str, values: Mapping[str, Any], known: Catalog) -> str:
    """That there is no such field, with the entry that lacks it and the fields that it has."""
    part = field.partition(".")[0]
    chosen = values.get(part) if part in KINDS else None
    name = chosen.get("name") if isinstance(chosen, Mapping) else None
    if not isinstance(name, str):
        return catalogs.NO_FIELD
    there = ", ".join(_dotted(part, other) for other in _fields_of(part, values, known) if other != "name")
    return f"{catalogs.NO_FIELD.removesuffix('.')} in {name}.{f' It has: {there}.' if there else ''}"


def similar_fields(field: str, values: Mapping[str, Any], known: Catalog) -> list[str]:
    """Fields of any part that are called so in a config or in the form, then those of its part with a similar name."""
    part, _, name = field.rpartition(".")
    same = []
    for other in ("", *KINDS, *sections()):
        for key, label in _fields_of(other, values, known).items():
            if key != "name" and name.casefold() in (key.casefold(), label.casefold().replace(" ", "_")):
                same.append(_dotted(other, key))
    near = [_dotted(part, other) for other in similar(name, _fields_of(part, values, known))]
    return [other for other in dict.fromkeys([*same, *near]) if other != field]


def _dotted(part: str, name: str) -> str:
    return f"{part}.{name}" if part else name


def _fields_of(part: str, values: Mapping[str, Any], known: Catalog) -> dict[str, str]:
    """The fields in a part of a config, as that part is chosen there, with their labels; without a part, the parts."""
    if not part:
        return dict.fromkeys(RunConfig.model_fields, "")
    if part not in KINDS:
        fields = sections().get(part, {})
    else:
        chosen = values.get(part)
        entry = chosen.get("name") if isinstance(chosen, dict) else chosen
        fields = {"name": {}} | known.get(f"{part}/{entry}", {"params": {}})["params"]
    return {name: facts.get("label") or "" for name, facts in fields.items()}
