"""Of each loss its tightness part, its contrastive part and their sum, in a plot of its own (Anatomy)."""

import numpy as np
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QToolButton

from workbench.colours import OKABE_ITO
from workbench.ui.plots.curve import Curve
from workbench.ui.plots.curve_plot import CurvePlot, Series
from workbench.ui.preferences import Preferences
from workbench.ui.style.icons import icon
from workbench.ui.style.theme import SERIES

BLUE, VERMILION, GREEN, _, _, ORANGE = OKABE_ITO[:6]
GREY = "#7A7A7A"
LOSSES = {  # name: short title, title, colour
    "ce": ("CE", "CE", BLUE),
    "spce": ("SPCE", "SPCE", VERMILION),
    "pce": ("PCE", "PCE", GREEN),
    "snca": ("SNCA", "SNCA", ORANGE),
    "contrastive": ("Contrastive", "Contrastive loss", GREY),
    "ms": ("MS", "Multi-similarity", GREY),
    "center": ("Center", "Center loss", GREY),
}
PARTS = {"tightness": ("tightness part T", "T"), "contrastive": ("contrastive part C", "C")}
AT_FIRST = 4  # losses that are shown until the user chooses
KEY = "train/anatomy_losses"
LEAST = 164  # px of the width of a plot


class LossParts(QObject):
    """The plots and the button that chooses among the losses; a plot is made when it is first shown.

    Attributes:
        plots: by the names of LOSSES, those that were made.
        curves: by the names of scalars, "anatomy/ce/tightness", also those of losses that are not shown.
    """

    changed = Signal()  # other losses are shown
    made = Signal(object)  # CurvePlot

    def __init__(self, preferences: Preferences, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._preferences = preferences
        self._stars: set[str] = set()  # losses whose class vectors are compared otherwise than they are
        self._seen = ""
        self._grown: set[str] = set()  # losses with points that are not drawn yet
        self.plots: dict[str, CurvePlot] = {}
        self.curves = {name_of(loss, part): Curve() for loss in LOSSES for part in PARTS}
        self._chosen = [name for name in preferences.text(KEY).split() if name in LOSSES]
        self._shown = self._wanted()
        self.button = QToolButton()
        self.button.setText("Losses")
        self.button.setIcon(icon("caret-down", "muted"))
        self.button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.button.setToolTip("Losses whose parts are shown")
        self.button.setAccessibleName("Losses whose parts are shown")
        self.button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self.button)
        self.actions = {name: self._action(menu, name) for name in LOSSES}
        self.button.setMenu(menu)

    def _action(self, menu: QMenu, loss: str) -> QAction:
        action = menu.addAction(LOSSES[loss][1])
        action.setCheckable(True)
        action.setChecked(loss in self._shown)
        action.triggered.connect(self._choose)
        return action

    def make_next(self) -> bool:
        """Make one plot of those of `shown` that are not made yet; False if there is none."""
        missing = [loss for loss in self._shown if loss not in self.plots]
        for loss in missing[:1]:
            self._plot(loss).redraw()  # else it would say for 100 ms that it has no values
        return bool(missing)

    def shown(self) -> list[CurvePlot]:
        """The plots of the losses that are shown, in the order of LOSSES; those that are not made yet are made."""
        return [self._plot(loss) for loss in self._shown]

    def clear(self) -> None:
        """Remove all points."""
        for curve in self.curves.values():
            curve.clear()
        for plot in self.plots.values():
            plot.clear()

    def add(self, name: str, steps: np.ndarray, values: np.ndarray) -> None:
        """Points of one part of one loss, both [n]; `fit` draws them."""
        self.curves[name].append(steps, values)
        self._grown.add(name.split("/")[1])

    def say_seen(self, losses: set[str], seen: str) -> None:
        """Mark these losses with an asterisk: their class vectors are compared as `seen` says; "" if as they are."""
        self._stars, self._seen = losses if seen else set(), seen
        for loss in self.plots:
            self._name(loss)

    def _wanted(self) -> list[str]:
        """What the user chose, or the first losses that have a value."""
        known = [loss for loss in LOSSES if np.isfinite(self.curves[name_of(loss, "tightness")].values).any()]
        return [loss for loss in LOSSES if loss in self._chosen] or (known or list(LOSSES))[:AT_FIRST]

    def fit(self) -> None:
        """Draw the points that were added, and show the losses that the curves of now ask for."""
        for loss in self._grown & self.plots.keys():
            self._draw(loss)
        self._grown.clear()
        wanted = self._wanted()
        if wanted != self._shown:
            self._shown = wanted
            for loss, action in self.actions.items():
                action.setChecked(loss in wanted)
            self.changed.emit()

    def _choose(self) -> None:
        self._chosen = [loss for loss, action in self.actions.items() if action.isChecked()]
        self._preferences.set_text(KEY, " ".join(self._chosen))
        self.fit()  # with none chosen, the first ones are shown again

    def _plot(self, loss: str) -> CurvePlot:
        if loss not in self.plots:
            may_be_undefined = loss == "pce"
            series = [
                Series(
                    name_of(loss, part), title, SERIES[part], dots=True, may_be_undefined=may_be_undefined, short=short
                )
                for part, (title, short) in PARTS.items()
            ]
            total = Series(
                name_of(loss, "sum"), "their sum T + C", LOSSES[loss][2], dashed=True, exact=True,
                may_be_undefined=may_be_undefined, short="T + C",
            )  # fmt: skip
            plot = self.plots[loss] = CurvePlot(f"{LOSSES[loss][0]}, nats", [*series, total], log_if_steep=True)
            plot.setMinimumWidth(LEAST)
            self._name(loss)
            self._draw(loss)
            self.made.emit(plot)
        return self.plots[loss]

    def _name(self, loss: str) -> None:
        """The plot's title in short, with an asterisk; the titles of its curves say what that means."""
        star, after = ("*", f" ({self._seen})") if loss in self._stars else ("", "")
        self.plots[loss].rename(f"{LOSSES[loss][0]}{star}, nats")
        for part, (title, short) in PARTS.items():
            self.plots[loss].retitle(name_of(loss, part), f"{title}{after}", short)

    def _draw(self, loss: str) -> None:
        tight, apart = (self.curves[name_of(loss, part)] for part in PARTS)
        plot = self.plots[loss]
        for part, curve in zip(PARTS, (tight, apart), strict=True):
            plot.replace(name_of(loss, part), curve.steps, curve.values)
        steps, rows, others = np.intersect1d(tight.steps, apart.steps, return_indices=True)
        plot.replace(name_of(loss, "sum"), steps, tight.values[rows] + apart.values[others])


def name_of(loss: str, part: str) -> str:
    """The scalar's name."""
    return f"anatomy/{loss}/{part}"
