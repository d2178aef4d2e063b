"""How well words find images: a sentence with the name of each class searches for the test images of the class."""

import numpy as np

from workbench.evaluation.conventions import VOTERS
from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.running.search.text_search import embedded_texts
from workbench.workspace import Workspace

SENTENCE = "a photo of a {}"
KS = (1, 5, VOTERS)


def sentence_of(class_name: str, sentence: str = SENTENCE) -> str:
    """The words that search for a class: "002.Laysan_Albatross" becomes "a photo of a Laysan Albatross"."""
    narrowest = class_name.rpartition("/")[2]
    number, dot, name = narrowest.partition(".")
    plain = name if dot and number.isdecimal() else narrowest
    return sentence.replace("{}", " ".join(plain.replace("_", " ").split()))


def text_scores(
    workspace: Workspace, run_id: int, sentence: str = SENTENCE, evaluation_id: int | None = None,
    progress: Progress = quiet,
) -> dict[str, float]:  # fmt: skip
    """Retrieval metrics of a query for each class of the test set, among all its images, by cosine.

    Args:
        sentence: with {} where the class's name goes.
        evaluation_id: one of the run's evaluations, the last by default.

    Returns:
        As evaluation.retrieval.retrieval_metrics, over classes: "recall@1", "recall@5", "recall@10", "MAP@R", ...

    Raises:
        Problem: a sentence without {}, or as running.search.text_search.search_texts.
        Cancelled: by `progress`.
    """
    if "{}" not in sentence:
        raise Problem("The sentence has no {} for the name of a class.", todo='Write it as "a photo of a {}".')
    from workbench.evaluation.retrieval import retrieval_metrics

    evaluation, embed = embedded_texts(workspace, run_id, evaluation_id, progress)
    _, labels, embeddings = workspace.embeddings(evaluation.id)
    data, asked = workspace.dataset(workspace.run(run_id).dataset_id or 0), np.unique(labels)
    queries = embed([sentence_of(data.class_name(int(label)), sentence) for label in asked])
    return retrieval_metrics(queries, asked, KS, "cosine", (np.asarray(embeddings), labels))
