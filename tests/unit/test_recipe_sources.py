"""The papers' recipes against their authors' public code: values that the code names, and the file that names them."""

import re

import pytest

from workbench.comparing.published.published_tables import tables
from workbench.entries import catalog
from workbench.losses import build_loss
from workbench.settings.presets import presets
from workbench.sweeps.plan import sweep_presets

RECIPES = {preset.key: preset for preset in presets()}
CCP = [key for key in RECIPES if key.startswith(("cub-", "cars-", "sop-", "inshop-"))]
CCP = [key for key in CCP if not key.endswith(("-ce", "-ice", "-rankmi", "-hyp-vit", "-vit-s"))]
PROXIES = [key for key in CCP if key.endswith(("-proxy-anchor", "-proxy-nca", "-soft-triple"))]
CHANCE = [key for key in CCP if key not in PROXIES and "-xbm-" not in key]
MEMORIES = [key for key in CCP if "-xbm-" in key]
HYPERBOLIC = [key for key in RECIPES if key.endswith(("-hyp-vit", "-vit-s"))]
PUBLISHED = [key for key in HYPERBOLIC if not key.startswith("inshop-")]  # in sizes of their own
SPHERICAL = [key for key in HYPERBOLIC if key.endswith("-vit-s")]
CLASSIFIERS = ["cub-ce", "cars-ce", "sop-ce", "inshop-ce"]
BALANCED, TAILED = ["cifar10-psce", "cifar100-psce"], ["cifar10-lt-psce", "cifar100-lt-psce"]
NAMED = re.compile(r"[\w-]+/[\w-]+ (?:\w+/)*\w+\.(?:py|md|yaml)\b")
"""A public repository and a file in it, as sources write them."""

