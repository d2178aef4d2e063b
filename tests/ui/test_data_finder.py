"""Published data sets below remembered folders are found, and fill their field."""

import threading
from functools import partial

import pytest

from tests.waits import HANG
from workbench import registry
from workbench.datasets.finder import find_data, markers_of
from workbench.settings.presets import presets
from workbench.ui.pages.setup import SetupPage
from workbench.ui.pages.setup.data import finder as module

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


@pytest.fixture
def store(tmp_path):
    for name in (
        "CUB_200_2011/image_class_labels.txt", "cars/cars_annos.mat", "shops/Stanford_Online_Products/Ebay_train.txt",
        "mnist/train-images-idx3-ubyte.gz", "omniglot/images_background_small1.zip", "cifar-10-batches-py/batches.meta",
        "archives/cifar-100-python.tar.gz", "notes/readme.txt",
    ):  # fmt: skip
        (tmp_path / "store" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "store" / name).write_bytes(b"")
    return tmp_path / "store"


def test_every_layout_is_found_where_it_lies(store):
    registry.discover_all()
    found = find_data([store, store / "gone"], markers_of(registry.catalog()))
    assert {name: [place.removeprefix(f"{store}/") for place in places] for name, places in found.items()} == {
        "cub": ["CUB_200_2011"], "cars": ["cars"], "sop": ["shops/Stanford_Online_Products"], "mnist": ["mnist"],
        "omniglot": ["omniglot/images_background_small1.zip"], "cifar10": ["cifar-10-batches-py"],
        "cifar100": ["archives/cifar-100-python.tar.gz"],
    }  # fmt: skip


def test_archives_are_found_where_folders_are(tmp_path):
    registry.discover_all()
    names = {
        "mnist": "MNIST.zip", "fashion_mnist": "fashion-mnist.tar.gz", "kmnist": "kmnist.zip",
        "cub": "CUB_200_2011.zip", "cars": "cars196.tgz", "sop": "Stanford_Online_Products.tar",
        "inshop": "In-shop.zip", "cifar10": "cifar-10-a.zip", "cifar100": "cifar-100-binary.tar.gz",
        "omniglot": "images_background.tar",
    }  # fmt: skip
    for name in names.values():
        (tmp_path / "below").mkdir(exist_ok=True)
        (tmp_path / "below" / name).write_bytes(b"")
    found = find_data([tmp_path], markers_of(registry.catalog()))
    assert found == {name: [str(tmp_path / "below" / place)] for name, place in names.items()}


def test_choosing_a_data_set_fills_its_empty_field(qtbot, session, store):
    registry.discover_all()
    session.set_catalog(registry.catalog())
    page = qtbot.addWidget(SetupPage(session))
    told = []
    session.noticed.connect(told.append)
    page.finder.add(store)
    qtbot.waitUntil(lambda: bool(page.finder.places))
    assert "CUB-200-2011" in str(told[0])
    page.groups.edited.emit("dataset.name", "cub")
    assert page.draft.value("dataset.folder") == str(store / "CUB_200_2011")
    page.steps.undo()
    assert page.draft.value("dataset.folder") == "", "filling is an edit of its own"
    page.draft.load(presets()[0].config)
    page.groups.edited.emit("dataset.name", "inshop")
    assert page.draft.value("dataset.folder") == "", "what was not found stays empty"


def test_the_next_window_looks_again(qtbot, session, store):
    registry.discover_all()
    session.preferences.remember("data_folders", store)
    session.set_catalog(registry.catalog())
    page = qtbot.addWidget(SetupPage(session))
    qtbot.waitUntil(lambda: "cars" in page.finder.places)


@pytest.mark.parametrize("told_first", [False, True])
def test_what_is_found_for_the_newest_question_stays(qtbot, session, store, tmp_path, monkeypatch, told_first):
    """The folders of the first question are on a slow disk; a folder is added by the second, or by the first."""
    registry.discover_all()
    session.set_catalog(registry.catalog())
    begun, goes_on, notices = threading.Event(), threading.Event(), []

    def slow_at_first(folders, markers):
        if not begun.is_set():
            begun.set()
            assert goes_on.wait(HANG)
            return {}
        return find_data(folders, markers)

    monkeypatch.setattr(module, "find_data", slow_at_first)
    session.noticed.connect(notices.append)
    session.preferences.remember(module.KIND, tmp_path)
    finder = module.DataFinder(session)
    for step in (finder.look, partial(finder.add, store))[:: -1 if told_first else 1]:
        step()
        qtbot.waitUntil(begun.is_set)
    qtbot.waitUntil(lambda: bool(finder.places))
    goes_on.set()
    qtbot.waitUntil(lambda: not session.reading)
    qtbot.deliver()
    assert "cub" in finder.places
    assert [words.partition(":")[0] for words in notices] == ["Found"]
