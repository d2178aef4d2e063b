"""What goes with a release: notes from CHANGELOG.md, and what is installed for Workbench, with its licences.

python packaging/release.py notes [VERSION]    the section of CHANGELOG.md; by default of this checkout's version
python packaging/release.py sbom FOLDER        sbom.cdx.json (CycloneDX 1.6) and licences.txt, of this environment
"""

import json
import re
import sys
import tomllib
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any
from uuid import uuid4

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = ("parquet", "onnx")  # left out where they are not installed
LICENCE_FILE = re.compile(r"licen[cs]es?|copying|notice|copyright|authors", re.IGNORECASE)
LONGEST_NAME = 80  # some packages write the whole text where the licence's name belongs


def version() -> str:
    """The version of this checkout."""
    stated = re.search(r'__version__ = "(.+)"', (ROOT / "workbench" / "__init__.py").read_text("utf-8"))
    assert stated is not None
    return stated[1]


def notes(changelog: str, of: str) -> str:
    """The section of a version, without its heading. Raises KeyError when there is none."""
    section = re.search(rf"^## \[{re.escape(of)}\].*?\n(.*?)(?=^## |\Z)", changelog, re.DOTALL | re.MULTILINE)
    if section is None:
        raise KeyError(of)
    return section[1].strip() + "\n"


def installed(lines: list[str], optional: list[str]) -> dict[str, list[str]]:
    """Name of every installed package that the requirements ask for, directly or not -> names that it asks for.

    Args:
        lines: requirements as pyproject.toml writes them.
        optional: more of them, left out where they are not installed.

    Raises:
        PackageNotFoundError: one of `lines`, or what a package needs, is not installed.
    """
    graph: dict[str, list[str]] = {}
    done: set[tuple[str, str]] = set()
    waiting = [Requirement(line) for line in lines] + [
        wanted for wanted in map(Requirement, optional) if _is_installed(wanted.name)
    ]
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
            continue
        asked = graph.setdefault(name, [])
        for extra in ("", *requirement.extras):
            if (name, extra) in done:
                continue
            done.add((name, extra))
            for needed in map(Requirement, distribution(name).requires or ()):
                if needed.marker is None or needed.marker.evaluate({"extra": extra}):
                    needed.marker = None
                    waiting.append(needed)
                    asked.append(canonicalize_name(needed.name))
    return {name: sorted(set(asked)) for name, asked in sorted(graph.items())}


def _is_installed(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


def licence(package: Distribution) -> dict[str, Any]:
    """The licence as CycloneDX writes it: an SPDX expression where the package has one, else a name."""
    facts = package.metadata
    if "License-Expression" in facts:
        return {"expression": facts["License-Expression"]}
    named = facts["License"].strip() if "License" in facts else ""
    if not named or len(named) > LONGEST_NAME or "\n" in named:
        classifiers = [line for line in facts.get_all("Classifier") or () if line.startswith("License ::")]
        named = ", ".join(line.rpartition(" :: ")[2] for line in classifiers)
    return {"license": {"name": named or "not stated"}}


def reference(package: Distribution) -> str:
    """The package URL, which names package and version everywhere."""
    return f"pkg:pypi/{canonicalize_name(package.metadata['Name'])}@{package.version}"


def sbom(graph: dict[str, list[str]]) -> dict[str, Any]:
    """The bill of materials of packages and their requirements, as CycloneDX 1.6."""
    packages = {name: distribution(name) for name in graph}
    own = f"pkg:pypi/metric-workbench@{version()}"
    asked = {other for others in graph.values() for other in others}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid4()}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application", "bom-ref": own, "name": "metric-workbench", "version": version(), "purl": own,
                "licenses": [{"expression": "MIT"}],
            },
        },
        "components": [
            {
                "type": "library", "bom-ref": reference(package), "name": package.metadata["Name"],
                "version": package.version, "purl": reference(package), "licenses": [licence(package)],
            }
            for package in packages.values()
        ],
        "dependencies": [
            {"ref": own, "dependsOn": [reference(packages[name]) for name in graph if name not in asked]},
            *(
                {"ref": reference(packages[name]), "dependsOn": [reference(packages[other]) for other in others]}
                for name, others in graph.items()
            ),
        ],
    }  # fmt: skip


def licence_texts(graph: dict[str, list[str]]) -> str:
    """Each package with its licence and the licence texts in its files."""
    sections = []
    for package in map(distribution, graph):
        told = licence(package)
        name = told.get("expression") or told["license"]["name"]
        texts = [
            Path(str(file.locate())).read_text("utf-8", errors="replace")
            for file in package.files or ()
            if ".dist-info" in file.parts[0] and LICENCE_FILE.match(file.name) and Path(str(file.locate())).is_file()
        ]
        title = f"{package.metadata['Name']} {package.version}: {name}"
        sections.append("\n\n".join((title, "=" * len(title), *texts)))
    return "\n\n\n".join(sections) + "\n"


def packages() -> dict[str, list[str]]:
    """The packages that this checkout asks for, as `installed` gives them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    optional = [line for extra in EXTRAS for line in project["optional-dependencies"][extra]]
    return installed(project["dependencies"], optional)


def write_sbom(graph: dict[str, list[str]], folder: Path) -> None:
    """Write sbom.cdx.json and licences.txt into a folder, which is made where it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sbom.cdx.json").write_text(json.dumps(sbom(graph), indent=1) + "\n", "utf-8")
    (folder / "licences.txt").write_text(licence_texts(graph), "utf-8")


def main(words: list[str]) -> int:
    """Run one of the two commands; returns the exit status."""
    if words[:1] == ["notes"]:
        of = words[1] if words[1:] else version()
        print(notes((ROOT / "CHANGELOG.md").read_text("utf-8"), of), end="")
        return 0
    if words[:1] == ["sbom"] and words[1:]:
        graph = packages()
        folder = Path(words[1])
        write_sbom(graph, folder)
        print(f"{len(graph)} packages: {folder / 'sbom.cdx.json'}, {folder / 'licences.txt'}")
        return 0
    print(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