IN_CODE = [
    (CCP, "training.clip_norm", 10.0, "yetigurbuz/ccp-dml framework/configs/default.py: clipnorm = 10.0"),
    (CCP, "training.clip_decay", True, "yetigurbuz/ccp-dml framework/solvers/gradient_transformers.py: WeightRegul"),
    (CCP, "training.epsilon", 1e-7, "framework/solvers/adamlrm.py: epsilon=1e-7"),
    (CCP, "training.decay_matrices_only", False, "yetigurbuz/ccp-dml framework/configs/default.py: excluded_vars"),
    (CCP, "embedding.start", "glorot", "yetigurbuz/ccp-dml framework/layers/pooling.py: kernel_initializer="),
    (CCP, "embedding.bias", False, "yetigurbuz/ccp-dml framework/layers/pooling.py: use_bias=False"),
    (CCP, "backbone.frozen_batch_norm", True, "yetigurbuz/ccp-dml framework/models/backbones/bn_inception.py"),
    (CCP, "augmentation.smallest_area", 0.16, "yetigurbuz/ccp-dml framework/utilities/dataset_utils.py"),
    (CCP, "training.beta2", 0.99, "yetigurbuz/ccp-dml framework/configs/optimizers.py has, is Adam.beta_2 = 0.999"),
    (["sop-ccp-512", "inshop-ccp-512"], "training.lr", 1e-4, "yetigurbuz/ccp-dml configs/bninception_large.yaml"),
    (["cub-ccp-512", "cars-ccp-512"], "training.lr", 1e-5, "yetigurbuz/ccp-dml configs/bninception_small.yaml"),
    (PROXIES, "loss.bounded", True, "yetigurbuz/ccp-dml configs/dml_default.yaml: lipschitz_cont: true"),
    (
        CHANCE,
        "loss.pool_images",
        "augmented",
        "yetigurbuz/ccp-dml framework/losses/ccp/loss.py: representative_dataset",
    ),
    (MEMORIES, "loss.bounded", True, "yetigurbuz/ccp-dml configs/dml_default.yaml: lipschitz_cont: true"),
    (
        CHANCE,
        "loss.patience",
        3,
        "(CCP), Section 4.4: early stopping patience of 3; yetigurbuz/ccp-dml framework/losses",
    ),
    ([key for key in CCP if key.endswith("-ms")], "loss.epsilon", 2.0, "framework/configs/default.py has miner = None"),
    (HYPERBOLIC, "training.decay_matrices_only", False, "htdt/hyp_metric train.py: optim.AdamW(model.parameters(),"),
    (HYPERBOLIC, "loss.negatives", "two_per_class", "htdt/hyp_metric train.py: loss_f(z[:, i], z[:, j])"),
    (SPHERICAL, "loss.curvature", 0.0, "htdt/hyp_metric README.md: --hyp_c 0"),
    (HYPERBOLIC, "backbone.frozen_patches", True, "htdt/hyp_metric train.py: freeze: int = 0"),
    (HYPERBOLIC, "augmentation.resizing", "bicubic", "htdt/hyp_metric train.py: interpolation=PIL.Image.BICUBIC"),
    (PUBLISHED, "training.keep_side", 512, "htdt/hyp_metric train.py: RandomResizedCrop of the image"),
    (["inshop-hyp-vit", "inshop-vit-s"], "training.keep_side", 256, "htdt/hyp_metric train.py: RandomResizedCrop of"),
    (HYPERBOLIC, "embedding.start", "orthogonal", "htdt/hyp_metric model.py: nn.init.orthogonal_("),
    (HYPERBOLIC, "training.optimiser", "adamw", "htdt/hyp_metric train.py: optim.AdamW"),
    (HYPERBOLIC, "training.lr", 1e-5, "htdt/hyp_metric README.md: --lr 1e-5"),
    (CLASSIFIERS, "training.decay_matrices_only", True, "jeromerony/dml_cross_entropy experiment.py: no_bias_decay"),
    (CLASSIFIERS, "training.schedule", "cosine_throughout", "jeromerony/dml_cross_entropy experiment.py: scheduler ="),
    (CLASSIFIERS, "augmentation.smallest_area", 0.16, "jeromerony/dml_cross_entropy utils/data/dataset_ingredient.py"),
    (["sop-ce", "inshop-ce"], "training.lr", 0.003, "jeromerony/dml_cross_entropy README.md: lr=0.003"),
    (["sop-ce", "inshop-ce"], "augmentation.redraw", True, "data/dataset_ingredient.py: transforms.RandomResized"),
    (BALANCED + TAILED, "augmentation.redraw", True, ": RandomResizedCrop, which draws again"),
    (BALANCED, "training.final_lr", 0.001, "HobbitLong/SupContrast util.py: eta_min = lr * (args.lr_decay_rate ** 3)"),
    (TAILED, "training.final_lr", 0.001, "LTH14/targeted-supcon cifar_dirty/util.py: eta_min = lr * (args.lr_decay_"),
    (BALANCED, "augmentation.jittered", 0.8, "HobbitLong/SupContrast main_supcon.py: RandomApply("),
    (["cub-ce", "cars-ce"], "augmentation.jitter_order", "random", "transforms.ColorJitter, which draws an order"),
    (CCP, "augmentation.uniform", "side", "tf.image.sample_distorted_bounding_box, which draws the side"),
    (["cars-ce"], "augmentation.jitter_first", True, "transforms.ColorJitter stands before RandomResizedCrop"),
    (BALANCED + TAILED, "augmentation.jitter_order", "random", "ColorJitter(0.4, 0.4, 0.4, 0.1), which draws an order"),
    (BALANCED, "augmentation.grey", 0.2, "HobbitLong/SupContrast main_supcon.py: RandomGrayscale(p=0.2)"),
    (TAILED, "augmentation.jittered", 0.8, "LTH14/targeted-supcon cifar_dirty/main_supcon_imba.py: RandomApply("),
    (TAILED, "augmentation.grey", 0.2, "LTH14/targeted-supcon cifar_dirty/main_supcon_imba.py: RandomGrayscale(p=0.2)"),
    (BALANCED, "augmentation.hue", 0.1, "HobbitLong/SupContrast main_supcon.py: ColorJitter(0.4, 0.4, 0.4, 0.1)"),
    (BALANCED, "training.decay_matrices_only", False, "HobbitLong/SupContrast util.py: optim.SGD(model.parameters(),"),
    (TAILED, "augmentation.hue", 0.1, "LTH14/targeted-supcon cifar_dirty/main_supcon_imba.py: ColorJitter"),
    (TAILED, "training.decay_matrices_only", False, "LTH14/targeted-supcon cifar_dirty/util.py: optim.SGD"),
]


