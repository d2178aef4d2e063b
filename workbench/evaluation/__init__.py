"""How good an embedding is: neighbours, retrieval metrics, geometry. Numpy in, numpy out; torch inside."""

from workbench.evaluation.retrieval import Retrieval, retrieval_metrics, retrieve

__all__ = ["Retrieval", "retrieval_metrics", "retrieve"]
