"""Search a run's test set with the user's own images: embed with a checkpoint, compare with every embedding."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from workbench import files
from workbench.config import RunConfig
from workbench.datasets.images.loader import WHOLE, BadImage, bits_of, load
from workbench.evaluation.conventions import ball_distances, ball_gaps
from workbench.problem import Problem, UnknownName
from workbench.progress import Progress, quiet
from workbench.running import trained_network
from workbench.workspace import Workspace
from workbench.workspace.folders import deleted_checkpoints
from workbench.workspace.rows import Dataset, Evaluation, Neighbour

SHOWN = 48  # neighbours, unless another number is asked for
AT_ONCE = 64  # images that are embedded together
NAMED = 5  # unreadable images that one message names
BEST, LAST = "best", "last"
BACK_OR_OTHER = "Bring them back from an export or a backup, or choose another run."
Epoch = str | int  # BEST, LAST, or the number of an epoch


@dataclass(frozen=True, slots=True, eq=False)
class OwnImage:
    """An image to search with."""

    name: str
    source: Path | np.ndarray  # a file, or pixels uint8 [h, w, 3]

    def read(self, bits: int = WHOLE) -> np.ndarray:
        """Its pixels, uint8 [h, w, 3]; `bits` as for `load`. Raises BadImage when the file cannot be read."""
        return load(self.source, bits=bits) if isinstance(self.source, Path) else self.source


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """The result of a search with one image."""

    name: str
    picture: np.ndarray  # uint8 [h, w, 3]
    evaluation: Evaluation  # of the network that embedded the image
    neighbours: list[Neighbour]  # best first; `right` is meaningless, because the image's class is unknown


def search(
    workspace: Workspace,
    run_id: int,
    images: Sequence[OwnImage],
    k: int = SHOWN,
    epoch: Epoch = BEST,
    evaluation_id: int | None = None,
    progress: Progress = quiet,
) -> list[Answer]:
    """Find the test images nearest to some images, by the distance of the run's evaluations.

    An image is compared with the embeddings of the network that embeds it: embeddings of other epochs are in another
    space. A run keeps the networks of its best and of its last epoch.

    Args:
        images: at least one.
        k: neighbours of each, at least 1; limited to the size of the test set. Ties go to the lower sample id.
        epoch: which network.
        evaluation_id: names the network by its evaluation, instead of an epoch.

    Returns:
        One answer for each image, in the order given.

    Raises:
        Problem: an image that cannot be read; a run that was imported, or that has no checkpoint; no checkpoint or no
            evaluation of that epoch. The best and the last network of a test are the one that it is of.
        Cancelled: by `progress`.
    """
    progress("Reading the images", 0, 3)
    config = RunConfig.recorded(workspace.run(run_id).config)
    pictures = _read(images, bits_of(config.dataset.params))
    progress("Loading the network", 1, 3)
    network, evaluation = kept_network(workspace, run_id, epoch, evaluation_id)
    data = network.dataset
    ids, labels, embeddings = workspace.embeddings(evaluation.id)
    stored = ids, labels, np.asarray(embeddings)
    answers: list[Answer] = []
    for start in range(0, len(pictures), AT_ONCE):
        progress("Comparing", 2, 3)
        for query in network.embed([image.source for image in images[start : start + AT_ONCE]]):
            near = nearest(query, stored, evaluation.distance, data, k)
            image = len(answers)
            answers.append(Answer(images[image].name, pictures[image], evaluation, near))
    return answers


def nearest(
    query: np.ndarray, stored: tuple[np.ndarray, np.ndarray, np.ndarray], distance: str, data: Dataset, k: int
) -> list[Neighbour]:
    """The k stored samples nearest to a query [d], best first; ties go to the lower sample id.

    `stored` are sample ids [n], labels [n] and embeddings [n, d] of an evaluation of that data set. Raises Problem if
    they are of another width than the query, as where a workspace names another network than the one that made them.
    """
    ids, labels, embeddings = stored
    if embeddings.shape[1] != len(query):
        what = f"The network's embeddings have {len(query):,} dimensions, the stored ones {embeddings.shape[1]:,}."
        raise Problem(what, kept="Nothing was changed.", todo="They belong to another network: choose another run.")
    scores = similarities(query, embeddings, distance)
    return [
        Neighbour(rank, int(ids[row]), float(scores[row]), False, int(labels[row]), data.class_name(int(labels[row])))
        for rank, row in enumerate(np.lexsort((ids, -scores))[:k], start=1)
    ]


def similarities(query: np.ndarray, embeddings: np.ndarray, distance: str) -> np.ndarray:
    """Cosine (0 for a zero vector), or minus the distance, of a query [d] to embeddings [n, d]: [n]."""
    if distance == "l2":
        return np.asarray(-np.linalg.norm(embeddings - query, axis=1))
    if distance == "hyperbolic":
        near, asked = np.asarray(embeddings, np.float64), np.asarray(query, np.float64)
        squares = ((near - asked) ** 2).sum(1)
        return -ball_distances(ball_gaps(squares, (near**2).sum(1), (asked**2).sum()))
    lengths = np.linalg.norm(embeddings, axis=1) * np.linalg.norm(query)
    return np.asarray(embeddings @ query / np.maximum(lengths, 1e-12))


def _read(images: Sequence[OwnImage], bits: int) -> list[np.ndarray]:
    """The pixels of all images, `bits` as for `load`. Raises a Problem that names those that cannot be read."""
    pictures, unreadable = [], []
    for image in images:
        try:
            pictures.append(image.read(bits))
        except BadImage as reason:
            unreadable.append(f"{image.name} {reason}")
    if unreadable:
        more = f", and {len(unreadable) - NAMED:,} more" if len(unreadable) > NAMED else ""
        todo = "Choose another image." if len(images) == 1 else "Leave them out, or choose others."
        raise Problem(f"{'; '.join(unreadable[:NAMED])}{more}.", kept="Nothing was changed.", todo=todo)
    return pictures


def kept_network(
    workspace: Workspace, run_id: int, epoch: Epoch = BEST, evaluation_id: int | None = None
) -> tuple[trained_network.Trained, Evaluation]:
    """A network that the run keeps, and the evaluation of its weights. Raises Problem as `search`."""
    config = RunConfig.recorded(workspace.run(run_id).config)
    checkpoints, home = _checkpoints(workspace, run_id, config), workspace.folder(run_id)
    evaluations = workspace.evaluations(run_id)
    wanted: Evaluation | None = None
    if evaluation_id is not None:
        wanted = next((evaluation for evaluation in evaluations if evaluation.id == evaluation_id), None)
        if wanted is None:
            there = ", ".join(str(evaluation.id) for evaluation in evaluations)
            raise UnknownName(f"Run {run_id} has no evaluation {evaluation_id}.", todo=f"It has {there}.")
        epoch = wanted.epoch
    if (source := tested_network(config)) is not None:
        network, made_with_it = _network_tested(workspace, run_id, source.run, checkpoints[0])
        if wanted is None and isinstance(epoch, int) and epoch != network.epoch:
            raise UnknownName(
                f"Run {run_id} is a test of the network of run {source.run} after epoch {network.epoch}: it has none "
                f"of epoch {epoch}.",
                todo=f"Name epoch {network.epoch}, or run {source.run} for its other networks.",
            )
        return network, made_with_it if wanted is None else wanted
    gone = deleted_checkpoints.stands_still(home)
    if isinstance(epoch, str):
        if epoch == LAST and gone:
            raise Problem(f"The last checkpoint of run {run_id} was deleted on {gone}.", todo="Choose the best epoch.")
        network = trained_network.trained(workspace, run_id, checkpoints[0 if epoch == LAST else -1])
        return network, _evaluation(evaluations, network, f"this run's {epoch} checkpoint")
    kept: list[int] = []
    for checkpoint in reversed(checkpoints):
        network = trained_network.trained(workspace, run_id, checkpoint)
        if network.epoch == epoch:
            made_with_it = _evaluation(evaluations, network, f"the checkpoint of epoch {epoch}")
            return network, made_with_it if wanted is None else wanted
        kept.append(network.epoch)
    epochs = " and ".join(str(number) for number in sorted(set(kept)))
    of_epochs = f"epochs {epochs}" if len(set(kept)) > 1 else f"epoch {epochs}"
    deleted = f" The last one was deleted on {gone}." if gone else ""
    raise UnknownName(
        f"Run {run_id} has no checkpoint of epoch {epoch}, only of {of_epochs}.{deleted}",
        todo="Choose one of these: an image can be compared only with embeddings of the network that embeds it.",
    )


def check_network(workspace: Workspace, run_id: int, epoch: int | None = None) -> None:
    """Raise Problem, as `search`, if the run keeps no network, or surely none of this epoch; nothing is loaded."""
    config = RunConfig.recorded(workspace.run(run_id).config)
    _checkpoints(workspace, run_id, config)
    if epoch == 0 and not config.imported:
        raise UnknownName(
            f"The network of run {run_id} before training is not kept, so there is none to embed an image with.",
            todo="Choose its last epoch.",
        )


def _checkpoints(workspace: Workspace, run_id: int, config: RunConfig) -> list[Path]:
    """The checkpoints of the run, the last first; of a test, the one that it tests. Raises Problem if there is none."""
    if (source := tested_network(config)) is not None:
        return [_checkpoint_tested(workspace, run_id, source)]
    if config.imported or config.own_loop:
        came = "imported from another program" if config.imported else "recorded by your own training loop"
        raise Problem(
            f"Run {run_id} was {came}: its network is not here to embed an image with.",
            todo="Choose a run that was trained in Workbench.",
        )
    checkpoints, home = trained_network.checkpoints(workspace, run_id), workspace.folder(run_id)
    if not checkpoints:
        if deleted_checkpoints.day_of(home):
            raise Problem(deleted_checkpoints.lack(run_id, home), todo=BACK_OR_OTHER)
        live = workspace.run(run_id).live
        raise Problem(
            f"Run {run_id} has no checkpoint, so there is no network to embed an image with.",
            todo=f"{'Wait for its first epoch' if live else 'Resume the run for an epoch'}, or choose another run.",
        )
    return checkpoints


@dataclass(frozen=True, slots=True)
class TestedNetwork:
    """The network whose embeddings of other images a run holds."""

    run: int  # that trained it, in the workspace where it was tested
    digest: str  # of its checkpoint, as `files.digest`


def tested_network(config: RunConfig) -> TestedNetwork | None:
    """The network that an imported run is a test of; None if its embeddings come from elsewhere."""
    if not config.imported:
        return None
    run, digest = (config.dataset.params.get(name) for name in ("network", "checkpoint"))
    return TestedNetwork(run, digest) if isinstance(run, int) and isinstance(digest, str) else None


def _checkpoint_tested(workspace: Workspace, run_id: int, source: TestedNetwork) -> Path:
    """The checkpoint that a run is a test of, known by its hash: in another workspace the number is another run's."""
    paths = trained_network.checkpoints(workspace, source.run)
    path = next((path for path in paths if files.digest(path) == source.digest), None)
    if path is None and (day := deleted_checkpoints.day_of_one(workspace.folder(source.run), source.digest)):
        raise Problem(
            f"Run {run_id} is a test of the network of run {source.run}, whose checkpoints were deleted on {day}.",
            todo=BACK_OR_OTHER,
        )
    if path is None or workspace.run(run_id).dataset_id is None:
        raise Problem(
            f"Run {run_id} is a test of the network of run {source.run}, which is no longer in this workspace.",
            todo="Test the run that trained it on these images again, or choose another run.",
        )
    return path


def _network_tested(
    workspace: Workspace, run_id: int, source: int, checkpoint: Path
) -> tuple[trained_network.Trained, Evaluation]:
    """The network of a run, with the data set and the evaluation of a run that is a test of it."""
    network, run = trained_network.trained(workspace, source, checkpoint), workspace.run(run_id)
    evaluations = workspace.evaluations(run_id)
    if not evaluations:  # a repair may not have restored it
        raise Problem(run.has_no("evaluation"), todo="Test the run that trained its network on these images again.")
    assert run.dataset_id is not None  # _checkpoint_tested has looked
    return replace(network, dataset=workspace.dataset(run.dataset_id)), evaluations[-1]


def _evaluation(evaluations: Sequence[Evaluation], network: trained_network.Trained, name: str) -> Evaluation:
    """The newest evaluation of a network. Raises Problem if there is none."""
    made_with_it = [evaluation for evaluation in evaluations if evaluation.step == network.step]
    if not made_with_it:
        raise Problem(f"There is no evaluation of {name} to compare with.", todo="Resume the run for an epoch.")
    return made_with_it[-1]
