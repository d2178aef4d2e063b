"""Names that not every disk can have, or keeps apart."""

import pytest

from workbench.files.disk_names import ByName, Spellings, ignores_case, is_unsafe

ONE, TWO = "Käfer/é.png", "Ka\u0308fer/e\u0301.png"  # the accents as letters of their own, as macOS writes them


@pytest.mark.parametrize("name", ["CON", "nul.png", "com1.tar.gz", "LPT²", "a:b", "a?", "a ", "a.", "a\tb", ".a."])
def test_what_windows_cannot_have_is_known(name):
    assert is_unsafe(name)


@pytest.mark.parametrize("name", ["", ".", "..", "a.b", ".a", "console", "com", "com10", "été", "a b"])
def test_what_windows_can_have_is_let_through(name):
    assert not is_unsafe(name)


def test_a_path_is_found_however_its_accents_are_written():
    values = ByName([(TWO, 1), ("a.png", 2)])
    assert [values.find(path) for path in (ONE, TWO, "a.png", "A.png", "é.png")] == [1, 1, 2, None, None]


def test_two_paths_that_differ_by_their_accents_alone_stay_two():
    values = ByName([(ONE, 1), (TWO, 2)])
    assert [values.find(path) for path in (ONE, TWO, "Käfer/e\u0301.png")] == [1, 2, None]


def test_two_spellings_of_one_folder_are_found():
    spellings = Spellings()
    assert [spellings.other(path) for path in ("a/1.png", "a/2.png", "b/A", "A/1.png", "A/3.png")] == [
        "", "", "", "a", "a",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("one", "other", "on_windows", "elsewhere"),
    [
        ("Straße", "Strasse", False, True),
        ("Straße", "STRAßE", True, True),
        ("e\u0301t\u0301", "ét\u0301", False, True),
        ("\u03c3", "\u03c2", True, True),
        ("\ufb01n", "fin", False, True),
    ],
)
def test_which_letters_are_one_differs_between_the_disks_of_windows_and_others(one, other, on_windows, elsewhere):
    for windows, alike in ((True, on_windows), (False, elsewhere)):
        spellings = Spellings(windows=windows)
        assert spellings.other(f"{one}/1.png") == ""
        assert spellings.other(f"{other}/2.png") == (one if alike else "")


def test_a_disk_that_keeps_capitals_apart_is_told_from_one_that_does_not(tmp_path):
    folder = tmp_path / "made here"
    folder.mkdir()
    assert ignores_case(folder) is (tmp_path / "MADE HERE").exists()
    (tmp_path / "MADE HERE").mkdir(exist_ok=True)
    assert ignores_case(folder)
