"""Colours, sizes and the one style sheet, light and dark: the numbers of the design, in one place."""

from dataclasses import dataclass
from string import Template

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication, QWidget

from workbench.colours import OF_RUNS
from workbench.files.resources import resources
from workbench.ui.preferences import Preferences
from workbench.ui.style.dressing import Dressing

BODY_PX, CAPTION_PX, SECTION_PX, TITLE_PX = 13, 11, 15, 20
LINE_PX, LINE = 20, 1.35  # least height of the text in a field or button: px, and as a multiple of its size
SMALLEST_TEXT, LARGEST_TEXT = 90, 150  # %
MOST_SIDE = 115  # % of its width up to which a side column grows with the text
WIDE_PAGE, WIDER, WIDEST_SIDE = 1600, 0.1, 35  # px from which a page gives this share of more; % of a column, at most
CHOICES = ("system", "light", "dark")


@dataclass(frozen=True, slots=True)
class Tokens:
    """One theme. Colours are "#RRGGBB"."""

    dark: bool
    window: str
    surface: str
    raised: str
    border: str
    divider: str
    text: str
    muted: str
    disabled: str
    accent: str
    on_accent: str
    selection: str
    right: str
    wrong: str
    warning: str
    plot_background: str
    plot_axis: str
    plot_grid_alpha: int  # of 255, over the axis colour


LIGHT = Tokens(
    dark=False, window="#F4F5F7", surface="#FFFFFF", raised="#FFFFFF", border="#D5D9E0", divider="#E6E9EE",
    text="#1B1F27", muted="#5A6372", disabled="#9AA3B2", accent="#0B62C4", on_accent="#FFFFFF", selection="#D6E6FA",
    right="#15703F", wrong="#B3261E", warning="#8A5A00", plot_background="#FFFFFF", plot_axis="#5A6372",
    plot_grid_alpha=31,
)  # fmt: skip
DARK = Tokens(
    dark=True, window="#16181C", surface="#1E2126", raised="#262A31", border="#363B44", divider="#2B3038",
    text="#E8EBF0", muted="#A3ACBA", disabled="#646D7B", accent="#5EA8F6", on_accent="#0B1524", selection="#1F3A5A",
    right="#5CC98F", wrong="#FF8A80", warning="#F0B44C", plot_background="#1A1D22", plot_axis="#A3ACBA",
    plot_grid_alpha=36,
)  # fmt: skip

SERIES = {
    "ce": "#0072B2", "spce": "#D55E00", "pce": "#009E73", "tightness": "#CC79A7", "contrastive": "#56B4E9",
    "recall@1": "#0072B2", "MAP@R": "#E69F00",
}  # fmt: skip
LIGHTER = {  # of the same curve on a dark ground
    "#0072B2": "#4AA3DF", "#D55E00": "#F08A3C", "#009E73": "#2FC299", "#CC79A7": "#E09BC2", "#56B4E9": "#86CBF2",
    "#E69F00": "#F2B632", "#5A6372": "#A3ACBA", "#6F3FB0": "#B594EA", "#A11D3D": "#F2889E", "#5F7000": "#B9C75A",
    "#87572A": "#D3A878",
}  # fmt: skip
DARKER = {lighter: colour for colour, lighter in LIGHTER.items()}
RUN_COLOURS = OF_RUNS
RUN_COLOUR_NAMES = ("Blue", "Vermilion", "Green", "Purple", "Sky blue", "Orange")

_shown = LIGHT
_percent = 100  # text size on screen


def current() -> Tokens:
    """The theme on screen, for things that paint themselves."""
    return _shown


def text_scale() -> float:
    """Size of text on screen as a factor of the design's, 0.9 to 1.5, for things that paint themselves."""
    return _percent / 100


def text_px(size: int) -> int:
    """A size of the design at the text size on screen, px."""
    return round(size * text_scale())


def caption_font(font: QFont) -> QFont:
    """This font at the size of captions: axes, ticks and marks of plots."""
    small = QFont(font)
    small.setPixelSize(text_px(CAPTION_PX))
    return small


def look() -> tuple[Tokens, int]:
    """Colours and text size on screen: what paints itself is dressed again when they change."""
    return _shown, _percent


def run_colour(index: int) -> str:
    """The colour of a run by its stored index, as it is drawn now."""
    return drawn(RUN_COLOURS[index % len(RUN_COLOURS)])


def drawn(colour: str, tokens: Tokens | None = None) -> str:
    """A colour of a curve as a theme draws it, the one on screen unless given: lighter on a dark ground."""
    return (LIGHTER if (tokens or _shown).dark else DARKER).get(colour, colour)


def contrast(first: str, second: str) -> float:
    """WCAG contrast ratio of two colours, 1 to 21."""
    light, dark = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


