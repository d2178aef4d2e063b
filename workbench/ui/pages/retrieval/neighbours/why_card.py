"""Why a query failed: the suspected cause as a title, and the evidence below it."""

from PySide6.QtWidgets import QFrame

from workbench.ui.pages.retrieval.model.causes import NOTHING, Why
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.capped_text import CappedText
from workbench.ui.widgets.labels import label, restyle

LINES = 5  # of the evidence; a longer one scrolls


class WhyCard(QFrame):
    """A card, with a coloured edge where a cause is suspected; hidden while there is nothing to say."""

    def __init__(self) -> None:
        super().__init__()
        self.title = label("", wrap=True)
        self.words = CappedText("", LINES)
        for part in (self.words, self.words.said):
            part.setAccessibleName("Why the query failed")
        in_column(self.title, self.words, on=self, margins=(12, 6, 12, 6), spacing=2)
        self.show_why(NOTHING)

    def show_why(self, why: Why) -> None:
        """Show another cause."""
        self.title.setText(f"⚠ {why.title}" if why.suspected else why.title)
        card = "doubt" if why.suspected else "true"
        if self.property("card") != card:  # to dress it again takes longer than the words
            self.setProperty("card", card)
            self.title.setProperty("role", "strong warning" if why.suspected else "strong")
            restyle(self)
            restyle(self.title)
        self.title.setVisible(bool(why.title))
        self.words.set_text(why.words)
        self.words.setVisible(bool(why.words))
        self.setVisible(why != NOTHING)

    def text(self) -> str:
        """Title and words, as they are read."""
        return " ".join(filter(None, (self.title.text().removeprefix("⚠ "), self.words.text())))
