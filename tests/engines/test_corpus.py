"""Every engine that is accepted has run the conformance corpus: an engine that is listed, and not
asked here, fails.
"""

from __future__ import annotations

import ast
import inspect
from types import ModuleType
from typing import Any

import pytest

from sfumato.tables.engine.engine_registry import ENGINES

from .corpus import CORPUS, FUNCTIONS, QUERIES


def test_the_corpus_is_put_to_every_engine_that_is_accepted() -> None:
    assert set(CORPUS) == set(ENGINES)


def asks(module: ModuleType, of: Any, *, slow: bool) -> list[ast.FunctionDef]:
    """The tests of a module that call a part of the corpus, by the name under which the module has
    it.
    """
    assert getattr(module, of.__name__, None) is of
    tests = [
        node
        for node in ast.parse(inspect.getsource(module)).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]
    calls = [
        test
        for test in tests
        if any(isinstance(node, ast.Name) and node.id == of.__name__ for node in ast.walk(test))
    ]
    return [
        test
        for test in calls
        if slow or "slow" not in "".join(map(ast.unparse, test.decorator_list))
    ]


@pytest.mark.parametrize("name", CORPUS)
def test_its_tests_ask_that_engine(name: str) -> None:
    """In every run of the suite, and more of it in the long one; with a fixture that is this
    engine's own.
    """
    bench, queries, function = CORPUS[name]
    assert bench.__name__ in inspect.getsource(
        queries.second_bench.__wrapped__
        if hasattr(queries.second_bench, "__wrapped__")
        else queries
    )
    assert ENGINES[name].name in inspect.getsource(function)
    for module, part in ((queries, QUERIES), (function, FUNCTIONS)):
        assert asks(module, part, slow=False)
        assert len(asks(module, part, slow=True)) > len(asks(module, part, slow=False))


def test_an_engine_without_the_corpus_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A twin: an engine that is listed, and whose tests were forgotten."""
    monkeypatch.setitem(ENGINES, "polars", ENGINES["duckdb"])  # type: ignore[arg-type]  # no engine
    with pytest.raises(AssertionError):
        test_the_corpus_is_put_to_every_engine_that_is_accepted()
