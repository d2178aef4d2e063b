"""One place in the dialog: its fields, and what its last check found."""

from collections.abc import Sequence
from functools import partial
from itertools import islice

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QBoxLayout, QFrame, QWidget

from workbench.places.contract import Finding
from workbench.ui.places.data_row import DataRow
from workbench.ui.places.draft import PlaceDraft
from workbench.ui.style import theme
from workbench.ui.widgets.boxes import UNLIMITED, in_column, in_row
from workbench.ui.widgets.buttons import button, icon_button
from workbench.ui.widgets.fields.editors import Field
from workbench.ui.widgets.form import Cell, ParamsForm
from workbench.ui.widgets.labels import ElidedLabel, IconLabel, label, plain_tip

ICONS = {"ssh": "terminal-window", "slurm": "tree-structure", "ray": "share-network"}
FINDINGS_WIDTH, FIELDS_WIDTH = 300, 400  # px at 100% text; the fields have at least that much beside the findings
GAP, SIDE = 16, 16  # px between the fields and the findings, and at both sides of a card
HALF, THIRD, REST = Cell((6, 6, 6, 12)), Cell((4, 4, 6, 12)), Cell((8, 8, 12, 12))
THIRDS = ("time", "notice", "cpus", "memory", "nodes", "ranks", "at_once")  # in the form of a kind with many fields
AT_FIRST = 10  # fields that are made at once, in some 30 ms
CHECKING = "Checking…"
NOT_CHECKED = "Not checked yet."


class PlaceCard(QFrame):
    """Edits a draft; the dialog checks and stores it.

    Of a kind with many fields the first are there at once; `complete` makes the others, in a turn of its own.

    Args:
        draft: of the place.
        width: px of the column of findings.
    """

    check_asked = Signal()
    install_asked = Signal()
    removed = Signal()

    def __init__(self, draft: PlaceDraft, width: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("card", "true")
        self.draft = draft
        self.name = ElidedLabel(draft.title, "section")
        self.state_icon, self.state = IconLabel(), label(NOT_CHECKED, "muted")
        self.check = button("Check again", "arrows-clockwise")
        self.install = button("Install…", "download-simple")
        self.install.setToolTip("Install Workbench there: the steps are shown first")
        self.remove = icon_button("trash", "Remove this place")
        kind_icon = IconLabel(ICONS.get(draft.kind, "computer-tower"), "accent")
        named = in_row(
            kind_icon, (self.name, 1), label(draft.about, "muted"), self.state_icon, self.state, spacing=8
        )  # fmt: skip
        buttons = in_row(self.check, self.install, self.remove, 1, spacing=8)
        self._head = in_row((named, 1), buttons, spacing=8)
        column = in_column(self._head, on=self, margins=(SIDE, 12, SIDE, 12), spacing=8)  # Tab reaches it first
        fields = draft.fields()
        first = dict(islice(fields.items(), AT_FIRST))
        # A child from the start: styled once.
        self.form = ParamsForm(first, parent=self, cell_of=partial(_cell_of, many=len(fields) > AT_FIRST))
        self.form.set_values(draft.values)
        self.is_complete = len(first) == len(fields)
        self._errors: dict[str, str] = {}  # as they are shown
        self.findings = QWidget(self)
        self.findings.setFixedWidth(width)
        in_column(label(NOT_CHECKED, "muted"), 1, on=self.findings, spacing=6)
        self.data = [DataRow(draft, here) for here in draft.data]
        self._body = in_row((in_column(self.form, *self.data, 1, spacing=4), 1), self.findings, spacing=GAP)
        column.addLayout(self._body)
        self._findings_width, self._stacked = width, False
        self.form.changed.connect(self._edit)
        self.check.clicked.connect(self.check_asked)
        self.install.clicked.connect(self.install_asked)
        self.remove.clicked.connect(self.removed)
        for row in self.data:
            row.changed.connect(self._change)
        self.checking = False  # the button stays enabled: else Qt would give its focus to Install…
        self._name_buttons()

    def _name_buttons(self) -> None:
        for widget, words in ((self.check, "Check"), (self.install, "Install Workbench at"), (self.remove, "Remove")):
            widget.setAccessibleName(f"{words} {self.draft.title}")

    def complete(self) -> None:
        """Make the fields that are not there yet."""
        if self.is_complete:
            return
        self.is_complete = True
        before = self.form.names()
        self.form.set_fields(self.draft.fields())
        self.form.set_values({name: value for name, value in self.draft.values.items() if name not in before})
        self.form.show_errors(self._errors)

    @property
    def last(self) -> QWidget:
        """What Tab reaches last in the card."""
        return self.data[-1].forget if self.data else self.form.row(self.form.names()[-1]).widget

    def fit(self, room: int) -> None:
        """Put the findings below the fields, and the buttons below the name, where a card `room` px wide needs it."""
        fields = max(self.form.minimumSizeHint().width(), theme.text_px(FIELDS_WIDTH))
        stacked = room < fields + GAP + self._findings_width + 2 * SIDE
        if stacked == self._stacked:
            return
        self._stacked = stacked
        for parts in (self._head, self._body):
            parts.setDirection(QBoxLayout.Direction.TopToBottom if stacked else QBoxLayout.Direction.LeftToRight)
        self.findings.setMinimumWidth(0 if stacked else self._findings_width)
        self.findings.setMaximumWidth(UNLIMITED if stacked else self._findings_width)

    def show_errors(self, errors: dict[str, str]) -> None:
        """A sentence under each wrong field, until it is edited."""
        self._errors = dict(errors)
        self.form.show_errors(errors)

    def show_checking(self) -> None:
        """A check is under way."""
        self.checking = True
        self._show_state("hourglass", "muted", CHECKING)

    def show_findings(self, findings: Sequence[Finding], *, current: bool = True) -> None:
        """What a check found, a sentence each; nothing where the fields are not `current` any more."""
        self.checking = False
        if not current:
            self._show_state("", "muted", NOT_CHECKED)
            return
        lines = []
        for finding in findings:
            icon_name, role = _look_of(finding)
            sentence = label(finding.said, wrap=True)
            sentence.setToolTip(plain_tip(finding.what))
            lines.append(in_row((IconLabel(icon_name, role), Qt.AlignmentFlag.AlignTop), (sentence, 1), spacing=8))
        before = self.findings.layout()
        if before is not None:
            QWidget().setLayout(before)  # takes the layout and its lines away
        in_column(*lines, 1, on=self.findings, spacing=6)
        bad = sum(not finding.good for finding in findings)
        if bad:
            self._show_state("x-circle", "wrong", "1 check failed" if bad == 1 else f"{bad} checks failed")
        else:
            self._show_state("check-circle", "right", "Ready")

    def _edit(self, name: str, value: object) -> None:
        self.draft.values[name] = value
        self.name.setText(self.draft.title)
        self._name_buttons()
        if self._errors.pop(name, ""):
            self.form.show_errors(self._errors)
        self._change()

    def _change(self) -> None:
        self._show_state("", "muted", NOT_CHECKED)

    def _show_state(self, icon_name: str, role: str, words: str) -> None:
        self.state_icon.show_icon(icon_name, role)
        self.state.setText(words)


def _cell_of(name: str, _field: Field, *, many: bool) -> Cell:
    """Two fields share a line, and numbers of a kind with many fields three."""
    if many and name == "lines":
        return REST
    return THIRD if many and name in THIRDS else HALF


def _look_of(finding: Finding) -> tuple[str, str]:
    if not finding.good:
        return "x-circle", "wrong"
    return ("warning-circle", "warning") if finding.doubtful else ("check-circle", "right")
