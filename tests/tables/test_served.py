"""Which engine a source belongs to, and what is said where its driver is missing."""

from __future__ import annotations

import sys
from typing import Any

import ibis
import pytest

import sfumato as sf
from sfumato.tables.lent import Lent
from sfumato.tables.served import engine_of, served


def test_other_sources_are_not_served() -> None:
    assert served("visits.parquet", None) is None
    assert served(42, None) is None


def test_a_table_is_chosen_on_a_server_alone() -> None:
    with pytest.raises(sf.Refused) as caught:
        served("visits.parquet", "visits")
    assert caught.value.code == "table.table"


def test_another_connection_is_read_as_it_is() -> None:
    assert type(engine_of(ibis.duckdb.connect())) is Lent


def test_a_missing_driver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    blocked: Any = None
    monkeypatch.setitem(sys.modules, "sfumato.tables.engine_postgres", blocked)
    with pytest.raises(sf.Refused) as caught:
        served("postgresql://reader:secret@nowhere/clinic", None)
    assert caught.value.code == "engine.missing"
    assert "secret" not in str(caught.value)
