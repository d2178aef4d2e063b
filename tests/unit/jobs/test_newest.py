"""Requests of which the newest wins: the one before is cancelled, or comes to its end first."""

import pytest

from tests.played_threads import PlayedThreads
from workbench.jobs.newest import Newest
from workbench.problem import Problem


@pytest.fixture
def threads():
    return PlayedThreads()


@pytest.fixture(params=[False, True], ids=["cancels", "one at a time"])
def newest(threads, request):
    return Newest(threads, one_at_a_time=request.param)


def ask(newest, number, answers):
    newest.ask("Read", lambda progress: number, answers.append)


def test_only_the_newest_request_is_answered(newest, threads):
    answers = []
    for number in range(4):
        ask(newest, number, answers)
        assert newest.busy
    threads.work_on()
    assert answers == [3]
    assert not newest.busy


def test_a_new_request_cancels_the_one_before(threads):
    newest, answers = Newest(threads), []
    for number in range(3):
        ask(newest, number, answers)
    assert [asked.cancelled for asked in threads.asked] == [True, True, False]
    threads.work(2)
    assert answers == [2], "it waits for none of the others"


def test_one_at_a_time_reads_the_first_and_the_newest(threads):
    newest, answers = Newest(threads, one_at_a_time=True), []
    for number in range(4):
        ask(newest, number, answers)
        assert len(threads.asked) == 1
    assert not threads.asked[0].cancelled
    threads.work()
    assert (len(threads.asked), answers) == (1, []), "an answer that is outdated when it comes is not given"
    threads.work()
    assert answers == [3]


def test_a_cancelled_request_answers_nothing(newest, threads):
    answers = []
    ask(newest, 1, answers)
    ask(newest, 2, answers)
    newest.cancel()
    assert not newest.busy
    ask(newest, 3, answers)
    threads.work_on()
    assert answers == [3]
    newest.cancel()
    assert not newest.busy


def test_a_request_that_a_person_cancels_is_over(newest, threads):
    answers = []
    ask(newest, 1, answers)
    threads.asked[0].cancel()
    assert not newest.busy
    ask(newest, 2, answers)
    threads.work_on()
    assert answers == [2]


def test_the_next_request_can_be_made_from_the_answer_of_the_last(newest, threads):
    answers, busy = [], []

    def then(answer):
        busy.append(newest.busy)
        answers.append(answer)
        ask(newest, 2, answers)

    newest.ask("Read", lambda progress: 1, then)
    threads.work_on()
    assert (answers, busy) == ([1, 2], [False])


def test_a_failure_ends_the_request_and_is_said_in_the_message_bar_by_default(newest, threads):
    problems = []

    def fail(progress):
        raise Problem("The disk is away.")

    newest.ask("Read", fail, None, problems.append)
    threads.work_on()
    newest.ask("Read", fail)
    threads.work_on()
    assert [*map(str, problems)] == threads.notices == ["The disk is away."]
    assert not newest.busy
