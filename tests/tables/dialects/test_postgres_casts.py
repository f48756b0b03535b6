"""Texts that PostgreSQL reads as floats."""

from __future__ import annotations

import sys

import pytest

from sfumato.tables.engine.dialects import postgres_casts


def test_the_limit_is_the_least_number_that_is_no_double() -> None:
    """It lacked 15 digits: texts from 1.8e293 on were infinite, and finite on DuckDB."""
    limit = int(postgres_casts._MOST)
    assert float(limit - 1) == sys.float_info.max
    with pytest.raises(OverflowError):
        float(limit)
