"""What tests of the Compare page do alike."""


def tick(qtbot, page, *runs):
    """Tick the groups of these runs and wait for what is said of them; the window may know of them a moment later."""

    def all_ticked():
        page.chooser.tick(runs)
        return set(runs) <= page.model.ticked

    def all_told():
        overview = page.model.overview
        return overview is not None and set(runs) <= overview.measured.keys()

    qtbot.waitUntil(all_ticked)
    qtbot.waitUntil(all_told)
