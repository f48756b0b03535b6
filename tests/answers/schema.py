"""As much of JSON Schema as the card's needs: a value against a schema, with the places where it
does not fit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
}
KNOWN = {
    *(
        "$schema",
        "$defs",
        "$ref",
        "title",
        "description",
        "type",
        "const",
        "enum",
        "pattern",
        "minimum",
    ),
    *("properties", "required", "additionalProperties", "minProperties", "items", "minItems"),
}


def problems(
    value: Any, schema: dict[str, Any], root: dict[str, Any] | None = None, place: str = "$"
) -> Iterator[str]:
    """What does not fit, and where. A keyword that is not known here is a mistake of the schema."""
    root = root or schema
    assert set(schema) <= KNOWN, f"{set(schema) - KNOWN} at {place}"
    if "$ref" in schema:
        target = root
        for step in schema["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        yield from problems(value, target, root, place)
        return
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(
        isinstance(value, TYPES[kind]) and not (isinstance(value, bool)) for kind in kinds
    ):
        yield f"{place}: not {kinds}"
        return
    if "const" in schema and value != schema["const"]:
        yield f"{place}: not {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{place}: {value!r} is none of {schema['enum']}"
    if "pattern" in schema and not re.search(schema["pattern"], value):
        yield f"{place}: {value!r} is not of the form {schema['pattern']}"
    if "minimum" in schema and value < schema["minimum"]:
        yield f"{place}: {value} is too small"
    if isinstance(value, dict):
        yield from _object(value, schema, root, place)
    if isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            yield f"{place}: too few"
        for i, item in enumerate(value):
            yield from problems(item, schema.get("items", {}), root, f"{place}[{i}]")


def _object(
    value: dict[str, Any], schema: dict[str, Any], root: dict[str, Any], place: str
) -> Iterator[str]:
    properties, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    yield from (
        f"{place}: without {name}" for name in schema.get("required", []) if name not in value
    )
    if len(value) < schema.get("minProperties", 0):
        yield f"{place}: too few entries"
    for name, item in value.items():
        if name in properties:
            yield from problems(item, properties[name], root, f"{place}.{name}")
        elif others is False:
            yield f"{place}: {name} is not known"
        elif isinstance(others, dict):
            yield from problems(item, others, root, f"{place}.{name}")
