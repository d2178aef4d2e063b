"""Write what the window shows at its very first start: catalog.json, presets.json and sections.json of the resources.

    python packaging/catalog.py

Run it after an entry, a preset or a field of settings/sections.py was added or changed;
tests/contracts/test_shipped_catalog.py fails until it is done.
"""

from workbench import registry
from workbench.entries import catalog
from workbench.files.resources import resources
from workbench.settings import presets, sections

if __name__ == "__main__":
    for package in registry.PACKAGES:
        registry.discover(package)
    for name, text in (
        (catalog.SHIPPED, catalog.text_of(registry.catalog())),
        (presets.SHIPPED, presets.shipped_text()),
        (sections.SHIPPED, sections.shipped_text()),
    ):
        (resources() / name).write_text(text, encoding="utf-8", newline="\n")
