"""The shapes of replies are strict: a name too many or too few is seen. That replies have them is
tested with the endpoints.
"""

from __future__ import annotations

import pytest
from pydantic import BaseModel, ValidationError

from sfumato.server.http import response_models

ALL = [
    model
    for model in vars(response_models).values()
    if isinstance(model, type)
    and issubclass(model, BaseModel)
    and model.__module__ == response_models.__name__
]
OPEN = {response_models.GuaranteeModel, response_models.CardModel}
"""What other parts of the library describe in full."""


@pytest.mark.parametrize("form", ALL, ids=lambda form: form.__name__)
def test_a_form_is_strict(form: type[BaseModel]) -> None:
    assert form.model_config["extra"] == ("allow" if form in OPEN else "forbid")
    assert all(about.is_required() for about in form.model_fields.values())


def test_a_name_too_many_is_seen() -> None:
    with pytest.raises(ValidationError):
        response_models.HealthModel.model_validate({"status": "ok", "version": "1", "load": 0.5})
