"""The Export menu of the map: the destination, and the writer of each format."""

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from workbench.exchange.exported.embeddings import write_projector
from workbench.exchange.source import Source
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.ui.pages.map import map_files
from workbench.ui.pages.map.drawing.canvas import MapCanvas
from workbench.ui.pages.map.model.map_data import MapData
from workbench.ui.pages.map.model.map_model import MapModel
from workbench.ui.pages.map.second_map import SecondMap
from workbench.ui.state.session import Session
from workbench.ui.style import theme
from workbench.ui.widgets.dialogs.save_file import ask_file


class MapExport(QObject):
    """Writes the shown map, with the second map if there is one, or the embeddings for the Projector."""

    def __init__(
        self,
        session: Session,
        model: MapModel,
        drawn: tuple[MapCanvas, SecondMap],
        page: QWidget,
    ) -> None:
        super().__init__(page)
        self._session, self._model, self._page = session, model, page
        self._canvas, self._second = drawn

    def fill(self, menu: QMenu) -> None:
        """Add a command for each format to the menu."""
        for ending, words in map_files.FORMATS.items():
            menu.addAction(f"{words}…").triggered.connect(partial(self._ask, ending))
        menu.addSeparator()
        projector = menu.addAction("Embeddings for the Projector (TSV)…")
        projector.setToolTip("vectors.tsv and metadata.tsv of the shown evaluation, for the Embedding Projector")
        projector.triggered.connect(self._ask_projector)

    def write(self, path: Path) -> None:
        """Write the map as .png, .svg, .pdf or .csv; an error is shown in the message bar."""
        data = self._model.map
        if data is None:
            self._session.notify("There is no map to export yet.")
            return
        try:
            ending = map_files.check_ending(path)
        except Problem as problem:
            self._session.notify(problem)
            return
        beside = None if self._second.isHidden() else self._second.data
        maps = [("", data)] if beside is None else [(shown.title, shown) for shown in (data, beside)]
        content = b""
        if ending != "csv":
            sheets = self._sheets(maps)
            content = {"png": map_files.png, "svg": map_files.svg, "pdf": map_files.pdf}[ending](*sheets)
            for sheet in sheets:
                sheet.canvas.deleteLater()

        self._session.save_file("the map", path, lambda: content or map_files.table(*maps))

    def _sheets(self, maps: list[tuple[str, MapData]]) -> list[map_files.Sheet]:
        """The maps as they are printed, all as high as the first; on screen the second is lower, below its choosers."""
        first = maps[0][1]
        groups = self._second.colours.groups(first, theme.LIGHT)
        papers = [map_files.on_paper(self._canvas, groups)]
        if len(maps) > 1:
            groups = self._second.groups(theme.LIGHT)
            papers.append(map_files.on_paper(self._second.canvas, groups, self._canvas.height()))
        # Between two epochs the drawn caption differs from the map's own.
        drawn = [paper.data.caption for paper in papers if paper.data is not None]
        captions = [f"{name}   ·   {said}" if name else said for (name, _), said in zip(maps, drawn, strict=True)]
        return [map_files.Sheet(paper, caption) for paper, caption in zip(papers, captions, strict=True)]

    def write_projector(self, folder: Path) -> None:
        """Write vectors.tsv and metadata.tsv of the shown evaluation into a folder."""
        evaluation_id, workspace = self._session.evaluation_id, self._session.workspace
        if evaluation_id is None:
            self._session.notify("There is no evaluation to export yet.")
            return

        def work(progress: Progress) -> None:
            evaluation = workspace.evaluation(evaluation_id)
            write_projector(Source(workspace, workspace.run(evaluation.run_id), evaluation), folder, progress)

        written = partial(self._projected, folder)
        self._session.run_in_thread("Export embeddings for the Projector", work, written, lasting=True)

    def _ask(self, ending: str) -> None:
        kinds = {f".{ending}": map_files.FORMATS[ending]}
        path = ask_file(self._page, self._session.preferences, "Export the map", f"map.{ending}", kinds)
        if path is not None:
            self.write(path)

    def _ask_projector(self) -> None:
        folder = QFileDialog.getExistingDirectory(self._page, "A folder for vectors.tsv and metadata.tsv")
        if folder:
            self.write_projector(Path(folder))

    def _projected(self, folder: Path, _: None) -> None:
        self._session.notify(f"vectors.tsv and metadata.tsv were written to {folder}.")
