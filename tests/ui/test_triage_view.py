"""Label triage beside its mock-up: buttons that say what they do, both classes in the ranking, precision, time left."""

from threading import Event

import numpy as np
import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from tests.ui.small_run import blobs, store_run
from tests.waits import HANG
from workbench.entries import catalog
from workbench.results.label_overlay import Triage, precision_path, read_triage
from workbench.results.stored import Stored
from workbench.results.triage import Suspect
from workbench.ui.pages.retrieval.triage import panel as triage_panel
from workbench.ui.pages.retrieval.triage.answer_button import AnswerButton
from workbench.ui.pages.retrieval.triage.class_ranks import ClassRanks
from workbench.ui.pages.retrieval.triage.model import TODO, TriageModel
from workbench.ui.pages.retrieval.triage.panel import TriagePanel
from workbench.ui.pages.retrieval.triage.precision_plot import PrecisionPlot
from workbench.ui.pages.retrieval.triage.summary import TriageSummary, time_left
from workbench.ui.pages.retrieval.triage.words import evidence
from workbench.ui.style import theme
from workbench.ui.widgets.flow import EvenFlow
from workbench.ui.widgets.numbers.shares_bar import SharesBar
from workbench.workspace.choices.label_decisions import DROP, KEEP, RELABEL, UNSURE, Decision, all_decisions

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints|does not support raise")
LABELS = np.repeat(np.arange(3), 12)
NAMES = ("ant", "bee", "cat & <b>dog</b>")
THIN = "\u202f"


@pytest.fixture
def panel(qtbot, session, workspace):
    table = blobs(LABELS, 0.4, 1, width=16)
    table[5] = table[20] * 0.8 + table[2] * 0.2  # an ant among the bees
    session.show_run(store_run(workspace, LABELS, embeddings=[table], class_names=NAMES).run_id)
    view = qtbot.shown(TriagePanel(session), 1150, 720)
    qtbot.waitUntil(lambda: view.model.triage is not None)
    return view


def answered(count, moments):
    """A model of ten suspects, of which the first are answered."""
    suspects = [Suspect(number, "label", 0, 1, 0.9, 8, 1, 10) for number in range(10)]
    near = np.array([[(row + step) % 10 for step in range(1, 6)] for row in range(10)])
    stored = Stored(np.arange(10), np.zeros(10, int), np.ones((10, 2)), near, np.ones(10), np.full(10, 9))
    model = TriageModel(iter(moments).__next__)
    model.show(Triage(1, 1, stored, suspects, {}))
    for _ in range(count):
        model.answer(KEEP)
    return model


@pytest.mark.parametrize("elsewhere", [False, True])
def test_the_list_takes_the_focus_unless_it_went_elsewhere_while_the_suspects_were_read(
    qtbot, session, workspace, monkeypatch, elsewhere
):
    let = Event()

    def slow(*asked):
        assert let.wait(HANG)
        return read_triage(*asked)

    monkeypatch.setattr(triage_panel, "read_triage", slow)
    table = blobs(LABELS, 0.4, 1, width=16)
    session.show_run(store_run(workspace, LABELS, embeddings=[table], class_names=NAMES).run_id)
    window = qtbot.addWidget(QWidget())
    column = QVBoxLayout(window)
    line, view = QLineEdit(), TriagePanel(session)
    column.addWidget(line)
    column.addWidget(view)
    view.hide()
    with qtbot.waitActive(window):
        window.show()
    view.show()
    if elsewhere:
        line.setFocus()
    let.set()
    qtbot.waitUntil(lambda: view.model.triage is not None)
    assert window.focusWidget() is (line if elsewhere else view.table)


def test_suspects_that_are_listed_whatever_their_suspicion_is_say_so_in_the_list(panel):
    kinds = [Suspect(number, kind, 0, 1, 0.55, 5, 4, 10) for number, kind in enumerate(("label", "ambiguous", "copy"))]
    stored = panel.model.triage.stored
    panel.show_triage(Triage(1, 1, stored, kinds, {0: Decision(0, KEEP), 1: Decision(1, KEEP)}))
    cells = [panel.rows.data(panel.rows.index(row, 1)) for row in range(3)]
    assert cells == ["0.55\nkept", "0.55\nkept", "0.55\nnear-copy"]
    panel.show_triage(Triage(1, 1, stored, kinds, {}))
    cells = [panel.rows.data(panel.rows.index(row, 1)) for row in range(3)]
    assert cells == ["0.55", "0.55\ntwo classes", "0.55\nnear-copy"]
    assert panel.also.isVisible()
    assert panel.also.text() == "Listed whatever their suspicion: 1 image between two classes and 1 near-copy."
    panel.show_triage(Triage(1, 1, stored, kinds[:1], {}))
    assert not panel.also.isVisible()


