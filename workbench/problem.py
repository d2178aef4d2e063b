"""A problem of the world (disk, file, memory, device), described in three parts. Anything else is a bug."""

UNSTARTED = "Nothing was started."  # what is kept where data, weights, a device or a place refuse a config


class Problem(Exception):  # noqa: N818 - the word the user reads
    """What happened, what is kept and what to do: one sentence each, in the user's terms.

    Args:
        what: what happened, naming the file, field or device.
        kept: what is safe; empty when nothing was at stake.
        todo: what the user can do next; empty when nothing can be done.
        field: dotted name of the config's field that is wrong, such as "embedding.dim"; empty if none is.
        fits: a value of that field with which this problem does not occur; None when none is known.
    """

    def __init__(
        self, what: str, *, kept: str = "", todo: str = "", field: str = "", fits: bool | int | str | None = None
    ) -> None:  # fmt: skip
        super().__init__(" ".join(part for part in (what, kept, todo) if part))
        self.what, self.kept, self.todo, self.field, self.fits = what, kept, todo, field, fits


class UnknownName(Problem):
    """A name or number that does not exist; the command line then ends with status 2."""


class RunTaken(Problem):
    """Another process has the run: the process that had it before stops without writing or asking."""
