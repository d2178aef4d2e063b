"""A thread that reads a little ahead: the order, how far ahead, errors, and the end."""

import threading
from contextlib import closing

import pytest

from tests.waits import HANG
from workbench import jobs


class Source:
    """Numbers from 0, by a generator that says where it stands."""

    def __init__(self, count, fails_at=None):
        self.threads, self.closed = set(), False
        self.read = threading.Semaphore(0)
        self._count, self._fails_at = count, fails_at

    def numbers(self):
        try:
            for number in range(self._count):
                if number == self._fails_at:
                    raise ValueError("damaged")
                self.threads.add(threading.get_ident())
                self.read.release()
                yield number
        finally:
            self.closed = True


def test_items_come_in_their_order_from_one_other_thread():
    source = Source(20)
    assert list(jobs.read_ahead(source.numbers())) == list(range(20))
    assert len(source.threads) == 1
    assert threading.get_ident() not in source.threads
    assert source.closed


def test_no_more_items_are_read_than_wanted():
    source = Source(20)
    with closing(jobs.read_ahead(source.numbers(), ahead=2)) as items:
        assert next(items) == 0
        for _ in range(3):  # the one that was asked for, and those that wait
            assert source.read.acquire(timeout=HANG)
        assert not source.read.acquire(blocking=False), "nothing further was asked for"
    assert source.closed


def test_an_error_is_raised_after_the_items_before_it():
    source = Source(20, fails_at=3)
    items = jobs.read_ahead(source.numbers())
    assert [next(items) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ValueError, match="damaged"):
        next(items)
    assert source.closed


def test_closing_ends_the_thread_and_closes_the_generator():
    source, before = Source(20), threading.active_count()
    items = jobs.read_ahead(source.numbers())
    assert next(items) == 0
    items.close()
    assert source.closed
    assert threading.active_count() == before


def test_an_iterator_that_is_no_generator_is_read_to_its_end():
    assert list(jobs.read_ahead(iter([4, 5]), ahead=9)) == [4, 5]
