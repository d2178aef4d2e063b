"""Where a run was made, and how to repeat it."""

import shlex

from workbench import __version__
from workbench.config import RunConfig
from workbench.numerals import grouped
from workbench.workspace.rows import Run

FACTS = {  # of a run's environment, with their titles
    "device": "Device", "precision": "Precision", "torch": "torch", "cuda": "CUDA", "python": "Python",
    "system": "System", "cores": "Cores", "threads": "Threads", "memory_gib": "Memory, GiB", "parameters": "Parameters",
}  # fmt: skip
UNLIKE_PUBLISHED = "Differs from the published counts"
NOTES = "Notes on the data; nothing is left out for them"


def config_name(run: Run) -> str:
    """The run's config in a bundle."""
    return f"configs/run-{run.id}.toml"


def facts_of(run: Run) -> dict[str, str]:
    """Versions, hardware and fingerprints by their titles, as the run's environment has them."""
    facts = run.environment
    said = {"Workbench": str(facts.get("workbench", __version__))}
    said |= {title: grouped(str(facts[key])) for key, title in FACTS.items() if key in facts}
    said |= {name: str(number) for name, number in facts.get("versions", {}).items() if name != "torch"}
    if facts.get("weights"):
        said["Weights fingerprint"] = str(facts["weights"])
    said |= {f"Plug-in: {entry}": str(origin) for entry, origin in facts.get("plugins", {}).items()}
    data = facts.get("data", {})
    if data:
        said["Data fingerprint"] = str(data["fingerprint"])
        said["Images left out"] = f"{data['left_out_count']:,}"
        if data.get("unlike_published"):
            said[UNLIKE_PUBLISHED] = "; ".join(f"{name} {what}" for name, what in data["unlike_published"])
        if data.get("notes"):
            said[NOTES] = "; ".join(f"{what} {note}" for what, note in data["notes"])
        for key, title in (("shared", "Warning: shared images"), ("changed", "Warning: changed data")):
            if data.get(key):
                said[title] = str(data[key])
    return said


def command_of(run: Run) -> str:
    """The command line that repeats the run from its config in a bundle; for embeddings, that imports them again.

    For a test, that tests the network on the same images again; for a run of a user's own loop, the program that
    recorded it.
    """
    config = RunConfig.recorded(run.config)
    params = config.dataset.params
    if run.tested is not None:
        epoch = [] if run.tested_epoch is None else ["--epoch", _network_asked(run)]
        images = _as_argument(str(params.get("images", "")))
        return shlex.join(["workbench", "test", str(run.tested), images, *epoch, f"--name={config.name}"])
    if config.imported:
        chosen = {name: params[name] for name in ("labels", "images") if params.get(name)}
        chosen |= {"image-size": params["image_size"]} if params.get("image_size") else {}
        chosen |= {"name": config.name, "distance": config.evaluation.distance}
        options = [f"--{name}={shlex.quote(str(value))}" for name, value in chosen.items()]
        options += ["--search-only"] if run.only_searched else []
        return " ".join(["workbench import", shlex.quote(str(params.get("embeddings", ""))), *options])
    if run.curves_of:
        return shlex.join(["workbench", "import", str(run.environment["curves"].get("path", ""))])
    if config.own_loop:
        return _own_program(str(run.environment.get("own_loop", {}).get("program", "")))
    return f"workbench run {config_name(run)} --workspace DIR"


def _network_asked(run: Run) -> str:
    """The tested network as --epoch names it: best or last where that still is the same, so that the group stays."""
    if run.trainer is not None:
        for name, epoch in (("best", run.trainer.best_epoch), ("last", run.trainer.epoch)):
            if (run.tested_network, run.tested_epoch) == (f"{name} epoch", epoch):
                return name
    return str(run.tested_epoch)


def _own_program(name: str) -> str:
    """The command line of the file that recorded a run; Python would run a name like "-cCODE" as code."""
    return shlex.join(["python", _as_argument(name)])


def _as_argument(path: str) -> str:
    """A path that no program takes for one of its options."""
    return f"./{path}" if path.startswith("-") else path
