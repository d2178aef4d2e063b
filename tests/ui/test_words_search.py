"""Search by words on the Retrieval page: many lines at once, and a sentence where a run has no tower for words."""

import numpy as np
import pytest
from PySide6.QtCore import Qt

from tests.played_threads import PlayedThreads
from tests.tiny_clip import clip_run, make_weights
from tests.ui.browsed import at_rest, open_page
from tests.ui.small_run import blobs, store_run
from workbench import files
from workbench.control import Control
from workbench.problem import Problem
from workbench.running import launch
from workbench.running.search.text_search import search_texts
from workbench.ui.pages.retrieval.search.words_model import NO_RUN, WordSearch

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


class Later:
    """A session whose threads wait until the test lets them answer."""

    def __init__(self):
        self.asked, self.notices = [], []

    def run_in_thread(self, title, work, then=None, failed=None, *, quiet=False, cancelled=None):
        self.asked.append((title, work, then, failed))

    def notify(self, what):
        self.notices.append(str(what))


@pytest.fixture
def model():
    window, shown = Later(), []
    made = WordSearch(window, shown.append, lambda: None)
    made.window, made.shown = window, shown
    return made


def test_nothing_is_asked_where_words_mean_nothing(model):
    model.search("seven")
    assert model.why_not == NO_RUN
    model.show_run("space", 1)
    model.window.asked[-1][2]("This run cannot be searched by words: its backbone has no tower for words.")
    model.search("seven")
    assert len(model.window.asked) == 1
    assert "no tower for words" in model.why_not


def test_after_a_search_was_cancelled_another_can_be_begun():
    threads, drawn = PlayedThreads(), []
    model = WordSearch(threads, print, lambda: drawn.append(model.searching))
    model.show_run("space", 1)
    threads.asked.pop().then("")
    model.search("a red car")
    assert drawn[-1]
    threads.asked.pop().cancel_for_user()
    assert not drawn[-1]
    model.search("a blue car")
    assert [work.title for work in threads.asked] == ["Search by words"]


def test_each_line_is_a_search_and_one_answer_is_shown(model):
    model.show_run("space", 1)
    model.window.asked[-1][2]("")
    model.search("  \n\n")
    assert not model.searching
    model.search("a red car\n\n  seven ")
    assert model.searching
    model.search("again")
    assert len(model.window.asked) == 2
    model.window.asked[-1][2](["car", "seven"])
    assert (model.shown, model.at, model.searching) == (["car"], 0, False)
    model.choose(1)
    model.choose(2)
    assert model.shown == ["car", "seven"]


def test_what_comes_too_late_or_fails_shows_nothing(model):
    model.show_run("space", 1)
    model.window.asked[-1][2]("")
    model.search("seven")
    _, _, take, failed = model.window.asked[-1]
    failed(Problem("The weights have changed."))
    assert model.window.notices == ["The weights have changed."]
    assert not model.searching
    model.show_run("space", 2)
    take(["seven"])
    assert not model.shown
    assert not model.answers


def test_a_failure_that_comes_after_another_search_was_asked_is_not_its_failure(model):
    model.show_run("space", 1)
    model.window.asked[-1][2]("")
    model.search("seven")
    late = model.window.asked[-1][3]
    model.show_run("space", 2)
    model.window.asked[-1][2]("")
    model.search("eight")
    late(Problem("The weights have changed."))
    assert model.window.notices == []
    assert model.searching
    model.show_run("space", 1)
    model.window.asked[-1][2]("")
    model.search("nine")
    late(Problem("The weights have changed."))
    assert model.window.notices == [], "the same run again, but another search"
    assert model.searching


def test_a_run_without_words_says_why(qtbot, session, workspace):
    labels = np.array([0, 0, 1, 1])
    stored = store_run(workspace, labels, embeddings=[blobs(labels, 0.4, 1, width=4)])
    page = open_page(qtbot, session)
    session.show_run(stored.run_id)
    at_rest(qtbot, page)
    assert not page.words.isVisible()
    qtbot.mouseClick(page.by_words, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "no tower for words" in page.words.hint.text())
    assert not page.words.text.isVisible()


def test_sentences_find_the_images_that_the_command_line_finds(qtbot, session, workspace, tmp_path):
    pytest.importorskip("open_clip", reason="an optional package (extra clip)")
    _, weights = make_weights(tmp_path)
    run_id = launch.prepare_run(clip_run(weights), workspace)
    launch.make_job(workspace, run_id, Control()).start().join()
    page = open_page(qtbot, session)
    session.follower.look()
    session.show_run(run_id)
    at_rest(qtbot, page)
    qtbot.mouseClick(page.by_words, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: page.words.text.isVisible())
    page.words.text.setPlainText("seven\na round one")
    qtbot.keyClick(page.words.text, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: len(page.words.model.answers) == 2)
    expected = search_texts(workspace, run_id, ["seven", "a round one"], k=48)
    ids = [[near.sample_id for near in answer.neighbours] for answer in expected]
    assert [near.sample_id for near in page.browsing.neighbours] == ids[0]
    assert page.result.title.text() == "seven"
    assert "tiny-clip with the weights weights.safetensors (" in page.result.facts.text()
    assert files.digest(weights)[:8] in page.result.facts.text()
    assert page.result.words.isVisible()
    session.runs_changed.emit()  # a run elsewhere goes on: what was found stays
    at_rest(qtbot, page)
    assert page.result.words.isVisible()
    page.words.answers.activated.emit(1)
    assert [near.sample_id for near in page.browsing.neighbours] == ids[1]
    page.result.words.removed.emit()
    at_rest(qtbot, page)
    assert page.browsing.answer is None
    assert not page.result.words.isVisible()
