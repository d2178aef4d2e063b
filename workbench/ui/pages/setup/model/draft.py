"""The config being set up, apart from the widgets: values, the preset they started from, undo and checks."""

import json
from copy import deepcopy
from time import monotonic_ns
from typing import Any

from workbench.config import KINDS, RunConfig, sections
from workbench.entries import catalog as catalogs
from workbench.entries.catalog import Catalog
from workbench.settings.checks import WORDS
from workbench.settings.naming import name_that_follows
from workbench.settings.run_fields import RUN_FIELDS
from workbench.ui.pages.setup.model.fields import GROUPS, Field, essential_of, of_choice

Values = dict[str, Any]
State = tuple[Values, Values, dict[str, str], frozenset[str]]  # values, base, sources, switches that a person set
Past = tuple[State, int]  # the state before or after a step, and when the step was made, in ns
UNDO_KEPT = 200


class Draft:
    """Nested values as `RunConfig.model_dump()` gives them, any of which may be wrong while the user types.

    Fields are named by dotted path: "training.lr", "loss.margin"; a choice itself is "loss.name".
    """

    def __init__(self, known: Catalog, config: RunConfig) -> None:
        self.catalog = known
        self._parts = sections()
        self._past: list[Past] = []
        self._future: list[Past] = []
        self._last_path = ""
        self.sources: dict[str, str] = {}
        self._switched: frozenset[str] = frozenset()  # paths of mirror switches that a person set
        self._left: dict[tuple[str, str], Values] = {}  # parameters of earlier choices, restored with them
        self._classes: dict[str, int] = {}  # training classes by what decides them
        self._described: tuple[object, dict[str, dict[str, Field]]] = (None, {})  # the choices, and their fields
        self.values = self.base = self._full(config)

    def learn(self, known: Catalog) -> None:
        """Describe the fields by another catalog; values, reasons and undo stay."""
        self.catalog, self._described = known, (None, {})

    def note_classes(self, config: RunConfig, classes: int) -> None:
        """Store the number of training classes of this config's data, split and seed."""
        self._classes[_of_data(config.model_dump())] = classes

    def forget_classes(self) -> bool:
        """Forget the counted classes, since files may have changed. Returns whether any were known."""
        known = bool(self._classes)
        self._classes = {}
        return known

    @property
    def classes(self) -> int | None:
        """The number of training classes; None before the data was read."""
        return self._classes.get(_of_data(self.values))

    def load(self, config: RunConfig, *, as_base: bool = True, sources: dict[str, str] | None = None) -> None:
        """Take a whole config; `as_base`: later changes are measured against it. Can be undone.

        `sources` says where a field has its value in this config from.
        """
        self._remember("")
        self.sources, self._switched = sources or {}, frozenset()
        self.values = self._full(config)
        if as_base:
            self.base = self.values
        switch = self._mirror_switch
        if switch and self.value(switch) != self.base_value(switch):
            self._switched = frozenset({switch})

    def reset_all(self) -> None:
        """Set every field back to the preset's value: one step of undo."""
        self._remember("")
        self.values, self._switched = self.base, frozenset()

    def explain(self, sources: dict[str, str]) -> None:
        """Say of fields why the config that was loaded last has their values."""
        self.sources = sources

    def reasons(self) -> list[str]:
        """Why fields have the values that they were loaded with; those that were changed since are left out."""
        return [said for path, said in self.sources.items() if self._as_loaded(path)]

    def _as_loaded(self, path: str) -> bool:
        """Whether a field is unchanged: a parameter that the choice of now lacks was changed if the preset's has it."""
        part, _, field = path.partition(".")
        if field and field not in self.values[part]:
            return field not in self.base[part]
        return bool(self.value(path) == self.base_value(path))

    def value(self, path: str) -> Any:
        """The value at a path: a field ("name"), a parameter ("loss.margin"), or all of a part ("loss")."""
        part, _, field = path.partition(".")
        return self.values[part][field] if field else self.values[part]

    def base_value(self, path: str) -> Any:
        """The preset's value; where the choice differs from the preset's, the parameter's default.

        The name that nobody gave follows the settings, and images are not mirrored of a data set that may not be.
        """
        part, _, field = path.partition(".")
        if path == "name":
            return self._name()
        if not field:
            return self.base[part]
        if not self._of_the_base(path):
            return self._fresh(part, self.values[part]["name"])[field]
        if path == self._mirror_switch and not self._may_be_mirrored and self._dataset != self.base["dataset"]["name"]:
            return False
        return self.base[part].get(field)

    def set(self, path: str, value: Any) -> None:
        """Change one field; a new choice brings the parameters it had before, or its defaults.

        The name follows until somebody gives one.
        """
        if self.value(path) == value:
            return
        follows = path != "name" and self.values["name"] == self._name()
        self._remember(path)
        self.values = deepcopy(self.values)
        self._put(path, value)
        if follows:
            self.values["name"] = self._name()

    def offered(self) -> dict[str, Values]:
        """What "published" and "measured" name for this loss and data set, by path, where it would change something."""
        loss, dataset = self.values["loss"]["name"], self.values["dataset"]["name"]
        both = {
            "published": catalogs.published_fields(self.catalog, loss, dataset, self.values["loss"]),
            "measured": catalogs.measured_fields(self.catalog, loss, dataset),
        }
        return {kind: named for kind, named in both.items() if any(self._lacks(*field) for field in named.items())}

    def take(self, kind: str) -> None:
        """Set all that `offered` names under "published" or "measured": one step of undo."""
        named, follows = self.offered().get(kind, {}), self.values["name"] == self._name()
        self._remember("")
        self.values = deepcopy(self.values)
        for path in sorted(named, key=lambda path: not path.endswith(".name")):  # a choice before its parameters
            if self._lacks(path, named[path]):
                self._put(path, named[path])
        if follows:
            self.values["name"] = self._name()

    def defaults_told(self, name_of: catalogs.NameOf) -> list[str]:
        """What is published for the loss on the data set, and what was measured here, a sentence each."""
        loss, dataset = self.values["loss"]["name"], self.values["dataset"]["name"]
        return catalogs.defaults_told(self.catalog, loss, dataset, name_of)

    def _lacks(self, path: str, value: Any) -> bool:
        part, _, field = path.partition(".")
        return bool(self.values[part].get(field) != value)

    def _put(self, path: str, value: Any) -> None:
        part, _, field = path.partition(".")
        if part in KINDS and field == "name":
            self._left[part, self.values[part]["name"]] = self.values[part]
            before = self._unchanged_loss()
            self.values[part] = self._left.get((part, value)) or self._fresh(part, value)
            if part == "dataset":
                self._follow(before)
            if part in ("dataset", "augmentation") and self._mirror_switch not in ("", *self._switched):
                mirrored = {self._mirror_switch.partition(".")[2]: self.base_value(self._mirror_switch)}
                self.values["augmentation"] = self.values["augmentation"] | mirrored
        elif part == "loss" and field in catalogs.deciding(self.catalog, self.values["loss"]["name"], self._dataset):
            before = self._unchanged_loss()
            self.values[part][field] = value
            self._follow(before | {field: None})
        elif field:
            self.values[part][field] = value
            self._switched |= {path} & {self._mirror_switch}
        else:
            self.values[part] = value

    def reset(self, path: str) -> None:
        """Set a path back to its base value; a kind's name brings back the preset's parameters."""
        part, _, field = path.partition(".")
        if part in KINDS and field == "name":
            self._left[part, self.base[part]["name"]] = deepcopy(self.base[part])
        self.set(path, self.base_value(path))
        self._switched -= {path}

    @property
    def can_undo(self) -> bool:
        """Whether there is an edit to undo."""
        return bool(self._past)

    @property
    def can_redo(self) -> bool:
        """Whether there is an undone edit to redo."""
        return bool(self._future)

    @property
    def undo_made(self) -> int:
        """When the edit was made that would be undone, in ns of time.monotonic_ns; 0 for none."""
        return self._past[-1][1] if self._past else 0

    @property
    def redo_made(self) -> int:
        """The same of the edit that would be redone."""
        return self._future[-1][1] if self._future else 0

    def undo(self) -> None:
        """Undo the last edit; nothing happens when there is none."""
        self._step(self._past, self._future)

    def redo(self) -> None:
        """Redo the edit that was undone last; nothing happens when there is none."""
        self._step(self._future, self._past)

    def fields(self, group: str) -> dict[str, Field]:
        """Descriptions by path of the fields under a heading; they depend on the choices made. Not to be changed."""
        choices = [self.sources, *(values[kind]["name"] for values in (self.values, self.base) for kind in KINDS)]
        if self._described[0] != choices:
            self._described = (choices, {heading: self._fields(heading) for heading in GROUPS})
        return self._described[1][group]

    def _fields(self, group: str) -> dict[str, Field]:
        described: dict[str, Field] = {}
        for item in GROUPS[group]:
            if item.startswith("*"):
                kind = item[1:]
                described |= of_choice(self.catalog, kind, self.values[kind]["name"], self.base[kind]["name"])
            elif item in self._parts:
                described |= {f"{item}.{name}": field for name, field in self._parts[item].items()}
            else:
                described[item] = RUN_FIELDS[item]
        for path in described.keys() & self.sources.keys():
            if self._of_the_base(path):
                described[path] = {**described[path], "source": self.sources[path]}
        return described

    def is_place(self, path: str) -> bool:
        """Whether a field says where the images are."""
        return bool(self.fields("Data").get(path, {}).get("path"))

    def essential(self) -> dict[str, Field]:
        """The fields that most runs need: choices, data folder, parameters of the loss, length and learning rate."""
        fields = {path: field for group in GROUPS for path, field in self.fields(group).items()}
        return essential_of(fields, self.value)

    def advanced(self) -> dict[str, dict[str, Field]]:
        """The other fields by heading."""
        essential = self.essential()
        return {
            group: {path: field for path, field in self.fields(group).items() if path not in essential}
            for group in GROUPS
        }

    def changed(self) -> list[str]:
        """The fields that differ from the preset."""
        return [path for path in self.paths() if self.value(path) != self.base_value(path)]

    def _name(self) -> str:
        """The name of the config unless the user gives one."""
        fields = {path: field for group in GROUPS for path, field in self.fields(group).items()}
        paths = [path for path in fields if path != "name" and self.value(path) != self.base_value(path)]
        network = catalogs.fact(self.catalog, "backbone", str(self.value("backbone.name")), "named_by")
        changed = {path: self.value(path) for path in paths}
        return name_that_follows(self.base, fields, changed, f"backbone.{network}" if network else "")

    def _of_the_base(self, path: str) -> bool:
        """Whether the preset has this field: a parameter of the same name of another choice is not its own."""
        part, _, field = path.partition(".")
        return part not in KINDS or field == "name" or self.base[part]["name"] == self.values[part]["name"]

    def paths(self) -> list[str]:
        """Every field that is shown, in order."""
        return [path for group in GROUPS for path in self.fields(group)]

    def check(self) -> tuple[RunConfig | None, dict[str, str]]:
        """The config, its paths whole, when it can start, otherwise one sentence by path for every bad field."""
        config, errors = RunConfig.from_values(self.values, self.catalog, self.classes)
        if config is not None:
            return config.with_whole_paths(self.catalog), errors
        for kind in KINDS:  # a bad common part hides these from `from_values`
            errors = self._choice_errors(kind) | errors
        return None, errors

    def warnings(self) -> dict[str, str]:
        """Warnings, a sentence by path; empty while the config cannot start."""
        config, _ = self.check()
        return {} if config is None else config.warnings(self.catalog, self.classes)

    def _full(self, config: RunConfig) -> Values:
        values = config.model_dump()
        return values | {kind: self._choice(kind, values[kind]) for kind in KINDS}

    def _choice(self, kind: str, values: Values) -> Values:
        described = self.catalog.get(f"{kind}/{values['name']}", {"params": {}})["params"]
        return {"name": values["name"]} | {name: field["default"] for name, field in described.items()} | values

    @property
    def _dataset(self) -> str:
        return str(self.values["dataset"]["name"])

    def _fresh(self, kind: str, name: str, chosen: Values | None = None) -> Values:
        """A choice before anybody changes it; a loss has what is published for the data set and what was chosen."""
        known: Values = {}
        if kind == "loss":
            known = catalogs.published(self.catalog, name, self._dataset, chosen)
        elif kind == "augmentation" and not self._may_be_mirrored:
            mirrored_by = catalogs.fact(self.catalog, kind, name, "mirrored_by")
            known = {mirrored_by: False} if mirrored_by else {}
        return self._choice(kind, {"name": name} | known)

    @property
    def _mirror_switch(self) -> str:
        """The path of the field that mirrors images; empty where the augmentation has none."""
        mirrored_by = catalogs.fact(
            self.catalog, "augmentation", str(self.values["augmentation"]["name"]), "mirrored_by"
        )
        return f"augmentation.{mirrored_by}" if mirrored_by else ""

    @property
    def _may_be_mirrored(self) -> bool:
        return catalogs.fact(self.catalog, "dataset", self._dataset, "may_be_mirrored") is not False

    def _unchanged_loss(self) -> Values:
        """The loss without the user's changes of parameters, with the values that follow from a choice."""
        now, known = self.values["loss"], self.catalog
        first, chosen = self._fresh("loss", now["name"]), self._fresh("loss", now["name"], now)
        return chosen | {name: first[name] for name in catalogs.deciding(known, now["name"], self._dataset)}

    def _follow(self, before: Values) -> None:
        """Parameters of the loss that nobody changed become those published for the data set and the choice of now."""
        now = self.values["loss"]
        after = self._fresh("loss", now["name"], now)
        self.values["loss"] = {
            name: after[name] if name in after and value == before.get(name) else value for name, value in now.items()
        }

    def _choice_errors(self, kind: str) -> dict[str, str]:
        name = self.values[kind]["name"]
        if f"{kind}/{name}" not in self.catalog:
            return {f"{kind}.name": f"There is no {WORDS.get(kind, kind)} named {name!r}."}
        model = catalogs.params_of(self.catalog, kind, name)
        values = {field: value for field, value in self.values[kind].items() if field != "name"}
        return {f"{kind}.{field}": sentence for field, sentence in catalogs.errors(model, values).items()}

    def _remember(self, path: str) -> None:
        """Typing in one field is one step of undo."""
        if path == "" or path != self._last_path or path.endswith(".name"):
            self._past = [*self._past[-UNDO_KEPT:], (self._state, monotonic_ns())]
        elif self._past:
            self._past[-1] = (self._past[-1][0], monotonic_ns())
        self._future = []
        self._last_path = path

    @property
    def _state(self) -> State:
        return self.values, self.base, self.sources, self._switched

    def _step(self, back: list[Past], forth: list[Past]) -> None:
        if back:
            before, made = back.pop()
            forth.append((self._state, made))
            self.values, self.base, self.sources, self._switched = before
            self._last_path = ""


def _of_data(values: Values) -> str:
    """What decides the training classes of a run, as a key."""
    return json.dumps([values["dataset"], values["split"], values["seed"]], sort_keys=True)
