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
