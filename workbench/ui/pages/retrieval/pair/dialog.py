"""A window beside the main one: the query and a neighbour in large, with their saliency on request."""

from functools import partial
from math import isnan

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QImage, QKeySequence, QPixmap, QShortcut
from PySide6.QtWidgets import QCheckBox, QDialogButtonBox, QVBoxLayout, QWidget

from workbench.running.search.image_search import OwnImage
from workbench.running.search.saliency import Saliency
from workbench.ui.pages.retrieval.pair.heat import HeatScale, heat_image
from workbench.ui.pages.retrieval.pair.model import BEHIND, PairModel, Ranking
from workbench.ui.pages.retrieval.pair.picture import PairPicture, Zoom
from workbench.ui.plots.export import encoded
from workbench.ui.style import theme
from workbench.ui.style.words import own_keys
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import button, icon_button
from workbench.ui.widgets.dialogs.first_size import open_at
from workbench.ui.widgets.dialogs.main_button import MainButtonDialog
from workbench.ui.widgets.dialogs.save_file import ask_and_save, copy_picture
from workbench.ui.widgets.images.image_menu import offer_image_menu
from workbench.ui.widgets.images.neighbour_card import VERDICTS
from workbench.ui.widgets.images.pictures import PictureLoader, as_image, unscaled
from workbench.ui.widgets.labels import ElidedLabel, label, plain_tip
from workbench.workspace.rows import Neighbour

SIDE = 1024  # px: the longer side of a picture, so that it can be enlarged
PLACE = "pair"
KINDS = {"cosine": "cosine", "l2": "minus the distance", "hyperbolic": "minus the hyperbolic distance"}
SALIENCY = "Saliency"
TIP = (
    "Which parts make the two images similar: a window is moved over each image, and the covered image is embedded "
    "again. Orange: the similarity falls without this part; blue: it rises. The images are shown as the network "
    "sees them. (S)"
)
WHOLE = "Whole files"
WHOLE_TIP = "Show the files that the two images were cut from, with their boxes"
KEPT = 16  # whole files that are kept, to be seen again at once
WORKING = "Computing… The Activity panel has its progress and Cancel."


class Side(QWidget):
    """One of the two images with its name."""

    def __init__(self, zoom: Zoom, name: str) -> None:
        super().__init__()
        self.title = ElidedLabel("", "strong", Qt.TextElideMode.ElideMiddle)
        self.picture = PairPicture(zoom)
        self.picture.setAccessibleName(name)
        in_column(self.title, (self.picture, 1), on=self, spacing=6)


