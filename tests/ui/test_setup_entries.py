"""Every registered entry can be chosen on the Set up page, with its defaults, without a line written for it."""

import pytest

from workbench.entries import catalog
from workbench.settings.presets import presets
from workbench.ui.pages.setup import SetupPage
from workbench.ui.style.field_words import help_lines

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)  # Qt's offscreen platform, at every show


@pytest.fixture
def page(session, qtbot):
    session.set_catalog(catalog.current())
    return qtbot.addWidget(SetupPage(session))


def test_every_entry_is_drawn_and_right_by_default(page, session):
    assert any(key.startswith("loss/") for key in session.catalog)
    first = presets()[0].config  # to read the presets for each entry takes a tenth of the test
    for key, entry in session.catalog.items():
        kind, _, name = key.partition("/")
        page.draft.load(first)
        page.groups.edited.emit(f"{kind}.name", name)
        for field, described in entry["params"].items():
            row = page.groups.row(f"{kind}.{field}")
            shown = row.editor.value()
            assert shown == page.draft.value(f"{kind}.{field}")
            assert help_lines(described)[0], f"{key} {field} has no help"
        errors = page.draft.check()[1]
        assert set(errors) <= {"sampler.name", "training.views"}, f"{key}: {errors}"
        others = [each for each in session.catalog if each.startswith("sampler/") and each != "sampler/random"]
        if "sampler.name" in errors and others:
            assert entry["facts"].get("needs_pairs")
            page.groups.row("sampler.name").fix.click()
            assert page.draft.check()[1] == {}, key


def test_a_file_of_prototypes_can_be_browsed_for(page):
    page.groups.edited.emit("loss.name", "psce")
    assert page.groups.row("loss.file").editor.browse.isEnabled()
