"""Every keyword of a question is listed once, has a default and an explanation."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields
from typing import get_type_hints

import pytest

from sfumato.client.remote_table import RemoteTable
from sfumato.session import Database, Table, protect
from sfumato.session.protect_options import EXPLAINED as PROTECT_EXPLAINED
from sfumato.session.protect_options import (
    DatabaseOptions,
    ProtectSettings,
    TableOptions,
)
from sfumato.tables.query.question_options import (
    DEFAULTS,
    EXPLAINED,
    BatchReleaseOptions,
    LearnOptions,
    QuestionSettings,
    ReleaseOptions,
)
from sfumato.tables.query.stages import Query

OPTIONS = [ReleaseOptions, BatchReleaseOptions, LearnOptions]
METHODS = [
    *(
        getattr(kind, name)
        for kind in (Table, Database)
        for name in ("plan", "sql", "explain_sql", "release", "plan_all", "release_all")
    ),
    Table.learn,
    Query.plan,
    Query.release,
    RemoteTable.plan,
    RemoteTable.sql,
    RemoteTable.release,
]


@pytest.mark.parametrize("options", OPTIONS, ids=lambda kind: kind.__name__)
def test_options_are_settings_of_the_same_type(options: type) -> None:
    settings = get_type_hints(QuestionSettings)
    assert {name: settings[name] for name in options.__annotations__} == get_type_hints(options)


def test_protect_takes_the_options_of_tables_and_databases() -> None:
    names = {*TableOptions.__annotations__, *DatabaseOptions.__annotations__}
    assert names == {field.name for field in fields(ProtectSettings)}
    assert set(PROTECT_EXPLAINED) == names | {"source", "budget", "unit"}


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.__qualname__)
def test_help_lists_every_keyword_with_its_default(method: object) -> None:
    parameters = inspect.signature(method).parameters  # type: ignore[arg-type]  # a function
    assert "options" not in parameters
    for name in set(parameters) & set(DEFAULTS):
        assert parameters[name].default == DEFAULTS[name]
    keywords = [p.name for p in parameters.values() if p.kind is p.KEYWORD_ONLY]
    lines = (method.__doc__ or "").splitlines()
    for name in set(keywords) - {"key"}:  # of a server alone, explained in its prose
        assert any(line.startswith(f"{name} ") for line in lines)
        assert f"{name:<14}{EXPLAINED[name]}" in lines


@pytest.mark.parametrize("method", [*METHODS, protect], ids=lambda method: method.__qualname__)
def test_an_unknown_keyword_is_a_type_error_that_names_the_function(
    method: Callable[..., object],
) -> None:
    with pytest.raises(TypeError, match=rf"{method.__qualname__}\(\) .*'epslion'"):
        method(None, epslion=1)


def test_lines_of_help_are_short() -> None:
    for name, text in (EXPLAINED | PROTECT_EXPLAINED).items():
        assert len(f"{name:<14}{text}") <= 100
