"""What a message is about: it is shown while that is shown."""

from dataclasses import dataclass

OF_SHOWN_RUN = ("train", "map", "retrieval", "report")  # pages that show one run; the others show none, or several


@dataclass(frozen=True, slots=True)
class Concern:
    """A page, a run or both; neither is the whole program."""

    page: str = ""  # one of session.PAGES, or any
    run: int | None = None  # or any
    typed: str = ""  # what was typed and is nowhere else: the message stays until it is closed

    def matches(self, page: str, run: int | None) -> bool:
        """Whether a message about this belongs to what is shown."""
        return self.page in ("", page) and self.run in (None, run)


EVERYWHERE = Concern()


def of_page(page: str, run: int | None) -> Concern:
    """The concern of a message that arose on a page while a run was shown."""
    return Concern(page, run if page in OF_SHOWN_RUN else None)
