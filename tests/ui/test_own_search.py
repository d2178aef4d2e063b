"""A search with one's own image: the answer to the newest one is shown."""

import numpy as np

from tests.played_threads import PlayedThreads
from workbench.running.search.image_search import OwnImage
from workbench.ui.pages.retrieval.search import own_search
from workbench.ui.pages.retrieval.search.own_search import OwnSearch


def test_an_answer_that_comes_after_a_newer_search_was_begun_is_dropped(monkeypatch):
    monkeypatch.setattr(own_search, "search", lambda workspace, run_id, images, k, **options: [images[0].name])
    session, shown = PlayedThreads(), []
    session.workspace, session.run_id, session.evaluation_id = "space", 1, 1
    model = OwnSearch(session, shown.append)
    for name in ("first", "second"):
        model.search(OwnImage(name, np.zeros((8, 8, 3), np.uint8)))
    session.work(1)
    session.work(0)
    assert shown == ["second"]
