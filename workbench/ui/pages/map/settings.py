"""Method, distance and parameters of the map."""

from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QFormLayout,
    QHBoxLayout,
    QMenu,
    QSpinBox,
    QWidget,
    QWidgetAction,
)

from workbench.projection.subset import AT_MOST, LIMITED, MOST_POINTS, mark
from workbench.ui.pages.map.map_data import AT_ONCE, METHODS
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.labels import label
from workbench.workspace.rows import Projection

METRICS = {"cosine": "Cosine", "l2": "L2"}
ABSENT = {"target_weight": 0.0}  # what a map has that was stored before there was such a parameter


class MapSettings(QWidget):
    """PCA, UMAP or t-SNE with their parameters and seed, or the plane of 2-D embeddings; each by cosine or L2."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.method = chooser(
            METHODS,
            "Method of the map",
            "PCA is shown at once; UMAP or t-SNE replaces it when it is ready. Plane: embeddings of two dimensions",
        )
        self.distance = chooser(METRICS, "Distance between embeddings", "By angle, or by length of the difference")
        self.more = button("Parameters", "sliders-horizontal", "quiet")
        self.more.setAccessibleName("Parameters of the map")
        self.neighbours = QSpinBox(minimum=2, maximum=200, value=15)
        self.neighbours.setToolTip("n_neighbors: few show detail, many the whole")
        self.least = QDoubleSpinBox(minimum=0.0, maximum=0.99, singleStep=0.05, value=0.1)
        self.least.setToolTip("min_dist: how tightly points may lie")
        self.supervised = QCheckBox("Supervised by class")
        self.supervised.setToolTip("The labels pull classes apart: such a map does not show how good the embedding is")
        self.weight = QDoubleSpinBox(minimum=0.05, maximum=0.99, singleStep=0.05, value=0.5)
        self.weight.setToolTip("target_weight: how much the classes pull")
        self.weight.setEnabled(False)
        self.perplexity = QDoubleSpinBox(minimum=2.0, maximum=200.0, decimals=1, value=30.0)
        self.perplexity.setToolTip("perplexity: about how many neighbours each point keeps near")
        self.most = QSpinBox(minimum=10, maximum=MOST_POINTS, value=MOST_POINTS, singleStep=1_000)
        self.most.setGroupSeparatorShown(True)
        self.most.setToolTip("Of more images a sample is mapped, stratified by class: every class keeps at least one")
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
        self.supervised.toggled.connect(self.weight.setEnabled)
        self.supervised.toggled.connect(self._changed)
        for box in (self.neighbours, self.least, self.weight, self.perplexity, self.most, self.seed):
            box.setKeyboardTracking(False)
            box.valueChanged.connect(self._changed)
        self.set_width(0)
        self._show_rows()

    def _parameters(self) -> QMenu:
        self._form = QWidget()
        self._rows = QFormLayout(self._form)
        self._rows.setContentsMargins(12, 8, 12, 8)
        self._rows.addRow(self.supervised)
        for name, box in (
            ("Target weight", self.weight),
            ("Neighbours", self.neighbours),
            ("Least distance", self.least),
            ("Perplexity", self.perplexity),
            ("Points at most", self.most),
            ("Seed", self.seed),
        ):
            box.setAccessibleName(f"Map: {name.lower()}")
            box.setFixedWidth(96)
            self._rows.addRow(label(name), box)
        menu = QMenu(self.more)
        self._holder = QWidgetAction(menu)
        self._holder.setDefaultWidget(self._form)
        menu.addAction(self._holder)
        menu.aboutToShow.connect(self._fit_menu)
        return menu

    def _fit_menu(self) -> None:
        """The menu keeps the size of the rows that it first showed, until its action changes."""
        self._rows.activate()
        self._form.setMinimumSize(self._rows.sizeHint())
        self._holder.setVisible(False)
        self._holder.setVisible(True)

    def set_metric(self, metric: str) -> None:
        """Choose the distance that an evaluation was made with; `changed` is not emitted."""
        self.distance.setCurrentIndex(self.distance.findData(metric))

    def set_width(self, width: int) -> None:
        """The plane can be chosen for embeddings of two dimensions; `width` 0 when it is not known yet."""
        model = self.method.model()
        assert isinstance(model, QStandardItemModel)
        item = model.item(self.method.findData("plane"))
        item.setEnabled(width in (0, 2))
        item.setToolTip("" if width in (0, 2) else f"These embeddings have {width:,} dimensions")

    def wanted(self) -> dict[str, Any]:
        """method, params, seed and, for UMAP and t-SNE, the points at most, as the analysis process takes them."""
        method: str = self.method.currentData()
        params: dict[str, Any] = {"metric": self.distance.currentData()}
        if method == "umap":
            params |= {"n_neighbors": self.neighbours.value(), "min_dist": round(self.least.value(), 4)}
            if self.supervised.isChecked():
                params["target_weight"] = round(self.weight.value(), 4)
        elif method == "tsne":
            params["perplexity"] = round(self.perplexity.value(), 4)
        limit = {"most": self.most.value()} if method in LIMITED else {}
        return {"method": method, "params": params, "seed": self.seed.value(), **limit}

    def _changed(self) -> None:
        self._show_rows()
        self.changed.emit()

    def _show_rows(self) -> None:
        method = self.method.currentData()
        self.more.setVisible(method not in AT_ONCE)
        for box in (self.supervised, self.weight, self.neighbours, self.least):
            self._rows.setRowVisible(box, method == "umap")
        self._rows.setRowVisible(self.perplexity, method == "tsne")


def fits(made: Projection, wanted: dict[str, Any]) -> bool:
    """Whether a stored map is what is wanted: of the same samples, by the same method, parameters, limit and seed."""
    params = {**ABSENT, **wanted["params"]} if wanted["method"] == "umap" else wanted["params"]
    return (
        made.method == wanted["method"]
        and made.seed == wanted["seed"]
        and made.params.get(AT_MOST, MOST_POINTS) == wanted.get("most", MOST_POINTS)
        and made.params.get("only", "") == (mark(wanted["only"]) if "only" in wanted else "")
        and all(made.params.get(name, ABSENT.get(name)) == value for name, value in params.items())
    )


def chooser(words: dict[str, str], name: str, tip: str = "") -> QComboBox:
    """A combo box of named choices."""
    made = QComboBox()
    for key, word in words.items():
        made.addItem(word, key)
    made.setAccessibleName(name)
    made.setToolTip(tip)
    return made
