"""Losses: one file per method. `build_loss` is the public door."""

from typing import Any

from pydantic import ValidationError

from workbench import registry
from workbench.entries.catalog import sentences
from workbench.losses.contract import Loss
from workbench.problem import Problem


def build_loss(name: str, *, num_classes: int, embedding_dim: int, **params: Any) -> Loss:
    """Build a registered loss: a module (embeddings [n, d], labels [n] in [0, num_classes)) -> scalar.

    Args:
        name: one of `list_losses()`.
        num_classes: K, at least 1.
        embedding_dim: d, at least 1.
        params: the method's own, as in the form.

    Raises:
        Problem: unknown name, or a parameter that is unknown or out of its range (each is named).
    """
    registry.discover(__name__)
    entry = registry.entry("loss", name)
    if num_classes < 1 or embedding_dim < 1:
        raise Problem(f"A loss needs at least one class and one dimension: got {num_classes} and {embedding_dim}.")
    try:
        checked = entry.params(**params)
    except ValidationError as error:
        said = " ".join(f"{field}: {sentence}" for field, sentence in sentences(error).items())
        raise Problem(f"The loss {name!r} cannot be built. {said}") from None
    built = entry.build(checked, num_classes=num_classes, embedding_dim=embedding_dim)
    if not isinstance(built, Loss):
        raise Problem(f"The loss {name!r} is not a Loss.", todo="Derive its class from workbench.losses.contract.Loss.")
    return built


def list_losses() -> list[str]:
    """The names that `build_loss` knows, plug-ins too, sorted."""
    registry.load_plugins()
    return [entry.name for entry in registry.entries("loss")]
