"""What makes a comparison unfair or incomplete, as sentences."""

from collections.abc import Sequence

from workbench.comparing.fairness.other_images import of_tests
from workbench.comparing.fairness.test_halves import other_test_halves
from workbench.comparing.grouping.groups import Group
from workbench.comparing.grouping.setting_titles import setting_words, short_title, value_title
from workbench.comparing.grouping.settings import differing, measuring_of
from workbench.comparing.grouping.tested import fold_of_run, is_chosen_here, is_trained
from workbench.comparing.measures import BEST, At, Measured, chosen_runs, unfinished
from workbench.comparing.statistics.intervals import FEWEST_SEEDS
from workbench.entries import catalog
from workbench.entries.catalog import Catalog
from workbench.metric_names import metric_name
from workbench.workspace import Workspace
from workbench.workspace.experiments import sweeps
from workbench.workspace.measured.evaluations import unread_words
from workbench.workspace.rows import counting
from workbench.workspace.run_names import told_apart

MOST_NAMED, MOST_TITLES = 5, 2  # runs and groups in one sentence
ALIKE_STEPS = 1.1  # ratio of the most steps to the fewest up to which they count as equal
SIZE = ("embedding.dim",)
UNLIKE = (  # beginnings of fields
    (("backbone.",), "backbone"), (SIZE, "embedding size"), (("split.",), "split"),
    (("augmentation.crop", "augmentation.evaluated"), "crop of the images"),
)  # fmt: skip


def guards(
    workspace: Workspace, groups: Sequence[Group], measured: dict[int, Measured], metric: str, at: At
) -> list[str]:
    """Sentences on unequal data, image or embedding size, backbone, split, crop, epochs or distance, and missing parts.

    Args:
        groups: what is compared. measured: of all their runs.
        metric, at: the number that is compared.
    """
    if not groups:
        return []
    apart = _unlike_data(workspace, groups)
    sentences = _damaged(measured) + apart + _unlike_sizes(workspace, groups) + _unlike_settings(groups)
    sentences += [] if apart else other_test_halves(groups, measured)
    runs = [run for group in groups for run in group.runs]
    sentences += of_tests(workspace, runs)
    sentences += _unlike_epochs(groups, at) + _unlike_steps(groups)
    sentences += _unlike_choice(groups, at) + _unlike_distance(groups, measured, at)
    sentences += _measured_otherwise(groups) + _unfinished(groups, at)
    sentences += _missing(groups, measured, metric, at) + _chosen_on_the_test_half(groups, measured, at)
    sentences += _untrained(groups, measured, at)
    sentences += _chosen_by_a_sweep(workspace, [run.id for run in runs])
    repeated = _repeated(groups, measured, metric, at)
    if repeated:
        sentences.append(
            f"Of runs with the same settings, seed and fold only the newest counts; left out: {_runs(repeated)}."
        )
    few = [f"“{group.title}” ({n})" for group in groups if 0 < (n := _seed_count(group, measured, metric, at)) < 3]
    if few:
        sentences.append(
            f"Not enough seeds for an interval over seeds ({FEWEST_SEEDS} or more): {_some(few, MOST_TITLES)}."
        )
    return sentences


def _damaged(measured: dict[int, Measured]) -> list[str]:
    """Runs with damaged evaluations, for whose best epoch another may be taken."""
    said = [unread_words(of_run.run, of_run.evaluations) for of_run in measured.values()]
    damaged = [words for words in said if words]
    more = len(damaged) - MOST_NAMED
    return damaged[:MOST_NAMED] + ([f"Of {more:,} more runs not all could be read."] if more > 0 else [])


