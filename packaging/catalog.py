"""Write resources/catalog.json, the description of every entry that the window shows at its very first start.

    python packaging/catalog.py

Run it after an entry was added or changed; tests/contracts/test_shipped_catalog.py fails until it is done.
"""

from workbench import registry
from workbench.entries import catalog
from workbench.files.resources import resources

if __name__ == "__main__":
    for package in registry.PACKAGES:
        registry.discover(package)
    (resources() / catalog.SHIPPED).write_text(catalog.text_of(registry.catalog()), encoding="utf-8", newline="\n")