def test_a_queue_of_a_network_that_finds_little_is_doubted_in_the_list(panel):
    stored = panel.model.triage.stored
    suspects = [Suspect(number, "label", 0, 1, 0.9, 8, 1, 10) for number in range(10)]
    panel.show_triage(Triage(1, 1, stored, suspects, {}))
    assert panel.also.text().startswith("10 of 36 images are suspects. Most of them are errors of this network")
    panel.show_triage(Triage(1, 1, stored, suspects[:9], {}))
    assert panel.also.text() == ""


def test_a_negative_cosine_has_the_sign_of_minus():
    suspect = Suspect(1, "label", 0, 1, 0.9, 8, 1, 10, own_proxy=-0.182, other_proxy=0.67)
    assert evidence(suspect, "fan", "dog").endswith("nearer than its own: cosine 0.670 against −0.182.")


def test_the_answers_go_with_the_settings_of_the_run_to_set_up(panel, session, qtbot, tmp_path):
    session.set_catalog(catalog.current())
    offered, said = [], []
    session.config_offered.connect(offered.append)
    session.noticed.connect(said.append)
    suspect = panel.model.current.sample_id
    panel.answer(DROP)
    panel.set_up_with(tmp_path / "answers.csv")
    qtbot.waitUntil(lambda: bool(offered or said))
    (config,) = offered
    assert said == []
    assert config.training.label_decisions == config.evaluation.label_decisions == str(tmp_path / "answers.csv")
    assert config.name.endswith(", corrected labels")
    assert session.page == "setup"
    samples = session.workspace.samples(panel.model.triage.dataset_id)
    path = dict(zip(samples.ids.tolist(), samples.paths, strict=True))[suspect]
    assert f"{path},ant,drop," in (tmp_path / "answers.csv").read_text("utf-8").splitlines()


def test_the_buttons_say_what_they_do_to_this_image(panel):
    suspect, answers = panel.suspect, panel.suspect.answers
    assert panel.model.current.label == 0
    assert panel.model.current.suggested == 1
    words = [(answers[word].answer, answers[word].meaning) for word in (KEEP, RELABEL, DROP, UNSURE)]
    assert words == [
        ("Keep ant", "label is right"), ("Relabel to bee", "as suspected"), ("Drop", "cannot be used"),
        ("Unsure", "ask again later"),
    ]  # fmt: skip
    assert [button.accessibleName()[-3:] for button in answers.values()] == ["(K)", "(R)", "(D)", "(U)"]
    assert answers[KEEP].toolTip().startswith("Keep ant (K): label is right")
    suspect.new_class.setCurrentIndex(2)
    assert (answers[RELABEL].answer, answers[RELABEL].meaning) == (f"Relabel to {NAMES[2]}", "as chosen")
    assert "&lt;b&gt;dog" in answers[RELABEL].toolTip(), "a name is no markup"


def test_a_button_is_pressed_by_mouse_and_by_space(panel, qtbot, workspace):
    first, dataset = panel.model.current, panel.model.triage.dataset_id
    panel.suspect.answers[DROP].setFocus()
    qtbot.keyClick(panel.suspect.answers[DROP], Qt.Key.Key_Space)
    assert all_decisions(workspace, dataset)[first.sample_id].decision == DROP
    panel.take_back()
    qtbot.mouseClick(panel.suspect.answers[RELABEL], Qt.MouseButton.LeftButton)
    assert all_decisions(workspace, dataset)[first.sample_id] == Decision(first.sample_id, RELABEL, 1)


def test_the_list_says_the_answer_below_the_suspicion(panel):
    suspicion = panel.model.current.suspicion
    at = panel.rows.index(panel.model.at, 1)
    assert at.data() == f"{suspicion:.2f}"
    panel.answer(KEEP)
    assert at.data() == f"{suspicion:.2f}\nkept"