def _measured_otherwise(groups: Sequence[Group]) -> list[str]:
    """Groups whose runs measured different things besides: their training is the same."""
    known, named = catalog.current(), list[str]()
    for group in groups:
        asked = [measuring_of(run.config) for run in group.runs]
        if unequal := differing(asked):
            fields = "; ".join(short_title(row.field, asked, known) for row in unequal)
            named.append(f"“{group.title}” ({fields})")
    if not named:
        return []
    said = "Same training settings but different measurements, so they form one group"
    return [f"{said}: {_some(named, MOST_TITLES)}."]


def _unfinished(groups: Sequence[Group], at: At) -> list[str]:
    """Unfinished runs whose numbers may change, and those that do not count beside runs of their group that ended."""
    changing, left_out = list[str](), list[str]()
    for group in groups:
        counted = {run.id for run in (group.runs if isinstance(at, int) else counting(group.runs) or group.runs)}
        for run in group.runs:
            if words := unfinished(run):
                words = f"{run.id} ({words})"
                (changing if run.id in counted else left_out).append(words)
    sentences = [f"Not finished, so the numbers may not be the last: {_runs(changing)}."] if changing else []
    if left_out:
        sentences.append(f"Not finished, so left out of the group: {_runs(left_out)}.")
    return sentences


def unlike_data(workspace: Workspace, first: Group, second: Group) -> str:
    """Why two groups have no images in common, whatever their size; empty when they have."""
    return " ".join(_unlike_data(workspace, (first, second)))


def _unlike_data(workspace: Workspace, groups: Sequence[Group]) -> list[str]:
    known, words = catalog.current(), dict[str, str]()
    used: dict[str, list[str]] = {}
    for group in groups:
        for number, run in {run.dataset_id: run for run in group.runs if run.dataset_id is not None}.items():
            words.setdefault(run.images, told_apart(known, run, workspace.dataset(number)))
            used.setdefault(run.images, []).append(f"“{group.title}”")
    if len(used) < 2:
        return []
    parts = [f"{words[mark]}: {_some(titles, MOST_TITLES)}" for mark, titles in used.items()]
    return [f"The runs saw different data, so their numbers cannot be compared. {'; '.join(parts)}."]


def _unlike_sizes(workspace: Workspace, groups: Sequence[Group]) -> list[str]:
    """The same images decoded at several sizes, or in grey and in colour, are compared, and this is said."""
    of_images: dict[str, dict[tuple[int, int], list[str]]] = {}
    for group in groups:
        for number, run in {run.dataset_id: run for run in group.runs if run.dataset_id is not None}.items():
            data, decoded = workspace.dataset(number), of_images.setdefault(run.images, {})
            decoded.setdefault((data.image_size, data.channels), []).append(f"“{group.title}”")
    return [sentence for decoded in of_images.values() for sentence in _sizes(decoded)]


def _sizes(gathered: dict[tuple[int, int], list[str]]) -> list[str]:
    """Sentences on the groups of the same images, by their size and channels."""
    sentences = []
    for place, word, unit in ((0, "image size", "px"), (1, "colour channels", "")):
        by_value: dict[str, list[str]] = {}
        for key, titles in sorted(gathered.items()):
            by_value.setdefault(f"{key[place]} {unit}".strip(), []).extend(titles)
        if len(by_value) > 1:
            sentences.append(f"Unequal {word}: {'; '.join(_listed(by_value))}.")
    return sentences


def _unlike_settings(groups: Sequence[Group]) -> list[str]:
    sentences = []
    for fields, word in UNLIKE:
        known = groups
        if fields == SIZE:  # that of imported embeddings is in no config, that of a user's own loop if it gave it
            known = [group for group in groups if any(name.startswith(SIZE) for name in group.settings)]
        values = [{name: value for name, value in group.settings.items() if name.startswith(fields)} for group in known]
        if any(setting_values != values[0] for setting_values in values):
            sentences.append(f"Unequal {word}: {'; '.join(_by_value(known, values))}.")
    return sentences


