"""Reports: whole, self-contained, true to the numbers, and safe with any name."""

import base64
import csv
import hashlib
import json
import math
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from tests.full_disk import full_for
from tests.ui.trained import trained_run
from tests.unit.comparing.compared_runs import images, store
from workbench import files, reports
from workbench.config import Choice, RunConfig
from workbench.events import Ended, Scalar
from workbench.exchange.imported.gallery_import import import_gallery
from workbench.files.spreadsheet import csv_cell
from workbench.problem import Problem
from workbench.progress import quiet
from workbench.reports.document import Wish, make
from workbench.reports.formats.latex import escaped
from workbench.reports.writing.blocks import Paragraph, Table
from workbench.results.slices import slices
from workbench.workspace import Workspace
from workbench.workspace.choices.sample_tags import tag_sample
from workbench.workspace.database.problems import Busy, Full
from workbench.workspace.measured.stored_maps import Measured, store_map
from workbench.workspace.recorder import Recorder

HOSTILE = "</title><script>alert(1)</script><img src=x onerror=alert(1)> =1+1 \\input{/etc/passwd} & 100% $x_1$ #"
SUPERVISED_BY_NONE = {"n_neighbors": 15, "min_dist": 0.1, "metric": "cosine", "target_weight": 0.0}


@pytest.fixture
def run_id(workspace, tmp_path):
    return trained_run(workspace, tmp_path / "cache", name=HOSTILE)


class Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.places = [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.places += [value for name, value in attributes if name in ("src", "href", "data", "action")]
        assert not [name for name, _ in attributes if name.startswith("on")]


def test_html_is_one_file_that_runs_its_own_script_and_nothing_else(workspace, run_id, tmp_path):
    [path] = reports.write_report(workspace, run_id, tmp_path / "out", notes=HOSTILE)
    text = path.read_text("utf-8")
    found = Links()
    found.feed(text)
    assert found.tags.count("script") == 1
    assert all(place.startswith(("data:image/", "#")) for place in found.places)
    assert len([place for place in found.places if place.startswith("data:")]) > 60
    assert "default-src 'none'" in text
    script = text[text.index("<script>") + 8 : text.index("</script>", text.index("<script>"))]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in text
    assert "&lt;script&gt;" in text
    assert len(text) < 5_000_000


def test_html_says_the_numbers_with_their_intervals(workspace, run_id, tmp_path):
    [path] = reports.write_report(workspace, run_id, tmp_path / "out")
    text = path.read_text("utf-8")
    best = workspace.run(run_id).best
    assert f"{best['MAP@R']:.2%}" in text
    assert f"{best['MAP@R/low']:.2%} to {best['MAP@R/high']:.2%}" in text
    assert "PCA" in text
    assert "over queries of one run, not over seeds" in text


def sentences(workspace, number, sections=("summary", "metrics"), **wish):
    """The paragraphs of a report, of the summary and the metrics unless other sections are asked for."""
    document = make(workspace, Wish((number,), sections=sections, **wish), quiet).document
    blocks = [block for section in document.sections for block in section.blocks if isinstance(block, Paragraph)]
    return ["".join(span.text for span in block.spans) for block in blocks]


def test_a_report_of_one_run_says_on_which_images_its_best_epoch_was_chosen(workspace, run_id):
    said = "Optimistic: the best epoch was chosen on the test set."
    *summary, metrics = sentences(workspace, run_id)
    assert said in summary
    assert metrics.endswith(said)
    assert "Optimistic" not in sentences(workspace, run_id, at=2)[-1], "no epoch was chosen for these numbers"


def test_the_scores_of_tags_stand_below_those_of_classes(workspace, run_id, tmp_path):
    def tables():
        document = make(workspace, Wish((run_id,), sections=("classes",)), quiet).document
        return {block.key: block for block in document.sections[0].blocks if isinstance(block, Table)}

    assert "tags" not in tables()
    data, evaluation = workspace.run(run_id).dataset_id, workspace.evaluations(run_id)[-1]
    for row, sample in enumerate(workspace.queries(evaluation.id).sample_ids.tolist()):
        tag_sample(workspace, data, sample, f"view={HOSTILE[:40]}" if row % 3 else "view==1+1")
    shown = max(workspace.evaluations(run_id), key=lambda stored: stored.metrics["MAP@R"])
    entries = slices(workspace, shown.id)
    table = tables()["tags"]
    assert [row[0] for row in table.rows] == [entry.tag for entry in entries]
    assert [row[3] for row in table.rows] == [f"{100 * entry.map_at_r:.2f}%" for entry in entries]
    written = reports.write_report(workspace, run_id, tmp_path / "out", formats=("html", "csv"))
    page = next(path for path in written if path.suffix == ".html").read_text("utf-8")
    assert "<script>alert" not in page
    assert "view=&lt;/title&gt;" in re.sub("<wbr/?>|\u200b", "", page)
    rows = list(csv.reader((tmp_path / "out" / "tags.csv").read_text("utf-8").splitlines()))
    assert [float(row[4]) for row in rows[1:]] == [entry.map_at_r for entry in entries]


def test_letters_that_turn_the_direction_of_a_line_are_shown_in_tables_and_sentences(workspace, run_id, tmp_path):
    turned = "\u202egnp.exe"
    data, evaluation = workspace.run(run_id).dataset_id, workspace.evaluations(run_id)[-1]
    tag_sample(workspace, data, int(workspace.queries(evaluation.id).sample_ids[0]), turned)
    with workspace.writing() as db:
        facts = json.dumps({"own_loop": {"program": turned}, "versions": {turned: turned}})
        db.execute("update runs set environment = ?", (facts,))
    sections = ("summary", "classes", "environment")
    [path] = reports.write_report(workspace, run_id, tmp_path / "out", sections=sections)
    page = re.sub("<wbr/?>|\u200b", "", path.read_text("utf-8"))
    assert "\u202e" not in page
    assert page.count("\\u202egnp.exe") == 4
    assert f"in {turned}".replace("\u202e", "\\u202e") in page


def test_queries_left_out_are_explained_in_words_that_hold_for_a_gallery_too(workspace):
    shown = images(10, official=["query"] * 4 + ["gallery"] * 6)
    number = store(workspace, {1: np.full(10, 0.5)}, shown=shown, metrics={"queries": 3, "queries/left_out": 1})
    said = sentences(workspace, number)[-1]
    assert said.startswith("3 queries, 1 left out because no other image searched is of their class; distance:")


def test_queries_that_are_all_alike_give_no_interval(workspace):
    limits = {"recall@1/low": 1.0, "recall@1/high": 1.0, "MAP@R/low": 0.6, "MAP@R/high": 0.8}
    number = store(workspace, {1: np.full(6, 0.7)}, metrics=limits)
    document = make(workspace, Wish((number,), sections=("summary", "metrics")), quiet).document
    (table,) = (block for section in document.sections for block in section.blocks if isinstance(block, Table))
    assert {row[0]: row[2] for row in table.rows} == {"R@1": "–", "MAP@R": "60.00% to 80.00%"}
    assert "There is none where all queries have the same value." in sentences(workspace, number)[-1]
    assert [tile.note for tile in document.tiles[:2]] == ["95% interval 60.0 to 80.0", "on the test set"]


def test_what_the_numbers_of_neighbours_are_is_said(workspace, run_id):
    assert sentences(workspace, run_id, ("queries",)) == ["The number beside a mark is the cosine to the query."]
    with workspace.writing() as db:
        db.execute("update evaluations set distance = 'l2'")
    (said,) = sentences(workspace, run_id, ("queries",))
    assert said == "The number beside a mark is minus the L2 distance to the query."


def test_a_best_epoch_that_was_chosen_elsewhere_or_before_training_is_said_to_be(workspace):
    held_out = store(workspace, {1: np.full(6, 0.5), 2: np.full(6, 0.7)}, metrics={"validation/MAP@R": 0.4})
    elsewhere = "The best epoch was chosen by MAP@R of images that are held out, not on the test set."
    assert elsewhere in sentences(workspace, held_out)
    fell = store(workspace, {0: np.full(6, 0.7), 1: np.full(6, 0.5)})
    assert sentences(workspace, fell)[-1].endswith(
        "It is before training, so the loss did not contribute to the numbers."
    )
    once = store(workspace, {1: np.full(6, 0.5)})
    assert not [said for said in sentences(workspace, once) if "chosen" in said], "there was nothing to choose from"


def test_a_report_of_one_run_is_about_the_epoch_that_is_asked_for(workspace, run_id, tmp_path):
    first, best = workspace.evaluations(run_id)[0], workspace.run(run_id)
    assert first.epoch != best.best_epoch
    paths = reports.write_report(workspace, run_id, tmp_path / "out", formats=["html", "csv"], at=first.epoch)
    text = paths[0].read_text("utf-8")
    assert f"Metrics, map, queries and classes are those of epoch {first.epoch}: " in text
    assert f"{first.metrics['MAP@R/low']:.2%} to {first.metrics['MAP@R/high']:.2%}" in text
    assert f"test images, epoch {first.epoch}" in text, "the map's caption"
    assert f"Best at epoch {best.best_epoch}: MAP@R {best.best['MAP@R']:.2%}" in text
    with (tmp_path / "out" / "metrics.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["metric"]: row for row in csv.DictReader(file)}
    assert float(rows["MAP@R"][f"epoch_{first.epoch}"]) == first.metrics["MAP@R"]


def test_an_epoch_that_a_run_was_not_evaluated_at_is_a_sentence(workspace, run_id, tmp_path):
    with pytest.raises(Problem, match=rf"Run {run_id} has no evaluation at epoch 99\. Stored epochs: 0, "):
        reports.write_report(workspace, run_id, tmp_path / "out", at=99)
    assert not (tmp_path / "out").exists()


def test_a_stored_umap_is_the_map_of_the_report(workspace, run_id, tmp_path):
    best = max(workspace.evaluations(run_id), key=lambda each: each.metrics["MAP@R"])
    points = np.random.default_rng(0).normal(size=(40, 2))
    store_map(workspace, best.id, "umap", SUPERVISED_BY_NONE, 7, points, points[:4], {}, Measured(0.98))
    [path] = reports.write_report(workspace, run_id, tmp_path / "out")
    text = path.read_text("utf-8")
    assert "UMAP (15 neighbours, minimum distance 0.1, cosine), seed 7, trustworthiness 0.9800" in text
    assert "target_weight" not in text


def test_pdf_is_whole_and_has_pages(workspace, run_id, tmp_path):
    [path] = reports.write_report(workspace, run_id, tmp_path / "out", formats=["pdf"])
    data = path.read_bytes()
    assert data.startswith(b"%PDF-")
    assert data.rstrip().endswith(b"%%EOF")
    assert int(re.search(rb"/Type/Pages/Count (\d+)", data)[1]) >= 3


def test_csv_comes_back_exactly_and_holds_no_formula(workspace, run_id, tmp_path):
    reports.write_report(workspace, run_id, tmp_path / "out", formats=["csv"])
    rows = list(csv.DictReader((tmp_path / "out" / "scalars.csv").read_text("utf-8").splitlines()))
    steps, values = workspace.scalars(run_id, "batch/loss")
    loss = [(int(row["step"]), float(row["value"])) for row in rows if row["name"] == "batch/loss"]
    assert loss == list(zip(steps.tolist(), values.tolist(), strict=True))
    for path in (tmp_path / "out").glob("*.csv"):
        for row in csv.reader(path.read_text("utf-8").splitlines()):
            assert not [cell for cell in row if cell[:1] in "=+@" and cell]


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("=1", "'=1"),
        ("+x", "'+x"),
        ("-x", "'-x"),
        ("@a", "'@a"),
        ("\tx", "'\tx"),
        (-0.5, -0.5),
        ("ok", "ok"),
        ("", ""),
        (math.nan, ""),
        (np.float32("nan"), ""),
        (math.inf, math.inf),
        (None, None),
    ],
)
def test_cells(given, written):
    assert csv_cell(given) == written


