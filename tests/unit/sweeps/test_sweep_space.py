"""Parameters of a sweep: read from words, checked against the catalog, written back; and the papers' presets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.comparing.published.published_tables import tables
from workbench.config import BadConfig, Choice
from workbench.entries import catalog
from workbench.settings.changed import changed, read_config
from workbench.settings.presets import presets
from workbench.sweeps import objective
from workbench.sweeps.plan import planned, sweep_presets
from workbench.sweeps.space import Parameter, checked, configured, fields, read, written


@pytest.fixture(scope="module")
def known():
    return catalog.current()


@pytest.fixture(scope="module")
def config():
    return read_config("sample-digits")


@pytest.mark.parametrize(
    ("text", "parameter"),
    [
        ("loss.scale=16,32, 64", Parameter("loss.scale", (16, 32, 64))),
        ("loss.name=ce,spce", Parameter("loss.name", ("ce", "spce"))),
        ("embedding.batch_norm=true,false", Parameter("embedding.batch_norm", (True, False))),
        ('evaluation.recall_at="1 2","1 4"', Parameter("evaluation.recall_at", ("1 2", "1 4"))),
        ("training.lr=1e-4..1e-2:log", Parameter("training.lr", (), 1e-4, 1e-2, True)),
        ("training.lr=0.1..0.3:3", Parameter("training.lr", (), 0.1, 0.3, False, 3)),
        ("training.lr=1e-4..1e-2:log:5", Parameter("training.lr", (), 1e-4, 1e-2, True, 5)),
    ],
)
def test_words_become_a_parameter_and_go_back(text, parameter):
    assert read(text) == parameter
    assert read(f"{parameter.field}={written(parameter)}") == parameter


@given(
    st.lists(
        st.one_of(
            st.integers(-(10**9), 10**9),
            st.floats(allow_nan=False, allow_infinity=False),
            st.booleans(),
            st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), min_size=1),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_whatever_values_are_written_are_read_again(values):
    parameter = Parameter("loss.anything", tuple(dict.fromkeys(values)))
    assert read(f"loss.anything={written(parameter)}").values == parameter.values


@pytest.mark.parametrize(
    "text",
    [
        "loss.scale",
        "=3",
        "loss.scale=",
        "training.lr=a..b",
        "training.lr=1..2:lin",
        "a.b=1..2:3:4",
        "a.b=1..2:\u0663",
        "a.b=1..2:\u00b2",
    ],
)
def test_words_that_mean_nothing_are_a_sentence(text):
    with pytest.raises(BadConfig) as caught:
        read(text)
    assert len(caught.value.errors) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("loss.scale=16", "There is no such field. Known: loss.name, loss."),
        ("los.scale=16", "Write its part before it, as in loss.scale."),
        ("seed=1,2", "--seeds"),
        ("name=a,b", "There is no such field. Write its part before it"),
        ("loss.dropout=0.1,1.5", "1.5: Must be less than 1."),
        ("training.epochs=1.5,2", "1.5: Must be a whole number."),
        ("training.epochs=1.5..3", "1.5: Must be a whole number."),
        ("loss.name=ce,nothing", "There is no loss named 'nothing'."),
        ("training.optimiser=sgd,lion", "Must be one of"),
        ("training.optimiser=1..2", "A range needs a field that holds a number."),
        ("training.lr=2..1", "The range must rise"),
        ("training.momentum=0..0.9:log", "A logarithmic range must begin above 0."),
        ("training.momentum=0..0.9:1", "A range has 2 points or more."),
    ],
)
def test_a_wrong_name_or_value_is_one_sentence_about_its_field(text, said, config, known):
    with pytest.raises(BadConfig) as caught:
        checked([read(text)], config, known)
    assert list(caught.value.errors) == [text.partition("=")[0]]
    assert said in str(caught.value)


def test_values_take_the_type_of_their_field(config, known):
    [lr, epochs] = checked([read("training.lr=1,2"), read("training.epochs=2..9")], config, known)
    assert [type(value) for value in lr.values] == [float, float]
    assert epochs.whole
    assert epochs.listed() == (2, 3, 4, 5, 6, 7, 8, 9)


def test_a_parameter_of_another_loss_can_stand_beside_the_losses(config, known):
    [_, scale] = checked([read("loss.name=ice"), read("loss.scale=16,32")], config, known)
    assert scale.values == (16.0, 32.0)


@pytest.mark.parametrize(
    ("losses", "values", "said"),
    [
        ("arcface,cosface", "loss.margin=0.2,30", "30 with loss CosFace: Must be 1 or less."),
        ("cosface,arcface", "loss.margin=0.2,30", "30 with loss CosFace: Must be 1 or less."),
        ("arcface,cosface", "loss.margin=0.2..30", "30 with loss CosFace: Must be 1 or less."),
        ("ce,cosface,ice", "loss.scale=0.5,16", "0.5 with loss Instance cross-entropy (ICE): Must be 1 or more."),
        ("psce,psc", "loss.prototypes=means,random", "softmax cross-entropy (PSCE): Must be one of 'auto'"),
        ("ce,cosface", "loss.margin=0.2,30", "30: Must be 1 or less."),
    ],
)
def test_a_value_is_checked_with_each_loss_that_has_its_field(losses, values, said, config, known):
    with pytest.raises(BadConfig) as caught:
        checked([read(f"loss.name={losses}"), read(values)], config, known)
    assert list(caught.value.errors) == [values.partition("=")[0]]
    assert said in str(caught.value)


def test_a_field_is_described_with_the_limits_of_all_losses_that_are_tried(config, known):
    def limits(field, *losses):
        facts = fields(config, known, {"loss.name": losses})[f"loss.{field}"]
        return {key: facts[key] for key in sorted(facts) if "imum" in key or key == "enum"}

    assert limits("margin", "arcface") == {"maximum": 90, "minimum": 0}
    for losses in (("arcface", "cosface", "triplet"), ("triplet", "cosface", "arcface")):
        assert limits("margin", *losses) == {"exclusiveMinimum": 0, "maximum": 1}
    assert limits("margin", "arcface", "contrastive_cosine") == {"exclusiveMaximum": 1, "minimum": 0}
    assert limits("prototypes", "psc", "psce")["enum"] == ["learned", "means"], "none is allowed by both"
    assert limits("margin", "arcface") == {"maximum": 90, "minimum": 0}, "the catalog is not changed"


def test_a_range_is_of_whole_numbers_and_of_text_where_each_entry_takes_them(config, known):
    [_, width] = checked([read("backbone.name=conv4,resnet32"), read("backbone.width=8..256")], config, known)
    assert (width.low, width.high, width.whole, width.entries) == (8, 256, True, ())
    with pytest.raises(BadConfig, match="A range needs a field that holds a number"):
        checked([read("dataset.name=folder,csv"), read("dataset.levels=1..2")], config, known)


def test_a_field_that_no_chosen_loss_has_is_refused_with_the_nearest_of_theirs(config, known):
    with pytest.raises(BadConfig, match=r"no such field\. Known: loss\.margin, "):
        checked([read("loss.margn=0.2,0.5"), read("loss.name=ce,contrastive")], config, known)
    with pytest.raises(BadConfig, match=r"no such field\. Known: loss\.name, "):
        checked([read("loss.name=ce,norm_ce"), read("loss.margin=0.2,0.5")], config, known)


def test_a_field_that_only_some_losses_have_is_left_out_with_the_others_and_counted_once(known):
    config = read_config("sample-digits", ("sampler.name=classes_images",))
    varied = [read("loss.name=ce,contrastive"), read("loss.margin=0.2,0.5"), read("training.lr=0.1,0.2")]
    plan = planned(config, varied, "grid", known)
    assert plan.trials == len(plan.settings()) == 6
    assert plan.settings()[:3] == [
        {"loss.name": "ce", "training.lr": 0.1},
        {"loss.name": "ce", "training.lr": 0.2},
        {"loss.name": "contrastive", "loss.margin": 0.2, "training.lr": 0.1},
    ]
    for how in ("random", "bayes"):
        assert planned(config, varied, how, known, trials=20).fewer.startswith("These values have only 6 combinations")


def test_no_parameter_and_a_field_twice_are_refused(config, known):
    with pytest.raises(BadConfig, match="at least one"):
        checked([], config, known)
    with pytest.raises(BadConfig, match="named twice"):
        checked([read("training.lr=1"), read("training.lr=2")], config, known)


def test_points_of_a_range_have_equal_steps_or_equal_ratios():
    assert read("a.b=0..1:5").listed() == (0.0, 0.25, 0.5, 0.75, 1.0)
    assert read("a.b=2..4:3").listed() == (2.0, 3.0, 4.0)
    assert read("a.b=1e-4..1:log:5").listed() == (1e-4, 1e-3, 1e-2, 1e-1, 1.0)


def test_points_of_whole_numbers_are_whole(config, known):
    [epochs] = checked([read("training.epochs=2..8:3")], config, known)
    assert epochs.listed() == (2, 5, 8)
    assert {type(value) for value in epochs.listed()} == {int}


def test_a_grid_takes_every_whole_number_of_a_short_range(config, known):
    [epochs] = checked([read("training.epochs=3..66")], config, known)
    assert epochs.listed() == tuple(range(3, 67))
    [epochs] = checked([read("training.epochs=3..67")], config, known)
    with pytest.raises(BadConfig, match=r"A grid needs values, or a range with points: 3\.\.67:5\."):
        epochs.listed()


@pytest.mark.parametrize("listing", ["1,,2", "[1,2]", '"",2'])
def test_what_is_no_list_of_values_is_said_so(listing):
    with pytest.raises(BadConfig, match="are not values separated by commas"):
        read(f"a.b={listing}")


def test_every_field_that_is_offered_can_be_checked(config, known):
    offered = fields(config, known)
    assert {"loss.name", "loss.dropout", "training.lr", "embedding.dim", "split.train_fraction"} <= set(offered)
    for field, facts in offered.items():
        checked([Parameter(field, (facts["default"],))], config, known)


def test_a_setting_becomes_a_config_named_after_it(config, known):
    made = configured(config, {"training.lr": 1e-8, "loss.name": "norm_ce", "embedding.batch_norm": False}, known)
    assert (made.training.lr, made.loss) == (1e-8, Choice(name="norm_ce"))
    assert made.name == "Sample: Digits: learning rate 1e-08, loss Normalised CE, batch-norm on top: no"
    dropout = configured(config, {"loss.dropout": 0.25}, known).name
    assert dropout == "Sample: Digits: dropout 0.25"
    with pytest.raises(BadConfig, match="several images of a class"):
        configured(config, {"loss.name": "triplet"}, known)


def test_a_folder_that_is_varied_is_whole_in_the_run(config, known, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = configured(config, {"dataset.name": "folder", "dataset.folder": "birds"}, known)
    assert made.dataset.params["folder"] == str(tmp_path / "birds")


def test_a_plan_names_the_setting_whose_fields_do_not_go_together(known):
    config = read_config("omniglot-unseen")
    with pytest.raises(BadConfig, match="The setting batch 63 cannot be used"):
        planned(config, [read("training.batch_size=63,64")], "grid", known)


def test_the_objective_is_never_of_the_reported_half_where_classes_are_held_out(config, known):
    held = changed(config, {"split.name": "classes", "split.validation": 0.2}, known, "test")
    assert objective.chosen("", held, known) == "validation/MAP@R"
    with pytest.raises(BadConfig, match="measured on the test set"):
        objective.chosen("MAP@R", held, known)
    assert objective.chosen("probe/ce", held, known) == "probe/ce"
    assert objective.chosen("", config, known) == "MAP@R"
    assert objective.reported("recall@1")
    assert not objective.reported("validation/MAP@R")
    for wrong in ("validation/MAP@R", "recall@3", "speed"):
        with pytest.raises(BadConfig):
            objective.chosen(wrong, config, known)


def test_a_plan_counts_its_runs(config, known):
    plan = planned(config, [read("training.lr=0.1,0.2"), read("loss.dropout=0,0.1,0.2")], "grid", known, seeds=3)
    assert (plan.trials, plan.runs, len(plan.settings())) == (6, 18, 6)
    assert planned(config, [read("training.lr=0.1,0.2")], "random", known, trials=9).trials == 2, "there are only two"
    with pytest.raises(BadConfig, match="every combination"):
        planned(config, [read("training.lr=0.1,0.2")], "grid", known, trials=3)
    with pytest.raises(BadConfig, match="A grid needs values, or a range with points"):
        planned(config, [read("training.lr=0.1..0.2")], "grid", known)


GRIDS = {
    "ice-scale": ({"loss.scale": (1, 16, 32, 48, 64, 80)}, "ICE, s = ", "Table 2"),
    "ice-images-per-class": ({"sampler.images_per_class": (2, 3, 4, 5)}, " × ", "Table 4"),
    "ice-batch-size": ({"training.batch_size": (100, 120, 140, 160, 180)}, "N = ", "Table 5"),
    "ice-dimension": ({"embedding.dim": (64, 128, 256, 512)}, "ICE, ", "Table 6"),
    "psce-dimension": ({"embedding.dim": (2, 5, 10, 20)}, "D = ", "Table 8"),
    "psce-dimension-100": ({"embedding.dim": (2, 50, 100, 200)}, "D = ", "Table 8"),
    "psce-prototypes": ({"loss.prototypes": ("random", "canonical", "simplex")}, "PSCE ", "Table 7"),
    "rankmi-depth": ({"loss.depth": (3, 5, 7)}, "depth ", "Supplement, Table 3"),
    "rankmi-width": ({"loss.width": (32, 128, 512)}, "width ", "Supplement, Table 3"),
    "rankmi-ratio": ({"loss.ratio": (1, 2, 4)}, "ratio ", "Supplement, Table 4"),
    "rankmi-batch-size": ({"training.batch_size": (120, 180, 240)}, "batch ", "Supplement, Table 5"),
    "rankmi-dimension": ({"embedding.dim": (128, 512)}, "RankMI, ", "Supplement, Table 6"),
}
"""What each sweep of one field tries, and what stands before that value in the rows of the paper's table."""
OTHER_GRIDS = {
    "ccp-batch-size": 4, "ccp-proxies-penalty": 40, "ccp-proxies-pool": 20, "ccp-alternating": 8, "psce-batch-size": 4,
    "psce-stages": 2, "psce-normalised": 4,
}  # fmt: skip