def _unlike_epochs(groups: Sequence[Group], at: At) -> list[str]:
    """A longer training is an advantage. At one epoch it only matters where the learning rate follows the length.

    Runs that end by themselves, when nothing gets better, are said to have trained at most so many.
    """
    trained = [
        (group.title, group.settings)
        for group in groups
        if "training.epochs" in group.settings and is_trained(group.settings)
    ]
    counts = {settings["training.epochs"] for _, settings in trained}
    follows = any(settings.get("training.schedule") != "constant" for _, settings in trained)
    if len(counts) < 2 or (isinstance(at, int) and not follows):
        return []
    gathered: dict[str, list[str]] = {}
    for title, settings in trained:
        most = "at most " if settings.get("training.patience") else ""
        gathered.setdefault(f"{most}{settings['training.epochs']}", []).append(f"“{title}”")
    return [f"Unequal epochs: {'; '.join(_listed(gathered))}."]


def _unlike_steps(groups: Sequence[Group]) -> list[str]:
    """With other batches as many epochs are more or fewer steps; an epoch cannot be cut to make them equal."""
    trained = [group for group in groups if is_trained(group.settings)]
    if len({group.settings.get("training.batch_size") for group in trained}) < 2:
        return []
    steps = {group.title: max(run.total for run in group.runs) for group in trained}
    known = [count for count in steps.values() if count]
    if not known or max(known) <= ALIKE_STEPS * min(known):
        return []
    gathered: dict[str, list[str]] = {}
    for title, count in steps.items():
        gathered.setdefault(f"{count:,}" if count else "not known", []).append(f"“{title}”")
    return [f"Unequal batches and steps of training: {'; '.join(_listed(gathered))}."]


def _unlike_choice(groups: Sequence[Group], at: At) -> list[str]:
    """The best of more evaluations is higher by chance alone."""
    gathered: dict[int, list[str]] = {}
    for group in groups:
        if at == BEST and "evaluation.every" in group.settings and is_chosen_here(group.settings):
            gathered.setdefault(group.settings["evaluation.every"], []).append(f"“{group.title}”")
    if len(gathered) < 2:
        return []
    named = {f"every {epochs} epochs" if epochs > 1 else "every epoch": gathered[epochs] for epochs in sorted(gathered)}
    return [f"The best epoch was chosen from unequally many evaluations: {'; '.join(_listed(named))}."]


def _by_value(groups: Sequence[Group], values: Sequence[dict[str, object]]) -> list[str]:
    """ "Four convolutions: A, B" for each value; only the fields that differ are named, as on Set up."""
    known = catalog.current()
    names = dict.fromkeys(name for group_values in values for name in group_values)
    unequal = [name for name in names if any(group_values.get(name) != values[0].get(name) for group_values in values)]
    gathered: dict[str, list[str]] = {}
    for group, group_values in zip(groups, values, strict=True):
        own = [name for name in unequal if name in group_values]
        words = ", ".join(_in_words(name, group_values[name], groups, known) for name in own) or "none"
        gathered.setdefault(words, []).append(f"“{group.title}”")
    return _listed(gathered)


def _listed(gathered: dict[str, list[str]]) -> list[str]:
    """ "16: A, B" for each value with its groups, the first few."""
    told_values = [f"{words}: {_some(titles, MOST_TITLES)}" for words, titles in gathered.items()]
    rest = len(told_values) - MOST_NAMED
    return told_values[:MOST_NAMED] + ([f"and {rest} more"] if rest > 0 else [])


def _in_words(field: str, value: object, groups: Sequence[Group], known: Catalog) -> str:
    """The title of an entry or a size alone; any other field with its name before the value."""
    if field.endswith(".name") or field == "embedding.dim":
        return value_title(field, value, known)
    return setting_words(field, value, [group.settings for group in groups], known)