ROLE = QPalette.ColorRole
DRESSES = (QEvent.Type.PaletteChange, QEvent.Type.FontChange, QEvent.Type.StyleChange)  # of other colours or text
# The palette role of each token, and its name in the style sheet.
PLACES: dict[str, tuple[QPalette.ColorRole, str]] = {
    "window": (ROLE.Window, "window"), "surface": (ROLE.Base, "base"), "raised": (ROLE.Button, "button"),
    "border": (ROLE.Mid, "mid"), "divider": (ROLE.Midlight, "midlight"), "text": (ROLE.Text, "text"),
    "muted": (ROLE.PlaceholderText, "placeholder-text"), "disabled": (ROLE.Dark, "dark"), "accent": (ROLE.Link, "link"),
    "on_accent": (ROLE.Shadow, "shadow"), "selection": (ROLE.Highlight, "highlight"),
    "right": (ROLE.AlternateBase, "alternate-base"), "wrong": (ROLE.BrightText, "bright-text"),
    "warning": (ROLE.LinkVisited, "link-visited"),
}  # fmt: skip


def palette(tokens: Tokens) -> QPalette:
    """The theme's colours, each in the role that the style sheet reads."""
    theme_palette = QPalette()
    for name, (role, _) in PLACES.items():
        theme_palette.setColor(role, QColor(getattr(tokens, name)))
    for role, colour in {
        ROLE.WindowText: tokens.text, ROLE.ButtonText: tokens.text, ROLE.HighlightedText: tokens.text,
        ROLE.Light: tokens.raised, ROLE.ToolTipBase: tokens.raised, ROLE.ToolTipText: tokens.text,
        ROLE.Accent: tokens.accent,
    }.items():  # fmt: skip
        theme_palette.setColor(role, QColor(colour))
    for role in (ROLE.WindowText, ROLE.Text, ROLE.ButtonText, ROLE.HighlightedText):
        theme_palette.setColor(QPalette.ColorGroup.Disabled, role, QColor(tokens.disabled))
    return theme_palette


def style_sheet(percent: int) -> str:
    """The one style sheet, of both themes, with the sizes at `percent` of their normal."""
    sizes = {"body": BODY_PX, "caption": CAPTION_PX, "section": SECTION_PX, "title": TITLE_PX}
    scaled = {name: f"{round(px * percent / 100)}px" for name, px in sizes.items()}
    scaled["line"] = f"{max(LINE_PX, round(LINE * BODY_PX * percent / 100))}px"
    colours = {name: f"palette({word})" for name, (_, word) in PLACES.items()}
    folder = resources() / "style"
    return Template((folder / "workbench.qss").read_text("utf-8")).substitute(
        colours, **scaled, icons=folder.as_posix()
    )


def system_is_dark() -> bool:
    """Whether the desktop asks for a dark theme."""
    return QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark


class Theme(QObject):
    """Which theme is shown and how large text is; follows the system unless the user chose."""

    changed = Signal()

    def __init__(self, preferences: Preferences, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._preferences = preferences
        chosen = preferences.text("theme", "system")
        self.choice = chosen if chosen in CHOICES else "system"
        self.percent = max(SMALLEST_TEXT, min(LARGEST_TEXT, preferences.number("text_size", 100)))
        self._dressing = Dressing(self)
        self.dressed = self._dressing.finished  # every widget has the colours that were chosen
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._system_changed)

    @property
    def tokens(self) -> Tokens:
        """The colours of the theme that is shown now."""
        if self.choice == "system":
            return DARK if system_is_dark() else LIGHT
        return DARK if self.choice == "dark" else LIGHT

    def choose(self, choice: str) -> None:
        """Show "light" or "dark", or follow the "system"."""
        self.choice = choice
        self._preferences.set_text("theme", choice)
        self.apply()

    def set_text_size(self, percent: int) -> None:
        """Text at 90 to 150% of its normal size."""
        self.percent = max(SMALLEST_TEXT, min(LARGEST_TEXT, percent))
        self._preferences.set_number("text_size", self.percent)
        self.apply()

    def px(self, size: int) -> int:
        """A size of the design at the user's text size."""
        return round(size * self.percent / 100)

    def side(self, size: int, page: int = 0) -> int:
        """Width of a side column: it grows with the text and with a wide page, of `page` px, up to a limit for each."""
        more = min(WIDEST_SIDE * size // 100, round(WIDER * (page - WIDE_PAGE)))
        return min(self.px(size), MOST_SIDE * size // 100) + max(0, more)

    def apply(self) -> None:
        """Apply the theme to the whole application; `changed` tells widgets that paint themselves.

        Another text size dresses all widgets at once; other colours alone reach them in turns of the event loop.
        """
        global _shown, _percent
        _shown, _percent = self.tokens, self.percent
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.setPalette(palette(_shown))
        sheet = style_sheet(self.percent)
        if app.styleSheet() == sheet:
            self._dressing.begin()
        else:
            font = QFont(app.font())
            font.setPixelSize(self.px(BODY_PX))
            font.setFeature(QFont.Tag("tnum"), 1)  # figures of one width, so that numbers do not jump
            app.setFont(font)
            app.setStyleSheet("")  # in two steps: in one Qt takes four times as long
            app.setStyleSheet(sheet)
        self.changed.emit()

    @property
    def dressing(self) -> bool:
        """Whether some widgets still have the old colours."""
        return self._dressing.busy

    def dress_now(self, page: QWidget) -> None:
        """Give a page that is about to be shown the current colours."""
        self._dressing.dress_now(page)

    def close(self) -> None:
        """Stop following the system's colour scheme."""
        self._dressing.stop()
        QGuiApplication.styleHints().colorSchemeChanged.disconnect(self._system_changed)

    def _system_changed(self) -> None:
        if self.choice == "system":
            self.apply()
