"""What stands beside, above and below the fields of the Essentials card: what they lead to, and what they need."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject

from workbench.ui.pages.setup.data.strip import DataStrip
from workbench.ui.pages.setup.form.loss_parts import Families, NeedsLine
from workbench.ui.pages.setup.form.split_bar import SplitBar
from workbench.ui.pages.setup.model.draft import Draft
from workbench.ui.pages.setup.model.needs import needs_of
from workbench.ui.style.words import THIN, counted
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.fields.editors import ChoiceEditor
from workbench.ui.widgets.form import ParamsForm

if TYPE_CHECKING:
    from workbench.running.preflight import Preflight


FIND_RATE = "Find a rate…"
OF_DATA = ("dataset", "split", "seed")
ASIDES_OF = {  # by field beside which Preflight's words stand: the parts of a draft, or the fields, that change them
    "dataset.name": ("dataset",),
    "split.name": OF_DATA,
    "backbone.name": ("dataset", "backbone", "embedding"),
    "training.epochs": (*OF_DATA, "sampler", "training.batch_size"),
}
RATE_TIP = "Trains for a few batches at a rising learning rate, and suggests one from the loss curve"


class EssentialParts(QObject):
    """Put around the fields of a form. What Preflight found is shown until it is no longer known to be true."""

    def __init__(self, form: ParamsForm) -> None:
        super().__init__(form)
        self._form = form
        self._values: dict[str, Any] = {}  # of the draft that is shown
        self._checked: dict[str, Any] = {}  # of the draft that Preflight looked at
        self._asides: dict[str, str] = {}
        self.strip, self.split, self.families, self.needs = DataStrip(), SplitBar(), Families(), NeedsLine()
        self.find_rate = button(FIND_RATE, "chart-line", kind="quiet")
        self.find_rate.setToolTip(RATE_TIP)
        form.put_above("loss.name", self.families)
        form.put_below("dataset.name", self.strip)
        form.put_below("split.name", self.split)
        form.put_below("loss.name", self.needs)
        form.put_below("training.lr", self.find_rate)
        self.families.asked.connect(self._open_family)

    def show_draft(self, draft: Draft, errors: Mapping[str, str]) -> None:
        """Show the families of losses, and what the chosen one needs."""
        loss = draft.fields("Loss")["loss.name"]
        groups = dict(zip(loss["enum"], loss["groups"], strict=True))
        self.families.show_families(loss["groups"], groups.get(draft.value("loss.name"), ""))
        self.needs.show_needs(needs_of(draft, errors))
        self._values = draft.values
        known = {path for path, of in ASIDES_OF.items() if _parts(self._checked, of) == _parts(self._values, of)}
        if not known.issuperset(self._asides):
            self._asides = {path: words for path, words in self._asides.items() if path in known}
            self._form.show_asides(self._asides)
            self.split.setVisible("split.name" in self._asides)

    def show_found(self, result: "Preflight | None") -> None:
        """Show what Preflight found of the fields; None while nothing is known."""
        self._checked, self._asides = self._values, asides_of(result) if result is not None else {}
        self._form.show_asides(self._asides)
        self.strip.show_images(result.sample_pictures if result is not None else [])
        if result is None:
            self.split.hide()
        else:
            self.split.show_halves((result.train, result.train_classes), (result.test, result.test_classes))

    def _open_family(self, family: str) -> None:
        editor = self._form.row("loss.name").widget
        assert isinstance(editor, ChoiceEditor)
        editor.open_group(family)


def _parts(values: Mapping[str, Any], of: Iterable[str]) -> list[Any]:
    """The values of parts of a draft, and of fields of parts such as "training.batch_size"."""
    named = (path.partition(".") for path in of)
    return [values.get(part, {}).get(field) if field else values.get(part) for part, _, field in named]


def asides_of(result: "Preflight") -> dict[str, str]:
    """What Preflight found, in a few words by path of the field that leads to it."""
    square = f"{result.image_size}{THIN}×{THIN}{result.image_size}{THIN}px"
    side = f"short side at most {result.kept_side}{THIN}px" if result.kept_side else square
    return {
        "dataset.name": f"{counted(result.images, 'image')} · {counted(result.classes, 'class', 'classes')} · {side}",
        "split.name": "no class in both sets" if result.classes_disjoint else "same classes in both sets",
        "backbone.name": counted(result.parameters, "weight"),
        "training.epochs": counted(result.steps_per_epoch, "step"),
    }
