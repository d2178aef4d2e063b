"""The progress of a measurement in the panel that waits for it."""

from workbench.ui.state.background.activity import KEPT, Activity, ActivityItem
from workbench.ui.widgets.measuring import Measuring

CONTINUE = "You can continue to work."


def test_the_words_and_the_count_of_a_measurement_are_shown_where_its_numbers_will_be(qtbot):
    measuring, cancelled = Measuring(), []
    qtbot.addWidget(measuring)
    measuring.pressed.connect(lambda: cancelled.append(True))
    item = ActivityItem("Robustness", None)
    measuring.follow(item)
    assert measuring.sentence.text() == CONTINUE
    item.progress(1_200, 7_205, "Darker", seconds_left=64)
    qtbot.waitUntil(lambda: measuring.bar.maximum() == 7_205)
    assert measuring.bar.value() == 1_200
    assert measuring.sentence.text().startswith("Darker, 1,200 / 7,205, ")
    assert measuring.sentence.text().endswith(f" left. {CONTINUE}")
    measuring.go.click()
    assert cancelled == [True]


def test_an_earlier_measurement_is_not_followed_any_more(qtbot):
    measuring, items = Measuring(), [ActivityItem("Deployment", None) for _ in range(2)]
    qtbot.addWidget(measuring)
    for item in items:
        measuring.follow(item)
    for done, item in enumerate(items, 1):
        with qtbot.waitSignal(item.changed):
            item.progress(done, 9, "int8")
    with qtbot.waitSignal(items[0].changed):
        items[0].progress(5, 9, "PCA")
    assert (measuring.bar.value(), measuring.sentence.text()) == (2, f"int8, 2 / 9. {CONTINUE}")


def test_the_job_that_was_followed_may_be_forgotten_by_the_activity_panel(qtbot):
    measuring, activity = Measuring(), Activity()
    qtbot.addWidget(measuring)
    first = activity.add("Deployment")
    measuring.follow(first)
    first.finish()
    later = [activity.add(f"Job {number}") for number in range(KEPT)]
    for item in later:
        item.finish()
    qtbot.waitUntil(lambda: activity.newest_working is None)
    with qtbot.waitSignal(first.destroyed):
        activity.add("Another")
    measuring.follow(activity.add("Robustness"))
    assert measuring.sentence.text() == CONTINUE