class PairDialog(MainButtonDialog):
    """Draws a PairModel; it stays open beside the main window, follows its query, and names the run of the pair.

    Args:
        loader: of the pictures.
    """

    wished = Signal(object)  # Wish, for Session.fulfil

    def __init__(self, model: PairModel, loader: PictureLoader, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model, self._loader = model, loader
        self._own: tuple[OwnImage, QPixmap] | None = None
        self._whole: dict[tuple[int, int], QPixmap | None] = {}  # by evaluation and sample id; None while it is read
        self.setObjectName("retrieval-pair")
        self.setWindowTitle("Query and neighbour")
        open_at(self, theme.text_px(960), theme.text_px(620))
        self.zoom = Zoom(self)
        self.query, self.neighbour = Side(self.zoom, "The query"), Side(self.zoom, "The neighbour")
        offer_image_menu(self.query.picture, loader, self._query_sample)
        offer_image_menu(self.neighbour.picture, loader, self._neighbour_sample)
        self.source = ElidedLabel("", "muted", Qt.TextElideMode.ElideMiddle)
        self.source.setAccessibleName("Run and epoch of the pair")
        self.facts = label("", wrap=True)
        self.saliency = QCheckBox(SALIENCY)
        self.saliency.setToolTip(TIP)
        self.whole = QCheckBox(WHOLE)
        self.whole.setToolTip(WHOLE_TIP)
        self.whole.hide()
        self.scale = HeatScale()
        self.state = label("", "caption", wrap=True)
        self.before = icon_button("caret-left", own_keys("Previous neighbour (Left)"))
        self.after = icon_button("caret-right", own_keys("Next neighbour (Right)"))
        self.place = label("", "caption")
        self.copy = button("Copy", "copy", "quiet")
        self.copy.setToolTip("Copy both images as shown, with their run")
        self.save = button("Save…", "floppy-disk", "quiet")
        self.save.setToolTip("Save both images as shown, with their run, as PNG")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        shown = self.saliency, self.whole, self.scale
        column = QVBoxLayout(self)
        self.both = QWidget()
        in_column(self.source, (in_row((self.query, 1), (self.neighbour, 1), spacing=12), 1), on=self.both, spacing=6)
        column.addWidget(self.both, 1)
        column.addLayout(in_row(self.before, self.place, self.after, (self.facts, 1), spacing=8))
        column.addLayout(in_row(*shown, (self.state, 1), self.copy, self.save, buttons, spacing=12))
        self._connect()

    def _connect(self) -> None:
        self.saliency.toggled.connect(self.model.want)
        self.whole.toggled.connect(self._show_whole)
        self.before.clicked.connect(self._step_back)
        self.after.clicked.connect(self._step_on)
        self.copy.clicked.connect(self.copy_pair)
        self.save.clicked.connect(self._ask_save)
        self._loader.ready.connect(self._pictures_came)
        for keys, slot in (("Left", self._step_back), ("Right", self._step_on), ("S", self.saliency.toggle)):
            QShortcut(QKeySequence(keys), self, slot)

    def draw(self) -> None:
        """Show the model's pair."""
        model, ranking = self.model, self.model.ranking
        if ranking is None or model.neighbour is None:
            self.close()
            return
        near = model.neighbour
        self.source.setText(ranking.source)
        self.source.setVisible(bool(ranking.source))
        self.query.title.setText(ranking.title)
        self.neighbour.title.setText(titled(near, judged=ranking.judged))
        known = "" if isnan(near.similarity) else near.similarity_words
        self.facts.setText(f"{KINDS[ranking.distance].capitalize()} {known}" if known else "")
        self.place.setText(f"{model.position + 1:,} of {len(ranking.near):,}")
        self.before.setEnabled(model.position > 0)
        self.after.setEnabled(model.position < len(ranking.near) - 1)
        self.saliency.setChecked(model.wanted)
        if model.wanted:
            self.whole.setChecked(False)  # saliency is drawn over what the network sees
        self._say(ranking)
        wanted = [near.sample_id, *([] if isinstance(ranking.query, OwnImage) else [ranking.query])]
        self._loader.request(PLACE, wanted, SIDE)
        self._draw_pictures()

    def _say(self, ranking: Ranking) -> None:
        """Show the scale of the colours, that they are being computed, or why there are none."""
        saliency, problem = self.model.saliency, self.model.problem
        self.scale.setVisible(saliency is not None)
        if saliency is not None:
            self.scale.show_scale(saliency.largest, KINDS[ranking.distance])
        self.state.setText(WORKING if self.model.working else str(problem) if problem is not None else "")
        self.state.setToolTip(plain_tip(str(problem or "")))

    def _pictures_came(self, _: set[int]) -> None:
        if self.isVisible():
            self._draw_pictures()

    def _draw_pictures(self) -> None:
        ranking, near, saliency = self.model.ranking, self.model.neighbour, self.model.saliency
        if ranking is None or near is None:
            return
        self.whole.setVisible(self._loader.in_boxes)
        if saliency is not None:
            largest = saliency.largest
            self._draw_saliency(self.query.picture, saliency.query, largest)
            self._draw_saliency(self.neighbour.picture, saliency.neighbour, largest)
            return
        if isinstance(ranking.query, OwnImage):
            self.query.picture.show_picture(self._own_picture(ranking.query), "")
        else:
            self._draw_sample(self.query.picture, ranking.query)
        self._draw_sample(self.neighbour.picture, near.sample_id)

    def _own_picture(self, image: OwnImage) -> QPixmap:
        """The picture of an own image, made once: it may be large."""
        if self._own is None or self._own[0] is not image:
            self._own = image, QPixmap.fromImage(as_image(image.read(), SIDE))
        return self._own[1]

    def _draw_sample(self, picture: PairPicture, sample_id: int) -> None:
        shown = self._whole_file(sample_id) if self.whole.isChecked() else None
        shown = shown or self._loader.pixmap(sample_id, SIDE)
        picture.show_picture(shown, self._loader.absent(sample_id) or "…")

    def _whole_file(self, sample_id: int) -> QPixmap | None:
        """The file that the image was cut from, with its box; it is read once, and until then there is none."""
        assert self.model.ranking is not None
        key = self.model.ranking.evaluation_id, sample_id
        if key not in self._whole and self._loader.in_boxes:
            self._whole[key] = None
            if len(self._whole) > KEPT:
                del self._whole[next(iter(self._whole))]
            self._loader.read_in_file(sample_id, SIDE, partial(self._take_whole, key))
        return self._whole.get(key)

    def _take_whole(self, key: tuple[int, int], file: QImage) -> None:
        self._whole[key] = QPixmap.fromImage(file)
        self._draw_pictures()

    def _show_whole(self, on: bool) -> None:
        """Show the whole files, or the images alone again; what failed before is tried again."""
        self._whole = {key: file for key, file in self._whole.items() if file is not None}
        if on:
            self.saliency.setChecked(False)
        self._draw_pictures()

    @staticmethod
    def _draw_saliency(picture: PairPicture, part: Saliency, largest: float) -> None:
        layer: QImage | None = heat_image(part.heat, largest) if largest > 0 else None
        picture.show_picture(QPixmap.fromImage(unscaled(part.picture)), "", layer)

    def copy_pair(self) -> None:
        """Copy both images side by side, as they are shown, below the run and epoch."""
        copy_picture(self.both.grab().toImage(), self.wished.emit)

    def _ask_save(self) -> None:
        proposed = "pair.png" if self.model.ranking is None else f"pair-of-run-{self.model.ranking.run_id}.png"
        kinds = {".png": ("PNG", lambda: partial(encoded, self.both.grab().toImage()))}
        self.wished.emit(partial(ask_and_save, parent=self, what="the picture", name=proposed, kinds=kinds))

    def _step_back(self) -> None:
        self.model.step(-1)

    def _step_on(self) -> None:
        self.model.step(1)

    def _query_sample(self) -> int | None:
        ranking = self.model.ranking
        return None if ranking is None or isinstance(ranking.query, OwnImage) else ranking.query

    def _neighbour_sample(self) -> int | None:
        return None if self.model.neighbour is None else self.model.neighbour.sample_id


def titled(near: Neighbour, *, judged: bool) -> str:
    """ "Neighbour 3: flamingo ✓ right"; "In the training set: flamingo" for rank 0, and so on for BEHIND."""
    if not near.rank:
        return f"In the training set: {near.class_name}"
    if near.rank == BEHIND:
        return f"Behind the stored neighbours: {near.class_name}"
    sign, word, _ = VERDICTS[near.right if judged else None]
    return f"Neighbour {near.rank}: {near.class_name}" + (f" {sign} {word}" if judged else "")