def _unlike_distance(groups: Sequence[Group], measured: dict[int, Measured], at: At) -> list[str]:
    used: dict[str, list[str]] = {}
    for group in groups:
        distances = {evaluation.distance for run in group.runs if (evaluation := measured[run.id].at(at)) is not None}
        for distance in sorted(distances):
            used.setdefault(distance, []).append(f"“{group.title}”")
    if len(used) < 2:
        return []
    return [
        "Unequal distance: " + "; ".join(f"{name}: {_some(titles, MOST_TITLES)}" for name, titles in used.items()) + "."
    ]


def _missing(groups: Sequence[Group], measured: dict[int, Measured], metric: str, at: At) -> list[str]:
    runs = [run for group in groups for run in group.runs]
    bare = [str(run.id) for run in runs if not measured[run.id].evaluations]
    elsewhere = [str(run.id) for run in runs if measured[run.id].evaluations and measured[run.id].at(at) is None]
    without = [
        str(run.id)
        for run in runs
        if measured[run.id].at(at) is not None and measured[run.id].value(metric, at) is None
    ]
    sentences = [f"Without an evaluation: {_runs(bare)}."] if bare else []
    sentences += [f"Not evaluated at epoch {at}: {_runs(elsewhere)}."] if elsewhere else []
    return sentences + ([f"Without {metric_name(metric)}: {_runs(without)}."] if without else [])


def _chosen_on_the_test_half(groups: Sequence[Group], measured: dict[int, Measured], at: At) -> list[str]:
    """With classes held out, the best epoch is chosen on those instead; of imported embeddings there is only one."""
    if at != BEST:
        return []
    trained = [group for group in groups if is_chosen_here(group.settings)]
    pairs = [(run, measured[run.id].at(at)) for group in trained for run in group.runs]
    chosen = sorted(
        run.id for run, evaluation in pairs if evaluation is not None and "validation/MAP@R" not in evaluation.metrics
    )
    if not chosen:
        return []
    named = _runs([str(number) for number in chosen])
    return [f"Optimistic: the best epoch was chosen on the test set ({named})."]


def _untrained(groups: Sequence[Group], measured: dict[int, Measured], at: At) -> list[str]:
    """Trained runs whose best epoch is the network as it was before: their loss has no part in their number."""
    if at != BEST:
        return []
    runs = [
        run
        for group in groups
        for run in group.runs
        if (evaluation := measured[run.id].at(at)) is not None
        and evaluation.epoch == 0 < (run.trainer or measured[run.id].evaluations[-1]).epoch
    ]
    named = _runs([str(number) for number in sorted(run.id for run in runs)])
    return [f"Best before training, at epoch 0, so the loss did not contribute to the number: {named}."] if runs else []


def _chosen_by_a_sweep(workspace: Workspace, runs: Sequence[int]) -> list[str]:
    return [
        f"The settings of sweep {sweep} were judged on the test set, so its best is optimistic: "
        f"{_runs([str(run) for run in of_it])}."
        for sweep, of_it in sweeps.chosen_on_reported(workspace, runs).items()
    ]


def _repeated(groups: Sequence[Group], measured: dict[int, Measured], metric: str, at: At) -> list[str]:
    older = []
    for group in groups:
        kept = chosen_runs(group, measured, metric, at)
        places = {(run.seed, fold_of_run(run)): run.id for run in kept}
        for run in group.runs:
            if (
                measured[run.id].value(metric, at) is not None
                and places.get((run.seed, fold_of_run(run)), run.id) > run.id
            ):
                older.append(str(run.id))
    return older


def _seed_count(group: Group, measured: dict[int, Measured], metric: str, at: At) -> int:
    return len({run.seed for run in chosen_runs(group, measured, metric, at)})


def _runs(numbers: Sequence[str]) -> str:
    return f"{'run' if len(numbers) == 1 else 'runs'} {_some(numbers)}"


def _some(words: Sequence[str], most: int = MOST_NAMED) -> str:
    """The first few, and how many more."""
    rest = len(words) - most
    return ", ".join(words[:most]) + (f" and {rest} more" if rest > 0 else "")
