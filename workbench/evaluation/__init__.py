"""How good an embedding is: neighbours, retrieval metrics, geometry. Numpy in, numpy out; torch inside.

The package itself loads no torch: its public names come from `retrieval.py` when they are first asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.evaluation.retrieval import Retrieval, retrieval_metrics, retrieve

__all__ = ["Retrieval", "retrieval_metrics", "retrieve"]


def __getattr__(name: str) -> Any:
    """A public name of `retrieval.py`. Raises AttributeError for any other."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("workbench.evaluation.retrieval"), name)
