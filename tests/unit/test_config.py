"""A config says what is wrong, field by field, and comes back from TOML as it went in."""

import os
import re

import pytest

from workbench.config import BadConfig, Choice, RunConfig, TrainingParams, sections
from workbench.entries import catalog
from workbench.entries.catalog import params_of
from workbench.files.resources import resources
from workbench.problem import Problem
from workbench.settings.changed import changed, read_config, toml_value
from workbench.settings.presets import UNSAID, presets, read

CATALOG = {
    "dataset/digits": {"title": "Digits", "help": "", "source": "", "facts": {}, "params": {}},
    "split/random": {
        "title": "Random", "help": "", "source": "", "facts": {},
        "params": {"train_fraction": {"type": "number", "default": 0.5, "exclusiveMinimum": 0, "exclusiveMaximum": 1}},
    },
    "sampler/random": {"title": "Random", "help": "", "source": "", "facts": {}, "params": {}},
    "augmentation/none": {"title": "None", "help": "", "source": "", "facts": {"changes": False}, "params": {}},
    "backbone/conv4": {
        "title": "Four", "help": "", "source": "", "facts": {},
        "params": {"kind": {"type": "string", "enum": ["a", "b"], "default": "a"}},
    },
    "loss/ce": {"title": "CE", "help": "", "source": "", "facts": {}, "params": {}},
    "loss/pair": {
        "title": "Pair", "help": "", "source": "", "facts": {"needs_pairs": True},
        "params": {"margin": {"type": "number", "default": 0.5, "minimum": 0, "maximum": 2},
                   "times": {"type": "integer", "default": 2, "minimum": 1},
                   "hard": {"type": "boolean", "default": False}},
    },
}  # fmt: skip


def test_a_config_is_named_after_its_data_where_it_has_no_name():
    config = RunConfig()
    assert config.name == "Digits"
    assert RunConfig.model_validate(config.model_dump()) == config


def test_toml_round_trip(tmp_path):
    config = RunConfig(name='a "quoted" näme', seed=7, loss=Choice(name="pair", params={"margin": 0.25}))
    config.to_toml(tmp_path / "c.toml")
    assert RunConfig.from_toml_text((tmp_path / "c.toml").read_text("utf-8"), known={**CATALOG, "loss/pair": {
        **CATALOG["loss/pair"], "facts": {}}}) == config  # fmt: skip


@pytest.mark.parametrize(
    ("text", "field", "says"),
    [
        ("seed = -1", "seed", "0 or more"),
        ("sed = 1", "sed", "no such field"),
        ("[training]\nepochs = 'many'", "training.epochs", "whole number"),
        ("[training]\nlr = 0", "training.lr", "more than 0"),
        ("[training]\noptimiser = 'sdg'", "training.optimiser", "one of"),
        ("[loss]\nname = 'pear'", "loss.name", "no loss named 'pear'"),
        ("[loss]\nname = 'pair'\nmargin = 3", "loss.margin", "2 or less"),
        ("[loss]\nname = 'pair'\nmargn = 1", "loss.margn", "no such field"),
        ("[loss]\nname = 'pair'\ntimes = 1.5", "loss.times", "whole number"),
        ("[loss]\nname = 'pair'\nmargin = nan", "loss.margin", "number"),
        ("[backbone]\nname = 'conv4'\nkind = 'c'", "backbone.kind", "one of"),
        ("[loss]\nname = 'pair'", "sampler.name", "Classes x images"),
        ("[training]\npatience = 3", "training.patience", "images held out"),
        ("[training]\nclip_decay = true", "training.clip_decay", "no limit"),
        ("[training]\nclip_decay = true\nclip_norm = 1\noptimiser = 'adamw'", "training.clip_decay", "AdamW"),
        ("[training]\nepsilon = 0", "training.epsilon", "more than 0"),
        ("[training]\nnesterov = true\nmomentum = 0.0", "training.nesterov", "momentum above 0"),
        ("[training\n", "TOML", ""),
    ],
)
def test_one_sentence_per_bad_field(text, field, says):
    with pytest.raises(BadConfig) as caught:
        RunConfig.from_toml_text(text, known=CATALOG)
    assert field in caught.value.errors
    assert set(caught.value.errors) <= {field, "sampler.name"}, "the pair loss also asks for another sampler"
    assert says in caught.value.errors[field]


def test_all_bad_fields_at_once():
    _, errors = RunConfig.from_values({"seed": -1, "training": {"lr": -1, "epochs": 0}}, CATALOG)
    assert set(errors) == {"seed", "training.lr", "training.epochs"}


