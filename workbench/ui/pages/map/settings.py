"""Method, distance and parameters of the map."""

from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QComboBox,
    QDoubleSpinBox,
    QFormLayout,
    QHBoxLayout,
    QMenu,
    QSpinBox,
    QWidget,
    QWidgetAction,
)

from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.labels import label
from workbench.workspace.rows import Projection

METHODS = {"umap": "UMAP", "pca": "PCA"}
METRICS = {"cosine": "Cosine", "l2": "L2"}


class MapSettings(QWidget):
    """PCA, or UMAP with its neighbours, least distance and seed; each by cosine or L2."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.method = chooser(METHODS, "Method of the map", "PCA is shown at once; UMAP replaces it when it is ready")
        self.distance = chooser(METRICS, "Distance between embeddings", "By angle, or by length of the difference")
        self.more = button("Parameters", "sliders-horizontal", "quiet")
        self.more.setAccessibleName("Parameters of UMAP")
        self.neighbours = QSpinBox(minimum=2, maximum=200, value=15)
        self.neighbours.setToolTip("n_neighbors: few show detail, many the whole")
        self.least = QDoubleSpinBox(minimum=0.0, maximum=0.99, singleStep=0.05, value=0.1)
        self.least.setToolTip("min_dist: how tightly points may lie")
        self.seed = QSpinBox(minimum=0, maximum=2**31 - 1, value=0)
        self.seed.setToolTip("Another seed gives another map of the same data")
        self.more.setMenu(self._parameters())
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        for widget in (label("Method", "caption"), self.method, label("Distance", "caption"), self.distance, self.more):
            row.addWidget(widget)
        self.method.activated.connect(self._changed)
        self.distance.activated.connect(self._changed)
        for box in (self.neighbours, self.least, self.seed):
            box.setKeyboardTracking(False)
            box.valueChanged.connect(self._changed)

    def _parameters(self) -> QMenu:
        form = QWidget()
        rows = QFormLayout(form)
        rows.setContentsMargins(12, 8, 12, 8)
        for name, box in (("Neighbours", self.neighbours), ("Least distance", self.least), ("Seed", self.seed)):
            box.setAccessibleName(f"UMAP: {name.lower()}")
            box.setFixedWidth(96)
            rows.addRow(label(name), box)
        menu = QMenu(self.more)
        holder = QWidgetAction(menu)
        holder.setDefaultWidget(form)
        menu.addAction(holder)
        return menu

    def set_metric(self, metric: str) -> None:
        """Choose the distance that an evaluation was made with; `changed` is not emitted."""
        self.distance.setCurrentIndex(self.distance.findData(metric))

    def wanted(self) -> dict[str, Any]:
        """method, params and seed, as the analysis process takes them."""
        params: dict[str, Any] = {"metric": self.distance.currentData()}
        if self.method.currentData() == "umap":
            params |= {"n_neighbors": self.neighbours.value(), "min_dist": round(self.least.value(), 4)}
        return {"method": self.method.currentData(), "params": params, "seed": self.seed.value()}

    def _changed(self) -> None:
        self.more.setVisible(self.method.currentData() == "umap")
        self.changed.emit()


def fits(made: Projection, wanted: dict[str, Any]) -> bool:
    """Whether a stored map is what is wanted."""
    return (
        made.method == wanted["method"]
        and made.seed == wanted["seed"]
        and all(made.params.get(name) == value for name, value in wanted["params"].items())
    )


def chooser(words: dict[str, str], name: str, tip: str = "") -> QComboBox:
    """A combo box of named choices."""
    made = QComboBox()
    for key, word in words.items():
        made.addItem(word, key)
    made.setAccessibleName(name)
    made.setToolTip(tip)
    return made
