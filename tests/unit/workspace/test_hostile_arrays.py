"""Arrays of a workspace from elsewhere have the hashes that it states: their form is checked, too."""

import numpy as np
import pytest

from tests.campaign.hostile import in_sql, make_space
from workbench.files import digest
from workbench.problem import Problem
from workbench.reports.content.gathering import gather
from workbench.results.stored import read_stored
from workbench.workspace import Workspace
from workbench.workspace.measured.ranking import read_scores, read_similarities
from workbench.workspace.measured.stored_maps import kept_neighbours


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A workspace, and the content of the files of its first run, by path."""
    space = tmp_path_factory.mktemp("made") / "space"
    make_space(space)
    arrays = {}
    for path in (space / "runs" / "1").glob("*.np[yz]"):
        found = np.load(path)
        arrays[path] = found if isinstance(found, np.ndarray) else dict(found)
    return space, arrays


def rewrite(space, arrays, of, change):
    """Change an array in every file of the first run that has it, and state the hashes of the new files."""
    kind, _, part = of.partition(" ")
    for path, content in arrays.items():
        if not path.name.startswith(kind):
            continue
        with path.open("wb") as file:
            if part:
                np.savez(file, **(content | {part: change(content[part])}))
            else:
                np.save(file, change(content))
        new = digest(path)
        in_sql(
            space, ("update artefacts set blake2b = ? where run_id = 1 and path = ?", (new, path.name)),
            ("update evaluations set ranking = ? where run_id = 1 and 'ranking-' || epoch || '.npz' = ?",
             (new, path.name)),
        )  # fmt: skip


def read(space):
    with Workspace(space) as workspace:
        evaluation = workspace.evaluations(1)[0].id
        (projection,) = workspace.projections(evaluation)
        return [
            read_stored(workspace, evaluation), read_scores(workspace, evaluation),
            read_similarities(workspace, evaluation), workspace.coordinates(projection.id),
            kept_neighbours(workspace, projection.id),
        ]  # fmt: skip


def text(array):
    return array.astype("U20")


def flat(array):
    return array.reshape(len(array), -1)[:, 0]


@pytest.mark.parametrize(
    ("of", "change"),
    [
        ("embeddings-", flat), ("embeddings-", text), ("embeddings-", lambda array: array[:, :, None]),
        ("embeddings-", lambda array: array[:, :0]), ("embeddings-", lambda array: array > 0),
        ("proxies- vectors", flat), ("proxies- vectors", text), ("proxies- vectors", lambda array: array[:, :2]),
        ("proxies- labels", text), ("proxies- labels", lambda array: array + 2**40),
        ("ranking- neighbours", flat), ("ranking- neighbours", text),
        ("ranking- neighbours", lambda array: array + 2**20), ("ranking- neighbours", lambda array: array - 5),
        ("ranking- labels", lambda array: array.astype(np.int64) + 2**40), ("ranking- labels", text),
        ("ranking- first_hit", lambda array: array * np.nan), ("ranking- r", lambda array: array - 100),
        ("ranking- ap", text), ("ranking- similarities", flat), ("ranking- sample_ids", text),
        ("map- points", flat), ("map- points", text), ("map- points", lambda array: array[:, [0] * 5]),
        ("kept- ", text), ("kept- ", lambda array: array[:, None]),
    ],
)  # fmt: skip
def test_an_array_of_another_form_is_a_sentence(made, of, change):
    space, arrays = made
    rewrite(space, arrays, of, lambda array: array)
    assert len(read(space)) == 5
    rewrite(space, arrays, of, change)
    try:
        with pytest.raises(Problem, match=r"is damaged|names samples"):
            read(space)
    finally:
        rewrite(space, arrays, of, lambda array: array)


def test_rows_beyond_the_data_set_take_no_memory(made):
    space, _ = made
    in_sql(space, ('update samples set "row" = ? where "row" = 11', (2**40,)))
    try:
        with pytest.raises(Problem, match="out of range"):
            read(space)
    finally:
        in_sql(space, ('update samples set "row" = 11 where "row" = ?', (2**40,)))


def test_a_report_says_why_embeddings_cannot_be_drawn(made):
    space, arrays = made
    rewrite(space, arrays, "embeddings-", lambda array: array * np.nan)
    try:
        with Workspace(space) as workspace, pytest.raises(Problem, match="contain NaN or infinity"):
            gather(workspace, 1, ("map",), "")
    finally:
        rewrite(space, arrays, "embeddings-", lambda array: array)
