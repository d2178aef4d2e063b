"""Text has a contrast of at least 4.5:1 (WCAG 2.2, AA): of every pair of colours in use, and as it is drawn."""

import re

import numpy as np
import pytest
from PySide6.QtCore import QRect
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLabel, QLineEdit, QTabBar, QWidget
from trained import trained_run

from tests.ui.started import shown_window
from workbench.entries import catalog
from workbench.files.resources import resources
from workbench.ui.pages.setup.preflight import runner as preflight
from workbench.ui.style import theme

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")
LEAST = 4.5
THEMES = pytest.mark.parametrize("tokens", [theme.LIGHT, theme.DARK], ids=["light", "dark"])
GROUNDS = ("window", "surface", "raised", "divider", "selection")  # divider: under the pointer
WORDS = ("text", "muted", "accent", "right", "wrong", "warning")
RULE = re.compile(r"([^{}]+)\{([^}]*)\}")


@THEMES
def test_every_word_can_be_read_on_every_ground(tokens):
    low = {
        (words, ground): round(theme.contrast(getattr(tokens, words), getattr(tokens, ground)), 2)
        for words in WORDS
        for ground in GROUNDS
    }
    assert {pair: ratio for pair, ratio in low.items() if ratio < LEAST} == {}
    assert theme.contrast(tokens.on_accent, tokens.accent) >= LEAST
    assert theme.contrast(tokens.plot_axis, tokens.plot_background) >= LEAST


@THEMES
def test_no_rule_of_the_style_sheet_sets_words_on_a_ground_too_near(tokens):
    sheet = (resources() / "style" / "workbench.qss").read_text("utf-8")
    pairs = 0
    for selector, body in RULE.findall(re.sub(r"/\*.*?\*/", "", sheet, flags=re.DOTALL)):
        ground = re.search(r"(?<!-)background: \$(\w+)", body)
        words = re.search(r"(?<!-)(?<!background-)\bcolor: \$(\w+)", body)
        if ground and words and ":disabled" not in selector:
            pairs += 1
            ratio = theme.contrast(getattr(tokens, words[1]), getattr(tokens, ground[1]))
            assert ratio >= LEAST, (selector.strip(), words[1], ground[1], round(ratio, 2))
    assert pairs >= 8, "the rules were read"


def drawn_contrast(pixels: np.ndarray) -> float:
    """Contrast of the most frequent colour of [h, w, 3] pixels and the one that differs most from it."""
    channels = pixels.reshape(-1, 3) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    luminance = linear @ np.array([0.2126, 0.7152, 0.0722])
    values, counts = np.unique(luminance.round(4), return_counts=True)
    ground = values[counts.argmax()]
    ratios = (np.maximum(luminance, ground) + 0.05) / (np.minimum(luminance, ground) + 0.05)
    return float(ratios.max())


def worded(widget: QWidget) -> bool:
    """Whether a widget shows words now that are meant to be read."""
    if not widget.isVisible() or not widget.isEnabled() or widget.visibleRegion().isEmpty():
        return False
    if isinstance(widget, QLineEdit):
        return bool(widget.text() or widget.placeholderText())
    if not isinstance(widget, QLabel | QAbstractButton):
        return False
    return sum(letter.isalpha() for letter in widget.text()) > 2  # of one or two letters no stroke may be drawn in full


def faint(window: QWidget) -> list[str]:
    """The words that are drawn too faintly, with their contrast."""
    image = window.grab().toImage().convertToFormat(QImage.Format.Format_RGB888)
    stride, shape = image.bytesPerLine(), (image.height(), image.width(), 3)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), stride)
    pixels = rows[:, : 3 * image.width()].reshape(shape)
    said = []
    for widget in window.findChildren(QWidget):
        if worded(widget) and not isinstance(widget.parent(), QComboBox | QTabBar):
            place = QRect(widget.mapTo(window, widget.rect().topLeft()), widget.size()).intersected(window.rect())
            part = pixels[place.top() + 3 : place.bottom() - 2, place.left() + 3 : place.right() - 2]
            if part.size and (ratio := drawn_contrast(part)) < LEAST:
                words = widget.text() or getattr(widget, "placeholderText", str)()
                said.append(f"{type(widget).__name__} {words!r}: {ratio:.2f}")
    return said


@pytest.fixture(params=["light", "dark"])
def window(request, qtbot, session, workspace, tmp_path, monkeypatch, analysis, drawing):
    monkeypatch.setattr(preflight, "SETTLES_AFTER", 10**8)  # no check of the run meanwhile
    session.theme.choose(request.param)
    session.set_catalog(catalog.current())
    session.show_run(trained_run(workspace, tmp_path / "pixels"))
    return shown_window(qtbot, session)


def test_words_too_faint_are_found(window):
    label = QLabel("Words", window.pages)
    label.setStyleSheet("color: #888888; background: #999999")
    label.setGeometry(0, 0, 100, 40)
    label.show()
    assert any("Words" in said for said in faint(window))


def test_words_are_drawn_to_be_read(window, qtbot):
    for name in ("setup", "train", "map", "retrieval", "compare", "report"):
        window.show_page(name)
        page = window.pages.page(name)
        qtbot.waitUntil(lambda page=page: window.pages.currentWidget() is page and window.pages.updatesEnabled())
        assert faint(window) == [], name
