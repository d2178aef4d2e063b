"""The second line of Table 8 (PSCE): how far prototypes in D dimensions are from a regular simplex, as Markdown.

    python tests/benchmarks/prototype_distances.py

Seconds; needs no data.
"""

import torch

from workbench.losses import build_loss

PAPER = {(10, 2): 1.38, (10, 5): 0.32, (10, 10): 0, (10, 20): 0, (100, 2): 1.94, (100, 50): 0.33, (100, 100): 0,
         (100, 200): 0}  # fmt: skip


def difference(classes: int, dim: int, kind: str = "auto") -> tuple[float, float]:
    """Largest minus smallest distance between two prototypes, and the smallest."""
    loss = build_loss("psce", num_classes=classes, embedding_dim=dim, prototypes=kind)
    return loss.spread(), torch.pdist(loss.prototypes.double()).min().item()


def table() -> str:
    """A row for every C and D of Table 8."""
    lines = [
        "| C | D | prototypes | smallest | largest - smallest | random | the paper |",
        "|---|---|---|---|---|---|---|",
    ]
    for (classes, dim), paper in PAPER.items():
        kind = "simplex" if dim >= classes - 1 else "repelling"
        spread, smallest = difference(classes, dim)
        random, _ = difference(classes, dim, "random")
        lines.append(f"| {classes} | {dim} | {kind} | {smallest:.3f} | {spread:.3f} | {random:.3f} | {paper:g} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
