"""What stands around the fields of Essentials: families of losses, needs, halves of the split, and where they go."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QPushButton, QWidget

from tests.ui.test_form import Example
from tests.ui.test_setup import FOUND, choose, typed
from workbench import registry
from workbench.entries import catalog as catalogs
from workbench.running.preflight import Preflight
from workbench.settings.presets import presets
from workbench.ui.pages.setup import SetupPage
from workbench.ui.pages.setup.data.strip import DataStrip
from workbench.ui.pages.setup.form.loss_parts import Families
from workbench.ui.pages.setup.form.split_bar import SplitBar
from workbench.ui.pages.setup.model.draft import Draft
from workbench.ui.pages.setup.model.needs import Need, needs_of
from workbench.ui.style.tab_order import stops
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.fields.search_popup import ROW_ROLE, SearchPopup
from workbench.ui.widgets.form import Cell, ParamsForm

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints|does not support raise|grabbing the keyboard")
FIELDS = Example.model_json_schema()["properties"]


@pytest.fixture(scope="module")
def catalog():
    registry.discover_all()
    return registry.catalog()


@pytest.fixture
def draft(catalog):
    return Draft(catalog, presets()[0].config)


@pytest.fixture
def page(session, qtbot, catalog):
    session.set_catalog(catalog)
    made = qtbot.addWidget(SetupPage(session))
    made.resize(1100, 800)
    made.show()
    yield made
    made.runner.drop()


def test_what_preflight_found_goes_with_the_field_that_it_is_about(page):
    parts, form = page.groups.parts, page.groups.parts.parent()
    parts.show_found(Preflight(**FOUND))
    known = ("backbone.name", "split.name", "training.epochs")

    def said() -> list[str]:
        return [path for path in known if form.row(path).aside.text()]

    assert said() == list(known)
    typed(page, "training.batch_size", "32")
    assert said() == ["backbone.name", "split.name"]
    choose(page, "backbone.name", "resnet18")
    assert said() == ["split.name"], "not the weights of another network"
    assert parts.split.isVisible()
    choose(page, "split.name", "classes")
    assert said() == []
    assert not parts.split.isVisible()


@pytest.fixture
def form(qtbot):
    made = ParamsForm(FIELDS, cell_of=lambda name, field: Cell((12, 12, 12, 12) if name == "folder" else (6, 6, 6, 6)))
    qtbot.addWidget(made)
    made.resize(640, 400)
    made.show()
    return made


def families_of(page):
    return [each for each in page.groups.parts.families.findChildren(QWidget) if each.property("value")]


# Needs


def test_a_loss_without_pairs_takes_any_batch(draft):
    assert needs_of(draft, {}) == [Need("any batch", True)]


@pytest.mark.parametrize(
    ("values", "met"),
    [
        ({"sampler.name": "random"}, False),
        ({"sampler.name": "random", "training.views": 2}, True),
        ({"sampler.name": "classes_images"}, True),
        ({"sampler.name": "classes_images", "sampler.images_per_class": 1}, False),
    ],
)
def test_a_loss_of_pairs_needs_several_images_of_a_class(draft, values, met):
    draft.set("augmentation.name", "shift")
    draft.set("loss.name", "triplet")
    for path, value in values.items():
        draft.set(path, value)
    assert needs_of(draft, {}) == [Need("several images of a class in a batch", met)]
    assert (draft.check()[0] is not None) is met, "the chip says what the check says"


@pytest.mark.parametrize(("views", "met"), [(1, False), (2, True)])
def test_a_loss_of_images_needs_two_views(draft, views, met):
    draft.set("loss.name", "nt_xent")
    draft.set("augmentation.name", "shift")
    draft.set("training.views", views)
    assert needs_of(draft, {}) == [Need("two views of each image", met)]
    assert (draft.check()[0] is not None) is met


def test_a_loss_with_prototypes_needs_a_size_for_its_classes(draft):
    draft.set("loss.name", "psce")
    assert [need.words for need in needs_of(draft, {})] == ["any batch"], "the classes are not counted yet"
    draft.note_classes(draft.check()[0], 10)
    assert needs_of(draft, {})[1] == Need("an embedding size that fits 10 classes", True)
    assert needs_of(draft, {"embedding.dim": "Too small."})[1].met is False


def test_a_loss_that_is_not_known_has_no_needs(draft):
    draft.values["loss"] = {"name": "magic"}
    assert needs_of(draft, {}) == []


def test_a_need_that_is_not_met_is_marked_beside_the_loss(page, qtbot):
    def shown():
        chips = [each for each in page.groups.parts.needs.findChildren(QWidget) if each.property("chip")]
        return [(chip.property("chip"), chip.accessibleName()) for chip in chips if chip.isVisible()]

    qtbot.waitUntil(lambda: shown() == [("met", "any batch: met")])
    page.groups.edited.emit("loss.name", "triplet")
    qtbot.waitUntil(lambda: shown() == [("unmet", "several images of a class in a batch: not met")])
    page.groups.edited.emit("sampler.name", "classes_images")
    qtbot.waitUntil(lambda: shown() == [("met", "several images of a class in a batch: met")])


# Families


def test_one_loss_of_a_family_is_one_loss(qtbot):
    families = qtbot.addWidget(Families())
    families.show_families(["Information", "Ranking", "Ranking"], "Ranking")
    names = [button.accessibleName() for button in families.findChildren(QPushButton)]
    assert names == ["Information, 1 loss", "Ranking, 2 losses"]


def test_every_loss_is_counted_in_its_family_and_that_of_the_chosen_one_is_checked(page, catalog):
    losses = catalogs.names(catalog, "loss")
    shown = {each.property("value"): each for each in families_of(page)}
    counts = {family: int(each.text().rsplit(" ", 1)[1]) for family, each in shown.items()}
    assert sum(counts.values()) == len(losses)
    assert counts["Proxies"] == 4
    assert [family for family, each in shown.items() if each.isChecked()] == ["Classification"]
    page.groups.edited.emit("loss.name", "proxy_anchor")
    assert [family for family, each in shown.items() if each.isChecked()] == ["Proxies"]


def test_a_family_opens_its_losses_and_changes_nothing_until_one_is_picked(page, catalog):
    before = page.draft.value("loss.name")
    shown = {each.property("value"): each for each in families_of(page)}
    shown["Proxies"].click()
    popup = page.groups.row("loss.name").widget.findChild(SearchPopup)
    entries = [popup.list.item(row) for row in range(popup.list.count())]
    titles = {entry.text() for entry in entries if entry.data(ROW_ROLE) is not None}
    families = {name: catalogs.fact(catalog, "loss", name, "family") for name in catalogs.names(catalog, "loss")}
    assert titles == {catalog[f"loss/{name}"]["title"] for name, family in families.items() if family == "Proxies"}
    assert page.draft.value("loss.name") == before
    assert shown["Classification"].isChecked()
    popup.line.returnPressed.emit()
    assert families[page.draft.value("loss.name")] == "Proxies"
    assert shown["Proxies"].isChecked()


def test_tab_reaches_the_families_before_the_loss_below_them(page):
    row = page.groups.forms["Essentials"].row("loss.name")
    order = list(stops([row]))
    families = [order.index(each) for each in families_of(page) if each in order]
    assert families
    assert max(families) < order.index(row.widget)


def test_families_that_change_are_made_anew(qtbot):
    families = qtbot.addWidget(Families())
    families.show_families(["A", "A", "B"], "B")
    families.show_families(["A", "C"], "C")
    asked = []
    families.asked.connect(asked.append)
    shown = {
        each.text(): each for each in families.findChildren(QWidget) if each.property("value") and not each.isHidden()
    }
    assert list(shown) == ["A 1", "C 1"]
    assert shown["C 1"].isChecked()
    shown["A 1"].click()
    assert asked == ["A"]
    assert shown["C 1"].isChecked()


# The split


def test_the_halves_are_drawn_in_their_proportion(qtbot):
    bar = qtbot.addWidget(SplitBar())
    assert bar.isHidden()
    bar.show_halves((300, 1), (100, 12))
    assert (bar.train.text(), bar.test.text()) == ("300 train, 1 class", "100 test, 12 classes")
    bar.resize(402, bar.sizeHint().height())
    bar.show()
    image = bar.bar.grab().toImage()
    colours = [image.pixelColor(round(x * image.width() / bar.bar.width()), 2).name() for x in (10, 290, 310, 390)]
    assert colours[0] == colours[1] != colours[2] == colours[3]


# Where they are put


def test_what_is_above_and_below_a_field_outlives_its_row(form):
    above, below = QWidget(), QWidget()
    above.setFixedHeight(20)
    below.setFixedHeight(30)
    form.put_above("folder", above)
    form.put_below("margin", below)
    form.show_asides({"margin": "found"})
    form.set_fields({name: field | {"description": "Another."} for name, field in FIELDS.items()})
    form.layout().activate()
    for row in (form.row("folder"), form.row("margin")):
        row.layout().activate()
    assert above.isVisible()
    assert form.row("folder").isAncestorOf(above)
    assert form.row("margin").aside.text() == "found"
    editor = form.row("margin").widget
    bottom = editor.mapTo(form, QPoint(0, editor.height())).y()
    assert below.mapTo(form, QPoint()).y() >= bottom
    assert below.width() == form.row("margin").widget.width()


def test_what_belongs_to_a_field_goes_with_it(form):
    below = QWidget()
    form.put_below("margin", below)
    assert below.isVisible()
    form.set_fields({"images": FIELDS["images"]})
    assert not below.isVisible()
    form.set_fields(FIELDS)
    assert below.isVisible()


def test_an_editor_stays_in_line_with_its_neighbour_whatever_is_below_it(form):
    below = QWidget()
    below.setFixedHeight(60)
    form.put_below("margin", below)
    form.layout().activate()
    tops = [form.row(name).widget.mapTo(form, QPoint()).y() for name in ("margin", "images")]
    assert tops[0] == tops[1]


def test_images_and_halves_take_the_space_that_was_reserved_for_them(qtbot):
    box, strip, split = QWidget(), DataStrip(), SplitBar()
    qtbot.addWidget(box)
    in_column(strip, split, on=box)
    box.show()
    without = box.heightForWidth(500)
    strip.show_images([np.zeros((8, 8, 3), np.uint8)])
    split.show_halves((300, 1), (100, 12))
    assert split.isVisible()
    assert box.heightForWidth(500) == without > 0
