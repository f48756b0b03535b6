"""Texts by the thousand: none ends in anything but an answer or a refusal, and no refusal says
anything about the data.
"""

from __future__ import annotations

import logging
import sys

import pytest

from sfumato.errors import Refused
from sfumato.sql import UnresolvedQuery

from .described import Describer
from .fuzz import Maker
from .people import CANARY, CANARY_NUMBER, protected, unasked


def run(seed: int, count: int) -> tuple[int, int]:
    """How many were taken and how many refused; anything else is raised. `_resolve` has no net
    below it.
    """
    maker, describer, used, refused = Maker(seed), Describer(seed), 0, 0
    with unasked(protected()) as table:
        for i in range(count):
            sane = i % 4 == 0
            text = describer.question().text if sane else maker.text()
            if sane and i % 8 == 0:
                text = maker.changed(text)
            try:
                query = UnresolvedQuery(text)._resolve(table.rows, None)
                if i % 16 == 0:
                    table.plan(query.query, epsilon=1, delta="1e-6")
                used += 1
            except Refused as refusal:
                texts = str(refusal)
                assert CANARY not in texts, text
                assert str(CANARY_NUMBER) not in texts, text
                assert texts.isprintable() or all(c.isprintable() or c == "\n" for c in texts), text
                refused += 1
    return used, refused


@pytest.mark.parametrize("seed", range(2))
def test_three_thousand(
    seed: int, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    with caplog.at_level(logging.DEBUG):
        used, refused = run(seed, 1500)
    assert used > 150
    assert refused > 600
    assert not [
        record
        for record in caplog.records
        if record.name.startswith("sfumato") or record.levelno >= logging.WARNING
    ]
    assert capsys.readouterr() == ("", "")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 200))
def test_a_million(seed: int) -> None:
    used, refused = run(seed, 10_000)
    assert used + refused == 10_000


def test_a_deep_stack_is_no_crash() -> None:
    """A caller far down has little stack left: the reader refuses the query."""
    text = "SELECT COUNT(*) FROM visits WHERE " + "(" * 20 + "age > 1" + ")" * 20

    def down(levels: int) -> None:
        if levels:
            return down(levels - 1)
        with unasked(protected()) as table, pytest.raises(Refused) as caught:
            UnresolvedQuery(text)._resolve(table.rows, None)
        assert caught.value.code == "sql.depth"
        return None

    with unasked(protected()) as table:
        fewer = text.replace("(" * 20, "(" * 4).replace(")" * 20, ")" * 4)
        UnresolvedQuery(fewer)._resolve(table.rows, None)
    down(sys.getrecursionlimit() - 400)
