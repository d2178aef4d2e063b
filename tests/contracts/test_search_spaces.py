"""Every loss says what a fair comparison tunes: values that its fields can have, the default among them, a source."""

from dataclasses import replace

import pytest

from workbench import registry
from workbench.config import BadConfig, RunConfig
from workbench.entries.facts import Searched
from workbench.sweeps.space import Parameter, checked, fields

registry.discover("workbench.losses")
SHIPPED = [each for each in registry.entries("loss") if each.build.__module__.startswith("workbench.")]


def breaches(name: str, search: dict[str, Searched], known) -> list[str]:
    """What is wrong with a search space, a sentence each."""
    config = RunConfig(loss=name, sampler="classes_images")
    described = fields(config, known)
    wrong = []
    for field, tried in search.items():
        dotted = field if "." in field else f"loss.{field}"
        if not tried.source:
            wrong.append(f"{dotted} has no source")
        if bool(tried.values) == (tried.low is not None):
            wrong.append(f"{dotted} has neither values nor a range, or both")
            continue
        parameter = Parameter(dotted, tuple(tried.values), tried.low, tried.high, tried.log)
        try:
            (parameter,) = checked([parameter], config, known)
        except BadConfig as error:
            wrong.append(str(error))
            continue
        default = described[dotted]["default"]
        inside = default in parameter.values if parameter.low is None else parameter.low <= default <= parameter.high
        if not inside:
            wrong.append(f"{dotted}: the default {default} is not tried")
    return wrong


@pytest.fixture(scope="module")
def known():
    registry.discover_all()
    return registry.catalog()


@pytest.mark.parametrize("entry", SHIPPED, ids=lambda entry: entry.name)
def test_every_loss_declares_a_search_space_that_its_fields_allow(entry, known):
    assert "training.lr" in entry.facts.search, "the network's learning rate is tuned for every loss alike"
    assert breaches(entry.name, entry.facts.search, known) == []


@pytest.mark.parametrize("entry", [each for each in SHIPPED if "proxy_lr" in each.params.model_fields],
                         ids=lambda entry: entry.name)  # fmt: skip
def test_a_loss_with_a_rate_of_its_own_tunes_it(entry):
    assert "proxy_lr" in entry.facts.search


@pytest.mark.parametrize(
    ("field", "change", "says"),
    [
        ("scale", {"low": 0.5}, "1 or more"),
        ("scale", {"low": 70.0}, "the default 64.0 is not tried"),
        ("scale", {"source": ""}, "no source"),
        ("scale", {"values": (16.0,)}, "or both"),
        ("sharpness", {}, "There is no such field"),
    ],
)
def test_a_planted_fault_is_found(field, change, says, known):
    good = Searched(source="Table 2", low=16.0, high=80.0, log=True)
    assert breaches("ice", {"scale": good}, known) == []
    (wrong,) = breaches("ice", {field: replace(good, **change)}, known)
    assert says in wrong