@pytest.mark.parametrize(("keys", "field", "value", "source"), IN_CODE, ids=[row[1] for row in IN_CODE])
def test_a_recipe_has_what_the_code_has_and_names_its_file(keys, field, value, source):
    assert keys
    part, name = field.split(".")
    for key in keys:
        recipe = RECIPES[key]
        assert recipe.values[part][name] == value, key
        assert source in recipe.sources[field], key
        assert NAMED.search(recipe.sources[field]), key


CROPS = [  # image size, fit, cut out of, share of the side, fixed, smallest area, resizing, short side kept
    (["cub-ce"], (256, "centre", "whole", 0.875, False, 0.16, "bilinear", 0)),
    (["cars-ce", "sop-ce", "inshop-ce"], (256, "stretch", "square", 0.875, False, 0.16, "bilinear", 0)),
    (["cub-ice", "cars-ice", "sop-ice"], (256, "stretch", "square", 0.887, True, 0.16, "bilinear", 0)),
    (CCP, (256, "centre", "whole", 0.887, False, 0.16, "bilinear", 0)),
    (["cub-hyp-vit", "cub-vit-s"], (256, "centre", "whole", 0.875, False, 0.2, "bicubic", 512)),
    (["cars-hyp-vit", "cars-vit-s"], (224, "centre", "whole", 1.0, False, 0.2, "bicubic", 512)),
    (["sop-hyp-vit", "sop-vit-s"], (224, "centre", "whole", 1.0, False, 0.2, "bicubic", 512)),
    (["inshop-hyp-vit", "inshop-vit-s"], (224, "centre", "whole", 1.0, False, 0.2, "bicubic", 256)),
    (BALANCED + TAILED, (32, None, "square", 1.0, False, 0.2, "bilinear", 0)),
    (["imagenet-psce"], (256, None, "whole", 0.875, False, 0.2, "bilinear", 0)),
    (["cub-rankmi", "cars-rankmi"], (256, "centre", "square", 0.875, False, 0.16, "bilinear", 0)),
]
"""The table "Crops of each preset" of docs/papers.md."""


@pytest.mark.parametrize(("keys", "crops"), CROPS, ids=[row[0][0] for row in CROPS])
def test_crops_are_cut_as_the_page_of_the_papers_says(keys, crops):
    known = catalog.current()
    for key in keys:
        config = RECIPES[key].config
        images = [config.value(known, "dataset", field) for field in ("image_size", "fit")]
        fields = ("crops_of", "crop", "fixed", "smallest_area", "resizing")
        cut = [config.value(known, "augmentation", field) for field in fields]
        assert (*images, *cut, config.training.keep_side) == crops, key
        assert config.value(known, "augmentation", "evaluated") == "centre", key


def test_every_recipe_of_a_paper_that_crops_has_a_row_of_its_crops():
    cropping = {key for key, recipe in RECIPES.items() if recipe.config.augmentation.name in ("crop_flip", "strong")}
    of_papers = {key for key in cropping if RECIPES[key].config.name.startswith("Paper: ")}
    assert {key for keys, _ in CROPS for key in keys} == of_papers


@pytest.mark.parametrize(
    ("key", "images", "batch", "steps"),
    [("cub-ice", 5_864, 60, 4_000), ("cars-ice", 8_054, 60, 4_000), ("sop-ice", 59_551, 180, 20_000)],
)
def test_ice_trains_the_paper_s_steps_to_the_nearest_epoch(key, images, batch, steps):
    """Images of the training sets: Table 1; batches and steps: Section 4.1."""
    recipe, each = RECIPES[key], images // batch
    assert recipe.config.training.batch_size == batch
    assert recipe.config.training.epochs == round(steps / each)
    assert f"{recipe.config.training.epochs} epochs of {each} steps" in recipe.sources["training.epochs"]


