"""Find columns whose names look like identifiers of people. Only names are read, never data."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..expr.types import Type

_ENDINGS = "id|uid|uuid|guid|ssn|email|e_mail|username|user_name"
_PEOPLE = (
    "user|customer|patient|person|client|member|employee|student|subscriber|account|household|"
    "visitor|participant|respondent|passenger|driver|owner|citizen"
)
_WORDS = re.compile(rf"(?:.*[_\W])?(?:{_ENDINGS})|(?:{_PEOPLE})s?", re.IGNORECASE)
_CAMEL = re.compile(r".*[a-z](?:Id|ID|Uuid|UUID|Email)")


def identifier_columns(schema: Mapping[str, Type]) -> list[str]:
    """Return the columns that may say whom a row is about, by their names; those named after a
    person first.
    """
    named = [
        column
        for column, kind in schema.items()
        if kind.kind in ("integer", "string", "uuid", "decimal")
        and (_WORDS.fullmatch(column) or _CAMEL.fullmatch(column))
    ]
    people = re.compile(_PEOPLE, re.IGNORECASE)
    return sorted(named, key=lambda column: people.search(column) is None)
