"""Rules 1 and 6 of docs/architecture.md on the real import: fresh interpreters say what each module loads."""

import json
import os
import subprocess
import sys

import source_rules as rules
from source_rules import ROOT

NAMES = [source.name for source in rules.read_package(ROOT / "workbench")]
WINDOW = [name for name in NAMES if name == "workbench.app" or name.startswith("workbench.ui")]
ENGINE = [name for name in NAMES if name not in WINDOW]
START = ["workbench.__main__", "workbench.cli", "workbench.config", "workbench.entries.catalog", "workbench.jobs"]
STORE = [name for name in NAMES if name.startswith("workbench.workspace")]
TRAINING = [
    name for name in NAMES if name.split(".")[1:2] in (["training"], ["losses"], ["backbones"], ["datasets"])
] + ["workbench.running.engine"]
RESULTS = [name for name in NAMES if name.startswith("workbench.results")] + ["workbench.evaluation"]
ANALYSIS = [name for name in NAMES if name.startswith("workbench.projection")]

PROBE = """
import gc, importlib, json, sys
gc.disable()  # all that is made here stays
for modules, unwanted in json.loads(sys.argv[1]):
    for name in modules:
        importlib.import_module(name)
        loaded = [each for each in unwanted if each in sys.modules]
        if loaded:
            sys.exit(print(name, "loads", *loaded))
"""


def loaded(*questions: tuple[list[str], set[str]], path: str = "") -> str:
    """Import the modules one after the other; the first that loads something unwanted is named, with what it loads.

    One process answers several questions in turn.
    """
    question = json.dumps([(modules, sorted(unwanted)) for modules, unwanted in questions])
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (path, str(ROOT))))}
    command = [sys.executable, "-c", PROBE, question]
    answer = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    assert answer.returncode == 0, answer.stderr
    return answer.stdout.strip()


def test_a_planted_load_is_found(tmp_path):
    (tmp_path / "innocent.py").write_text("import json")
    (tmp_path / "guilty.py").write_text("import innocent\nimport sqlite3")
    both = ["innocent", "guilty"]
    assert loaded((both, {"sqlite3", "tkinter"}), path=str(tmp_path)) == "guilty loads sqlite3"
    assert loaded((both, {"tkinter"}), (both, {"sqlite3"}), path=str(tmp_path)) == "innocent loads sqlite3"


def test_nothing_heavy_is_loaded_before_it_is_needed():
    parts = (WINDOW, START, STORE, RESULTS)
    assert all(parts)
    assert loaded(*((part, rules.HEAVY | {"scipy"}) for part in parts)) == ""


def test_training_loads_nothing_that_not_every_run_needs_and_the_engine_runs_without_qt():
    assert TRAINING
    unwanted = {"faiss", "umap", "pynndescent", "numba", "sklearn", "torchvision"}
    assert loaded((TRAINING, unwanted | rules.QT), (ENGINE, rules.QT)) == ""


def test_the_analysis_process_loads_no_torch():
    assert ANALYSIS
    assert loaded((ANALYSIS, {"torch", "torchvision"})) == ""
