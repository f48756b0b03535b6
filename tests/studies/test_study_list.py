"""Every table and figure that was promised has its study."""

from __future__ import annotations

import pytest

from sfumato.errors import Refused
from sfumato.studies import STUDIES, study
from sfumato.studies.study_list import ORDER


def test_everything_is_there_once() -> None:
    names = [s.name for s in STUDIES]
    assert names == list(ORDER)
    assert {f"table-4.{k}" for k in range(1, 10)} | {"table-3.1", "table-3.2"} <= set(names)
    assert {f"figure-{k}" for k in ("2.1", "3.1", "4.1", "4.2", "4.3")} <= set(names)
    items = {item for s in STUDIES for item in s.items}
    assert {"S-044", "S-049", "S-057", "S-061", "S-125", "S-179", "S-180", "S-181"} <= items


def test_an_unknown_study_is_refused() -> None:
    with pytest.raises(Refused) as refusal:
        study("table-9.9")
    assert refusal.value.code == "studies.unknown"
