"""Names of other libraries: an AttributeError with what to write here, which works when pasted."""

from __future__ import annotations

import copy
import pickle
from functools import partial

import pandas as pd
import pytest

import sfumato as sf
from sfumato.errors import Refused
from sfumato.session import Table
from sfumato.tables.query.foreign_names import EQUIVALENTS, SHOWS_ROWS

from ..refusing import refusal


@pytest.fixture
def people() -> Table:
    frame = pd.DataFrame({"id": [1, 2], "city": ["Bari", "Roma"], "age": [20, 30]})
    return sf.protect(
        frame,
        name="people",
        unit="id",
        budget=sf.Pure(10),
        bounds={"age": (0, 100)},
        keys={"city": ["Bari", "Roma"]},
        max_rows=1,
    )


@pytest.mark.parametrize("name", EQUIVALENTS)
def test_the_equivalent_works(people: Table, name: str) -> None:
    for stage in (people, people.where("age >= 18")):
        rewrite = refusal(partial(getattr, stage, name), "table.attribute").rewrite
        assert eval(rewrite, {"people": people, "sf": sf}) is not None


@pytest.mark.parametrize("name", sorted(SHOWS_ROWS))
def test_rows_are_not_shown(people: Table, name: str) -> None:
    for stage in (people, people.rows, people.group_by("city")):
        if not hasattr(type(stage), name):
            refused = refusal(partial(getattr, stage, name), "table.attribute")
            assert "rows cannot be shown" in refused.reason
            assert refused.rewrite == "people.describe()"


def test_it_is_an_attribute_error(people: Table) -> None:
    assert not hasattr(people, "head")
    assert not hasattr(people, "no_such_name")
    with pytest.raises(AttributeError, match="'Table' object has no attribute 'no_such_name'"):
        people.no_such_name  # type: ignore[attr-defined]  # noqa: B018  # what is tested
    with pytest.raises(Refused):
        people.head  # type: ignore[attr-defined]  # noqa: B018  # what is tested


def test_stages_can_still_be_copied(people: Table) -> None:
    rows = people.where("age >= 18")
    assert copy.copy(rows).text == rows.text
    assert pickle.loads(pickle.dumps(people.declaration)) == people.declaration