@pytest.mark.parametrize("key", ["cub-ice", "cars-ice", "sop-ice"])
def test_ice_follows_its_text_where_the_code_of_its_first_author_s_earlier_loss_differs(key):
    recipe, code = RECIPES[key], "earlier loss (XinshaoAmosWang/Ranked-List-Loss-for-DML CUB_V01/"
    for field, value in [("dataset.fit", "stretch"), ("training.schedule", "constant")]:
        part, name = field.split(".")
        assert recipe.values[part][name] == value
        assert "Section 4.1" in recipe.sources[field]
        assert code in recipe.sources[field]


@pytest.mark.parametrize("key", ["cub-rankmi", "cars-rankmi"])
def test_rankmi_s_network_has_the_50k_parameters_of_section_7(key):
    """Its linear layers; the line on top has two more."""
    params = {name: value for name, value in RECIPES[key].values["loss"].items() if name != "name"}
    layers = build_loss("rankmi", num_classes=2, embedding_dim=128, **params).statistics.layers
    parameters = sum(weight.numel() for layer in layers for weight in layer.parameters())
    assert parameters == 49_921
    assert f"{parameters:,} parameters, and Section 7 has 50k" in RECIPES[key].sources["loss.depth"]


@pytest.mark.parametrize(
    ("dataset", "images", "between"),
    [("cub", 5_864, 25), ("cars", 8_054, 25), ("sop", 59_551, 250), ("inshop", 25_882, 250)],
)
def test_ccp_stops_after_the_60_validations_of_the_code_which_the_paper_calls_steps(dataset, images, between):
    """At a patience of 60 steps, as the supplement prints it, a run would end within two validations."""
    steps = images * 3 // 4 // 32  # of an epoch: three of four folds train, in batches of 32
    for key in [key for key in CCP if key.startswith(f"{dataset}-") and not key.endswith("-512")]:
        config, source = RECIPES[key].config, RECIPES[key].sources["training.patience"]
        waited = config.training.patience * config.evaluation.every * steps
        assert 0 <= waited - 60 * between < 2 * config.evaluation.every * steps, key
        assert "stops after 60 steps without improvement, read as 60 validations" in source, key


@pytest.mark.parametrize("dataset", ["cub", "cars", "sop", "inshop"])
def test_soft_triple_has_the_centres_of_the_table_that_it_repeats(dataset):
    table = next(
        table for table in tables() if (table.dataset, table.note) == (dataset, "separated") and table.split == "mlrc"
    )
    (variant,) = (row.method.removeprefix("SoftTriple-") for row in table.rows if row.loss == "soft_triple")
    recipe = RECIPES[f"{dataset}-soft-triple"]
    assert recipe.values["loss"]["centres"] == {"S": 1, "L": 10}[variant], "Section 5.2: 1, or 10 on CUB and Cars"
    assert f"SoftTriple-{variant}" in recipe.sources["loss.centres"]


def test_sweeps_of_figures_train_what_the_papers_compare():
    """Multi-similarity mines no pairs in any recipe of CCP; PSCE_c is the corner of Table 5 with two of both."""
    changes = {sweep.key: sweep.changes for sweep in sweep_presets()}
    assert changes["ccp-alternating"]["loss.epsilon"] == RECIPES["cub-ccp-ms"].values["loss"]["epsilon"]
    assert changes["psce-stages"] == {"loss.prototypes": "canonical"}


def test_no_recipe_leaves_a_source_unread():
    """What was searched for and not found is dated; what was found is named by repository and file."""
    for key, recipe in RECIPES.items():
        for field, source in recipe.sources.items():
            assert "not read" not in source, (key, field)
            assert "published settings" not in source, (key, field)
            assert "at hand" not in source or "23 November 2026" in source, (key, field)
            assert "://" not in source, (key, field)
