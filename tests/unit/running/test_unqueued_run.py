"""A job is made of a queued run of this process alone; of others it is said what is true."""

import pytest

from workbench.config import RunConfig
from workbench.control import Control
from workbench.problem import RunTaken, UnknownName
from workbench.running.launch import make_job, prepare_run


def no_longer_here(workspace, run_id, status):
    """Another process had the run, and is gone."""
    with workspace.writing() as db:
        sql = (
            "update runs set status = ?, owner = 'other', host = 'another-machine', pid = 7, heartbeat = ? where id = ?"
        )
        db.execute(sql, (status, "2026-01-01", run_id))


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("resume", [True, False])
@pytest.mark.parametrize("status", ["done", "failed"])
def test_a_run_that_has_ended_is_called_so_and_not_trained_again(own, resume, status, workspace):
    run_id = prepare_run(RunConfig(), workspace)
    workspace.set_status(run_id, status)
    if not own:
        no_longer_here(workspace, run_id, status)
    with pytest.raises(RunTaken, match=f"Run 1 is {status}, and not queued to be trained. It was not changed"):
        make_job(workspace, run_id, Control(), resume=resume)
    assert workspace.run(run_id).status == status


def test_a_run_whose_process_is_gone_is_not_called_taken_over(workspace):
    run_id = prepare_run(RunConfig(), workspace)
    no_longer_here(workspace, run_id, "running")
    with pytest.raises(RunTaken, match="Run 1 is interrupted, and not queued to be trained"):
        make_job(workspace, run_id, Control())


def test_a_run_at_work_elsewhere_is_named_with_its_process(workspace):
    run_id = prepare_run(RunConfig(), workspace)
    no_longer_here(workspace, run_id, "running")
    with workspace.writing() as db:
        db.execute("update runs set heartbeat = strftime('%Y-%m-%dT%H:%M:%S+00:00', 'now')")
    with pytest.raises(RunTaken, match=r"Run 1 is running: process 7 of another-machine has it\. It was not changed"):
        make_job(workspace, run_id, Control())


def test_a_job_of_no_run_is_refused(workspace):
    with pytest.raises(UnknownName, match="There is no run 7 in"):
        make_job(workspace, 7, Control())
