"""The presets to choose from, with an entry of its own for a config that is none of them."""

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QWidget

from workbench.entries.catalog import Catalog
from workbench.settings.presets import Preset, presets
from workbench.ui.pages.setup.model.draft import Draft
from workbench.ui.widgets.fields.choice_row import ASIDE_ROLE, NOTE_ROLE
from workbench.ui.widgets.fields.editors import ChoiceEditor

OWN = ""  # key of the entry for a config that is not a preset
SAMPLES, PAPERS = "Samples", "Papers"
GROUPS = (SAMPLES, PAPERS)


def group_of(preset: Preset) -> str:
    """The heading over a preset: those with sources are recipes of papers."""
    return PAPERS if preset.sources else SAMPLES


class PresetChooser(ChoiceEditor):
    """Names the preset that a draft began with."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self.presets = presets()
        self.presets.sort(key=lambda preset: GROUPS.index(group_of(preset)))  # each with its own
        groups = [group_of(preset) for preset in self.presets]
        super().__init__(
            [preset.key for preset in self.presets], [preset.title for preset in self.presets], parent, groups
        )
        self.setAccessibleName("Preset")
        self._catalog: Catalog = {}
        self._bases: dict[str, dict[str, Any]] = {}  # by key, all values of the presets that were asked for

    def learn(self, catalog: Catalog) -> None:
        """Take the defaults that presets leave out from this catalog."""
        self._catalog, self._bases = catalog, {}
        self.show_found({})

    def show_found(self, places: Mapping[str, Sequence[str]]) -> None:
        """Say of each preset what it trains with and whether its data are there.

        Args:
            places: where data were found, by data set.
        """
        for preset in self.presets:
            row, loss = self.findData(preset.key), str(preset.values["loss"]["name"])
            title = self._catalog.get(f"loss/{loss}", {}).get("title", loss)
            self.setItemData(row, f"{title}. {preset.summary}", NOTE_ROLE)
            self.setItemData(row, self._state_of_data(preset, places), ASIDE_ROLE)

    def _state_of_data(self, preset: Preset, places: Mapping[str, Sequence[str]]) -> str:
        data = preset.values["dataset"]  # otherwise the whole config would be checked at every start
        fields = self._catalog.get(f"dataset/{data['name']}", {}).get("params", {})
        paths = [name for name, field in fields.items() if field.get("path")]
        if not paths:
            return "data included" if f"dataset/{data['name']}" in self._catalog else ""
        chosen = any(data.get(name) for name in paths)
        return "data found" if chosen or places.get(data["name"]) else "data not found"

    def chosen(self) -> Preset | None:
        """What the user picked; None for a config from elsewhere."""
        return next((preset for preset in self.presets if preset.key == self.value()), None)

    def show_base(self, base: dict[str, Any]) -> Preset | None:
        """Show which preset has these values and return it; None, and its name with "(opened)", when none has."""
        named = (preset for preset in self.presets if preset.title == base["name"])
        shown = next((preset for preset in named if self._base(preset) == base), None)
        with QSignalBlocker(self):
            own = self.findData(OWN)
            if shown is not None:
                self.setCurrentIndex(self.findData(shown.key))
                if own >= 0:
                    self.removeItem(own)
            else:
                if own < 0:
                    self.addItem("", OWN)
                own = self.findData(OWN)
                self.setItemText(own, f"{base['name']} (opened)")
                self.setCurrentIndex(own)
        return shown

    def _base(self, preset: Preset) -> dict[str, Any]:
        if preset.key not in self._bases:
            self._bases[preset.key] = Draft(self._catalog, preset.config).base
        return self._bases[preset.key]
