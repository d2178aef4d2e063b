"""Rule 3 of docs/architecture.md: every registered entry describes itself, and a new one is one new file."""

import os
import subprocess
import sys

import pytest
from source_rules import ROOT

from workbench import registry
from workbench.params import NoParams, Params, param
from workbench.registry import Entry, complaints

KINDS = ("dataset", "split", "sampler", "augmentation", "backbone", "loss")


class Wordless(Params):
    size: int = param(3, help="")


class Shapeless(Params):
    sizes: list[int] = param([], help="Sizes.")


class Needy(Params):
    size: int = param(..., help="Size of the thing.")


def build(params, *, num_classes, embedding_dim):
    """A factory of losses."""


def without_keywords(params, classes, dim):
    """A factory that cannot be called by name."""


class OfOneArgument:
    def __init__(self, params, *, num_classes, embedding_dim):
        self.params = params

    def forward_checked(self, embeddings):
        return embeddings


@pytest.mark.parametrize(
    "planted",
    [
        Entry("loss", "planted", "Planted", "No full stop", "A paper", NoParams, build),
        Entry("loss", "planted", "Planted", "", "A paper", NoParams, build),
        Entry("loss", "planted", "", "A sentence.", "A paper", NoParams, build),
        Entry("loss", "planted", "Planted", "A sentence.", "", NoParams, build),
        Entry("losses", "planted", "Planted", "A sentence.", "A paper", NoParams, build),
        Entry("loss", "Planted Loss", "Planted", "A sentence.", "A paper", NoParams, build),
        Entry("loss", "planted", "Planted", "A sentence.", "A paper", Wordless, build),
        Entry("loss", "planted", "Planted", "A sentence.", "A paper", Shapeless, build),
        Entry("loss", "planted", "Planted", "A sentence.", "A paper", Needy, build),
        Entry("loss", "planted", "Planted", "A sentence.", "A paper", NoParams, without_keywords),
        Entry("loss", "planted", "Planted", "A sentence.", "A paper", NoParams, OfOneArgument),
        Entry("dataset", "planted", "Planted", "A sentence.", "A paper", NoParams, without_keywords),
    ],
)
def test_a_planted_fault_is_found(planted):
    assert len(complaints(planted)) == 1


def test_every_entry_describes_itself():
    registry.discover_all()
    known = [each for kind in KINDS for each in registry.entries(kind)]
    shipped = [each for each in known if each.build.__module__.startswith("workbench.")]  # other tests may add some
    assert {each.kind for each in shipped} == set(KINDS)
    assert {f"{each.kind}/{each.name}": complaints(each) for each in shipped if complaints(each)} == {}
    for each in shipped:
        each.params()  # the defaults keep their own limits


NEW_LOSS = '''
from workbench.params import NoParams
from workbench.registry import register

@register("loss", "planted", title="Planted", params=NoParams, source="This test")
def planted(params, num_classes, embedding_dim):
    """Only there to be found."""
'''


def test_a_new_loss_is_one_new_file(tmp_path):
    (tmp_path / "planted.py").write_text(NEW_LOSS)
    code = (
        "import sys, workbench.losses; from workbench import registry; workbench.losses.__path__.append(sys.argv[1]); "
        "registry.discover('workbench.losses'); print(registry.catalog()['loss/planted']['help'])"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    assert (done.stdout.strip(), done.stderr) == ("Only there to be found.", "")