def test_a_missing_file_is_a_sentence(tmp_path):
    with pytest.raises(Problem, match="cannot be read"):
        RunConfig.from_toml(tmp_path / "none.toml")


def test_what_is_no_config_at_all_is_a_bad_config_and_a_mark_at_its_beginning_is_not(tmp_path):
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadConfig, match=r"bytes\.toml cannot be used\. TOML: It is not text in UTF-8\."):
        RunConfig.from_toml(tmp_path / "bytes.toml")
    with pytest.raises(BadConfig, match=r"TOML: It is a folder, not a file\. `workbench data FOLDER` prints"):
        RunConfig.from_toml(tmp_path)
    (tmp_path / "large.toml").write_bytes(b"#" * ((1 << 20) + 1))
    for endless in ("/dev/zero", tmp_path / "large.toml"):
        if os.path.exists(endless):
            with pytest.raises(BadConfig, match=r"TOML: It is over 1 MiB\."):
                RunConfig.from_toml(endless)
    (tmp_path / "empty.toml").write_text("# a comment\n")
    with pytest.raises(BadConfig, match=r"empty\.toml cannot be used\. TOML: It has no settings\."):
        RunConfig.from_toml(tmp_path / "empty.toml")
    (tmp_path / "marked.toml").write_bytes(b'\xef\xbb\xbfname = "marked"\n')
    assert RunConfig.from_toml(tmp_path / "marked.toml").name == "marked"


def test_filled_writes_every_default_out():
    filled = RunConfig(loss=Choice(name="pair"), sampler=Choice(name="random")).filled(CATALOG)
    assert filled.loss.params == {"margin": 0.5, "times": 2, "hard": False}


def test_the_catalog_s_class_checks_as_the_engine_s_does():
    model = params_of(CATALOG, "loss", "pair")
    assert model().model_dump() == {"margin": 0.5, "times": 2, "hard": False}


def test_presets_are_read_in_order():
    assert [preset.key for preset in presets()][:9] == [
        "sample-digits", "mnist-ce-spce", "omniglot-unseen", "photographs-unseen", "mnist-ccp", "cifar10-psce",
        "cifar10-lt-psce", "cifar100-psce", "cifar100-lt-psce",
    ]  # fmt: skip
    assert all(preset.summary.endswith(".") for preset in presets())


def test_the_papers_recipes_say_where_their_fields_come_from():
    recipes = [preset for preset in presets() if preset.sources]
    assert len(recipes) == sum(preset.title.startswith("Paper: ") for preset in presets()) == 64
    for preset in recipes:
        values = {"seed": preset.config.seed, **preset.config.model_dump()}
        for path in preset.sources:
            part, _, field = path.partition(".")
            assert (field in values[part]) if field else (path in values), f"{preset.key}: {path}"


@pytest.mark.parametrize(
    "preset", [each for each in presets() if each.title.startswith("Paper: ")], ids=lambda it: it.key
)
def test_every_field_that_a_recipe_sets_has_a_source_or_says_that_it_has_none(preset):
    given = read(resources() / "presets" / f"{preset.key}.toml")
    cited, unsaid = given["sources"], given.get("unsaid", UNSAID)
    assert unsaid.endswith("Workbench's choice")
    for source in cited.values():
        assert re.search(r"Section|Table|Algorithm|[\w-]+/[\w-]+ [\w/]+\.(py|md|yaml)\b", source), source
    parts = {part: value for part, value in given.items() if isinstance(value, dict) and part != "sources"}
    asked = {f"{part}.{field}" for part, value in parts.items() for field in value} | {"seed"}
    assert preset.sources.keys() == asked
    assert not set(cited) - asked, "a source of a field that the recipe leaves alone"
    for path in asked:
        assert preset.sources[path] == cited.get(path, unsaid), path


