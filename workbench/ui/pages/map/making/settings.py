"""Method, distance and parameters of the map."""

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QFormLayout,
    QMenu,
    QSpinBox,
    QWidget,
    QWidgetAction,
)

from workbench.projection.params import IN_SPACE
from workbench.projection.subset import MOST_POINTS
from workbench.ui.pages.map.making.axis_editor import AxisEditor, Named
from workbench.ui.pages.map.model.method import AT_ONCE, METHODS, METRICS, MapMethod
from workbench.ui.widgets.boxes import in_row
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.fields.number_box import number_box
from workbench.ui.widgets.labels import label
from workbench.ui.widgets.page_menu import PageMenu


class MapSettings(QObject):
    """PCA, UMAP or t-SNE with their parameters and seed, the plane of 2-D embeddings, or custom axes; by cosine or L2.

    The page puts `parts` into the row of tools.
    """

    changed = Signal(object)  # MapMethod

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.method = chooser(
            METHODS,
            "Method of the map",
            "PCA is shown at once; UMAP or t-SNE replaces it when ready. Plane: for embeddings of two dimensions. "
            "3-D: turn the map by a drag or the arrow keys. "
            "Custom axes: where each embedding lies between two classes or two images, or along a principal component",
        )
        self.distance = chooser(METRICS, "Distance between embeddings", "By angle, or by length of the difference")
        self.more = button("", "sliders-horizontal")
        if isinstance(parent, QWidget):
            self.more.setParent(parent)  # without one it would be shown as a window
        self.more.setToolTip("Parameters of the method")
        self.more.setStyleSheet(
            "QPushButton::menu-indicator { width: 0; image: none; } QPushButton { padding: 4px 8px; }"
        )
        self.more.setAccessibleName("Parameters of the map")
        self.neighbours = number_box(QSpinBox(minimum=2, maximum=200, value=15))
        self.neighbours.setToolTip("Few neighbours show local detail, many the overall structure (UMAP’s n_neighbors)")
        self.min_dist = number_box(QDoubleSpinBox(minimum=0.0, maximum=0.99, singleStep=0.05, value=0.1))
        self.min_dist.setToolTip("How closely points may be packed, in units of the map (UMAP’s min_dist)")
        self.supervised = QCheckBox("Supervised by class")
        self.supervised.setToolTip("Labels pull the classes apart: such a map does not show how good the embedding is")
        self.weight = number_box(QDoubleSpinBox(minimum=0.05, maximum=0.99, singleStep=0.05, value=0.5))
        self.weight.setToolTip("0.05: almost only the embeddings; 0.99: almost only the labels (UMAP’s target_weight)")
        self.weight.setEnabled(False)
        self.perplexity = number_box(QDoubleSpinBox(minimum=2.0, maximum=200.0, decimals=1, value=30.0))
        self.perplexity.setToolTip("Effective number of neighbours of each point")
        self.max_points = number_box(QSpinBox(minimum=10, maximum=MOST_POINTS, value=MOST_POINTS, singleStep=1_000))
        self.max_points.setGroupSeparatorShown(True)
        self.max_points.setToolTip(
            "With more images than this, a sample stratified by class is mapped; every class keeps at least one image"
        )
        self.seed = number_box(QSpinBox(minimum=0, maximum=2**31 - 1, value=0))
        self.seed.setToolTip("Another seed gives another map of the same data")
        self.x, self.y = AxisEditor("Across"), AxisEditor("Up")
        self.more.setMenu(self._parameters())
        self.parts = (labelled("Method", self.method), labelled("Distance", self.distance), self.more)
        self.method.activated.connect(self._changed)
        self.distance.activated.connect(self._changed)
        self.supervised.toggled.connect(self.weight.setEnabled)
        self.supervised.toggled.connect(self._changed)
        for axis in (self.x, self.y):
            axis.changed.connect(self._changed)
        for box in (self.neighbours, self.min_dist, self.weight, self.perplexity, self.max_points, self.seed):
            box.setKeyboardTracking(False)
            box.valueChanged.connect(self._changed)
        self.set_width(0)
        self._show_rows()

    def _parameters(self) -> QMenu:
        self._form = QWidget()
        self._rows = QFormLayout(self._form)
        self._rows.setContentsMargins(12, 8, 12, 8)
        self._rows.addRow(label("Across"), self.x)
        self._rows.addRow(label("Up"), self.y)
        self._rows.addRow(self.supervised)
        for name, box in (
            ("Weight of labels", self.weight),
            ("Neighbours", self.neighbours),
            ("Minimum distance", self.min_dist),
            ("Perplexity", self.perplexity),
            ("Max points", self.max_points),
            ("Seed", self.seed),
        ):
            box.setAccessibleName(f"Map: {name.lower()}")
            box.setFixedWidth(96)
            self._rows.addRow(label(name), box)
        menu = PageMenu(self.more)
        self._holder = QWidgetAction(menu)
        self._holder.setDefaultWidget(self._form)
        menu.addAction(self._holder)
        menu.aboutToShow.connect(self._fit_menu)
        return menu

    def _fit_menu(self) -> None:
        """Resize the menu: Qt keeps the size of the rows that it showed first, until the action changes."""
        self._rows.activate()
        self._form.setMinimumSize(self._rows.sizeHint())
        self._holder.setVisible(False)
        self._holder.setVisible(True)

    def show_method(self, method: MapMethod) -> None:
        """Show the method, distance and parameters of the map; `changed` is not emitted."""
        self.blockSignals(True)
        self.method.setCurrentIndex(self.method.findData(method.method))
        self.distance.setCurrentIndex(self.distance.findData(method.metric))
        self.neighbours.setValue(method.n_neighbors)
        self.min_dist.setValue(method.min_dist)
        self.supervised.setChecked(method.target_weight is not None)
        if method.target_weight is not None:
            self.weight.setValue(method.target_weight)
        self.perplexity.setValue(method.perplexity)
        self.max_points.setValue(method.max_points)
        self.seed.setValue(method.seed)
        self.x.show_direction(method.x)
        self.y.show_direction(method.y)
        self._show_rows()
        self.blockSignals(False)

    @property
    def chosen(self) -> MapMethod:
        """The method and its parameters as the user has set them."""
        return MapMethod(
            method=self.method.currentData(),
            metric=self.distance.currentData(),
            n_neighbors=self.neighbours.value(),
            min_dist=round(self.min_dist.value(), 4),
            target_weight=round(self.weight.value(), 4) if self.supervised.isChecked() else None,
            perplexity=round(self.perplexity.value(), 4),
            max_points=self.max_points.value(),
            seed=self.seed.value(),
            x=self.x.direction,
            y=self.y.direction,
        )

    def set_width(self, width: int) -> None:
        """Offer the plane for embeddings of two dimensions; `width` is 0 while it is unknown."""
        model = self.method.model()
        assert isinstance(model, QStandardItemModel)
        item = model.item(self.method.findData("plane"))
        item.setEnabled(width in (0, 2))
        item.setToolTip("" if width in (0, 2) else f"These embeddings have {width:,} dimensions")

    def set_classes(self, classes: Named, proxies: bool) -> None:
        """Offer the classes of the map, as label and name, for custom axes; `proxies`: the map has them."""
        for axis in (self.x, self.y):
            axis.offer(classes, proxies)

    def set_images(self, images: Named) -> None:
        """Offer these images, as id and words, for custom axes."""
        for axis in (self.x, self.y):
            axis.offer_images(images)

    def _changed(self) -> None:
        self._show_rows()
        self.changed.emit(self.chosen)

    def _show_rows(self) -> None:
        method = self.method.currentData()
        self.more.setVisible(method not in AT_ONCE or method == "axes")
        for axis in (self.x, self.y):
            self._rows.setRowVisible(axis, method == "axes")
        for limit in (self.max_points, self.seed):
            self._rows.setRowVisible(limit, method not in AT_ONCE)
        for box in (self.supervised, self.weight, self.neighbours, self.min_dist):
            self._rows.setRowVisible(box, method.removesuffix(IN_SPACE) == "umap")
        self._rows.setRowVisible(self.perplexity, method == "tsne")


def chooser(words: dict[str, str], name: str, tip: str = "", box: QComboBox | None = None) -> QComboBox:
    """A combo box of named choices: an empty one, or a new one that has room for each of them."""
    box = box or QComboBox()
    for key, word in words.items():
        box.addItem(word, key)
    box.setAccessibleName(name)
    box.setToolTip(tip)
    return box


def labelled(words: str, box: QWidget) -> QWidget:
    """A control behind its label, as one widget."""
    pair = QWidget()
    in_row(label(words, "caption"), box, on=pair, spacing=8)
    return pair
