"""Tests of the words for errors of libraries."""

import pytest
from pydantic import ValidationError

from workbench.config import RunConfig
from workbench.files.unreadable import reason


def test_a_config_that_is_wrong_names_its_first_field_and_the_number_of_others():
    with pytest.raises(ValidationError) as caught:
        RunConfig.model_validate({"training": {"epochs": "many", "batch_size": "all"}})
    said = reason(caught.value)
    assert "validation error" not in said
    assert "training." in said
    assert "more" in said
    assert "\n" not in said


@pytest.mark.parametrize(
    ("encoding", "said"), [("utf-8", "it is not text in UTF-8"), ("ascii", "it is not text in ascii")]
)
def test_bytes_that_are_no_text_are_said_in_words(encoding, said):
    with pytest.raises(UnicodeDecodeError) as caught:
        b"\xff\xfe".decode(encoding)
    assert reason(caught.value) == said