def test_a_preset_lays_its_fields_over_those_of_its_base(tmp_path):
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "paper.toml").write_text(
        'seed = 1\n[loss]\nname = "a"\nscale = 2\n[training]\nlr = 0.1\nepochs = 3\n[sources]\n'
        '"loss.name" = "Table 1"\n"loss.scale" = "Table 2"\n"training.lr" = "Table 3"\n"training.epochs" = "Table 4"\n'
    )
    own = tmp_path / "own.toml"
    own.write_text(
        'base = "paper"\norder = 1\n[loss]\nname = "b"\n[training]\nlr = 0.2\n[sources]\n"loss.name" = "Eq. 1"\n'
    )
    assert read(own) == {
        "seed": 1, "order": 1, "loss": {"name": "b"}, "training": {"lr": 0.2, "epochs": 3},
        "sources": {"training.epochs": "Table 4", "loss.name": "Eq. 1"},
    }  # fmt: skip
    own.write_text('base = "paper"\n[loss]\nname = "a"\nscale = 5\n')
    assert read(own)["loss"] == {"name": "a", "scale": 5}
    assert "loss.scale" not in read(own)["sources"]
    (tmp_path / "shared" / "paper-birds.toml").write_text(
        'base = "paper"\n[training]\nepochs = 9\n[sources]\n"training.epochs" = "Table 5"\n'
    )
    own.write_text('base = "paper-birds"\n[loss]\nscale = 7\n')
    assert (read(own)["loss"], read(own)["training"]) == ({"name": "a", "scale": 7}, {"lr": 0.1, "epochs": 9})
    assert read(own)["sources"] == {
        "loss.name": "Table 1", "training.lr": "Table 3", "training.epochs": "Table 5",
    }  # fmt: skip


def test_a_part_of_a_base_that_names_no_entry_is_laid_under_the_one_that_is_named(tmp_path):
    """Hyp-ViT's images of 224 px are of whichever data set: without them three of its presets had 256 px."""
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "paper.toml").write_text(
        '[dataset]\nimage_size = 224\n[sources]\n"dataset.image_size" = "Section 4"\n'
    )
    own = tmp_path / "own.toml"
    own.write_text('base = "paper"\n[dataset]\nname = "cars"\n')
    assert read(own)["dataset"] == {"name": "cars", "image_size": 224}
    assert read(own)["sources"] == {"dataset.image_size": "Section 4"}


def test_a_run_of_before_a_field_was_added_is_still_of_its_config():
    config = RunConfig(name="one", loss=Choice(name="pair", params={"margin": 0.25}))
    text = config.to_toml()
    older = "\n".join(line for line in text.splitlines() if not line.startswith(("beta2", "layer_decay")))
    assert older != text
    assert config.is_recorded_as(text)
    assert config.is_recorded_as(older)
    assert not RunConfig(name="two").is_recorded_as(older)
    assert not config.is_recorded_as("name = [")


FOLDER = {"dataset": {"name": "folder", "folder": "birds"}, "training": {"label_decisions": "mine/decided.csv"}}


def test_relative_paths_start_at_the_working_folder_and_are_kept_whole(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config = RunConfig.model_validate(FOLDER).with_whole_paths(catalog.current())
    assert config.dataset.params["folder"] == str(tmp_path / "birds")
    assert config.training.label_decisions == str(tmp_path / "mine" / "decided.csv")
    assert config.evaluation.label_decisions == ""
    monkeypatch.chdir(tmp_path.parent)
    assert config.with_whole_paths(catalog.current()) == config
    at_home = RunConfig(dataset=Choice(name="folder", params={"folder": "~/birds"}))
    assert at_home.with_whole_paths(catalog.current()) == at_home


def test_a_config_file_is_read_with_whole_paths(tmp_path, monkeypatch):
    (tmp_path / "job.toml").write_text('[dataset]\nname = "folder"\nfolder = "birds"\n', "utf-8")
    monkeypatch.chdir(tmp_path)
    assert read_config("job.toml").dataset.params["folder"] == str(tmp_path / "birds")
    assert read_config("job.toml", ("dataset.folder=cars",)).dataset.params["folder"] == str(tmp_path / "cars")


def test_a_run_with_a_relative_path_is_of_its_config_in_its_working_folder_alone(tmp_path, monkeypatch):
    older = RunConfig.model_validate(FOLDER).to_toml()
    monkeypatch.chdir(tmp_path)
    config = RunConfig.model_validate(FOLDER).with_whole_paths(catalog.current())
    assert config.is_recorded_as(older)
    monkeypatch.chdir(tmp_path.parent)
    assert not config.is_recorded_as(older)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({}, ""),
        ({"training.keep_side": 0, "augmentation.crops_of": "square"}, ""),
        ({"training.keep_side": 255}, "The image size is 256 px"),
        ({"dataset.fit": "stretch"}, "Stretched images"),
        ({"augmentation.crops_of": "square"}, "Squares have the image size"),
        ({"augmentation.crops_of": "square", "augmentation.evaluated": "whole"}, ""),
        ({"augmentation.crops_of": "square", "training.keep_images": "encoded"}, ""),
        ({"augmentation.name": "none"}, "Squares have the image size"),
    ],
)
def test_a_short_side_that_would_not_be_kept_is_refused(changes, says):
    values = {
        "dataset": {"name": "cub", "folder": "CUB", "image_size": 256},
        "augmentation": {"name": "crop_flip", "crops_of": "whole"},
        "training": {"keep_side": 512},
    }
    for field, value in changes.items():
        part, name = field.split(".")
        values[part] = {"name": value} if name == "name" else values[part] | {name: value}
    errors = RunConfig.from_values(values, catalog.current())[1]
    assert says in errors.get("training.keep_side", "")
    assert bool(says) == ("training.keep_side" in errors)


