"""How much a run leaves on the disk of its workspace: checkpoints, and the evaluations that it keeps."""

from dataclasses import dataclass

from workbench.config import RunConfig

CHECKPOINTS = 2  # the last and the best
SUPERSEDED = 2  # evaluations that a run has beside the fewest while it works, before it deletes one
NEIGHBOUR = 2 * 8  # bytes: row and similarity, in the file of the ranking and in the database
RANKED = 28  # bytes of a query in the file of the ranking, beside its neighbours
ROW = 160  # bytes of a query in the database beside its neighbours: its row, its checksum, its places in four indices
FLOAT, LABEL = 4, 8  # bytes


@dataclass(frozen=True, slots=True)
class DiskUse:
    """Bytes that each run leaves. Curves and maps, which are small, are not counted."""

    checkpoint: int = 0
    evaluation: int = 0
    evaluations: int = 0  # that are kept
    fewest: int = 0  # evaluations, if only the untrained, the best and the last one are kept
    superseded: int = 0  # evaluations that a run has beside the fewest while it works, and then deletes

    @property
    def checkpoints(self) -> int:
        """Of all checkpoints of a run."""
        return CHECKPOINTS * self.checkpoint

    @property
    def total(self) -> int:
        """Of a run."""
        return self.checkpoints + self.evaluations * self.evaluation

    @property
    def least(self) -> int:
        """Of a run that keeps the fewest evaluations."""
        return self.checkpoints + self.fewest * self.evaluation

    @property
    def passing(self) -> int:
        """Of the evaluations that a run which keeps the fewest deletes at its end."""
        return self.superseded * self.evaluation


def disk_use(config: RunConfig, *, checkpoint: int, width: int, samples: int, vectors: int) -> DiskUse:
    """What one run of a config leaves.

    Args:
        checkpoint: bytes of one.
        width: numbers of an embedding.
        samples: of the test set.
        vectors: of classes, of the training set and of the probe that are stored with each evaluation.
    """
    settings = config.evaluation
    made = settings.untrained + -(-config.training.epochs // settings.every)
    fewest = min(made, settings.untrained + 2)
    query = FLOAT * width + NEIGHBOUR * min(settings.neighbours, samples) + RANKED + ROW
    evaluation = samples * query + vectors * (FLOAT * width + LABEL)
    kept = made if settings.keep == "all" else fewest
    return DiskUse(checkpoint, evaluation, kept, fewest, min(made - fewest, SUPERSEDED))
