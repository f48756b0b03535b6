"""The codes of refusals are an interface: the page lists those the source raises, and no others."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
CODE = re.compile(r"[a-z]+(\.[a-z0-9-]+)+")


BUILT = {"ledger.unit", "ledger.relation"}
"""Codes whose last word is put in at run time."""


def trees() -> list[ast.Module]:
    return [
        ast.parse(path.read_text(encoding="utf-8")) for path in sorted((ROOT / "src").rglob("*.py"))
    ]


def raised() -> set[str]:
    """Every literal first argument of `Refused(…)` or of a subclass of it, and every text of that
    form and family in a tuple: codes also stand in tables.
    """
    nodes = [node for tree in trees() for node in ast.walk(tree)]
    kinds = {"Refused"} | {
        node.name
        for node in nodes
        if isinstance(node, ast.ClassDef)
        and any(isinstance(b, ast.Name) and b.id == "Refused" for b in node.bases)
    }
    calls = [
        node
        for node in nodes
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in kinds
        and node.args
    ]
    literal = {
        call.args[0].value
        for call in calls
        if isinstance(call.args[0], ast.Constant) and isinstance(call.args[0].value, str)
    }
    families = {code.partition(".")[0] for code in literal}
    cells = [cell for node in nodes if isinstance(node, ast.Tuple) for cell in node.elts]
    texts = {
        cell.value
        for cell in cells
        if isinstance(cell, ast.Constant) and isinstance(cell.value, str)
    }
    return (
        literal
        | {text for text in texts if CODE.fullmatch(text) and text.partition(".")[0] in families}
        | BUILT
    )


def documented() -> set[str]:
    return set(
        re.findall(
            r"^\| `([^`]+)` \|",
            (ROOT / "docs" / "refusals.md").read_text(encoding="utf-8"),
            re.MULTILINE,
        )
    )


def test_the_page_lists_what_the_source_raises() -> None:
    assert raised() == documented()


def test_subclasses_and_tables_are_seen() -> None:
    assert {"budget.exceeded", "ledger.full", "ledger.share"} <= raised()


def test_codes_have_one_form() -> None:
    assert [code for code in raised() if not CODE.fullmatch(code)] == []
