"""The import dialog: embeddings of a model trained elsewhere, their labels and, perhaps, images."""

import os
from pathlib import Path

from PySide6.QtWidgets import QCheckBox, QLineEdit, QWidget

from workbench.exchange.imported.tables import ENDINGS
from workbench.exchange.source import IMAGE_SIZE, LARGEST_SIZE, LEAST_SIZE
from workbench.files import typed_path
from workbench.ui.actions.exchange.importing import ImportingDialog
from workbench.ui.state.process_work import ProcessWork, process_of
from workbench.ui.state.session import Session
from workbench.ui.widgets.fields.editors import ChoiceEditor, LineEditor, PathEditor
from workbench.ui.widgets.labels import label, restyle

HELP = {
    "embeddings": ".npy [n, d]; .npz with embeddings and labels; .csv, .tsv or .parquet with a row for each sample",
    "labels": ".npy [n], or a table with the columns label and path; empty if the file above has labels",
    "images": "Folder from which the column path starts; empty without images",
    "array": "Instead of a folder: .npy of uint8 [n, height, width] or [n, height, width, 3]",
}
ABOUT = "Embeddings of a model trained elsewhere become a run, with a map and metrics unless only searched."
ONLY_SEARCH = "Any number of rows, from .npy files; no metrics, map or images"


class ImportDialog(ImportingDialog):
    """Stays open until the run is made, and shows what is wrong with the files."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, "Import embeddings", ABOUT, parent)
        self.places = {
            "embeddings": PathEditor("file", []),
            "labels": PathEditor("file", []),
            "images": PathEditor("folder", []),
            "array": PathEditor("file", []),
        }
        self.said = {key: label(words, "caption", wrap=True) for key, words in HELP.items()}
        self.name = QLineEdit(placeholderText="Name of the file of embeddings")
        self.image_size = LineEditor("integer")
        self.image_size.set_value(IMAGE_SIZE)
        self.distance = ChoiceEditor(["cosine", "l2"], ["Cosine", "L2"])
        self.only_search = QCheckBox("Search only")
        self._add_rows()
        for editor in self.places.values():
            editor.edited.connect(self._check)
        self.image_size.edited.connect(self._check)
        self.only_search.toggled.connect(self._check)
        self._open()

    def _add_rows(self) -> None:
        form = self.form
        titles = {"embeddings": "Embeddings", "labels": "Labels", "images": "Folder of images", "array": "Images array"}
        for key, title in titles.items():
            self.places[key].setAccessibleName(title)
            form.addRow(title, self.places[key])
            form.addRow("", self.said[key])
        self.image_size.setAccessibleName("Image size")
        form.addRow("Image size", self.image_size)
        form.addRow("", label("Images of a folder are shown as squares with this side, px", "caption", wrap=True))
        self.name.setAccessibleName("Name of the run")
        self.distance.setAccessibleName("Distance")
        form.addRow("Name", self.name)
        form.addRow("Distance", self.distance)
        form.addRow("", self.only_search)
        form.addRow("", label(ONLY_SEARCH, "caption", wrap=True))
        self.only_search.setAccessibleDescription(ONLY_SEARCH)

    def _place(self, key: str) -> Path | None:
        text = str(self.places[key].value()).strip()
        return typed_path(text) if text else None

    def _check(self) -> None:
        wrong = self._wrong()
        places = {key: self._wrong_place(key) for key in self.places}
        for key, sentence in places.items():
            self.said[key].setText(sentence or HELP[key])
            self.said[key].setProperty("role", "error" if sentence else "caption")
            restyle(self.said[key])
            self.places[key].setAccessibleDescription(sentence)
        right = not wrong and not any(places.values())
        self.start.setEnabled(self._place("embeddings") is not None and right and not self._busy())
        if wrong:
            self._say(wrong, "error")
        else:
            self._forget_error()

    def _wrong_place(self, key: str) -> str:
        """What is wrong with the path in that field; empty when nothing is."""
        path = self._place(key)
        if path is None:
            return ""
        if key == "images":
            return "" if os.path.isdir(path) else f"There is no folder {path}."
        endings = (".npy",) if key == "array" else ENDINGS
        if path.suffix.lower() not in endings:
            return f"{path.name} is not one of {', '.join(endings)}."
        return "" if os.path.isfile(path) else f"There is no file {path}."

    def _wrong(self) -> str:
        if self.only_search.isChecked() and (self._place("images") or self._place("array")):
            return "Search-only embeddings have no images: clear that field."
        if self._place("images") is not None and self._place("array") is not None:
            return "Images come from a folder or from an array: clear one of the two."
        size = self.image_size.value()
        if not isinstance(size, int) or not LEAST_SIZE <= size <= LARGEST_SIZE:
            return f"The image size must be a whole number, {LEAST_SIZE} to {LARGEST_SIZE:,}."
        return ""

    def _begin(self) -> ProcessWork | None:
        embeddings = self._place("embeddings")
        if embeddings is None:
            return None
        fields = {
            "embeddings": str(embeddings),
            "labels": str(self._place("labels") or ""),
            "images": str(self._place("images") or self._place("array") or ""),
            "name": self.name.text().strip(),
            "distance": str(self.distance.value()),
            "image_size": self.image_size.value(),
            "only_search": self.only_search.isChecked(),
        }
        process = process_of(self._session, "workbench.exchange.server")
        return ProcessWork(
            self._session, process, "Import embeddings", "import", fields, self._imported, self._refused, self._ended,
            ends_process=True, takes_back=True,
        )  # fmt: skip

    def _imported(self, answer: dict[str, int]) -> None:
        self._ended()
        self._session.show_run(answer["run"])
        self._session.show_page("retrieval" if self.only_search.isChecked() else "map")
        self.accept()
