"""The process that suggests classes: `python -m workbench.labelling.server`; jobs/serving.py has its protocol.

torch runs here, beside the window's process. Op: suggest.
"""

from workbench.jobs import serving
from workbench.jobs.serving import Message, Ops, field
from workbench.labelling.keeping import Labelling, answers_for, keep
from workbench.labelling.request import suggest
from workbench.progress import Progress
from workbench.workspace import Workspace


def suggest_and_keep(request: Message, progress: Progress) -> Message:
    """Suggest and keep. Answers with the run.

    Fields: workspace, evaluation, folder (of images), false_positives (FPIR), with_answers (whether the answers to the
    list that is replaced are kept).
    """
    with Workspace(field(request, "workspace", str)) as workspace:
        suggested = suggest(
            workspace, field(request, "evaluation", int), field(request, "folder", str),
            field(request, "false_positives", float), progress=progress,
        )  # fmt: skip
        answers = answers_for(workspace, suggested) if field(request, "with_answers", bool) else {}
        keep(workspace, Labelling(suggested, answers))
    return {"run": suggested.run}


OPS: Ops = {"suggest": suggest_and_keep}

if __name__ == "__main__":
    serving.run(OPS)
