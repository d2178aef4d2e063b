"""Which sizes of an embedding a loss can take for its number of classes: a rule as plain data, for form and engine.

A rule (fact `dimensions` of a loss) names under "of" the parameter that it depends on, and for values of that parameter
the smallest and the largest D - C; None is no limit. Values that it does not name allow any size. Another rule (fact
`spans`) gives for such a value how many dimensions are used, minus C; without "of" it does so under "always".
"""

from typing import Any

Rule = dict[str, Any]


def refusal(rule: Rule, choice: str, classes: int, size: int) -> str:
    """Why this choice cannot have embeddings of `size` dimensions for this number of classes; empty if it can."""
    least, most = _limits(rule, choice, classes)
    if (least is None or size >= least) and (most is None or size <= most):
        return ""
    need = f"{least}" if least == most else f"{least} or more" if most is None else f"{most} or fewer"
    return f"{choice.capitalize()} {rule['of']} of {classes} classes need {need} dimensions, not {size}."


def nearest(rule: Rule, choice: str, classes: int, size: int) -> int:
    """The size nearest to `size` that this choice allows; 0 if there is none."""
    least, most = _limits(rule, choice, classes)
    size_allowed = max(size, least or 0)
    return max(0, size_allowed if most is None else min(size_allowed, most))


def idle(rule: Rule, params: dict[str, Any], classes: int, size: int) -> str:
    """A warning if an embedding with batch-norm has at least twice the dimensions that are used; else empty.

    Batch-norm gives every dimension the same variance, and so the same weight in a cosine.
    """
    less = rule.get(params[rule["of"]] if "of" in rule else "always")
    if less is None or size < 2 * max(1, classes + less):
        return ""
    used = classes + less
    return (
        f"{used} of these {size} dimensions tell {classes} classes apart. Batch-norm makes the others, "
        f"which learn little or nothing, as large, and they dominate the cosine. Use {classes}, or turn batch-norm off."
    )


def _limits(rule: Rule, choice: str, classes: int) -> tuple[int | None, int | None]:
    least, most = rule.get(choice, (None, None))
    return None if least is None else classes + least, None if most is None else classes + most
