"""Which sizes of an embedding a loss can take for its number of classes: a rule as plain data, for form and engine.

A rule (fact `dimensions` of a loss) names the parameter that it hangs on under "of", and for each value of that
parameter that is bound the least and the greatest D - C; None is no limit. Values without a line take any size.
Another (fact `spans`) names for such a value how many dimensions are used, less C; without "of" under "always".
"""

from typing import Any

Rule = dict[str, Any]


def refusal(rule: Rule, choice: str, classes: int, size: int) -> str:
    """Why embeddings of `size` numbers do not go with this choice for so many classes; empty when they do."""
    least, most = _limits(rule, choice, classes)
    if (least is None or size >= least) and (most is None or size <= most):
        return ""
    need = f"{least}" if least == most else f"{least} or more" if most is None else f"{most} or fewer"
    return f"{choice.capitalize()} {rule['of']} of {classes} classes need {need} dimensions, not {size}."


def nearest(rule: Rule, choice: str, classes: int, size: int) -> int:
    """The size nearest to `size` that goes with this choice; 0 when there is none."""
    least, most = _limits(rule, choice, classes)
    size_allowed = max(size, least or 0)
    return max(0, size_allowed if most is None else min(size_allowed, most))


def idle(rule: Rule, params: dict[str, Any], classes: int, size: int) -> str:
    """A warning about an embedding with at least twice the dimensions that are used, under batch-norm; else empty.

    Batch-norm gives every dimension the same variance, and so the same share of a cosine.
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