def test_the_papers_sweeps_fit_the_runs_that_they_vary(known):
    runs = {preset.key: preset.config for preset in presets()}
    every = {preset.key: preset for preset in sweep_presets()}
    assert set(every) == {*GRIDS, *OTHER_GRIDS}
    for key, preset in every.items():
        config = changed(runs[preset.preset], preset.changes, known, key)
        plan = planned(config, preset.parameters, preset.how, known, trials=preset.trials, source=preset.source)
        assert plan.trials == OTHER_GRIDS.get(key) or list(GRIDS[key][0].values()) == [plan.parameters[0].values]
        assert "Table" in preset.source or "Fig" in preset.source


@pytest.mark.parametrize("key", GRIDS)
def test_a_sweep_tries_every_row_of_the_papers_table(key):
    tried, before, source = GRIDS[key]
    preset = next(preset for preset in sweep_presets() if preset.key == key)
    ((field, values),) = tried.items()
    assert preset.parameters == (Parameter(field, values),)
    run = next(each.config for each in presets() if each.key == preset.preset)
    rows = [
        row.method for table in tables()
        if (table.source, table.dataset) == (source, run.dataset.name) and table.paper.startswith(preset.source[:5])
        for row in table.rows
    ]  # fmt: skip
    for value in values:
        assert any(f"{before}{value}" in method for method in rows), (value, rows)


