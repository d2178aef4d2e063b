"""The numbers of a report's CSV tables are those that the pages show, rounded as the pages round them."""

import csv
import io

import pytest
from PySide6.QtCore import Qt

from tests.ui.browsed import at_rest, open_page
from tests.ui.plot_files import write_plot
from tests.ui.ticking import tick
from tests.ui.trained import trained_run
from workbench.files.spreadsheet import plain_cell
from workbench.reports import write_report
from workbench.reports.sections import ONE_RUN
from workbench.ui.pages.compare.groups.row_order import Kind
from workbench.ui.pages.compare.page import ComparePage
from workbench.ui.pages.map.model.method import MapMethod
from workbench.ui.pages.map.page import MapPage
from workbench.ui.pages.map.side.legend_row import COUNT_ROLE, NAME_ROLE, SCORE_ROLE
from workbench.ui.pages.train import TrainPage
from workbench.ui.style.words import NO_VALUE

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)  # Qt's offscreen platform, at every show


@pytest.fixture
def run_id(workspace, tmp_path):
    return trained_run(workspace, tmp_path / "cache")


@pytest.fixture
def exported(workspace, run_id, tmp_path):
    """`exported(name, *others)`: the rows of a CSV table of the report of the run, or of it and others, as dicts."""

    def read(name, *others):
        out = tmp_path / "report"
        sections = ["groups"] if others else ONE_RUN
        write_report(workspace, [run_id, *others], out, formats=["csv"], sections=sections)
        return list(csv.DictReader((out / name).read_text("utf-8").splitlines()))

    return read


def in_percent(share):
    return f"{100 * float(share):.1f}"


@pytest.fixture
def train(qtbot, session, run_id):
    page = qtbot.addWidget(TrainPage(session))
    page.resize(900, 700)
    page.show()
    session.show_run(run_id)
    qtbot.waitUntil(lambda: page.evaluations.table.model().rowCount() == 3)
    return page


def test_metrics_of_the_best_and_the_last_epoch(train, exported):
    table = train.evaluations.table.model()
    heads = [table.headerData(column, Qt.Orientation.Horizontal) for column in range(table.columnCount())]
    best = next(row for row in range(3) if "best" in table.index(row, 0).data())
    compared = 0
    for row in exported("metrics.csv"):
        title = f"{row['metric'].replace('recall@', 'R@')} % ↑"
        if title in heads:
            column = heads.index(title)
            assert table.index(best, column).data() == in_percent(row["best"]), row
            assert table.index(0, column).data() == in_percent(row["last"]), row
            compared += 1
    assert compared >= 5, "recall at four ranks and MAP@R"


def test_tiles(train, exported):
    metrics = {row["metric"].replace("recall@", "R@"): row for row in exported("metrics.csv")}
    assert train.tiles.score.number.text() == in_percent(metrics["MAP@R"]["best"])
    assert train.tiles.recall.number.text() == in_percent(metrics["R@1"]["best"])


def test_curves(train, exported, qtbot, tmp_path):
    stored = {}
    for row in exported("scalars.csv"):
        stored.setdefault(row["name"], {})[float(row["step"])] = float(row["value"])
    qtbot.waitUntil(lambda: len(train.curves.probe.curves["probe/spce"]) == 20)
    write_plot(train.curves.probe, tmp_path / "probe.csv")
    rows = list(csv.reader(io.StringIO((tmp_path / "probe.csv").read_text("utf-8"))))
    assert rows[0] == ["step", "CE", "SPCE"]
    assert {float(step): float(ce) for step, ce, _ in rows[1:]} == stored["probe/ce"]
    assert {float(step): float(spce) for step, _, spce in rows[1:]} == stored["probe/spce"]


def test_queries(qtbot, session, run_id, exported):
    page = open_page(qtbot, session)
    session.show_run(run_id)
    at_rest(qtbot, page)
    of_sample = {int(row["sample_id"]): row for row in exported("queries.csv")}
    model, listing = page.queries.table.model(), page.browsing.listing
    assert model.rowCount() == len(of_sample) == 40
    for row in range(40):
        stored = of_sample[listing.sample_id(row)]
        _, name, precision, hit = (model.index(row, column).data() for column in range(4))
        assert name == plain_cell(stored["class"])
        assert precision == in_percent(stored["ap"])
        assert hit.replace(",", "") == (stored["first_hit"] if int(stored["first_hit"]) else NO_VALUE)


def test_classes(qtbot, session, workspace, run_id, exported):
    page = MapPage(session)
    page.model.choose_method(MapMethod("axes"))
    qtbot.addWidget(page)
    page.show()
    session.show_run(run_id)
    model = page.legend.list.model()
    qtbot.waitUntil(lambda: model.rowCount() == 4)
    assert session.evaluation().epoch == 1, "the best, as in the report"
    of_class = {plain_cell(row["class"]): row for row in exported("classes.csv")}
    assert len(of_class) == 4
    for row in range(4):
        index = model.index(row, 0)
        stored = of_class[index.data(NAME_ROLE)]
        assert in_percent(index.data(SCORE_ROLE)) == in_percent(stored["map_at_r"])
        assert index.data(COUNT_ROLE) == int(stored["queries"])


def test_groups(qtbot, session, workspace, run_id, tmp_path, exported):
    other = trained_run(workspace, tmp_path / "cache", name="again")
    page = qtbot.addWidget(ComparePage(session))
    page.show()
    tick(qtbot, page, run_id, other)
    qtbot.waitUntil(lambda: page.groups.table.rowCount() > 0)
    table = page.groups.table
    value = next(number for number, column in enumerate(table.columns) if column.kind is Kind.VALUE)
    of_group = {plain_cell(row["group"]): row for row in exported("groups.csv", other)}
    assert {row.group.title for row in table.rows} == set(of_group)
    for number, row in enumerate(table.rows):
        stored = of_group[row.group.title]
        assert stored["metric"] == row.cells[0].metric
        assert table.index(number, value).data().startswith(f"{100 * float(stored['mean']):.2f}")
