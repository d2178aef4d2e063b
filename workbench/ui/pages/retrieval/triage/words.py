"""The sentences of Label triage about a suspect."""

from collections.abc import Sequence

from workbench.numerals import minus
from workbench.results.triage import AMBIGUOUS, COPY, LABEL, Suspect
from workbench.ui.style.words import counted

SHORT_KINDS = {LABEL: "", AMBIGUOUS: "two classes", COPY: "near-copy"}  # which are listed whatever their suspicion is


def claim(suspect: Suspect, own: str, new: str) -> str:
    """The suspicion in a few words; `own` is the name of the image's class, `new` that of the suggested one."""
    if suspect.across:
        return f"Labelled {own}, a near-copy labelled {new} is in the training set"
    if suspect.kind == COPY:
        return f"Labelled {own}, a near-copy is labelled {new}"
    if suspect.other is not None:
        return f"Labelled {own}, suspected to be {new}, as a near-copy is labelled"
    doubt = "" if suspect.kind == "label" else "between two classes: "
    return f"{doubt}labelled {own}, near {new}".capitalize() if doubt else f"Labelled {own}, suspected to be {new}"


def short_kind(suspect: Suspect) -> str:
    """Why it is listed, in a word or two; empty for a suspicion that only the neighbours' votes support."""
    return SHORT_KINDS[COPY if suspect.other is not None else suspect.kind]


def also_listed(listed: Sequence[Suspect]) -> str:
    """Of which kinds suspects are listed below the least suspicion, too; empty if there are none."""
    between, copies = (sum(suspect.kind == kind for suspect in listed) for kind in (AMBIGUOUS, COPY))
    parts = [f"{counted(between, 'image')} between two classes"] if between else []
    parts += [counted(copies, "near-copy", "near-copies")] if copies else []
    return f"Listed whatever their suspicion: {' and '.join(parts)}." if parts else ""


def evidence(suspect: Suspect, own: str, new: str) -> str:
    """The evidence: votes of the neighbours and, if there are any, of class vectors."""
    said = [f"{suspect.votes} of its {suspect.voters} nearest are {new}, {suspect.own_votes} are {own}."]
    if suspect.own_proxy is not None and suspect.other_proxy is not None:
        word = "nearer than" if suspect.other_proxy > suspect.own_proxy else "not nearer than"
        said.append(
            f"The class vector of {new} is {word} its own: "
            + minus(f"cosine {suspect.other_proxy:.3f} against {suspect.own_proxy:.3f}.")
        )
    return " ".join(said)
