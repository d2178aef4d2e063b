"""The importance of a sweep's parameters in a report of its runs."""

import numpy as np

from tests.unit.comparing.compared_runs import store
from workbench import reports
from workbench.entries import catalog
from workbench.reports.document import make
from workbench.reports.templates import templates
from workbench.reports.writing.blocks import Heading, Paragraph, Table
from workbench.settings.changed import changed, read_config
from workbench.sweeps import starting
from workbench.sweeps.importance import importance
from workbench.sweeps.plan import planned
from workbench.sweeps.space import read
from workbench.workspace.experiments import sweeps


def swept(workspace, run_id, *parameters):
    """Store a sweep of 40 trials whose values vary with the margin; the first has that run. Returns its number."""
    known = catalog.current()
    config = changed(read_config("sample-digits"), {"sampler.name": "classes_images"}, known, "test")
    plan = planned(config, [read(text) for text in parameters], "random", known, trials=40)
    number = starting.store(workspace, plan)
    with workspace.writing() as db:
        for place, trial in enumerate(sweeps.trials(workspace, number)):
            value = (trial.setting.get("loss.margin", 1) + trial.setting["training.lr"]) / 2
            sql = "update sweep_trials set state = 'done', objective = ?, run_id = ? where id = ?"
            db.execute(sql, (value, None if place else run_id, trial.id))
    return number


RATE, LOSSES, MARGIN = "training.lr=0.001..0.1", "loss.name=ce,triplet", "loss.margin=0.05..0.4"


def blocks_of(workspace, *runs):
    sections = make(workspace, reports.wish_of(runs, ("importance", "runs")), reports.quiet).document.sections
    return {section.key: section.blocks for section in sections}


def test_a_report_of_a_sweeps_runs_has_its_importance(workspace):
    run = store(workspace, {1: np.full(6, 0.5)})
    number = swept(workspace, run, RATE, LOSSES, MARGIN)
    measured = importance(sweeps.one(workspace, number), sweeps.trials(workspace, number), catalog.current())
    title, table, *sentences = blocks_of(workspace, run)["importance"]
    assert isinstance(title, Heading)
    assert isinstance(table, Table)
    (part,) = measured.parts
    assert [row[0] for row in table.rows] == ["Loss", "Learning rate", "Margin (Triplet)"]
    assert [row[-1] for row in table.rows] == ["40", "40", str(part.measured.settings)]
    (share,) = part.shares
    assert table.rows[-1][1:4] == tuple(f"{100 * number:.1f}" for number in (share.share, share.low, share.high))
    said = " ".join(span.text for one in sentences if isinstance(one, Paragraph) for span in one.spans)
    assert "They show no cause." in said
    assert f"Margin: of the variance {part.among} (R² " in said


def test_runs_of_no_sweep_and_of_a_sweep_of_one_parameter_have_no_such_section(workspace):
    first, second = (store(workspace, {1: np.full(6, value)}, seed=seed) for seed, value in enumerate((0.5, 0.6)))
    assert list(blocks_of(workspace, first)) == ["runs"]
    swept(workspace, second, RATE)
    assert list(blocks_of(workspace, first, second)) == ["runs"]


def test_a_sweep_with_too_few_settings_says_why_there_are_no_shares(workspace):
    run = store(workspace, {1: np.full(6, 0.5)})
    swept(workspace, run, RATE, LOSSES)
    with workspace.writing() as db:
        db.execute("update sweep_trials set state = 'queued', objective = null where point > 3")
    _, sentence = blocks_of(workspace, run)["importance"]
    assert sentence.spans[0].text.endswith("there are 3.")


def test_only_the_newest_sweeps_are_computed_and_the_others_counted(workspace, monkeypatch):
    monkeypatch.setattr("workbench.reports.content.sweep_content.MOST_SWEEPS", 1)
    runs = [store(workspace, {1: np.full(6, 0.5)}, seed=seed) for seed in range(3)]
    for run in runs:
        swept(workspace, run, RATE, LOSSES)
    title, *_, last = blocks_of(workspace, *runs)["importance"]
    assert title.spans[0].text.startswith("Sweep 3, ")
    assert last.spans[0].text == "2 older sweeps of these runs are left out: report them separately."


def test_a_comparison_has_the_section_and_an_appendix_offers_it():
    assert "importance" in templates()["comparison"].ticked
    appendix = templates()["paper-appendix"]
    assert "importance" in appendix.order
    assert "importance" not in appendix.ticked
