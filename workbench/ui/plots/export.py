"""What plots share that are copied and saved: the commands, and the picture on white as PNG or SVG, or the numbers."""

import re
from functools import partial
from typing import Any

from PySide6.QtCore import QBuffer, QIODevice, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QImage, QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QFrame, QMenu, QToolButton

from workbench.files.spreadsheet import csv_cell, csv_text, pasted
from workbench.ui.style import theme
from workbench.ui.widgets.buttons import icon_button
from workbench.ui.widgets.dialogs.save_file import Content, ask_and_save, copy_picture, copy_text, file_name

HEAD_PX = 32  # title above the picture in a file
NOT_IN_XML = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|\xed[\xa0-\xbf][\x80-\xbf]|\xef\xbf[\xbe\xbf]")  # in UTF-8
SCALE = 2  # pixels of a PNG per pixel of the screen


class SavedPlot(QFrame):
    """A base class: `size_in_file` and `paint_in_file` give the picture; `rows`, or `csv` and `tabbed`, the numbers.

    `title` is the name of the quantity, with its unit.
    """

    wished = Signal(object)  # Wish: what copying and saving want of the session, for Session.fulfil
    title: str
    menu: QMenu

    def size_in_file(self) -> QSize:
        """The size of the picture in a file, in px at 100% text."""
        raise NotImplementedError

    def paint_in_file(self, painter: QPainter, size: QSize) -> None:
        """Draw the plot, on white with its title, in the light theme."""
        raise NotImplementedError

    def rows(self) -> list[list[Any]]:
        """The numbers as a table, its head first."""
        raise NotImplementedError

    def csv(self) -> Content:
        """What makes the numbers as CSV, with all digits; it is called on a thread."""
        head, *body = self.rows()
        return partial(csv_text, head, body)

    def tabbed(self) -> str:
        """The numbers with all digits, with tabs between the columns."""
        return "\n".join(
            "\t".join(pasted(cell) if isinstance(cell, str) else str(csv_cell(cell)) for cell in row)
            for row in self.rows()
        )

    def menu_button(self) -> QToolButton:
        """A button that opens `menu`, which is made here."""
        self.menu = QMenu(self)
        self.add_commands(self.menu)
        more = icon_button("dots-three", "Menu of the plot")
        more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        more.setMenu(self.menu)
        more.setToolTip("Copy, save")
        return more

    def add_commands(self, menu: QMenu) -> None:
        """Add the commands that copy and save to the menu of the plot."""
        menu.addAction("Copy picture", self.copy_picture)
        menu.addAction("Copy table", self.copy_table)
        menu.addAction("Save…", self.ask_and_save)

    def copy_picture(self) -> None:
        """Copy the plot as a picture."""
        copy_picture(self.image(), self.wished.emit)

    def copy_table(self) -> None:
        """Copy the numbers as text, with tabs between the columns."""
        copy_text(self.tabbed(), "The table", self.wished.emit)

    def ask_and_save(self) -> None:
        """Ask for a file and write the picture or the numbers to it, on a thread of the session."""
        name = f"{file_name(self.title)}.png"
        kinds = {".png": ("PNG", self.png), ".svg": ("SVG", self.svg), ".csv": ("CSV", self.csv)}
        # Of the window, because a plot may be removed while the file is chosen, as when another run is shown.
        self.wished.emit(partial(ask_and_save, parent=self.window(), what="the plot", name=name, kinds=kinds))

    def image(self) -> QImage:
        """The plot on white, with its title, at SCALE times its size on screen at the normal text size."""
        size = self.size_in_file()
        image = QImage(size * SCALE, QImage.Format.Format_RGB32)
        image.fill(Qt.GlobalColor.white)
        painter = QPainter(image)
        painter.scale(SCALE, SCALE)
        self.paint_in_file(painter, size)
        painter.end()
        return image

    def paint_title(self, painter: QPainter, size: QSize) -> None:
        """Make a picture of this size (px) white, with the title in its first HEAD_PX."""
        painter.fillRect(QRectF(0, 0, size.width(), size.height()), Qt.GlobalColor.white)
        painter.setFont(small(self.font()))
        painter.setPen(QColor(theme.LIGHT.text))
        painter.drawText(QRectF(8, 4, size.width() - 16, 20), int(Qt.AlignmentFlag.AlignVCenter), self.title)

    def png(self) -> Content:
        """What makes the plot as PNG, of the picture as it is now; it is called on a thread."""
        return partial(encoded, self.image())

    def svg(self) -> Content:
        """What makes the plot as SVG, as it is now: only the window's thread draws widgets."""
        size, buffer = self.size_in_file(), QBuffer()
        buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        generator = QSvgGenerator()
        generator.setOutputDevice(buffer)
        generator.setSize(size)
        generator.setViewBox(QRect(0, 0, size.width(), size.height()))
        generator.setTitle(self.title)
        painter = QPainter(generator)
        self.paint_in_file(painter, size)
        painter.end()
        whole = well_formed(bytes(buffer.data().data()))
        return lambda: whole


def well_formed(svg: bytes) -> bytes:
    """The SVG of Qt without the letters that no XML may have, such as a NUL in a name: no program would open it."""
    return NOT_IN_XML.sub(b"", svg)


def small(font: QFont) -> QFont:
    """The font of axes, in px at 100% text."""
    axis_font = QFont(font)
    axis_font.setPixelSize(theme.CAPTION_PX)
    return axis_font


def encoded(image: QImage) -> bytes:
    """A picture as PNG."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]
    return bytes(buffer.data().data())
