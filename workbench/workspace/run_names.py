"""What a run trained on and with, by the names that the form shows."""

import tomllib
from functools import lru_cache
from pathlib import PurePath

from workbench.entries import catalog as catalogs
from workbench.entries.catalog import Catalog
from workbench.workspace.rows import Dataset, Run


def title_of(known: Catalog, kind: str, name: str) -> str:
    """What the form calls an entry, "Digits" for "dataset", "digits"; its name where the catalog has no such entry."""
    return str(known.get(f"{kind}/{name}", {}).get("title", name))


def data_title(known: Catalog, run: Run) -> str:
    """The data set of a run: its title, or the name of the folder or file that a person chose; empty without any."""
    parameter = catalogs.fact(known, "dataset", run.dataset, "named_by")
    own = _last_part(run.config, parameter) if parameter else ""
    return own or title_of(known, "dataset", run.dataset)


def told_apart(known: Catalog, run: Run, data: Dataset) -> str:
    """The data set of a run beside others of its name: "Digits (fingerprint 3c1213b3)"."""
    name = data_title(known, run) if data.name == run.dataset else data.name
    return f"{name} (fingerprint {data.fingerprint[:8]})"


def names_of(known: Catalog, run: Run) -> tuple[str, str, str]:
    """Data set, backbone and loss of a run, as the form calls them."""
    return data_title(known, run), title_of(known, "backbone", run.backbone), title_of(known, "loss", run.loss)


@lru_cache(4096)  # a workspace has hundreds of runs, and every turn of the list asks for each
def _last_part(config: str, parameter: str) -> str:
    """The last part of a path in the data set of a config as TOML; empty where it has none."""
    try:
        return PurePath(str(tomllib.loads(config)["dataset"].get(parameter, ""))).name
    except (ValueError, LookupError, AttributeError):
        return ""