def test_neighbours_are_as_large_as_the_card_allows(panel, qtbot):
    def side() -> set[int]:
        return {picture.width() for row in panel.suspect.near for picture in row}

    for width, expected in ((1000, 60), (1500, 140), (1150, 80), (2000, 180), (1300, 100)):
        panel.resize(width, 720)
        qtbot.waitUntil(lambda expected=expected: side() == {expected})


def test_nothing_can_be_answered_where_nothing_is_listed(panel):
    panel.filter.setCurrentIndex(2)
    panel.filter.activated.emit(2)
    answers = panel.suspect.answers
    assert not any(button.isEnabled() for button in answers.values())
    assert (answers[KEEP].answer, answers[RELABEL].answer) == ("Keep", "Relabel")
    assert panel.suspect.ranks.isHidden()


@pytest.mark.parametrize(("width", "columns"), [(700, 4), (400, 2), (150, 1)])
def test_four_answers_stand_in_full_lines(qtbot, width, columns):
    holder, flow = QWidget(), EvenFlow()
    qtbot.addWidget(holder)
    buttons = [AnswerButton(key, "Answer", "meaning") for key in "KRDU"]
    for button in buttons:
        flow.addWidget(button)
    holder.setLayout(flow)
    flow.setGeometry(QRect(0, 0, width, flow.heightForWidth(width)))
    places = [button.geometry() for button in buttons]
    assert sum(place.top() == 0 for place in places) == columns
    assert len({place.width() for place in places}) == 1
    assert max(place.right() for place in places) in range(width - columns, width)


def test_four_answers_with_a_long_name_stand_two_in_a_line(qtbot):
    holder, flow = QWidget(), EvenFlow()
    qtbot.addWidget(holder)
    buttons = [AnswerButton(key, "Answer", "meaning") for key in "KRDU"]
    for button in buttons:
        flow.addWidget(button)
    buttons[1].need_room("Relabel to " + "wheelchair " * 20)
    holder.setLayout(flow)
    width = 2 * buttons[1].minimumSizeHint().width() + flow.spacing()
    assert width < 2 * buttons[1].sizeHint().width()
    flow.setGeometry(QRect(0, 0, width, flow.heightForWidth(width)))
    assert sum(button.geometry().top() == 0 for button in buttons) == 2


def test_long_names_have_room_in_fewer_columns_up_to_a_width(qtbot):
    button, widths = AnswerButton("R", "Relabel to 1", "as suspected"), []
    qtbot.addWidget(button)
    for longest in ("", "Relabel to wheelchair", "Relabel to " + "wheelchair " * 20):
        button.need_room(longest)
        widths.append(button.sizeHint().width())
    assert widths[0] < widths[1] <= widths[2] < 2 * widths[0]


