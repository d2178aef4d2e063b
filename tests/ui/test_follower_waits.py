"""A place that does not answer is asked again after a minute at the latest, however long it has been silent."""

from PySide6.QtCore import QObject, QTimer

from workbench.places.following import Looked
from workbench.ui.place_follower import IN_VIEW, LONGEST, PlaceFollower
from workbench.workspace import Workspace


class AnsweredAtOnce:
    """Work whose looks at a place end at once, as the test says."""

    def __init__(self):
        self.looked = Looked(left=1)

    def run_in_thread(self, title, work, done, failed, quiet):
        done(self.looked)


def test_a_silent_place_is_asked_each_minute_and_soon_when_it_answers(qtbot, tmp_path):
    work, parent = AnsweredAtOnce(), QObject()
    with Workspace(tmp_path / "space", create=True) as workspace:
        follower = PlaceFollower(work, workspace, "box", parent)
        follower.in_view = True
        timer = follower.findChild(QTimer)
        follower.look()
        assert timer.interval() == IN_VIEW
        work.looked = Looked(left=1, silent="box is not reached: no route.")
        waits = []
        for _ in range(10_080):  # as many as a week has minutes
            follower.look()
            waits.append(timer.interval())
        assert waits == sorted(waits)
        assert max(waits) == LONGEST == 60_000
        work.looked = Looked(left=1)
        follower.look()
        assert timer.interval() == IN_VIEW
        follower.close()
