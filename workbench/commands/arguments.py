"""What arguments of several commands are: the number of a run or of a sweep."""

from typing import Any

import click

LARGEST = 2**63 - 1  # the largest number that SQLite has


class Number(click.ParamType[int]):
    """The number of a run, sweep or evaluation; whether there is one, the workspace says."""

    name = "integer"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number; a usage error for what is no number, or for one that no workspace can have."""
        try:
            number = int(value)
        except ValueError:
            self.fail(f"{value!r} is not a whole number.", param, ctx)
        if abs(number) > LARGEST:
            self.fail(f"{value} is larger than the number of any run or sweep can be.", param, ctx)
        return number


NUMBER = Number()
