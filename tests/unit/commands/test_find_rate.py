"""`workbench find-rate`: a table, the suggested rate and the command that takes it."""

import json
import re
import shlex

import pytest
from click.testing import CliRunner

from workbench.cli import cli
from workbench.running import rate_range
from workbench.running.facts.rate_curve import rising_rates, suggest
from workbench.running.rate_range import RateTest

QUICK = ("find-rate", "sample-digits", "--set", "device=cpu", "--set", "backbone.width=4", "--steps", "20")


@pytest.fixture(autouse=True)
def own_place(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_WORKSPACE", str(tmp_path / "space"))


def curve(monkeypatch, losses):
    """What the command shows is a test with these losses."""
    rates = rising_rates(1e-6, 1, len(losses)).tolist()
    test = RateTest(rates, losses, len(losses), suggest(rates, losses, len(losses)))
    monkeypatch.setattr(rate_range, "find_rate", lambda config, **_: test)


def test_the_suggestion_comes_with_the_command_that_takes_it(tmp_path):
    done = CliRunner().invoke(cli, [*QUICK, "--set", "name=my run", "--set", "training.lr=5.0"])
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["rate", "loss", "smoothed"]
    suggested = re.search(r"^Suggested: ([\d.]+), where the smoothed loss falls most steeply\.$", done.stdout, re.M)[1]
    words = shlex.split(lines[-1].removeprefix("Use it: "))
    expected = ["workbench", "run", "sample-digits", "--set", "device=cpu", "--set", "backbone.width=4"]
    assert words == [*expected, "--set", "name=my run", "--set", f"training.lr={float(suggested):g}"]
    assert not (tmp_path / "space").exists()


def test_json_has_all_points():
    done = CliRunner().invoke(cli, [*QUICK, "--first", "1e-5", "--last", "1e-3", "--json"])
    shown = json.loads(done.stdout, parse_constant=pytest.fail)
    assert shown["rates"][0] == pytest.approx(1e-5)
    assert shown["rates"][-1] == pytest.approx(1e-3)
    assert len(shown["rates"]) == len(shown["losses"]) == len(shown["smoothed"]) == shown["planned_steps"] == 20
    assert {"suggested", "tenth_of_least", "reason", "note"} < shown.keys()


def test_a_curve_without_a_descent_suggests_nothing(monkeypatch):
    curve(monkeypatch, [1.0] * 40)
    done = CliRunner().invoke(cli, [*QUICK[:2]])
    assert (done.exit_code, "Take it" in done.stdout) == (0, False)
    assert done.stdout.splitlines()[-1].startswith("No rate is suggested. The loss does not fall by more than")


def test_a_long_curve_is_a_short_table_with_the_last_point(monkeypatch):
    curve(monkeypatch, [3 - at / 100 for at in range(203)])
    lines = CliRunner().invoke(cli, [*QUICK[:2]]).stdout.splitlines()
    rows = [line for line in lines if re.match(r"\s*\d\.\de", line)]
    assert 10 < len(rows) <= 25
    assert rows[-1].split()[0] == "1.0e+00"


def test_a_loss_that_is_not_finite_is_shown(monkeypatch):
    curve(monkeypatch, [2.0] * 30 + [float("nan")])
    done = CliRunner().invoke(cli, [*QUICK[:2]])
    assert done.exit_code == 0
    assert "nan" in done.stdout


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["--first", "0"], 2, "'--first'"), (["--steps", "3"], 2, "'--steps'"),
        (["--first", "1", "--last", "0.1"], 1, "1 to 0.1 do not"),
    ],
)  # fmt: skip
def test_wrong_ranges_are_refused(words, status, said):
    done = CliRunner().invoke(cli, [*QUICK[:2], *words])
    assert done.exit_code == status
    assert said in done.stderr
