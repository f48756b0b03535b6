"""A rewrite of an engine's refusal is code that can be pasted, or one of a few short sentences."""

from __future__ import annotations

import ast
import string

import pytest
import sqlglot

from sfumato.errors import RefusalText
from sfumato.tables.engine import engine_refusals

ENTRIES = {
    name: entry for name, entry in vars(engine_refusals).items() if isinstance(entry, RefusalText)
}
SENTENCES = {
    "CONNECTION_CLOSED",
    "CONNECTION_FORKED",
    "CSV_HEADERS_DIFFER",
    "DATABASE_NOT_OPENED",
    "ENGINE_FORKED",
    "FILES_CHANGED",
    "FILE_NOT_READABLE",
    "FILE_REMOVED",
    "NO_READABLE_COLUMN",
    "PARQUET_COLUMNS_DIFFER",
    "PATH_LOOKS_LIKE_PATTERN",
    "POSTGRES_TOO_OLD",
    "SPARK_SESSION_STOPPED",
    "TABLE_ALTERED",
    "TABLE_CLOSED",
}
"""Entries for which no code helps: the owner has to do something outside of the program."""

SQL = ("ALTER ", "CREATE ", "SET ", "TRY_CAST(")
COMMANDS = (*SQL, "iconv ", "pip ", "sed ")


def filled(entry: RefusalText) -> str:
    """The rewrite with example values."""
    texts = (entry.place, entry.reason, entry.rewrite)
    names = {name for text in texts for _, name, _, _ in string.Formatter().parse(text) if name}
    numbers = {"precision": 30, "scale": 2, "most_digits": 18, "most_scale": 2, "columns": 1001}
    return entry(**{name: numbers.get(name, "spend") for name in names}).rewrite


def is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


@pytest.mark.parametrize("name", ENTRIES)
def test_rewrites_are_code_or_a_listed_sentence(name: str) -> None:
    text = filled(ENTRIES[name])
    assert (text.startswith(COMMANDS) or is_python(text)) != (name in SENTENCES), text


@pytest.mark.parametrize("name", [name for name in ENTRIES if name not in SENTENCES])
def test_sql_rewrites_can_be_parsed(name: str) -> None:
    text = filled(ENTRIES[name])
    if text.startswith(SQL):
        assert sqlglot.parse_one(text, dialect="postgres")