@pytest.mark.parametrize(("weights", "warned"), [("none", True), ("cache", True), ("file", False)])
def test_a_weights_file_that_is_not_read_is_warned_of(weights, warned):
    backbone = {"name": "resnet18", "weights": weights, "weights_file": "weights.pth"}
    warnings = RunConfig.model_validate({"backbone": backbone}).warnings(catalog.current(), None)
    assert list(warnings) == (["backbone.weights_file"] if warned else [])
    assert not warned or f"because Weights is {weights}" in warnings["backbone.weights_file"]


def test_frozen():
    with pytest.raises(ValueError, match="frozen"):
        TrainingParams().lr = 1.0  # type: ignore[misc]


WRONG = ("x", "-1", "nan", "1.5", "[]", "{a=1}", "true", "99999999999999999999999", "''", "1979-05-27", "'\\u0000'")
PYDANTIC = ("input should", "string should", "valid ", "instance of", "dictionary", "e+0", "this value cannot be used")


def sentences_of_wrong_values(field):
    """What is said when a field is given each of the wrong values, one after the other."""
    for value in WRONG:
        try:
            changed(RunConfig(), {field: toml_value(value)}, catalog.current(), "The config")
        except BadConfig as refused:
            yield from refused.errors.values()


FIELDS = [
    "name", "seed", "seeds", "device", "nothing", "training", "training.nothing", "loss", "loss.name", "a.b",
    *(f"{part}.{name}" for part, fields in sections().items() for name in fields),
]  # fmt: skip


def test_no_sentence_about_a_field_is_a_library_s():
    said = {sentence for field in FIELDS for sentence in sentences_of_wrong_values(field)}
    assert len(said) > 20
    for sentence in said:
        assert sentence[0].isupper() or sentence[0] in "'0123456789", sentence
        assert sentence.endswith("."), sentence
        assert not [words for words in PYDANTIC if words in sentence.lower()], sentence


def test_a_section_that_is_none_is_said_as_one():
    with pytest.raises(BadConfig, match="training: Must be a section with fields"):
        RunConfig.from_toml_text("training = 4")
    with pytest.raises(BadConfig, match=r"loss\.name: Must be text"):
        RunConfig.from_toml_text("[loss]\nname = 3")
    with pytest.raises(BadConfig, match="name: Must not be empty"):
        RunConfig.from_toml_text("name = ''")
    with pytest.raises(BadConfig, match="name: Must have at most 200 characters"):
        RunConfig.from_toml_text(f"name = '{'a' * 201}'")
    with pytest.raises(BadConfig, match=r"evaluation\.probe_every: Must be 1,000,000 or less"):
        RunConfig.from_toml_text("[evaluation]\nprobe_every = 2000000")


@pytest.mark.parametrize("word", ["2026", "true", "1979-05-27", "[a]", '"two words"'])
def test_a_change_of_a_text_is_taken_as_it_is_written(word):
    changes = ("training.epochs=2", f"name={word}", "dataset.name=folder", f"dataset.folder={word}")
    config = read_config("sample-digits", changes)
    assert config.name == word.strip('"')
    assert config.dataset.params["folder"] == os.path.abspath(config.name)
    assert config.training.epochs == 2


def test_a_change_of_a_number_is_not_taken_as_text():
    with pytest.raises(BadConfig, match="Must be a whole number"):
        read_config("sample-digits", ("name=2026", "training.epochs=many"))
    with pytest.raises(BadConfig, match="There is no loss named 'true'"):
        read_config("sample-digits", ("loss.name=true",))


def test_what_can_be_read_in_no_way_is_said_in_words():
    with pytest.raises(Problem, match=r"There is no config file sample-digit, and no preset of that name\..*list pres"):
        read_config("sample-digit")
    with pytest.raises(BadConfig, match=r"--set =3 cannot be used\. FIELD: Write it as FIELD=VALUE"):
        read_config("sample-digits", ("=3",))
