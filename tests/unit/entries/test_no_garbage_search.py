"""While the modules of entries are imported Python looks for no garbage; afterwards it does as before."""

import gc
import sys
from threading import Thread

import pytest

from workbench import registry


@pytest.fixture
def loads(tmp_path, monkeypatch):
    """Discovers a new package with one module of these lines; returns the module, if it loads."""

    def load(package, lines):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").touch()
        (tmp_path / package / "pooling.py").write_text(f"import gc\nlooked_for = gc.isenabled()\n{lines}", "utf-8")
        monkeypatch.syspath_prepend(tmp_path)
        registry.discover(package)
        return sys.modules[f"{package}.pooling"]

    was_on = gc.isenabled()
    yield load
    (gc.enable if was_on else gc.disable)()


def test_python_looks_for_garbage_again_afterwards(loads):
    gc.enable()
    assert not loads("while_it_loads", "").looked_for
    assert gc.isenabled()


def test_so_it_does_after_a_module_that_fails(loads):
    gc.enable()
    with pytest.raises(ZeroDivisionError, match="zero"):
        loads("while_it_fails", "1 / 0")
    assert gc.isenabled()


def test_where_it_was_off_as_in_the_window_it_stays_off(loads):
    gc.disable()
    loads("where_it_is_off", "")
    assert not gc.isenabled()


def test_another_thread_leaves_it_as_it_is(loads):
    """It would turn on again what the window's thread has turned off meanwhile, and Qt would crash."""
    gc.enable()
    looked_for = []
    thread = Thread(target=lambda: looked_for.append(loads("on_a_thread", "").looked_for))
    thread.start()
    thread.join()
    assert looked_for == [True]
