"""Names and sizes that keep source and tests readable: counts that may fall and must not rise."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

EMPTY = frozenset(
    [
        "found",
        "made",
        "known",
        "said",
        "told",
        "whole",
        "one",
        "own",
        "asked",
        "kept",
        "seen",
        "given",
        "heard",
        "meant",
        "wanted",
        "taken",
        "other",
        "another",
        "beside",
    ]
)
"""Names that could stand for anything."""

MOST = {
    "variables with an empty name": 2,
    "parameters with an empty name": 8,
    "functions and classes with an empty name": 0,
    "functions with more than 8 parameters": 6,
    "uses of Any": 135,
    "suppressions without a reason": 0,
    "lines over 100 columns": 0,
    "module names used more than once": 0,
    "class names used more than once": 0,
    "folders with more than 25 modules": 0,
}
"""The most places of each kind. Lower a number when the source has got better."""

MOST_IN_TESTS = {
    "variables with an empty name": 0,
    "parameters with an empty name": 0,
    "functions and classes with an empty name": 0,
    "suppressions without a reason": 2,  # the examples below
    "lines over 100 columns": 0,
}
LIMITS = {"src/sfumato": MOST, "tests": MOST_IN_TESTS}

SUPPRESSION = re.compile(r"#\s*(type: ignore|noqa)")
REASON = re.compile(r"#\s*(type: ignore\[[^\]]+\]|noqa: [A-Z0-9, ]+)\s+#\s*\S")
Function = ast.FunctionDef | ast.AsyncFunctionDef


def of_lines(text: str) -> Iterator[tuple[str, int]]:
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > 100:
            yield "lines over 100 columns", number
        if SUPPRESSION.search(line) and not REASON.search(line):
            yield "suppressions without a reason", number


def of_nodes(tree: ast.AST) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) if name.lstrip("_") in EMPTY:
                yield "variables with an empty name", node.lineno
            case ast.arg(arg=name) if name in EMPTY:
                yield "parameters with an empty name", node.lineno
            case ast.Name(id="Any") | ast.Attribute(attr="Any"):
                yield "uses of Any", node.lineno
        if isinstance(node, Function | ast.ClassDef) and node.name.strip("_").lower() in EMPTY:
            yield "functions and classes with an empty name", node.lineno
        if isinstance(node, Function) and len(node.args.args) + len(node.args.kwonlyargs) > 8:
            yield "functions with more than 8 parameters", node.lineno


@cache
def places(root: str) -> dict[str, list[str]]:
    """Return the places of each kind under a folder of the repository."""
    found_at: dict[str, list[str]] = defaultdict(list)
    stems: dict[str, list[str]] = defaultdict(list)
    classes: dict[str, list[str]] = defaultdict(list)
    modules = sorted((ROOT / root).rglob("*.py"))
    for path in modules:
        text, name = path.read_text(encoding="utf-8"), path.relative_to(ROOT / root).as_posix()
        tree = ast.parse(text)
        for kind, line in (*of_lines(text), *of_nodes(tree)):
            found_at[kind].append(f"{name}:{line}")
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                classes[node.name].append(f"{node.name} in {name}:{node.lineno}")
        if not path.stem.startswith("__"):
            stems[path.stem].append(name)
    for thing, homes in (("module", stems), ("class", classes)):
        for names in homes.values():
            if len(names) > 1:
                found_at[f"{thing} names used more than once"].append(", ".join(names))
    for folder, count in Counter(path.parent for path in modules).items():
        if count > 25:
            found_at["folders with more than 25 modules"].append(f"{folder.name}: {count}")
    return found_at


@pytest.mark.parametrize(
    ("root", "kind"), [(root, kind) for root, most in LIMITS.items() for kind in most]
)
def test_the_count_does_not_rise(root: str, kind: str) -> None:
    at = places(root).get(kind, [])
    assert len(at) <= LIMITS[root][kind], f"{len(at)} {kind}: {'; '.join(at[:20])}"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("found = 1", "variables with an empty name"),
        ("def f(asked): ...", "parameters with an empty name"),
        ("def _made(): ...", "functions and classes with an empty name"),
        ("class Known: ...", "functions and classes with an empty name"),
        ("def f(a, b, c, d, e, *, f, g, h, i): ...", "functions with more than 8 parameters"),
        ("x: Any", "uses of Any"),
        ("x = 1  # type: ignore[misc]", "suppressions without a reason"),
        ("x = 1  # noqa", "suppressions without a reason"),
        ("x = " + "1" * 100, "lines over 100 columns"),
    ],
)
def test_a_place_is_seen(text: str, kind: str) -> None:
    assert kind in {kind for kind, _ in (*of_lines(text), *of_nodes(ast.parse(text)))}


def test_a_repeated_name_is_seen(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "cells.py").write_text("class Cell: ...", encoding="utf-8")
    assert places(str(tmp_path)) == {
        "module names used more than once": ["a/cells.py, b/cells.py"],
        "class names used more than once": ["Cell in a/cells.py:1, Cell in b/cells.py:1"],
    }


@pytest.mark.parametrize(
    "text", ["rows = 1", "x = 1  # type: ignore[misc]  # a lambda binds a loop variable"]
)
def test_good_names_and_reasons_pass(text: str) -> None:
    assert not [*of_lines(text), *of_nodes(ast.parse(text))]