def test_latex_shows_commands_instead_of_obeying_them(workspace, run_id, tmp_path):
    written = reports.write_report(workspace, run_id, tmp_path / "out", formats=["latex"])
    text = next(path for path in written if path.suffix == ".tex").read_text("utf-8")
    assert "\\input" not in text
    assert "\\textbackslash{}input\\{" in text
    assert "\\toprule" in text
    assert all((tmp_path / "out" / name).exists() for name in re.findall(r"\{(figures/[^}]+)\}", text))
    assert escaped("50% & _a_") == r"50\% \& \_a\_"


def test_figures_are_svg_with_text_pdf_and_png(workspace, run_id, tmp_path):
    written = reports.write_report(workspace, run_id, tmp_path / "out", formats=["figures"])
    names = {path.name for path in written}
    assert {"ce-spce.svg", "ce-spce.pdf", "ce-spce.png", "map.svg", "worst.png"} <= names
    assert "<text" in (tmp_path / "out" / "figures" / "ce-spce.svg").read_text("utf-8")


def test_a_run_without_evaluation_is_reported_honestly(workspace, tmp_path):
    run_id = workspace.create_run(RunConfig(name="young"))
    Recorder(workspace, run_id)(Ended("failed", "The data set is empty."))
    written = reports.write_report(workspace, run_id, tmp_path / "out", formats=["html", "pdf", "csv", "latex"])
    text = written[0].read_text("utf-8")
    assert f"Run {run_id} has no evaluation yet." in text
    assert "The data set is empty." in text


