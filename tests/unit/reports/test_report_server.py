"""The process that draws reports, as it really runs."""

from queue import SimpleQueue

from tests.ui.trained import trained_run
from tests.waits import HANG
from workbench.jobs import AnalysisProcess
from workbench.workspace import Workspace


def test_pages_and_files_are_written_and_trouble_is_an_answer(tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        run_id = trained_run(workspace, tmp_path / "cache")
    said = {
        "workspace": str(tmp_path / "space"),
        "sections": ["summary"],
        "title": "",
        "notes": "",
        "metric": "MAP@R",
        "at": "best",
    }
    answers = SimpleQueue()
    process = AnalysisProcess(answers.put, module="workbench.reports.server")

    def ask(op, **fields):
        process.request(op, **said, **fields)
        while (answer := answers.get(timeout=HANG))["event"] == "progress":
            pass
        return answer

    try:
        pages = ask("preview", runs=[run_id], dpi=40, out=str(tmp_path))
        written = ask("write", runs=[run_id], formats=["html", "csv"], out=str(tmp_path / "out"))
        unknown = ask("write", runs=[99], formats=["html"], out=str(tmp_path / "out"))
    finally:
        process.close()
    assert pages["pages"] == [str(tmp_path / "page-1.png")]
    assert (tmp_path / "page-1.png").read_bytes().startswith(b"\x89PNG")
    assert written["files"][0] == str(tmp_path / "out" / "report.html")
    assert (tmp_path / "out" / "metrics.csv").exists()
    assert unknown["what"].startswith("There is no run 99")
