"""Method and parameters of the map."""

from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QHBoxLayout, QSpinBox, QWidget

from workbench.ui.widgets.labels import label
from workbench.workspace.rows import Projection


class MapSettings(QWidget):
    """PCA, or UMAP with its neighbours, least distance and seed."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.method = QComboBox()
        self.method.addItem("UMAP", "umap")
        self.method.addItem("PCA", "pca")
        self.method.setToolTip("PCA is shown at once; UMAP replaces it when it is ready")
        self.method.setAccessibleName("Method of the map")
        self.neighbours = QSpinBox(minimum=2, maximum=200, value=15)
        self.neighbours.setToolTip("n_neighbors of UMAP: small shows detail, large the whole")
        self.neighbours.setAccessibleName("UMAP neighbours")
        self.distance = QDoubleSpinBox(minimum=0.0, maximum=1.0, singleStep=0.05, value=0.1)
        self.distance.setToolTip("min_dist of UMAP: how tightly points may lie")
        self.distance.setAccessibleName("UMAP least distance")
        self.seed = QSpinBox(minimum=0, maximum=2**31 - 1, value=0)
        self.seed.setAccessibleName("Seed of the map")
        self._umap_only = [
            label("Neighbours", "caption"), self.neighbours, label("Distance", "caption"), self.distance,
            label("Seed", "caption"), self.seed,
        ]  # fmt: skip
        for box, width in ((self.neighbours, 64), (self.distance, 68), (self.seed, 68)):
            box.setFixedWidth(width)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        for widget in (label("Method", "caption"), self.method, *self._umap_only):
            row.addWidget(widget)
        self.method.activated.connect(self._changed)
        for box in (self.neighbours, self.distance, self.seed):
            box.setKeyboardTracking(False)
            box.valueChanged.connect(self._changed)

    def wanted(self) -> dict[str, Any]:
        """method, params and seed, as the analysis process takes them."""
        method = self.method.currentData()
        params = {"n_neighbors": self.neighbours.value(), "min_dist": round(self.distance.value(), 4)}
        return {"method": method, "params": params if method == "umap" else {}, "seed": self.seed.value()}

    def fits(self, made: Projection) -> bool:
        """Whether a stored map is what is wanted."""
        wanted = self.wanted()
        return (
            made.method == wanted["method"]
            and made.seed == wanted["seed"]
            and all(made.params.get(name) == value for name, value in wanted["params"].items())
        )

    def _changed(self) -> None:
        for widget in self._umap_only:
            widget.setVisible(self.method.currentData() == "umap")
        self.changed.emit()