def test_both_classes_stand_in_the_stored_ranking(panel):
    ranks, model = panel.suspect.ranks, panel.model
    searched = model.triage.stored.near.shape[1]
    assert ranks.isVisible()
    assert [name.text() for name in ranks.names] == ["bee", "ant"]
    assert [end.text() for end in ranks.ends] == ["1", str((1 + searched) // 2), str(searched)]
    assert ranks.meaning.text() == f"the first {searched} of the ranking"
    places = model.ranks()
    for strip, label, name in zip(ranks.strips, (1, 0), ("bee", "ant"), strict=True):
        ranked = f": ranks {', '.join(map(str, places[label][:2]))}" if len(places[label]) else ""
        assert strip.accessibleName().startswith(f"{len(places[label])} of the nearest {searched} are labelled {name}")
        assert ranked in strip.accessibleName()
        assert strip.toolTip() == strip.accessibleName()


def test_a_copy_with_the_same_label_has_one_strip(qtbot):
    ranks = qtbot.addWidget(ClassRanks())
    ranks.show_ranks([("ant", np.array([1, 3]))], 20)
    assert [strip.isHidden() for strip in ranks.strips] == [False, True]
    ranks.show_ranks([("ant", np.array([], int)), ("bee", np.array([2]))], 20)
    assert ranks.strips[0].accessibleName() == "0 of the nearest 20 are labelled ant"
    ranks.show_ranks([], 20)
    assert ranks.isHidden()


def test_the_names_beside_the_strips_follow_the_size_of_text(qtbot, large):
    ranks = qtbot.addWidget(ClassRanks())
    ranks.resize(400, 90)
    ranks.show_ranks([("wheelchair", np.array([1])), ("ant", np.array([2]))], 20)
    with qtbot.waitExposed(ranks):
        ranks.show()
    qtbot.waitUntil(lambda: ranks.names[0].written() == ["wheelchair"])
    wide = ranks.names[0].width()
    large.theme.set_text_size(100)
    qtbot.waitUntil(lambda: ranks.names[0].width() < wide)
    assert ranks.names[0].written() == ["wheelchair"]


def test_the_precision_is_drawn_after_each_answer(panel, qtbot):
    plot = panel.summary.plot
    assert plot.describe().endswith("nothing is answered yet.")
    assert plot.rows()[1:] == []
    panel.answer(DROP)
    (row,) = plot.rows()[1:]
    assert row[:3] == [1, 1, 100]
    assert "100% after 1, 95% interval 21% to 100%" in plot.picture.accessibleDescription()
    assert plot.picture.toolTip() == plot.describe()


def test_the_curve_begins_at_the_first_answer_and_has_its_interval(qtbot):
    suspects = [Suspect(number, "label", 0, 1, 0.9, 8, 1, 10) for number in range(60)]
    decisions = {number: Decision(number, DROP if number % 2 else KEEP) for number in range(50)}
    plot = qtbot.addWidget(PrecisionPlot())
    plot.show_path(precision_path(suspects, decisions), 60)
    assert [row[0] for row in plot.rows()[1:]] == list(range(1, 51))
    assert plot.span == 60
    assert not plot.image().isNull()
    plot.show_path(precision_path(suspects[:3], decisions), 500)
    assert plot.span == 20, "three answers of 500 are a curve, too"


def test_the_summary_says_the_time_left_and_what_more_answers_would_do(qtbot):
    summary = qtbot.addWidget(TriageSummary(answered(0, ())))
    summary.draw()
    assert summary.left.isHidden()
    assert summary.narrowing.isHidden()
    summary = qtbot.addWidget(TriageSummary(answered(5, range(0, 500, 50))))
    summary.draw()
    assert summary.left.text() == f"about 4{THIN}min left"
    assert summary.narrowing.text() == f"1 more with this share: under ±{THIN}20{THIN}points"
    assert "After 1 more answer with the same share" in summary.narrowing.toolTip()
    summary = qtbot.addWidget(TriageSummary(answered(9, range(0, 500, 50))))
    summary.draw()
    assert summary.narrowing.isHidden(), "more than are left would be needed"


def test_a_time_left_is_said_in_whole_minutes():
    assert time_left(20) == f"under 1{THIN}min left"
    assert time_left(70) == f"about 1{THIN}min left"
    assert time_left(10 * 60 + 20) == f"about 10{THIN}min left"
    assert time_left(2 * 3600) == f"about 2{THIN}h left"
    assert time_left(2 * 3600 + 130) == f"about 2{THIN}h 2{THIN}min left"


def test_progress_counts_each_answer_and_what_is_left(qtbot):
    model = answered(4, range(100))
    summary = qtbot.addWidget(TriageSummary(model))
    summary.draw()
    assert {word: count.text() for word, count in summary.counts.items()} == {
        RELABEL: "0", KEEP: "4", DROP: "0", UNSURE: "0", TODO: "6"
    }  # fmt: skip
    image = summary.bar.grab().toImage()
    assert image.pixelColor(image.width() // 5, 3) == QColor(theme.current().right)
    assert image.pixelColor(image.width() * 7 // 10, 3) == QColor(theme.current().divider)


def test_a_bar_without_amounts_is_empty(qtbot):
    bar = qtbot.addWidget(SharesBar(6))
    bar.show_parts([(0, "right"), (0, "#0072B2")])
    assert bar.grab().toImage().pixelColor(5, 3) == QColor(theme.current().divider)


def test_a_precision_plot_that_cannot_be_written_is_said(panel, qtbot, tmp_path, monkeypatch):
    said = []
    panel.session.noticed.connect(lambda what: said.append(str(what)))
    panel.answer(DROP)
    for folder in (tmp_path / "nowhere", tmp_path):
        monkeypatch.setattr(
            "workbench.ui.widgets.dialogs.save_file.QFileDialog.getSaveFileName",
            lambda *args, path=folder / "precision.csv": (str(path), "CSV (*.csv)"),
        )
        before = len(said)
        panel.summary.plot.ask_and_save()
        qtbot.waitUntil(lambda before=before: len(said) > before)
    assert "could not be written" in said[0]
    assert said[1] == f"The plot was written to {tmp_path / 'precision.csv'}."


def test_the_suspect_is_shown_in_large_beside_the_image_that_is_clicked(qtbot, panel):
    shown = panel.model.neighbours()
    label, ranked = next(iter(shown.items()))
    qtbot.mouseClick(panel.suspect.near[0][1], Qt.MouseButton.LeftButton)
    dialog = panel.pairs.dialog
    assert dialog.isVisible()
    assert panel.pairs.model.neighbour.sample_id == ranked[1][1]
    assert panel.pairs.model.neighbour.class_name == NAMES[label]
    assert dialog.query.title.text() == f"Suspect, labelled {NAMES[panel.model.current.label]}"
    assert "wrong" not in dialog.neighbour.title.text()
    stored = panel.model.triage.stored
    vectors = dict(zip(stored.sample_ids.tolist(), stored.embeddings, strict=True))
    one, other = vectors[panel.model.current.sample_id], vectors[ranked[1][1]]
    cosine = one @ other / np.linalg.norm(one) / np.linalg.norm(other)
    assert dialog.facts.text() == f"Cosine {cosine:.3f}"
    assert len(panel.pairs.model.ranking.near) == sum(len(near) for near in shown.values())
    panel.answer(KEEP)
    assert panel.pairs.model.ranking.query == panel.model.current.sample_id
    dialog.close()
    panel.answer(KEEP)
    assert not dialog.isVisible()


def test_a_copy_in_the_training_half_has_no_rank_and_no_similarity(qtbot, panel, monkeypatch):
    copy = [(0, 999_999), *panel.model.neighbours()[panel.model.current.suggested]]
    monkeypatch.setattr(panel.model, "neighbours", lambda: {panel.model.current.suggested: copy})
    panel.suspect.ask_pair()
    dialog = panel.pairs.dialog
    assert dialog.neighbour.title.text() == f"In the training set: {NAMES[panel.model.current.suggested]}"
    assert not dialog.facts.text()
    dialog.close()


def show_doubted(qtbot, panel, name):
    """Show a run of the images of `name` with three suspects in the panel."""
    table = blobs(LABELS, 0.4, len(name), width=16)
    for row, (near, far) in {5: (20, 2), 14: (30, 15), 27: (3, 28)}.items():
        table[row] = table[near] * 0.8 + table[far] * 0.2
    run = store_run(panel.session.workspace, LABELS, embeddings=[table], class_names=NAMES, name=name)
    panel.session.show_run(run.run_id)

    def read():
        return panel.model.triage is not None and panel.model.triage.evaluation_id == run.evaluations[-1]

    qtbot.waitUntil(read)
    return run


def test_the_pair_of_a_suspect_stays_while_its_list_is_read_again_and_is_current_in_the_new_one(qtbot, panel):
    run = show_doubted(qtbot, panel, "Small")
    panel.model.step(2)
    panel.draw()
    panel.suspect.ask_pair()
    dialog, suspect = panel.pairs.dialog, panel.model.current.sample_id
    assert panel.model.at == 2
    assert dialog.source.text() == f"Run {run.run_id}: Small, epoch 1"
    panel.show_triage(None)
    assert dialog.isVisible()
    panel.least.editingFinished.emit()
    qtbot.waitUntil(lambda: panel.model.triage is not None)
    assert (panel.model.current.sample_id, panel.pairs.model.ranking.query) == (suspect, suspect)
    panel.filter.setCurrentText("Done")
    panel.filter.activated.emit(panel.filter.currentIndex())
    assert panel.model.current is None
    assert dialog.isVisible(), "an empty list has no other pair"
    dialog.close()


def test_the_pair_of_a_suspect_keeps_its_images_where_another_run_is_shown(qtbot, panel):
    panel.suspect.ask_pair()
    dialog, before = panel.pairs.dialog, panel.pairs.model.ranking
    other = show_doubted(qtbot, panel, "Other")
    assert dialog.isVisible()
    assert panel.pairs.model.ranking == before
    assert before.dataset != panel.model.triage.dataset_id
    panel.answer(KEEP)
    assert panel.pairs.model.ranking.run_id == other.run_id, "a person has gone on in the new list"
    dialog.close()
