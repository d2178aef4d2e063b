"""Cycles are freed on the window's thread, never on a thread that happens to allocate."""

import gc
import sys
import threading
import weakref
from types import ModuleType

import pytest
from PySide6.QtCore import QTimer

from workbench.ui.window.process.garbage import Garbage


class Cycle:
    """An object that only a look frees; it remembers on which thread that was."""

    def __init__(self, freed_on: list[int]) -> None:
        self.itself = self
        weakref.finalize(self, lambda: freed_on.append(threading.get_ident()))


@pytest.fixture
def garbage(qapp):
    """The window's own looks; Python's are off meanwhile, as in the program."""
    made = Garbage()
    yield made
    made.end()
    gc.freeze()  # else the next test looks through the modules, too


def allocate(count: int) -> list[list[int]]:
    return [[index] for index in range(count)]


def test_a_thread_that_allocates_frees_no_cycle_but_the_window_does(garbage, qtbot):
    freed_on: list[int] = []
    garbage.settle()
    kept = []

    def work() -> None:
        Cycle(freed_on)
        kept.append(allocate(100_000))

    thread = threading.Thread(target=work)
    thread.start()
    while thread.is_alive():  # no event of the window meanwhile
        thread.join(0.01)
    assert freed_on == []
    qtbot.waitUntil(lambda: freed_on != [])
    assert freed_on == [threading.get_ident()]


def test_a_library_that_collects_on_its_own_thread_frees_nothing_there(garbage):
    freed_on: list[int] = []
    Cycle(freed_on)
    thread = threading.Thread(target=gc.collect)
    thread.start()
    thread.join()
    assert freed_on == []
    gc.collect()
    assert freed_on == [threading.get_ident()]


def test_whoever_ends_first_a_collection_is_python_s_own_afterwards(qapp):
    real = gc.collect
    one, other = Garbage(), Garbage()
    one.end()
    assert gc.collect != real
    other.end()
    assert gc.collect == real


def test_a_cycle_that_outlived_young_looks_is_freed_in_the_end(garbage):
    freed_on: list[int] = []
    garbage.settle()
    old = Cycle(freed_on)
    gc.collect(0)
    gc.collect(1)  # it is among the oldest now
    del old
    gc.collect(1)
    assert freed_on == []
    kept = []
    for _ in range(1_000_000):
        kept.append([])
        garbage.look()
        if freed_on:
            break
    assert freed_on


def test_nothing_is_looked_at_before_all_is_loaded(garbage, qtbot):
    freed_on: list[int] = []
    Cycle(freed_on)
    kept = allocate(10_000)
    qtbot.deliver()
    assert not any(timer.isActive() for timer in garbage.findChildren(QTimer))
    assert freed_on == []
    assert kept
    assert not gc.isenabled()


def test_looks_at_all_objects_take_a_small_share_of_the_time(garbage, monkeypatch):
    looked: list[int] = []
    clock = iter(range(1000))
    with monkeypatch.context() as patch:
        patch.setattr("workbench.ui.window.process.garbage.gc.get_count", lambda: (1000, 1000, 1000))
        patch.setattr("workbench.ui.window.process.garbage.gc.collect", looked.append)
        patch.setattr("workbench.ui.window.process.garbage.perf_counter", lambda: next(clock))  # a look takes a second
        for _ in range(200):
            garbage.look()
    assert 2 <= looked.count(2) <= 3
    assert looked.count(1) == 200 - looked.count(2)


def test_a_library_that_a_thread_loads_is_not_looked_through_each_time(garbage, monkeypatch):
    looked: list[int] = []
    garbage.settle()
    library = allocate(1000)
    for number in range(100):
        monkeypatch.setitem(sys.modules, f"loaded_later.part_{number}", ModuleType(f"part_{number}"))
    before = gc.get_freeze_count()
    with monkeypatch.context() as patch:
        patch.setattr("workbench.ui.window.process.garbage.gc.get_count", lambda: (1000, 1000, 1000))
        patch.setattr("workbench.ui.window.process.garbage.gc.collect", looked.append)
        garbage.look()
        assert gc.get_freeze_count() >= before + len(library)
        assert 2 not in looked
        garbage.look()
    assert looked[-1] == 2, "what is made afterwards is looked through"


def test_python_looks_by_itself_again_when_the_window_is_gone(garbage):
    assert not gc.isenabled()
    garbage.end()
    assert gc.isenabled()
