"""The page on answers: its table of kinds is that of the source, and what it says is printed is
what is printed.
"""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

from sfumato.answers import KINDS, card_schema

DOCS = Path(__file__).parents[2] / "docs"


def test_every_kind_is_in_the_table() -> None:
    page = (DOCS / "guides" / "tables" / "answers.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+)` \| .* \| .* \| .* \|$", page, re.MULTILINE) == list(KINDS)


def test_what_is_printed_is_what_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every block of text follows the block of Python that prints it."""
    monkeypatch.setenv("COLUMNS", "88")
    page = (DOCS / "guides" / "tables" / "answers.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```(python|text)\n(.*?)```", page, re.DOTALL)
    namespace: dict[str, object] = {}
    printed = ""
    shown = 0
    for kind, code in blocks:
        if kind == "text":
            assert printed == code
            shown += 1
            continue
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(code, namespace)
        printed = out.getvalue()
    assert shown == 5


def test_every_part_of_a_card_is_in_its_table() -> None:
    page = (DOCS / "guides" / "tables" / "card.md").read_text(encoding="utf-8")
    table = page.split("## Fields")[1].split("## ")[0]
    schema = card_schema()["properties"]
    for name in schema["deployment"]["properties"]:
        assert f"`deployment.{name}`" in table
    words = set(re.findall(r"`(?:release\.)?(\w+)`", table))
    assert {name for name in schema["release"]["properties"] if name not in words} <= {
        "bounding",
        "groups",
        "engine",
    }
