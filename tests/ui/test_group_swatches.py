"""The strokes of groups in lists and tables tell their line styles apart."""

import numpy as np
import pytest
from PySide6.QtCore import Qt

from workbench.ui.pages.compare.style.group_styles import STYLES, SWATCH, GroupStyle, swatch


@pytest.mark.parametrize("pen", STYLES, ids=lambda pen: pen.name)
def test_a_swatch_has_the_gaps_of_its_line(qapp, pen):
    image = swatch(GroupStyle("#0072B2", pen, "o")).pixmap(*SWATCH).toImage()
    inked = np.array(
        [max(image.pixelColor(x, y).alpha() for y in range(image.height())) > 128 for x in range(image.width())]
    )
    parts = int(inked[0]) + int((np.diff(inked.astype(int)) == 1).sum())
    assert parts == 1 if pen is Qt.PenStyle.SolidLine else parts > 1