@pytest.mark.parametrize(
    "parameter",
    [
        Parameter("training.lr", low=0.12345678, high=1.0, log=True),
        Parameter("dataset.count", low=1, high=1234567),
        Parameter("dataset.folder", ("../first", "second..third", "a")),
    ],
)
def test_a_parameter_keeps_all_its_digits_and_dots(parameter):
    assert read(f"{parameter.field}={written(parameter)}") == parameter


def test_a_varied_path_is_that_of_the_working_folder_in_which_the_sweep_was_planned(known, tmp_path, monkeypatch):
    deep = tmp_path / "-".join(["deep"] * 20)
    deep.mkdir()
    monkeypatch.chdir(deep)
    config = changed(read_config("sample-digits"), {"dataset.name": "folder"}, known, "test")
    plan = planned(config, [read("dataset.folder=a,./a,../b,~/c")], "grid", known)
    monkeypatch.chdir(tmp_path)
    varied = read(f"dataset.folder={written(plan.parameters[0])}")  # as a worker reads it
    assert varied.values == (str(deep / "a"), str(tmp_path / "b"), "~/c")
    runs = [configured(config, setting, known) for setting in plan.settings()]
    assert [run.dataset.params["folder"] for run in runs] == list(varied.values)
    assert len({run.name for run in runs}) == 3
    assert runs[0].name.endswith("-deep/a"), "what differs is not cut off"