def test_of_embeddings_that_are_only_searched_no_evaluation_is_awaited(workspace, tmp_path):
    np.save(tmp_path / "vectors.npy", np.eye(8, dtype=np.float32))
    run_id = import_gallery(workspace, tmp_path / "vectors.npy")
    (path,) = reports.write_report(workspace, run_id, tmp_path / "out", formats=["html"])
    text = path.read_text("utf-8")
    assert f"Run {run_id} has no evaluation: it was imported to be searched only." in text
    assert "evaluation yet" not in text


def test_a_full_disk_keeps_the_old_report(workspace, run_id, tmp_path, monkeypatch):
    [path] = reports.write_report(workspace, run_id, tmp_path / "out", sections=["summary"])
    before = path.read_bytes()

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(Problem, match="no space left"):
        reports.write_report(workspace, run_id, tmp_path / "out", sections=["summary"], title="another")
    assert path.read_bytes() == before
    assert [each.name for each in (tmp_path / "out").iterdir()] == ["report.html"]


def test_what_there_is_not_is_named(workspace, run_id, tmp_path):
    with pytest.raises(Problem, match="no format 'doc'"):
        reports.write_report(workspace, run_id, tmp_path, formats=["doc"])
    with pytest.raises(Problem, match="no section 'thanks'"):
        reports.write_report(workspace, run_id, tmp_path, sections=["thanks"])
    with pytest.raises(Problem, match="no run 99"):
        reports.write_report(workspace, 99, tmp_path)


def test_the_report_is_an_artefact_of_the_run(workspace, run_id, tmp_path):
    [path] = reports.write_report(workspace, run_id, tmp_path / "out", sections=["summary"])
    assert workspace.artefacts(run_id, "report") == [path]
    assert math.isfinite(path.stat().st_size)


@pytest.mark.parametrize("why", [Full, lambda path: Busy(f"{path} is locked.")])
def test_a_report_is_written_where_the_workspace_has_no_room_for_its_row(workspace, run_id, tmp_path, monkeypatch, why):
    def refused(*_):
        raise why(workspace.database)

    monkeypatch.setattr(workspace, "add_artefact", refused)
    [path] = reports.write_report(workspace, run_id, tmp_path / "out", sections=["summary"])
    assert path.exists()


def test_a_negative_number_is_no_formula(workspace, tmp_path):
    run_id = workspace.create_run(RunConfig(name="negative"))
    recorder = Recorder(workspace, run_id)
    recorder(Scalar("anatomy/bound", 1, -0.5))
    recorder(Ended("done"))
    reports.write_report(workspace, run_id, tmp_path / "out", formats=["csv"])
    lines = (tmp_path / "out" / "scalars.csv").read_text("utf-8").splitlines()
    assert lines == ["name,step,value", "anatomy/bound,1,-0.5"]


def test_a_loss_below_zero_is_drawn_on_a_plain_axis(workspace, tmp_path):
    from workbench.reports.content import gathering
    from workbench.reports.figures import run_figures as figures

    run_id = workspace.create_run(RunConfig())
    recorder = Recorder(workspace, run_id)
    for step, value in enumerate((0.5, -0.25, math.nan), start=1):
        recorder(Scalar("batch/loss", step, value))
    recorder(Ended("done"))
    drawn = figures.draw(gathering.gather(workspace, run_id, ("curves",), ""))
    assert drawn["loss"].figure().axes[0].get_yscale() == "linear"


def test_a_run_of_another_workbench_with_a_parameter_of_its_own_is_reported(tmp_path):
    with Workspace(tmp_path / "other", create=True) as workspace:
        number = workspace.create_run(RunConfig(name="Old", loss=Choice(name="ce", params={"unheard": 1.5})))
        made = make(workspace, reports.wish_of(number, ("settings",)), quiet)
    cells = [row for block in made.document.sections[0].blocks if isinstance(block, Table) for row in block.rows]
    assert any("1.5" in row for row in cells)


@pytest.mark.parametrize("formats", [["csv", "html"], ["html"]])
def test_a_report_for_which_there_is_no_room_leaves_no_file_and_no_folder(
    workspace, run_id, tmp_path, monkeypatch, formats
):
    full_for(monkeypatch, "report.html")
    with pytest.raises(Problem, match="no space left"):
        reports.write_report(workspace, run_id, tmp_path / "new" / "out", formats, ["summary"])
    assert not (tmp_path / "new").exists()


def test_a_bundle_for_which_there_is_no_room_leaves_no_folder(workspace, run_id, tmp_path, monkeypatch):
    full_for(monkeypatch, "report.zip")
    with pytest.raises(Problem, match="no space left"):
        reports.write_bundle(workspace, reports.wish_of(run_id, ("notes",)), tmp_path / "new" / "report.zip")
    assert not (tmp_path / "new").exists()
