"""The OpenAPI document: every endpoint with all statuses it may return, and the roles that may call
it (`x-roles`).
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema

from ..roles import MAY
from .problems import MEDIA
from .request_models import Question
from .response_models import ProblemModel

Schema = dict[str, Any]  # a part of the OpenAPI document, as FastAPI types it
REF = "#/components/schemas/{model}"
EVERY = (400, 413, 414, 429, 431, 500)
"""Statuses that any request may return."""
TOKEN = (401, 503, *EVERY)
DATASET = (404, *TOKEN)
ASKS = (400, 403, 408, 415, 422, *DATASET)
HEADERS = {401: ("WWW-Authenticate", "Bearer"), 429: ("Retry-After", "Seconds")}
"""The header that a refusal with this status has."""

PARAMETERS: dict[str, Schema] = {
    "dataset": {
        "in": "path",
        "schema": {"type": "string", "pattern": "^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$"},
    },
    "number": {
        "in": "path",
        "schema": {"type": "integer", "minimum": 1, "maximum": 10**18 - 1},
        "description": "Of the receipt.",
    },
    "after": {
        "in": "query",
        "schema": {"type": "integer", "minimum": 0, "maximum": 10**18 - 1, "default": 0},
        "description": "The last entry already seen.",
    },
    "limit": {
        "in": "query",
        "schema": {"type": "integer", "minimum": 1, "maximum": 200, "default": 50},
        "description": "How many entries.",
    },
    "head": {
        "in": "query",
        "schema": {"type": "string", "pattern": "^[0-9a-f]{1,64}:[0-9]{1,18}:[0-9a-f]{64}$"},
        "description": "A head of the ledger that you kept.",
    },
    "Idempotency-Key": {
        "in": "header",
        "schema": {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$"},
        "description": "One for each question; a retry has the same, and gets the same bytes.",
    },
}
"""The parameters of requests. The endpoints check them after the token and the dataset."""

_DATASET = {"dataset": "$response.body#/0/name"}
_SAME = {"dataset": "$request.path.dataset"}
LINKS: dict[str, dict[str, dict[str, str]]] = {
    "datasets": dict.fromkeys(
        ("dataset", "plan", "release", "history", "budget", "verify", "overruns"), _DATASET
    ),
    "release": {
        "card": {**_SAME, "number": "$response.body#/receipt/number"},
        "budget": _SAME,
        "history": _SAME,
    },
    "budget": {"history": _SAME, "verify": _SAME},
}
"""Links from a reply to further operations and their parameters, by operation."""

EXAMPLES = {
    "by epsilon": {
        "value": {"sql": "SELECT city, COUNT(*) AS n FROM visits GROUP BY city", "epsilon": "0.1"}
    },
    "by accuracy": {"value": {"sql": "SELECT COUNT(*) AS n FROM visits", "within": 100}},
}


def replies(*statuses: int, content: Schema | None = None) -> dict[int | str, Schema]:
    """Return the `responses` argument of an endpoint for FastAPI: the statuses of refusals, and
    media types of the reply beside JSON.
    """
    responses: dict[int | str, Schema] = {200: {"description": "Done"}}
    if content is not None:
        responses[200]["content"] = content
    problem = {MEDIA: {"schema": {"$ref": REF.format(model="Problem")}}}
    for status in sorted(set(statuses)):
        responses[status] = {"description": HTTPStatus(status).phrase, "content": problem}
        if status in HEADERS:
            name, about = HEADERS[status]
            header = {"schema": {"type": "string"}, "description": about, "required": True}
            responses[status]["headers"] = {name: header}
    return responses


def takes(*names: str) -> Schema:
    """Return the OpenAPI parameters of an endpoint."""
    required = {"path", "header"}
    return {
        "parameters": [
            {"name": name, "required": PARAMETERS[name]["in"] in required, **PARAMETERS[name]}
            for name in names
        ]
    }


def asks_question() -> Schema:
    """Return the OpenAPI request body of plan and release."""
    return {
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {
                    "schema": {"$ref": REF.format(model="Question")},
                    "examples": EXAMPLES,
                }
            },
        }
    }


def document(app: FastAPI) -> Schema:
    """Return the OpenAPI document, built once."""
    if app.openapi_schema:
        return app.openapi_schema
    content = get_openapi(
        title=app.title, version=app.version, description=app.description, routes=app.routes
    )
    _, models = models_json_schema(
        [(Question, "validation"), (ProblemModel, "serialization")], ref_template=REF
    )
    schemas = content.setdefault("components", {}).setdefault("schemas", {})
    schemas |= {
        name: _without_nulls(schema) if name in ("Question", "PromiseRecord") else schema
        for name, schema in models["$defs"].items()
    }
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    content["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    for path, operations in content["paths"].items():
        for method, operation in operations.items():
            if "HTTPValidationError" in str(operation["responses"].get("422")):
                del operation["responses"]["422"]
            if operation["operationId"] in LINKS:
                operation["responses"]["200"]["links"] = {
                    to: {"operationId": to, "parameters": parameters}
                    for to, parameters in LINKS[operation["operationId"]].items()
                }
            roles = MAY.get((method.upper(), path))
            if roles:
                operation["security"] = [{"token": []}]
                operation["x-roles"] = sorted(roles)
    app.openapi_schema = content
    return content


def _without_nulls(schema: Schema) -> Schema:
    """Drop null from a schema: clients leave fields out."""
    properties = {}
    for name, declared in schema["properties"].items():
        about = {key: value for key, value in declared.items() if key != "default"}
        if "anyOf" in about:
            kinds = [kind for kind in about.pop("anyOf") if kind != {"type": "null"}]
            about |= kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
        properties[name] = about
    return {**schema, "properties": properties}
