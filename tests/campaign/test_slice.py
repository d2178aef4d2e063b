"""A seeded slice of the campaign, so that each drill runs with every change. The long run is tests/campaign/run.py."""

import pytest

from tests.campaign.run import attempt, drills


@pytest.mark.parametrize("name", [name for name, drill in drills().items() if drill.SLICE])
def test_no_promise_breaks(name):
    drill = drills((name,))[name]
    outcomes = [outcome for number in range(drill.SLICE) for outcome in attempt(drill, name, 0, number)]
    assert outcomes, "the drill tried nothing"
    assert [outcome for outcome in outcomes if outcome.kind != "survived"] == []
