"""How far float32 is from one rank to two, and how far the same run is from itself with another number of threads.

    python -m tests.benchmarks.rank_rounding [--precision float64] [LOSS ...]

Trains the small network of tests/unit/training/spread.py 20 steps by SGD, on one rank with one thread, on one rank with
two threads, and on two ranks with one thread each. Prints for each loss, relative to the first, the largest difference
of a step's loss and that of all gradients of the last step; then the largest and the median of all losses.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
import torch

from tests.unit.training.spread import Trained, Wanted, trained
from tests.unit.training.test_ranks import flat, meeting, together
from workbench.losses import list_losses
from workbench.training.ranks import OneRank


def differences(one: Trained, other: Trained) -> tuple[float, float]:
    """The largest relative difference of a step's loss, and that of all gradients together."""
    losses = torch.tensor(one.losses), torch.tensor(other.losses)
    gradients = flat(one.gradients), flat(other.gradients)
    return (
        float(((losses[0] - losses[1]).abs() / losses[0].abs().clamp_min(1e-12)).max()),
        float((gradients[0] - gradients[1]).norm() / gradients[0].norm().clamp_min(1e-12)),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--precision", default="float32", choices=("float32", "float64"))
    parser.add_argument("losses", nargs="*", default=sorted(list_losses()))
    args = parser.parse_args()
    rows = []
    print("loss: two threads (loss, gradient); two ranks (loss, gradient)")
    with tempfile.TemporaryDirectory() as folder, meeting(2, Path(folder)) as ranks:
        for name in args.losses:
            wanted = Wanted(name, precision=args.precision, optimiser="sgd")
            alone = trained(wanted, OneRank())
            torch.set_num_threads(2)
            threads = trained(wanted, OneRank())
            torch.set_num_threads(1)
            rows.append([*differences(alone, threads), *differences(alone, together(wanted, ranks))])
            print(name, *(f"{size:.1e}" for size in rows[-1]), flush=True)
    table = np.array(rows)
    for word, sizes in (("largest", table.max(0)), ("median", np.median(table, 0))):
        print(word, *(f"{size:.1e}" for size in sizes))
    print("below 1e-6", *(table < 1e-6).sum(0), "of", len(table))


if __name__ == "__main__":
    main()
