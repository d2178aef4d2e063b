"""Where ranks of one machine can meet."""

from tests.unit.training.spread import CPU, Wanted, spread, trained
from workbench.training.ranks import Ranks


def test_ranks_meet_in_a_folder_whose_name_is_too_long_for_the_address_of_a_socket(tmp_path, monkeypatch):
    """As that of temporary files on a cluster may be."""
    monkeypatch.setenv("WORKBENCH_RANK_PATIENCE", "240")
    folder = tmp_path / ("of-a-cluster" * 8)
    folder.mkdir()
    with spread(2, folder):
        ranks = Ranks(folder / "meeting", 0, 2, CPU)
        try:
            ranks.check_alike(trained(ranks.same(Wanted("ce")), ranks).weights)
        finally:
            ranks.leave()
