"""Parameters that describe themselves: one class gives validation, form, CLI help and docs."""

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class Params(BaseModel):
    """Base of every parameter class: immutable, and an unknown name is an error.

    Field types are bool, int, float, str and Literal of strings only: the window draws one editor for each.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class NoParams(Params):
    """For entries that have nothing to set."""


def param(
    default: Any,
    *,
    help: str,
    label: str = "",
    unit: str = "",
    symbol: str = "",
    path: str = "",
    optional: bool = False,
    suggestions: Sequence[str] = (),
    offered: str = "",
    **limits: Any,
) -> Any:
    """Declare one field.

    Args:
        default: the value unless another is given; every parameter has one.
        help: one sentence for the tooltip.
        label: words beside the editor; by default the field's name.
        unit: "px", "images", ...; shown after the value.
        symbol: the paper's letter for it.
        path: "folder", "file" or "place" (either) where the text is a place on disk, so that the form offers Browse.
        optional: for a place: it may be left empty.
        suggestions: texts that the form offers while one types; others are valid, too.
        offered: in place of suggestions, the table of models in resources/offered that the form searches by words.
        limits: gt, ge, lt, le, as in pydantic.
    """
    described: dict[str, Any] = {"unit": unit, "symbol": symbol, "label": label, "path": path}
    if optional:
        described["optional"] = True
    if suggestions:
        described["suggestions"] = list(suggestions)
    if offered:
        described["offered"] = offered
    return Field(default, description=help, json_schema_extra=described, **limits)
