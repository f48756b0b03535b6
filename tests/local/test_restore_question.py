"""From a question to its oracle, and no further than the question is that of an oracle."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sfumato.errors import Refused
from sfumato.local import Direct, client, restore
from sfumato.local.restore_question import KINDS

from .cases import SMALL


@pytest.mark.parametrize("name", SMALL)
def test_there_and_back(name: str) -> None:
    oracle = SMALL[name]
    written = json.dumps(oracle.question)
    again = restore(written)
    assert again == oracle
    assert again.question == json.loads(written)
    assert again.mark == oracle.mark == client.mark(json.loads(written))
    assert isinstance(again, KINDS[oracle.kind])


def test_relation_and_unit_are_part_of_it() -> None:
    oracle = Direct(epsilon=1, categories="ab", relation="replace", unit="person")
    assert restore(oracle.question) == oracle
    assert oracle.mark != Direct(epsilon=1, categories="ab").mark


@pytest.mark.parametrize(
    "change",
    [
        {"own": "1"},
        {"kind": "unary"},
        {"kind": "other"},
        {"version": 2},
        {"sfumato": "other"},
        {"epsilon": "2"},
        {"made": {}},
        {"made": {"epsilon": "x"}},
        {"made": []},
        {"categories": "ab"},
        {"extra": 1},
    ],
    ids=json.dumps,
)
def test_changed_questions_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(Refused) as refused:
        restore({**SMALL["direct"].question, **change})
    assert refused.value.code == "local.question"


@pytest.mark.parametrize("text", ["", "[]", "null", "{}", "1"])
def test_what_is_no_question(text: str) -> None:
    with pytest.raises(Refused) as refused:
        restore(text)
    assert refused.value.code == "local.question"


def test_the_client_knows_every_kind() -> None:
    assert set(client.ODDS) == set(KINDS)
