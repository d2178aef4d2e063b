"""The chosen new image beside its nearest labelled one, and where its class is given."""

from PySide6.QtCore import QEvent, QStringListModel, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPixmap
from PySide6.QtWidgets import QComboBox, QCompleter, QLabel, QWidget

from workbench.names import visible
from workbench.numerals import minus
from workbench.ui.pages.retrieval.new_images.file_pictures import FilePictures
from workbench.ui.pages.retrieval.new_images.model import Row
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.flow import in_lines
from workbench.ui.widgets.images.pictures import PictureLoader
from workbench.ui.widgets.labels import ElidedLabel, label

SIDE = 150  # px of a picture, whatever the text size: two have room in the column
ASKER = "new-images"  # the column's name in requests to the loader
CHOOSE = "Choose an image to see it beside the labelled image that is nearest to it."


class Beside(QWidget):
    """What is known of the chosen images, and a class for all of them."""

    class_given = Signal(str)  # empty: none of the classes
    group_asked = Signal()  # the whole group of the chosen image is to be chosen

    def __init__(self, pictures: FilePictures, loader: PictureLoader, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pictures, self._loader = pictures, loader
        self._row: Row | None = None
        self.new, self.near = QLabel(), QLabel()
        self.name, self.near_name = ElidedLabel("", "caption"), ElidedLabel("", "caption")
        cells = []
        places = (("New image", self.new, self.name), ("Nearest labelled image", self.near, self.near_name))
        for title, picture, words in places:
            picture.setFixedSize(SIDE, SIDE)
            picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
            picture.setWordWrap(True)
            cells.append(in_column(label(title, "caption"), picture, words, spacing=4))
        self.said = label(CHOOSE, wrap=True)
        self.classes = QComboBox(editable=True, insertPolicy=QComboBox.InsertPolicy.NoInsert)
        self.classes.setAccessibleName("Class of the chosen images")
        self.classes.setToolTip("A class of the labelled images, or the name of a new one. Enter gives it.")
        completer = QCompleter(QStringListModel(self.classes), self.classes)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        self.classes.setCompleter(completer)
        line = self.classes.lineEdit()
        assert line is not None  # the box is editable
        line.setPlaceholderText("Class")
        line.installEventFilter(self)
        self.give = button("Give this class", "check-circle", "primary")
        self.none = button("No class", "x-circle")
        self.none.setToolTip("The chosen images are of none of the classes (Delete)")
        self.group = button("Choose its group", "selection-all")
        self.group.setToolTip("Choose all images of the group of this one (G)")
        self.give.clicked.connect(self._give)
        self.none.clicked.connect(lambda: self.class_given.emit(""))
        self.group.clicked.connect(self.group_asked)
        pair = in_row(*cells, 1, spacing=12)
        in_column(
            pair, self.said, self.classes, in_lines(self.give, self.none, self.group), 1,
            on=self, margins=(12, 0, 0, 0), spacing=8,
        )  # fmt: skip
        self.show_chosen([], "")

    def eventFilter(self, watched: object, event: QEvent) -> bool:
        """Enter in the line gives the class."""
        if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress:
            return False
        if event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            return False
        self._give()
        return True

    def offer(self, names: list[str]) -> None:
        """Offer these classes."""
        text = self.classes.currentText()
        self.classes.clear()
        self.classes.addItems(names)
        self.classes.setEditText(text)
        completer = self.classes.completer()
        assert completer is not None
        completer.setModel(QStringListModel(names, completer))

    def show_chosen(self, rows: list[Row], nearest_path: str) -> None:
        """Show the first of the chosen rows, and how many there are; `nearest_path` is of its nearest image."""
        row = self._row = rows[0] if rows else None
        for part in (self.classes, self.give, self.none, self.group):
            part.setEnabled(row is not None)
        self.name.setText("" if row is None else visible(row.image.path))
        self.near_name.setText(nearest_path)
        if row is None:
            self.said.setText(CHOOSE)
        else:
            image = row.image
            self.group.setEnabled(image.group > 0 and not row.label)
            many = f"{len(rows):,} images are chosen; the first is shown. " if len(rows) > 1 else ""
            self.said.setText(
                f"{many}Nearest class {visible(image.nearest_class)}, {minus(f'{image.similarity:.4f}')}; then "
                f"{visible(image.second_class)}, {minus(f'{image.second_similarity:.4f}')}."
            )
            self.classes.setEditText(visible(row.label or image.nearest_class))
            self._pictures.request([image.path], SIDE)
            self._loader.request(ASKER, [image.nearest], SIDE)
        self.draw_pictures()

    def draw_pictures(self) -> None:
        """Show what has been loaded."""
        row = self._row
        if row is None:
            for place in (self.new, self.near):
                place.clear()
            return
        new = self._pictures.picture(row.image.path, SIDE)
        if isinstance(new, QPixmap):
            self.new.setPixmap(new)
        else:
            self.new.setText(new or "…")
        near = self._loader.pixmap(row.image.nearest, SIDE)
        if near is not None:
            self.near.setPixmap(near)
        else:
            self.near.setText(self._loader.absent(row.image.nearest) or "…")

    def _give(self) -> None:
        if self._row is not None and (name := self.classes.currentText().strip()):
            self.class_given.emit(name)
