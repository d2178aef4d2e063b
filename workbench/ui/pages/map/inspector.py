"""The Inspector's panel: one sample with its facts, or what a selection of many holds."""

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QScrollArea, QStackedWidget, QVBoxLayout, QWidget

from workbench.problem import Problem
from workbench.ui.session import Session
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.card import EmptyHint
from workbench.ui.widgets.flow import FlowLayout
from workbench.ui.widgets.labels import ElidedLabel, label
from workbench.ui.widgets.pictures import PictureLoader
from workbench.ui.words import percent

BIG, SMALL = 192, 48  # px
NEAREST, SHEET, CLASSES = 5, 30, 8


class InspectorPanel(QStackedWidget):
    """Follows the session's query and selection."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.loader = PictureLoader(session)
        self._sheet: list[tuple[QLabel, int]] = []
        self._sample: int | None = None
        self._build()
        self._connect()
        self._show()

    def _build(self) -> None:
        self.hint = EmptyHint("Nothing selected", "Click a point of the map or a query to see it here.")
        self.picture = QLabel()
        self.picture.setFixedSize(BIG, BIG)
        self.picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.picture.setWordWrap(True)
        self.title = ElidedLabel("", "section")
        self.facts = label("", wrap=True)
        self.sheet_title = label("", "caption")
        sheet = QWidget()
        self.sheet = FlowLayout(sheet, spacing=4)
        self.in_map = button("Show in map", "map-trifold", "quiet")
        self.in_retrieval = button("Show in retrieval", "squares-four", "quiet")
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(16, 12, 16, 12)
        column.setSpacing(8)
        for widget in (self.picture, self.title, self.facts, self.sheet_title, sheet, self.in_map, self.in_retrieval):
            column.addWidget(widget)
        column.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(inside)
        self.addWidget(self.hint)
        self.addWidget(scroll)

    def _connect(self) -> None:
        self.session.selection_changed.connect(self._show)
        self.session.query_changed.connect(self._show)
        self.session.evaluation_changed.connect(self._show)
        self.loader.ready.connect(self._fill)
        self.in_map.clicked.connect(self._go_to_map)
        self.in_retrieval.clicked.connect(self._go_to_retrieval)

    def _show(self) -> None:
        chosen, evaluation = self.session.selection, self.session.evaluation_id
        if evaluation is None:
            self.setCurrentIndex(0)
        elif len(chosen) > 1:
            self._show_many(chosen, evaluation)
        else:
            sample = int(chosen[0]) if len(chosen) == 1 else self.session.query
            self._show_one(sample, evaluation)

    def _show_one(self, sample: int | None, evaluation: int) -> None:
        run = self.session.run()
        try:
            query = None if sample is None else self.session.workspace.query(evaluation, sample)
        except Problem:  # chosen in another evaluation, and no query of this one
            query = None
        if query is None or sample is None or run is None:
            self.setCurrentIndex(0)
            return
        self._sample = sample
        near = self.session.workspace.neighbours(run.id, sample, evaluation)[:NEAREST]
        self.picture.show()
        self.title.setText(query.class_name)
        hit = str(query.first_hit) if query.first_hit else "none"
        self.facts.setText(f"AP {percent(query.ap)} %\nFirst hit {hit}\nR {query.r}\n{query.path}")
        signs = " ".join("✓" if each.right else "✗" for each in near)
        self.sheet_title.setText(f"Nearest: {signs}")
        self._fill_sheet([each.sample_id for each in near])
        self.loader.request([sample], BIG)
        self.setCurrentIndex(1)

    def _show_many(self, chosen: np.ndarray, evaluation: int) -> None:
        queries = self.session.workspace.queries(evaluation)
        among = np.isin(queries.sample_ids, chosen)
        run = self.session.run()
        names = (
            () if run is None or run.dataset_id is None else self.session.workspace.dataset(run.dataset_id).class_names
        )
        labels, counts = np.unique(queries.labels[among], return_counts=True)
        order = np.argsort(-counts, kind="stable")
        lines = [f"{names[labels[place]]}  {counts[place]:,}" for place in order[:CLASSES]]
        if len(order) > CLASSES:
            lines.append(f"and {len(order) - CLASSES} more classes")
        ap = queries.ap[among]
        mean = float(np.nanmean(ap)) if np.isfinite(ap).any() else float("nan")
        self._sample = None
        self.picture.hide()
        self.title.setText(f"{int(among.sum()):,} selected")
        self.facts.setText("\n".join([f"Mean AP {percent(mean)} %", *lines]))
        shown = queries.sample_ids[among][:SHEET].tolist()
        self.sheet_title.setText(f"First {len(shown)}")
        self._fill_sheet(shown)
        self.setCurrentIndex(1)

    def _fill_sheet(self, samples: list[int]) -> None:
        self.sheet.clear()
        self._sheet = []
        for sample in samples:
            spot = QLabel()
            spot.setFixedSize(SMALL, SMALL)
            spot.setAlignment(Qt.AlignmentFlag.AlignCenter)
            self.sheet.addWidget(spot)
            spot.show()
            self._sheet.append((spot, sample))
        self.loader.request(samples, SMALL)
        self._fill([])

    def _fill(self, _: list[int]) -> None:
        for spot, sample in self._sheet:
            found = self.loader.pixmap(sample, SMALL)
            if found is not None:
                spot.setPixmap(found)
            elif self.loader.absent(sample):
                spot.setText("?")
                spot.setToolTip(self.loader.absent(sample))
        if self._sample is None:
            return
        found = self.loader.pixmap(self._sample, BIG)
        if found is not None:
            self.picture.setPixmap(found)
            missing = [sample for _, sample in self._sheet if self.loader.pixmap(sample, SMALL) is None]
            self.loader.request(missing, SMALL)
        else:
            self.picture.setText(self.loader.absent(self._sample) or "…")

    def _go_to_map(self) -> None:
        if self._sample is not None:
            self.session.select(np.array([self._sample], np.int64))
        self.session.show_page("map")

    def _go_to_retrieval(self) -> None:
        if self._sample is not None:
            self.session.show_query(self._sample)
        self.session.show_page("retrieval")
