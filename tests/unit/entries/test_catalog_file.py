"""The catalog can be made again: a damaged file of it, or a place that cannot be written, keeps nobody from working."""

import pytest

from workbench.entries import catalog


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """The place of the catalog's file, in which it is."""
    monkeypatch.setattr(catalog, "cache_folder", lambda: tmp_path / "cache")
    catalog.write_now()
    return tmp_path / "cache"


DAMAGED = (
    b"", b"{", b'{"\xce', b"[]", b"{}", b"null", b"[" * 100_000, b"\0" * 1000, b'{"entries": [], "broken": 0}',
)  # fmt: skip


@pytest.mark.parametrize("content", DAMAGED)
def test_a_damaged_file_is_made_again(cache, content):
    file = catalog.path(cache)
    whole = file.read_bytes()
    file.write_bytes(content)
    assert catalog.read() is None
    assert catalog.broken() == {}
    assert "loss/ce" in catalog.at_first()
    assert "loss/ce" in catalog.current()
    assert file.read_bytes() == whole


def test_where_no_file_can_be_written_it_is_made_for_each_start(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setattr(catalog, "cache_folder", lambda: tmp_path / "file" / "cache")
    assert "loss/ce" in catalog.current()
    assert "loss/ce" in catalog.at_first()
