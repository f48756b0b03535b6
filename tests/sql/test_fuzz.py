"""Texts by the thousand: none ends in anything but an answer or a refusal, and no refusal says
anything about the data.
"""

from __future__ import annotations

import logging
import sys

import pytest

from sfumato.errors import Refused
from sfumato.sql.read_sql import _read

from .described import Describer
from .fuzz import Maker
from .people import CANARY, CANARY_NUMBER, protected, unasked


def run(seed: int, count: int) -> tuple[int, int]:
    """How many were taken and how many refused; anything else is raised. `_read` has no net below
    it.
    """
    maker, describer, taken, refused = Maker(seed), Describer(seed), 0, 0
    with unasked(protected()) as table:
        for i in range(count):
            sane = i % 4 == 0
            text = describer.question().text if sane else maker.text()
            if sane and i % 8 == 0:
                text = maker.changed(text)
            try:
                asked = _read(text, table.rows, None)
                if i % 16 == 0:
                    table.plan(asked.query, epsilon=1, delta="1e-6")
                taken += 1
            except Refused as refusal:
                said = str(refusal)
                assert CANARY not in said, text
                assert str(CANARY_NUMBER) not in said, text
                assert said.isprintable() or all(c.isprintable() or c == "\n" for c in said), text
                refused += 1
    return taken, refused


@pytest.mark.parametrize("seed", range(4))
def test_ten_thousand(
    seed: int, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    with caplog.at_level(logging.DEBUG):
        taken, refused = run(seed, 2500)
    assert taken > 250
    assert refused > 1000
    assert not [
        record
        for record in caplog.records
        if record.name.startswith("sfumato") or record.levelno >= logging.WARNING
    ]
    assert capsys.readouterr() == ("", "")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 200))
def test_a_million(seed: int) -> None:
    taken, refused = run(seed, 10_000)
    assert taken + refused == 10_000


def test_a_deep_stack_is_no_crash() -> None:
    """Whoever calls from far down has little stack left: that is a refusal, too."""
    text = "SELECT COUNT(*) FROM visits WHERE " + "(" * 20 + "age > 1" + ")" * 20

    def down(levels: int) -> None:
        if levels:
            return down(levels - 1)
        with unasked(protected()) as table, pytest.raises(Refused) as caught:
            _read(text, table.rows, None)
        assert caught.value.code == "sql.depth"
        return None

    with unasked(protected()) as table:
        _read(text.replace("(" * 20, "(" * 4).replace(")" * 20, ")" * 4), table.rows, None)
    down(sys.getrecursionlimit() - 400)
