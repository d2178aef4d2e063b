"""Write resources/schema.json, the tables of the newest workspace, so that opening one need not make them to compare.

    python packaging/schema.py

Run it after a step was added to workbench/workspace/schema/migrations.py; until it is done,
tests/contracts/test_shipped_schema.py fails.
"""

from workbench.files.resources import resources
from workbench.workspace.schema import schema

if __name__ == "__main__":
    (resources() / schema.SHIPPED).write_text(schema.text_of_newest(), encoding="utf-8", newline="\n")
