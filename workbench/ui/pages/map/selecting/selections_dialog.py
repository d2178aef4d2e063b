"""The window of named selections: save, choose, rename, note, delete, export. It stays open beside the map."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from PySide6.QtCore import QModelIndex, QStringListModel, Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QFormLayout,
    QLineEdit,
    QListView,
    QVBoxLayout,
    QWidget,
)

from workbench.exchange.exported.selected_images import Written, safe, write_dropped, write_links, write_table
from workbench.progress import Progress
from workbench.ui.pages.map.selecting.selection_store import SelectionStore
from workbench.ui.state.session import Session
from workbench.ui.style.words import counted
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.dialogs.first_size import open_at
from workbench.ui.widgets.dialogs.save_file import CSV, ask_file
from workbench.ui.widgets.labels import label, plain_tip
from workbench.workspace.choices.selections import LONGEST, LONGEST_NOTE, Selection

SIZE = (640, 400)  # px at 100% text
LEFT_OUT = "A run that takes this file under Label decisions, in training, evaluation or both, leaves these images out."
NONE_YET = "No selection of this data set has a name yet. Select points on the map, then save them here."


class SelectionsDialog(QDialog):
    """Those of the shown data set; the list is the store's."""

    def __init__(self, session: Session, store: SelectionStore, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Named selections")
        self.session, self.store = session, store
        self._wanted = ""  # name of the selection that is to be shown once it is listed
        self._shown_id: int | None = None
        self._build()
        self._connect()
        self._fill()

    def _build(self) -> None:
        self.save = button("Save the selection", "floppy-disk", "primary")
        self.names = QStringListModel(self)
        self.list = QListView()
        self.list.setModel(self.names)
        self.list.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.list.setAccessibleName("Named selections of this data set")
        self.hint = label(NONE_YET, "muted", wrap=True)
        self.hint.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.name, self.note = QLineEdit(maxLength=LONGEST), QLineEdit(maxLength=LONGEST_NOTE)
        self.name.setAccessibleName("Name of the selection")
        self.note.setAccessibleName("Note on the selection")
        self.note.setPlaceholderText("Why these images?")
        self.facts = label("", "caption", wrap=True)
        self.choose = button("Select these", "cursor")
        self.add = button("Add to the selection", "plus")
        self.table = button("Export as CSV…", "export")
        self.left_out = button("Export as images to drop…", "export")
        self.left_out.setToolTip(plain_tip(LEFT_OUT))
        self.folder = button("Export as a folder of links…", "folder-open")
        self.delete = button("Delete", "trash", "danger")
        form = QFormLayout()
        form.addRow(label("Name"), self.name)
        form.addRow(label("Note"), self.note)
        self.details = QWidget()
        right = in_column(form, self.facts, on=self.details, spacing=8)
        for action in (self.choose, self.add, self.table, self.left_out, self.folder, self.delete):
            right.addWidget(action, 0, Qt.AlignmentFlag.AlignLeft)
        right.addStretch(1)
        left = QVBoxLayout()
        left.setSpacing(8)
        for widget in (self.save, self.list, self.hint):
            left.addWidget(widget)
        in_row((left, 2), (self.details, 3), on=self, margins=16, spacing=16)
        open_at(self, *(self.session.theme.px(side) for side in SIZE))

    def _connect(self) -> None:
        self.store.changed.connect(self._fill)
        self.session.selection_changed.connect(self._show_count)
        self.session.leaving.connect(self._keep_typed)
        self.list.selectionModel().currentChanged.connect(self._show_details)
        self.list.doubleClicked.connect(self._select)
        self.save.clicked.connect(self.save_selection)
        self.name.editingFinished.connect(self._rename)
        self.note.editingFinished.connect(self._write_note)
        self.choose.clicked.connect(self._select)
        self.add.clicked.connect(self._add)
        self.table.clicked.connect(self._ask_table)
        self.left_out.clicked.connect(self._ask_left_out)
        self.folder.clicked.connect(self._ask_folder)
        self.delete.clicked.connect(self._delete)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.store.show_dataset(self.store.dataset_id)

    @property
    def current(self) -> Selection | None:
        """The selection whose details are shown."""
        row = self.list.currentIndex().row()
        return self.store.selections[row] if 0 <= row < len(self.store.selections) else None

    def show_named(self, name: str) -> None:
        """Show the details of a selection, as soon as it is listed."""
        self._wanted = name
        self._fill()

    def save_selection(self) -> None:
        """Save the selected samples under a free name, ready to be renamed."""
        dataset_id = self.store.dataset_id
        if dataset_id is None or not len(self.session.selection):
            self.session.notify("Select some points of the map first, then save them.")
            return
        name = self.store.free_name()
        selection = Selection(dataset_id, name, tuple(self.session.selection.tolist()))
        if self.store.replace(None, selection, f"saving “{name}”"):
            self._wanted = name
            self.name.setFocus()

    def _fill(self) -> None:
        selections = self.store.selections
        names = [selection.name for selection in selections]
        shown = [row for row, selection in enumerate(selections) if selection.id == self._shown_id]
        if self._wanted in names:
            shown, self._wanted = [names.index(self._wanted)], ""
        self.names.setStringList([f"{selection.name}  ({len(selection.samples):,})" for selection in selections])
        if names:
            self.list.setCurrentIndex(self.names.index(shown[0] if shown else 0))
        self.list.setVisible(bool(names))
        self.hint.setVisible(not names)
        self._show_details()
        self._show_count()

    def _show_details(self, _now: QModelIndex | None = None, _before: QModelIndex | None = None) -> None:
        shown = self.current
        self.details.setEnabled(shown is not None)
        same = shown is not None and shown.id is not None and shown.id == self._shown_id
        self._shown_id = None if shown is None else shown.id
        for line, text in ((self.name, "" if shown is None else shown.name), (self.note, shown.note if shown else "")):
            if not (same and line.isModified()):  # what is being typed stays, although the list was read again
                line.setText(text)
        self.facts.setText(
            "" if shown is None else f"{counted(len(shown.samples), 'image')}, saved {shown.created[:10]}"
        )

    def _show_count(self) -> None:
        count = len(self.session.selection)
        self.save.setText(f"Save the selection ({count:,})" if count else "Save the selection")
        self.save.setEnabled(count > 0 and self.store.dataset_id is not None)
        self.save.setToolTip("" if count else "Select some points of the map first")

    def _rename(self) -> None:
        shown, name = self.current, " ".join(self.name.text().split())
        if shown is None or name == shown.name:
            return
        self._wanted = name
        self.name.setModified(False)
        if not self.store.replace(shown, replace(shown, name=name), f"renaming “{shown.name}”"):
            self._wanted = ""
            self.name.setText(shown.name)

    def _write_note(self) -> None:
        shown = self.current
        self.note.setModified(False)
        if shown is not None and self.note.text() != shown.note:
            self.store.replace(shown, replace(shown, note=self.note.text()), f"the note on “{shown.name}”")

    def _keep_typed(self) -> None:
        """Store a name and a note that are still being typed: the workspace is about to be left."""
        shown, name = self.current, " ".join(self.name.text().split())
        if shown is None or not (self.name.isModified() or self.note.isModified()):
            return
        noted = replace(shown, note=self.note.text())
        words = f"the note on “{shown.name}”"
        if not self.store.replace(shown, replace(noted, name=name or shown.name), words):
            self.store.replace(shown, noted, words)
        self.store.write_all()

    def _delete(self) -> None:
        shown = self.current
        if shown is not None:
            self.store.replace(shown, None, f"deleting “{shown.name}”")
            self.session.notify(f"The selection “{shown.name}” was deleted. Undo in the Edit menu brings it back.")

    def _select(self) -> None:
        if self.current is not None:
            self.session.select(np.array(self.current.samples, np.int64))

    def _add(self) -> None:
        if self.current is not None:
            self.session.select(np.union1d(self.session.selection, np.array(self.current.samples, np.int64)))

    def _ask_table(self) -> None:
        if self.current is not None:
            start = f"{safe(self.current.name)}.csv"
            path = ask_file(self, self.session.preferences, "Export the selection", start, CSV)
            if path is not None:
                self.export_table(path)

    def _ask_left_out(self) -> None:
        if self.current is not None:
            start = f"{safe(self.current.name)}-dropped.csv"
            path = ask_file(self, self.session.preferences, "Export label decisions", start, CSV)
            if path is not None:
                self.export_left_out(path)

    def _ask_folder(self) -> None:
        if self.current is not None:
            name = safe(self.current.name)
            parent = QFileDialog.getExistingDirectory(self, "Where to create the folder of links")
            if parent:
                self.export_folder(Path(parent) / name)

    def export_table(self, path: Path) -> None:
        """Write the shown selection as CSV, with the scores of the shown evaluation."""
        shown, workspace, evaluation = self.current, self.session.workspace, self.session.evaluation_id
        if shown is None:
            return
        ids = np.array(shown.samples, np.int64)

        def work(progress: Progress) -> None:
            write_table(path, workspace, shown.dataset_id, ids, evaluation, progress)

        self.session.run_in_thread("Export the selection", work, partial(self._table_written, path), lasting=True)

    def export_left_out(self, path: Path) -> None:
        """Write the shown selection as label decisions that drop its images."""
        shown, workspace = self.current, self.session.workspace
        if shown is None:
            return
        ids = np.array(shown.samples, np.int64)

        def work(progress: Progress) -> None:
            write_dropped(path, workspace, shown.dataset_id, ids, progress)

        self.session.run_in_thread("Export the selection", work, partial(self._left_out_written, path), lasting=True)

    def export_folder(self, folder: Path) -> None:
        """Make a folder of links to the images of the shown selection."""
        shown, workspace, evaluation = self.current, self.session.workspace, self.session.evaluation_id
        if shown is None:
            return
        ids = np.array(shown.samples, np.int64)

        def work(progress: Progress) -> Written:
            return write_links(folder, workspace, shown.dataset_id, ids, evaluation, progress)

        self.session.run_in_thread("Export the selection", work, partial(self._folder_written, folder), lasting=True)

    def _table_written(self, path: Path, _: None) -> None:
        self.session.notify(f"The selection was written to {path}.")

    def _left_out_written(self, path: Path, _: None) -> None:
        self.session.notify(f"The selection was written to {path}. {LEFT_OUT}")

    def _folder_written(self, folder: Path, files: Written) -> None:
        parts = [
            counted(files.links, "link") if files.links else "",
            f"{counted(files.copies, 'copy', 'copies')}, because links are not possible there" if files.copies else "",
            f"{counted(files.pictures, 'PNG')}, because these images are not files" if files.pictures else "",
            f"{counted(files.missing, 'image is', 'images are')} missing and left out" if files.missing else "",
        ]
        self.session.notify(f"{folder}: {'; '.join(part for part in parts if part) or 'no images'}.")
