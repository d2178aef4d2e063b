"""The command line lists what the registry holds, and changes fields by name."""

import pytest
from click.testing import CliRunner

from workbench.cli import cli, main, read_config
from workbench.config import BadConfig


def test_list_shows_defaults_ranges_help_and_source():
    result = CliRunner().invoke(cli, ["list", "losses"])
    assert result.exit_code == 0
    assert "temperature = 0.05 (> 0, ≤ 10)" in result.output
    assert "Eq. 12" in result.output
    assert "Published for sop: loss.scale = 64.0" in result.output
    assert "No paper at hand names values for a data set." in result.output
    assert "Measured here on omniglot: loss.dropout = 0.0 (docs/results.md)." in result.output


def test_presets_are_listed_with_their_names():
    assert "sample-digits" in CliRunner().invoke(cli, ["list", "presets"]).output


def test_a_wrong_word_is_usage_error_2():
    assert CliRunner().invoke(cli, ["list", "loses"]).exit_code == 2
    assert main(["list", "loses"]) == 2
    assert main(["list", "presets"]) == 0


def test_fields_are_changed_by_name():
    config = read_config("sample-digits", ("training.epochs=3", "seed=9", 'name="mine"', "embedding.normalise=true"))
    assert (config.training.epochs, config.seed, config.name, config.embedding.normalise) == (3, 9, "mine", True)


def test_another_entry_takes_none_of_the_old_one_s_parameters():
    changed = ("sampler.name=random", "loss.name=norm_ce", "loss.temperature=0.1")
    config = read_config("omniglot-unseen", changed)
    assert config.sampler.params == {}
    assert config.loss.params == {"temperature": 0.1}


@pytest.mark.parametrize("change", ["training.epoch=3", "nothing.at.all=1", "training.epochs", "training.epochs=0"])
def test_a_wrong_change_names_its_field(change):
    with pytest.raises(BadConfig) as caught:
        read_config("sample-digits", (change,))
    assert change.partition("=")[0] in caught.value.errors
