"""The codes of refusals are an interface: the page lists those the source raises, and no others."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
CODE = re.compile(r"[a-z]+(\.[a-z0-9-]+)+")


def raised() -> set[str]:
    """Every literal first argument of `Refused(…)`, or of a subclass's constructor call by that name."""
    calls = (node for path in (ROOT / "src").rglob("*.py") for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call))
    return {
        call.args[0].value
        for call in calls
        if isinstance(call.func, ast.Name)
        and call.func.id == "Refused"
        and call.args
        and isinstance(call.args[0], ast.Constant)
        and isinstance(call.args[0].value, str)
    }


def documented() -> set[str]:
    return set(re.findall(r"^\| `([^`]+)` \|", (ROOT / "docs" / "refusals.md").read_text(encoding="utf-8"), re.MULTILINE))


def test_the_page_lists_what_the_source_raises() -> None:
    assert raised() == documented()


def test_codes_have_one_form() -> None:
    assert [code for code in raised() if not CODE.fullmatch(code)] == []
