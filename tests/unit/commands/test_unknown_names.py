"""A name or number that nothing has: one sentence with similar names, status 2, and nothing is made."""

import pytest

from workbench import cli
from workbench.names import nearest_first, similar
from workbench.places import records
from workbench.places.place import SshPlace
from workbench.workspace import Workspace

SWEEP = ["sweep", "start", "sample-digits", "-p", "training.lr=0.1,0.2"]
RUN = ["run", "sample-digits"]
UNKNOWN = {
    "metric": ([*SWEEP, "--metric", "map@r"], "The runs will have no 'map@r'. Known: MAP@R, "),
    "recall": ([*SWEEP, "--metric", "recall@3"], "The runs will have no 'recall@3'. Known: recall@1, recall@2, "),
    "field of a sweep": (["sweep", "start", "sample-digits", "-p", "training.lrr=1,2"], "Known: training.lr, "),
    "entry of a sweep": (
        ["sweep", "start", "sample-digits", "-p", "dataset.name=minst"],
        "There is no data set named 'minst'. Known: mnist, ",
    ),
    "place of a sweep": ([*SWEEP, "--place", "clustr"], "There is no place clustr. Known: cluster."),
    "place of a run": ([*RUN, "--place", "clustr"], "There is no place clustr. Known: cluster."),
    "place": (["place", "check", "clustr"], "There is no place clustr. Known: cluster."),
    "preset": (["run", "sample-digit"], "no preset of that name. Nothing was started. Similar: sample-digits."),
    "sweep of a paper": (["sweep", "start", "ice-scal"], "Nothing was started. Similar: ice-scale. `workbench sweep"),
    "plug-in": (["plugins", "remove", "nowhere"], "nowhere is not a plug-in folder."),
    "loss": ([*RUN, "--set", "loss.name=spc"], "There is no loss named 'spc'. Known: spce, psc, "),
    "backbone": ([*RUN, "--set", "backbone.name=resnet19"], "There is no backbone named 'resnet19'. Known: resnet18, "),
    "data set": ([*RUN, "--set", "dataset.name=digit"], "There is no data set named 'digit'. Known: digits, "),
    "split": ([*RUN, "--set", "split.name=class"], "There is no split named 'class'. Known: classes, "),
    "field": ([*RUN, "--set", "training.epoch=3"], "training.epoch: There is no such field. Similar: training.epochs"),
    "field of an entry": (
        [*RUN, "--set", "loss.name=norm_ce", "--set", "loss.temprature=1"],
        "loss.temprature: There is no such field. Similar: loss.temperature",
    ),
    "field that another entry has": (
        [*RUN, "--set", "backbone.name=conv4", "--set", "backbone.weights_file=w.pt"],
        "backbone.weights_file: There is no such field in conv4. It has: backbone.width, ",
    ),
    "field without its part": ([*RUN, "--set", "batch_size=3"], "no such field. Similar: training.batch_size."),
    "field of another part": ([*RUN, "--set", "loss.batch_size=3"], "no such field. Similar: training.batch_size."),
    "field by its label": ([*RUN, "--set", "training.learning_rate=1"], "no such field. Similar: training.lr."),
    "field above its part": ([*RUN, "--set", "training.seed=1"], "no such field. Similar: seed."),
    "field of a sweep without its part": (["sweep", "start", "sample-digits", "-p", "lr=1,2"], "Similar: training.lr."),
    "part": ([*RUN, "--set", "los.name=ce"], "los.name: There is no such field. Similar: loss."),
    "field of a place": (
        ["place", "add", "new", "--ssh", "host", "--set", "foldr=/x"],
        "foldr: There is no such field. Known: folder, ",
    ),
    "field of a comparison": (
        ["benchmark", "fair", "--data", ".", "--set", "training.epoch=3"],
        "training.epoch: There is no such field. Similar: training.epochs",
    ),
    "method of a comparison": (
        ["benchmark", "fair", "--data", ".", "--methods", "ce,npair"],
        "no loss named 'npair'. Known: npairs, ",
    ),
    "method": (["benchmark", "methods", "--data", ".", "--method", "npair"], "no loss named 'npair'. Known: npairs, "),
}


@pytest.mark.parametrize(("words", "said"), UNKNOWN.values(), ids=UNKNOWN)
def test_an_unknown_name_is_answered_with_similar_ones_and_makes_nothing(words, said, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("WORKBENCH_PLACES", str(tmp_path / "places"))
    monkeypatch.setenv("WORKBENCH_WORKSPACE", str(tmp_path / "space"))
    records.store(SshPlace(name="cluster", host="cluster", folder="/runs"))
    assert cli.main(words) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "space").exists()


@pytest.mark.parametrize(
    "words",
    [["compare"], ["deploy"], ["export"], ["geometry"], ["index"], ["report"], ["triage"], ["sweep", "show"],
     ["sweep", "retry"], ["place", "fetch"], ["place", "resume"],
     ["place", "stop"]],
    ids=" ".join,
)  # fmt: skip
def test_the_number_of_no_run_or_sweep_is_status_2(words, tmp_path, capsys):
    Workspace(tmp_path / "space", create=True).close()
    assert cli.main([*words, "77", "-w", str(tmp_path / "space")]) == 2
    assert f"There is no {'sweep' if words[0] == 'sweep' else 'run'} 77 in" in capsys.readouterr().err


def test_similar_names_come_first_and_the_others_keep_their_order():
    assert nearest_first("recall@3", ["MAP@R", "P@1", "recall@1", "recall@2"]) == [
        "recall@1", "recall@2", "MAP@R", "P@1",
    ]  # fmt: skip
    assert nearest_first("", ["b", "a"]) == ["b", "a"]
    assert similar("CE", ["norm_ce", "ce", "triplet"]) == ["ce"]
