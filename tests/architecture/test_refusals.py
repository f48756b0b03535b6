"""Refusals stand in catalogues: one module of `RefusalText` entries for each package. Every entry
is used, every use fills exactly the entry's fields, and the page lists every code.
"""

from __future__ import annotations

import ast
import importlib
import re
import string
from functools import cache
from pathlib import Path

from sfumato import errors
from sfumato.errors import RefusalText

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "sfumato"
CODE = re.compile(r"[a-z]+(\.[a-z0-9-]+)+")
CATALOGUES = sorted(SOURCE.rglob("*_refusals.py"))
ADDED = {"example"}
"""Fields that `SqlText.refuse` fills by itself."""


@cache
def trees() -> dict[Path, ast.Module]:
    """Parse every module of the source."""
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in SOURCE.rglob("*.py")}


def entries() -> dict[tuple[str, str], RefusalText]:
    """(module, name) → entry, of every catalogue and of `errors`."""
    modules = [errors] + [
        importlib.import_module(".".join(path.relative_to(SOURCE.parent).with_suffix("").parts))
        for path in CATALOGUES
    ]
    return {
        (module.__name__.rpartition(".")[2], name): value
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, RefusalText)
    }


def fields(entry: RefusalText) -> set[str]:
    parts = [entry.place, entry.reason, entry.rewrite]
    return {
        re.split(r"[.\[]", name)[0]
        for part in parts
        for _, name, _, _ in string.Formatter().parse(part)
        if name
    }


def is_refuse(call: ast.Call) -> bool:
    """Tell whether this is `source.refuse(refusals.X, node, field=…)`."""
    return isinstance(call.func, ast.Attribute) and call.func.attr == "refuse"


@cache
def uses() -> list[tuple[str, ast.Attribute | ast.Name, ast.Call | None, tuple[str, str]]]:
    """Every place where a module names an entry: where, the node, the call that fills it."""
    catalogue, mentions = entries(), []
    for path, tree in sorted(trees().items()):
        modules, names = {}, {}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    if alias.name.endswith("_refusals"):
                        modules[alias.asname or alias.name] = alias.name
                    if (node.module or "").rpartition(".")[2].endswith("_refusals"):
                        names[alias.asname or alias.name] = (
                            (node.module or "").rpartition(".")[2],
                            alias.name,
                        )
        if path.name == "errors.py":
            names = {name: (module, name) for module, name in catalogue if module == "errors"}
        elif path in CATALOGUES:
            names |= {name: (module, name) for module, name in catalogue if module == path.stem}
        calls = {
            id(node.args[0] if is_refuse(node) and node.args else node.func): node
            for node in ast.walk(tree)
            if isinstance(node, ast.Call)
        }
        for node in ast.walk(tree):
            key = None
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                key = (modules.get(node.value.id, ""), node.attr)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                key = names.get(node.id)
            if key in catalogue:
                where = f"{path.relative_to(ROOT)}:{node.lineno}"
                mentions.append((where, node, calls.get(id(node)), key))
    return mentions


def documented() -> set[str]:
    [page] = [path for path in (ROOT / "docs").rglob("refusals.md") if "attacks" not in path.parts]
    text = page.read_text(encoding="utf-8")
    return set(re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE))


def test_every_refusal_is_an_entry() -> None:
    """Nobody builds a refusal by hand: `Refused.replace` changes one, an entry makes one."""
    kinds = {"Refused"} | {
        node.name
        for tree in trees().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        and any(isinstance(base, ast.Name) and base.id == "Refused" for base in node.bases)
    }
    by_hand = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path, tree in sorted(trees().items())
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in kinds
    ]
    assert by_hand == []


def test_every_entry_is_used() -> None:
    assert set(entries()) - {key for *_, key in uses()} == set()


def test_every_call_fills_exactly_the_fields() -> None:
    catalogue, wrong = entries(), []
    for where, _, call, key in uses():
        if call is None or any(keyword.arg is None for keyword in call.keywords):
            continue  # handed on to a function that fills it
        stated = {keyword.arg for keyword in call.keywords}
        needed = fields(catalogue[key]) - (ADDED if is_refuse(call) else set())
        if stated != needed or len(call.args) != (2 if is_refuse(call) else 0):
            wrong.append(f"{where} {key[1]}: {sorted(stated ^ needed)}")
    assert wrong == []


def test_names_say_what_is_wrong() -> None:
    assert [name for _, name in entries() if re.search(r"_\d+$", name)] == []


def test_no_two_entries_are_the_same() -> None:
    texts = [(e.code, e.place, e.reason, e.rewrite, e.kind) for e in entries().values()]
    assert len(set(texts)) == len(texts)


def test_no_rewrite_has_an_ellipsis() -> None:
    """A rewrite works when it is pasted."""
    assert [name for (_, name), entry in entries().items() if "…" in entry.rewrite] == []


def test_the_page_lists_what_the_source_raises() -> None:
    assert {entry.code for entry in entries().values()} == documented()


def test_codes_have_one_form() -> None:
    codes = {entry.code for entry in entries().values()}
    assert [code for code in codes if not CODE.fullmatch(code)] == []
    assert {"budget.exceeded", "ledger.full", "ledger.share"} <= codes
