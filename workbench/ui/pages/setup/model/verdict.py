"""Whether the run that is being set up can start, and if not, why; without Qt."""

from dataclasses import dataclass

from workbench.config import RunConfig
from workbench.problem import Problem
from workbench.settings import checks
from workbench.settings.field_words import title_of
from workbench.ui.pages.setup.model.draft import Draft
from workbench.ui.pages.setup.model.fields import GROUPS
from workbench.ui.pages.setup.model.repairs import Repair, missing, repairs
from workbench.ui.style.words import counted

NAMED = 3  # fields that a summary names
Refused = tuple[RunConfig, Problem]  # what Preflight found impossible, and why


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a draft before its data is read."""

    config: RunConfig | None  # None while a field is wrong
    ready: RunConfig | None  # the config, once the places of its data are there, too
    errors: dict[str, str]  # by path
    bad_paths: list[str]  # those of them that the form shows, in its order
    reasons: list[str]  # against starting, one sentence each; empty when it can start
    repair: Repair | None = None  # of the first bad path, if one click repairs it
    titles: tuple[str, ...] = ()  # of the bad paths
    warnings: tuple[str, ...] = ()  # of fields that are allowed, a sentence each that begins with the field's title
    refusal: str = ""  # why Preflight stopped, if that is the only trouble and the repair is of it

    @property
    def trouble(self) -> str:
        """Which fields prevent starting. What is wrong is said beside each, and here of those not in the form.

        What Preflight refused is said here, too, beside the button that repairs it: one should know what that does.
        """
        if self.refusal:
            return self.refusal
        said = [f"{path}: {sentence}" for path, sentence in self.errors.items() if path not in self.bad_paths]
        if self.titles:
            more = len(self.titles) - NAMED
            named = ", ".join(self.titles[:NAMED]) + (f" and {more} more" if more > 0 else "")
            said.insert(0, f"{counted(len(self.titles), 'field')} must be changed: {named}.")
        return " ".join(said)


NO_VERDICT = Verdict(None, None, {}, [], [])


def judged(draft: Draft, refused: Refused | None) -> Verdict:
    """The verdict on a draft; `refused` counts while its config is the draft's."""
    config, errors = draft.check()
    problem = refused[1] if refused is not None and refused[0] == config else None
    if problem is not None and problem.field:
        errors = {problem.field: str(problem)}
    lacks = missing(draft)
    errors = errors | lacks
    fields = {path: field for heading in GROUPS for path, field in draft.fields(heading).items()}
    bad_paths = [path for path in fields if path in errors]
    reasons = [f"{title_of(path, fields[path])}: {errors[path]}" for path in bad_paths]
    reasons += [f"{path}: {sentence}" for path, sentence in errors.items() if path not in fields]
    reasons += [] if problem is None else [str(problem)]
    titles = tuple(title_of(path, fields[path]) for path in bad_paths)
    known = repairs(draft, errors) | _fitting(draft, config, problem)
    repair = known.get(bad_paths[0]) if bad_paths else None
    refusal = str(problem) if problem is not None and list(errors) == [problem.field] and repair is not None else ""
    regretted = () if config is None else config.warnings(draft.catalog, draft.classes).items()
    warnings = tuple(f"{title_of(path, fields[path])}: {sentence}" for path, sentence in regretted)
    return Verdict(config, None if lacks else config, errors, bad_paths, reasons, repair, titles, warnings, refusal)


def _fitting(draft: Draft, config: RunConfig | None, problem: Problem | None) -> dict[str, Repair]:
    """The repair that a problem itself proposes, by the path of its field; a batch as the whole config allows it."""
    if problem is None or config is None:
        return {}
    fits = problem.fits
    if isinstance(fits, int) and problem.field == "training.batch_size":
        fits = checks.largest_batch(config, draft.catalog, fits)
    if fits is None:
        return {}
    words = "Turn off" if fits is False else "Turn on" if fits is True else f"Use {fits}"
    return {problem.field: (words, problem.field, fits)}
